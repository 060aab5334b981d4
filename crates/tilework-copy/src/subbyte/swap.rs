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
            #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
            fn avx512(rows: &mut [Row]) {
                rounds::<$bits, $word>(rows)
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
