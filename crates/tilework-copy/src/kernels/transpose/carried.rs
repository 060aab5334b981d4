//! Blocks whose destination rows begin anywhere, written past the cache: see [`super::super::carry`].
//!
//! The tiles of some columns follow each other down the source's rows, so that what waits to fill a line stays in registers, and is
//! held in memory from block to block only.

use std::mem::MaybeUninit;
use std::ptr::null;

use super::super::Block;
use super::super::carry::{Held, begin, each, joined, joined_over};
use super::super::vector::{prefetch, prefetch_near};
use super::avx512::Four;
use super::column::zipped;
use super::lanes::{LANE, LINE, Lanes, MOST, Piece, falls_into_one_set, line_of};

/// Rows whose lines are copied if they would meet in one set of the cache.
const ROWS: usize = 256;

#[repr(align(64))]
struct Scratch(MaybeUninit<[u8; ROWS * LINE]>);

/// Moves a block, `WIDE` columns at a time: `AT_ONCE` lanes of each row, which are read at once.
///
/// # Safety
///
/// As [`crate::kernels::CarryFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn run<const SIZE: usize, const WIDE: usize, const AT_ONCE: usize>(
    block: &Block,
    held: Held,
) {
    let tile = LINE / SIZE;
    let &Block { rows, columns, source_stride, .. } = block;
    debug_assert!(block.is_sound(SIZE) && rows >= tile);
    let mut scratch = Scratch(MaybeUninit::uninit());
    let copies = columns >= tile && rows <= ROWS && falls_into_one_set(rows, source_stride, 8);
    let mut line = 0;
    while line < columns {
        // One line of each source row, or the last columns of it.
        let end = columns.min(line + tile);
        let base = if end - line < tile { columns.saturating_sub(tile) } else { line };
        let at = |start: *const u8| start.wrapping_add(base * SIZE);
        let (mut from, mut stride) = (at(block.source), source_stride);
        if copies {
            for row in 0..rows {
                // SAFETY: a line of each row of the block; the scratch has room for as many.
                unsafe {
                    let line = Four::load_whole(from.wrapping_offset(row as isize * stride));
                    line.store(scratch.0.as_mut_ptr().cast::<u8>().add(row * LINE));
                }
            }
            (from, stride) = (scratch.0.as_ptr().cast(), LINE as isize);
        }
        // Where there are fewer, as many as a lane has elements.
        let side = if columns >= WIDE { WIDE } else { LANE / SIZE };
        let pieces = (end - line).div_ceil(side);
        for piece in 0..pieces {
            let wanted = line + piece * side;
            let column = wanted.min(columns.saturating_sub(side));
            let strip = Strip {
                from: from.wrapping_add((column - base) * SIZE),
                stride,
                to: block.destination.wrapping_offset(column as isize * block.destination_stride),
                to_stride: block.destination_stride,
                rows,
                held: held.from(column),
                next: if block.next.is_null() { block.next } else { at(block.next) },
                next_stride: source_stride,
                near: if end < columns && SIZE < 8 { block.source.wrapping_add(end * SIZE) } else { null() },
                share: (piece, pieces),
            };
            // SAFETY: rows and columns of the block; the columns that were moved before are left out.
            unsafe {
                if columns >= WIDE {
                    match wanted - column {
                        0 => strip.go::<SIZE, WIDE, AT_ONCE, false>(0),
                        moved => strip.go::<SIZE, WIDE, AT_ONCE, true>(moved),
                    }
                } else {
                    strip.part::<SIZE>((wanted - column, side.min(columns)));
                }
            }
        }
        line = end;
    }
}

/// All rows of a block by some columns.
struct Strip {
    from: *const u8,
    stride: isize,
    to: *mut u8,
    to_stride: isize,
    rows: usize,
    held: Held,
    /// What is fetched for the next block, and what comes next of this one, into the first cache: while narrow elements are zipped, few
    /// reads wait at a time. And the share of the rows.
    next: *const u8,
    next_stride: isize,
    near: *const u8,
    share: (usize, usize),
}

impl Strip {
    /// A tile of the strip, from a row on.
    #[inline(always)]
    fn tile<const SIZE: usize>(&self, row: usize) -> Piece {
        let from = self.from.wrapping_offset(row as isize * self.stride);
        let mut lanes = [from; MOST];
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane = from.wrapping_offset((k * LANE / SIZE) as isize * self.stride);
        }
        Piece {
            lanes,
            stride: self.stride,
            in_part: 0,
            to: self.to.wrapping_add(row * SIZE),
            to_stride: self.to_stride,
            bytes: LINE,
            ahead: 0,
        }
    }

    /// The columns of a tile; `AT_ONCE` lanes of each row are read at once.
    ///
    /// # Safety
    ///
    /// As [`run`], for these.
    #[inline(always)]
    unsafe fn columns<const SIZE: usize, const AT_ONCE: usize>(&self, row: usize) -> [Four; LANE] {
        let (side, parts) = (LANE / SIZE, Four::LANES / AT_ONCE);
        let from = self.from.wrapping_offset(row as isize * self.stride);
        // SAFETY: the caller's promise.
        unsafe {
            if AT_ONCE == 1 {
                return self.tile::<SIZE>(row).columns::<Four, SIZE, MOST, false>(side);
            }
            let mut vectors = [Four::zero(); LANE];
            each!(n < 16, {
                if n < AT_ONCE * side {
                    let row = n / side * parts * side + n % side;
                    let mut lanes = [from; MOST];
                    for (part, lane) in lanes.iter_mut().enumerate().take(parts) {
                        *lane = from.wrapping_offset((row + part * side) as isize * self.stride);
                    }
                    vectors[n] = Four::load_wide::<AT_ONCE>(lanes);
                }
            });
            zipped::<Four, SIZE, AT_ONCE>(&mut vectors);
            vectors
        }
    }

    #[inline(always)]
    fn fetch<const SIZE: usize>(&self, row: usize) {
        let (number, of) = self.share;
        let rows = (number..LINE / SIZE).step_by(of).map(|k| row + k);
        if !self.next.is_null() {
            rows.clone().for_each(|row| prefetch(line_of(self.next, row, self.next_stride)));
        }
        if !self.near.is_null() {
            rows.for_each(|row| prefetch_near(line_of(self.near, row, self.next_stride)));
        }
    }

    /// Moves the strip; if it `SKIPS` some columns, from the column `first` on.
    ///
    /// # Safety
    ///
    /// As [`run`], for these.
    #[inline(always)]
    unsafe fn go<const SIZE: usize, const WIDE: usize, const AT_ONCE: usize, const SKIPS: bool>(
        &self,
        first: usize,
    ) {
        let tile = LINE / SIZE;
        let full = self.rows / tile * tile;
        // SAFETY: the caller's promise.
        unsafe {
            let mut row = 0;
            let mut before = [Four::zero(); WIDE];
            if self.held.begin {
                let vectors = self.columns::<SIZE, AT_ONCE>(0);
                self.fetch::<SIZE>(0);
                let mut to = self.to.wrapping_offset(-self.to_stride);
                each!(column < WIDE, {
                    to = to.wrapping_offset(self.to_stride);
                    if !SKIPS || column >= first {
                        begin(vectors[column].0, to, self.held.head(column));
                    }
                    before[column] = vectors[column];
                });
                row = tile;
            } else {
                for (column, before) in before.iter_mut().enumerate() {
                    *before = Four::load_whole(self.held.line(column));
                }
            }
            while row < full {
                let vectors = self.columns::<SIZE, AT_ONCE>(row);
                self.fetch::<SIZE>(row);
                let mut to = self.to.wrapping_add(row * SIZE).wrapping_offset(-self.to_stride);
                each!(column < WIDE, {
                    to = to.wrapping_offset(self.to_stride);
                    if !SKIPS || column >= first {
                        joined(before[column].0, vectors[column].0, to);
                    }
                    before[column] = vectors[column];
                });
                row += tile;
            }
            for (column, before) in before.iter().enumerate().skip(first) {
                before.store(self.held.line(column));
            }
            if full < self.rows {
                self.edge::<SIZE, AT_ONCE>(self.rows - tile, full - (self.rows - tile), (first, WIDE));
            }
        }
    }

    /// Moves the columns `first..last` of the strip.
    ///
    /// # Safety
    ///
    /// As [`run`], for these.
    #[cold]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn part<const SIZE: usize>(&self, columns: (usize, usize)) {
        let tile = LINE / SIZE;
        for top in (0..self.rows).step_by(tile) {
            let row = top.min(self.rows - tile);
            // SAFETY: the caller's promise.
            unsafe { self.edge::<SIZE, 0>(row, top - row, columns) };
        }
    }

    /// Moves a tile of these columns; its first `over` rows were moved before. If no lanes are read at once, columns are fewer than in one.
    ///
    /// # Safety
    ///
    /// As [`run`], for these.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn edge<const SIZE: usize, const AT_ONCE: usize>(
        &self,
        row: usize,
        over: usize,
        (first, last): (usize, usize),
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let piece = self.tile::<SIZE>(row);
            let vectors = match AT_ONCE {
                0 => piece.columns::<Four, SIZE, MOST, true>(last),
                _ => self.columns::<SIZE, AT_ONCE>(row),
            };
            self.fetch::<SIZE>(row);
            for (column, &vector) in vectors.iter().enumerate().take(last).skip(first) {
                let to = piece.to.wrapping_offset(column as isize * self.to_stride);
                let hold = self.held.line(column);
                if self.held.begin && row == 0 {
                    begin(vector.0, to, self.held.head(column));
                } else {
                    joined_over(Four::load_whole(hold).0, vector.0, to, over * SIZE);
                }
                vector.store(hold);
            }
        }
    }
}
