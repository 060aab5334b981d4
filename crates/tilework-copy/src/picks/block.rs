//! Which loops make up a block, and the step with its list.

use std::fmt;
use std::sync::Arc;
use tilework_core::InOrder;

pub(super) use super::table::Run;
use super::table::{Hull, TooDear, tables};
use crate::choose::{sort, whole};
use crate::cost::cost;
use crate::exec::STAGE;
use crate::explain;
use crate::fetch;
use crate::kernels::picks::{Kernels, Table, picks as kernels};
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn, Turns};
use crate::past::{self, FRONT, Row};
use crate::setting::Setting;
use crate::step::{Step, Work};

/// Bytes that a block wants in a row in the destination and in the source: the first for which there is room. Where stores go past
/// the cache it is long rows of the destination that count.
const WANTED: [(usize, usize); 4] = [(512, 512), (256, 256), (128, 128), (64, 64)];
const WANTED_PAST: [(usize, usize); 7] =
    [(1024, 512), (1024, 128), (512, 128), (512, 64), (256, 64), (128, 64), (64, 64)];

/// The most bytes of a block, in the nearest cache, and where stores go past it; and the most elements: it takes its time to write
/// them down.
const MOST: usize = 8 << 10;
const MOST_PAST: usize = 24 << 10;
const ELEMENTS: usize = 8 << 10;

/// Bytes of a block that are worth a call.
const ENOUGH: usize = 4 << 10;

/// Destination rows that are no whole lines are put together in a buffer from this length on.
const STAGED: usize = 256;

/// What a block costs beside its windows, in lines that are touched.
const BLOCK_CALL: usize = 6;

/// To put windows together while memory is waited for costs this many times less: windows of a line, and short ones, which are more.
const MOVED: f64 = 4.0;
const MOVED_SHORT: f64 = 1.5;

/// A block as a list.
#[derive(Debug)]
pub(crate) struct Picks {
    /// One pass, or two; and the bytes between the two.
    pub(super) tables: Vec<Table>,
    pub(super) between: usize,
    pub(super) kernels: Kernels,
    /// Whether windows are whole lines wherever one of them is.
    pub(super) is_whole: bool,
    pub(super) streams: bool,
    /// How a block is put together, where lines are no whole ones.
    pub(super) staged: Option<Staged>,
    /// The source lines of a block: what is fetched for the next one, as many each time. That is with each window of the first
    /// pass whose number is a multiple of `every`, a power of two.
    pub(super) fetch: Vec<isize>,
    pub(super) every: usize,
    /// What a block reads and writes, as places and counts of bytes from its own.
    pub(super) read: (isize, usize),
    pub(super) written: (isize, usize),
}

/// How much less it costs to put windows together while memory is waited for.
fn meanwhile(kernels: Kernels) -> f64 {
    if kernels.width == LINE { MOVED } else { MOVED_SHORT }
}

/// Rows of the destination in a buffer.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) rows: Vec<Row>,
    /// Bytes of the buffer, and of each row if all have as many.
    pub(super) bytes: usize,
    pub(super) each: Option<isize>,
}

impl fmt::Display for Picks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.is_whole && self.kernels.stream.is_some();
        let stored = explain::blocks_stored(self.streams, whole, false, self.staged.is_some());
        f.write_str("lists of")?;
        for (k, table) in self.tables.iter().enumerate() {
            let (windows, picks) = (table.windows.len(), table.picks.len());
            let then = if k == 0 { "" } else { ", then" };
            write!(f, "{then} {windows} windows from {picks} picks")?;
        }
        write!(f, ", {stored}")
    }
}

impl Picks {
    /// What a block costs, in lines that are touched.
    pub(crate) fn cost(&self, setting: Setting) -> usize {
        let moved = self.tables.iter().map(|table| table.cost).sum::<usize>();
        let written = self.tables.last().map_or(0, |table| table.windows.len() * self.kernels.width / LINE);
        if setting.fetches {
            let split = if self.is_whole { 0 } else { written / 4 };
            BLOCK_CALL
                + self.fetch.len()
                + written
                + split
                + (moved as f64 / meanwhile(self.kernels)) as usize
        } else {
            BLOCK_CALL + moved
        }
    }

    /// All bytes that a block reads and writes, as spans from its place.
    pub(crate) fn spans(&self) -> [(isize, usize); 2] {
        [self.read, self.written]
    }
}

/// The steps that move a nest by lists, and what they leave; if there are some, and they cost no more than `limit`.
pub(crate) fn picks(nest: &ByteNest, setting: Setting, limit: f64) -> Option<(Vec<Step>, Vec<ByteNest>)> {
    kernels(setting.set)?;
    let pieces = pieces(nest, setting.streams)?;
    let mut made = Made { steps: Vec::new(), rest: Vec::new(), left: limit };
    divide(nest.clone(), pieces, 0, setting, &mut made).ok()?;
    if made.steps.is_empty() { None } else { Some((made.steps, made.rest)) }
}

/// What was made of a nest so far, and what more may cost.
struct Made {
    steps: Vec<Step>,
    rest: Vec<ByteNest>,
    left: f64,
}

/// Cuts loops into whole pieces, from one on; turns that are left over are pieces of their own.
fn divide(
    mut nest: ByteNest,
    pieces: Vec<usize>,
    first: usize,
    setting: Setting,
    made: &mut Made,
) -> Result<(), TooDear> {
    for place in first..pieces.len() {
        let Turn { extent, from, to } = nest.turns[place];
        let left = extent % pieces[place];
        if left > 0 {
            let (mut rest, mut pieces) = (nest.clone(), pieces.clone());
            (rest.turns[place].extent, pieces[place]) = (left, left);
            let before = (extent - left) as isize;
            rest.starts.iter_mut().for_each(|at| *at = (at.0 + before * from, at.1 + before * to));
            divide(rest, pieces, place + 1, setting, made)?;
            nest.turns[place].extent -= left;
        }
    }
    let blocks: f64 =
        nest.turns.iter().zip(&pieces).map(|(turn, &piece)| (turn.extent / piece) as f64).product();
    match step(&nest, &pieces, setting, made.left / (blocks * nest.starts.len() as f64))? {
        Some(step) => {
            made.left -= cost(&step, setting);
            made.steps.push(step);
        }
        None => {
            nest.turns.retain(|turn| turn.extent > 1);
            made.rest.push(nest);
        }
    }
    Ok(())
}

/// The step that moves a nest in blocks, if it can be, where each block costs no more than `limit`: each loop is cut into pieces
/// of whole turns.
fn step(nest: &ByteNest, pieces: &[usize], setting: Setting, limit: f64) -> Result<Option<Step>, TooDear> {
    let streams = setting.streams;
    let Some(kernels) = kernels(setting.set) else { return Ok(None) };
    let (mut inner, mut outer) = (Turns::new(), Turns::new());
    for (turn, &piece) in nest.turns.iter().zip(pieces) {
        inner.push(Turn { extent: piece, ..*turn });
        let (from, to) = (turn.from.wrapping_mul(piece as isize), turn.to.wrapping_mul(piece as isize));
        outer.push(Turn { extent: turn.extent / piece, from, to });
    }
    inner.retain(|turn| turn.extent > 1);
    outer.retain(|turn| turn.extent > 1);
    let Some(mut runs) = runs(nest.size, inner) else { return Ok(None) };
    let starts = nest.starts.clone();
    let hull_of = |side: fn(&Run) -> isize| {
        let low = runs.iter().map(side).min().unwrap_or(0);
        let high = runs.iter().map(|run| side(run) + run.length as isize).max().unwrap_or(0);
        Hull { low, high }
    };
    let (hull, written) = (hull_of(|run| run.from), hull_of(|run| run.to));
    if hull.high - hull.low < kernels.width as isize {
        return Ok(None);
    }
    let rows = rows(&runs);
    let lines = |step: &isize| step.unsigned_abs().is_multiple_of(LINE);
    let is_whole = rows.iter().all(|row| lines(&row.0) && row.1.is_multiple_of(LINE))
        && outer.iter().all(|turn| lines(&turn.to))
        && starts.iter().all(|start| lines(&start.1));
    let mut fetch = Vec::new();
    if setting.fetches {
        fetch = fetch::lines(runs.iter().map(|run| (run.from, run.length)), fetch::in_step(&starts, &outer));
    }
    let whole_windows = is_whole && kernels.stream.is_some();
    let staged = if streams && !whole_windows && rows.iter().all(|row| row.1 >= STAGED) {
        staged(&rows, &mut runs)
    } else {
        None
    };
    // Where it is memory that is waited for, what is done meanwhile costs a part of that.
    let limit = if setting.fetches { limit * meanwhile(kernels) } else { limit };
    // Past the cache lines go whole; where the destination leaves gaps within each, none does.
    let parts = kernels.width < LINE || streams && rows.iter().all(|row| row.1 >= LINE);
    let Some((tables, between)) = tables(&runs, kernels.width, hull, parts, limit)? else { return Ok(None) };
    let windows = tables[0].windows.len();
    let every = 1 << windows.checked_div(fetch.len()).map_or(0, |windows| windows.max(1).ilog2());
    let fetch = fetch::spread(&fetch, fetch.len().next_multiple_of(windows.div_ceil(every)));
    let weight = runs.iter().map(|run| run.length).sum::<usize>();
    let span = |hull: Hull| (hull.low, (hull.high - hull.low) as usize);
    let picks = Picks {
        tables,
        between,
        kernels,
        is_whole,
        streams,
        staged,
        fetch,
        every,
        read: span(hull),
        written: span(written),
    };
    let each = picks.staged.as_ref().and_then(|staged| staged.each);
    let mut outer = whole(&outer);
    sort(&mut outer, setting.rows());
    if let Some(each) = each {
        past::along_rows_or_source(&mut outer, each as usize);
    }
    Ok(Some(Step { starts, outer, work: Work::Picks(Arc::new(picks)), weight: weight.max(1), fills: false }))
}

/// How many turns of each loop are in a block: enough for as many bytes in a row on both sides as there is room for, and then for
/// a block that is worth its call.
fn pieces(nest: &ByteNest, streams: bool) -> Option<Vec<usize>> {
    let all = |pieces: &[usize]| pieces.iter().fold(nest.size, |bytes, &piece| bytes.saturating_mul(piece));
    let by = |side: fn(&Turn) -> isize| {
        let mut order: Vec<usize> = (0..nest.turns.len()).filter(|&k| side(&nest.turns[k]) != 0).collect();
        order.order_by_key(|&k| side(&nest.turns[k]).unsigned_abs());
        order
    };
    let orders = [by(|turn| turn.to), by(|turn| turn.from)];
    let (wanted, most) = if streams { (&WANTED_PAST[..], MOST_PAST) } else { (&WANTED[..], MOST) };
    // Elements that lie in a row on both sides are written down as one.
    let row =
        nest.turns.iter().position(|turn| (turn.from, turn.to) == (nest.size as isize, nest.size as isize));
    let is_small = |pieces: &[usize]| {
        let bytes = all(pieces);
        bytes <= most && bytes / nest.size / row.map_or(1, |row| pieces[row]) <= ELEMENTS
    };
    let in_a_row = |wanted: (usize, usize)| {
        let mut pieces = vec![1; nest.turns.len()];
        for (order, wanted) in orders.iter().zip([wanted.0, wanted.1]) {
            let mut bytes = nest.size;
            for &k in order {
                if bytes >= wanted {
                    break;
                }
                pieces[k] = piece(nest.turns[k].extent, wanted.div_ceil(bytes)).max(pieces[k]);
                bytes = bytes.saturating_mul(pieces[k]);
            }
        }
        pieces
    };
    let mut pieces = wanted.iter().map(|&wanted| in_a_row(wanted)).find(|pieces| is_small(pieces))?;
    for &k in &orders[0] {
        let bytes = all(&pieces);
        if bytes >= ENOUGH {
            break;
        }
        let extent = nest.turns[k].extent;
        let more = piece(extent, pieces[k].saturating_mul(ENOUGH.div_ceil(bytes)));
        let before = std::mem::replace(&mut pieces[k], more);
        if !is_small(&pieces) {
            pieces[k] = before;
        }
    }
    Some(pieces)
}

/// At least `least` turns of a loop, if it has them: better a few more than some that are left over.
fn piece(extent: usize, least: usize) -> usize {
    if extent <= 2 * least {
        return extent;
    }
    (least..2 * least).find(|piece| extent.is_multiple_of(*piece)).unwrap_or(least)
}

/// All runs of some loops around elements of `size` bytes, in the order of the destination.
pub(super) fn runs(size: usize, turns: Turns) -> Option<Vec<Run>> {
    let mut runs = vec![Run { to: 0, from: 0, length: size }];
    let mut turns = turns;
    turns.order_by_key(|turn| turn.to.unsigned_abs());
    for turn in &turns {
        if let [run] = &mut runs[..]
            && (turn.from, turn.to) == (run.length as isize, run.length as isize)
        {
            run.length *= turn.extent;
            continue;
        }
        let count = runs.len();
        for k in 1..turn.extent as isize {
            let (from, to) = (k.checked_mul(turn.from)?, k.checked_mul(turn.to)?);
            for run in 0..count {
                runs.push(Run { to: runs[run].to + to, from: runs[run].from + from, ..runs[run] });
            }
        }
    }
    if !runs.is_sorted_by_key(|run| run.to) {
        runs.sort_unstable_by_key(|run| run.to);
    }
    Some(runs)
}

/// What lies in a row in the destination: where, and how many bytes.
fn rows(runs: &[Run]) -> Vec<(isize, usize)> {
    let mut rows: Vec<(isize, usize)> = Vec::new();
    for run in runs {
        match rows.last_mut() {
            Some(row) if row.0 + row.1 as isize == run.to => row.1 += run.length,
            _ => rows.push((run.to, run.length)),
        }
    }
    rows
}

/// Sends runs to a buffer in which each row has lines of its own, if there is room.
fn staged(rows: &[(isize, usize)], runs: &mut [Run]) -> Option<Staged> {
    let mut at = FRONT;
    let mut staged = Vec::with_capacity(rows.len());
    for &(to, bytes) in rows {
        staged.push(Row { to, at, bytes });
        at += past::pitch(bytes);
    }
    if at > STAGE {
        return None;
    }
    let mut row = 0;
    for run in runs {
        while run.to >= staged[row].to + staged[row].bytes as isize {
            row += 1;
        }
        run.to += staged[row].at as isize - staged[row].to;
    }
    let first = staged[0].bytes;
    let each = staged.iter().all(|row| row.bytes == first).then_some(first as isize);
    Some(Staged { rows: staged, bytes: at, each })
}
