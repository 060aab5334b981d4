//! Blocks whose destination rows are shorter than a vector, and adjacent: several rows make one whole line.
//!
//! As it comes in blocked layouts, 16 channels of 1 or 2 bytes for instance. The lanes of a vector are shared
//! out between row groups (16 bytes of a destination row) and pieces of the source row, `FOLD` of them. The
//! zips leave in vector `j` the rows `j`, `j + side`, ...; lanes of `FOLD` vectors then change places, so that
//! each holds `FOLD` rows that follow one another.

use std::mem::MaybeUninit;

use super::super::Block;
use super::super::vector::prefetch;
use super::lanes::{LANE, Lanes, MOST};

/// Whether [`folded`] can do this block: rows of 1 or 2 lanes, `fold` of them to a vector, and at least one
/// piece of columns.
pub(super) fn fits(block: &Block, size: usize, fold: usize) -> bool {
    let side = LANE / size;
    block.destination_stride == (block.rows * size) as isize && side >= fold && block.columns >= fold * side
}

/// Moves a block with vectors `W`, `FOLD` destination rows in each.
///
/// # Safety
///
/// As [`super::super::BlockFn`] and, if `STREAM`, as [`super::super::Transpose::stream`]; the block [`fits`],
/// and its destination rows are `W::LANES / FOLD` lanes.
#[inline(always)]
pub(super) unsafe fn folded<W: Lanes, const SIZE: usize, const STREAM: bool, const FOLD: usize>(
    block: &Block,
) {
    let side = LANE / SIZE;
    let groups = W::LANES / FOLD;
    let &Block { columns, source_stride, .. } = block;
    let row_bytes = groups * LANE;
    let mut wanted = 0;
    while wanted < columns {
        let column = wanted.min(columns - FOLD * side);
        if !block.next.is_null() {
            // A piece is a line of each row, or half a line: then half of the rows.
            let half = if groups == 2 { column / (FOLD * side) % 2 * side } else { 0 };
            for row in half..half + side {
                prefetch(
                    block.next.wrapping_add(column * SIZE).wrapping_offset(row as isize * source_stride),
                );
            }
        }
        let from = block.source.wrapping_add(column * SIZE);
        let mut lanes = [from; MOST];
        for (k, lane) in lanes.iter_mut().enumerate().take(W::LANES) {
            *lane = from
                .wrapping_add(k / groups * LANE)
                .wrapping_offset((k % groups * side) as isize * source_stride);
        }
        let to = block.destination.wrapping_add(column * row_bytes);
        // SAFETY: `FOLD * side` columns from `column` lie within the block, and so do their adjacent
        // destination rows.
        unsafe {
            let mut vectors = [const { MaybeUninit::<W>::uninit() }; LANE];
            for (row, vector) in vectors.iter_mut().enumerate().take(side) {
                vector.write(W::load(lanes.map(|lane| lane.wrapping_offset(row as isize * source_stride))));
            }
            let mut rounds = side;
            while rounds > 1 {
                let before = vectors;
                for k in 0..side / 2 {
                    let (low, high) = before[k].assume_init().zip::<SIZE>(before[k + side / 2].assume_init());
                    vectors[2 * k].write(low);
                    vectors[2 * k + 1].write(high);
                }
                rounds /= 2;
            }
            for first in (0..side).step_by(FOLD) {
                let mut rows = [vectors[first].assume_init(); MOST];
                for (k, row) in rows.iter_mut().enumerate().take(FOLD) {
                    *row = vectors[first + k].assume_init();
                }
                for (part, vector) in W::exchange::<FOLD>(rows).into_iter().enumerate().take(FOLD) {
                    let row = part * side + first;
                    if !STREAM {
                        vector.store(to.add(row * row_bytes));
                    } else if column + row >= wanted {
                        vector.stream(to.add(row * row_bytes));
                    }
                }
            }
        }
        wanted += FOLD * side;
    }
}
