//! The exchange of elements within the words of a group of rows.
//!
//! With 4 bits and words of a byte, two elements fit into a word. Exchanging the high half of each byte of row `a` with
//! the low half of the same byte of row `b` gives two rows of other bytes:
//!
//! ```text
//! a   a0 a1 | a2 a3 | …        even columns   a0 b0 | a2 b2 | …
//! b   b0 b1 | b2 b3 | …        odd columns    a1 b1 | a3 b3 | …
//! ```
//!
//! Each of these bytes is a whole byte of the transposed matrix. With n elements in a word it is n rows and log₂ n rounds:
//! the round that exchanges pieces of `by` bits does so between rows whose numbers differ by `by` elements.

use crate::kernels::InstructionSet;

/// Exchanges elements within the words of a group of rows; the rows, as many as elements fit into a word, lie one after
/// the other. Row k becomes the words of all columns that are k more than a multiple of the rows.
///
/// # Safety
/// The processor has the instructions that the kernel was compiled for.
pub(super) type Swap = unsafe fn(&mut [Row]);

/// A row of a block: a whole cache line.
pub(super) type Row = [u8; WIDTH];

/// Bytes of a row.
pub(super) const WIDTH: usize = 64;

/// The exchange for elements of 1, 2 or 4 bits in words of one or four bytes.
pub(super) fn swap(set: InstructionSet, bits: u32, word: usize) -> Swap {
    match (bits, word) {
        (1, 1) => bits_in_bytes(set),
        (2, 1) => pairs_in_bytes(set),
        (4, 1) => nibbles_in_bytes(set),
        (1, _) => bits_in_words(set),
        (2, _) => pairs_in_words(set),
        (_, _) => nibbles_in_words(set),
    }
}

/// A function that gives the exchange for each set of instructions.
macro_rules! swap {
    ($name:ident, $bits:literal, $word:literal) => {
        fn $name(set: InstructionSet) -> Swap {
            fn portable(rows: &mut [Row]) {
                rounds::<$bits, $word>(rows)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2(rows: &mut [Row]) {
                rounds::<$bits, $word>(rows)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            fn avx512(rows: &mut [Row]) {
                in_registers::<$bits, { $word / $bits }>(rows)
            }
            match set {
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx512 => avx512,
                #[cfg(target_arch = "x86_64")]
                InstructionSet::Avx2 => avx2,
                _ => portable,
            }
        }
    };
}

swap!(bits_in_bytes, 1, 8);
swap!(pairs_in_bytes, 2, 8);
swap!(nibbles_in_bytes, 4, 8);
swap!(bits_in_words, 1, 32);
swap!(pairs_in_words, 2, 32);
swap!(nibbles_in_words, 4, 32);

/// All rounds for elements of `BITS` bits in words of `WORD` bits.
#[inline(always)]
fn rounds<const BITS: usize, const WORD: usize>(rows: &mut [Row]) {
    round::<BITS, WORD, 16>(rows);
    round::<BITS, WORD, 8>(rows);
    round::<BITS, WORD, 4>(rows);
    round::<BITS, WORD, 2>(rows);
    round::<BITS, WORD, 1>(rows);
}

/// The round that exchanges pieces of `BY` bits, if there is one.
#[inline(always)]
fn round<const BITS: usize, const WORD: usize, const BY: usize>(rows: &mut [Row]) {
    if BY < BITS || BY >= WORD {
        return;
    }
    // Every other piece of BY bits, from the lowest.
    let low = u64::MAX / ((1 << BY) + 1);
    let distance = BY / BITS;
    for group in rows.chunks_exact_mut(2 * distance) {
        let (first, second) = group.split_at_mut(distance);
        for (first, second) in first.iter_mut().zip(second) {
            for (a, b) in first.as_chunks_mut::<8>().0.iter_mut().zip(second.as_chunks_mut::<8>().0) {
                let (x, y) = (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
                let differs = (x >> BY ^ y) & low;
                *a = (x ^ differs << BY).to_le_bytes();
                *b = (y ^ differs).to_le_bytes();
            }
        }
    }
}

/// The same with all rows of a group in registers.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn in_registers<const BITS: usize, const ROWS: usize>(rows: &mut [Row]) {
    use std::arch::x86_64::*;
    let (groups, _) = rows.as_chunks_mut::<ROWS>();
    for group in groups {
        let mut vectors = [_mm512_setzero_si512(); ROWS];
        for (vector, row) in vectors.iter_mut().zip(&*group) {
            // SAFETY: a row has 64 bytes.
            *vector = unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
        }
        for by in [16, 8, 4, 2, 1] {
            let distance = by / BITS;
            if distance == 0 || distance >= ROWS {
                continue;
            }
            let low = _mm512_set1_epi64((u64::MAX / ((1 << by) + 1)) as i64);
            let count = _mm_cvtsi64_si128(by as i64);
            for k in (0..ROWS).filter(|k| k & distance == 0) {
                let (a, b) = (vectors[k], vectors[k + distance]);
                // (x ^ y) & low, as the truth table of three operands.
                let differs = _mm512_ternarylogic_epi64::<0x28>(_mm512_srl_epi64(a, count), b, low);
                vectors[k] = _mm512_xor_si512(a, _mm512_sll_epi64(differs, count));
                vectors[k + distance] = _mm512_xor_si512(b, differs);
            }
        }
        for (vector, row) in vectors.iter().zip(group) {
            // SAFETY: a row has 64 bytes.
            unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), *vector) };
        }
    }
}
