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
    if set == InstructionSet::Avx512 {
        return match bits {
            1 => Some(Widen { widen: x86::widen::<1>, narrow: x86::narrow::<1> }),
            2 => Some(Widen { widen: x86::widen::<2>, narrow: x86::narrow::<2> }),
            4 => Some(Widen { widen: x86::widen::<4>, narrow: x86::narrow::<4> }),
            _ => None,
        };
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
    if BITS == 4 {
        // As compilers make vectors of it.
        let (pairs, _) = to.as_chunks_mut::<2>();
        pairs.iter_mut().zip(from).for_each(|(pair, byte)| *pair = [byte & 0x0f, byte >> 4]);
        return;
    }
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
    if BITS == 4 {
        let (pairs, _) = from.as_chunks::<2>();
        to.iter_mut().zip(pairs).for_each(|(byte, pair)| *byte = pair[0] | pair[1] << 4);
        return;
    }
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

/// A register of elements at a time. The last ones are done like any others, with a mask: but masks are slow, so only those.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Elements of a register.
    const WIDE: usize = 64;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pub(super) fn widen<const BITS: usize>(from: &[u8], to: &mut [u8]) {
        assert!(to.len() >= super::room(from.len(), BITS));
        let narrow = const { WIDE / 8 * BITS };
        let end = from.len() / narrow * narrow;
        let to = to.as_mut_ptr();
        // SAFETY: there are as many bytes, and the destination has room for whole registers.
        unsafe {
            for at in (0..end).step_by(narrow) {
                let from = from.as_ptr().add(at);
                let bytes = match BITS {
                    4 => _mm256_loadu_si256(from.cast()),
                    2 => _mm256_castsi128_si256(_mm_loadu_si128(from.cast())),
                    _ => _mm256_castsi128_si256(_mm_loadl_epi64(from.cast())),
                };
                _mm512_storeu_si512(to.add(at * 8 / BITS).cast(), spread::<BITS>(bytes));
            }
            if end < from.len() {
                let mask = u32::MAX >> (32 - (from.len() - end));
                let bytes = _mm256_maskz_loadu_epi8(mask, from.as_ptr().add(end).cast());
                _mm512_storeu_si512(to.add(end * 8 / BITS).cast(), spread::<BITS>(bytes));
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pub(super) fn narrow<const BITS: usize>(from: &[u8], to: &mut [u8]) {
        assert!(from.len() >= super::room(to.len(), BITS));
        let narrow = const { WIDE / 8 * BITS };
        let end = to.len() / narrow * narrow;
        let from = from.as_ptr();
        // SAFETY: there are as many bytes, and the source has room for whole registers.
        unsafe {
            for at in (0..end).step_by(narrow) {
                let bytes = joined::<BITS>(_mm512_loadu_si512(from.add(at * 8 / BITS).cast()));
                let to = to.as_mut_ptr().add(at);
                match BITS {
                    4 => _mm256_storeu_si256(to.cast(), bytes),
                    2 => _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(bytes)),
                    _ => _mm_storel_epi64(to.cast(), _mm256_castsi256_si128(bytes)),
                }
            }
            if end < to.len() {
                let bytes = joined::<BITS>(_mm512_loadu_si512(from.add(end * 8 / BITS).cast()));
                let mask = u32::MAX >> (32 - (to.len() - end));
                _mm256_mask_storeu_epi8(to.as_mut_ptr().add(end).cast(), mask, bytes);
            }
        }
    }

    /// The elements of the first bytes, of which each eight are taken out of a word of eight bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn spread<const BITS: usize>(bytes: __m256i) -> __m512i {
        let words = match BITS {
            4 => _mm512_cvtepu32_epi64(bytes),
            2 => _mm512_cvtepu16_epi64(_mm256_castsi256_si128(bytes)),
            _ => _mm512_cvtepu8_epi64(_mm256_castsi256_si128(bytes)),
        };
        let places = const { 0x0706_0504_0302_0100 * BITS as i64 };
        let found = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(places), words);
        _mm512_and_si512(found, _mm512_set1_epi8(const { (1 << BITS) - 1 }))
    }

    /// The bytes of as many elements as a register holds, which come first.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn joined<const BITS: usize>(wide: __m512i) -> __m256i {
        if BITS == 1 {
            let bits = _mm512_test_epi8_mask(wide, wide);
            return _mm256_castsi128_si256(_mm_cvtsi64_si128(bits as i64));
        }
        // Two next to each other: the one and so many times the other.
        let pairs = _mm512_maddubs_epi16(wide, _mm512_set1_epi16(const { 1 | 0x100 << BITS }));
        if BITS == 4 {
            return _mm512_cvtepi16_epi8(pairs);
        }
        let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 | 16 << 16));
        _mm256_castsi128_si256(_mm512_cvtepi32_epi8(fours))
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
