//! Runs of bits: the same order on both sides, but perhaps another phase within the byte.

use tilework_core::Nest;

use super::{Kernels, walk};
use crate::kernels::InstructionSet;

/// Writes whole bytes with the bits that begin `phase` bits (1 to 7) after the first of the source, which is therefore
/// one byte longer.
///
/// # Safety
/// The processor has the instructions that the kernel was compiled for.
pub(crate) type Shift = unsafe fn(from: &[u8], phase: u32, to: &mut [u8]);

/// The kernel of a set of instructions.
pub(super) fn shift(set: InstructionSet) -> Shift {
    #[inline(always)]
    fn body(from: &[u8], phase: u32, to: &mut [u8]) {
        let whole = to.len() / 8 * 8;
        // Word by word: seven bits at most come from the byte after a word, which a load one byte further on holds.
        let low = from.as_chunks::<8>().0;
        let high = from.get(1..).unwrap_or_default().as_chunks::<8>().0;
        let (words, _) = to.as_chunks_mut::<8>();
        for ((low, high), word) in low.iter().zip(high).zip(words) {
            let value = u64::from_le_bytes(*low) >> phase | u64::from_le_bytes(*high) << (8 - phase);
            *word = value.to_le_bytes();
        }
        for (pair, byte) in from[whole..].windows(2).zip(&mut to[whole..]) {
            *byte = pair[0] >> phase | pair[1] << (8 - phase);
        }
    }
    fn portable(from: &[u8], phase: u32, to: &mut [u8]) {
        body(from, phase, to)
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(from: &[u8], phase: u32, to: &mut [u8]) {
        body(from, phase, to)
    }
    // Masks do the last bytes of a run and all of a short one like any others.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512(from: &[u8], phase: u32, to: &mut [u8]) {
        use std::arch::x86_64::*;
        let count = to.len().min(from.len().saturating_sub(1));
        let (right, left) = (_mm_cvtsi64_si128(i64::from(phase)), _mm_cvtsi64_si128(i64::from(8 - phase)));
        let mut done = 0;
        while done < count {
            let mask = u64::MAX >> (64 - (count - done).min(64));
            // SAFETY: the mask lets only bytes below `count` through, and the source has one more than that.
            unsafe {
                let low = _mm512_maskz_loadu_epi8(mask, from.as_ptr().add(done).cast());
                let high = _mm512_maskz_loadu_epi8(mask, from.as_ptr().add(done + 1).cast());
                let value = _mm512_or_si512(_mm512_srl_epi64(low, right), _mm512_sll_epi64(high, left));
                _mm512_mask_storeu_epi8(to.as_mut_ptr().add(done).cast(), mask, value);
            }
            done += 64;
        }
    }
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => avx512,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => avx2,
        _ => portable,
    }
}

/// Copies `count` bits from bit `from_bit` of the source to bit `to_bit` of the destination.
///
/// # Safety
/// The bytes that hold these bits can be read and written; those of the destination are nobody else's.
pub(crate) unsafe fn copy_bits(
    shift: Shift,
    (from, from_bit): (*const u8, u64),
    (to, to_bit): (*mut u8, u64),
    count: u64,
) {
    // SAFETY: every byte touched below holds at least one of the bits.
    unsafe {
        let (mut from, mut from_phase) = (from.add((from_bit / 8) as usize), (from_bit % 8) as u32);
        let (mut to, to_phase) = (to.add((to_bit / 8) as usize), (to_bit % 8) as u32);
        let mut left = count;
        if to_phase != 0 {
            let head = left.min(u64::from(8 - to_phase)) as u32;
            if head == 0 {
                return;
            }
            merge(to, to_phase, head, read(from, from_phase, head));
            from_phase += head;
            from = from.add((from_phase / 8) as usize);
            from_phase %= 8;
            to = to.add(1);
            left -= u64::from(head);
        }
        let whole = (left / 8) as usize;
        if whole > 0 {
            if from_phase == 0 {
                std::ptr::copy_nonoverlapping(from, to, whole);
            } else {
                let source = std::slice::from_raw_parts(from, whole + 1);
                shift(source, from_phase, std::slice::from_raw_parts_mut(to, whole));
            }
        }
        let tail = (left % 8) as u32;
        if tail > 0 {
            merge(to.add(whole), 0, tail, read(from.add(whole), from_phase, tail));
        }
    }
}

/// Up to 8 bits from a bit of a byte on; what stands above them is not cleared.
///
/// # Safety
/// The bytes that hold them can be read.
unsafe fn read(from: *const u8, phase: u32, count: u32) -> u8 {
    // SAFETY: the second byte is read only if it holds one of the bits.
    unsafe {
        let low = *from >> phase;
        if phase + count > 8 { low | *from.add(1) << (8 - phase) } else { low }
    }
}

/// Puts up to 8 bits into a byte, which keeps its others.
///
/// # Safety
/// The byte can be read and written; the bits fit into it.
unsafe fn merge(to: *mut u8, phase: u32, count: u32, value: u8) {
    let mask = (0xff_u8 >> (8 - count)) << phase;
    // SAFETY: the caller's promise.
    unsafe { *to = *to & !mask | value << phase & mask };
}

/// Moves the runs of a nest whose loop number `run` moves one element on both sides.
///
/// # Safety
/// As for [`super::move_nest`].
pub(super) unsafe fn move_runs(
    nest: &Nest,
    run: usize,
    bits: u32,
    kernels: &Kernels,
    from: *const u8,
    to: *mut u8,
) {
    let mut outer = nest.loops.clone();
    let bits = u64::from(bits);
    let count = outer.remove(run).extent * bits;
    for &start in &nest.starts {
        walk(&outer, start.0, start.1, &mut |source, place| {
            // SAFETY: the caller's promise about all elements of the nest.
            unsafe { copy_bits(kernels.shift, (from, source * bits), (to, place * bits), count) };
        });
    }
}
