//! The nests of a plan, in bytes and ready to be looked at.

use smallvec::SmallVec;
use tilework_core::{Loop, Nest};

/// One loop: how often, and what a turn moves on either side, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) extent: usize,
    pub(crate) from: isize,
    pub(crate) to: isize,
}

pub(crate) type Turns = SmallVec<[Turn; 8]>;

/// A nest in bytes.
///
/// Of a nest that comes from a plan: every place it names is within the layouts' bytes, and no two turns write the same
/// byte.
#[derive(Clone, Debug)]
pub(crate) struct ByteNest {
    /// Offsets of the first element in the source and the destination, one pair for each repetition.
    pub(crate) starts: SmallVec<[(isize, isize); 1]>,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub(crate) size: usize,
    /// From the largest step in the destination to the smallest.
    pub(crate) turns: Turns,
}

impl ByteNest {
    /// A nest over elements of whole bytes. Elements of other widths than a register's become runs of narrower ones.
    pub(crate) fn new(nest: &Nest, bytes: usize) -> ByteNest {
        let size = match bytes {
            1 | 2 | 4 | 8 | 16 => bytes,
            // The largest power of two that divides it.
            _ => (1 << bytes.trailing_zeros()).min(16),
        };
        let width = bytes as i64;
        let scaled = |l: &Loop| Loop { from: l.from * width, to: l.to * width, ..*l };
        let mut scaled = Nest {
            starts: nest.starts.iter().map(|&(from, to)| (from * bytes as u64, to * bytes as u64)).collect(),
            loops: nest.loops.iter().map(scaled).collect(),
        };
        if size != bytes {
            scaled.loops.push(Loop { extent: (bytes / size) as u64, from: size as i64, to: size as i64 });
        }
        scaled.tidy();
        let turn = |l: &Loop| Turn { extent: l.extent as usize, from: l.from as isize, to: l.to as isize };
        ByteNest {
            starts: scaled.starts.iter().map(|&(from, to)| (from as isize, to as isize)).collect(),
            size,
            turns: scaled.loops.iter().map(turn).collect(),
        }
    }

    /// Takes the run out: how many bytes lie next to each other on both sides.
    pub(crate) fn take_run(&mut self) -> usize {
        let size = self.size as isize;
        match self.turns.iter().position(|turn| turn.from == size && turn.to == size) {
            Some(place) => self.turns.remove(place).extent * self.size,
            None => self.size,
        }
    }
}
