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
    let (written, table) = table(runs, runs.destination_step, runs.source_step, together);
    let (read, _) = self::table(runs, runs.source_step, runs.destination_step, together);
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

/// For a register's worth of `together` runs at the step `to`: which of its bytes belong to a run, and where the same
/// bytes are in a register's worth at the step `from`.
///
/// The loop is over bytes and free of branches, so that the compiler makes vectors of it: it is run in every call.
#[inline(always)]
fn table(runs: &Runs, to: isize, from: isize, together: usize) -> (u64, [u8; WIDTH]) {
    // Steps of 64 bytes and more do not get here (`together` would be 1), but steps of 0 do: then all is in run 0.
    let (length, together) = (runs.length as u32, together as u32);
    let (to_step, from_step) = (to.unsigned_abs() as u32, from.unsigned_abs() as u32);
    // byte / step = byte * (4096 / step + 1) / 4096, exactly, for bytes and steps below 64.
    let inverse = if to_step == 0 { 0 } else { 4096 / to_step + 1 };
    let turned = (to < 0) != (from < 0);
    let mut table = [0; WIDTH];
    let mut taken = [false; WIDTH];
    for byte in 0..WIDTH as u32 {
        let run = (byte * inverse >> 12).min(together - 1);
        let within = byte.wrapping_sub(run * to_step);
        let there = if turned { together - 1 - run } else { run };
        taken[byte as usize] = within < length;
        table[byte as usize] = there.wrapping_mul(from_step).wrapping_add(within) as u8;
    }
    let mut mask = 0;
    for (byte, &taken) in taken.iter().enumerate() {
        mask |= u64::from(taken) << byte;
    }
    (mask, table)
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
