//! A pass with lines of 32 bytes, half of a cache line: a register is one of them.

use std::arch::x86_64::*;

use super::super::carry::each;
use super::super::transpose::{Two, zipped};
use super::super::vector::prefetch;
use super::{Bytes, Calls, HALF, LANE, Pass, PassFn, SLOTS, Slots};

/// The most lines that are held: as many as a line has slots, one stage for each bit of their numbers.
const MOST: usize = 8;

/// The registers of a pass. What it has no lines for is never touched.
type Lines = [__m256i; MOST];

pub(super) fn pass(stages: usize) -> Option<PassFn> {
    Some(match stages {
        0 => run::<0>,
        1 => run::<1>,
        2 => run::<2>,
        3 => run::<3>,
        _ => return None,
    })
}

/// The kernel for squares of half a line by half a line of elements of `size` bytes, if there is one; the pass is not looked at.
pub(super) fn square(size: usize) -> Option<PassFn> {
    Some(match size {
        4 => squares::<4>,
        8 => squares::<8>,
        16 => squares::<16>,
        _ => return None,
    })
}

/// # Safety
/// As for [`PassFn`].
#[target_feature(enable = "avx2")]
unsafe fn run<const K: usize>(pass: &Pass, calls: &Calls) {
    debug_assert!(pass.count == K);
    let permutes = |lines: &mut [__m256i]| {
        permute(&pass.before, lines);
        stage::<K, 0>(&pass.stages[0], lines);
        stage::<K, 1>(&pass.stages[1], lines);
        stage::<K, 2>(&pass.stages[2], lines);
        permute(&pass.after, lines);
    };
    // SAFETY: the caller's promise.
    unsafe {
        match K {
            0 if calls.count >= 4 => lines::<1, 4>(calls, permutes),
            1 if calls.count >= 2 => lines::<2, 2>(calls, permutes),
            0 => lines::<1, 1>(calls, permutes),
            1 => lines::<2, 1>(calls, permutes),
            2 => lines::<4, 1>(calls, permutes),
            _ => lines::<8, 1>(calls, permutes),
        }
    }
}

/// Zips are half of what stages cost.
///
/// # Safety
/// As for [`PassFn`], with as many lines as half a line has elements.
#[target_feature(enable = "avx2")]
unsafe fn squares<const SIZE: usize>(_: &Pass, calls: &Calls) {
    let permutes = |lines: &mut [__m256i]| {
        let mut vectors = [Two(_mm256_setzero_si256()); LANE];
        each!(0 1 2 3 4 5 6 7, r < HALF / SIZE, {
            vectors[r] = Two(lines[r]);
        });
        // SAFETY: the instructions are here.
        unsafe { zipped::<Two, SIZE, 2>(&mut vectors) };
        each!(0 1 2 3 4 5 6 7, r < HALF / SIZE, {
            lines[r] = vectors[r].0;
        });
    };
    // SAFETY: the caller's promise.
    unsafe {
        match SIZE {
            4 => lines::<8, 1>(calls, permutes),
            8 => lines::<4, 1>(calls, permutes),
            _ => lines::<2, 1>(calls, permutes),
        }
    }
}

/// Does calls of `COUNT` lines, some of them at once.
///
/// # Safety
/// As for [`PassFn`], for `AT_ONCE` calls at least.
#[inline(always)]
unsafe fn lines<const COUNT: usize, const AT_ONCE: usize>(calls: &Calls, permutes: impl Fn(&mut [__m256i])) {
    // SAFETY: the caller's promise.
    unsafe {
        match calls.alike() {
            (true, true) => go::<COUNT, AT_ONCE, true>(calls, permutes),
            _ => go::<COUNT, AT_ONCE, false>(calls, permutes),
        }
    }
}

/// What is looked at for each call is a third of what few lines cost: so several calls are done at once, which are four lines.
///
/// # Safety
/// As for [`lines`]; `ALIKE` if the lines of all calls lie alike, on both sides.
#[inline(always)]
unsafe fn go<const COUNT: usize, const AT_ONCE: usize, const ALIKE: bool>(
    calls: &Calls,
    permutes: impl Fn(&mut [__m256i]),
) {
    // Taken out of memory: what is written might be the calls themselves, as far as the compiler can see.
    let &Calls { count, source, sources, from, from_step, .. } = calls;
    let &Calls { destination, destinations, to, to_step, to_stride, fetches, fetch, next, .. } = calls;
    let mut done = 0;
    while done < count {
        // The last ones may be some that were done before.
        let call = done.min(count - AT_ONCE);
        // SAFETY: the caller's promise: the lists are long enough, the lines are within the buffers, and each can be
        // written whole. What is fetched may lie anywhere.
        unsafe {
            let mut lines: Lines = [_mm256_setzero_si256(); MOST];
            each!(0 1 2 3, n < AT_ONCE, {
                let source = source.wrapping_offset(*sources.add(call + n));
                let from = if ALIKE { from } else { from.add((call + n) * from_step) };
                each!(0 1 2 3 4 5 6 7, r < COUNT, {
                    let from = source.wrapping_offset(*from.add(r));
                    lines[(n * COUNT + r) % MOST] = _mm256_loadu_si256(from.cast());
                });
            });
            if fetches > 0 {
                let fetch = fetch.add(call * fetches);
                for k in 0..AT_ONCE * fetches {
                    prefetch(next.wrapping_offset(*fetch.add(k)));
                }
            }
            permutes(&mut lines[..AT_ONCE * COUNT]);
            each!(0 1 2 3, n < AT_ONCE, {
                let destination = destination.wrapping_offset(*destinations.add(call + n));
                let to = if ALIKE { to } else { to.add((call + n) * to_step) };
                each!(0 1 2 3 4 5 6 7, r < COUNT, {
                    let to = to.add(if ALIKE { r } else { r * to_stride });
                    let to = destination.wrapping_offset(*to);
                    _mm256_storeu_si256(to.cast(), lines[(n * COUNT + r) % MOST]);
                });
            });
        }
        done += AT_ONCE;
    }
}

/// Stage J, if there are more than J.
#[inline]
#[target_feature(enable = "avx2")]
fn stage<const K: usize, const J: usize>(slots: &[Slots; 2], lines: &mut [__m256i]) {
    if J >= K {
        return;
    }
    // A permute looks at the number of the slot, and a blend at the highest bit: it is made of the line's.
    let [first, second] = [&slots[0], &slots[1]].map(|slots| {
        // SAFETY: eight of sixteen numbers.
        let slots = unsafe { _mm256_loadu_si256(slots.wide.as_ptr().cast()) };
        (slots, _mm256_slli_epi32::<{ 31 - SLOTS.trailing_zeros() as i32 }>(slots))
    });
    for pair in 0..lines.len() / 2 {
        // The number of the pair with a zero put in at bit J.
        let a = pair >> J << (J + 1) | pair & ((1 << J) - 1);
        let b = a | 1 << J;
        let (x, y) = (lines[a], lines[b]);
        let permuted = |(slots, line): (__m256i, __m256i)| {
            let (x, y) = (_mm256_permutevar8x32_epi32(x, slots), _mm256_permutevar8x32_epi32(y, slots));
            let [x, y, line] = [x, y, line].map(|of| _mm256_castsi256_ps(of));
            _mm256_castps_si256(_mm256_blendv_ps(x, y, line))
        };
        (lines[a], lines[b]) = (permuted(first), permuted(second));
    }
}

/// A shuffle finds bytes in its own half: what comes from the other one is found after halves changed places.
#[inline]
#[target_feature(enable = "avx2")]
fn permute(bytes: &Option<Bytes>, lines: &mut [__m256i]) {
    if let Some(bytes) = bytes {
        // SAFETY: half of the bytes.
        let bytes = unsafe { _mm256_loadu_si256(bytes.0.as_ptr().cast()) };
        let half = _mm256_set_m128i(_mm_set1_epi8(LANE as i8), _mm_setzero_si128());
        let from = _mm256_xor_si256(bytes, half);
        // It takes zero where the highest bit is set.
        let same = _mm256_add_epi8(from, _mm256_set1_epi8(0x70));
        let other = _mm256_sub_epi8(from, _mm256_set1_epi8(LANE as i8));
        for line in lines {
            let turned = _mm256_permute4x64_epi64::<0b01_00_11_10>(*line);
            *line = _mm256_or_si256(_mm256_shuffle_epi8(*line, same), _mm256_shuffle_epi8(turned, other));
        }
    }
}
