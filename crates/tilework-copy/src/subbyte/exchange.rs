//! The exchange of elements among rows, so that what stays together in the destination is whole bytes.
//!
//! With 4 bits, two elements fit into a byte. Exchanging the high half of each byte of row `a` with the low half of the same
//! byte of row `b` gives two rows of other bytes:
//!
//! ```text
//! a   a0 a1 | a2 a3 | …        even columns   a0 b0 | a2 b2 | …
//! b   b0 b1 | b2 b3 | …        odd columns    a1 b1 | a3 b3 | …
//! ```
//!
//! Each of these bytes is a whole byte of the transposed matrix. With n elements in a byte it is n rows and log₂ n rounds:
//! the round that exchanges pieces of `by` bits does so between rows whose numbers differ by `by` elements. Doing it twice
//! changes nothing.

use crate::kernels::InstructionSet;
use crate::kernels::vector::{LINE, Lines, Portable};

/// As many rows as elements fit into a byte, on both sides.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub(crate) source: *const u8,
    /// Bytes from one row to the next.
    pub(crate) source_apart: isize,
    pub(crate) destination: *mut u8,
    pub(crate) destination_apart: isize,
    /// Bytes of a row.
    pub(crate) bytes: usize,
}

/// Exchanges elements among the rows of a group. Row k becomes the bytes of all columns that are k more than a multiple of the
/// rows.
///
/// # Safety
/// 1. The rows of the source can be read, those of the destination can be written; they do not overlap, or they are the same.
/// 2. The processor has the instructions that the kernel was compiled for.
pub(crate) type Exchange = unsafe fn(&Group);

/// The exchange for elements of 1, 2 or 4 bits.
pub(crate) fn exchange(set: InstructionSet, bits: u32) -> Option<Exchange> {
    match bits {
        1 => Some(of::<1, 8>(set)),
        2 => Some(of::<2, 4>(set)),
        4 => Some(of::<4, 2>(set)),
        _ => None,
    }
}

/// The exchange for elements of so many bits, and so many rows.
fn of<const BITS: usize, const ROWS: usize>(set: InstructionSet) -> Exchange {
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => x86::avx512::<BITS, ROWS>,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => x86::avx2::<BITS, ROWS>,
        _ => in_lines::<Portable, BITS, ROWS>,
    }
}

/// A line in words whose bits can be exchanged.
trait Words: Lines {
    /// Exchanges the higher of each two pieces of `BY` bits in this line with the lower one in another, in whichever order the bytes of a
    /// word are.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn exchanged<const BY: i32>(self, other: Self) -> (Self, Self);
}

/// The lower one of each two pieces of `by` bits.
const fn lower(by: i32) -> u64 {
    u64::MAX / ((1 << by) + 1)
}

impl Words for Portable {
    #[inline(always)]
    unsafe fn exchanged<const BY: i32>(self, other: Self) -> (Self, Self) {
        let (mut a, mut b) = (self.0, other.0);
        for (a, b) in a.iter_mut().zip(&mut b) {
            let differs = (*a >> BY ^ *b) & lower(BY);
            *a ^= differs << BY;
            *b ^= differs;
        }
        (Portable(a), Portable(b))
    }
}

/// A line of each row at a time, all of them in registers.
///
/// # Safety
/// As for [`Exchange`]; `L`'s instructions are enabled where this is inlined.
#[inline(always)]
unsafe fn in_lines<L: Words, const BITS: usize, const ROWS: usize>(group: &Group) {
    for at in (0..group.bytes).step_by(LINE) {
        let bytes = (group.bytes - at).min(LINE);
        // SAFETY: bytes of the rows.
        unsafe {
            let mut lines: [L; ROWS] = std::array::from_fn(|k| {
                let row = group.source.offset(k as isize * group.source_apart).add(at);
                if bytes == LINE { L::load(row) } else { L::load_part(row, bytes) }
            });
            round::<L, BITS, ROWS, 4>(&mut lines);
            round::<L, BITS, ROWS, 2>(&mut lines);
            round::<L, BITS, ROWS, 1>(&mut lines);
            for (k, line) in lines.iter().enumerate() {
                let row = group.destination.offset(k as isize * group.destination_apart).add(at);
                if bytes == LINE { line.store(row) } else { line.store_part(row, bytes) }
            }
        }
    }
}

/// The round that exchanges pieces of `BY` bits, if there is one.
///
/// # Safety
/// As for [`Words::exchanged`].
#[inline(always)]
unsafe fn round<L: Words, const BITS: usize, const ROWS: usize, const BY: i32>(lines: &mut [L; ROWS]) {
    let distance = BY as usize / BITS;
    for k in (0..ROWS).filter(|k| distance > 0 && k & distance == 0) {
        // SAFETY: the caller's promise.
        (lines[k], lines[k + distance]) = unsafe { lines[k].exchanged::<BY>(lines[k + distance]) };
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Group, Words, in_lines, lower};
    use crate::kernels::vector::{Avx2, Avx512};

    impl Words for Avx512 {
        #[inline(always)]
        unsafe fn exchanged<const BY: i32>(self, other: Self) -> (Self, Self) {
            // SAFETY: the instructions are there, by the caller's promise.
            unsafe {
                let (count, low) = (_mm_cvtsi32_si128(BY), _mm512_set1_epi64(lower(BY) as i64));
                // (x ^ y) & low, as the truth table of three operands.
                let differs =
                    _mm512_ternarylogic_epi64::<0x28>(_mm512_srl_epi64(self.0, count), other.0, low);
                let a = _mm512_xor_si512(self.0, _mm512_sll_epi64(differs, count));
                (Avx512(a), Avx512(_mm512_xor_si512(other.0, differs)))
            }
        }
    }

    impl Words for Avx2 {
        #[inline(always)]
        unsafe fn exchanged<const BY: i32>(self, other: Self) -> (Self, Self) {
            // SAFETY: the instructions are there, by the caller's promise.
            let half = |a, b| unsafe {
                let low = _mm256_set1_epi64x(lower(BY) as i64);
                let differs = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<BY>(a), b), low);
                (_mm256_xor_si256(a, _mm256_slli_epi64::<BY>(differs)), _mm256_xor_si256(b, differs))
            };
            let (first, second) = (half(self.0, other.0), half(self.1, other.1));
            (Avx2(first.0, second.0), Avx2(first.1, second.1))
        }
    }

    /// # Safety
    /// As for [`super::Exchange`].
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn avx512<const BITS: usize, const ROWS: usize>(group: &Group) {
        // SAFETY: the caller's promise, and the instructions are enabled here.
        unsafe { in_lines::<Avx512, BITS, ROWS>(group) }
    }

    /// # Safety
    /// As for [`super::Exchange`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2<const BITS: usize, const ROWS: usize>(group: &Group) {
        // SAFETY: as above.
        unsafe { in_lines::<Avx2, BITS, ROWS>(group) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_lengths_become_the_bytes_of_columns() {
        for bits in [1_usize, 2, 4] {
            let in_byte = 8 / bits;
            for bytes in (1..70).chain([127, 128, 129, 200]) {
                let pitch = bytes + 3;
                let from: Vec<u8> = (0..in_byte * pitch).map(|at| ((at as u32 * 40503) >> 3) as u8).collect();
                let element = |rows: &[u8], row: usize, column: usize| {
                    rows[row * pitch + column / in_byte] >> (column % in_byte * bits) & (0xff >> (8 - bits))
                };
                for set in InstructionSet::all_here() {
                    let mut to = vec![0xee; in_byte * pitch];
                    let group = Group {
                        source: from.as_ptr(),
                        source_apart: pitch as isize,
                        destination: to.as_mut_ptr(),
                        destination_apart: pitch as isize,
                        bytes,
                    };
                    // SAFETY: both have as many rows, and the processor has the instructions.
                    unsafe { exchange(set, bits as u32).unwrap()(&group) };
                    for (row, column) in
                        (0..in_byte).flat_map(|row| (0..bytes * in_byte).map(move |c| (row, c)))
                    {
                        // The columns of a byte and the rows have changed places.
                        let (other, first) = (column % in_byte, column - column % in_byte);
                        assert_eq!(
                            element(&to, row, column),
                            element(&from, other, first + row),
                            "{bits} bits, {set:?}, {bytes} bytes, row {row}, column {column}"
                        );
                    }
                    let between = (0..in_byte).flat_map(|row| to[row * pitch + bytes..][..3].iter());
                    assert!({ between }.all(|&byte| byte == 0xee), "{bits} bits, {set:?}, {bytes} bytes");
                }
            }
        }
    }
}
