//! Every K-th element, gathered into whole registers (AVX-512), forwards or backwards; K = 1 backwards is a reversed row.
//!
//! A register of the destination takes 64 / K bytes from each of K registers of the source. Loaded so that the wanted
//! elements of all K stand in different slots, they merge under masks, and one permute puts them in order. For odd K
//! they stand so by themselves; for a power of two, load q is moved back by q elements. The masks also keep the loads
//! from touching a byte that is not wanted, so nothing is read beyond the last element.

use super::strided::Line;
use std::arch::x86_64::*;

/// The constants for one size and one step.
struct Stepped<const SIZE: usize, const K: usize, const BACK: bool>;

#[repr(align(64))]
struct Table([u8; 64]);

impl<const SIZE: usize, const K: usize, const BACK: bool> Stepped<SIZE, K, BACK> {
    /// Elements in a register.
    const ELEMENTS: usize = 64 / SIZE;

    /// How many elements before its 64 bytes load `load` begins.
    const fn moved_back(load: usize) -> usize {
        if K % 2 == 1 { 0 } else { load }
    }

    /// The number of the wanted element in slot `slot` of load `load`, or none.
    const fn wanted(load: usize, slot: usize) -> Option<usize> {
        let element = load * Self::ELEMENTS + slot;
        let moved = Self::moved_back(load);
        if slot >= moved && (element - moved).is_multiple_of(K) { Some((element - moved) / K) } else { None }
    }

    const MASKS: [u64; 4] = Self::masks();

    const fn masks() -> [u64; 4] {
        let mut masks = [0; 4];
        let mut i = 0;
        while i < K * 64 {
            if Self::wanted(i / 64, i % 64 / SIZE).is_some() {
                masks[i / 64] |= 1 << (i % 64);
            }
            i += 1;
        }
        masks
    }

    const TABLE: &'static Table = &Self::table();

    const fn table() -> Table {
        let mut table = [0; 64];
        let mut i = 0;
        while i < K * 64 {
            if let Some(element) = Self::wanted(i / 64, i % 64 / SIZE) {
                let to = if BACK { Self::ELEMENTS - 1 - element } else { element };
                table[to * SIZE + i % SIZE] = (i % 64) as u8;
            }
            i += 1;
        }
        Table(table)
    }
}

/// Gathers: the source's step is K elements, backwards if BACK; the destination's one.
///
/// # Safety
///
/// As for [`super::strided::LineFn`], with these steps.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn gather<const SIZE: usize, const K: usize, const BACK: bool>(line: &Line) {
    let elements = Stepped::<SIZE, K, BACK>::ELEMENTS;
    let masks = Stepped::<SIZE, K, BACK>::MASKS;
    debug_assert!(line.source_step.unsigned_abs() == K * SIZE && (line.source_step < 0) == BACK);
    debug_assert!(line.destination_step == SIZE as isize);
    if line.count < elements {
        // SAFETY: the caller's.
        return unsafe { super::strided::one_by_one::<SIZE>(line) };
    }
    // SAFETY: each pass takes `elements` elements of the line, and the last ones overlap. The masks name only bytes of
    // these elements: load q begins where the elements from q * 64 / SIZE on stand in the slots that `wanted` says.
    unsafe {
        let table = _mm512_load_si512(Stepped::<SIZE, K, BACK>::TABLE.0.as_ptr().cast());
        let mut done = 0;
        while done < line.count {
            let first = done.min(line.count - elements);
            // The element that is lowest in memory.
            let lowest = if BACK { first + elements - 1 } else { first };
            let source = line.source.wrapping_offset(lowest as isize * line.source_step);
            let mut merged = _mm512_maskz_loadu_epi8(masks[0], source.cast());
            for (load, &mask) in masks.iter().enumerate().take(K).skip(1) {
                let from = source.wrapping_add(load * 64 - Stepped::<SIZE, K, BACK>::moved_back(load) * SIZE);
                merged = _mm512_mask_loadu_epi8(merged, mask, from.cast());
            }
            let ordered = _mm512_permutexvar_epi8(table, merged);
            _mm512_storeu_si512(line.destination.add(first * SIZE).cast(), ordered);
            done += elements;
        }
    }
}
