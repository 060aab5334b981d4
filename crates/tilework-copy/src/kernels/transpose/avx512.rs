//! Transposes with 64-byte vectors and masks (AVX-512).

use std::arch::x86_64::*;

use super::super::{Block, CarryFn, Transpose};
use super::avx2::{zip_1, zip_2};
use super::carried;
use super::copied::{copied, crowds, crowds_too};
use super::fold::{fits, folded};
use super::lanes::{Lanes, MOST, block};
use super::stage::{pays, staged, streams};

/// The kernels for elements of `size` bytes.
pub(super) fn kernels(size: usize) -> Option<Transpose> {
    match size {
        1 => Some(of::<1>(carried::run::<1, 16, 1>)),
        2 => Some(of::<2>(carried::run::<2, 16, 2>)),
        4 => Some(of::<4>(carried::run::<4, 16, 4>)),
        8 => Some(of::<8>(carried::run::<8, 8, 4>)),
        16 => Some(of::<16>(carried::run::<16, 4, 4>)),
        _ => None,
    }
}

fn of<const SIZE: usize>(carry: CarryFn) -> Transpose {
    Transpose {
        tile: 64 / SIZE,
        plain: run::<SIZE, false>,
        stream: run::<SIZE, true>,
        carry: Some(carry),
        puts_together: false,
    }
}

/// # Safety
///
/// As [`crate::kernels::BlockFn`], on a machine with these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn run<const SIZE: usize, const STREAM: bool>(of: &Block) {
    debug_assert!(of.is_sound(SIZE));
    let bytes = of.rows * SIZE;
    // SAFETY: the caller's promise; the vectors and the lane in which the rows end are chosen by the bytes.
    unsafe {
        if STREAM && !streams(of, SIZE) {
            // Nothing less than whole lines is worth streaming.
            return if bytes < 64 { run::<SIZE, false>(of) } else { by_stage::<SIZE, true>(of) };
        }
        // Where whole lines of a source row are read at once, nothing is gone before it is; and rows that are long on both sides are
        // better written one line after the other, as are those past the cache.
        let as_it_is = SIZE >= 4 && crowds_too(of, SIZE) || STREAM && SIZE >= 8;
        if crowds(of, SIZE) && !as_it_is {
            return by_copies::<SIZE, STREAM>(of);
        }
        match bytes {
            64.. if !STREAM && pays(of, SIZE) => by_stage::<SIZE, STREAM>(of),
            64.. => block::<Four, SIZE, STREAM, 4>(of),
            32 if (SIZE > 1 || STREAM) && fits(of, SIZE, 2) => folded::<Four, SIZE, STREAM, 2>(of),
            16 if fits(of, SIZE, 4) => folded::<Four, SIZE, STREAM, 4>(of),
            // Shorter rows are never whole lines, and too few columns are not worth code of their own.
            _ if STREAM => run::<SIZE, false>(of),
            32.. if SIZE == 1 => block::<Two, SIZE, STREAM, 2>(of),
            49.. => block::<Four, SIZE, STREAM, 3>(of),
            33.. => block::<Four, SIZE, STREAM, 2>(of),
            32 => block::<Two, SIZE, STREAM, 2>(of),
            17.. => block::<Two, SIZE, STREAM, 1>(of),
            16 => block::<One, SIZE, STREAM, 1>(of),
            _ => block::<One, SIZE, STREAM, 0>(of),
        }
    }
}

/// Apart from [`run`], whose small blocks should not pay for the stage's place on the stack.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn by_stage<const SIZE: usize, const STREAM: bool>(of: &Block) {
    // SAFETY: the caller's promise.
    unsafe { staged::<Four, SIZE, STREAM>(of, run::<SIZE, false>) }
}

/// The same for its copies.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn by_copies<const SIZE: usize, const STREAM: bool>(of: &Block) {
    // SAFETY: the caller's promise.
    unsafe { copied::<Four, SIZE, STREAM>(of, run::<SIZE, STREAM>) }
}

/// One lane.
#[derive(Clone, Copy)]
pub(crate) struct One(__m128i);

/// Two lanes.
#[derive(Clone, Copy)]
pub(crate) struct Two(__m256i);

/// Four lanes.
#[derive(Clone, Copy)]
pub(crate) struct Four(pub(crate) __m512i);

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
        unsafe { _mm_mask_storeu_epi8(to.cast(), first(bytes) as u16, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm_stream_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize) {
        if bytes > 0 {
            unsafe {
                let vector = _mm512_maskz_loadu_epi8(first(bytes), from.cast());
                _mm512_mask_storeu_epi8(to.cast(), first(bytes), vector);
            }
        }
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
        unsafe { _mm256_mask_storeu_epi8(to.cast(), first(bytes) as u32, self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm256_stream_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize) {
        if bytes > 0 {
            unsafe {
                let vector = _mm512_maskz_loadu_epi8(first(bytes), from.cast());
                _mm512_mask_storeu_epi8(to.cast(), first(bytes), vector);
            }
        }
    }
}

impl Lanes for Four {
    const LANES: usize = 4;
    const IS_REGISTER: bool = true;

    type Half = Two;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn load(from: [*const u8; MOST]) -> Self {
        unsafe {
            let lane = |k: usize| _mm_loadu_si128(from[k].cast());
            Self(four(lane(0), lane(1), lane(2), lane(3)))
        }
    }

    #[inline(always)]
    unsafe fn load_whole(from: *const u8) -> Self {
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_wide<const AT_ONCE: usize>(from: [*const u8; MOST]) -> Self {
        unsafe {
            match AT_ONCE {
                4 => Self::load_whole(from[0]),
                2 => {
                    let (low, high) = (Two::load_whole(from[0]), Two::load_whole(from[1]));
                    Self(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low.0), high.0))
                }
                _ => Self::load(from),
            }
        }
    }

    #[inline(always)]
    unsafe fn regroup<const AT_ONCE: usize>(vectors: [Self; MOST]) -> [Self; MOST] {
        let [Self(a), Self(b), ..] = vectors;
        unsafe {
            match AT_ONCE {
                4 => Self::exchange::<4>(vectors),
                2 => {
                    let low = Self(_mm512_shuffle_i64x2::<0x88>(a, b));
                    let high = Self(_mm512_shuffle_i64x2::<0xdd>(a, b));
                    [low, high, low, high]
                }
                _ => vectors,
            }
        }
    }

    #[inline(always)]
    unsafe fn load_part(from: [*const u8; MOST], bytes: usize) -> Self {
        unsafe {
            let lane = |k: usize| load_part(from[k], bytes);
            Self(four(lane(0), lane(1), lane(2), lane(3)))
        }
    }

    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        unsafe {
            let (low, high) = match SIZE {
                1 => (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)),
                2 => (_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)),
                4 => (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)),
                _ => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
            };
            (Self(low), Self(high))
        }
    }

    #[inline(always)]
    unsafe fn exchange<const FOLD: usize>(vectors: [Self; MOST]) -> [Self; MOST] {
        let [Self(a), Self(b), Self(c), Self(d)] = vectors;
        unsafe {
            let (low, high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b));
            if FOLD == 2 {
                return [Self(low), Self(high), Self(low), Self(high)];
            }
            let (low_2, high_2) = (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xee>(c, d));
            [
                Self(_mm512_shuffle_i64x2::<0x88>(low, low_2)),
                Self(_mm512_shuffle_i64x2::<0xdd>(low, low_2)),
                Self(_mm512_shuffle_i64x2::<0x88>(high, high_2)),
                Self(_mm512_shuffle_i64x2::<0xdd>(high, high_2)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_halves(self, to: *mut u8, after: usize) {
        unsafe {
            _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(self.0));
            _mm256_storeu_si256(to.add(after).cast(), _mm512_extracti64x4_epi64::<1>(self.0));
        }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, bytes: usize) {
        unsafe { _mm512_mask_storeu_epi8(to.cast(), first(bytes), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8) {
        unsafe { _mm512_stream_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn copy_part(from: *const u8, to: *mut u8, bytes: usize) {
        if bytes > 0 {
            unsafe {
                let vector = _mm512_maskz_loadu_epi8(first(bytes), from.cast());
                _mm512_mask_storeu_epi8(to.cast(), first(bytes), vector);
            }
        }
    }
}

/// A mask of the first `bytes` bytes, 1 to 64.
#[inline(always)]
fn first(bytes: usize) -> u64 {
    u64::MAX >> ((64 - bytes) & 63)
}

#[inline(always)]
unsafe fn load_part(from: *const u8, bytes: usize) -> __m128i {
    unsafe { _mm_maskz_loadu_epi8(first(bytes) as u16, from.cast()) }
}

/// Four lanes in one vector.
///
/// Broadcasts under a mask, since they take each lane from memory without the one port that shuffles.
#[inline(always)]
unsafe fn four(a: __m128i, b: __m128i, c: __m128i, d: __m128i) -> __m512i {
    unsafe {
        let vector = _mm512_castsi128_si512(a);
        let vector = _mm512_mask_broadcast_i32x4(vector, 0x00f0, b);
        let vector = _mm512_mask_broadcast_i32x4(vector, 0x0f00, c);
        _mm512_mask_broadcast_i32x4(vector, 0xf000, d)
    }
}
