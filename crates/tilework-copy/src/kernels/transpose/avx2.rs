//! Transposes with 32-byte vectors (AVX2).

use std::arch::x86_64::*;

use super::super::carry::Held;
use super::super::vector::write_part;
use super::super::{Block, Transpose};
use super::copied::{copied, crowds};
use super::fold::{fits, folded};
use super::lanes::{Lanes, MOST, block, read_part};
use super::stage::{pays, staged, streams};
use super::together::put_together;

/// The kernels for elements of `size` bytes.
pub(super) fn kernels(size: usize) -> Option<Transpose> {
    match size {
        1 => Some(of::<1>()),
        2 => Some(of::<2>()),
        4 => Some(of::<4>()),
        8 => Some(of::<8>()),
        16 => Some(of::<16>()),
        _ => None,
    }
}

fn of<const SIZE: usize>() -> Transpose {
    Transpose {
        tile: 64 / SIZE,
        plain: run::<SIZE, false>,
        stream: run::<SIZE, true>,
        carry: Some(carry::<SIZE>),
        puts_together: true,
    }
}

/// # Safety
///
/// As [`crate::kernels::BlockFn`], on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn run<const SIZE: usize, const STREAM: bool>(of: &Block) {
    debug_assert!(of.is_sound(SIZE));
    let bytes = of.rows * SIZE;
    // SAFETY: the caller's promise; the vectors and the lane in which the rows end are chosen by the bytes.
    unsafe {
        if STREAM && !streams(of, SIZE) {
            // Nothing less than whole lines is worth streaming.
            return if bytes < 64 { run::<SIZE, false>(of) } else { by_stage::<SIZE, true>(of) };
        }
        if STREAM && bytes >= 64 {
            return put_together::<Two, SIZE>(of, None, run::<SIZE, false>);
        }
        if crowds(of, SIZE) {
            return by_copies::<SIZE, STREAM>(of);
        }
        match bytes {
            64.. if !STREAM && pays(of, SIZE) => by_stage::<SIZE, STREAM>(of),
            16 if fits(of, SIZE, 2) => folded::<Two, SIZE, STREAM, 2>(of),
            // Nor is shorter than half a line, and too few columns are not worth code of their own.
            ..32 if STREAM => run::<SIZE, false>(of),
            32.. => block::<Two, SIZE, STREAM, 2>(of),
            17.. => block::<Two, SIZE, STREAM, 1>(of),
            16 => block::<One, SIZE, STREAM, 1>(of),
            _ => block::<One, SIZE, STREAM, 0>(of),
        }
    }
}

/// Moves a block through the cache.
///
/// # Safety
///
/// As [`crate::kernels::BlockFn`], on a machine with AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn transposed<const SIZE: usize>(of: &Block) {
    // SAFETY: the caller's promise.
    unsafe { run::<SIZE, false>(of) }
}

/// # Safety
///
/// As [`super::super::CarryFn`], on a machine with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn carry<const SIZE: usize>(of: &Block, held: Held) {
    debug_assert!(of.is_sound(SIZE) && of.rows * SIZE >= 64);
    // SAFETY: the caller's promise.
    unsafe { put_together::<Two, SIZE>(of, Some(held), run::<SIZE, false>) }
}

/// Apart from [`run`], whose small blocks should not pay for the stage's place on the stack.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn by_stage<const SIZE: usize, const STREAM: bool>(of: &Block) {
    // SAFETY: the caller's promise.
    unsafe { staged::<Two, SIZE, STREAM>(of, run::<SIZE, false>) }
}

/// The same for its copies.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn by_copies<const SIZE: usize, const STREAM: bool>(of: &Block) {
    // SAFETY: the caller's promise.
    unsafe { copied::<Two, SIZE, STREAM>(of, run::<SIZE, STREAM>) }
}

/// One lane.
#[derive(Clone, Copy)]
pub(crate) struct One(__m128i);

/// Two lanes.
#[derive(Clone, Copy)]
pub(crate) struct Two(pub(crate) __m256i);

// SAFETY (of this file): the functions are inlined into `run`, which has the instructions; what they read and
// write is what the trait says, and the callers vouch for it.

impl Lanes for One {
    const LANES: usize = 1;
    const IS_REGISTER: bool = true;

    type Half = One;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Self(_mm_setzero_si128()) }
    }

    #[inline(always)]
    unsafe fn load(from: [*const u8; MOST]) -> Self {
        unsafe { Self(_mm_loadu_si128(from[0].cast())) }
    }

    #[inline(always)]
    unsafe fn load_whole(from: *const u8) -> Self {
        unsafe { Self(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_part(from: [*const u8; MOST], bytes: usize) -> Self {
        unsafe { Self(load_part(from[0], bytes)) }
    }

    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        unsafe {
            let (low, high) = zip_1::<SIZE>(self.0, other.0);
            (Self(low), Self(high))
        }
    }

    #[inline(always)]
    unsafe fn exchange<const FOLD: usize>(vectors: [Self; MOST]) -> [Self; MOST] {
        vectors
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, to: *mut u8, after: usize) {
        unsafe { self.store(to.add(after)) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, bytes: usize) {
        unsafe { store_part(self.0, to, bytes) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm_stream_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize) {
        unsafe { from.copy_to_nonoverlapping(to, bytes) }
    }
}

impl Lanes for Two {
    const LANES: usize = 2;
    const IS_REGISTER: bool = true;

    type Half = One;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn load(from: [*const u8; MOST]) -> Self {
        unsafe {
            let low = _mm_loadu_si128(from[0].cast());
            let high = _mm_loadu_si128(from[1].cast());
            Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
        }
    }

    #[inline(always)]
    unsafe fn load_whole(from: *const u8) -> Self {
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_part(from: [*const u8; MOST], bytes: usize) -> Self {
        unsafe {
            let low = load_part(from[0], bytes);
            let high = load_part(from[1], bytes);
            Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
        }
    }

    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        unsafe {
            let (low, high) = zip_2::<SIZE>(self.0, other.0);
            (Self(low), Self(high))
        }
    }

    #[inline(always)]
    unsafe fn exchange<const FOLD: usize>(vectors: [Self; MOST]) -> [Self; MOST] {
        let [Self(a), Self(b), ..] = vectors;
        unsafe {
            let (low, high) =
                (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b));
            [Self(low), Self(high), Self(low), Self(high)]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, to: *mut u8, after: usize) {
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(self.0));
            _mm_storeu_si128(to.add(after).cast(), _mm256_extracti128_si256::<1>(self.0));
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, bytes: usize) {
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(self.0));
            store_part(_mm256_extracti128_si256::<1>(self.0), to.add(16), bytes - 16);
        }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm256_stream_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize) {
        unsafe { from.copy_to_nonoverlapping(to, bytes) }
    }
}

#[inline(always)]
pub(super) unsafe fn zip_1<const SIZE: usize>(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
    unsafe {
        match SIZE {
            1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
            2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
            4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
            _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
        }
    }
}

#[inline(always)]
pub(super) unsafe fn zip_2<const SIZE: usize>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    unsafe {
        match SIZE {
            1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
            2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
            4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
            _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
        }
    }
}

/// `bytes` bytes, less than 16.
#[inline(always)]
pub(crate) unsafe fn load_part(from: *const u8, bytes: usize) -> __m128i {
    unsafe {
        let (low, high) = read_part(from, bytes);
        _mm_set_epi64x(high as i64, low as i64)
    }
}

/// The first `bytes` bytes, at most 16.
#[inline(always)]
pub(crate) unsafe fn store_part(value: __m128i, to: *mut u8, bytes: usize) {
    unsafe {
        if bytes >= 16 {
            return _mm_storeu_si128(to.cast(), value);
        }
        let high = || _mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value)) as u64;
        write_part(_mm_cvtsi128_si64(value) as u64, high, to, bytes);
    }
}
