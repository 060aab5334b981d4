//! Runs blocks.
//!
//! Where lines of the destination are whole, a call writes them. Else there are three streams: while a block goes into a
//! buffer, the next one's source is fetched, and the rows of the one before are written out of another buffer.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::blocks::{Blocks, Carried, Staged};
use super::network::Side;
use crate::bounds;
use crate::carry::{Carry, Rows};
use crate::exec::{Buffers, Scratch};
use crate::kernels::InstructionSet;
use crate::kernels::carry::Held;
use crate::kernels::net::{Calls, Carrying, HALF, LANE, Pass, PassFn, STAGES};
use crate::kernels::vector::LINE;
use crate::past::{FRONT, Pending, Row};
use crate::step::{Step, Walker};

/// Lines between two passes.
#[repr(align(64))]
struct Between(MaybeUninit<[u8; MOST * LINE]>);

/// The most lines of a call, and the most calls in a row.
pub(super) const MOST: usize = 64;

/// Multiples of a line, of each width.
const LINES: [isize; MOST] = multiples(LINE);
const HALVES: [isize; MOST] = multiples(HALF);
const LANES: [isize; MOST] = multiples(LANE);

const fn multiples(width: usize) -> [isize; MOST] {
    let mut multiples = [0; MOST];
    let mut k = 0;
    while k < MOST {
        multiples[k] = (k * width) as isize;
        k += 1;
    }
    multiples
}

/// Where all calls begin at one place.
const NONE: [isize; MOST] = [0; MOST];

/// A block on its way.
struct Block<'a> {
    blocks: &'a Blocks,
    rows: usize,
    columns: usize,
    source: *const u8,
    destination: *mut u8,
    next: *const u8,
    /// Whether there is a next one to fetch.
    fetches: bool,
    kernel: PassFn,
    /// Where lines and columns go.
    lines: &'a [isize],
    column_places: &'a [isize],
    /// What is held of rows that are carried on.
    held: Option<Held>,
}

/// Runs a range of units. Inlined, its buffer would be made room for wherever anything runs.
///
/// # Safety
/// As for [`crate::exec::run`].
#[inline(never)]
pub(crate) unsafe fn run(
    set: InstructionSet,
    step: &Step,
    blocks: &Blocks,
    units: Range<usize>,
    buffers: Buffers,
    scratch: &mut Scratch,
) {
    let mut between = Between(MaybeUninit::uninit());
    let mut walker = Walker::at(step, units.start);
    let mut pending: Option<Pending> = None;
    let mut rows_of_pending = 0;
    let mut bytes_of_pending = 0;
    let mut turn = 0;
    let mut carry: Option<Carry> = None;
    let zero: &[isize] = &[0];
    for unit in units.clone() {
        let place = walker.place();
        walker.advance();
        let next = walker.place();
        debug_assert!(bounds::hold_unit(buffers, &step.work, place), "{:?} at {place:?}", step.work);
        let destination = buffers.destination.wrapping_offset(place.to);
        let (rows, columns) = (place.rows * blocks.rows.each, place.columns * blocks.columns.each);
        let bytes = place.rows * blocks.rows.bytes;
        let streams = blocks.streams
            && blocks.is_whole
            && destination.addr().is_multiple_of(LINE)
            && bytes.is_multiple_of(LINE);
        let mut block = Block {
            blocks,
            rows,
            columns,
            source: buffers.source.wrapping_offset(place.from),
            destination,
            next: buffers.source.wrapping_offset(next.from),
            fetches: unit + 1 < units.end,
            kernel: if streams { blocks.stream } else { blocks.plain },
            lines: blocks.own.as_ref().map_or(zero, |own| &own.to),
            column_places: &blocks.columns.to,
            held: None,
        };
        // SAFETY: the caller's promise, for one of its units.
        unsafe {
            if let Some(carried) = blocks.carried.as_ref().filter(|_| !streams) {
                let carry = carry.get_or_insert_with(|| Carry::new(scratch));
                let rows = Rows { to: place.to, count: columns * carried.pieces.len(), bytes };
                block.kernel = carried.kernel;
                block.held = Some(carry.next(rows, |row| carried.place(blocks, row), buffers));
                block.run(&mut between, |_| ());
                continue;
            }
            match &blocks.staged {
                Some(staged) if !streams => {
                    let count = columns * staged.pieces.len();
                    turn = 1 - turn;
                    let buffer = scratch.stage(count * staged.pitch + FRONT, turn);
                    block.destination = buffer.add(FRONT);
                    (block.lines, block.column_places) = (&staged.lines, &staged.columns);
                    let carries = pending.as_ref().is_some_and(|pending: &Pending| {
                        pending.to + bytes_of_pending as isize == place.to && rows_of_pending == count
                    });
                    let next = carries.then_some(buffer);
                    let row = staged.row(blocks, bytes_of_pending);
                    block.run(&mut between, |(share, shares)| {
                        if let Some(pending) = &mut pending {
                            pending.write(set, &row, rows_of_pending * share / shares, next, buffers);
                        }
                    });
                    pending = Some(Pending { to: place.to, buffer, done: 0, carries });
                    (rows_of_pending, bytes_of_pending) = (count, bytes);
                }
                _ => block.run(&mut between, |_| ()),
            }
        }
    }
    if let (Some(carried), Some(mut carry)) = (&blocks.carried, carry) {
        // SAFETY: as above.
        unsafe { carry.finish(|row| carried.place(blocks, row), buffers) };
    }
    if let (Some(staged), Some(mut pending)) = (&blocks.staged, pending) {
        // SAFETY: as above.
        unsafe {
            pending.write(set, staged.row(blocks, bytes_of_pending), rows_of_pending, None, buffers);
        }
    }
}

impl Carried {
    /// Where a row is, from the place of its block.
    fn place(&self, blocks: &Blocks, row: usize) -> isize {
        blocks.columns.to[row / self.pieces.len()] + self.pieces[row % self.pieces.len()]
    }
}

impl Staged {
    /// The rows of a block, each of so many bytes.
    fn row<'a>(&'a self, blocks: &'a Blocks, bytes: usize) -> impl Fn(usize) -> Row + 'a {
        move |row| {
            let (column, piece) = (row / self.pieces.len(), row % self.pieces.len());
            Row { to: blocks.columns.to[column] + self.pieces[piece], at: FRONT + row * self.pitch, bytes }
        }
    }
}

impl Block<'_> {
    /// Moves the block; after each row of calls, `done` hears how many of how many are.
    ///
    /// # Safety
    /// As for [`run`].
    unsafe fn run(&self, between: &mut Between, mut done: impl FnMut((usize, usize))) {
        let blocks = self.blocks;
        let taken = blocks.taken();
        let (inner, outer) = match blocks.inner {
            Side::Source => (self.columns, self.rows),
            Side::Destination => (self.rows, self.columns),
        };
        let shares = outer.div_ceil(taken);
        let mut fetch = blocks.fetch.as_ptr();
        for share in 0..shares {
            let at = (share * taken).min(outer - taken);
            // Where calls take several entries, the last one goes back to overlap the one before.
            let full = inner / taken;
            let rest = usize::from(full * taken < inner);
            let begins = self.held.is_some_and(|held| held.begin);
            // Where rows begin, their first lines are apart.
            let first = match blocks.inner {
                Side::Destination if begins => 1,
                _ => full,
            };
            let parts = [(0, first), (first * taken, full - first), (inner - taken, rest)];
            for (start, count) in parts.into_iter().filter(|part| part.1 > 0) {
                let over = (share * taken - at, if start % taken == 0 { 0 } else { full * taken - start });
                let calls = match blocks.inner {
                    Side::Source => self.calls((at, start), over, count, fetch),
                    Side::Destination => self.calls((start, at), (over.1, over.0), count, fetch),
                };
                fetch = fetch.wrapping_add(calls.fetches * count);
                // SAFETY: the lines of each call are within the buffers by the caller's promise, and the lists are as
                // long as there are calls: a unit has no more rows and columns than its chains.
                unsafe {
                    match (blocks.first, &blocks.passes[..]) {
                        (None, [pass, ..]) => (self.kernel)(pass, &calls),
                        (Some(first), [one, two, ..]) => {
                            two_passes((first, self.kernel), (one, two), &calls, between);
                        }
                        _ => {}
                    }
                }
            }
            done((share + 1, shares));
        }
    }

    /// `count` calls from a row and a column on, along the inner side; the first ones of the rows and columns were moved before.
    fn calls(
        &self,
        (row, column): (usize, usize),
        (rows_over, columns_over): (usize, usize),
        count: usize,
        fetch: *const isize,
    ) -> Calls {
        let blocks = self.blocks;
        let (rows, columns) = (&blocks.rows, &blocks.columns);
        let by_rows = blocks.inner == Side::Destination;
        let lines = match blocks.width {
            LINE => &LINES,
            HALF => &HALVES,
            _ => &LANES,
        }
        .as_ptr();
        let calls = Calls {
            count,
            source: self.source.wrapping_offset(columns.from[column]),
            sources: NONE.as_ptr(),
            from: rows.from[row..].as_ptr(),
            from_step: 0,
            destination: self.destination.wrapping_offset(rows.to[row]),
            destinations: NONE.as_ptr(),
            to: self.column_places[column..].as_ptr(),
            to_step: 0,
            to_stride: 1,
            fetches: if self.fetches { blocks.fetches } else { 0 },
            fetch,
            next: self.next,
            carrying: self.carrying((row, column), (rows_over, columns_over)),
        };
        match &blocks.own {
            None if by_rows => Calls { from_step: blocks.lines, destinations: lines, ..calls },
            None => Calls { to_step: blocks.lines, sources: lines, ..calls },
            Some(own) => {
                let calls = Calls { from: own.from.as_ptr(), to: self.lines.as_ptr(), ..calls };
                if by_rows {
                    let destination = self.destination.wrapping_offset(self.column_places[column]);
                    let (sources, destinations) = (rows.from[row..].as_ptr(), rows.to[row..].as_ptr());
                    return Calls { sources, destination, destinations, ..calls };
                }
                let source = self.source.wrapping_offset(rows.from[row]);
                let sources = columns.from[column..].as_ptr();
                Calls { source, sources, destinations: self.column_places[column..].as_ptr(), ..calls }
            }
        }
    }

    /// How the rows go on to which the lines of these calls belong.
    fn carrying(&self, (row, column): (usize, usize), (rows_over, columns_over): (usize, usize)) -> Carrying {
        let blocks = self.blocks;
        let (Some(held), Some(carried)) = (self.held, &blocks.carried) else { return Carrying::NONE };
        let begin = held.begin && row == 0;
        // A network has its own lines in each column; of squares, columns are lines.
        let (first, number, step) = match blocks.own {
            None => (0, column, 0),
            Some(_) if blocks.inner == Side::Destination => (column * carried.pieces.len(), 0, 0),
            Some(_) => (column * carried.pieces.len(), 0, carried.pieces.len() * LINE),
        };
        let held = Held { begin, ..held.from(first) };
        Carrying {
            held,
            hold: carried.holds[number..].as_ptr(),
            step: step as isize,
            ends: begin || rows_over > 0,
            firsts: carried.firsts[number..].as_ptr(),
            over: rows_over * blocks.entry(),
            skip: columns_over,
        }
    }
}

/// Calls both passes of a network, one call after the other.
///
/// # Safety
/// As for [`PassFn`], for both.
unsafe fn two_passes(
    (first, second): (PassFn, PassFn),
    (one, two): (&Pass, &Pass),
    calls: &Calls,
    between: &mut Between,
) {
    // The first pass takes so many lines at a time, `groups` times; the second as many lines as there are groups.
    let (lines, groups) = (1 << one.count, 1 << two.count);
    let between: *mut u8 = between.0.as_mut_ptr().cast();
    let spread: [isize; 1 << STAGES] = std::array::from_fn(|k| (k * groups * LINE) as isize);
    let fetches = calls.fetches.div_ceil(groups);
    for call in 0..calls.count {
        // SAFETY: the caller's promise for what is read and written; between the passes, the lines of both are all of the
        // buffer's first `lines * groups`, which are no more than it has. Fetched is what stands in the list, of which
        // the last calls may begin earlier.
        unsafe {
            first(
                one,
                &Calls {
                    count: groups,
                    source: calls.source.wrapping_offset(*calls.sources.add(call)),
                    sources: NONE.as_ptr(),
                    from: calls.from.add(call * calls.from_step),
                    from_step: lines,
                    destination: between,
                    destinations: LINES.as_ptr(),
                    to: spread.as_ptr(),
                    to_step: 0,
                    to_stride: 1,
                    fetches,
                    fetch: calls.fetch.add(call * fetches * groups),
                    next: calls.next,
                    carrying: Carrying::NONE,
                },
            );
            second(
                two,
                &Calls {
                    count: lines,
                    source: between,
                    sources: spread.as_ptr(),
                    from: LINES.as_ptr(),
                    from_step: 0,
                    destination: calls.destination.wrapping_offset(*calls.destinations.add(call)),
                    destinations: NONE.as_ptr(),
                    to: calls.to.add(call * calls.to_step),
                    to_step: 1,
                    to_stride: lines,
                    fetches: 0,
                    fetch: std::ptr::null(),
                    next: std::ptr::null(),
                    carrying: calls.carrying.of(call, call * calls.to_step),
                },
            );
        }
    }
}
