//! Rows that were put together in a buffer, on their way past the cache.
//!
//! Where a row begins or ends within a line, that line would be written in two parts, and each of them waits until the line has come
//! from memory. So a row that goes on in the next block keeps its last, unfinished line: its bytes are put before those of the next
//! block, and are written with them.

use crate::exec::Buffers;
use crate::kernels::vector::LINE;
use crate::kernels::{self, InstructionSet, rows};
use crate::step::Outer;
use crate::{bounds, carry};

/// Bytes before each row in the buffer, for what the block before left.
pub(crate) const FRONT: usize = LINE;

/// Bytes from one row of the buffer to the next: an odd number of lines, so that rows do not meet in one set of the cache.
pub(crate) fn pitch(bytes: usize) -> usize {
    ((bytes + FRONT).div_ceil(LINE) | 1) * LINE
}

/// Lets blocks follow each other along their rows of `bytes` bytes, unless the source goes on from block to block: then it is read in
/// its order, where a line that is written in two parts costs no more than that. On AMD's processors (Zen 4) it costs more:
/// permutations of `f32` with odd sizes went from 0.33 to 0.53 of `memcpy` by going along rows, filters of `bf16` from 0.22 to 0.31.
pub(crate) fn along_rows_or_source(outer: &mut [Outer], bytes: usize) {
    let goes_on = |outer: &Outer| outer.turn.from.unsigned_abs() < PAGE && outer.turn.from != 0;
    let inner = outer.iter().rev().find(|outer| outer.turn.extent > 1);
    if !(kernels::slow_last_cache() && inner.is_some_and(goes_on)) {
        carry::along_rows(outer, bytes);
    }
}

/// Bytes that memory reads fast one after the other.
const PAGE: usize = 4096;

/// A block that stands in a buffer.
pub(crate) struct Pending {
    /// Its place in the destination.
    pub(crate) to: isize,
    pub(crate) buffer: *mut u8,
    /// How many of its rows were written.
    pub(crate) done: usize,
    /// Whether its rows have bytes of the block before in front of them.
    pub(crate) carries: bool,
}

/// A row of a block: where it goes, from the block's place; where it stands in the buffer; and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) to: isize,
    pub(crate) at: usize,
    pub(crate) bytes: usize,
}

impl Pending {
    /// Writes rows up to number `end`. If the next block goes on with them, what is left of their last lines goes to its
    /// buffer.
    ///
    /// # Safety
    /// As for [`crate::exec::run`]: the rows are within the destination. The buffer holds them, with [`FRONT`] bytes before each;
    /// and so does that of the next block, in which nobody else writes those bytes.
    pub(crate) unsafe fn write(
        &mut self,
        set: InstructionSet,
        row: impl Fn(usize) -> Row,
        end: usize,
        next: Option<*mut u8>,
        buffers: Buffers,
    ) {
        for number in self.done..end {
            let Row { to, at, bytes } = row(number);
            let to = buffers.destination.wrapping_offset(self.to + to);
            let before = if self.carries { to.addr() % LINE } else { 0 };
            let after = if next.is_some() { to.wrapping_add(bytes).addr() % LINE } else { 0 };
            // SAFETY: as promised. What comes before are bytes of the same row, which the block before left; and if the row does
            // not fill its line, all of it goes on.
            unsafe {
                let from = self.buffer.add(at - before);
                let after = after.min(before + bytes);
                let bytes = before + bytes - after;
                if let Some(next) = next {
                    next.add(at - after).copy_from_nonoverlapping(from.add(bytes), after);
                }
                let to = to.wrapping_sub(before);
                debug_assert!(bounds::hold_written(buffers, to, bytes));
                rows::stream_out(set, from, to, bytes);
            }
        }
        self.done = self.done.max(end);
    }
}
