//! Transposes of elements below a byte: as many transposes of bytes as elements fit into one.
//!
//! Take the 4-bit case, two elements in a byte, and source rows r0 and r1. Exchanging the high half of each byte of r0
//! with the low half of the same byte of r1 gives two rows of bytes:
//!
//! ```text
//! r0   a0 a1 | a2 a3 | …        even columns   a0 b0 | a2 b2 | …
//! r1   b0 b1 | b2 b3 | …        odd columns    a1 b1 | a3 b3 | …
//! ```
//!
//! Each of these bytes is whole in the destination, where a pair of rows is contiguous. So the even columns of all pairs
//! of rows are a matrix of bytes that is to be transposed, into every second row of the destination, and the odd ones
//! are another. With 2 bits it is four rows and four matrices, with 1 bit eight.
//!
//! A block of the source is taken through these steps:
//!
//! 1. Rows that begin within a byte are shifted into scratch.
//! 2. The exchange, row group by row group, into a matrix for each phase of the columns.
//! 3. The transposes of bytes: into the destination if its columns begin at whole bytes, otherwise into scratch, from
//!    which runs of bits are copied.

use tilework::Nest;

use super::runs::{Shift, copy_bits};
use super::{Kernels, walk};
use crate::kernels::{Block, BlockFn, InstructionSet};

/// Exchanges elements within the bytes of a group of rows: see the head of this file. The rows, as many as elements
/// fit into a byte, lie one after the other; so do the results.
///
/// # Safety
/// The processor has the instructions that the kernel was compiled for.
pub(super) type Swap = unsafe fn(&mut [Row]);

/// A row of a block: a whole cache line.
type Row = [u8; WIDTH];

const WIDTH: usize = 64;

/// Groups of rows in a block: a line of the destination.
const GROUPS: usize = 64;

/// Exchanges the high halves of the elements of one row with the low halves of another, where a mask says what is low.
#[inline(always)]
fn exchange(low: &mut Row, high: &mut Row, by: u32, mask: u64) {
    for (low, high) in low.as_chunks_mut::<8>().0.iter_mut().zip(high.as_chunks_mut::<8>().0) {
        let (a, b) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        let differs = (a >> by ^ b) & mask;
        *low = (a ^ differs << by).to_le_bytes();
        *high = (b ^ differs).to_le_bytes();
    }
}

/// All exchanges between rows that are `distance` apart.
#[inline(always)]
fn level(rows: &mut [Row], distance: usize, by: u32, mask: u64) {
    for group in rows.chunks_exact_mut(2 * distance) {
        let (low, high) = group.split_at_mut(distance);
        for (low, high) in low.iter_mut().zip(high) {
            exchange(low, high, by, mask);
        }
    }
}

/// A function that gives the exchange for each set of instructions.
macro_rules! swap {
    ($name:ident, $body:expr) => {
        pub(super) fn $name(set: InstructionSet) -> Swap {
            fn portable(rows: &mut [Row]) {
                $body(rows)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2(rows: &mut [Row]) {
                $body(rows)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
            fn avx512(rows: &mut [Row]) {
                $body(rows)
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

swap!(swap_nibbles, |rows: &mut [Row]| level(rows, 1, 4, 0x0f0f_0f0f_0f0f_0f0f));
swap!(swap_pairs, |rows: &mut [Row]| {
    level(rows, 2, 4, 0x0f0f_0f0f_0f0f_0f0f);
    level(rows, 1, 2, 0x3333_3333_3333_3333);
});
swap!(swap_bits, |rows: &mut [Row]| {
    level(rows, 4, 4, 0x0f0f_0f0f_0f0f_0f0f);
    level(rows, 2, 2, 0x3333_3333_3333_3333);
    level(rows, 1, 1, 0x5555_5555_5555_5555);
});

/// What stays the same from block to block.
struct Transpose {
    bits: usize,
    in_byte: usize,
    shift: Shift,
    swap: Swap,
    transpose: BlockFn,
    /// From row to row of the source and from column to column of the destination, in elements.
    from_stride: i64,
    to_stride: i64,
}

/// The scratch of a block: a matrix of bytes for each phase of the columns, and the block as it becomes. Empty at first;
/// who moves many nests keeps it between them.
#[derive(Default)]
pub(crate) struct Scratch {
    matrices: Vec<Row>,
    columns: Vec<Column>,
}

/// Bytes of a column of the block, which is a row of the destination.
type Column = [u8; GROUPS];

/// Moves a nest with a loop that moves one element in the source only and one that does so in the destination only.
///
/// # Safety
/// As for [`super::move_nest`].
pub(super) unsafe fn move_nest(
    nest: &Nest,
    (source, destination): (usize, usize),
    bits: u32,
    kernels: &Kernels,
    scratch: &mut Scratch,
    from: *const u8,
    to: *mut u8,
) {
    let (columns, rows) = (nest.loops[source], nest.loops[destination]);
    let mut outer = nest.loops.clone();
    outer.remove(source.max(destination));
    outer.remove(source.min(destination));
    let in_byte = 8 / bits as usize;
    let transpose = Transpose {
        bits: bits as usize,
        in_byte,
        shift: kernels.shift,
        swap: kernels.swap[bits.ilog2() as usize],
        transpose: kernels.transpose,
        from_stride: rows.from,
        to_stride: columns.to,
    };
    scratch.matrices.resize(scratch.matrices.len().max(GROUPS * in_byte), [0; WIDTH]);
    scratch.columns.resize(scratch.columns.len().max(WIDTH * in_byte), [0; GROUPS]);
    let (block_columns, block_rows) = ((WIDTH * in_byte) as u64, (GROUPS * in_byte) as u64);
    for &start in &nest.starts {
        walk(&outer, start.0, start.1, &mut |source, place| {
            for row in (0..rows.extent).step_by(GROUPS * in_byte) {
                for column in (0..columns.extent).step_by(WIDTH * in_byte) {
                    let size =
                        (block_rows.min(rows.extent - row), block_columns.min(columns.extent - column));
                    let source = source.wrapping_add_signed(row as i64 * rows.from) + column;
                    let place = place.wrapping_add_signed(column as i64 * columns.to) + row;
                    // SAFETY: the block is a part of the nest.
                    unsafe {
                        let size = (size.0 as usize, size.1 as usize);
                        transpose.block(size, (from, source), (to, place), scratch);
                    }
                }
            }
        });
    }
}

impl Transpose {
    /// Moves one block of so many rows and columns from an element of the source to one of the destination.
    ///
    /// # Safety
    /// As for [`super::move_nest`], for the elements of the block.
    unsafe fn block(
        &self,
        (rows, columns): (usize, usize),
        (from, source): (*const u8, u64),
        (to, place): (*mut u8, u64),
        scratch: &mut Scratch,
    ) {
        let (in_byte, bits) = (self.in_byte, self.bits as u64);
        let groups = rows.div_ceil(in_byte);
        for group in 0..groups {
            // Each group of rows becomes a row of each matrix; the rows of a group lie together until the exchange.
            let group_rows = &mut scratch.matrices[group * in_byte..][..in_byte];
            for (k, row) in group_rows.iter_mut().enumerate() {
                let number = group * in_byte + k;
                if number < rows {
                    let source = source.wrapping_add_signed(number as i64 * self.from_stride) * bits;
                    // SAFETY: a row of the block, which fits into a row of the scratch.
                    unsafe { self.load(from, source, columns * self.bits, row) };
                }
            }
            // SAFETY: the kernel was chosen for instructions that the processor has.
            unsafe { (self.swap)(group_rows) };
        }
        let whole =
            place * bits % 8 == 0 && (self.to_stride * bits as i64) % 8 == 0 && rows.is_multiple_of(in_byte);
        for phase in 0..in_byte.min(columns) {
            let width = (columns - phase).div_ceil(in_byte);
            let (destination, destination_stride) = if whole {
                let place = place.wrapping_add_signed(phase as i64 * self.to_stride) * bits / 8;
                // Columns of one phase are as many apart as elements fit into a byte: their stride is in bytes.
                (to.wrapping_add(place as usize), self.to_stride as isize)
            } else {
                let line = scratch.columns[phase..].as_mut_ptr().cast();
                (line, (GROUPS * in_byte) as isize)
            };
            let block = Block {
                rows: groups,
                columns: width,
                source: scratch.matrices[phase..].as_ptr().cast(),
                source_stride: (WIDTH * in_byte) as isize,
                destination,
                destination_stride,
                next: std::ptr::null(),
            };
            // SAFETY: the source is scratch; the bytes of the columns of this phase are whole and belong to the block,
            // or are scratch that has room for as many columns as a block has.
            unsafe { (self.transpose)(&block) };
        }
        if !whole {
            for (column, line) in scratch.columns[..columns].iter().enumerate() {
                let place = place.wrapping_add_signed(column as i64 * self.to_stride) * bits;
                // SAFETY: a column of the block.
                unsafe { copy_bits(self.shift, (line.as_ptr(), 0), (to, place), rows as u64 * bits) };
            }
        }
    }

    /// Copies a row of the source to the beginning of a row of scratch.
    ///
    /// # Safety
    /// The bytes that hold these bits can be read, and they are at most those of a row.
    unsafe fn load(&self, from: *const u8, bit: u64, count: usize, row: &mut Row) {
        // SAFETY: the caller's promise.
        unsafe {
            let first = from.add((bit / 8) as usize);
            if bit.is_multiple_of(8) && count == WIDTH * 8 {
                *row = first.cast::<Row>().read();
            } else if bit.is_multiple_of(8) {
                std::ptr::copy_nonoverlapping(first, row.as_mut_ptr(), count.div_ceil(8));
            } else {
                copy_bits(self.shift, (from, bit), (row.as_mut_ptr(), 0), count as u64);
            }
        }
    }
}
