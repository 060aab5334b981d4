//! Transposes of elements below a byte: widened to a byte each, transposed as bytes, and narrowed, block by block.

use tilework_core::{Loop, Nest};

use super::{Kernels, walk};
use crate::kernels::Block;

/// Elements along a side of a block, at most.
const SIDE: usize = 128;

/// Bytes from one row of the scratch to the next: an odd number of lines, so that rows do not meet in one set of the cache.
const PITCH: usize = SIDE + 64;

/// Bytes before and behind the rows, which widening and narrowing touch.
const EDGE: usize = 128;

/// A block before and after it is transposed, a byte for each element. Empty at first; who moves many nests keeps it between them.
#[derive(Default)]
pub(crate) struct Scratch {
    rows: Vec<u8>,
    columns: Vec<u8>,
}

/// Moves a nest with a loop that moves one element in the source only and one that does so in the destination only.
///
/// # Safety
/// As for [`super::move_nest`].
pub(super) unsafe fn move_nest(
    nest: &Nest,
    (source, destination): (usize, usize),
    bits: u32,
    kernels: &Kernels,
    scratch: &mut Scratch,
    from: *const u8,
    to: *mut u8,
) {
    let (columns, rows) = (nest.loops[source], nest.loops[destination]);
    let mut outer = nest.loops.clone();
    outer.remove(source.max(destination));
    outer.remove(source.min(destination));
    for scratch in [&mut scratch.rows, &mut scratch.columns] {
        scratch.resize(SIDE * PITCH + 2 * EDGE, 0);
    }
    for &start in &nest.starts {
        walk(&outer, start.0, start.1, &mut |source, place| {
            for row in (0..rows.extent).step_by(SIDE) {
                for column in (0..columns.extent).step_by(SIDE) {
                    let source = source.wrapping_add_signed(row as i64 * rows.from) + column;
                    let place = place.wrapping_add_signed(column as i64 * columns.to) + row;
                    let left = |l: Loop, done: u64| Loop { extent: (l.extent - done).min(SIDE as u64), ..l };
                    let size = (left(rows, row), left(columns, column));
                    // SAFETY: the block is a part of the nest.
                    unsafe { block(size, bits, kernels, scratch, (from, source), (to, place)) };
                }
            }
        });
    }
}

/// Moves a block from an element of the source to one of the destination.
///
/// # Safety
/// As for [`super::move_nest`], for the elements of the block; and it has at most [`SIDE`] rows and columns.
unsafe fn block(
    (rows, columns): (Loop, Loop),
    bits: u32,
    kernels: &Kernels,
    scratch: &mut Scratch,
    (from, source): (*const u8, u64),
    (to, place): (*mut u8, u64),
) {
    let widen = &kernels.widen[bits.ilog2() as usize];
    let (height, width) = (rows.extent as usize, columns.extent as usize);
    // SAFETY: rows and columns of the block, and scratch with room for them and for what kernels touch before and behind.
    unsafe {
        let (a, b) = (scratch.rows.as_mut_ptr().add(EDGE), scratch.columns.as_mut_ptr().add(EDGE));
        for k in 0..height {
            let source = source.wrapping_add_signed(k as i64 * rows.from);
            widen.row((from, source), width, a.add(k * PITCH));
        }
        let in_byte = 8 / bits as usize;
        let whole = |place: u64| place.is_multiple_of(in_byte as u64);
        let mut done = 0;
        if height >= in_byte && whole(columns.to.unsigned_abs()) && whole(place) {
            // Rows that meet in a byte are put together first, and then it is bytes that are transposed.
            let rows = height / in_byte;
            for k in 0..rows {
                let row = std::slice::from_raw_parts_mut(b.add(k * PITCH), width);
                row.fill(0);
                for number in 0..in_byte {
                    let wide = std::slice::from_raw_parts(a.add((k * in_byte + number) * PITCH), width);
                    let left = number as u32 * bits;
                    row.iter_mut().zip(wide).for_each(|(byte, element)| *byte |= element << left);
                }
            }
            (kernels.transpose)(&Block {
                rows,
                columns: width,
                source: b,
                source_stride: PITCH as isize,
                destination: to.add(place as usize / in_byte),
                destination_stride: columns.to as isize / in_byte as isize,
                next: std::ptr::null(),
            });
            done = rows * in_byte;
        }
        if done == height {
            return;
        }
        (kernels.transpose)(&Block {
            rows: height - done,
            columns: width,
            source: a.add(done * PITCH),
            source_stride: PITCH as isize,
            destination: b,
            destination_stride: PITCH as isize,
            next: std::ptr::null(),
        });
        for k in 0..width {
            let place = place.wrapping_add_signed(k as i64 * columns.to) + done as u64;
            widen.back(b.add(k * PITCH), height - done, None, (to, place));
        }
    }
}
