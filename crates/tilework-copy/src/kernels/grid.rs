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

/// Columns that are moved in one go: few enough that the source's lines are still near when the next row wants its part of them, and
/// enough for a loop without branches.
const AT_ONCE: usize = 16;

/// # Safety
/// As for [`GridFn`].
unsafe fn of_size<const SIZE: usize>(grid: &Grid) {
    let steps = (grid.source_steps.1, grid.destination_steps.1);
    for first in (0..grid.columns).step_by(AT_ONCE) {
        let count = AT_ONCE.min(grid.columns - first);
        let first = first as isize;
        let mut source = grid.source.wrapping_offset(first.wrapping_mul(steps.0));
        let mut destination = grid.destination.wrapping_offset(first.wrapping_mul(steps.1));
        for _ in 0..grid.rows {
            // SAFETY: the caller's, for a part of one of the rows. Beyond the last row the pointers are not used.
            unsafe { some::<SIZE>(source, destination, steps, count) };
            source = source.wrapping_offset(grid.source_steps.0);
            destination = destination.wrapping_offset(grid.destination_steps.0);
        }
    }
}

/// Up to [`AT_ONCE`] elements: in pieces of 16, 8, 4, 2 and 1, each without a loop.
///
/// # Safety
/// As for [`GridFn`].
#[inline(always)]
unsafe fn some<const SIZE: usize>(
    mut source: *const u8,
    mut destination: *mut u8,
    steps: (isize, isize),
    count: usize,
) {
    // SAFETY: the caller's, for all pieces. Beyond the last element the pointers are not used.
    unsafe {
        if count & AT_ONCE != 0 {
            return these::<SIZE, AT_ONCE>(&mut source, &mut destination, steps);
        }
        if count & 8 != 0 {
            these::<SIZE, 8>(&mut source, &mut destination, steps);
        }
        if count & 4 != 0 {
            these::<SIZE, 4>(&mut source, &mut destination, steps);
        }
        if count & 2 != 0 {
            these::<SIZE, 2>(&mut source, &mut destination, steps);
        }
        if count & 1 != 0 {
            these::<SIZE, 1>(&mut source, &mut destination, steps);
        }
    }
}

/// Moves `COUNT` elements, and goes behind them.
///
/// # Safety
/// As for [`GridFn`].
#[inline(always)]
unsafe fn these<const SIZE: usize, const COUNT: usize>(
    source: &mut *const u8,
    destination: &mut *mut u8,
    steps: (isize, isize),
) {
    for _ in 0..COUNT {
        // SAFETY: the caller's; bytes have no alignment.
        unsafe { *destination.cast::<[u8; SIZE]>() = *source.cast::<[u8; SIZE]>() };
        *source = source.wrapping_offset(steps.0);
        *destination = destination.wrapping_offset(steps.1);
    }
}
