//! What all steps of a program share: the instruction set, and how it deals with the caches.

use crate::kernels::{self, InstructionSet};
use crate::step::Store;

/// From so many bytes of the destination on, stores go past the cache: source and destination no longer fit.
const STREAM_FROM: usize = 12 << 20;

/// The same for kernels that write long rows, on processors whose last cache is no faster than memory is for them. On
/// Intel's it is so: a copy within it runs at the speed of one past it.
const STREAM_ROWS_FROM: usize = 3 << 20;

/// From so many bytes on, no cache holds source and destination until they are wanted again.
const STREAM_SURELY_FROM: usize = 64 << 20;

/// Within so many bytes, source and destination are in the second cache, and there is nothing to fetch ahead.
const NEAR: usize = 512 << 10;

/// What the steps of a program share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) set: InstructionSet,
    /// Whether stores go past the cache.
    pub(crate) streams: bool,
    /// Whether those of kernels do that write long rows.
    pub(crate) streams_rows: bool,
    /// Whether the source is fetched ahead by hand.
    pub(crate) fetches: bool,
}

impl Setting {
    /// For a program that writes so many bytes.
    pub(crate) fn new(set: InstructionSet, bytes: usize) -> Setting {
        let streams = set.streams() && bytes >= STREAM_FROM;
        let streams_rows =
            streams || set.streams() && bytes >= STREAM_ROWS_FROM && kernels::slow_last_cache();
        Setting { set, streams, streams_rows, fetches: bytes > NEAR }
    }

    /// For a program whose stores may be faster in the cache: the other possibility.
    pub(crate) fn or_plain(self, bytes: usize) -> Option<Setting> {
        let doubtful = self.streams_rows && bytes < STREAM_SURELY_FROM;
        doubtful.then_some(Setting { streams: false, streams_rows: false, ..self })
    }

    /// How kernels store that write long rows.
    pub(crate) fn rows(self) -> Store {
        if self.streams_rows { Store::Stream } else { Store::Plain }
    }
}
