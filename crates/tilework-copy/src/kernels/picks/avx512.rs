//! Windows in registers of a line.

use std::arch::x86_64::*;

use super::{Call, SHIFTED, SHIFTS};

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn run<const STREAM: bool>(call: &Call) {
    // SAFETY: the caller's promise. What stands as a number is the count of the call.
    unsafe {
        match call.count {
            1 => windows::<STREAM, false>(call, 1),
            2 => windows::<STREAM, false>(call, 2),
            3 => windows::<STREAM, false>(call, 3),
            4 => windows::<STREAM, false>(call, 4),
            5 => windows::<STREAM, false>(call, 5),
            6 => windows::<STREAM, false>(call, 6),
            8 => windows::<STREAM, false>(call, 8),
            count => windows::<STREAM, false>(call, count),
        }
    }
}

/// The same with elements of half a byte.
///
/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn run_halves<const STREAM: bool>(call: &Call) {
    // SAFETY: the caller's promise.
    unsafe { windows::<STREAM, true>(call, call.count) };
}

/// Windows with `count` picks each: where that is a constant, there is no loop over them.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn windows<const STREAM: bool, const HALVES: bool>(call: &Call, count: usize) {
    let Call { source, destination, patterns, next, fetches, windows, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    for _ in 0..windows {
        // SAFETY: the caller's promise: the lists are long enough, 64 bytes can be read at each pick, and what the mask has can
        // be written. What is fetched may lie anywhere.
        unsafe {
            for _ in 0..fetches {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            let mut line = _mm512_setzero_si512();
            for _ in 0..count {
                let number = (*pick).pattern as usize;
                let which = if HALVES { number & ((1 << SHIFTED) - 1) } else { number };
                let pattern = _mm512_load_si512(patterns.add(which).cast());
                let bytes = _mm512_loadu_si512(source.wrapping_offset((*pick).from as isize).cast());
                // A pattern has its highest bits where this pick is the one; the lowest six are numbers of bytes.
                let taken = _mm512_movepi8_mask(pattern);
                if HALVES {
                    let bytes = _mm512_maskz_permutexvar_epi8(taken, pattern, bytes);
                    let shift = &SHIFTS[number >> SHIFTED];
                    let [right, left, mask] = [&shift.right, &shift.left, &shift.mask]
                        .map(|two| _mm_load_si128(two.as_ptr().cast()));
                    let bytes = _mm512_sll_epi16(_mm512_srl_epi16(bytes, right), left);
                    // The line, or what the mask has of these bytes.
                    line = _mm512_ternarylogic_epi32::<0xf8>(line, bytes, _mm512_broadcast_i32x4(mask));
                } else {
                    line = _mm512_mask_permutexvar_epi8(line, taken, pattern, bytes);
                }
                pick = pick.add(1);
            }
            let to = destination.wrapping_offset((*window).to);
            let mask = (*window).mask;
            if STREAM {
                debug_assert!(to.addr().is_multiple_of(64) && mask == u64::MAX);
                _mm512_stream_si512(to.cast(), line);
            } else if mask == u64::MAX {
                _mm512_storeu_si512(to.cast(), line);
            } else {
                _mm512_mask_storeu_epi8(to.cast(), mask, line);
            }
            window = window.add(1);
        }
    }
}
