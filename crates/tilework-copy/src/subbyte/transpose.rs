//! Transposes of elements below a byte, block by block, where rows may begin and end anywhere.
//!
//! 1. Rows go to scratch, shifted if they begin within a byte.
//! 2. Elements are exchanged in groups of as many rows as elements fit into a byte ([`super::exchange`]). That leaves whole bytes of
//!    the destination, in a matrix for each phase of the columns.
//! 3. These are transposed: into the destination if its columns begin with whole bytes; what is no whole byte, into scratch, from which
//!    runs of bits are copied.

use tilework_core::{Loop, Nest};

use super::exchange::{Exchange, Group};
use super::{Kernels, walk};
use crate::kernels::Block;
use crate::kernels::vector::prefetch;

/// Bytes of a row of a block, and of a column, which is a row of the destination.
const WIDTH: usize = 64;
const HEIGHT: usize = 128;

/// The scratch of a block: its rows, which become a matrix of bytes for each phase of the columns, and its columns.
/// Empty at first; who moves many nests keeps it between them.
#[derive(Default)]
pub(crate) struct Scratch {
    rows: Vec<[u8; WIDTH]>,
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
    let [block_rows, block_columns] = [HEIGHT, WIDTH].map(|bytes| bytes * 8 / bits as usize);
    let transpose = Transpose {
        bits: bits as usize,
        in_byte: 8 / bits as usize,
        exchange: kernels.exchange[bits.ilog2() as usize],
        kernels,
        rows,
        columns,
    };
    // What stands in the scratch behind the last row ends up behind the end of the columns.
    scratch.rows.resize(scratch.rows.len().max(block_rows), [0; WIDTH]);
    scratch.columns.resize(scratch.columns.len().max(block_columns), [0; HEIGHT]);
    for &start in &nest.starts {
        walk(&outer, start.0, start.1, &mut |source, place| {
            for row in (0..rows.extent).step_by(block_rows) {
                for column in (0..columns.extent).step_by(block_columns) {
                    let source = source.wrapping_add_signed(row as i64 * rows.from) + column;
                    let place = place.wrapping_add_signed(column as i64 * columns.to) + row;
                    let size = (
                        block_rows.min((rows.extent - row) as usize),
                        block_columns.min((columns.extent - column) as usize),
                    );
                    // SAFETY: the block is a part of the nest.
                    unsafe { transpose.block(size, (from, source), (to, place), scratch) };
                }
            }
        });
    }
}

/// What stays the same from block to block.
struct Transpose<'a> {
    bits: usize,
    in_byte: usize,
    exchange: Exchange,
    kernels: &'a Kernels,
    rows: Loop,
    columns: Loop,
}

impl Transpose<'_> {
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
        let (in_byte, bits) = (self.in_byte, self.bits as u64);
        for (number, row) in scratch.rows[..rows].iter_mut().enumerate() {
            let first = source.wrapping_add_signed(number as i64 * self.rows.from) * bits;
            // SAFETY: a row of the block, which fits into a row of the scratch.
            unsafe {
                // The next block lies beside this one; by its turn the line is near.
                prefetch(from.wrapping_add((first / 8) as usize + WIDTH));
                self.kernels.copy_bits((from, first), (row.as_mut_ptr(), 0), columns as u64 * bits);
            }
        }
        let groups = rows.div_ceil(in_byte);
        for group in scratch.rows.chunks_exact_mut(in_byte).take(groups) {
            let (rows, apart) = (group.as_mut_ptr().cast::<u8>(), WIDTH as isize);
            let group = Group {
                source: rows,
                source_apart: apart,
                destination: rows,
                destination_apart: apart,
                bytes: columns.div_ceil(in_byte),
            };
            // SAFETY: rows of the scratch, and the kernel was chosen for instructions that the processor has.
            unsafe { (self.exchange)(&group) };
        }
        let place_of = |column: usize| place.wrapping_add_signed(column as i64 * self.columns.to);
        let whole = |place: u64| place.is_multiple_of(in_byte as u64);
        let direct = if whole(place) && whole(self.columns.to.unsigned_abs()) { rows / in_byte } else { 0 };
        // SAFETY: the bytes of these groups are whole and belong to the block; or go to scratch that has room for as many columns as a
        // block has, from which elements of the block are copied.
        unsafe {
            if direct > 0 {
                let destination = to.add((place / in_byte as u64) as usize);
                let stride = self.columns.to as isize / in_byte as isize;
                self.transpose(0..direct, columns, scratch.rows.as_ptr().cast(), destination, stride);
            }
            if direct < groups {
                let staged = scratch.columns.as_mut_ptr().cast::<u8>();
                let staged = (staged, HEIGHT as isize);
                self.transpose(direct..groups, columns, scratch.rows.as_ptr().cast(), staged.0, staged.1);
                let done = direct * in_byte;
                for (column, line) in scratch.columns[..columns].iter().enumerate() {
                    let to = (to, (place_of(column) + done as u64) * bits);
                    self.kernels.copy_bits((line.as_ptr(), 0), to, (rows - done) as u64 * bits);
                }
            }
        }
    }

    /// Transposes the bytes of some groups of rows, a matrix for each phase of the columns.
    ///
    /// # Safety
    /// The rows are those of a block; a byte of the destination for each group, at each column, is nobody else's.
    unsafe fn transpose(
        &self,
        groups: std::ops::Range<usize>,
        columns: usize,
        rows: *const u8,
        destination: *mut u8,
        stride: isize,
    ) {
        for phase in 0..self.in_byte.min(columns) {
            let block = Block {
                rows: groups.len(),
                columns: (columns - phase).div_ceil(self.in_byte),
                // SAFETY: a row of the scratch.
                source: unsafe { rows.add((groups.start * self.in_byte + phase) * WIDTH) },
                source_stride: (WIDTH * self.in_byte) as isize,
                destination: destination.wrapping_offset(phase as isize * stride),
                destination_stride: stride * self.in_byte as isize,
                next: std::ptr::null(),
            };
            // SAFETY: the caller's promise.
            unsafe { (self.kernels.transpose)(&block) };
        }
    }
}
