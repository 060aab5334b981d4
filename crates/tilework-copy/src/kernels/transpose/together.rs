//! Blocks that go past the cache where registers are shorter than a line: destination rows are put together first.
//!
//! Half a line at a time, stores past the cache are slow. So some columns are moved to a scratch in the nearest cache, and their
//! destination rows are written from there in whole lines. What does not fill a line is held for the block that goes on with the rows
//! ([`super::super::carry`]). With each line that is written, one of the next block is asked for, so that memory is read and written at
//! the same time.

use std::mem::MaybeUninit;
use std::ptr::null;

use super::super::carry::Held;
use super::super::vector::prefetch;
use super::super::{Block, BlockFn};
use super::lanes::{LANE, LINE, Lanes};

/// Bytes of a destination row that are put together at a time.
const RUN: usize = 512;
/// Bytes from row to row of the scratch: the last line of what was made before, and an odd number of lines in all, so that rows do not
/// meet in one set of the cache.
const PITCH: usize = LINE + RUN;

/// At most as many rows as a line has elements.
#[repr(align(64))]
struct Scratch(MaybeUninit<[u8; LINE * PITCH]>);

/// Moves a block whose destination rows are whole lines, or, if something is `held` of them, go on in others; `plain` moves the tiles.
///
/// # Safety
///
/// As [`super::super::CarryFn`] if something is held, else as [`super::super::Transpose::stream`]; `plain` is for the same `SIZE`.
#[inline(always)]
pub(super) unsafe fn put_together<W: Lanes, const SIZE: usize>(
    block: &Block,
    held: Option<Held>,
    plain: BlockFn,
) {
    let mut scratch = Scratch(MaybeUninit::uninit());
    let scratch = scratch.0.as_mut_ptr().cast::<u8>();
    let &Block { rows, columns, source_stride, destination_stride, .. } = block;
    let mut ahead = Ahead::of::<SIZE>(block);
    for first in (0..columns).step_by(LINE / SIZE) {
        let width = (LINE / SIZE).min(columns - first);
        for row in (0..rows).step_by(RUN / SIZE) {
            let count = (RUN / SIZE).min(rows - row);
            let from = block.source.wrapping_offset(row as isize * source_stride).wrapping_add(first * SIZE);
            let part = Block {
                rows: count,
                columns: width,
                source: from,
                destination: scratch.wrapping_add(LINE),
                destination_stride: PITCH as isize,
                next: null(),
                ..*block
            };
            // SAFETY: the part lies within the block; the scratch has so many rows of `RUN` bytes, behind a line of each.
            unsafe { plain(&part) };
            for column in 0..width {
                let to = block.destination.wrapping_offset((first + column) as isize * destination_stride);
                let made = Made {
                    at: scratch.wrapping_add(column * PITCH),
                    bytes: count * SIZE,
                    to: to.wrapping_add(row * SIZE),
                };
                // SAFETY: the caller's promise for this row; what is written was made here, or is held.
                unsafe {
                    let Some(held) = held else {
                        made.write::<W>(0, &mut ahead);
                        continue;
                    };
                    let begins = held.begin && row == 0;
                    if begins {
                        line::<W>(made.at.add(LINE), held.head(first + column));
                    } else if row == 0 {
                        line::<W>(held.line(first + column), made.at);
                    }
                    let within = made.to.addr() % LINE;
                    let before =
                        if begins && within > 0 { within as isize - LINE as isize } else { within as isize };
                    made.write::<W>(before, &mut ahead);
                    let goes_on = row + count < rows;
                    let last = if goes_on { made.at } else { held.line(first + column) };
                    line::<W>(made.at.add(made.bytes), last);
                }
            }
        }
    }
    ahead.all();
}

/// Some bytes of a destination row.
struct Made {
    /// Where the line before them stands, and they behind it.
    at: *mut u8,
    bytes: usize,
    /// Where they go.
    to: *mut u8,
}

impl Made {
    /// Writes the lines that are full, from `before` bytes before these on.
    ///
    /// # Safety
    ///
    /// That is where a line begins; the bytes before are there, and can be written.
    #[inline(always)]
    unsafe fn write<W: Lanes>(&self, before: isize, ahead: &mut Ahead) {
        let from = self.at.wrapping_add(LINE).wrapping_offset(-before);
        let to = self.to.wrapping_offset(-before);
        let end = self.bytes.wrapping_add_signed(before) / LINE * LINE;
        for done in (0..end).step_by(LINE) {
            ahead.one();
            // SAFETY: the caller's promise.
            unsafe {
                for part in (done..done + LINE).step_by(W::LANES * LANE) {
                    W::load_whole(from.add(part)).stream(to.add(part));
                }
            }
        }
    }
}

/// Copies a line.
///
/// # Safety
///
/// It can be read and written.
#[inline(always)]
unsafe fn line<W: Lanes>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise; both parts are read before one is written.
    unsafe {
        for part in (0..LINE).step_by(W::LANES * LANE) {
            W::load_whole(from.add(part)).store(to.add(part));
        }
    }
}

/// The lines of the next block, which are asked for meanwhile. They go row by row, for lines that follow each other come half as fast again
/// as one of each row; and one at a time, for of many the machine forgets most (Zen 3).
struct Ahead {
    line: *const u8,
    stride: isize,
    /// Lines of a row, those that are left of this one, and rows that are left.
    lines: usize,
    left: usize,
    rows: usize,
}

impl Ahead {
    #[inline(always)]
    fn of<const SIZE: usize>(block: &Block) -> Ahead {
        let &Block { mut rows, columns, source_stride: stride, next, .. } = block;
        let mut bytes = columns * SIZE;
        if bytes as isize == stride {
            (rows, bytes) = (1, bytes * rows);
        }
        if next.is_null() {
            rows = 0;
        }
        let lines = (next.addr() % LINE + bytes).div_ceil(LINE);
        Ahead { line: next, stride, lines, left: lines, rows }
    }

    #[inline(always)]
    fn one(&mut self) {
        if self.rows > 0 {
            prefetch(self.line);
            self.line = self.line.wrapping_add(LINE);
            self.left -= 1;
            if self.left == 0 {
                self.left = self.lines;
                self.rows -= 1;
                self.line = self.line.wrapping_sub(self.lines * LINE).wrapping_offset(self.stride);
            }
        }
    }

    #[inline(always)]
    fn all(&mut self) {
        while self.rows > 0 {
            self.one();
        }
    }
}
