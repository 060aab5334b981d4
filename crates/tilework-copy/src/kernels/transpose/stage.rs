//! Blocks whose destination rows are written by way of a stage: a scratch block in a cache.
//!
//! A register tile writes a vector to each of many rows. Where rows do not begin on lines, every vector
//! straddles two of them, so that each line is written twice; that is cheap while the line stays in the nearest
//! cache. It does not when the rows are about a power of two apart, and it is out of the question for streaming
//! stores, which want whole lines. So a column of tiles goes to the stage, and from there row by row to the
//! destination, in one go and in whole lines but for the ends.

use std::mem::MaybeUninit;

use super::super::{Block, BlockFn};
use super::lanes::{LINE, Lanes, falls_into_one_set};

/// Bytes of a destination row that are staged at a time.
const RUN: usize = 1024;
/// From row to row of the stage: an odd number of lines, so that the stage has no conflicts of its own.
const PITCH: usize = RUN + LINE;

/// At most as many rows as a line has elements.
#[repr(align(64))]
struct Stage(MaybeUninit<[u8; LINE * PITCH]>);

/// Whether a block gains from [`staged`] with ordinary stores.
pub(super) fn pays(block: &Block, size: usize) -> bool {
    let &Block { rows, columns, destination, destination_stride, .. } = block;
    let aligned = (destination as usize | destination_stride as usize).is_multiple_of(LINE);
    !aligned
        && rows * size >= 8 * LINE
        && columns * size >= LINE
        // Every row has two lines in use, and they are in use for long.
        && falls_into_one_set(2 * LINE / size, destination_stride, 8)
}

#[cfg(target_arch = "x86_64")]
/// Whether a block can be streamed as it is: its destination rows are whole lines, or half or quarter lines
/// that adjoin.
pub(super) fn streams(block: &Block, size: usize) -> bool {
    let &Block { rows, columns, destination, destination_stride, .. } = block;
    let bytes = rows * size;
    let (stride, whole) = if matches!(bytes, 16 | 32) && destination_stride == bytes as isize {
        (0, columns * bytes)
    } else {
        (destination_stride as usize, bytes)
    };
    (destination as usize | stride | whole).is_multiple_of(LINE)
}

/// Moves a block by way of the stage, where `plain` moves the tiles; streams whole lines if `STREAM`.
///
/// # Safety
///
/// As [`BlockFn`], which `plain` must be for the same `SIZE`.
#[inline(always)]
pub(super) unsafe fn staged<W: Lanes, const SIZE: usize, const STREAM: bool>(block: &Block, plain: BlockFn) {
    let mut stage = Stage(MaybeUninit::uninit());
    let stage = stage.0.as_mut_ptr().cast::<u8>();
    let &Block { rows, columns, source_stride, destination_stride, .. } = block;
    let side = LINE / SIZE;
    let mut row = 0;
    while row < rows {
        // The last run takes what is left, if that is little.
        let left = rows - row;
        let count = if left * SIZE <= RUN {
            left
        } else if left * SIZE < 2 * RUN {
            left / 2
        } else {
            RUN / SIZE
        };
        let mut column = 0;
        while column < columns {
            let width = side.min(columns - column);
            let at = |start: *const u8| {
                start.wrapping_offset(row as isize * source_stride).wrapping_add(column * SIZE)
            };
            let part = Block {
                rows: count,
                columns: width,
                source: at(block.source),
                destination: stage,
                destination_stride: PITCH as isize,
                next: if block.next.is_null() { block.next } else { at(block.next) },
                ..*block
            };
            // SAFETY: the part lies within the block; the stage holds `side` rows of `RUN` bytes.
            unsafe { plain(&part) };
            for k in 0..width {
                let to = block
                    .destination
                    .wrapping_offset((column + k) as isize * destination_stride)
                    .wrapping_add(row * SIZE);
                // SAFETY: `count` elements of a destination row, as many as the stage's row holds.
                unsafe {
                    let after = to.wrapping_offset(destination_stride);
                    copy::<W, STREAM>(stage.add(k * PITCH), to, count * SIZE, after);
                }
            }
            column += width;
        }
        row += count;
    }
}

/// Copies a row of at least a line. `after` is where the next will go.
///
/// # Safety
///
/// `from` can be read and `to` written for `bytes` bytes.
#[inline(always)]
unsafe fn copy<W: Lanes, const STREAM: bool>(from: *const u8, to: *mut u8, bytes: usize, after: *const u8) {
    let head = to.align_offset(LINE).min(bytes);
    // SAFETY: head, whole lines and tail together are `bytes` bytes.
    unsafe {
        W::copy_part(from, to, head);
        let mut done = head;
        while done + LINE <= bytes {
            for part in (0..LINE).step_by(W::LANES * 16) {
                let vector = W::load_whole(from.add(done + part));
                if STREAM {
                    vector.stream(to.add(done + part));
                } else {
                    vector.store(to.add(done + part));
                }
            }
            if !STREAM {
                W::prefetch_to_write(after.wrapping_add(done));
            }
            done += LINE;
        }
        W::copy_part(from.add(done), to.add(done), bytes - done);
    }
}
