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
/// Of rows that are shorter than this, more are put together at once.
const SHORT: usize = 256;
/// Bytes from row to row of the scratch: the last line of what was made before, and an odd number of lines in all, so that rows do not
/// meet in one set of the cache.
const PITCH: usize = LINE + RUN;

/// At most as many rows as a line has bytes.
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
    // The scratch has as many rows as a line has bytes.
    let at_once = LINE / SIZE * (SHORT / (rows * SIZE)).clamp(1, SIZE);
    for first in (0..columns).step_by(at_once) {
        let width = at_once.min(columns - first);
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
            // SAFETY: the part lies within the block; the scratch holds `width` rows of `RUN` bytes, each behind a line.
            unsafe { plain(&part) };
            for column in 0..width {
                let to = block.destination.wrapping_offset((first + column) as isize * destination_stride);
                let made = Made {
                    at: scratch.wrapping_add(column * PITCH + LINE),
                    bytes: count * SIZE,
                    to: to.wrapping_add(row * SIZE),
                };
                // SAFETY: the caller's promise for this row; what is written was made here, or is held.
                unsafe {
                    let Some(held) = held else {
                        made.write::<W>(0, || ahead.one());
                        continue;
                    };
                    let (hold, head) = (held.line(first + column), held.head(first + column));
                    let begins = held.begin && row == 0;
                    if row == 0 && !begins {
                        made.join::<W>(hold, 0);
                    }
                    made.carry::<W>(begins.then_some(head), 0, || ahead.one());
                    made.keep::<W>(if row + count < rows { made.at.sub(LINE) } else { hold });
                }
            }
        }
    }
    ahead.all();
}

/// Some bytes of a destination row that were put together.
pub(crate) struct Made {
    /// Where they stand: before them is room for a line.
    pub(crate) at: *mut u8,
    pub(crate) bytes: usize,
    /// Where they go.
    pub(crate) to: *mut u8,
}

// SAFETY (of all): the instructions are there; and as each says.
impl Made {
    /// Writes the lines that are full, from `before` bytes before these on. `meanwhile` is called for each.
    ///
    /// # Safety
    ///
    /// That is where a line begins; the bytes before are there, and can be written. The caller fences.
    #[inline(always)]
    pub(crate) unsafe fn write<W: Lanes>(&self, before: isize, mut meanwhile: impl FnMut()) {
        let from = self.at.wrapping_offset(-before);
        let to = self.to.wrapping_offset(-before);
        debug_assert!(to.addr().is_multiple_of(LINE));
        let end = self.bytes.saturating_add_signed(before) / LINE * LINE;
        for done in (0..end).step_by(LINE) {
            meanwhile();
            // SAFETY: the caller's promise.
            unsafe {
                for part in (done..done + LINE).step_by(W::LANES * LANE) {
                    W::load_whole(from.add(part)).stream(to.add(part));
                }
            }
        }
    }

    /// Puts the line that is held of the row before these bytes; their first `over` ones are its last ones.
    ///
    /// # Safety
    ///
    /// A line is held there.
    #[inline(always)]
    pub(crate) unsafe fn join<W: Lanes>(&self, held: *const u8, over: usize) {
        // SAFETY: the caller's promise.
        unsafe { line::<W>(held, self.at.sub(LINE - over)) }
    }

    /// Writes the lines that are full with these bytes and what was put before them; or with these alone if the row begins, which has a
    /// head for its first line then. The first `over` bytes were moved before.
    ///
    /// # Safety
    ///
    /// The line before is there, or these bytes are a line or more. The lines can be written, and the caller fences.
    #[inline(always)]
    pub(crate) unsafe fn carry<W: Lanes>(&self, head: Option<*mut u8>, over: usize, meanwhile: impl FnMut()) {
        let within = self.to.wrapping_add(over).addr() % LINE;
        let mut before = within as isize - over as isize;
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(head) = head {
                line::<W>(self.at, head);
                if within > 0 {
                    before -= LINE as isize;
                }
            }
            self.write::<W>(before, meanwhile);
        }
    }

    /// Holds the last line of these bytes and of what was put before them.
    ///
    /// # Safety
    ///
    /// As for [`Made::carry`], and a line can be written there.
    #[inline(always)]
    pub(crate) unsafe fn keep<W: Lanes>(&self, held: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { line::<W>(self.at.add(self.bytes).sub(LINE), held) }
    }
}

/// Copies a line.
///
/// # Safety
///
/// It can be read and written, and the two do not overlap.
#[inline(always)]
unsafe fn line<W: Lanes>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
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
