//! Elements of 1, 2 or 4 bits as bytes, and back: eight at a time, which are as many bytes as an element has bits.
//!
//! ```text
//! 4 bits   76543210   the elements of four bytes, in a word of eight
//!          ····7654····3210     x | x << 16, without what is in the wrong half
//!          ··76··54··32··10     x | x << 8
//!          ·7·6·5·4·3·2·1·0     x | x << 4
//! ```
//!
//! Back it is the same shifts to the right.

use crate::kernels::InstructionSet;

/// The two kernels for elements of one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widen {
    /// Writes each element of the source's bytes to a byte of its own. There is room for [`room`] of them.
    pub(crate) widen: Kernel,
    /// Fills the destination's bytes with elements that have a byte each. There are [`room`] of them.
    pub(crate) narrow: Kernel,
}

/// # Safety
/// The processor has the instructions that the kernel was compiled for. The longer slice has at least [`room`] for the elements of the
/// other.
pub(crate) type Kernel = unsafe fn(&[u8], &mut [u8]);

/// Bytes of widened elements that a kernel may touch for `bytes` bytes of elements that have `bits` each.
pub(crate) fn room(bytes: usize, bits: usize) -> usize {
    (bytes * (8 / bits)).next_multiple_of(64)
}

/// The kernels of a set of instructions; for 1, 2 and 4 bits.
pub(crate) fn widen(set: InstructionSet, bits: u32) -> Option<Widen> {
    #[cfg(target_arch = "x86_64")]
    if (set, bits) == (InstructionSet::Avx512, 4) {
        return Some(Widen { widen: x86::widen_nibbles, narrow: x86::narrow_nibbles });
    }
    match bits {
        1 => Some(Widen { widen: widened::<1>(set), narrow: narrowed::<1>(set) }),
        2 => Some(Widen { widen: widened::<2>(set), narrow: narrowed::<2>(set) }),
        4 => Some(Widen { widen: widened::<4>(set), narrow: narrowed::<4>(set) }),
        _ => None,
    }
}

/// The bits that elements have in a word where `count` of them lie next to each other in as many bytes.
const fn kept(bits: usize, count: usize) -> u64 {
    u64::MAX / ((1 << (8 * count)) - 1) * ((1 << (bits * count)) - 1)
}

/// Eight elements next to each other, as eight bytes.
#[inline(always)]
fn spread<const BITS: usize>(x: u64) -> u64 {
    let x = (x | x << (4 * (8 - BITS))) & const { kept(BITS, 4) };
    let x = (x | x << (2 * (8 - BITS))) & const { kept(BITS, 2) };
    (x | x << (8 - BITS)) & const { kept(BITS, 1) }
}

/// Eight bytes, as eight elements next to each other.
#[inline(always)]
fn joined<const BITS: usize>(x: u64) -> u64 {
    let x = (x | x >> (8 - BITS)) & const { kept(BITS, 2) };
    let x = (x | x >> (2 * (8 - BITS))) & const { kept(BITS, 4) };
    x | x >> (4 * (8 - BITS))
}

#[inline(always)]
fn widen_words<const BITS: usize>(from: &[u8], to: &mut [u8]) {
    let (words, rest) = from.as_chunks::<BITS>();
    let (bytes, _) = to.as_chunks_mut::<8>();
    let of = |word: &[u8]| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        spread::<BITS>(u64::from_le_bytes(eight)).to_le_bytes()
    };
    for (word, bytes) in words.iter().zip(&mut *bytes) {
        *bytes = of(word);
    }
    if let Some(bytes) = bytes.get_mut(words.len()).filter(|_| !rest.is_empty()) {
        *bytes = of(rest);
    }
}

#[inline(always)]
fn narrow_words<const BITS: usize>(from: &[u8], to: &mut [u8]) {
    let (bytes, _) = from.as_chunks::<8>();
    let (words, rest) = to.as_chunks_mut::<BITS>();
    let of = |bytes: &[u8; 8]| joined::<BITS>(u64::from_le_bytes(*bytes)).to_le_bytes();
    let last = bytes.get(words.len()).map(of);
    for (word, bytes) in words.iter_mut().zip(bytes) {
        word.copy_from_slice(&of(bytes)[..BITS]);
    }
    if let Some(last) = last {
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// A function that gives a loop for each set of instructions.
macro_rules! kernel {
    ($name:ident, $body:ident) => {
        fn $name<const BITS: usize>(set: InstructionSet) -> Kernel {
            fn portable<const BITS: usize>(from: &[u8], to: &mut [u8]) {
                $body::<BITS>(from, to)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2<const BITS: usize>(from: &[u8], to: &mut [u8]) {
                $body::<BITS>(from, to)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
            fn avx512<const BITS: usize>(from: &[u8], to: &mut [u8]) {
                $body::<BITS>(from, to)
            }
            match set {
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx512 => avx512::<BITS>,
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx2 => avx2::<BITS>,
                _ => portable::<BITS>,
            }
        }
    };
}

kernel!(widened, widen_words);
kernel!(narrowed, narrow_words);

/// Elements of 4 bits by the instructions for bytes; masks do the last ones like any others.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn widen_nibbles(from: &[u8], to: &mut [u8]) {
        assert!(to.len() >= super::room(from.len(), 4));
        let low = _mm512_set1_epi8(0x0f);
        for at in (0..from.len()).step_by(32) {
            let mask = u32::MAX >> (32 - (from.len() - at).min(32));
            // SAFETY: the mask lets only bytes of the source through, and the destination has room for whole registers.
            unsafe {
                let bytes = _mm256_maskz_loadu_epi8(mask, from.as_ptr().add(at).cast());
                let word = _mm512_cvtepu8_epi16(bytes);
                let wide = _mm512_and_si512(_mm512_or_si512(word, _mm512_slli_epi16::<4>(word)), low);
                _mm512_storeu_si512(to.as_mut_ptr().add(2 * at).cast(), wide);
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn narrow_nibbles(from: &[u8], to: &mut [u8]) {
        assert!(from.len() >= super::room(to.len(), 4));
        for at in (0..to.len()).step_by(32) {
            let mask = u32::MAX >> (32 - (to.len() - at).min(32));
            // SAFETY: the source has room for whole registers, and the mask lets only bytes of the destination through.
            unsafe {
                let pairs = _mm512_loadu_si512(from.as_ptr().add(2 * at).cast());
                let bytes = _mm512_cvtepi16_epi8(_mm512_or_si512(pairs, _mm512_srli_epi16::<4>(pairs)));
                _mm256_mask_storeu_epi8(to.as_mut_ptr().add(at).cast(), mask, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_widened_and_narrowed_at_all_lengths() {
        let bytes: Vec<u8> = (0..200).map(|at: u32| ((at * 40503) >> 3) as u8).collect();
        for bits in [1, 2, 4] {
            let in_byte = 8 / bits as usize;
            for set in InstructionSet::all_here() {
                let kernels = widen(set, bits).unwrap();
                for count in 0..bytes.len() {
                    let mut wide = vec![0xee; room(count, bits as usize)];
                    let mut back = vec![0xee; count];
                    // SAFETY: the processor has the instructions, and there is room.
                    unsafe {
                        (kernels.widen)(&bytes[..count], &mut wide);
                        (kernels.narrow)(&wide, &mut back);
                    }
                    let element =
                        |k: usize| bytes[k / in_byte] >> (k % in_byte * bits as usize) & (0xff >> (8 - bits));
                    assert!(
                        (0..count * in_byte).all(|k| wide[k] == element(k)),
                        "{bits} bits, {set:?}, {count}"
                    );
                    assert_eq!(back, bytes[..count], "{bits} bits, {set:?}");
                }
            }
        }
    }
}
