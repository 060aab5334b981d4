//! Blocks whose source rows crowd into a few sets of the nearest cache: as they do with a pitch of a large power of two.
//!
//! What the machine fetches of such rows in advance is gone before it is read, and so is the rest of a line that was read in part.
//! So some lines of each row are copied first, one row after the other, to where they do not crowd.

use std::mem::MaybeUninit;

use super::super::vector::prefetch;
use super::super::{Block, BlockFn};
use super::lanes::{LANE, LINE, Lanes, falls_into_one_set, line_of};

/// Rows that are copied at a time, at most.
const ROWS: usize = 64;
/// Bytes of each; a line where stores go past the cache, so that they and the reads take turns.
const WIDE: usize = 4 * LINE;
/// From copy to copy: an odd number of lines.
const PITCH: usize = WIDE + LINE;

#[repr(align(64))]
struct Copies(MaybeUninit<[u8; ROWS * PITCH]>);

/// Whether the source rows of a block crowd so much that copies are worth it.
pub(super) fn crowds(block: &Block, size: usize) -> bool {
    let &Block { rows, columns, source_stride, .. } = block;
    // Lines that are read in parts have to stay longer than those that are read whole. The widest elements are moved as fast as copied.
    let lines_of_a_set = if size < 4 { 12 } else { 24 };
    columns >= LINE / size
        && size < LANE
        && source_stride.unsigned_abs() >= LINE
        && falls_into_one_set(rows.min(ROWS), source_stride, lines_of_a_set)
}

/// Whether the destination rows do.
#[cfg(target_arch = "x86_64")]
pub(super) fn crowds_too(block: &Block, size: usize) -> bool {
    falls_into_one_set(block.columns.min(LINE / size), block.destination_stride, 8)
}

/// Moves a block by way of copies, where `moves` moves the parts.
///
/// # Safety
///
/// As [`BlockFn`], which `moves` must be for the same `SIZE`; it streams nothing but whole lines.
#[inline(always)]
pub(super) unsafe fn copied<W: Lanes, const SIZE: usize, const STREAM: bool>(block: &Block, moves: BlockFn) {
    let mut copies = Copies(MaybeUninit::uninit());
    let copies = copies.0.as_mut_ptr().cast::<u8>();
    let &Block { rows, columns, source_stride, destination_stride, .. } = block;
    let tile = LINE / SIZE;
    let wide = if STREAM { LINE } else { WIDE };
    for top in (0..rows).step_by(ROWS) {
        // Less than a tile is moved with some rows before it.
        let row = if rows - top < tile { rows.saturating_sub(tile) } else { top };
        let count = ROWS.min(rows - row);
        for column in (0..columns).step_by(wide / SIZE) {
            let width = (wide / SIZE).min(columns - column);
            let at = |start: *const u8| {
                start.wrapping_offset(row as isize * source_stride).wrapping_add(column * SIZE)
            };
            let bytes = width * SIZE;
            let whole = bytes / LINE * LINE;
            for k in 0..count {
                let from = at(block.source).wrapping_offset(k as isize * source_stride);
                // SAFETY: `bytes` bytes of a row of the block, and of its copy.
                unsafe {
                    let to = copies.add(k * PITCH);
                    for done in (0..whole).step_by(W::LANES * LANE) {
                        W::load_whole(from.add(done)).store(to.add(done));
                    }
                    if whole < bytes {
                        W::copy_part(from.add(whole), to.add(whole), bytes - whole);
                    }
                }
                if !block.next.is_null() {
                    for done in (0..bytes).step_by(LINE) {
                        prefetch(line_of(at(block.next).wrapping_add(done), k, source_stride));
                    }
                }
            }
            let part = Block {
                rows: count,
                columns: width,
                source: copies,
                source_stride: PITCH as isize,
                destination: block
                    .destination
                    .wrapping_offset(column as isize * destination_stride)
                    .wrapping_add(row * SIZE),
                next: std::ptr::null(),
                ..*block
            };
            // SAFETY: the copies are rows of the block, and the part's destination is theirs.
            unsafe { moves(&part) };
        }
    }
}
