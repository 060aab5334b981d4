//! Elements, each of them repeated.

use super::InstructionSet;
use super::vector::{self, LINE, Lines};

/// `elements` elements of `size` bytes, each repeated `count` times.
#[derive(Clone, Copy)]
pub(crate) struct Splat {
    pub(crate) size: usize,
    pub(crate) count: usize,
    pub(crate) elements: usize,
    /// The first element, and bytes to the next one.
    pub(crate) source: *const u8,
    pub(crate) source_step: isize,
    /// Where the first one goes, and bytes to where the next one goes.
    pub(crate) destination: *mut u8,
    pub(crate) destination_step: isize,
}

/// Writes the elements, past the cache or through it. Who writes past it fences.
///
/// # Safety
/// 1. The size is a power of two up to 16.
/// 2. Every element of the source, where [`Splat`] says, can be read.
/// 3. `count * size` bytes can be written where each of them goes; no two of these overlap, and the source is none of them.
/// 4. Nobody else writes the one or touches the other meanwhile.
/// 5. The machine has the instructions of the set.
pub(crate) unsafe fn splat(set: InstructionSet, of: &Splat, streams: bool) {
    debug_assert!(of.size.is_power_of_two() && of.size <= 16);
    // SAFETY: the caller's promise; the set is one this machine has.
    unsafe {
        match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => splat_avx512(of, streams),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => splat_avx2(of, streams),
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => splat_neon(of, streams),
            _ => go::<vector::Portable>(of, false),
        }
    }
}

/// # Safety
/// As for [`splat`]; `L`'s instructions are enabled where this is inlined.
#[inline(always)]
unsafe fn go<L: Lines>(of: &Splat, streams: bool) {
    let (mut source, mut destination) = (of.source, of.destination);
    for _ in 0..of.elements {
        // SAFETY: the caller's promise, for one of the elements. Beyond the last one the pointers are not used.
        unsafe {
            let line = L::repeated(repeated(source, of.size));
            one(line, destination, of.count * of.size, streams && destination.addr().is_multiple_of(of.size));
        }
        source = source.wrapping_offset(of.source_step);
        destination = destination.wrapping_offset(of.destination_step);
    }
}

/// The element again and again, in 16 bytes.
///
/// # Safety
/// `size` bytes can be read, and the size is a power of two up to 16.
#[inline(always)]
unsafe fn repeated(source: *const u8, size: usize) -> u128 {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => u128::from(source.read()) * (u128::MAX / 0xff),
            2 => u128::from(source.cast::<u16>().read_unaligned()) * (u128::MAX / 0xffff),
            4 => u128::from(source.cast::<u32>().read_unaligned()) * (u128::MAX / 0xffff_ffff),
            8 => u128::from(source.cast::<u64>().read_unaligned()) * (u128::MAX / u128::from(u64::MAX)),
            _ => source.cast::<u128>().read_unaligned(),
        }
    }
}

/// # Safety
/// `length` bytes can be written. To be streamed, the destination is a multiple of the element's size.
#[inline(always)]
unsafe fn one<L: Lines>(line: L, destination: *mut u8, length: usize, streams: bool) {
    // SAFETY: head, whole lines and tail are `length` bytes together. The head is a multiple of the element's size, so
    // what follows begins with a whole element again.
    unsafe {
        let mut done = if streams { (destination.addr().wrapping_neg() % LINE).min(length) } else { 0 };
        line.store_part(destination, done);
        while done + LINE <= length {
            if streams {
                line.stream(destination.add(done))
            } else {
                line.store(destination.add(done))
            }
            done += LINE;
        }
        if !streams && length >= LINE {
            // A line that begins with a whole element as well: it overlaps the one before.
            line.store(destination.add(length - LINE));
        } else {
            line.store_part(destination.add(done), length - done);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn splat_avx512(of: &Splat, streams: bool) {
    // SAFETY: the caller's promise, and the instructions are enabled here.
    unsafe { go::<vector::Avx512>(of, streams) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn splat_avx2(of: &Splat, streams: bool) {
    // SAFETY: as above.
    unsafe { go::<vector::Avx2>(of, streams) }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
unsafe fn splat_neon(of: &Splat, streams: bool) {
    // SAFETY: as above.
    unsafe { go::<vector::Neon>(of, streams) }
}
