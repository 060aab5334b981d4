//! Windows of 16 bytes: lookups that know no others make zero of what comes from another pick.

use std::arch::aarch64::*;

use super::{Call, Group, Kind, SHIFTED, SHIFTS};
use crate::kernels::net::LANE;
use crate::kernels::vector::prefetch_near;

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "neon")]
pub(super) unsafe fn run(call: &Call) {
    // SAFETY: the caller's promise. What stands as a number is the count of the group.
    unsafe {
        match call.group {
            Group { kind: Kind::Alike, count: 1, .. } => alike::<1>(call),
            Group { kind: Kind::Alike, count: 2, .. } => alike::<2>(call),
            Group { kind: Kind::Alike, count: 3, .. } => alike::<3>(call),
            Group { kind: Kind::Alike, count: 4, .. } => alike::<4>(call),
            Group { kind: Kind::Alike, count: 5, .. } => alike::<5>(call),
            Group { kind: Kind::Alike, count: 6, .. } => alike::<6>(call),
            Group { kind: Kind::Alike, count: 7, .. } => alike::<7>(call),
            Group { kind: Kind::Alike, count: 8, .. } => alike::<8>(call),
            _ => windows::<false>(call),
        }
    }
}

/// The same with elements of half a byte.
///
/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "neon")]
pub(super) unsafe fn run_halves(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe { windows::<true>(call) };
}

/// Windows with the same patterns, of whole bytes.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "neon")]
unsafe fn alike<const COUNT: usize>(call: &Call) {
    let Call { source, destination, patterns, next, fetches, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    // SAFETY: the caller's promise: the lists are long enough, 16 bytes can be read at each pick, and the first ones of each window
    // can be written. What is fetched may lie anywhere.
    unsafe {
        let patterns = patterns.cast::<u8>();
        let mut pattern = [vdupq_n_u8(0); COUNT];
        for (k, pattern) in pattern.iter_mut().enumerate() {
            *pattern = vld1q_u8(patterns.add((*pick.add(k)).pattern as usize * LANE));
        }
        let mask = (*window).mask;
        for _ in 0..call.group.windows {
            for _ in 0..fetches {
                prefetch_near(next.wrapping_offset(*fetch));
                fetch = fetch.add(1);
            }
            let mut lane = vdupq_n_u8(0);
            for pattern in pattern {
                let bytes = vld1q_u8(source.wrapping_offset((*pick).from as isize));
                lane = vorrq_u8(lane, vqtbl1q_u8(bytes, pattern));
                pick = pick.add(1);
            }
            put(lane, destination.wrapping_offset((*window).to), mask);
            window = window.add(1);
        }
    }
}

/// Windows with any patterns.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "neon")]
unsafe fn windows<const HALVES: bool>(call: &Call) {
    let Call { source, destination, patterns, next, fetches, group, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    let patterns = patterns.cast::<u8>();
    for _ in 0..group.windows {
        // SAFETY: as in `alike`.
        unsafe {
            for _ in 0..fetches {
                prefetch_near(next.wrapping_offset(*fetch));
                fetch = fetch.add(1);
            }
            let mut lane = vdupq_n_u8(0);
            for _ in 0..group.count {
                let number = (*pick).pattern as usize;
                let which = if HALVES { number & ((1 << SHIFTED) - 1) } else { number };
                let pattern = vld1q_u8(patterns.add(which * LANE));
                let mut bytes = vqtbl1q_u8(vld1q_u8(source.wrapping_offset((*pick).from as isize)), pattern);
                if HALVES {
                    let shift = &SHIFTS[number >> SHIFTED];
                    let by = vdupq_n_s8(shift.left[0] as i8 - shift.right[0] as i8);
                    bytes = vandq_u8(vshlq_u8(bytes, by), vdupq_n_u8(shift.mask[0] as u8));
                }
                lane = vorrq_u8(lane, bytes);
                pick = pick.add(1);
            }
            put(lane, destination.wrapping_offset((*window).to), (*window).mask);
            window = window.add(1);
        }
    }
}

/// Writes the first bytes of a window, as many as the mask has.
///
/// # Safety
/// As many bytes can be written.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn put(lane: uint8x16_t, to: *mut u8, mask: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        if mask == 0xffff {
            vst1q_u8(to, lane);
        } else {
            let halves = vreinterpretq_u64_u8(lane);
            super::put_part(vgetq_lane_u64::<0>(halves), vgetq_lane_u64::<1>(halves), to, mask);
        }
    }
}
