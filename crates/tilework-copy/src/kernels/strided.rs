//! Elements at a stride: slices with a step, backward axes, one element repeated, and whatever else has a step of its own
//! on each side.

use super::InstructionSet;

/// `count` elements: element i from `source + i * source_step` to `destination + i * destination_step`.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    /// How many elements.
    pub count: usize,
    /// The first element.
    pub source: *const u8,
    /// Bytes from one element to the next; any sign, or 0.
    pub source_step: isize,
    /// Where the first element goes.
    pub destination: *mut u8,
    /// Bytes from one element to the next; any sign, and at least an element apart.
    pub destination_step: isize,
}

impl Line {
    /// Whether the destination's elements are as far from each other as they are large.
    pub(super) fn is_apart(&self, size: usize) -> bool {
        self.count < 2 || self.destination_step.unsigned_abs() >= size
    }
}

/// Moves the elements.
///
/// # Safety
///
/// 1. Every element of the source, where [`Line`] says, is within one buffer that can be read.
/// 2. Every element of the destination is within one buffer that can be written.
/// 3. No destination element overlaps a source element or another destination element.
/// 4. Nobody else writes the one or touches the other meanwhile.
/// 5. The steps are those that the kernel was chosen for.
/// 6. The machine has the instructions the kernel was made for.
pub(crate) type LineFn = unsafe fn(&Line);

/// The kernel for elements of `size` bytes (1, 2, 4, 8 or 16) at these steps. The set must be one that this machine has
/// ([`InstructionSet::all_here`]).
///
/// # Panics
///
/// If the size is none of these.
pub(crate) fn gather(
    set: InstructionSet,
    size: usize,
    source_step: isize,
    destination_step: isize,
) -> LineFn {
    match size {
        1 => of_size::<1>(set, source_step, destination_step),
        2 => of_size::<2>(set, source_step, destination_step),
        4 => of_size::<4>(set, source_step, destination_step),
        8 => of_size::<8>(set, source_step, destination_step),
        16 => of_size::<16>(set, source_step, destination_step),
        _ => panic!("elements are of 1, 2, 4, 8 or 16 bytes, not {size}"),
    }
}

/// Whether several elements of `size` bytes at these steps are moved at once, whatever the set.
pub(crate) fn in_vectors(size: usize, source_step: isize, destination_step: isize) -> bool {
    destination_step == size as isize && (-1..=4).any(|step| source_step == step * size as isize)
}

fn of_size<const SIZE: usize>(set: InstructionSet, source_step: isize, destination_step: isize) -> LineFn {
    let size = SIZE as isize;
    if destination_step == size {
        if source_step == size {
            return contiguous::<SIZE>;
        }
        // In elements, if it is whole elements.
        let step = if source_step % size == 0 { source_step / size } else { isize::MAX };
        match (set, step) {
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, -4..=4) => return x86::stepped_512::<SIZE>(step),
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx2, -4..=4) => return x86::stepped_256::<SIZE>(step),
            (_, 0) => return splat::<SIZE>,
            (_, -1) => return constant::<SIZE, -1>,
            (_, 2) => return constant::<SIZE, 2>,
            (_, 3) => return constant::<SIZE, 3>,
            (_, 4) => return constant::<SIZE, 4>,
            _ => {}
        }
    }
    #[cfg(target_arch = "x86_64")]
    if set == InstructionSet::Avx512 && x86::pays(SIZE, source_step) && x86::pays(SIZE, destination_step) {
        return x86::packed::<SIZE>;
    }
    one_by_one::<SIZE>
}

/// Both steps are one element: a row.
///
/// # Safety
///
/// As for [`LineFn`].
unsafe fn contiguous<const SIZE: usize>(line: &Line) {
    debug_assert!(line.source_step == SIZE as isize && line.destination_step == SIZE as isize);
    // SAFETY: the caller's.
    unsafe { line.destination.copy_from_nonoverlapping(line.source, line.count * SIZE) }
}

/// Any steps.
///
/// # Safety
///
/// As for [`LineFn`].
#[inline]
pub(super) unsafe fn one_by_one<const SIZE: usize>(line: &Line) {
    debug_assert!(line.is_apart(SIZE));
    let (mut source, mut destination) =
        (line.source.cast::<[u8; SIZE]>(), line.destination.cast::<[u8; SIZE]>());
    let (s, d) = (line.source_step, line.destination_step);
    // SAFETY: the caller's; bytes have no alignment. Beyond the last element the pointers are not used.
    unsafe {
        for _ in 0..line.count / 4 {
            if SIZE == 16 {
                // Four of these at once would go through memory on the way.
                for k in 0..4 {
                    *destination.wrapping_byte_offset(k * d) = *source.wrapping_byte_offset(k * s);
                }
            } else {
                let (a, b) = (*source, *source.wrapping_byte_offset(s));
                let (c, e) = (*source.wrapping_byte_offset(2 * s), *source.wrapping_byte_offset(3 * s));
                *destination = a;
                *destination.wrapping_byte_offset(d) = b;
                *destination.wrapping_byte_offset(2 * d) = c;
                *destination.wrapping_byte_offset(3 * d) = e;
            }
            source = source.wrapping_byte_offset(4 * s);
            destination = destination.wrapping_byte_offset(4 * d);
        }
        for _ in 0..line.count % 4 {
            *destination = *source;
            source = source.wrapping_byte_offset(s);
            destination = destination.wrapping_byte_offset(d);
        }
    }
}

/// A step of STEP elements into a row: known here, so that the compiler may find vectors.
///
/// # Safety
///
/// As for [`LineFn`], with these steps.
#[inline(always)]
unsafe fn constant<const SIZE: usize, const STEP: isize>(line: &Line) {
    debug_assert!(line.source_step == SIZE as isize * STEP && line.destination_step == SIZE as isize);
    let (source, destination) = (line.source.cast::<[u8; SIZE]>(), line.destination.cast::<[u8; SIZE]>());
    for i in 0..line.count {
        // SAFETY: the caller's.
        unsafe { *destination.add(i) = *source.offset(i as isize * STEP) };
    }
}

/// One element, repeated.
///
/// # Safety
///
/// As for [`LineFn`], with these steps.
#[inline(always)]
unsafe fn splat<const SIZE: usize>(line: &Line) {
    debug_assert!(line.source_step == 0 && line.destination_step == SIZE as isize);
    if line.count == 0 {
        return;
    }
    // Two registers' worth of the element, then that over and over; the last copy overlaps.
    let mut many = [[0u8; SIZE]; 64];
    let wide = 64 / SIZE;
    // SAFETY: the caller's; `wide` elements are 64 bytes, and a copy is made of them only where they fit.
    unsafe {
        let element = *line.source.cast::<[u8; SIZE]>();
        many[..wide].fill(element);
        let block = *many.as_ptr().cast::<[u8; 64]>();
        let destination = line.destination;
        if line.count < wide {
            for i in 0..line.count {
                *destination.cast::<[u8; SIZE]>().add(i) = element;
            }
            return;
        }
        let bytes = line.count * SIZE;
        let mut at = 0;
        while at + 64 <= bytes {
            *destination.add(at).cast() = block;
            at += 64;
        }
        if at < bytes {
            *destination.add(bytes - 64).cast() = block;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Kernels that need vectors of x86-64.

    use super::{Line, LineFn, constant, one_by_one, splat};
    use crate::kernels::runs::Runs;
    use crate::kernels::{pack, stepped};

    /// Whether several elements at this step fit a register, so many that a permute pays.
    pub(super) fn pays(size: usize, step: isize) -> bool {
        1 + (64 - size) / step.unsigned_abs().max(1) >= 4
    }

    /// # Safety
    ///
    /// As for [`LineFn`].
    pub(super) unsafe fn packed<const SIZE: usize>(line: &Line) {
        let runs = Runs {
            count: line.count,
            times: 1,
            again: (0, 0),
            length: SIZE,
            source: line.source,
            source_step: line.source_step,
            destination: line.destination,
            destination_step: line.destination_step,
        };
        // SAFETY: the caller's: elements are runs of SIZE bytes.
        unsafe { if line.count < 32 { one_by_one::<SIZE>(line) } else { pack::runs(&runs) } }
    }

    /// The kernel for a step of up to four elements into a row.
    pub(super) fn stepped_512<const SIZE: usize>(step: isize) -> LineFn {
        match step {
            0 => splat_512::<SIZE>,
            -1 => stepped::gather::<SIZE, 1, true>,
            2 => stepped::gather::<SIZE, 2, false>,
            -2 => stepped::gather::<SIZE, 2, true>,
            3 => stepped::gather::<SIZE, 3, false>,
            -3 => stepped::gather::<SIZE, 3, true>,
            4 => stepped::gather::<SIZE, 4, false>,
            -4 => stepped::gather::<SIZE, 4, true>,
            _ => one_by_one::<SIZE>,
        }
    }

    /// The same, as far as the compiler finds vectors.
    pub(super) fn stepped_256<const SIZE: usize>(step: isize) -> LineFn {
        match step {
            0 => splat_256::<SIZE>,
            -1 => constant_256::<SIZE, -1>,
            2 => constant_256::<SIZE, 2>,
            -2 => constant_256::<SIZE, -2>,
            3 => constant_256::<SIZE, 3>,
            4 => constant_256::<SIZE, 4>,
            _ => one_by_one::<SIZE>,
        }
    }

    /// # Safety
    ///
    /// As for [`splat`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn splat_512<const SIZE: usize>(line: &Line) {
        // SAFETY: the caller's.
        unsafe { splat::<SIZE>(line) }
    }

    /// # Safety
    ///
    /// As for [`splat`].
    #[target_feature(enable = "avx2")]
    unsafe fn splat_256<const SIZE: usize>(line: &Line) {
        // SAFETY: the caller's.
        unsafe { splat::<SIZE>(line) }
    }

    /// # Safety
    ///
    /// As for [`constant`].
    #[target_feature(enable = "avx2")]
    unsafe fn constant_256<const SIZE: usize, const STEP: isize>(line: &Line) {
        // SAFETY: the caller's.
        unsafe { constant::<SIZE, STEP>(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, gather};
    use crate::kernels::InstructionSet;

    #[test]
    fn elements_at_any_steps_are_moved_and_nothing_else_is() {
        for set in InstructionSet::all_here() {
            for size in [1, 2, 4, 8, 16_isize] {
                let steps = [1, -1, 2, -2, 3, -3, 4, -4, 5, -7, 8, 16, 33, -100].map(|k| k * size);
                for &from in steps.iter().chain(&[0, size + 1, 1, -1]) {
                    for &to in steps.iter().chain(&[size + 1, -size - 3]) {
                        let counts: Vec<usize> = if to == size {
                            (0..200).collect()
                        } else {
                            vec![0, 1, 3, 7, 31, 32, 33, 64, 150]
                        };
                        for count in counts {
                            check(set, size as usize, count, from, to);
                        }
                    }
                }
            }
        }
    }

    fn check(set: InstructionSet, size: usize, count: usize, from: isize, to: isize) {
        let last = count.saturating_sub(1);
        let source: Vec<u8> =
            (0..last * from.unsigned_abs() + size).map(|i| ((i * 40503) >> 3) as u8).collect();
        let mut destination = vec![0xa5; last * to.unsigned_abs() + size + 128];
        let mut expected = destination.clone();
        let first_source = if from < 0 { last * from.unsigned_abs() } else { 0 };
        let first_destination = 61 + if to < 0 { last * to.unsigned_abs() } else { 0 };
        for i in 0..count as isize {
            let a = (first_source as isize + i * from) as usize;
            let b = (first_destination as isize + i * to) as usize;
            expected[b..b + size].copy_from_slice(&source[a..a + size]);
        }
        let line = Line {
            count,
            source: source.as_ptr().wrapping_add(first_source),
            source_step: from,
            destination: destination.as_mut_ptr().wrapping_add(first_destination),
            destination_step: to,
        };
        // SAFETY: the set is one of this machine; the vectors hold the elements, and destinations do not overlap.
        unsafe { gather(set, size, from, to)(&line) };
        assert!(destination == expected, "{set:?}: {count} elements of {size} bytes, steps {from} and {to}");
    }
}
