//! Rows that go on from block to block, written in whole lines: what is held of them meanwhile.
//!
//! Where a row begins or ends within a line, that line is written in two parts, and past the cache each of them waits until the line
//! has come from memory. So what does not fill a line is held ([`crate::kernels::carry`]), and blocks follow each other along them.

use std::ops::Range;

use crate::bounds;
use crate::exec::{Buffers, Scratch};
use crate::kernels::Block;
use crate::kernels::carry::{Held, first, last, seam};
use crate::kernels::vector::LINE;
use crate::nest::Turn;
use crate::step::{Outer, Part, Step, Walker, Work};
use smallvec::SmallVec;
use tilework_core::InOrder;

/// The most rows of a block.
pub(crate) const ROWS: usize = 1024;

/// Bytes of their held lines.
pub(crate) const BYTES: usize = ROWS * LINE;

/// Lets blocks follow each other along their rows of `bytes` bytes, and along the loops that go on in the destination where rows end.
pub(crate) fn along_rows(outer: &mut [Outer], bytes: usize) {
    let mut bytes = bytes;
    let mut inner: SmallVec<[Turn; 4]> = SmallVec::new();
    while let Some(next) =
        outer.iter().find(|outer| outer.part == Part::Whole && outer.turn.to.unsigned_abs() == bytes)
        && next.turn.extent > 1
        && next.turn.to > 0
    {
        inner.push(next.turn);
        bytes = bytes.saturating_mul(next.turn.extent);
    }
    // From the outermost to the innermost: all others, the loop that goes on last, the one that goes on first, the rows.
    outer.order_by_key(|outer| match outer.part {
        Part::Rows(_) => inner.len() + 1,
        Part::Whole => inner.iter().position(|turn| *turn == outer.turn).map_or(0, |at| inner.len() - at),
        Part::Columns(_) => 0,
    });
}

/// Runs a range of units of a step that transposes blocks.
///
/// # Safety
/// As for [`crate::exec::run`].
pub(crate) unsafe fn run(step: &Step, units: Range<usize>, buffers: Buffers, scratch: &mut Scratch) {
    let Work::Transpose { size, from, to, fetches, carry: Some(kernel), .. } = step.work else { return };
    let mut carry = Carry::new(scratch);
    let row = |row: usize| row as isize * to;
    let mut walker = Walker::at(step, units.start);
    for _ in units {
        let place = walker.place();
        debug_assert!(bounds::hold_unit(buffers, &step.work, place), "{:?} at {place:?}", step.work);
        walker.advance();
        let next = walker.place().from;
        let rows = Rows { to: place.to, count: place.columns, bytes: place.rows * size };
        // SAFETY: the caller's promise, for one of its units; that rows have a line's worth of bytes, and that they are no more than
        // [`ROWS`], is the part of who made the step.
        unsafe {
            let held = carry.next(rows, row, buffers);
            let block = Block {
                rows: place.rows,
                columns: place.columns,
                source: buffers.source.wrapping_offset(place.from),
                source_stride: from,
                destination: buffers.destination.wrapping_offset(place.to),
                destination_stride: to,
                next: if fetches { buffers.source.wrapping_offset(next) } else { std::ptr::null() },
            };
            kernel(&block, held);
        }
    }
    // SAFETY: as above.
    unsafe { carry.finish(row, buffers) };
}

/// The rows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Where the block is in the destination.
    pub(crate) to: isize,
    pub(crate) count: usize,
    /// Bytes of each.
    pub(crate) bytes: usize,
}

/// Held lines, and whose they are.
pub(crate) struct Carry {
    lines: *mut u8,
    heads: *mut u8,
    /// The rows of the block before, and where the first of the blocks along them was.
    rows: Option<(Rows, isize)>,
}

impl Carry {
    /// In the memory of a thread.
    pub(crate) fn new(scratch: &mut Scratch) -> Carry {
        Carry { lines: scratch.stage(BYTES, 0), heads: scratch.stage(BYTES, 1), rows: None }
    }

    /// What is held of the rows of the next block. `place` says where a row is, from the place of its block.
    ///
    /// # Safety
    /// As for [`crate::exec::run`], for the rows of this block and of the one before, which have been moved; all have a line's worth
    /// of bytes or more. There are at most [`ROWS`].
    pub(crate) unsafe fn next(
        &mut self,
        rows: Rows,
        place: impl Fn(usize) -> isize,
        buffers: Buffers,
    ) -> Held {
        debug_assert!(rows.bytes >= LINE && rows.count <= ROWS, "{rows:?}");
        let goes_on = |(before, _): &(Rows, isize)| {
            before.to + before.bytes as isize == rows.to && before.count == rows.count
        };
        let start = self.rows.filter(goes_on).map(|(_, start)| start);
        if start.is_none() {
            // SAFETY: the caller's promise.
            unsafe { self.finish(place, buffers) };
        }
        self.rows = Some((rows, start.unwrap_or(rows.to)));
        self.held(start.is_none())
    }

    fn held(&self, begin: bool) -> Held {
        Held { lines: self.lines, heads: self.heads, begin }
    }

    /// Writes what is left of the rows: their ends.
    ///
    /// # Safety
    /// As for [`Carry::next`].
    pub(crate) unsafe fn finish(&mut self, place: impl Fn(usize) -> isize, buffers: Buffers) {
        let Some((rows, start)) = self.rows.take() else { return };
        let held = self.held(false);
        let at = |block: isize, row: usize| buffers.destination.wrapping_offset(block + place(row));
        let mut before: Option<*mut u8> = None;
        for row in 0..rows.count {
            let (start, end) = (at(start, row), at(rows.to + rows.bytes as isize, row));
            debug_assert!(bounds::hold_written(buffers, start, LINE));
            debug_assert!(bounds::hold_written(buffers, end.wrapping_sub(LINE), LINE));
            // SAFETY: the caller's promise: rows have a line's worth of bytes; the first and the last ones are held.
            unsafe {
                match before {
                    Some(before) if before == start => seam(start, held, row),
                    _ => {
                        first(start, held, row);
                        before.inspect(|&end| last(end, held, row - 1));
                    }
                }
            }
            before = Some(end);
        }
        // SAFETY: as above.
        before.inspect(|&end| unsafe { last(end, held, rows.count - 1) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{cut, whole};
    use crate::guard_tests::Dice;
    use crate::kernels::{self, CarryFn, InstructionSet, vector};

    #[test]
    fn blocks_follow_each_other_where_the_destination_goes_on() {
        // Rows of 7 elements of 8 bytes, 5 of them one after the other, and 3 of these.
        let rows = Turn { extent: 7, from: 900, to: 8 };
        let others = [(3, 40, 280), (5, 9000, 56), (4, 8, 840), (2, 7, -56)];
        let others = others.map(|(extent, from, to)| Turn { extent, from, to });
        for piece in [7, 3] {
            let mut outer = whole(&others);
            outer.insert(1, cut(rows, piece, Part::Rows));
            outer.push(cut(Turn { extent: 11, from: 8, to: 70_000 }, 4, Part::Columns));
            along_rows(&mut outer, 56);
            let inner: Vec<(usize, isize)> =
                outer.iter().rev().map(|outer| (outer.turn.extent, outer.turn.to)).collect();
            let pieces = (7_usize.div_ceil(piece), 8 * piece as isize);
            assert_eq!(inner[..4], [pieces, (5, 56), (3, 280), (4, 840)], "pieces of {piece}");
            assert_eq!(inner.len(), 6);
        }
    }

    #[test]
    fn rows_that_begin_anywhere_are_whole_when_their_blocks_are() {
        let mut dice = Dice(7);
        for set in InstructionSet::all_here() {
            for size in [1, 2, 4, 8, 16] {
                if let Some(kernel) = kernels::transpose(set, size).and_then(|kernel| kernel.carry) {
                    (0..300).for_each(|_| check(kernel, size, &mut dice));
                }
            }
        }
    }

    /// Some blocks after each other along their rows, forward or backward from row to row.
    fn check(kernel: CarryFn, size: usize, dice: &mut Dice) {
        let mut number = |most: usize| dice.below(most as u64) as usize;
        let tile = LINE / size;
        let pieces: Vec<usize> = (0..1 + number(4)).map(|_| tile + number(2 * tile)).collect();
        let (rows, columns) = (pieces.iter().sum::<usize>(), 1 + number(2 * tile + 5));
        let from_step = columns * size + number(3) * number(200);
        let to_step = rows * size + [0, 1, 64, 77][number(4)];
        let (first, backward) = (LINE + number(LINE), number(4) == 0);
        let row_of = |column: usize| first + to_step * if backward { columns - 1 - column } else { column };
        let source: Vec<u8> = (0..rows * from_step).map(|at| ((at * 40503) >> 3) as u8).collect();
        let mut out = vec![0xa5_u8; first + columns * to_step + LINE];
        let mut wanted = out.clone();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let (from, to) = (row * from_step + column * size, row_of(column) + row * size);
            wanted[to..to + size].copy_from_slice(&source[from..from + size]);
        }
        let step = if backward { -(to_step as isize) } else { to_step as isize };
        let place = |row: usize| row as isize * step;
        let mut scratch = Scratch::default();
        let mut carry = Carry::new(&mut scratch);
        let buffers = Buffers::of(&source, &mut out);
        let mut done = 0;
        for &piece in &pieces {
            let to = (row_of(0) + done * size) as isize;
            let block = Block {
                rows: piece,
                columns,
                source: source[done * from_step..].as_ptr(),
                source_stride: from_step as isize,
                destination: buffers.destination.wrapping_offset(to),
                destination_stride: step,
                next: std::ptr::null(),
            };
            // SAFETY: the set is one of this machine; the vectors hold all that the steps say.
            unsafe {
                kernel(&block, carry.next(Rows { to, count: columns, bytes: piece * size }, place, buffers))
            };
            done += piece;
        }
        // SAFETY: as above.
        unsafe { carry.finish(place, buffers) };
        vector::fence();
        assert!(out == wanted, "elements of {size} B, {pieces:?} by {columns}, steps {from_step} and {step}");
    }
}
