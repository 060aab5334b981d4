//! Runs units of a step.

use std::mem::MaybeUninit;

use crate::kernels::rows::{self, Rows};
use crate::kernels::splat::splat;
use crate::kernels::vector::LINE;
use crate::kernels::{Block, InstructionSet, Line, Runs, Zip};
use crate::step::{Place, Step, Store, Walker, Work};

/// The two buffers of a run, as every thread sees them.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) source: *const u8,
    pub(crate) destination: *mut u8,
}

// SAFETY: the source is only read, and no two units write the same byte.
unsafe impl Send for Buffers {}
// SAFETY: as above.
unsafe impl Sync for Buffers {}

/// A small buffer that stays in the cache: what goes past the cache in whole lines is put together here.
#[repr(align(64))]
pub(crate) struct Stage([MaybeUninit<u8>; Stage::BYTES]);

impl Stage {
    pub(crate) const BYTES: usize = 80 << 10;

    pub(crate) fn new() -> Stage {
        Stage([MaybeUninit::uninit(); Stage::BYTES])
    }

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Runs a range of units.
///
/// # Safety
/// The step's places are within the buffers, and nobody else writes what these units write or reads it.
pub(crate) unsafe fn run(set: InstructionSet, step: &Step, units: std::ops::Range<usize>, buffers: Buffers, stage: &mut Stage) {
    let mut walker = Walker::at(step, units.start);
    for unit in units.clone() {
        let place = walker.place();
        walker.advance();
        let next = if unit + 1 < units.end { walker.place() } else { place };
        // SAFETY: the caller's promise, for one of its units.
        unsafe { one(set, step, place, next, buffers, stage) };
    }
}

/// Runs one unit.
///
/// # Safety
/// As for [`run`].
#[inline]
unsafe fn one(set: InstructionSet, step: &Step, place: Place, next: Place, buffers: Buffers, stage: &mut Stage) {
    let source = buffers.source.wrapping_offset(place.from);
    let destination = buffers.destination.wrapping_offset(place.to);
    // SAFETY: the step's places are within the buffers, by the caller's promise, and so is what each kernel reads and
    // writes: its counts are those of the loops that were taken out of the nest.
    unsafe {
        match step.work {
            Work::Copy { length, from, to, store } => {
                let call = Rows {
                    count: place.rows,
                    length,
                    source,
                    source_step: from,
                    destination,
                    destination_step: to,
                    next: buffers.source.wrapping_offset(next.from),
                };
                match store {
                    Store::Plain => rows::copy(set, &call),
                    Store::Stream => rows::stream(set, &call),
                    Store::Stage => {
                        let staged = stage.start();
                        let into = Rows { destination: staged, ..call };
                        rows::copy(set, &into);
                        rows::stream_out(set, staged, destination, place.rows * length);
                    }
                }
            }
            Work::Collect { length, along, from, to } => {
                let stride = place.columns * length + LINE;
                let staged = stage.start();
                for column in 0..place.columns {
                    let next = if column + 1 < place.columns {
                        source.wrapping_offset((column as isize + 1) * along)
                    } else {
                        buffers.source.wrapping_offset(next.from)
                    };
                    let call = Rows {
                        count: place.rows,
                        length,
                        source: source.wrapping_offset(column as isize * along),
                        source_step: from,
                        destination: staged.add(column * length),
                        destination_step: stride as isize,
                        next,
                    };
                    rows::copy(set, &call);
                }
                for row in 0..place.rows {
                    let to = destination.offset(row as isize * to);
                    rows::stream_out(set, staged.add(row * stride), to, place.columns * length);
                }
            }
            Work::Runs { kernel, length, from, to } => kernel(&Runs {
                count: place.rows,
                length,
                source,
                source_step: from,
                destination,
                destination_step: to,
            }),
            Work::Transpose { plain, stream, size, from, to, store } => {
                let block = Block {
                    rows: place.rows,
                    columns: place.columns,
                    source,
                    source_stride: from,
                    destination,
                    destination_stride: to,
                    next: buffers.source.wrapping_offset(next.from),
                };
                let aligned = destination.addr().is_multiple_of(LINE);
                match store {
                    Store::Stream if aligned && (place.rows * size).is_multiple_of(LINE) => stream(&block),
                    Store::Stage => {
                        let bytes = place.rows * size;
                        let lines = bytes.div_ceil(LINE) + 1;
                        // An odd number of lines, so that rows of the buffer do not meet in one set of the cache.
                        let stride = (lines | 1) * LINE;
                        if stride * place.columns > Stage::BYTES {
                            plain(&block);
                            return;
                        }
                        let staged = stage.start();
                        plain(&Block { destination: staged, destination_stride: stride as isize, ..block });
                        for column in 0..place.columns {
                            let row = staged.add(column * stride);
                            rows::stream_out(set, row, destination.offset(column as isize * to), bytes);
                        }
                    }
                    _ => plain(&block),
                }
            }
            Work::Interleave { plain, stream, stride, ahead, store }
            | Work::Deinterleave { plain, stream, stride, ahead, store } => {
                let kernel = if store == Store::Stream { stream } else { plain };
                kernel(&Zip { count: place.columns, source, destination, stride, ahead });
            }
            Work::Line { kernel, from, to } => kernel(&Line {
                count: place.rows,
                source,
                source_step: from,
                destination,
                destination_step: to,
            }),
            Work::Splat { size, store } => {
                splat(set, source, size, destination, place.rows, store != Store::Plain);
            }
        }
    }
}
