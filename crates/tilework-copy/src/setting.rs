//! What all steps of a program share: the instruction set, and how it deals with the caches.

use crate::kernels::{self, InstructionSet};
use crate::step::Store;
use crate::ways::Way;

/// From this number of bytes of the destination on, stores go past the cache: source and destination no longer fit.
const STREAM_FROM: usize = 8 << 20;

/// The same on processors whose last cache is no faster than memory. On Intel's it is so: a copy within it runs at the
/// speed of one past it.
const STREAM_FROM_WHERE_SLOW: usize = 3 << 20;

/// From this number of bytes on either may be faster, whatever the processor.
const DOUBT_FROM: usize = 3 << 20;

/// From this number of bytes on, no cache holds source and destination until they are wanted again, unless the last one is larger.
const DOUBT_TO: usize = 64 << 20;

/// What the steps of a program share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) set: InstructionSet,
    /// Whether stores go past the cache.
    pub(crate) streams: bool,
    /// Whether the source is fetched ahead by hand.
    pub(crate) fetches: bool,
    /// Whether blocks that are transposed are: not within a last cache that is quick. On AMD's (Zen 4) it is, and transpositions of 1
    /// to 12 MiB run a fifth faster without.
    pub(crate) fetches_blocks: bool,
    /// Whether the program runs once, so that making it counts as well.
    pub(crate) once: bool,
    /// The way that is taken wherever it can be, whatever it costs.
    pub(crate) only: Option<Way>,
}

impl Setting {
    /// For a program that writes `bytes` bytes.
    pub(crate) fn new(set: InstructionSet, bytes: usize) -> Setting {
        let from = if kernels::slow_last_cache() { STREAM_FROM_WHERE_SLOW } else { STREAM_FROM };
        // Else most of source and destination is in the second cache, and there is nothing to fetch ahead.
        let fetches = bytes > kernels::caches().0 / 8 * 5;
        Setting {
            set,
            streams: set.streams() && bytes >= from,
            fetches,
            fetches_blocks: fetches && (kernels::slow_last_cache() || bytes >= STREAM_FROM),
            once: false,
            only: None,
        }
    }

    /// The same for what is near: through the cache, and nothing is fetched.
    pub(crate) fn near(self) -> Setting {
        Setting { streams: false, fetches: false, fetches_blocks: false, ..self }
    }

    /// For tests: as for little, or as for much, which goes past the cache.
    #[cfg(test)]
    pub(crate) fn of(set: InstructionSet, much: bool) -> Setting {
        Setting { streams: much, fetches: much, fetches_blocks: much, once: false, only: None, set }
    }

    /// For a program that writes `bytes` bytes, the other possibility to store, if that may be faster.
    pub(crate) fn other(self, bytes: usize) -> Option<Setting> {
        let to = DOUBT_TO.max(kernels::caches().1 / 2);
        let doubtful = self.set.streams() && (DOUBT_FROM..to).contains(&bytes);
        doubtful.then_some(Setting { streams: !self.streams, ..self })
    }

    /// How kernels store that write long rows.
    pub(crate) fn rows(self) -> Store {
        if self.streams { Store::Stream } else { Store::Plain }
    }
}
