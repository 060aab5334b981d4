//! A pass with registers of a line.

use std::arch::x86_64::*;

use super::{Bytes, Calls, Pass, PassFn, STAGES, Slots};

/// The registers of a pass. What it has no lines for is never touched.
type Lines = [__m512i; 1 << STAGES];

pub(super) fn pass(stages: usize, streams: bool) -> Option<PassFn> {
    Some(match (stages, streams) {
        (0, false) => run::<0, false>,
        (1, false) => run::<1, false>,
        (2, false) => run::<2, false>,
        (3, false) => run::<3, false>,
        (4, false) => run::<4, false>,
        (0, true) => run::<0, true>,
        (1, true) => run::<1, true>,
        (2, true) => run::<2, true>,
        (3, true) => run::<3, true>,
        (4, true) => run::<4, true>,
        _ => return None,
    })
}

/// # Safety
/// As for [`PassFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn run<const K: usize, const STREAM: bool>(pass: &Pass, calls: &Calls) {
    debug_assert!(pass.count == K);
    let mut fetch = calls.fetch;
    for call in 0..calls.count {
        // SAFETY: the caller's promise: the lists are long enough, the lines are within the buffers, and each can be
        // written whole. What is fetched may lie anywhere.
        unsafe {
            let source = calls.source.wrapping_offset(*calls.sources.add(call));
            let from = calls.from.add(call * calls.from_step);
            let mut lines: Lines = [_mm512_setzero_si512(); 1 << STAGES];
            for (r, line) in lines[..1 << K].iter_mut().enumerate() {
                *line = _mm512_loadu_si512(source.wrapping_offset(*from.add(r)).cast());
            }
            for _ in 0..calls.fetches {
                _mm_prefetch::<_MM_HINT_T0>(calls.next.wrapping_offset(*fetch).cast());
                fetch = fetch.add(1);
            }
            permute::<K>(&pass.before, &mut lines);
            stage::<K, 0>(&pass.stages[0], &mut lines);
            stage::<K, 1>(&pass.stages[1], &mut lines);
            stage::<K, 2>(&pass.stages[2], &mut lines);
            stage::<K, 3>(&pass.stages[3], &mut lines);
            permute::<K>(&pass.after, &mut lines);
            let destination = calls.destination.wrapping_offset(*calls.destinations.add(call));
            let to = calls.to.add(call * calls.to_step);
            for (r, &line) in lines[..1 << K].iter().enumerate() {
                let to = destination.wrapping_offset(*to.add(r * calls.to_stride));
                if STREAM {
                    debug_assert!(to.addr().is_multiple_of(64));
                    _mm512_stream_si512(to.cast(), line);
                } else {
                    _mm512_storeu_si512(to.cast(), line);
                }
            }
        }
    }
}

/// Stage J, if there are more than J.
#[inline]
#[target_feature(enable = "avx512f")]
fn stage<const K: usize, const J: usize>(slots: &[Slots; 2], lines: &mut Lines) {
    if J >= K {
        return;
    }
    // SAFETY: slots are a register's worth of memory, and aligned as one.
    let [first, second] = unsafe {
        [_mm512_load_si512(slots[0].wide.as_ptr().cast()), _mm512_load_si512(slots[1].wide.as_ptr().cast())]
    };
    for pair in 0..1 << (K - 1) {
        // The number of the pair with a zero put in at bit J.
        let a = pair >> J << (J + 1) | pair & ((1 << J) - 1);
        let b = a | 1 << J;
        let (x, y) = (lines[a], lines[b]);
        lines[a] = _mm512_permutex2var_epi32(x, first, y);
        lines[b] = _mm512_permutex2var_epi32(x, second, y);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn permute<const K: usize>(bytes: &Option<Bytes>, lines: &mut Lines) {
    if let Some(bytes) = bytes {
        // SAFETY: a line of memory, and aligned as one.
        let bytes = unsafe { _mm512_load_si512(bytes.0.as_ptr().cast()) };
        for line in &mut lines[..1 << K] {
            *line = _mm512_permutexvar_epi8(bytes, *line);
        }
    }
}
