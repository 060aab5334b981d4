//! Windows in registers of a line.

use std::arch::x86_64::*;

use super::{Call, Group, Kind, SHIFTED, SHIFTS};

/// # Safety
/// As for [`super::PicksFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn run<const STREAM: bool>(call: &Call) {
    // SAFETY: the caller's promise. What stands as a number is the count of the group.
    unsafe {
        match call.group {
            Group { kind: Kind::Alike, count: 1, .. } => alike::<STREAM, 1>(call),
            Group { kind: Kind::Alike, count: 2, .. } => alike::<STREAM, 2>(call),
            Group { kind: Kind::Alike, count: 3, .. } => alike::<STREAM, 3>(call),
            Group { kind: Kind::Alike, count: 4, .. } => alike::<STREAM, 4>(call),
            Group { kind: Kind::Alike, count: 5, .. } => alike::<STREAM, 5>(call),
            Group { kind: Kind::Alike, count: 6, .. } => alike::<STREAM, 6>(call),
            Group { kind: Kind::Alike, count: 7, .. } => alike::<STREAM, 7>(call),
            Group { kind: Kind::Alike, count: 8, .. } => alike::<STREAM, 8>(call),
            Group { kind: Kind::Lanes, .. } => lanes::<STREAM>(call),
            _ => windows::<STREAM, false>(call),
        }
    }
}

/// Windows with the same patterns, of whole bytes.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn alike<const STREAM: bool, const COUNT: usize>(call: &Call) {
    let Call { source, destination, patterns, next, fetches, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    // SAFETY: the caller's promise: the lists are long enough, 64 bytes can be read at each pick, and what the mask has can be
    // written. What is fetched may lie anywhere.
    unsafe {
        let mut pattern = [_mm512_setzero_si512(); COUNT];
        let mut taken = [0; COUNT];
        for k in 0..COUNT {
            pattern[k] = _mm512_load_si512(patterns.add((*pick.add(k)).pattern as usize).cast());
            taken[k] = _mm512_movepi8_mask(pattern[k]);
        }
        let mask = (*window).mask;
        for _ in 0..call.group.windows {
            for _ in 0..fetches {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            let mut line = _mm512_setzero_si512();
            for k in 0..COUNT {
                let bytes = _mm512_loadu_si512(source.wrapping_offset((*pick).from as isize).cast());
                line = _mm512_mask_permutexvar_epi8(line, taken[k], pattern[k], bytes);
                pick = pick.add(1);
            }
            put::<STREAM>(line, destination.wrapping_offset((*window).to), mask);
            window = window.add(1);
        }
    }
}

/// Windows of four lanes: loads under masks bring each to its place without the one port that shuffles.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn lanes<const STREAM: bool>(call: &Call) {
    let Call { source, destination, next, fetches, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    for _ in 0..call.group.windows {
        // SAFETY: the caller's promise: 16 bytes can be read at each pick; else as in `alike`.
        unsafe {
            for _ in 0..fetches {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            let lane =
                |k: usize| _mm_loadu_si128(source.wrapping_offset((*pick.add(k)).from as isize).cast());
            let line = _mm512_castsi128_si512(lane(0));
            let line = _mm512_mask_broadcast_i32x4(line, 0x00f0, lane(1));
            let line = _mm512_mask_broadcast_i32x4(line, 0x0f00, lane(2));
            let line = _mm512_mask_broadcast_i32x4(line, 0xf000, lane(3));
            put::<STREAM>(line, destination.wrapping_offset((*window).to), u64::MAX);
            (window, pick) = (window.add(1), pick.add(4));
        }
    }
}

/// Writes a window.
///
/// # Safety
/// What the mask has can be written; if stores go past the cache, that is a line.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn put<const STREAM: bool>(line: __m512i, to: *mut u8, mask: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        if STREAM {
            debug_assert!(to.addr().is_multiple_of(64) && mask == u64::MAX);
            _mm512_stream_si512(to.cast(), line);
        } else if mask == u64::MAX {
            _mm512_storeu_si512(to.cast(), line);
        } else {
            _mm512_mask_storeu_epi8(to.cast(), mask, line);
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
    unsafe { windows::<STREAM, true>(call) };
}

/// Windows with any patterns.
///
/// # Safety
/// As for [`super::PicksFn`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn windows<const STREAM: bool, const HALVES: bool>(call: &Call) {
    let Call { source, destination, patterns, next, fetches, group, .. } = *call;
    let (mut window, mut pick, mut fetch) = (call.window, call.pick, call.fetch);
    for _ in 0..group.windows {
        // SAFETY: the caller's promise: the lists are long enough, 64 bytes can be read at each pick, and what the mask has can
        // be written. What is fetched may lie anywhere.
        unsafe {
            for _ in 0..fetches {
                _mm_prefetch::<_MM_HINT_T0>(next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            let mut line = _mm512_setzero_si512();
            for _ in 0..group.count {
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
            put::<STREAM>(line, destination.wrapping_offset((*window).to), (*window).mask);
            window = window.add(1);
        }
    }
}
