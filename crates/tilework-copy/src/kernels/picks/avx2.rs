//! Windows of 16 bytes: shuffles that know no others make zero of what comes from another pick.

use std::arch::x86_64::*;

use super::Call;
use super::windows::{self, Register};
use crate::kernels::net::LANE;
use crate::kernels::vector::write_part;

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn run(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe { windows::run::<__m128i, false>(call) };
}

// SAFETY of all: the machine has the instructions of the function above, into which these are inlined; and the callers' promises.
impl Register for __m128i {
    const WIDTH: usize = LANE;

    type Pattern = __m128i;

    #[inline(always)]
    fn zero() -> Self {
        unsafe { _mm_setzero_si128() }
    }

    #[inline(always)]
    unsafe fn pattern(at: *const u8) -> Self::Pattern {
        unsafe { _mm_load_si128(at.cast()) }
    }

    #[inline(always)]
    unsafe fn load<const SHORT: bool>(from: *const u8) -> Self {
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    fn with(self, bytes: Self, pattern: Self::Pattern) -> Self {
        unsafe { _mm_or_si128(self, _mm_shuffle_epi8(bytes, pattern)) }
    }

    #[inline(always)]
    unsafe fn of_lanes(from: impl Fn(usize) -> *const u8) -> Self {
        unsafe { _mm_loadu_si128(from(0).cast()) }
    }

    #[inline(always)]
    unsafe fn put<const STREAM: bool>(self, to: *mut u8, mask: u64) {
        unsafe {
            if mask == 0xffff {
                _mm_storeu_si128(to.cast(), self);
            } else {
                let low = _mm_extract_epi64::<0>(self) as u64;
                let high = || _mm_extract_epi64::<1>(self) as u64;
                write_part(low, high, to, mask.count_ones() as usize);
            }
        }
    }
}
