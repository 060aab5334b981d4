//! Two loops over elements at any steps, some times: for few elements in the cache there is nothing better.

use super::vector::LINE;

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
    /// How often, and bytes from one time to the next in the source and in the destination; any sign, or 0.
    pub times: usize,
    pub again: (isize, isize),
}

/// Moves the elements.
///
/// # Safety
/// 1. Every element of the source of all times, where [`Grid`] says, is within one buffer that can be read.
/// 2. Every element of the destination of all times is within one buffer that can be written.
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
pub(crate) const AT_ONCE: usize = 16;

/// Up to this number of columns are one strip.
const STRIP: usize = 8;

/// Lines that are a multiple of this many bytes apart drive each other out of the nearest cache.
const CROWDED: isize = 4096;

/// # Safety
/// As for [`GridFn`].
unsafe fn of_size<const SIZE: usize>(grid: &Grid) {
    let size = SIZE as isize;
    let adjoin = grid.destination_steps.1 == size;
    if grid.times > 1 && grid.columns > STRIP {
        // One after the other, so that lines are still near when their next columns are moved.
        for time in 0..grid.times as isize {
            let one = Grid {
                source: grid.source.wrapping_offset(time.wrapping_mul(grid.again.0)),
                destination: grid.destination.wrapping_offset(time.wrapping_mul(grid.again.1)),
                times: 1,
                ..*grid
            };
            // SAFETY: the caller's, for one of the times.
            unsafe { of_size::<SIZE>(&one) };
        }
        return;
    }
    if grid.rows == 1 && grid.columns > AT_ONCE {
        // One long row is as good as some short ones, and what is left.
        let rows = grid.columns / AT_ONCE;
        let down = |step: isize| step.wrapping_mul(AT_ONCE as isize);
        let short = Grid {
            rows,
            columns: AT_ONCE,
            source_steps: (down(grid.source_steps.1), grid.source_steps.1),
            destination_steps: (down(grid.destination_steps.1), grid.destination_steps.1),
            ..*grid
        };
        let rest = part(grid, rows * AT_ONCE, grid.columns % AT_ONCE);
        // SAFETY: the caller's, for some of the columns and for the others.
        unsafe {
            of_size::<SIZE>(&short);
            if rest.columns > 0 {
                of_size::<SIZE>(&rest);
            }
        }
        return;
    }
    // SAFETY: the caller's, for all of the grid or for columns of it; the steps are looked at.
    unsafe {
        let crowded = grid.source_steps.1 % CROWDED == 0 && grid.columns >= AT_ONCE;
        if !adjoin {
            strips::<SIZE, false>(grid, AT_ONCE);
        } else if !crowded || grid.source_steps.0.abs() != size {
            strips::<SIZE, true>(grid, AT_ONCE);
        } else {
            // No line stays near until the next row: so all rows that have a part of it go together, column by column.
            for first in (0..grid.columns).step_by(AT_ONCE) {
                let few = part(grid, first, AT_ONCE.min(grid.columns - first));
                let turned = Grid {
                    rows: few.columns,
                    columns: few.rows,
                    source_steps: (few.source_steps.1, few.source_steps.0),
                    destination_steps: (few.destination_steps.1, few.destination_steps.0),
                    ..few
                };
                strips::<SIZE, false>(&turned, (LINE / SIZE).min(AT_ONCE));
            }
        }
    }
}

/// Some of the columns.
fn part(grid: &Grid, first: usize, columns: usize) -> Grid {
    let steps = (grid.source_steps.1, grid.destination_steps.1);
    Grid {
        columns,
        source: grid.source.wrapping_offset((first as isize).wrapping_mul(steps.0)),
        destination: grid.destination.wrapping_offset((first as isize).wrapping_mul(steps.1)),
        ..*grid
    }
}

/// All rows of some columns, then of the next ones: `most` at once, which is 16, 8 or 4, and what is left without a loop.
///
/// # Safety
/// As for [`GridFn`]; `ADJOIN` says that columns are next to each other in the destination.
unsafe fn strips<const SIZE: usize, const ADJOIN: bool>(grid: &Grid, most: usize) {
    let mut first = 0;
    while first < grid.columns {
        let left = grid.columns - first;
        let count = [16, 8, left].into_iter().find(|&count| count <= left.min(most)).unwrap_or(most);
        let mut few = part(grid, first, count);
        let strip = match count {
            1 => strip::<SIZE, ADJOIN, 1>,
            2 => strip::<SIZE, ADJOIN, 2>,
            3 => strip::<SIZE, ADJOIN, 3>,
            4 => strip::<SIZE, ADJOIN, 4>,
            5 => strip::<SIZE, ADJOIN, 5>,
            6 => strip::<SIZE, ADJOIN, 6>,
            7 => strip::<SIZE, ADJOIN, 7>,
            8 => strip::<SIZE, ADJOIN, 8>,
            _ => strip::<SIZE, ADJOIN, 16>,
        };
        for _ in 0..grid.times {
            // SAFETY: the caller's, for a part of the columns.
            unsafe { strip(&few) };
            few.source = few.source.wrapping_offset(grid.again.0);
            few.destination = few.destination.wrapping_offset(grid.again.1);
        }
        first += count;
    }
}

/// All rows of `COUNT` columns, once. Each four of them have a place of their own, from which the others are one, two and three
/// steps away: that is what an instruction can add by itself.
///
/// # Safety
/// As for [`GridFn`], for `COUNT` columns; `ADJOIN` says that they are next to each other in the destination.
#[inline(never)]
unsafe fn strip<const SIZE: usize, const ADJOIN: bool, const COUNT: usize>(grid: &Grid) {
    let (s, d) = (grid.source_steps.1, if ADJOIN { SIZE as isize } else { grid.destination_steps.1 });
    let mut from: [*const u8; 4] = std::array::from_fn(|k| grid.source.wrapping_offset(4 * k as isize * s));
    let mut to: [*mut u8; 4] = std::array::from_fn(|k| grid.destination.wrapping_offset(4 * k as isize * d));
    for _ in 0..grid.rows {
        let one = |k: usize| {
            let (group, step) = (k / 4, (k % 4) as isize);
            let source = from[group].wrapping_offset(step * s).cast::<[u8; SIZE]>();
            let destination = match ADJOIN {
                true => to[0].wrapping_add(k * SIZE),
                false => to[group].wrapping_offset(step * d),
            };
            // SAFETY: the caller's, for an element of this row; bytes have no alignment.
            unsafe { *destination.cast::<[u8; SIZE]>() = *source };
        };
        // Of a loop of sixteen turns the compiler leaves some, with two multiplications for each element.
        (0..COUNT.min(8)).for_each(one);
        (8..COUNT).for_each(one);
        // Beyond the last row the places are not used.
        from = from.map(|place| place.wrapping_offset(grid.source_steps.0));
        to = to.map(|place| place.wrapping_offset(grid.destination_steps.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves elements, and compares every byte with what one assignment for each of them gives.
    fn moved(size: usize, (rows, columns): (usize, usize), from: (isize, isize), to: (isize, isize)) {
        (1..=3).for_each(|times| moved_times(size, times, (rows, columns), from, to));
    }

    /// The same some times: each time from three bytes before, to what follows.
    fn moved_times(
        size: usize,
        times: usize,
        (rows, columns): (usize, usize),
        from: (isize, isize),
        to: (isize, isize),
    ) {
        // The first element, if steps are backward, and how many bytes all of them lie in.
        let ends = |steps: (isize, isize)| {
            let (down, across) = ((rows as isize - 1) * steps.0, (columns as isize - 1) * steps.1);
            let first = -(down.min(0) + across.min(0));
            (first as usize, (down.abs() + across.abs()) as usize + size)
        };
        let ((source_first, source_bytes), (first, bytes)) = (ends(from), ends(to));
        let (before, again) = (3 * (times - 1), (-3, bytes as isize));
        let (source_first, source_bytes, bytes) =
            (before + source_first, before + source_bytes, times * bytes);
        let source: Vec<u8> = (0..source_bytes).map(|k| (k * 7 + k / 251) as u8).collect();
        let (mut wanted, mut found) = (vec![0xAA; bytes], vec![0xAA; bytes]);
        for (time, row, column) in (0..times as isize).flat_map(|time| {
            (0..rows as isize)
                .flat_map(move |row| (0..columns as isize).map(move |column| (time, row, column)))
        }) {
            let a = source_first.strict_add_signed(time * again.0 + row * from.0 + column * from.1);
            let b = first.strict_add_signed(time * again.1 + row * to.0 + column * to.1);
            wanted[b..b + size].copy_from_slice(&source[a..a + size]);
        }
        let grid = Grid {
            rows,
            columns,
            source: source[source_first..].as_ptr(),
            source_steps: from,
            destination: found[first..].as_mut_ptr(),
            destination_steps: to,
            times,
            again,
        };
        // SAFETY: both vectors hold every element, as `ends` says; elements of the destination do not overlap in what is tested.
        unsafe { super::grid(size).unwrap()(&grid) };
        assert!(
            found == wanted,
            "{times} times {rows} by {columns} elements of {size} bytes, {from:?} to {to:?}"
        );
    }

    #[test]
    fn every_element_goes_where_the_steps_say() {
        for size in [1, 2, 4, 8, 16] {
            let s = size as isize;
            for columns in (1..=20).chain([31, 48]) {
                for rows in [1, 2, 3, 17] {
                    let (r, c) = (rows as isize, columns as isize);
                    // To adjoining columns: a transposition, and the same from lines that drive each other out.
                    moved(size, (rows, columns), (s, r * s + 8), (c * s, s));
                    moved(size, (rows, columns), (s, 2 * CROWDED), (c * s + s, s));
                    moved(size, (rows, columns), (-s, CROWDED), (-c * s, s));
                    // To columns apart, backward, and one element everywhere.
                    moved(size, (rows, columns), (c * s, s), (3 * s, 3 * r * s));
                    moved(size, (rows, columns), (c * s, -s), (-s, -r * s));
                    moved(size, (rows, columns), (0, 0), (c * s, s));
                }
            }
        }
    }
}
