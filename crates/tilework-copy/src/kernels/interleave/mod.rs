//! Rows that alternate: short interleaves, and the way back.
//!
//! `ways` rows of one length become one row that takes an element from each in turn: complex numbers from real and
//! imaginary parts, pixels from planes, the (2,1) and (4,1) sub-tiles of XLA, blocks of 8 and 16 channels. A transpose
//! with one side this short leaves most of a register tile empty; [`network`] fills it.
//!
//! [`drive`] cuts rows of any length and alignment into whole blocks for the kernels, which take nothing else.

#[cfg(target_arch = "x86_64")]
mod drive;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod network;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::InstructionSet;

/// `ways` rows of `count` elements, and one row in which they alternate.
///
/// ```text
/// interleave:    source + k * stride + i * SIZE   ->   destination + (i * ways + k) * SIZE
/// deinterleave:  source + (i * ways + k) * SIZE   ->   destination + k * stride + i * SIZE
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Zip {
    /// Elements of each of the rows.
    pub count: usize,
    /// The first element that is read.
    pub source: *const u8,
    /// Where it goes.
    pub destination: *mut u8,
    /// Bytes from one of the separate rows to the next; any sign.
    pub stride: isize,
    /// Bytes ahead at which the source is prefetched. 0: not at all. What is prefetched is not read, so it may lie
    /// beyond the rows.
    pub ahead: usize,
    /// How many times all this is done, and how far source and destination move on each time.
    pub times: usize,
    pub again: (isize, isize),
}

impl Zip {
    /// Does each time by itself.
    #[inline(always)]
    fn each(&self, one: impl Fn(&Zip)) {
        let mut unit = Zip { times: 1, ..*self };
        for _ in 0..self.times {
            one(&unit);
            unit.source = unit.source.wrapping_offset(self.again.0);
            unit.destination = unit.destination.wrapping_offset(self.again.1);
        }
    }
}

/// Moves the rows.
///
/// # Safety
///
/// 1. `ways` times `count` elements of the source each time, where [`Zip`] says, are within one buffer that can be read.
/// 2. As many of the destination are within one buffer that can be written.
/// 3. No destination element overlaps a source element or another destination element.
/// 4. Nobody else writes the one or touches the other meanwhile.
/// 5. The machine has the instructions that the kernel was made for.
pub(crate) type ZipFn = unsafe fn(&Zip);

/// The kernels for one size of element, one number of ways and one direction. Any alignment, any count.
#[derive(Clone, Copy)]
pub(crate) struct Interleave {
    /// Through the caches.
    pub plain: ZipFn,
    /// With streaming stores for all whole lines of the destination, which the caller fences. It pays when the
    /// destination is not in a cache and the rows are longer than a few lines.
    pub stream: ZipFn,
}

/// The kernels that interleave `ways` rows of elements of `size` bytes. There are some for sizes 1, 2, 4 and 8, for 2 to 10
/// ways, with AVX-512 to 16, and with AVX2 to 15 where that is quicker than a transposition. The set must be one that this machine has
/// ([`InstructionSet::all_here`]).
pub(crate) fn interleave(set: InstructionSet, size: usize, ways: usize) -> Option<Interleave> {
    kernels(set, size, ways, false)
}

/// The kernels that deinterleave, as [`interleave`] the other way round.
pub(crate) fn deinterleave(set: InstructionSet, size: usize, ways: usize) -> Option<Interleave> {
    kernels(set, size, ways, true)
}

fn kernels(set: InstructionSet, size: usize, ways: usize, back: bool) -> Option<Interleave> {
    match size {
        1 => of_size::<1>(set, ways, back),
        2 => of_size::<2>(set, ways, back),
        4 => of_size::<4>(set, ways, back),
        8 => of_size::<8>(set, ways, back),
        _ => None,
    }
}

/// The most ways that all sets have kernels for.
const MANY: usize = 10;

fn of_size<const SIZE: usize>(set: InstructionSet, ways: usize, back: bool) -> Option<Interleave> {
    macro_rules! one_of {
        ($of:ident, $($number:literal)*) => {
            match ways {
                $($number => Some($of::<SIZE, $number>(set, back)),)*
                _ => None,
            }
        };
    }
    match ways {
        ..=MANY => one_of!(of_ways, 2 3 4 5 6 7 8 9 10),
        // Half a line: as quick by a transposition.
        16 if SIZE == 2 => None,
        #[cfg(target_arch = "x86_64")]
        _ if set == InstructionSet::Avx512 => one_of!(of_512, 11 12 13 14 15 16),
        #[cfg(target_arch = "x86_64")]
        _ if set == InstructionSet::Avx2 && (back || SIZE <= 2) => one_of!(of_ways, 11 12 13 14 15),
        _ => None,
    }
}

fn of_ways<const SIZE: usize, const WAYS: usize>(set: InstructionSet, back: bool) -> Interleave {
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => of_512::<SIZE, WAYS>(set, back),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => {
            if back {
                x86::of::<x86::Deinterleave256<SIZE, WAYS>>()
            } else {
                x86::of::<x86::Interleave256<SIZE, WAYS>>()
            }
        }
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => neon::of::<SIZE, WAYS>(back),
        _ if back => Interleave { plain: portable_back::<SIZE, WAYS>, stream: portable_back::<SIZE, WAYS> },
        _ => Interleave { plain: portable::<SIZE, WAYS>, stream: portable::<SIZE, WAYS> },
    }
}

/// With 32 registers of a whole line.
#[cfg(target_arch = "x86_64")]
fn of_512<const SIZE: usize, const WAYS: usize>(_: InstructionSet, back: bool) -> Interleave {
    if back {
        x86::of::<x86::Deinterleave512<SIZE, WAYS>>()
    } else {
        x86::of::<x86::Interleave512<SIZE, WAYS>>()
    }
}

/// Interleaves with what the compiler makes of a plain loop.
///
/// # Safety
///
/// As for [`ZipFn`].
unsafe fn portable<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    zip.each(|zip| {
        let destination = zip.destination.cast::<[u8; SIZE]>();
        for i in 0..zip.count {
            for k in 0..WAYS {
                // SAFETY: the caller's; bytes have no alignment.
                unsafe {
                    let from = zip.source.offset(k as isize * zip.stride).cast::<[u8; SIZE]>().add(i);
                    *destination.add(i * WAYS + k) = *from;
                }
            }
        }
    });
}

/// Deinterleaves with what the compiler makes of a plain loop.
///
/// # Safety
///
/// As for [`ZipFn`].
unsafe fn portable_back<const SIZE: usize, const WAYS: usize>(zip: &Zip) {
    debug_assert!(zip.stride.unsigned_abs() >= zip.count * SIZE);
    zip.each(|zip| {
        let source = zip.source.cast::<[u8; SIZE]>();
        for i in 0..zip.count {
            for k in 0..WAYS {
                // SAFETY: the caller's; bytes have no alignment.
                unsafe {
                    let to = zip.destination.offset(k as isize * zip.stride).cast::<[u8; SIZE]>().add(i);
                    *to = *source.add(i * WAYS + k);
                }
            }
        }
    });
}
