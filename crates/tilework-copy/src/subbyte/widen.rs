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

/// Room for the bytes of a row, and what stores them elsewhere: given where they are, where they go, and how many.
pub(crate) type Past<'a> = (*mut u8, &'a dyn Fn(*const u8, *mut u8, usize));

/// Elements of one width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widen {
    bits: u32,
    /// The power of two that so many elements in a byte are.
    in_byte: u32,
    /// Writes each element of the source's bytes to a byte of its own. There is room for [`room`] of them.
    widen: Kernel,
    /// Fills the destination's bytes with elements that have a byte each. There are [`room`] of them.
    narrow: Kernel,
}

/// Bytes that are touched beside a widened row, at most: those of its first byte's elements before it, and what is left of a
/// register behind it.
pub(crate) const BEFORE: usize = 7;
pub(crate) const BEHIND: usize = 70;

impl Widen {
    /// The kernels of a set of instructions for elements of so many bits: 1, 2 or 4, else none.
    pub(crate) fn new(set: InstructionSet, bits: u32) -> Option<Widen> {
        let (widen, narrow) = kernels(set, bits)?;
        Some(Widen { bits, in_byte: 3 - bits.ilog2(), widen, narrow })
    }

    /// The byte of an element, and how many elements come before it in that byte.
    fn within(&self, place: u64) -> (usize, usize) {
        ((place >> self.in_byte) as usize, (place & ((1 << self.in_byte) - 1)) as usize)
    }

    /// Writes `count` elements from a place on to a byte each.
    ///
    /// # Safety
    /// 1. The bytes that hold these elements can be read.
    /// 2. So many bytes can be written, [`BEFORE`] before and [`BEHIND`] behind them as well, and are nobody else's.
    /// 3. The processor has the instructions.
    pub(crate) unsafe fn row(&self, (from, place): (*const u8, u64), count: usize, to: *mut u8) {
        let (byte, phase) = self.within(place);
        let (last, _) = self.within(place + count as u64 - 1);
        let bytes = last + 1 - byte;
        // SAFETY: the first and the last byte hold elements of the row, and there is room.
        unsafe {
            let to = std::slice::from_raw_parts_mut(to.sub(phase), room(bytes, self.in_byte));
            (self.widen)(std::slice::from_raw_parts(from.add(byte), bytes), to);
        }
    }

    /// Writes elements that have a byte each to a place on, `count` of them, if need be by way of `past`. Bytes at the ends that hold others
    /// keep those, which are put before and behind the row meanwhile.
    ///
    /// # Safety
    /// 1. So many bytes can be read, [`BEFORE`] before and [`BEHIND`] behind them as well; and those before and [`BEFORE`] behind can be
    ///    written, and are nobody else's.
    /// 2. The bytes that hold these elements in the destination can be read and written, and are nobody else's.
    /// 3. The processor has the instructions.
    #[inline]
    pub(crate) unsafe fn back(
        &self,
        from: *mut u8,
        count: usize,
        past: Option<Past>,
        (to, place): (*mut u8, u64),
    ) {
        let (byte, phase) = self.within(place);
        if count <= SHORT {
            // SAFETY: the caller's promise.
            return unsafe { self.short(from, count, (to.add(byte), phase)) };
        }
        let (last, behind) = self.within(place + count as u64 - 1);
        let behind = (1 << self.in_byte) - 1 - behind;
        let bytes = last + 1 - byte;
        let mask = (1 << self.bits) - 1;
        // SAFETY: every byte that is written holds elements of the row; what is touched before and behind it is free.
        unsafe {
            let (to, first) = (to.add(byte), from.sub(phase));
            if phase > 0 {
                let kept = *to;
                (0..phase).for_each(|k| *first.add(k) = kept >> (k as u32 * self.bits) & mask);
            }
            if behind > 0 {
                let kept = *to.add(bytes - 1);
                let element = |k: usize| kept >> (8 - k as u32 * self.bits) & mask;
                (1..=behind).for_each(|k| *from.add(count + behind - k) = element(k));
            }
            let wide = std::slice::from_raw_parts(first, room(bytes, self.in_byte));
            match past {
                None => (self.narrow)(wide, std::slice::from_raw_parts_mut(to, bytes)),
                Some((row, store)) => {
                    (self.narrow)(wide, std::slice::from_raw_parts_mut(row, bytes));
                    store(row, to, bytes);
                }
            }
        }
    }

    /// The same for at most [`SHORT`] elements, from one of a byte's on.
    ///
    /// # Safety
    /// As for [`Widen::back`].
    #[inline(always)]
    unsafe fn short(&self, from: *const u8, count: usize, (to, phase): (*mut u8, usize)) {
        // SAFETY: a row has bytes behind it that can be read; and every byte that is written holds elements of the row.
        unsafe {
            let wide = u64::from_le_bytes(from.cast::<[u8; 8]>().read_unaligned());
            let joined = match self.bits {
                1 => joined::<1>(wide),
                2 => joined::<2>(wide),
                _ => joined::<4>(wide),
            };
            let (bits, first) = (count as u32 * self.bits, phase as u32 * self.bits);
            match (first, bits) {
                (0, 8) => *to = joined as u8,
                (0, 16) => to.cast::<[u8; 2]>().write_unaligned((joined as u16).to_le_bytes()),
                (0, 32) => to.cast::<[u8; 4]>().write_unaligned((joined as u32).to_le_bytes()),
                _ => {
                    let (value, mask) = (joined << first, ((1_u64 << bits) - 1) << first);
                    for k in 0..(first + bits).div_ceil(8) {
                        let (value, mask) = ((value >> (8 * k)) as u8, (mask >> (8 * k)) as u8);
                        let byte = to.add(k as usize);
                        *byte = if mask == 0xff { value } else { *byte & !mask | value & mask };
                    }
                }
            }
        }
    }
}

/// Rows of this number of elements or fewer are put together in a word.
const SHORT: usize = 8;

/// # Safety
/// The processor has the instructions that the kernel was compiled for. The longer slice has at least [`room`] for the elements of the
/// other.
type Kernel = unsafe fn(&[u8], &mut [u8]);

/// Bytes of widened elements that a kernel may touch for `bytes` bytes of elements, of which 2 to the power of `in_byte` are in each.
fn room(bytes: usize, in_byte: u32) -> usize {
    (bytes << in_byte).next_multiple_of(64)
}

/// What widens and what narrows.
fn kernels(set: InstructionSet, bits: u32) -> Option<(Kernel, Kernel)> {
    #[cfg(target_arch = "x86_64")]
    if set == InstructionSet::Avx512 {
        return match bits {
            1 => Some((x86::widen::<1>, x86::narrow::<1>)),
            2 => Some((x86::widen::<2>, x86::narrow::<2>)),
            4 => Some((x86::widen::<4>, x86::narrow::<4>)),
            _ => None,
        };
    }
    match bits {
        1 => Some((widened::<1>(set), narrowed::<1>(set))),
        2 => Some((widened::<2>(set), narrowed::<2>(set))),
        4 => Some((widened::<4>(set), narrowed::<4>(set))),
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
        assert!(to.len() >= super::room(from.len(), const { 3 - BITS.ilog2() }));
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
        assert!(from.len() >= super::room(to.len(), const { 3 - BITS.ilog2() }));
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
                let kernels = Widen::new(set, bits).unwrap();
                for count in 0..bytes.len() {
                    let mut wide = vec![0xee; room(count, in_byte.ilog2())];
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
