//! Runs blocks.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::block::Picks;
use crate::bounds;
use crate::exec::{Buffers, Scratch};
use crate::kernels::InstructionSet;
use crate::kernels::picks::{Call, Group, Kind, PicksFn, Table};
use crate::kernels::vector::LINE;
use crate::past::Pending;
use crate::step::{Step, Walker};

/// Bytes between two passes, at most.
pub(super) const BETWEEN: usize = 32 << 10;

/// Lines between two passes.
#[repr(align(64))]
struct Between(MaybeUninit<[u8; BETWEEN]>);

/// Windows that are moved before rows of the block before are written.
const SHARE: usize = 16;

/// Runs a range of units. Inlined, its buffer would be made room for wherever anything runs.
///
/// # Safety
/// As for [`crate::exec::run`].
#[inline(never)]
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
        let past = picks.kernels.stream.filter(|_| picks.streams && picks.is_whole);
        let past = past.filter(|_| destination.addr().is_multiple_of(LINE));
        // SAFETY: the caller's promise, for one of its units.
        unsafe {
            match &picks.staged {
                Some(staged) if past.is_none() => {
                    turn = 1 - turn;
                    let buffer = scratch.stage(staged.bytes, turn);
                    let carries = pending.as_ref().is_some_and(|pending: &Pending| {
                        staged.each.is_some_and(|bytes| pending.to + bytes == place.to)
                    });
                    let following = carries.then_some(buffer);
                    let count = staged.rows.len();
                    picks.block(picks.kernels.plain, source, buffer, next, between, |(share, shares)| {
                        if let Some(pending) = &mut pending {
                            let row = |row: usize| staged.rows[row];
                            pending.write(set, row, count * share / shares, following, buffers);
                        }
                    });
                    pending = Some(Pending { to: place.to, buffer, done: 0, carries });
                }
                _ => {
                    let kernel = past.unwrap_or(picks.kernels.plain);
                    picks.block(kernel, source, destination, next, between, |_| ());
                }
            }
        }
    }
    if let (Some(staged), Some(mut pending)) = (&picks.staged, pending) {
        // SAFETY: as above.
        unsafe { pending.write(set, |row| staged.rows[row], staged.rows.len(), None, buffers) };
    }
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
        let fetch = if next.is_some() { &self.fetch[..] } else { &[] };
        let fetch = Fetch { next: next.unwrap_or(source), places: fetch, every: self.every };
        let none = Fetch { places: &[], ..fetch };
        // SAFETY: the caller's promise. Between the passes are no more bytes than there is room for.
        unsafe {
            match &self.tables[..] {
                [first, second] => {
                    debug_assert!(self.between <= BETWEEN);
                    pass(first, self.kernels.plain, (source, between), fetch, usize::MAX, |_| ());
                    pass(second, kernel, (between, destination), none, share, done);
                }
                [only, ..] => pass(only, kernel, (source, destination), fetch, share, done),
                [] => {}
            }
        }
    }
}

/// What is asked for meanwhile: places from `next` on, as many with each window whose number is a multiple of `every`.
#[derive(Clone, Copy)]
struct Fetch<'a> {
    next: *const u8,
    places: &'a [isize],
    every: usize,
}

/// Does one pass.
///
/// # Safety
/// As for [`PicksFn`], for all windows of the table.
unsafe fn pass(
    table: &Table,
    kernel: PicksFn,
    (source, destination): (*const u8, *mut u8),
    fetch: Fetch,
    share: usize,
    mut done: impl FnMut((usize, usize)),
) {
    let all = table.windows.len();
    let times = |windows: usize| windows.div_ceil(fetch.every);
    let fetches = fetch.places.len() / times(all);
    let mut call = Call {
        source,
        destination,
        window: table.windows.as_ptr(),
        pick: table.picks.as_ptr(),
        group: Group { windows: 0, count: 0, kind: Kind::Any, short: false },
        patterns: table.patterns.as_ptr(),
        fetches,
        fetch: fetch.places.as_ptr(),
        every: fetch.every,
        first: 0,
        next: fetch.next,
    };
    let mut moved = 0;
    for group in &table.groups {
        let mut left = group.windows;
        while left > 0 {
            let windows = left.min(share);
            call.group = Group { windows, ..*group };
            // SAFETY: windows of the table, their picks and what is fetched with them.
            unsafe { kernel(&call) };
            call.window = call.window.wrapping_add(windows);
            call.pick = call.pick.wrapping_add(windows * group.count);
            call.fetch = call.fetch.wrapping_add((times(moved + windows) - times(moved)) * fetches);
            left -= windows;
            moved += windows;
            call.first = moved;
            done((moved, all));
        }
    }
    debug_assert_eq!(call.fetch, fetch.places.as_ptr_range().end);
}
