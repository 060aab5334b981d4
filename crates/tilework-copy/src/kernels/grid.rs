//! Two loops over elements at any steps: for few elements in the cache there is nothing better.

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
    let (s, d) = (grid.source_steps.1, grid.destination_steps.1);
    let (mut source_row, mut destination_row) = (grid.source, grid.destination);
    for _ in 0..grid.rows {
        let (mut source, mut destination) =
            (source_row.cast::<[u8; SIZE]>(), destination_row.cast::<[u8; SIZE]>());
        // SAFETY: the caller's; bytes have no alignment. Beyond the last element the pointers are not used.
        unsafe {
            for _ in 0..grid.columns / 4 {
                let (a, b) = (*source, *source.wrapping_byte_offset(s));
                let (c, e) = (*source.wrapping_byte_offset(2 * s), *source.wrapping_byte_offset(3 * s));
                *destination = a;
                *destination.wrapping_byte_offset(d) = b;
                *destination.wrapping_byte_offset(2 * d) = c;
                *destination.wrapping_byte_offset(3 * d) = e;
                source = source.wrapping_byte_offset(4 * s);
                destination = destination.wrapping_byte_offset(4 * d);
            }
            for _ in 0..grid.columns % 4 {
                *destination = *source;
                source = source.wrapping_byte_offset(s);
                destination = destination.wrapping_byte_offset(d);
            }
        }
        source_row = source_row.wrapping_offset(grid.source_steps.0);
        destination_row = destination_row.wrapping_offset(grid.destination_steps.0);
    }
}
