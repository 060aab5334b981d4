//! Deinterleaving into rows that begin anywhere, with stores that are whole lines (AVX-512).
//!
//! Stores that straddle lines halve the speed once the rows leave the first cache, and streaming stores cannot straddle.
//! So each row's registers are turned by as many bytes as the row is off a line, which the permute that a row needs
//! anyway does at no cost, and a line is put together from the end of one register and the beginning of the next.

use super::Zip;
use super::avx512::Avx512;
use super::network::{Network, read, unzipped};
use super::vector::Table;
use std::arch::x86_64::*;

/// 0, 1, … 63.
static COUNTING: Table = {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = i as u8;
        i += 1;
    }
    Table(table)
};

/// Deinterleaves `zip.count` elements of each row, at least a block's; whole lines are streamed if `STREAM`. A last block
/// that is not whole is left to the caller: the number of elements done is returned.
///
/// # Safety
///
/// As for [`super::ZipFn`], with such a count.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn deinterleave<const SIZE: usize, const WAYS: usize, const STREAM: bool>(
    zip: &Zip,
) -> usize {
    let n = Network::<Avx512, SIZE, WAYS>::WIDTH;
    let block = 64 / SIZE;
    // SAFETY: `done` counts whole blocks within the rows. A row's byte j stands in its line at (shift + j) mod 64; the
    // first and the last line of a row are stored under a mask of its own bytes, all others are its own.
    unsafe {
        let counting = _mm512_load_si512(COUNTING.0.as_ptr().cast());
        let mut tables = [_mm512_setzero_si512(); WAYS];
        // All ones in the bytes of a line that belong to the register before.
        let mut earlier = [_mm512_setzero_si512(); WAYS];
        let mut left = [_mm512_setzero_si512(); WAYS];
        let mut lines = [zip.destination; WAYS];
        // Rows that begin a line have no head and leave nothing.
        let mut begins = [false; WAYS];
        for row in 0..WAYS {
            let to = zip.destination.wrapping_offset(row as isize * zip.stride);
            let shift = to as usize % 64;
            lines[row] = to.wrapping_sub(shift);
            begins[row] = shift == 0;
            let shift = _mm512_set1_epi8(shift as i8);
            let table =
                _mm512_load_si512(Network::<Avx512, SIZE, WAYS>::ROWS_BACK[row % n].0.as_ptr().cast());
            tables[row] = _mm512_permutexvar_epi8(_mm512_sub_epi8(counting, shift), table);
            earlier[row] = _mm512_movm_epi8(_mm512_cmplt_epu8_mask(counting, shift));
        }
        let mut done = 0;
        while done + block <= zip.count {
            let zipped = read(zip.source.wrapping_add(done * (SIZE * WAYS)), zip.ahead);
            let x = unzipped::<Avx512, SIZE, WAYS>(zipped);
            for row in 0..WAYS {
                let turned = _mm512_permutexvar_epi8(tables[row], x[row].0);
                let line = lines[row].wrapping_add(done * SIZE);
                if begins[row] {
                    if STREAM {
                        _mm512_stream_si512(line.cast(), turned)
                    } else {
                        _mm512_store_si512(line.cast(), turned)
                    }
                } else if done == 0 {
                    _mm512_mask_storeu_epi8(line.cast(), !_mm512_movepi8_mask(earlier[row]), turned);
                } else {
                    // Where `earlier`, what was left; else what came.
                    let whole = _mm512_ternarylogic_epi64::<0xca>(earlier[row], left[row], turned);
                    if STREAM {
                        _mm512_stream_si512(line.cast(), whole)
                    } else {
                        _mm512_store_si512(line.cast(), whole)
                    }
                }
                left[row] = turned;
            }
            done += block;
        }
        for row in (0..WAYS).filter(|&row| !begins[row]) {
            let line = lines[row].wrapping_add(done * SIZE);
            _mm512_mask_storeu_epi8(line.cast(), _mm512_movepi8_mask(earlier[row]), left[row]);
        }
        done
    }
}
