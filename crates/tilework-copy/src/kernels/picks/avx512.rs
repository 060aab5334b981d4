//! Windows of a line, in registers as long.

use std::arch::x86_64::*;

use super::Call;
use super::windows::{self, Register};
use crate::kernels::vector::LINE;

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn run<const STREAM: bool>(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe { windows::run::<__m512i, STREAM>(call) };
}

// SAFETY of all: the machine has the instructions of the function above, into which these are inlined; and the callers' promises.
impl Register for __m512i {
    const WIDTH: usize = LINE;

    /// Also where it takes bytes from this pick: there it has its highest bits, while the lowest six are numbers of bytes.
    type Pattern = (__m512i, __mmask64);

    #[inline(always)]
    fn zero() -> Self {
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn pattern(at: *const u8) -> Self::Pattern {
        unsafe {
            let pattern = _mm512_load_si512(at.cast());
            (pattern, _mm512_movepi8_mask(pattern))
        }
    }

    #[inline(always)]
    unsafe fn load<const SHORT: bool>(from: *const u8) -> Self {
        unsafe {
            if SHORT {
                _mm512_castsi128_si512(_mm_loadu_si128(from.cast()))
            } else {
                _mm512_loadu_si512(from.cast())
            }
        }
    }

    #[inline(always)]
    fn with(self, bytes: Self, (pattern, taken): Self::Pattern) -> Self {
        unsafe { _mm512_mask_permutexvar_epi8(self, taken, pattern, bytes) }
    }

    #[inline(always)]
    unsafe fn of_lanes(from: impl Fn(usize) -> *const u8) -> Self {
        unsafe {
            let lane = |k: usize| _mm_loadu_si128(from(k).cast());
            let line = _mm512_castsi128_si512(lane(0));
            let line = _mm512_mask_broadcast_i32x4(line, 0x00f0, lane(1));
            let line = _mm512_mask_broadcast_i32x4(line, 0x0f00, lane(2));
            _mm512_mask_broadcast_i32x4(line, 0xf000, lane(3))
        }
    }

    #[inline(always)]
    unsafe fn put<const STREAM: bool>(self, to: *mut u8, mask: u64) {
        unsafe {
            if STREAM {
                debug_assert!(to.addr().is_multiple_of(64) && mask == u64::MAX);
                _mm512_stream_si512(to.cast(), self);
            } else if mask == u64::MAX {
                _mm512_storeu_si512(to.cast(), self);
            } else {
                _mm512_mask_storeu_epi8(to.cast(), mask, self);
            }
        }
    }
}
