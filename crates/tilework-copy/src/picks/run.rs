//! Runs blocks.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::{Picks, Staged};
use crate::bounds;
use crate::exec::{Buffers, Scratch};
use crate::kernels::picks::{Call, PicksFn, Table};
use crate::kernels::vector::LINE;
use crate::kernels::{InstructionSet, rows};
use crate::step::{Place, Step, Walker};

/// Bytes between two passes, at most.
pub(super) const BETWEEN: usize = 32 << 10;

/// Lines between two passes.
#[repr(align(64))]
struct Between(MaybeUninit<[u8; BETWEEN]>);

/// Windows that are moved before rows of the block before are written.
const SHARE: usize = 16;

/// A block that stands in a buffer: its place, and how many of its rows were written.
struct Pending {
    place: Place,
    buffer: *const u8,
    done: usize,
}

/// Runs a range of units.
///
/// # Safety
/// As for [`crate::exec::run`].
pub(crate) unsafe fn run(
    set: InstructionSet,
    step: &Step,
    picks: &Picks,
    units: Range<usize>,
    buffers: Buffers,
    scratch: &mut Scratch,
) {
    let mut between = Between(MaybeUninit::uninit());
    let between: *mut u8 = between.0.as_mut_ptr().cast();
    let mut walker = Walker::at(step, units.start);
    let mut pending: Option<Pending> = None;
    let mut turn = 0;
    for unit in units.clone() {
        let place = walker.place();
        walker.advance();
        let next = walker.place();
        debug_assert!(bounds::hold_unit(buffers, &step.work, place), "{:?} at {place:?}", step.work);
        let source = buffers.source.wrapping_offset(place.from);
        let destination = buffers.destination.wrapping_offset(place.to);
        let next = (unit + 1 < units.end).then(|| buffers.source.wrapping_offset(next.from));
        let streams = picks.streams && picks.is_whole && destination.addr().is_multiple_of(LINE);
        // SAFETY: the caller's promise, for one of its units.
        unsafe {
            match &picks.staged {
                Some(staged) if !streams => {
                    turn = 1 - turn;
                    let buffer = scratch.stage(staged.bytes, turn);
                    picks.block(picks.plain, source, buffer, next, between, |share| {
                        write(set, staged, pending.as_mut(), share, buffers);
                    });
                    pending = Some(Pending { place, buffer, done: 0 });
                }
                _ => {
                    let kernel = if streams { picks.stream } else { picks.plain };
                    picks.block(kernel, source, destination, next, between, |_| ());
                }
            }
        }
    }
    if let Some(staged) = &picks.staged {
        // SAFETY: as above.
        unsafe { write(set, staged, pending.as_mut(), (1, 1), buffers) };
    }
}

/// Writes rows of a pending block, until so many of so many shares are written.
///
/// # Safety
/// As for [`run`]; the buffer holds the block.
unsafe fn write(
    set: InstructionSet,
    staged: &Staged,
    pending: Option<&mut Pending>,
    (share, shares): (usize, usize),
    buffers: Buffers,
) {
    let Some(pending) = pending else { return };
    let end = staged.rows.len() * share / shares;
    for &(to, at, bytes) in &staged.rows[pending.done..end] {
        let to = buffers.destination.wrapping_offset(pending.place.to + to);
        debug_assert!(bounds::hold_written(buffers, to, bytes));
        // SAFETY: a row of the destination within the block, and its bytes in the buffer.
        unsafe { rows::stream_out(set, pending.buffer.add(at), to, bytes) };
    }
    pending.done = end;
}

impl Picks {
    /// Moves a block; after each share of its windows, `done` hears how many of how many are.
    ///
    /// # Safety
    /// As for [`run`]; `between` has [`BETWEEN`] bytes.
    unsafe fn block(
        &self,
        kernel: PicksFn,
        source: *const u8,
        destination: *mut u8,
        next: Option<*const u8>,
        between: *mut u8,
        done: impl FnMut((usize, usize)),
    ) {
        // Where nothing is written in between, all windows go at once.
        let share = if self.staged.is_some() { SHARE } else { usize::MAX };
        let fetch = (next.unwrap_or(source), if next.is_some() { &self.fetch[..] } else { &[] });
        // SAFETY: the caller's promise. Between the passes are no more bytes than there is room for.
        unsafe {
            match &self.tables[..] {
                [first, second] => {
                    debug_assert!(self.between <= BETWEEN);
                    pass(first, self.plain, (source, between), fetch, usize::MAX, |_| ());
                    pass(second, kernel, (between, destination), (between, &[]), share, done);
                }
                [only, ..] => pass(only, kernel, (source, destination), fetch, share, done),
                [] => {}
            }
        }
    }
}

/// Does one pass.
///
/// # Safety
/// As for [`PicksFn`], for all windows of the table.
unsafe fn pass(
    table: &Table,
    kernel: PicksFn,
    (source, destination): (*const u8, *mut u8),
    (next, fetch): (*const u8, &[isize]),
    share: usize,
    mut done: impl FnMut((usize, usize)),
) {
    let all = table.windows.len();
    let fetches = fetch.len() / all;
    let mut call = Call {
        source,
        destination,
        window: table.windows.as_ptr(),
        pick: table.picks.as_ptr(),
        windows: 0,
        count: 0,
        patterns: table.patterns.as_ptr(),
        fetches,
        fetch: fetch.as_ptr(),
        next,
    };
    let mut moved = 0;
    for &(count, windows) in &table.groups {
        let mut left = windows;
        while left > 0 {
            (call.count, call.windows) = (count, left.min(share));
            // SAFETY: windows of the table, their picks and what is fetched with them.
            unsafe { kernel(&call) };
            call.window = call.window.wrapping_add(call.windows);
            call.pick = call.pick.wrapping_add(call.windows * count);
            call.fetch = call.fetch.wrapping_add(call.windows * fetches);
            left -= call.windows;
            moved += call.windows;
            done((moved, all));
        }
    }
}
