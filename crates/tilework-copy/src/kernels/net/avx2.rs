//! A pass with lines of 16 bytes: a register holds those of two calls, which are done at the same time.

use std::arch::x86_64::*;

use super::super::carry::each;
use super::super::transpose::{Two, zipped};
use super::super::vector::prefetch;

use super::{Bytes, Calls, LANE, Pass, PassFn, STAGES, Slots};

/// The registers of a pass. What it has no lines for is never touched.
type Lines = [__m256i; 1 << STAGES];

pub(super) fn pass(stages: usize) -> Option<PassFn> {
    Some(match stages {
        0 => run::<0>,
        1 => run::<1>,
        2 => run::<2>,
        3 => run::<3>,
        4 => run::<4>,
        _ => return None,
    })
}

/// The kernel for squares of a short line by a short line of elements of `size` bytes, if there is one; the pass is not looked at.
pub(super) fn square(size: usize) -> Option<PassFn> {
    Some(match size {
        1 => squares::<1>,
        2 => squares::<2>,
        4 => squares::<4>,
        8 => squares::<8>,
        _ => return None,
    })
}

/// # Safety
/// As for [`PassFn`].
#[target_feature(enable = "avx2")]
unsafe fn run<const K: usize>(pass: &Pass, calls: &Calls) {
    debug_assert!(pass.count == K && pass.before.is_none());
    // SAFETY: the caller's promise.
    unsafe {
        pairs(calls, 1 << K, |lines| {
            stage::<K, 0>(&pass.stages[0], lines);
            stage::<K, 1>(&pass.stages[1], lines);
            stage::<K, 2>(&pass.stages[2], lines);
            stage::<K, 3>(&pass.stages[3], lines);
            permute::<K>(&pass.after, lines);
        });
    }
}

/// Zips are a third of what stages cost.
///
/// # Safety
/// As for [`PassFn`], with as many lines as a short one has elements.
#[target_feature(enable = "avx2")]
unsafe fn squares<const SIZE: usize>(_: &Pass, calls: &Calls) {
    // SAFETY: the caller's promise.
    unsafe {
        pairs(calls, LANE / SIZE, |lines| {
            let mut vectors = lines.map(Two);
            zipped::<Two, SIZE, 1>(&mut vectors);
            *lines = vectors.map(|vector| vector.0);
        });
    }
}

/// Does two calls at a time, each of `count` lines.
///
/// # Safety
/// As for [`PassFn`].
#[inline(always)]
unsafe fn pairs(calls: &Calls, count: usize, permutes: impl Fn(&mut Lines)) {
    // SAFETY: the caller's promise.
    unsafe {
        match calls.alike() {
            (true, true) => go::<true, true>(calls, count, permutes),
            (true, false) => go::<true, false>(calls, count, permutes),
            (false, true) => go::<false, true>(calls, count, permutes),
            (false, false) => go::<false, false>(calls, count, permutes),
        }
    }
}

/// # Safety
/// As for [`PassFn`]. The lines of all calls lie alike in the source if `FROM`, and in the destination if `TO`: then their places
/// are looked up once for two of them.
#[inline(always)]
unsafe fn go<const FROM: bool, const TO: bool>(calls: &Calls, count: usize, permutes: impl Fn(&mut Lines)) {
    // Taken out of memory: what is written might be the calls themselves, as far as the compiler can see.
    let &Calls { mut sources, mut destinations, mut from, mut to, mut fetch, count: mut left, .. } = calls;
    let &Calls { from_step, to_step, to_stride, fetches, next, .. } = calls;
    while left > 0 {
        // Of an odd number of calls, the last one is done twice.
        let second = usize::from(left > 1);
        // SAFETY: the caller's promise: the lists are long enough, the lines are within the buffers, and each can be
        // written whole. What is fetched may lie anywhere.
        unsafe {
            let source = [0, second].map(|call| calls.source.wrapping_offset(*sources.add(call)));
            let other = if FROM { from } else { from.add(second * from_step) };
            let mut lines: Lines = [_mm256_setzero_si256(); 1 << STAGES];
            each!(r < count, {
                let low = _mm_loadu_si128(source[0].wrapping_offset(*from.add(r)).cast());
                let high = _mm_loadu_si128(source[1].wrapping_offset(*other.add(r)).cast());
                lines[r] = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
            });
            for _ in 0..fetches << second {
                prefetch(next.wrapping_offset(*fetch));
                fetch = fetch.add(1);
            }
            permutes(&mut lines);
            let destination =
                [0, second].map(|call| calls.destination.wrapping_offset(*destinations.add(call)));
            let others = if TO { to } else { to.add(second * to_step) };
            each!(r < count, {
                let line = lines[r];
                let r = if TO { r } else { r * to_stride };
                let low = destination[0].wrapping_offset(*to.add(r));
                let high = destination[1].wrapping_offset(*others.add(r));
                _mm_storeu_si128(low.cast(), _mm256_castsi256_si128(line));
                _mm_storeu_si128(high.cast(), _mm256_extracti128_si256::<1>(line));
            });
        }
        (sources, destinations) = (sources.wrapping_add(2), destinations.wrapping_add(2));
        if !FROM {
            from = from.wrapping_add(2 * from_step);
        }
        if !TO {
            to = to.wrapping_add(2 * to_step);
        }
        left -= 1 + second;
    }
}

/// Stage J, if there are more than J.
#[inline]
#[target_feature(enable = "avx2")]
fn stage<const K: usize, const J: usize>(slots: &[Slots; 2], lines: &mut Lines) {
    if J >= K {
        return;
    }
    let [first, second] = [&slots[0], &slots[1]].map(|slots| {
        let slots = twice(&slots.narrow);
        // A shuffle takes zero where the highest bit is set: for the one line at numbers of the other's slots.
        (_mm256_add_epi8(slots, _mm256_set1_epi8(0x70)), _mm256_sub_epi8(slots, _mm256_set1_epi8(LANE as i8)))
    });
    for pair in 0..1 << (K - 1) {
        // The number of the pair with a zero put in at bit J.
        let a = pair >> J << (J + 1) | pair & ((1 << J) - 1);
        let b = a | 1 << J;
        let (x, y) = (lines[a], lines[b]);
        let permuted = |by: (__m256i, __m256i)| {
            _mm256_or_si256(_mm256_shuffle_epi8(x, by.0), _mm256_shuffle_epi8(y, by.1))
        };
        (lines[a], lines[b]) = (permuted(first), permuted(second));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn permute<const K: usize>(bytes: &Option<Bytes>, lines: &mut Lines) {
    if let Some(bytes) = bytes {
        let bytes = twice(bytes.0.first_chunk().unwrap_or(&[0; LANE]));
        for line in &mut lines[..1 << K] {
            *line = _mm256_shuffle_epi8(*line, bytes);
        }
    }
}

/// The same bytes in both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(bytes: &[u8; LANE]) -> __m256i {
    // SAFETY: so many bytes of memory.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}
