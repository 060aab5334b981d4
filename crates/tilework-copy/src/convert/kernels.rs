//! Loops over contiguous elements, compiled once for each set of instructions.
//!
//! A loop is plain Rust over elements of fixed width; the compiler makes vectors of it. Only `f16` calls the
//! instructions that x86 has for it.

use tilework_core::Element;

use super::format::{self, Format};
use crate::kernels::InstructionSet;

/// Converts as many elements as fit both slices.
///
/// # Safety
/// The processor has the instructions that the kernel was compiled for.
pub(super) type Kernel = unsafe fn(&[u8], &mut [u8]);

/// Applies `one` to each element of `FROM` bytes and stores `TO` bytes of the result.
#[inline(always)]
fn map<const FROM: usize, const TO: usize>(from: &[u8], to: &mut [u8], one: impl Fn(u32) -> u32) {
    let (from, _) = from.as_chunks::<FROM>();
    let (to, _) = to.as_chunks_mut::<TO>();
    for (from, to) in from.iter().zip(to) {
        let mut word = [0; 4];
        word[..FROM].copy_from_slice(from);
        to.copy_from_slice(&one(u32::from_le_bytes(word)).to_le_bytes()[..TO]);
    }
}

/// A function that gives a loop for each set of instructions.
macro_rules! kernel {
    ($visible:vis $name:ident $(<$format:ident: Format>)?, $body:expr) => {
        $visible fn $name $(<$format: Format>)? (set: InstructionSet) -> Kernel {
            fn portable $(<$format: Format>)? (from: &[u8], to: &mut [u8]) {
                $body(from, to)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2 $(<$format: Format>)? (from: &[u8], to: &mut [u8]) {
                $body(from, to)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
            fn avx512 $(<$format: Format>)? (from: &[u8], to: &mut [u8]) {
                $body(from, to)
            }
            match set {
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx512 => avx512 $(::<$format>)?,
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx2 => avx2 $(::<$format>)?,
                _ => portable $(::<$format>)?,
            }
        }
    };
}

pub(super) use kernel;

/// The kernels from `f32` to each of these elements in bytes, and back.
macro_rules! by_format {
    ($($element:ident)*) => {
        /// The kernel from an element in bytes to `f32`, if there is one.
        pub(super) fn decoder(from: Element, set: InstructionSet) -> Option<Kernel> {
            Some(match from {
                Element::Bf16 => decode_bf16(set),
                Element::F16 => decode_f16(set),
                Element::F8e8m0fnu => decode_e8m0(set),
                $(Element::$element => decode::<format::$element>(set),)*
                _ => return None,
            })
        }

        /// The kernel from `f32` to an element in bytes, if there is one.
        pub(super) fn encoder(to: Element, set: InstructionSet) -> Option<Kernel> {
            Some(match to {
                Element::Bf16 => encode_bf16(set),
                Element::F16 => encode_f16(set),
                Element::F8e8m0fnu => encode_e8m0(set),
                $(Element::$element => encode::<format::$element>(set),)*
                _ => return None,
            })
        }
    };
}

by_format! { F8e5m2 F8e5m2fnuz F8e4m3 F8e4m3fn F8e4m3fnuz F8e4m3b11fnuz F8e3m4 F4e2m1fn }

kernel!(encode<F: Format>, |from, to| map::<4, 1>(from, to, format::encode::<F>));
kernel!(decode<F: Format>, |from, to| map::<1, 4>(from, to, format::decode::<F>));
kernel!(encode_e8m0, |from, to| map::<4, 1>(from, to, format::encode_e8m0));
kernel!(decode_e8m0, |from, to| map::<1, 4>(from, to, format::decode_e8m0));
kernel!(encode_bf16, |from, to| map::<4, 2>(from, to, format::encode_bf16));
kernel!(decode_bf16, |from, to| map::<2, 4>(from, to, |bits| bits << 16));
kernel!(encode_f16_by_bits, |from, to| map::<4, 2>(from, to, format::encode_f16));
kernel!(decode_f16_by_bits, |from, to| map::<2, 4>(from, to, format::decode_f16));
// Two bytes with a number below 16 each become one, and back; the second pair of kernels extends the sign.
kernel!(pub(super) pack_nibbles, |from, to| map::<2, 1>(from, to, |pair| pair & 0x0f | pair >> 4 & 0xf0));
kernel!(pub(super) unpack_nibbles, |from, to| map::<1, 2>(from, to, |pair| pair & 0x0f | (pair & 0xf0) << 4));
kernel!(pub(super) unpack_signed_nibbles, |from, to| map::<1, 2>(from, to, |pair| {
    let pair = (pair & 0x0f | (pair & 0xf0) << 4) ^ 0x0808;
    // Each byte is now the number plus 8: subtract 8, with a bit set that no borrow goes past.
    (pair + 0x8080 - 0x0808) ^ 0x8080
}));
kernel!(pub(super) split_doubles, |from: &[u8], to: &mut [u8]| {
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        let value = f64::from_le_bytes(*from);
        let high = value as f32;
        let rest = (value - f64::from(high)) as f32;
        let low = if high.is_finite() { rest } else { 0.0 };
        *to = (u64::from(high.to_bits()) | u64::from(low.to_bits()) << 32).to_le_bytes();
    }
});
kernel!(pub(super) join_doubles, |from: &[u8], to: &mut [u8]| {
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        let pair = u64::from_le_bytes(*from);
        let (high, low) = (f32::from_bits(pair as u32), f32::from_bits((pair >> 32) as u32));
        *to = (f64::from(high) + f64::from(low)).to_le_bytes();
    }
});
kernel!(pub(super) narrow_doubles, |from: &[u8], to: &mut [u8]| {
    for (from, to) in from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<4>().0) {
        *to = (f64::from_le_bytes(*from) as f32).to_le_bytes();
    }
});
kernel!(pub(super) widen_floats, |from: &[u8], to: &mut [u8]| {
    for (from, to) in from.as_chunks::<4>().0.iter().zip(to.as_chunks_mut::<8>().0) {
        *to = f64::from(f32::from_le_bytes(*from)).to_le_bytes();
    }
});

/// From `f32` to `f16`, with the instruction for it where there is one.
pub(super) fn encode_f16(set: InstructionSet) -> Kernel {
    #[cfg(target_arch = "x86_64")]
    match set {
        InstructionSet::Avx512 => return f16_on_x86::encode_512,
        InstructionSet::Avx2 if std::arch::is_x86_feature_detected!("f16c") => return f16_on_x86::encode_256,
        _ => {}
    }
    encode_f16_by_bits(set)
}

/// From `f16` to `f32`, with the instruction for it where there is one.
pub(super) fn decode_f16(set: InstructionSet) -> Kernel {
    #[cfg(target_arch = "x86_64")]
    match set {
        InstructionSet::Avx512 => return f16_on_x86::decode_512,
        InstructionSet::Avx2 if std::arch::is_x86_feature_detected!("f16c") => return f16_on_x86::decode_256,
        _ => {}
    }
    decode_f16_by_bits(set)
}

#[cfg(target_arch = "x86_64")]
mod f16_on_x86 {
    use super::{format, map};
    use std::arch::x86_64::*;

    const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

    #[target_feature(enable = "avx512f")]
    pub(super) fn encode_512(from: &[u8], to: &mut [u8]) {
        let (from, from_rest) = from.as_chunks::<64>();
        let (to, to_rest) = rest_after::<32>(to, from.len());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: the chunks have as many bytes as are loaded and stored.
            unsafe {
                let value = _mm512_loadu_ps(from.as_ptr().cast());
                _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm512_cvtps_ph::<NEAREST>(value));
            }
        }
        map::<4, 2>(from_rest, to_rest, format::encode_f16);
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn decode_512(from: &[u8], to: &mut [u8]) {
        let (from, from_rest) = from.as_chunks::<32>();
        let (to, to_rest) = rest_after::<64>(to, from.len());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: the chunks have as many bytes as are loaded and stored.
            unsafe {
                let value = _mm256_loadu_si256(from.as_ptr().cast());
                _mm512_storeu_ps(to.as_mut_ptr().cast(), _mm512_cvtph_ps(value));
            }
        }
        map::<2, 4>(from_rest, to_rest, format::decode_f16);
    }

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn encode_256(from: &[u8], to: &mut [u8]) {
        let (from, from_rest) = from.as_chunks::<32>();
        let (to, to_rest) = rest_after::<16>(to, from.len());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: the chunks have as many bytes as are loaded and stored.
            unsafe {
                let value = _mm256_loadu_ps(from.as_ptr().cast());
                _mm_storeu_si128(to.as_mut_ptr().cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(value));
            }
        }
        map::<4, 2>(from_rest, to_rest, format::encode_f16);
    }

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn decode_256(from: &[u8], to: &mut [u8]) {
        let (from, from_rest) = from.as_chunks::<16>();
        let (to, to_rest) = rest_after::<32>(to, from.len());
        for (from, to) in from.iter().zip(to) {
            // SAFETY: the chunks have as many bytes as are loaded and stored.
            unsafe {
                let value = _mm_loadu_si128(from.as_ptr().cast());
                _mm256_storeu_ps(to.as_mut_ptr().cast(), _mm256_cvtph_ps(value));
            }
        }
        map::<2, 4>(from_rest, to_rest, format::decode_f16);
    }

    /// The first `chunks` chunks of `N` bytes and what follows them; the caller gave room for them.
    fn rest_after<const N: usize>(bytes: &mut [u8], chunks: usize) -> (&mut [[u8; N]], &mut [u8]) {
        let (chunks, rest) = bytes.split_at_mut(chunks * N);
        (chunks.as_chunks_mut().0, rest)
    }
}
