//! One element, repeated.

use super::InstructionSet;
use super::vector::{self, LINE, Lines};

/// Writes `count` elements of `size` bytes (a power of two up to 16), all as the one at `source`.
///
/// # Safety
/// 1. The size is a power of two up to 16.
/// 2. `size` bytes can be read at `source`.
/// 3. `count * size` bytes can be written at `destination`, and the source is none of them.
/// 4. Nobody else writes the one or touches the other meanwhile.
/// 5. The machine has the instructions of the set.
pub(crate) unsafe fn splat(
    set: InstructionSet,
    source: *const u8,
    size: usize,
    destination: *mut u8,
    count: usize,
    streams: bool,
) {
    debug_assert!(size.is_power_of_two() && size <= 16);
    let mut line = [0_u8; LINE];
    for at in (0..LINE).step_by(size) {
        // SAFETY: the size divides a line.
        unsafe { std::ptr::copy_nonoverlapping(source, line.as_mut_ptr().add(at), size) };
    }
    let length = count * size;
    let streams = streams && destination.addr().is_multiple_of(size);
    // SAFETY: the caller's promise; the set is one this machine has.
    unsafe {
        match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => splat_avx512(&line, destination, length, streams),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => splat_avx2(&line, destination, length, streams),
            #[cfg(target_arch = "aarch64")]
            InstructionSet::Neon => splat_neon(&line, destination, length, streams),
            _ => go::<vector::Portable>(&line, destination, length, false),
        }
    }
}

/// # Safety
/// `length` bytes can be written, and `L`'s instructions are enabled where this is inlined. To be streamed, the
/// destination is a multiple of the element's size.
#[inline(always)]
unsafe fn go<L: Lines>(pattern: &[u8; LINE], destination: *mut u8, length: usize, streams: bool) {
    // SAFETY: head, whole lines and tail are `length` bytes together. The head is a multiple of the element's size, so
    // what follows begins with a whole element again.
    unsafe {
        let line = L::load(pattern.as_ptr());
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
        line.store_part(destination.add(done), length - done);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn splat_avx512(pattern: &[u8; LINE], destination: *mut u8, length: usize, streams: bool) {
    // SAFETY: the caller's promise, and the instructions are enabled here.
    unsafe { go::<vector::Avx512>(pattern, destination, length, streams) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn splat_avx2(pattern: &[u8; LINE], destination: *mut u8, length: usize, streams: bool) {
    // SAFETY: as above.
    unsafe { go::<vector::Avx2>(pattern, destination, length, streams) }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
unsafe fn splat_neon(pattern: &[u8; LINE], destination: *mut u8, length: usize, streams: bool) {
    // SAFETY: as above.
    unsafe { go::<vector::Neon>(pattern, destination, length, streams) }
}
