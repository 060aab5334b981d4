//! Two loops over elements at any steps: for few elements in the cache there is nothing better.

use super::strided::{Line, one_by_one};

/// Elements in rows and columns: each from its place in the source to its place in the destination.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub rows: usize,
    pub columns: usize,
    /// The first element.
    pub source: *const u8,
    /// Bytes from one row to the next, and from one column to the next; any sign, or 0.
    pub source_steps: (isize, isize),
    /// Where the first element goes.
    pub destination: *mut u8,
    /// The same in the destination, where elements do not overlap.
    pub destination_steps: (isize, isize),
}

/// Moves the elements.
///
/// # Safety
/// 1. Every element of the source, where [`Grid`] says, is within one buffer that can be read.
/// 2. Every element of the destination is within one buffer that can be written.
/// 3. No destination element overlaps a source element or another destination element.
/// 4. Nobody else writes the one or touches the other meanwhile.
pub(crate) type GridFn = unsafe fn(&Grid);

/// The kernel for elements of `size` bytes, if it is 1, 2, 4, 8 or 16.
pub(crate) fn grid(size: usize) -> Option<GridFn> {
    Some(match size {
        1 => of_size::<1>,
        2 => of_size::<2>,
        4 => of_size::<4>,
        8 => of_size::<8>,
        16 => of_size::<16>,
        _ => return None,
    })
}

/// # Safety
/// As for [`GridFn`].
unsafe fn of_size<const SIZE: usize>(grid: &Grid) {
    let (mut source, mut destination) = (grid.source, grid.destination);
    for _ in 0..grid.rows {
        let (source_step, destination_step) = (grid.source_steps.1, grid.destination_steps.1);
        let line = Line { count: grid.columns, source, source_step, destination, destination_step };
        // SAFETY: the caller's, for one of the rows. Beyond the last row the pointers are not used.
        unsafe { one_by_one::<SIZE>(&line) };
        source = source.wrapping_offset(grid.source_steps.0);
        destination = destination.wrapping_offset(grid.destination_steps.0);
    }
}
