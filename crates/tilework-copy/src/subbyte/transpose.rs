//! Transposes of elements below a byte: as many transposes of words as elements fit into one.
//!
//! A word here is four bytes, or one where there are too few rows for four. A block of the source is taken through these
//! steps:
//!
//! 1. Rows go to scratch, shifted if they begin within a byte.
//! 2. The exchange of elements ([`super::swap`]) in groups of as many rows as elements fit into a word. It leaves whole
//!    words of the destination, in a matrix for each phase of the columns.
//! 3. The transposes of words, one for each phase: into the destination if its columns begin with whole bytes, otherwise
//!    into scratch, from which runs of bits are copied.

use tilework_core::{Loop, Nest};

use super::runs::{Shift, copy_bits};
use super::swap::{Row, Swap, WIDTH};
use super::{Kernels, walk};
use crate::kernels::vector::fetch;
use crate::kernels::{Block, BlockFn};

/// Bytes of a column of a block, which is a row of the destination: few lines, as each is written once only in the middle.
const HEIGHT: usize = 256;

/// Words of one size: how elements are exchanged within them, by the width of an element (1, 2, 4 bits), and how they
/// are transposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) bytes: usize,
    pub(super) swap: [Swap; 3],
    pub(super) transpose: BlockFn,
}

/// What stays the same from block to block.
struct Transpose {
    bits: usize,
    /// Bytes of a word, and elements that fit into it.
    word: usize,
    in_word: usize,
    shift: Shift,
    swap: Swap,
    transpose: BlockFn,
    /// From row to row of the source and from column to column of the destination, in elements.
    from_stride: i64,
    to_stride: i64,
}

/// The scratch of a block: its rows, which become a matrix of words for each phase of the columns, and its columns.
/// Empty at first; who moves many nests keeps it between them.
#[derive(Default)]
pub(crate) struct Scratch {
    rows: Vec<Row>,
    columns: Vec<[u8; HEIGHT]>,
}

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
    let transpose = Transpose::new(columns, rows, bits as usize, kernels);
    let (block_rows, block_columns) =
        ((HEIGHT * 8) as u64 / u64::from(bits), (WIDTH * 8) as u64 / u64::from(bits));
    scratch.rows.resize(scratch.rows.len().max(block_rows as usize), [0; WIDTH]);
    scratch.columns.resize(scratch.columns.len().max(block_columns as usize), [0; HEIGHT]);
    for &start in &nest.starts {
        walk(&outer, start.0, start.1, &mut |source, place| {
            for row in (0..rows.extent).step_by(block_rows as usize) {
                for column in (0..columns.extent).step_by(block_columns as usize) {
                    let size =
                        (block_rows.min(rows.extent - row), block_columns.min(columns.extent - column));
                    let source = source.wrapping_add_signed(row as i64 * rows.from) + column;
                    let place = place.wrapping_add_signed(column as i64 * columns.to) + row;
                    let size = (size.0 as usize, size.1 as usize);
                    // SAFETY: the block is a part of the nest.
                    unsafe { transpose.block(size, (from, source), (to, place), scratch) };
                }
            }
        });
    }
}

impl Transpose {
    fn new(columns: Loop, rows: Loop, bits: usize, kernels: &Kernels) -> Transpose {
        // Rows that fill no word go through scratch, so a few rows are better off with bytes.
        let in_four = 32 / bits as u64;
        let few = rows.extent < 4 * in_four && !rows.extent.is_multiple_of(in_four);
        let words = kernels.words[usize::from(!few)];
        Transpose {
            bits,
            word: words.bytes,
            in_word: words.bytes * 8 / bits,
            shift: kernels.shift,
            swap: words.swap[bits.ilog2() as usize],
            transpose: words.transpose,
            from_stride: rows.from,
            to_stride: columns.to,
        }
    }

    /// Moves one block of `rows` rows and `columns` columns from an element of the source to one of the destination.
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
        let (in_word, bits) = (self.in_word, self.bits as u64);
        let groups = rows.div_ceil(in_word);
        for (group, group_rows) in scratch.rows.chunks_exact_mut(in_word).take(groups).enumerate() {
            // What stands in the scratch behind the last row ends up behind the end of the columns.
            for (k, row) in group_rows.iter_mut().enumerate().take(rows - group * in_word) {
                let number = (group * in_word + k) as i64;
                let source = source.wrapping_add_signed(number * self.from_stride) * bits;
                // SAFETY: a row of the block, which fits into a row of the scratch.
                unsafe { self.load(from, source, columns * self.bits, row) };
            }
            // SAFETY: the kernel was chosen for instructions that the processor has.
            unsafe { (self.swap)(group_rows) };
        }
        let place_of = |column: usize| place.wrapping_add_signed(column as i64 * self.to_stride) * bits;
        let bytes_of_column = self.to_stride * bits as i64;
        let direct =
            place_of(0).is_multiple_of(8) && bytes_of_column % 8 == 0 && rows.is_multiple_of(in_word);
        let (destination, stride) = match direct {
            true => (to.wrapping_add((place_of(0) / 8) as usize), (bytes_of_column / 8) as isize),
            false => (scratch.columns.as_mut_ptr().cast(), HEIGHT as isize),
        };
        let mut block = Block {
            rows: groups,
            columns: 0,
            source: scratch.rows.as_ptr().cast(),
            source_stride: (WIDTH * in_word) as isize,
            destination,
            destination_stride: stride * in_word as isize,
            next: std::ptr::null(),
        };
        if groups == 1 && stride == self.word as isize && columns.is_multiple_of(in_word) {
            // The words of all phases lie next to each other in the destination: they are one matrix.
            (block.rows, block.columns, block.source_stride) = (in_word, columns / in_word, WIDTH as isize);
            // SAFETY: as below.
            return unsafe { (self.transpose)(&block) };
        }
        for phase in 0..in_word.min(columns) {
            block.columns = (columns - phase).div_ceil(in_word);
            block.source = scratch.rows[phase..].as_ptr().cast();
            block.destination = destination.wrapping_offset(phase as isize * stride);
            // SAFETY: the source is scratch; the words of the columns of this phase are whole and belong to the block,
            // or are scratch that has room for as many columns as a block has.
            unsafe { (self.transpose)(&block) };
        }
        if !direct {
            for (column, line) in scratch.columns[..columns].iter().enumerate() {
                // SAFETY: a column of the block.
                unsafe {
                    copy_bits(self.shift, (line.as_ptr(), 0), (to, place_of(column)), rows as u64 * bits)
                };
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
            // The next block lies beside this one; by its turn the line is near.
            fetch(first.wrapping_add(WIDTH));
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
