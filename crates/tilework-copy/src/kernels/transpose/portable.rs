//! Transposes in plain Rust: small squares that stay in the nearest cache, loops that the compiler unrolls.

use super::super::{Block, Transpose};

/// The kernels for elements of `size` bytes.
pub(super) fn kernels(size: usize) -> Option<Transpose> {
    match size {
        1 => Some(of::<1>()),
        2 => Some(of::<2>()),
        4 => Some(of::<4>()),
        8 => Some(of::<8>()),
        16 => Some(of::<16>()),
        _ => None,
    }
}

fn of<const SIZE: usize>() -> Transpose {
    // There are no streaming stores without instructions for them.
    Transpose { tile: SIDE, plain: run::<SIZE>, stream: run::<SIZE>, carry: None, puts_together: false }
}

/// Side of the square, in elements.
const SIDE: usize = 16;

/// # Safety
///
/// As [`crate::kernels::BlockFn`].
unsafe fn run<const SIZE: usize>(block: &Block) {
    debug_assert!(block.is_sound(SIZE));
    let mut column = 0;
    while column < block.columns {
        let columns = SIDE.min(block.columns - column);
        let mut row = 0;
        while row < block.rows {
            let rows = SIDE.min(block.rows - row);
            let source =
                block.source.wrapping_offset(row as isize * block.source_stride).wrapping_add(column * SIZE);
            let destination = block
                .destination
                .wrapping_offset(column as isize * block.destination_stride)
                .wrapping_add(row * SIZE);
            // SAFETY: the square lies within the block; a full one is told apart so that its loops have
            // constant bounds.
            unsafe {
                if rows == SIDE && columns == SIDE {
                    square::<SIZE>(source, destination, block, SIDE, SIDE);
                } else {
                    square::<SIZE>(source, destination, block, rows, columns);
                }
            }
            row += rows;
        }
        column += columns;
    }
}

/// # Safety
///
/// `rows` by `columns` elements can be read at `source` and written at `destination`, with the strides of the
/// block.
#[inline(always)]
unsafe fn square<const SIZE: usize>(
    source: *const u8,
    destination: *mut u8,
    block: &Block,
    rows: usize,
    columns: usize,
) {
    for column in 0..columns {
        let to = destination.wrapping_offset(column as isize * block.destination_stride);
        let from = source.wrapping_add(column * SIZE);
        for row in 0..rows {
            // SAFETY: row and column are within the bounds the caller vouches for.
            unsafe {
                let element = from.wrapping_offset(row as isize * block.source_stride).cast::<[u8; SIZE]>();
                to.wrapping_add(row * SIZE).cast::<[u8; SIZE]>().write(element.read());
            }
        }
    }
}
