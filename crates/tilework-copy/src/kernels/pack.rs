//! Several runs at once: with steps this short, a register holds a handful of runs, and one permute moves them all.
//!
//! The table is made when the kernel is called, from the steps, so that it serves pixels of 3 bytes out of 4, slices with
//! a step, scatters and backward axes alike. Loads and stores are masked: no byte between the runs is touched.

use super::runs::Runs;
use std::arch::x86_64::*;

/// Bytes of a register.
const WIDTH: usize = 64;

/// # Safety
///
/// As for [`super::runs::RunsFn`], with a length of 1 to 63.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn runs(runs: &Runs) {
    let together = runs
        .count
        .min(fitting(runs.source_step.unsigned_abs(), runs.length))
        .min(fitting(runs.destination_step.unsigned_abs(), runs.length));
    // Making the table costs about a cycle a byte.
    if together < 2 || runs.count < 16 {
        // SAFETY: the caller's.
        return unsafe { one_by_one(runs) };
    }
    let mut table = [0u8; WIDTH];
    let (mut read, mut written) = (0u64, 0u64);
    for run in 0..together {
        let from = place(runs.source_step, run, together);
        let to = place(runs.destination_step, run, together);
        for byte in 0..runs.length {
            table[to + byte] = (from + byte) as u8;
            read |= 1 << (from + byte);
            written |= 1 << (to + byte);
        }
    }
    // The lowest byte of a register's worth of runs lies here from its first run.
    let source_low = runs.source_step.min(0) * (together as isize - 1);
    let destination_low = runs.destination_step.min(0) * (together as isize - 1);
    let mut done = 0;
    // SAFETY: every register's worth is `together` of the runs, of which there are at least as many; the last ones
    // overlap. A masked move touches the bytes under the mask and no other: here, those of the runs.
    unsafe {
        let table = _mm512_loadu_si512(table.as_ptr().cast());
        while done < runs.count {
            let first = done.min(runs.count - together) as isize;
            let source = runs.source.wrapping_offset(first * runs.source_step + source_low);
            let destination =
                runs.destination.wrapping_offset(first * runs.destination_step + destination_low);
            let bytes = _mm512_maskz_loadu_epi8(read, source.cast());
            _mm512_mask_storeu_epi8(destination.cast(), written, _mm512_permutexvar_epi8(table, bytes));
            done += together;
        }
    }
}

/// Runs at this distance that fit a register.
fn fitting(step: usize, length: usize) -> usize {
    if step == 0 { WIDTH / length } else { 1 + (WIDTH - length) / step }
}

/// Where run `run` of `together` lies from the lowest byte of all.
fn place(step: isize, run: usize, together: usize) -> usize {
    if step < 0 { (together - 1 - run) * step.unsigned_abs() } else { run * step.unsigned_abs() }
}

/// # Safety
///
/// As for [`runs`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn one_by_one(runs: &Runs) {
    let (mut source, mut destination) = (runs.source, runs.destination);
    let mask = (1u64 << runs.length) - 1;
    for _ in 0..runs.count {
        // SAFETY: a masked move touches the bytes under the mask and no other.
        unsafe {
            let run = _mm512_maskz_loadu_epi8(mask, source.cast());
            _mm512_mask_storeu_epi8(destination.cast(), mask, run);
        }
        source = source.wrapping_offset(runs.source_step);
        destination = destination.wrapping_offset(runs.destination_step);
    }
}
