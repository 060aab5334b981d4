//! Nests whose elements are converted on the way: element widths differ between the two sides, offsets count elements.
//!
//! As the nests of a plan that only moves, and for the same reasons, they are of three forms:
//!
//! 1. *Runs*, contiguous on both sides, are converted in place.
//! 2. *Transposes* go through scratch, block by block, and whichever side has the narrower elements is transposed: rows of
//!    the source are converted into scratch and that is transposed into the destination, or the source is transposed
//!    into scratch, whose rows are converted into the destination.
//! 3. *The rest* goes in pieces of a row: gathered, converted, scattered.
//!
//! Where elements are below a byte, the rules of [`crate::subbyte`] about shared bytes hold.

use tilework_core::{Loop, Nest};

use super::{BLOCK, Conversion, bytes, held_bits};
use crate::kernels::{self, Block, InstructionSet, Line, Transpose, rows};
use crate::subbyte::{self, walk};

/// Elements along a side of a block that is transposed.
const SIDE: u64 = 256;

/// Elements that are converted at once on their way past the cache.
const STAGED: usize = 2048;

/// Converts nests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Converter {
    conversion: Conversion,
    set: InstructionSet,
    below_a_byte: subbyte::Kernels,
    /// Transposes the narrower elements, if they are whole bytes.
    transpose: Option<Transpose>,
    /// Whether stores go past the cache, where whole bytes are written.
    streams: bool,
}

/// What a converter needs to work in; one for each thread, kept between nests.
#[derive(Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    /// Converted elements on their way past the cache.
    staged: Vec<u8>,
    below_a_byte: subbyte::Scratch,
}

/// A place in the source or the destination, counted in elements.
type From = (*const u8, u64);
type To = (*mut u8, u64);

impl Converter {
    /// A converter on a set of instructions that the processor has.
    pub(crate) fn new(conversion: Conversion, set: InstructionSet) -> Option<Converter> {
        let conversion = conversion.on(set)?;
        let narrower = held_bits(conversion.from).min(held_bits(conversion.to));
        Some(Converter {
            conversion,
            set,
            below_a_byte: subbyte::Kernels::new(set)?,
            transpose: kernels::transpose(set, narrower as usize / 8),
            streams: false,
        })
    }

    /// How elements change.
    pub(crate) fn conversion(&self) -> Conversion {
        self.conversion
    }

    /// The same with stores past the cache, which pays where the arrays are larger than it. The caller then fences after
    /// [`Converter::run`].
    pub(crate) fn streaming(self, streams: bool) -> Converter {
        Converter { streams: streams && held_bits(self.conversion.to) >= 8, ..self }
    }

    /// Moves and converts the elements of a nest.
    ///
    /// # Safety
    /// 1. All elements that the nest reads lie in the memory behind `from`, which can be read.
    /// 2. All that it writes lie in the memory behind `to`, which can be written.
    /// 3. The two do not overlap.
    /// 4. Nobody else writes the bytes that are read, or touches those that are written.
    pub(crate) unsafe fn run(&self, nest: &Nest, scratch: &mut Scratch, from: *const u8, to: *mut u8) {
        let mut outer = nest.loops.clone();
        let run = nest.loops.iter().position(|l| (l.from, l.to) == (1, 1));
        let source = nest.loops.iter().position(|l| l.from == 1);
        let destination = nest.loops.iter().position(|l| l.to == 1);
        let inner = match (run, source, destination) {
            (Some(run), _, _) => Inner::Row(outer.remove(run)),
            (None, Some(source), Some(destination)) => {
                outer.remove(source.max(destination));
                outer.remove(source.min(destination));
                Inner::Transpose { columns: nest.loops[source], rows: nest.loops[destination] }
            }
            (None, _, Some(destination)) => Inner::Row(outer.remove(destination)),
            (None, _, None) => Inner::Row(outer.pop().unwrap_or(Loop { extent: 1, from: 1, to: 1 })),
        };
        for &start in &nest.starts {
            walk(&outer, start.0, start.1, &mut |source, place| {
                // SAFETY: the caller's promise, for a part of the nest.
                unsafe {
                    match inner {
                        Inner::Row(row) => self.row(row, scratch, (from, source), (to, place)),
                        Inner::Transpose { columns, rows } => {
                            self.transpose(columns, rows, scratch, (from, source), (to, place));
                        }
                    }
                }
            });
        }
    }

    /// One row: converted in place as far as it is contiguous and begins with a byte, in pieces through scratch otherwise.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn row(&self, row: Loop, scratch: &mut Scratch, from: From, to: To) {
        let bits = (u64::from(held_bits(self.conversion.from)), u64::from(held_bits(self.conversion.to)));
        let direct_from = row.from == 1 && (from.1 * bits.0).is_multiple_of(8);
        let direct_to = row.to == 1 && (to.1 * bits.1).is_multiple_of(8);
        // SAFETY: elements of the nest, or scratch.
        unsafe {
            if direct_from && direct_to {
                return self.stored(row.extent, &mut scratch.staged, from, to);
            }
            scratch.bytes.resize(scratch.bytes.len().max(2 * BLOCK * 8), 0);
            let gathered = scratch.bytes.as_mut_ptr();
            let converted = gathered.add(BLOCK * 8);
            let mut done = 0;
            while done < row.extent {
                let count = (row.extent - done).min(BLOCK as u64);
                let here = |place: u64, stride: i64| place.wrapping_add_signed(done as i64 * stride);
                let (from, to) = ((from.0, here(from.1, row.from)), (to.0, here(to.1, row.to)));
                let mut ready = from;
                if !direct_from {
                    let gather = Loop { extent: count, from: row.from, to: 1 };
                    self.move_row(gather, held_bits(self.conversion.from), scratch, from, (gathered, 0));
                    ready = (gathered.cast_const(), 0);
                }
                if direct_to {
                    self.contiguous(count, ready, to);
                } else {
                    self.contiguous(count, ready, (converted, 0));
                    let scatter = Loop { extent: count, from: 1, to: row.to };
                    self.move_row(scatter, held_bits(self.conversion.to), scratch, (converted, 0), to);
                }
                done += count;
            }
        }
    }

    /// Moves one row without converting it.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn move_row(&self, row: Loop, bits: u32, scratch: &mut Scratch, from: From, to: To) {
        // SAFETY: the caller's promise.
        unsafe {
            if bits < 8 {
                let nest = Nest { starts: [(from.1, to.1)].into(), loops: [row].into() };
                let scratch = &mut scratch.below_a_byte;
                return subbyte::move_nest(&nest, bits, &self.below_a_byte, scratch, from.0, to.0);
            }
            let width = bits as usize / 8;
            let line = Line {
                count: row.extent as usize,
                source: from.0.add(from.1 as usize * width),
                source_step: row.from as isize * width as isize,
                destination: to.0.add(to.1 as usize * width),
                destination_step: row.to as isize * width as isize,
            };
            kernels::gather(self.set, width, line.source_step, line.destination_step)(&line);
        }
    }

    /// A loop that is contiguous in the source only around one that is contiguous in the destination only.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn transpose(&self, columns: Loop, rows: Loop, scratch: &mut Scratch, from: From, to: To) {
        let (wide, narrow) = (held_bits(self.conversion.from), held_bits(self.conversion.to));
        let narrows = narrow <= wide;
        for row in (0..rows.extent).step_by(SIDE as usize) {
            for column in (0..columns.extent).step_by(SIDE as usize) {
                let source = from.1.wrapping_add_signed(row as i64 * rows.from) + column;
                let place = to.1.wrapping_add_signed(column as i64 * columns.to) + row;
                let columns = Loop { extent: SIDE.min(columns.extent - column), ..columns };
                let rows = Loop { extent: SIDE.min(rows.extent - row), ..rows };
                // A row of scratch is longer than it need be, so that few of them fall into one set of the cache.
                let pitch = SIDE as i64 + 512 / i64::from(narrow.min(wide));
                let room = bytes((SIDE * pitch as u64) as usize, narrow.min(wide));
                scratch.bytes.resize(scratch.bytes.len().max(2 * BLOCK * 8).max(room), 0);
                let block = scratch.bytes.as_mut_ptr();
                // SAFETY: elements of the nest, or scratch.
                unsafe {
                    if narrows {
                        let row = |k: u64| source.wrapping_add_signed(k as i64 * rows.from);
                        self.rows(
                            (rows.extent, columns.extent),
                            None,
                            (from.0, &row),
                            (block, &|k| k * pitch as u64),
                        );
                        let rows = Loop { from: pitch, ..rows };
                        self.move_block(columns, rows, narrow, scratch, (block, 0), (to.0, place));
                    } else {
                        let moved = Loop { to: pitch, ..columns };
                        self.move_block(moved, rows, wide, scratch, (from.0, source), (block, 0));
                        let column = |k: u64| place.wrapping_add_signed(k as i64 * columns.to);
                        self.rows(
                            (columns.extent, rows.extent),
                            Some(&mut scratch.staged),
                            (block, &|k| k * pitch as u64),
                            (to.0, &column),
                        );
                    }
                }
            }
        }
    }

    /// Converts `rows` rows of `elements` elements, each from where one function says to where the other does; past the
    /// cache only with scratch for that.
    ///
    /// # Safety
    /// As for [`Converter::run`]; one of the two may be scratch.
    unsafe fn rows(
        &self,
        (rows, elements): (u64, u64),
        mut staged: Option<&mut Vec<u8>>,
        from: (*const u8, &dyn Fn(u64) -> u64),
        to: (*mut u8, &dyn Fn(u64) -> u64),
    ) {
        let bits = (u64::from(held_bits(self.conversion.from)), u64::from(held_bits(self.conversion.to)));
        for row in 0..rows {
            let (from, to) = ((from.0, from.1(row)), (to.0, to.1(row)));
            // SAFETY: the caller's promise.
            unsafe {
                if (from.1 * bits.0).is_multiple_of(8) && (to.1 * bits.1).is_multiple_of(8) {
                    match &mut staged {
                        Some(staged) => self.stored(elements, staged, from, to),
                        None => self.contiguous(elements, from, to),
                    }
                } else {
                    self.between_bytes(elements, from, to);
                }
            }
        }
    }

    /// Converts a row of at most [`SIDE`] elements that does not begin with a byte on one of the sides.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn between_bytes(&self, elements: u64, from: From, to: To) {
        let bits = (u64::from(held_bits(self.conversion.from)), u64::from(held_bits(self.conversion.to)));
        let [mut gathered, mut converted] = [[0_u8; SIDE as usize * 8]; 2];
        // SAFETY: elements of the nest, or of the two buffers.
        unsafe {
            let mut ready = from;
            if !(from.1 * bits.0).is_multiple_of(8) {
                self.below_a_byte.copy_bits(
                    (from.0, from.1 * bits.0),
                    (gathered.as_mut_ptr(), 0),
                    elements * bits.0,
                );
                ready = (gathered.as_ptr(), 0);
            }
            self.contiguous(elements, ready, (converted.as_mut_ptr(), 0));
            self.below_a_byte.copy_bits((converted.as_ptr(), 0), (to.0, to.1 * bits.1), elements * bits.1);
        }
    }

    /// Transposes a block without converting it.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn move_block(
        &self,
        columns: Loop,
        rows: Loop,
        bits: u32,
        scratch: &mut Scratch,
        from: From,
        to: To,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(transpose) = self.transpose else {
                let nest = Nest { starts: [(from.1, to.1)].into(), loops: [columns, rows].into() };
                let scratch = &mut scratch.below_a_byte;
                return subbyte::move_nest(&nest, bits, &self.below_a_byte, scratch, from.0, to.0);
            };
            let width = bits as usize / 8;
            let block = Block {
                rows: rows.extent as usize,
                columns: columns.extent as usize,
                source: from.0.add(from.1 as usize * width),
                source_stride: rows.from as isize * width as isize,
                destination: to.0.add(to.1 as usize * width),
                destination_stride: columns.to as isize * width as isize,
                next: std::ptr::null(),
            };
            let lines = |bytes: usize| bytes.is_multiple_of(64);
            let whole_lines = lines(block.destination.addr())
                && lines(block.destination_stride.unsigned_abs())
                && lines(block.rows * width);
            // Only the destination is transposed into past the cache, not the scratch that rows are converted from.
            if self.streams && bits == held_bits(self.conversion.to) && whole_lines {
                (transpose.stream)(&block);
            } else {
                (transpose.plain)(&block);
            }
        }
    }

    /// The same as [`Converter::contiguous`], but past the cache if stores go there.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn stored(&self, elements: u64, staged: &mut Vec<u8>, from: From, to: To) {
        let size = (held_bits(self.conversion.to) / 8) as usize;
        // A few bytes are not worth the way, and lines that are written in part should stay near. Where elements become
        // narrower, reading is most of the work, and going back and forth between reading and storing slows it down.
        let widens = held_bits(self.conversion.to) > held_bits(self.conversion.from);
        if !self.streams || !widens || elements as usize * size < 512 {
            // SAFETY: the caller's promise.
            return unsafe { self.contiguous(elements, from, to) };
        }
        staged.resize(staged.len().max(STAGED * 8), 0);
        let mut done = 0;
        while done < elements {
            let count = (elements - done).min(STAGED as u64);
            // SAFETY: elements of the nest, and scratch that has room for so many. A whole number of blocks is a whole
            // number of bytes on both sides.
            unsafe {
                self.contiguous(count, (from.0, from.1 + done), (staged.as_mut_ptr(), 0));
                let place = to.0.add((to.1 + done) as usize * size);
                rows::stream_out(self.set, staged.as_ptr(), place, count as usize * size);
            }
            done += count;
        }
    }

    /// Converts elements that lie one after the other and begin with a byte on both sides.
    ///
    /// # Safety
    /// As for [`Converter::run`].
    unsafe fn contiguous(&self, elements: u64, from: From, to: To) {
        let Conversion { from: source, to: destination, .. } = self.conversion;
        let elements = elements as usize;
        let first = |place: u64, bits: u32| (place * u64::from(bits) / 8) as usize;
        // SAFETY: the caller's promise: these bytes hold the elements, and nobody else touches them meanwhile.
        let (from, to) = unsafe {
            (
                std::slice::from_raw_parts(
                    from.0.add(first(from.1, held_bits(source))),
                    bytes(elements, held_bits(source)),
                ),
                std::slice::from_raw_parts_mut(
                    to.0.add(first(to.1, held_bits(destination))),
                    bytes(elements, held_bits(destination)),
                ),
            )
        };
        self.conversion.contiguous(elements, from, to);
    }
}

/// What the innermost loops of a nest are.
#[derive(Clone, Copy)]
enum Inner {
    Row(Loop),
    Transpose { columns: Loop, rows: Loop },
}
