//! Several runs at once: with steps this short, a register holds a handful of runs, and one permute moves them all.
//!
//! The table is made from the steps when the kernel is called, once for all times, so that it serves pixels of 3 bytes out
//! of 4, slices with a step, scatters and backward axes alike. Loads and stores are masked: no byte between the runs is
//! touched.

use super::runs::Runs;
use std::arch::x86_64::*;

/// Bytes of a register.
const WIDTH: usize = 64;

/// # Safety
///
/// As for [`super::runs::RunsFn`], with a length of 1 to 63.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn runs(runs: &Runs) {
    debug_assert!(runs.are_apart() && (1..64).contains(&runs.length));
    let together = runs
        .count
        .min(fitting(runs.source_step.unsigned_abs(), runs.length))
        .min(fitting(runs.destination_step.unsigned_abs(), runs.length));
    // Making the table costs about a cycle a byte.
    if together < 2 || runs.count * runs.times < 16 {
        // SAFETY: the caller's.
        return unsafe { one_by_one(runs) };
    }
    let (written, table) = table(runs, runs.destination_step, runs.source_step, together);
    let (read, _) = self::table(runs, runs.source_step, runs.destination_step, together);
    // The lowest byte of a register's worth of runs lies here from its first run.
    let source_low = runs.source_step.min(0) * (together as isize - 1);
    let destination_low = runs.destination_step.min(0) * (together as isize - 1);
    let mut runs = *runs;
    for _ in 0..runs.times {
        let mut done = 0;
        // SAFETY: every register's worth is `together` of the runs, and there are at least as many; the last ones
        // overlap. A masked move touches the bytes under the mask and no other: here, those of the runs.
        unsafe {
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
        runs.advance();
    }
}

/// Runs at this distance that fit a register.
fn fitting(step: usize, length: usize) -> usize {
    (WIDTH - length).checked_div(step).map_or(WIDTH / length, |more| 1 + more)
}

/// For a register's worth of `together` runs at the step `to`: which of its bytes belong to a run, and where the same
/// bytes are in a register's worth at the step `from`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn table(runs: &Runs, to: isize, from: isize, together: usize) -> (u64, __m512i) {
    // Steps of 64 bytes and more do not get here (`together` would be 1), but steps of 0 do: then all is in run 0.
    let (to_step, from_step) = (to.unsigned_abs() as i16, from.unsigned_abs() as i16);
    // byte / step = byte * (4096 / step + 1) / 4096, exactly, for bytes and steps below 64.
    let inverse = 4096_i16.checked_div(to_step).map_or(0, |whole| whole + 1);
    let last = _mm512_set1_epi16(together as i16 - 1);
    let half = |byte: __m512i| {
        let run = _mm512_mulhi_epu16(_mm512_slli_epi16::<4>(byte), _mm512_set1_epi16(inverse));
        let run = _mm512_min_epu16(run, last);
        let within = _mm512_sub_epi16(byte, _mm512_mullo_epi16(run, _mm512_set1_epi16(to_step)));
        let taken = _mm512_cmplt_epu16_mask(within, _mm512_set1_epi16(runs.length as i16));
        let there = if (to < 0) != (from < 0) { _mm512_sub_epi16(last, run) } else { run };
        let there = _mm512_add_epi16(_mm512_mullo_epi16(there, _mm512_set1_epi16(from_step)), within);
        (u64::from(taken), _mm512_cvtepi16_epi8(there))
    };
    let low = _mm512_cvtepu8_epi16(_mm256_setr_epi64x(
        0x0706_0504_0302_0100,
        0x0f0e_0d0c_0b0a_0908,
        0x1716_1514_1312_1110,
        0x1f1e_1d1c_1b1a_1918,
    ));
    let (taken_low, table_low) = half(low);
    let (taken_high, table_high) = half(_mm512_add_epi16(low, _mm512_set1_epi16(32)));
    let table = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(table_low), table_high);
    (taken_low | taken_high << 32, table)
}

/// # Safety
///
/// As for [`runs`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn one_by_one(runs: &Runs) {
    debug_assert!(runs.are_apart() && (1..64).contains(&runs.length));
    let mut runs = *runs;
    let mask = (1u64 << runs.length) - 1;
    for _ in 0..runs.times {
        let (mut source, mut destination) = (runs.source, runs.destination);
        for _ in 0..runs.count {
            // SAFETY: a masked move touches the bytes under the mask and no other.
            unsafe {
                let run = _mm512_maskz_loadu_epi8(mask, source.cast());
                _mm512_mask_storeu_epi8(destination.cast(), mask, run);
            }
            source = source.wrapping_offset(runs.source_step);
            destination = destination.wrapping_offset(runs.destination_step);
        }
        runs.advance();
    }
}
