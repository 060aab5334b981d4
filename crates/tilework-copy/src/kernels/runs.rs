//! Short runs at a stride: a few bytes from here, a few from there, written as exactly those bytes.
//!
//! A call of `memcpy` for each would cost more than the bytes. Instead a run is moved in two overlapping pieces of a
//! fixed length, or (AVX-512) under a mask. Runs so short and close that several fit a register go through one permute
//! ([`super::pack`]).

use super::InstructionSet;

/// `count` runs of `length` bytes: run i from `source + i * source_step` to `destination + i * destination_step`. And as many again, some
/// `times` in all, each time from and to the places that are `again` further.
#[derive(Clone, Copy)]
pub(crate) struct Runs {
    /// How many runs.
    pub count: usize,
    /// How often, and bytes from one time to the next in the source and in the destination; any sign, or 0.
    pub times: usize,
    pub again: (isize, isize),
    /// Bytes of a run: what the kernel was chosen for.
    pub length: usize,
    /// The first run.
    pub source: *const u8,
    /// Bytes from one run to the next; any sign, or 0.
    pub source_step: isize,
    /// Where the first run goes.
    pub destination: *mut u8,
    /// Bytes from one run to the next; any sign, and at least `length` apart.
    pub destination_step: isize,
}

impl Runs {
    /// Whether the destination's runs are as far from each other as they are long.
    pub(super) fn are_apart(&self) -> bool {
        self.count < 2 || self.destination_step.unsigned_abs() >= self.length
    }

    /// The runs of the next time.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.source = self.source.wrapping_offset(self.again.0);
        self.destination = self.destination.wrapping_offset(self.again.1);
    }
}

/// Moves the runs.
///
/// # Safety
///
/// 1. Every run of the source of all times, where [`Runs`] says, is within one buffer that can be read.
/// 2. Every run of the destination of all times is within one buffer that can be written.
/// 3. No destination run overlaps a source run or another destination run.
/// 4. Nobody else writes the one or touches the other meanwhile.
/// 5. `length` is the one that the kernel was chosen for.
/// 6. The machine has the instructions the kernel was made for.
pub(crate) type RunsFn = unsafe fn(&Runs);

/// The kernel for runs of `length` bytes. Beyond 128 it is `memcpy`, run by run. The set must be one that this
/// machine has ([`InstructionSet::all_here`]).
pub(crate) fn runs(set: InstructionSet, length: usize) -> RunsFn {
    match (set, length) {
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 1..=31) => super::pack::runs,
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 32..=63) => super::pack::one_by_one,
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 64..=128) => x86::two_of_64,
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx2, 32..=63) => x86::two_of_32,
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx2, 64..=128) => x86::four_of_32,
        (_, 0) => nothing,
        (_, 1) => pieces::<u8, 1>,
        (_, 2..=3) => pieces::<u16, 1>,
        (_, 4..=7) => pieces::<u32, 1>,
        (_, 8..=15) => pieces::<u64, 1>,
        (_, 16..=31) => pieces::<Lane, 1>,
        (_, 32..=63) => pieces::<Lane, 2>,
        (_, 64..=128) => pieces::<Lane, 4>,
        _ => long,
    }
}

/// 16 bytes in the register that every machine of its kind has.
#[cfg(target_arch = "x86_64")]
type Lane = std::arch::x86_64::__m128i;
#[cfg(target_arch = "aarch64")]
type Lane = std::arch::aarch64::uint8x16_t;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Lane = u128;

/// No bytes at all.
///
/// # Safety
///
/// None.
unsafe fn nothing(_: &Runs) {}

/// Runs longer than 128 bytes.
///
/// # Safety
///
/// As for [`RunsFn`].
unsafe fn long(runs: &Runs) {
    debug_assert!(runs.are_apart());
    let mut runs = *runs;
    for _ in 0..runs.times {
        let (mut source, mut destination) = (runs.source, runs.destination);
        for _ in 0..runs.count {
            // SAFETY: the caller's.
            unsafe { destination.copy_from_nonoverlapping(source, runs.length) };
            source = source.wrapping_offset(runs.source_step);
            destination = destination.wrapping_offset(runs.destination_step);
        }
        runs.advance();
    }
}

/// Each run as FRONT pieces of a `T` from its front and as many up to its end: together those from the front have at most the length, and
/// at least half of it. Types whose values are registers, since arrays of bytes go through memory on their way.
///
/// # Safety
///
/// As for [`RunsFn`].
#[inline(always)]
pub(super) unsafe fn pieces<T: Copy, const FRONT: usize>(runs: &Runs) {
    let front = FRONT * size_of::<T>();
    debug_assert!(runs.are_apart() && (front..=2 * front).contains(&runs.length));
    // SAFETY: the caller's promise.
    unsafe { if runs.length == front { each::<T, FRONT, false>(runs) } else { each::<T, FRONT, true>(runs) } }
}

/// With pieces up to the end of each run, or without where those from the front are all of it.
///
/// # Safety
///
/// As for [`pieces`].
#[inline(always)]
unsafe fn each<T: Copy, const FRONT: usize, const BACK: bool>(runs: &Runs) {
    let mut runs = *runs;
    let back = runs.length - FRONT * size_of::<T>();
    for _ in 0..runs.times {
        let (mut source, mut destination) = (runs.source, runs.destination);
        for _ in 0..runs.count {
            // SAFETY: all pieces lie within the run.
            unsafe {
                for start in [0, back].into_iter().take(1 + usize::from(BACK)) {
                    let (from, to) = (source.add(start).cast::<T>(), destination.add(start).cast::<T>());
                    for piece in 0..FRONT {
                        to.add(piece).write_unaligned(from.add(piece).read_unaligned());
                    }
                }
            }
            source = source.wrapping_offset(runs.source_step);
            destination = destination.wrapping_offset(runs.destination_step);
        }
        runs.advance();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The same with wider registers.

    use super::{Runs, pieces};
    use std::arch::x86_64::{__m256i, __m512i};

    /// # Safety
    ///
    /// As for [`super::RunsFn`], with a length of 32 to 64.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn two_of_32(runs: &Runs) {
        // SAFETY: the caller's.
        unsafe { pieces::<__m256i, 1>(runs) }
    }

    /// # Safety
    ///
    /// As for [`super::RunsFn`], with a length of 64 to 128.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn four_of_32(runs: &Runs) {
        // SAFETY: the caller's.
        unsafe { pieces::<__m256i, 2>(runs) }
    }

    /// # Safety
    ///
    /// As for [`super::RunsFn`], with a length of 64 to 128.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pub(super) unsafe fn two_of_64(runs: &Runs) {
        // SAFETY: the caller's.
        unsafe { pieces::<__m512i, 1>(runs) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Runs, runs};
    use crate::kernels::InstructionSet;

    #[test]
    fn runs_of_every_length_are_moved_and_nothing_else_is() {
        for set in InstructionSet::all_here() {
            for length in 0..=140_usize {
                let near = length as isize;
                for count in [0, 1, 2, 5, 16, 33, 64, 200] {
                    for (from, to) in [
                        (near, near),
                        (near + 1, near),
                        (near, near + 1),
                        (near + 3, near + 8),
                        (-near, near),
                        (near + 1, -near - 2),
                        (0, near),
                        (300, near),
                        (near, 300),
                        (-300, 301),
                        (1, near),
                    ] {
                        check(set, length, (count, 1), from, to);
                        if count < 33 {
                            check(set, length, (count, 7), from, to);
                        }
                    }
                }
            }
        }
    }

    /// Runs at these steps, some times: each time from a few bytes before, to what follows.
    fn check(set: InstructionSet, length: usize, (count, times): (usize, usize), from: isize, to: isize) {
        let last = count.saturating_sub(1);
        let spans = [from, to].map(|step| last * step.unsigned_abs() + length);
        let again = (-3, spans[1] + 2);
        let before = 3 * (times - 1);
        let source: Vec<u8> = (0..before + spans[0]).map(|i| ((i * 40503) >> 3) as u8).collect();
        let mut destination = vec![0xa5; times * again.1 + 128];
        let mut expected = destination.clone();
        let first_source = before + if from < 0 { last * from.unsigned_abs() } else { 0 };
        let first_destination = 64 + if to < 0 { last * to.unsigned_abs() } else { 0 };
        for (time, i) in (0..times as isize).flat_map(|time| (0..count as isize).map(move |i| (time, i))) {
            let a = (first_source as isize + time * again.0 + i * from) as usize;
            let b = (first_destination as isize + time * again.1 as isize + i * to) as usize;
            expected[b..b + length].copy_from_slice(&source[a..a + length]);
        }
        let these = Runs {
            count,
            times,
            again: (again.0, again.1 as isize),
            length,
            source: source.as_ptr().wrapping_add(first_source),
            source_step: from,
            destination: destination.as_mut_ptr().wrapping_add(first_destination),
            destination_step: to,
        };
        // SAFETY: the set is one of this machine; the vectors hold the runs, and destination runs do not overlap.
        unsafe { runs(set, length)(&these) };
        assert!(
            destination == expected,
            "{set:?}: {times} times {count} runs of {length} bytes, steps {from} and {to}"
        );
    }
}
