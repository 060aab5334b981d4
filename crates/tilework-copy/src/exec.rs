//! Runs units of a step.

use std::mem::MaybeUninit;

use crate::kernels::grid::Grid;
use crate::kernels::rows::{self, Rows};
use crate::kernels::splat::{Splat, splat};
use crate::kernels::vector::LINE;
use crate::kernels::{Block, BlockFn, InstructionSet, Line, Runs, Zip};
use crate::step::{Place, Step, Store, Stretch, Walker, Work};
use crate::{bounds, carry, convert, net, picks, subbyte, wide};

/// The two buffers of a run, as every thread sees them.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) source: *const u8,
    pub(crate) source_bytes: usize,
    pub(crate) destination: *mut u8,
    pub(crate) destination_bytes: usize,
}

impl Buffers {
    /// Two slices, for as long as both are borrowed.
    pub(crate) fn of(source: &[u8], destination: &mut [u8]) -> Buffers {
        Buffers {
            source: source.as_ptr(),
            source_bytes: source.len(),
            destination: destination.as_mut_ptr(),
            destination_bytes: destination.len(),
        }
    }
}

// SAFETY: the source is only read, and no two units write the same byte.
unsafe impl Send for Buffers {}
// SAFETY: as above.
unsafe impl Sync for Buffers {}

/// What a thread works in, made when it is first needed.
#[derive(Default)]
pub(crate) struct Scratch {
    stages: [Option<Box<Stage>>; 2],
    pub(crate) below_a_byte: subbyte::Scratch,
    pub(crate) converting: convert::Scratch,
    pub(crate) wide: wide::Blocks,
}

/// A small buffer that stays in the cache: what goes past the cache in whole lines is put together here.
#[repr(align(64))]
struct Stage([MaybeUninit<u8>; STAGE]);

/// Bytes of a [`Stage`].
pub(crate) const STAGE: usize = 96 << 10;

impl Scratch {
    /// The beginning of one of two buffers, for up to [`STAGE`] bytes.
    ///
    /// That steps ask for no more is `choose.rs`'s part. Were it wrong, other memory would be overwritten, so it is looked
    /// at here, once for each block.
    pub(crate) fn stage(&mut self, bytes: usize, which: usize) -> *mut u8 {
        assert!(bytes <= STAGE, "a block of {bytes} bytes is put together in {STAGE}");
        let stage = self.stages[which].get_or_insert_with(|| {
            // SAFETY: bytes that may be uninitialised need no initialising.
            unsafe { Box::new_uninit().assume_init() }
        });
        stage.0.as_mut_ptr().cast()
    }
}

/// Runs a range of units.
///
/// # Safety
/// 1. Every place that the units read, from `source` on, is within `source_bytes` bytes that can be read.
/// 2. Every place that they write, from `destination` on, is within `destination_bytes` bytes that can be written.
/// 3. The two buffers do not overlap.
/// 4. Nobody else writes what is read, or touches what is written, meanwhile.
/// 5. The machine has the instructions of the set, and the step's kernels are of that set.
pub(crate) unsafe fn run(
    set: InstructionSet,
    step: &Step,
    units: std::ops::Range<usize>,
    buffers: Buffers,
    scratch: &mut Scratch,
) {
    match &step.work {
        // SAFETY: the caller's promise.
        Work::Network(blocks) => return unsafe { net::run(set, step, blocks, units, buffers, scratch) },
        // SAFETY: as above.
        Work::Picks(list) => return unsafe { picks::run(set, step, list, units, buffers, scratch) },
        // SAFETY: as above.
        Work::Transpose { store: Store::Carry, .. } => {
            return unsafe { carry::run(step, units, buffers, scratch) };
        }
        _ => {}
    }
    let mut walker = Walker::at(step, units.start);
    let mut left = units.len();
    while left > 0 {
        let stretch = walker.stretch(left);
        left -= stretch.count;
        debug_assert!(
            (0..stretch.count).all(|number| bounds::hold_unit(buffers, &step.work, stretch.place(number))),
            "{:?} in {stretch:?}",
            step.work
        );
        let then = (left > 0).then(|| walker.place());
        // SAFETY: the caller's promise, for some of its units.
        unsafe { several(set, step, stretch, then, buffers, scratch) };
    }
}

/// Rows are put together in a buffer up to this number of bytes.
const TOGETHER: usize = 16 << 10;

/// Copies `count` units of rows. `units` says the rows of those from a number on, as many as are asked for.
///
/// # Safety
/// As for [`run`], for the rows of all `count` units.
unsafe fn copy(
    set: InstructionSet,
    store: Store,
    count: usize,
    units: impl Fn(usize, usize) -> Rows,
    scratch: &mut Scratch,
) {
    // SAFETY: the caller's promise; the buffer has room for the rows that go into it.
    unsafe {
        match store {
            Store::Plain => rows::copy(set, &units(0, count)),
            Store::Stream => rows::stream(set, &units(0, count)),
            Store::Carry | Store::Stage | Store::StageWhole => {
                let first = units(0, 1);
                let bytes = first.count * first.length;
                // Rows of a unit follow each other in the destination, and perhaps those of the next one follow them.
                let adjoin = first.again.1 == bytes as isize;
                let several = if adjoin { (TOGETHER / bytes).max(1) } else { 1 };
                for number in (0..count).step_by(several) {
                    let these = units(number, several.min(count - number));
                    let bytes = these.times * bytes;
                    let staged = scratch.stage(bytes, 0);
                    let again = (these.again.0, bytes as isize / these.times as isize);
                    rows::copy(set, &Rows { destination: staged, again, ..these });
                    rows::stream_out(set, staged, these.destination, bytes);
                }
            }
        }
    }
}

/// Runs units that differ only in where they are; `then` is the place of the one that follows them. What is done for each of them is as
/// little as can be: many move no more than some lines.
///
/// # Safety
/// As for [`run`].
unsafe fn several(
    set: InstructionSet,
    step: &Step,
    stretch: Stretch,
    then: Option<Place>,
    buffers: Buffers,
    scratch: &mut Scratch,
) {
    let (place, again) = (stretch.place(0), (stretch.from, stretch.to));
    let source = buffers.source.wrapping_offset(place.from);
    let destination = buffers.destination.wrapping_offset(place.to);
    let places = (0..stretch.count as isize).map(|number| {
        (source.wrapping_offset(number * again.0), destination.wrapping_offset(number * again.1))
    });
    // Where the unit begins that comes `ahead` units after another.
    let next = |number: usize, ahead: usize| {
        let there = match number + ahead {
            after if after < stretch.count => stretch.place(after),
            _ => then.unwrap_or(stretch.place(number)),
        };
        buffers.source.wrapping_offset(there.from)
    };
    // The first unit, if it is rows that alternate: rows of `row` bytes are fetched `far` bytes ahead.
    let zip = |stride: isize, store: Store, row: usize, far: usize| {
        let step = next(0, 1).addr().wrapping_sub(source.addr()) as isize;
        let ahead = bytes_ahead(store, row, far, usize::try_from(step).unwrap_or(0));
        Zip { count: place.columns, source, destination, stride, ahead, times: stretch.count, again }
    };
    // SAFETY: the step's places are within the buffers, by the caller's promise, and so is what each kernel reads and
    // writes: its counts are those of the loops that were taken out of the nest.
    unsafe {
        match step.work {
            Work::Whole { store } => places.for_each(|(source, destination)| {
                rows::whole(set, source, destination, place.columns, store != Store::Plain);
            }),
            Work::Copy { length, from, to, store, fetches } => {
                // Small units are fetched earlier than one unit ahead.
                let ahead = rows::AHEAD.div_ceil(step.weight);
                let rows = |number: usize, times: usize| {
                    let steps = number as isize;
                    let source = source.wrapping_offset(steps * again.0);
                    let destination = destination.wrapping_offset(steps * again.1);
                    let next = if fetches { next(number + times - 1, ahead) } else { std::ptr::null() };
                    Rows {
                        times,
                        again,
                        next,
                        ..Rows::once((place.rows, length), (source, from), (destination, to))
                    }
                };
                copy(set, store, stretch.count, rows, scratch);
            }
            Work::Runs { kernel, length, from, to } => kernel(&Runs {
                count: place.rows,
                times: stretch.count,
                again,
                length,
                source,
                source_step: from,
                destination,
                destination_step: to,
            }),
            Work::Splat { size, store } => {
                let elements = Splat {
                    size,
                    count: place.rows,
                    elements: stretch.count,
                    source,
                    source_step: again.0,
                    destination,
                    destination_step: again.1,
                };
                splat(set, &elements, store != Store::Plain);
            }
            Work::Transpose { plain, stream, size, from, to, store, fetches, .. } => {
                for (number, (source, destination)) in places.enumerate() {
                    let block = Block {
                        rows: place.rows,
                        columns: place.columns,
                        source,
                        source_stride: from,
                        destination,
                        destination_stride: to,
                        next: if fetches { next(number, 1) } else { std::ptr::null() },
                    };
                    let aligned = destination.addr().is_multiple_of(LINE);
                    match store {
                        Store::Stream if aligned && (place.rows * size).is_multiple_of(LINE) => {
                            stream(&block)
                        }
                        // Whole lines in each row, but none begins where the block does.
                        Store::Stage | Store::Stream => {
                            staged((set, size), stretch.place(number), &block, plain, buffers, scratch);
                        }
                        Store::StageWhole => {
                            let bytes = place.columns * place.rows * size;
                            let staged = scratch.stage(bytes, 0);
                            plain(&Block { destination: staged, ..block });
                            rows::stream_out(set, staged, destination, bytes);
                        }
                        _ => plain(&block),
                    }
                }
            }
            Work::Interleave { plain, stream, size, stride, store, .. } => {
                let kernel = if store == Store::Stream { stream } else { plain };
                let zip = zip(stride, store, place.columns * size, 1024);
                kernel(&zip);
            }
            Work::Deinterleave { plain, stream, size, ways, stride, store } => {
                let kernel = if store == Store::Stream { stream } else { plain };
                let zip = zip(stride, store, place.columns * ways * size, 1536);
                kernel(&zip);
            }
            Work::Grid { kernel, from, to, .. } => kernel(&Grid {
                rows: place.rows,
                columns: place.columns,
                source,
                source_steps: from,
                destination,
                destination_steps: to,
                times: stretch.count,
                again,
            }),
            Work::Line { kernel, from, to, .. } => places.for_each(|(source, destination)| {
                kernel(&Line {
                    count: place.rows,
                    source,
                    source_step: from,
                    destination,
                    destination_step: to,
                });
            }),
            // By `run`.
            Work::Network(_) | Work::Picks(_) => {}
        }
    }
}

/// Transposes a block whose destination rows begin anywhere within a line, so that whole lines are written all the same.
///
/// The rows of the block that end a destination row's last line belong to the next block. So that no line is left to two
/// blocks, each takes a line's worth of rows from the next one, and begins, in each destination row, at the first whole
/// line.
///
/// # Safety
/// As for [`run`].
unsafe fn staged(
    (set, size): (InstructionSet, usize),
    place: Place,
    block: &Block,
    plain: BlockFn,
    buffers: Buffers,
    scratch: &mut Scratch,
) {
    let borrowed = place.after.min(LINE / size);
    let rows = place.rows + borrowed;
    // An odd number of lines, so that rows of the buffer do not meet in one set of the cache.
    let stride = ((rows * size).div_ceil(LINE) | 1) * LINE;
    let staged = scratch.stage(block.columns * stride, 0);
    // SAFETY: what is borrowed is within the source, as so many rows come after this block's. Destination rows are
    // written from their first whole line on (or from their beginning) to the next block's first whole line (or to their
    // end), which is no further than what was borrowed.
    unsafe {
        plain(&Block { rows, destination: staged, destination_stride: stride as isize, ..*block });
        for column in 0..block.columns {
            let to = block.destination.offset(column as isize * block.destination_stride);
            let skip = if place.before == 0 { 0 } else { to.addr().wrapping_neg() % LINE };
            let end = to.wrapping_add(place.rows * size);
            let more =
                if place.after == 0 { 0 } else { (end.addr().wrapping_neg() % LINE).min(borrowed * size) };
            let bytes = (place.rows * size + more).saturating_sub(skip);
            // Where the first whole line lies behind all that is here, the buffer may end before it.
            let to = to.wrapping_add(skip);
            if bytes > 0 {
                debug_assert!(bounds::hold_written(buffers, to, bytes));
                rows::stream_out(set, staged.add(column * stride + skip), to, bytes);
            }
        }
    }
}

/// How many bytes ahead an interleave fetches: `far` along rows that are long enough or follow each other, else where the
/// next unit begins, which is `step` further. Within the cache there is nothing to fetch.
fn bytes_ahead(store: Store, row: usize, far: usize, step: usize) -> usize {
    match store {
        Store::Plain => 0,
        _ if row >= 4096 => far,
        _ if step > 0 && step <= far => far.next_multiple_of(step),
        _ => step,
    }
}
