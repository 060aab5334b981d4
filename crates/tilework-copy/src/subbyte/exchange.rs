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

/// Bytes of a row that are in registers at a time.
const WIDTH: usize = 64;

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
    unsafe fn portable<const BITS: usize, const ROWS: usize>(group: &Group) {
        // SAFETY: the caller's promise.
        unsafe { in_lines::<BITS, ROWS>(group) }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn avx2<const BITS: usize, const ROWS: usize>(group: &Group) {
        // SAFETY: the caller's promise.
        unsafe { in_lines::<BITS, ROWS>(group) }
    }
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => in_registers::<BITS, ROWS>,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => avx2::<BITS, ROWS>,
        _ => portable::<BITS, ROWS>,
    }
}

/// A line of each row at a time.
///
/// # Safety
/// As for [`Exchange`].
#[inline(always)]
unsafe fn in_lines<const BITS: usize, const ROWS: usize>(group: &Group) {
    for at in (0..group.bytes).step_by(WIDTH) {
        let mut lines = [[0_u64; WIDTH / 8]; ROWS];
        let bytes = (group.bytes - at).min(WIDTH);
        for (k, line) in lines.iter_mut().enumerate() {
            // SAFETY: bytes of a row.
            unsafe {
                let row = group.source.offset(k as isize * group.source_apart).add(at);
                match bytes {
                    WIDTH => *line = row.cast::<[u64; WIDTH / 8]>().read_unaligned(),
                    _ => row.copy_to_nonoverlapping(line.as_mut_ptr().cast(), bytes),
                }
            }
        }
        round::<BITS, ROWS, 4>(&mut lines);
        round::<BITS, ROWS, 2>(&mut lines);
        round::<BITS, ROWS, 1>(&mut lines);
        for (k, line) in lines.iter().enumerate() {
            // SAFETY: bytes of a row.
            unsafe {
                let row = group.destination.offset(k as isize * group.destination_apart).add(at);
                match bytes {
                    WIDTH => row.cast::<[u64; WIDTH / 8]>().write_unaligned(*line),
                    _ => row.copy_from_nonoverlapping(line.as_ptr().cast(), bytes),
                }
            }
        }
    }
}

/// The round that exchanges pieces of `BY` bits, if there is one.
#[inline(always)]
fn round<const BITS: usize, const ROWS: usize, const BY: usize>(rows: &mut [[u64; WIDTH / 8]; ROWS]) {
    if BY < BITS {
        return;
    }
    // Every other piece of BY bits, from the lowest: in whichever order the bytes of a word are.
    let low = u64::MAX / ((1 << BY) + 1);
    let distance = BY / BITS;
    for group in rows.chunks_exact_mut(2 * distance) {
        let (first, second) = group.split_at_mut(distance);
        for (a, b) in first.iter_mut().flatten().zip(second.iter_mut().flatten()) {
            let differs = (*a >> BY ^ *b) & low;
            *a ^= differs << BY;
            *b ^= differs;
        }
    }
}

/// The same with all rows of a group in registers.
///
/// # Safety
/// As for [`Exchange`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn in_registers<const BITS: usize, const ROWS: usize>(group: &Group) {
    use std::arch::x86_64::*;
    let whole = group.bytes / WIDTH * WIDTH;
    // SAFETY: whole registers of the rows; and of their ends what the mask lets through.
    unsafe {
        for at in (0..whole).step_by(WIDTH) {
            let mut vectors = [_mm512_setzero_si512(); ROWS];
            for (k, vector) in vectors.iter_mut().enumerate() {
                let row = group.source.offset(k as isize * group.source_apart).add(at);
                *vector = _mm512_loadu_si512(row.cast());
            }
            rounds::<BITS, ROWS>(&mut vectors);
            for (k, vector) in vectors.iter().enumerate() {
                let row = group.destination.offset(k as isize * group.destination_apart).add(at);
                _mm512_storeu_si512(row.cast(), *vector);
            }
        }
        if whole < group.bytes {
            let mask = u64::MAX >> (WIDTH - (group.bytes - whole));
            let mut vectors = [_mm512_setzero_si512(); ROWS];
            for (k, vector) in vectors.iter_mut().enumerate() {
                let row = group.source.offset(k as isize * group.source_apart).add(whole);
                *vector = _mm512_maskz_loadu_epi8(mask, row.cast());
            }
            rounds::<BITS, ROWS>(&mut vectors);
            for (k, vector) in vectors.iter().enumerate() {
                let row = group.destination.offset(k as isize * group.destination_apart).add(whole);
                _mm512_mask_storeu_epi8(row.cast(), mask, *vector);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn rounds<const BITS: usize, const ROWS: usize>(vectors: &mut [std::arch::x86_64::__m512i; ROWS]) {
    use std::arch::x86_64::*;
    for by in [4, 2, 1] {
        let distance = by / BITS;
        if distance == 0 {
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
