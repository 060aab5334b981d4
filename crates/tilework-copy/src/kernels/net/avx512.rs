//! A pass with registers of a line.

use std::arch::x86_64::*;

use super::super::carry::{begin, each, joined, joined_over};
use super::super::vector::prefetch;
use super::{Bytes, Calls, Pass, PassFn, Put, STAGES, Slots};

/// The registers of a pass. What it has no lines for is never touched.
pub(super) type Lines = [__m512i; 1 << STAGES];

pub(super) fn pass(stages: usize, put: Put) -> Option<PassFn> {
    Some(match stages {
        0 => of::<0>(put),
        1 => of::<1>(put),
        2 => of::<2>(put),
        3 => of::<3>(put),
        4 => of::<4>(put),
        _ => return None,
    })
}

fn of<const K: usize>(put: Put) -> PassFn {
    match put {
        Put::Plain => run::<K, PLAIN>,
        Put::Stream => run::<K, STREAM>,
        Put::Carry => run::<K, CARRY>,
    }
}

/// The same as [`Put`], as compilers want it.
pub(super) const PLAIN: u8 = 0;
pub(super) const STREAM: u8 = 1;
pub(super) const CARRY: u8 = 2;

/// # Safety
/// As for [`PassFn`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn run<const K: usize, const PUT: u8>(pass: &Pass, calls: &Calls) {
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
                prefetch(calls.next.wrapping_offset(*fetch));
                fetch = fetch.add(1);
            }
            permute::<K>(&pass.before, &mut lines);
            stage::<K, 0>(&pass.stages[0], &mut lines);
            stage::<K, 1>(&pass.stages[1], &mut lines);
            stage::<K, 2>(&pass.stages[2], &mut lines);
            stage::<K, 3>(&pass.stages[3], &mut lines);
            permute::<K>(&pass.after, &mut lines);
            put::<K, PUT>(&lines, 0, call, calls);
        }
    }
}

/// Writes 2^K lines of a call, from the line `first` on.
///
/// # Safety
/// As for [`PassFn`].
#[inline(always)]
pub(super) unsafe fn put<const K: usize, const PUT: u8>(
    lines: &Lines,
    first: usize,
    call: usize,
    calls: &Calls,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if PUT == CARRY {
            return carry::<K>(lines, first, call, calls);
        }
        let destination = calls.destination.wrapping_offset(*calls.destinations.add(call));
        let to = calls.to.add(call * calls.to_step + first * calls.to_stride);
        each!(r < 1 << K, {
            let to = destination.wrapping_offset(*to.add(r * calls.to_stride));
            if PUT == STREAM {
                debug_assert!(to.addr().is_multiple_of(64));
                _mm512_stream_si512(to.cast(), lines[r]);
            } else {
                _mm512_storeu_si512(to.cast(), lines[r]);
            }
        });
    }
}

/// Goes on with the rows of the lines of a call.
///
/// # Safety
/// As for [`PassFn`].
#[inline(always)]
unsafe fn carry<const K: usize>(lines: &Lines, first: usize, call: usize, calls: &Calls) {
    let rows = &calls.carrying;
    // SAFETY: the caller's promise.
    unsafe {
        if rows.ends || rows.skip > 0 {
            // Another array, so that the lines themselves need not be in memory.
            let lines = *lines;
            return carry_ends(&lines[..1 << K], first, call, calls);
        }
        let destination = calls.destination.wrapping_offset(*calls.destinations.add(call));
        let first = call * calls.to_step + first * calls.to_stride;
        let (held, hold, to) = (rows.behind(call).lines, rows.hold.add(first), calls.to.add(first));
        each!(r < 1 << K, {
            let number = r * calls.to_stride;
            let hold = held.wrapping_offset(*hold.add(number));
            let before = _mm512_load_si512(hold.cast());
            _mm512_store_si512(hold.cast(), lines[r]);
            joined(before, lines[r], destination.wrapping_offset(*to.add(number)));
        });
    }
}

/// The same where rows begin or end, or some lines are left out.
///
/// # Safety
/// As for [`PassFn`].
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn carry_ends(lines: &[__m512i], first: usize, call: usize, calls: &Calls) {
    let rows = &calls.carrying;
    let held = rows.behind(call);
    for (r, &line) in lines.iter().enumerate() {
        let number = call * calls.to_step + (first + r) * calls.to_stride;
        if number < rows.skip {
            continue;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let destination = calls.destination.wrapping_offset(*calls.destinations.add(call));
            let hold = *rows.hold.add(number);
            let before = held.lines.wrapping_offset(hold);
            let to = destination.wrapping_offset(*calls.to.add(number));
            if held.begin && *rows.firsts.add(number) {
                begin(line, to, held.heads.wrapping_offset(hold));
            } else {
                joined_over(_mm512_load_si512(before.cast()), line, to, rows.over);
            }
            _mm512_store_si512(before.cast(), line);
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
