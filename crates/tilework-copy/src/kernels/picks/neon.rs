//! Windows of 16 bytes: lookups that know no others make zero of what comes from another pick.

use std::arch::aarch64::*;

use super::Call;
use super::windows::{self, Register};
use crate::kernels::net::LANE;
use crate::kernels::vector::write_part;

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "neon")]
pub(super) unsafe fn run(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe { windows::run::<uint8x16_t, false>(call) };
}

// SAFETY of all: the machine has the instructions of the function above, into which these are inlined; and the callers' promises.
impl Register for uint8x16_t {
    const WIDTH: usize = LANE;

    type Pattern = uint8x16_t;

    #[inline(always)]
    fn zero() -> Self {
        unsafe { vdupq_n_u8(0) }
    }

    #[inline(always)]
    unsafe fn pattern(at: *const u8) -> Self::Pattern {
        unsafe { vld1q_u8(at) }
    }

    #[inline(always)]
    unsafe fn load<const SHORT: bool>(from: *const u8) -> Self {
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    fn with(self, bytes: Self, pattern: Self::Pattern) -> Self {
        unsafe { vorrq_u8(self, vqtbl1q_u8(bytes, pattern)) }
    }

    #[inline(always)]
    unsafe fn of_lanes(from: impl Fn(usize) -> *const u8) -> Self {
        unsafe { vld1q_u8(from(0)) }
    }

    #[inline(always)]
    unsafe fn put<const STREAM: bool>(self, to: *mut u8, mask: u64) {
        unsafe {
            if mask == 0xffff {
                vst1q_u8(to, self);
            } else {
                let halves = vreinterpretq_u64_u8(self);
                let (low, high) = (vgetq_lane_u64::<0>(halves), || vgetq_lane_u64::<1>(halves));
                write_part(low, high, to, mask.count_ones() as usize);
            }
        }
    }
}
