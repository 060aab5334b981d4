//! Windows of 16 bytes: shuffles that know no others make zero of what comes from another pick.

use std::arch::x86_64::*;

use super::{Call, Group, Kind, SHIFTED, SHIFTS};
use crate::kernels::net::LANE;

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "avx2")]
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
#[target_feature(enable = "avx2")]
pub(super) unsafe fn run_halves(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe { windows::<true>(call) };
}

/// Windows with the same patterns, of whole bytes.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn alike<const COUNT: usize>(call: &Call) {
    let Call { source, destination, patterns, next, fetches, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    // SAFETY: the caller's promise: the lists are long enough, 16 bytes can be read at each pick, and the first ones of each window
    // can be written. What is fetched may lie anywhere.
    unsafe {
        let patterns = patterns.cast::<u8>();
        let mut pattern = [_mm_setzero_si128(); COUNT];
        for (k, pattern) in pattern.iter_mut().enumerate() {
            *pattern = _mm_load_si128(patterns.add((*pick.add(k)).pattern as usize * LANE).cast());
        }
        let mask = (*window).mask;
        for _ in 0..call.group.windows {
            for _ in 0..fetches {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            let mut lane = _mm_setzero_si128();
            for pattern in pattern {
                let bytes = _mm_loadu_si128(source.wrapping_offset((*pick).from as isize).cast());
                lane = _mm_or_si128(lane, _mm_shuffle_epi8(bytes, pattern));
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
#[target_feature(enable = "avx2")]
unsafe fn windows<const HALVES: bool>(call: &Call) {
    let Call { source, destination, patterns, next, fetches, group, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    let patterns = patterns.cast::<u8>();
    for _ in 0..group.windows {
        // SAFETY: as in `alike`.
        unsafe {
            for _ in 0..fetches {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            let mut lane = _mm_setzero_si128();
            for _ in 0..group.count {
                let number = (*pick).pattern as usize;
                let which = if HALVES { number & ((1 << SHIFTED) - 1) } else { number };
                let pattern = _mm_load_si128(patterns.add(which * LANE).cast());
                let bytes = _mm_loadu_si128(source.wrapping_offset((*pick).from as isize).cast());
                let mut bytes = _mm_shuffle_epi8(bytes, pattern);
                if HALVES {
                    let shift = &SHIFTS[number >> SHIFTED];
                    let [right, left, mask] = [&shift.right, &shift.left, &shift.mask]
                        .map(|two| _mm_load_si128(two.as_ptr().cast()));
                    bytes = _mm_and_si128(_mm_sll_epi16(_mm_srl_epi16(bytes, right), left), mask);
                }
                lane = _mm_or_si128(lane, bytes);
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
#[target_feature(enable = "avx2")]
unsafe fn put(lane: __m128i, to: *mut u8, mask: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        if mask == 0xffff {
            _mm_storeu_si128(to.cast(), lane);
        } else {
            super::put_part(
                _mm_extract_epi64::<0>(lane) as u64,
                _mm_extract_epi64::<1>(lane) as u64,
                to,
                mask,
            );
        }
    }
}
