//! Which kernel moves a nest by its unit loops, and in what order the loops around it go.
//!
//! Most kernels know *unit* loops, those that move one element: in the source, in the destination, or in both.
//!
//! ```text
//! both sides, the same loop          rows                  copied, long or short
//! both sides, two loops              a transpose           in blocks; if one of the loops is short, an interleave
//! the destination repeats an element a broadcast           splat
//! one side or none                   elements at steps     line after line
//! ```
//!
//! Where these loops are short, such a kernel moves a few bytes a call, and touches each line many times: for the other ways, see
//! [`crate::ways`].

mod blocks;

use smallvec::{SmallVec, smallvec};
use tilework_core::InOrder;

use crate::kernels;
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn, Turns};
use crate::setting::Setting;
use crate::step::{Cut, Outer, Part, Step, Store, Work};

/// Rows of this many bytes or more are copied by the row kernel; shorter ones by one that has no call for each.
const SHORT: usize = 64;

/// Bytes that a unit should move: large against the cost of finding its place, small against a share of the work.
const UNIT: usize = 16 << 10;

/// Fewer units than this that differ only in where they are: finding places takes longer than what is done there.
const FEW: usize = 8;

/// Units of this many bytes within the last cache share few lines with what comes before and after.
const MANY: usize = 512;

/// Rows that fill this many bytes of the destination together are written fast wherever the next ones go.
const UNBROKEN: usize = 256;

/// An element that fills this many bytes or more has a kernel call of its own.
const REPEATED: usize = 64;

/// Bytes of a unit where everything is one long row.
const WHOLE: usize = 256 << 10;

/// Chooses the kernel for the unit loops of a nest.
pub(crate) fn by_unit_loops(mut nest: ByteNest, setting: Setting) -> Step {
    let repeats = nest.turns.last().is_some_and(|turn| {
        let only = nest.turns.iter().all(|turn| turn.from == 0);
        (turn.from, turn.to) == (0, nest.size as isize) && (only || turn.extent * nest.size >= REPEATED)
    });
    if repeats {
        return splat(nest, setting);
    }
    let run = nest.take_run();
    if run > nest.size {
        if !matches!(run, 2 | 4 | 8 | 16) || nest.turns.is_empty() {
            return rows(nest, run, setting);
        }
        nest.size = run;
    }
    if nest.turns.is_empty() {
        return rows(nest, run, setting);
    }
    transpose(nest, setting)
}

/// Rows of `length` bytes that lie next to each other on both sides.
fn rows(mut nest: ByteNest, length: usize, setting: Setting) -> Step {
    if nest.turns.is_empty() && length >= SHORT {
        let all = Turn { extent: length, from: 1, to: 1 };
        let outer = smallvec![cut(all, WHOLE, Part::Columns)];
        return finish(nest, outer, Work::Whole { store: setting.rows() }, WHOLE.min(length), setting);
    }
    let begin_lines = |step: fn(&Turn) -> isize| {
        nest.turns.iter().all(|turn| step(turn).unsigned_abs().is_multiple_of(LINE))
    };
    let (reads_lines, begins_lines) = (begin_lines(|turn| turn.from), begin_lines(|turn| turn.to));
    let whole_lines = begins_lines && length.is_multiple_of(LINE);
    // Short rows of whole lines that pass the cache go in the source's order; longer ones only if it is whole lines that are read.
    let short = if reads_lines { 512 } else { 256 };
    let by_source = setting.streams && whole_lines && length <= short;
    order(&mut nest.turns, by_source);
    if let Some((inner, others)) = nest.turns.split_last_mut()
        && setting.streams
        && inner.to == length as isize
        && inner.extent * length >= UNBROKEN
    {
        order(others, true);
    }
    let inner = nest.turns.pop().unwrap_or(Turn { extent: 1, from: length as isize, to: length as isize });
    let adjacent = inner.to == length as isize;
    let piece = (UNIT / length).max(1);
    // Within the caches two lines of any length are short as well.
    let work = if length < SHORT || length <= 2 * LINE && !setting.streams {
        let kernel = kernels::runs(setting.set, length);
        Work::Runs { kernel, length, from: inner.from, to: inner.to }
    } else {
        let store = match setting.streams {
            false => Store::Plain,
            true if whole_lines || length >= if begins_lines { 2 * LINE } else { 1024 } => Store::Stream,
            true if adjacent && nest.turns.iter().all(|turn| turn.to != 0) => Store::Stage,
            true => Store::Plain,
        };
        Work::Copy { length, from: inner.from, to: inner.to, store, fetches: setting.fetches }
    };
    let mut outer = whole(&nest.turns);
    outer.push(cut(inner, piece, Part::Rows));
    // Whole lines are touched once: they are as good as near.
    let setting = if whole_lines && reads_lines && !setting.streams { setting.near() } else { setting };
    finish(nest, outer, work, piece.min(inner.extent) * length, setting)
}

/// One element, repeated.
fn splat(mut nest: ByteNest, setting: Setting) -> Step {
    let inner = nest.turns.pop().unwrap_or(Turn { extent: 1, from: 0, to: nest.size as isize });
    let piece = UNIT / nest.size;
    let mut outer = whole(&nest.turns);
    outer.push(cut(inner, piece, Part::Rows));
    let work = Work::Splat { size: nest.size, store: setting.rows() };
    let weight = piece.min(inner.extent) * nest.size;
    finish(nest, outer, work, weight, setting)
}

/// Elements that are not in runs.
fn transpose(mut nest: ByteNest, setting: Setting) -> Step {
    let size = nest.size as isize;
    let in_destination = nest.turns.iter().position(|turn| turn.to == size);
    let in_source = nest.turns.iter().position(|turn| turn.from.abs() == size);
    let (Some(b), Some(a)) = (in_destination, in_source) else { return lines(nest, setting) };
    let (mut columns, rows) = (nest.turns[a], nest.turns[b]);
    if a == b || rows.from == 0 && rows.extent > 16 {
        return lines(nest, setting);
    }
    if columns.from < 0 {
        // Forward in the source, and so backward in the destination.
        let steps = columns.extent as isize - 1;
        for start in &mut nest.starts {
            *start = (start.0 + steps * columns.from, start.1 + steps * columns.to);
        }
        columns = Turn { from: -columns.from, to: -columns.to, ..columns };
    }
    let outer: Turns =
        nest.turns.iter().enumerate().filter(|&(k, _)| k != a && k != b).map(|(_, turn)| *turn).collect();
    let bytes = nest.size;
    let (ways, count) = (rows.extent, columns.extent);
    if columns.to == size * ways as isize
        && count >= ways
        && let Some(kernel) = kernels::interleave(setting.set, bytes, ways)
    {
        let work = Work::Interleave {
            plain: kernel.plain,
            stream: kernel.stream,
            size: bytes,
            ways,
            stride: rows.from,
            store: setting.rows(),
        };
        return zip(nest, outer, columns, ways, work, setting);
    }
    let (ways, count) = (columns.extent, rows.extent);
    // Past the cache, many rows at once are quicker only where their elements are wide.
    if rows.from == size * ways as isize
        && columns.to > 0
        && count >= ways
        && (ways < 8 || bytes == 8 || !setting.streams)
        && let Some(kernel) = kernels::deinterleave(setting.set, bytes, ways)
    {
        let work = Work::Deinterleave {
            plain: kernel.plain,
            stream: kernel.stream,
            size: bytes,
            ways,
            stride: columns.to,
            store: setting.rows(),
        };
        return zip(nest, outer, rows, ways, work, setting);
    }
    blocks::transposed(nest, outer, rows, columns, setting)
}

/// Rows that alternate on one side; `long` is the loop along them.
fn zip(nest: ByteNest, outer: Turns, long: Turn, ways: usize, work: Work, setting: Setting) -> Step {
    let mut outer = whole(&outer);
    let line = LINE / nest.size;
    let piece = (UNIT / (ways * nest.size)).next_multiple_of(line);
    outer.push(cut(long, piece, Part::Columns));
    let weight = piece.min(long.extent) * ways * nest.size;
    sort(&mut outer, setting.rows());
    finish(nest, outer, work, weight, setting)
}

/// Elements at any steps: the innermost loop is the one with the smallest step in the destination, and the loop with
/// the smallest step in the source goes around it in short pieces, so that its lines are used while they are near.
fn lines(mut nest: ByteNest, setting: Setting) -> Step {
    let inner = nest.turns.pop().unwrap_or(Turn { extent: 1, from: 0, to: 0 });
    let kernel = kernels::gather(setting.set, nest.size, inner.from, inner.to);
    let mut outer = whole(&nest.turns);
    let piece = if nest.turns.is_empty() { UNIT / nest.size } else { 256 };
    outer.push(cut(inner, piece, Part::Rows));
    sort(&mut outer, Store::Plain);
    let work = Work::Line { kernel, size: nest.size, from: inner.from, to: inner.to };
    let weight = piece.min(inner.extent) * nest.size;
    finish(nest, outer, work, weight, setting)
}

/// Elements one by one, in the loop with the smallest step of the destination and that of the source; they may be runs that have
/// the size of an element.
pub(crate) fn grid(mut nest: ByteNest, setting: Setting) -> Option<Step> {
    let size = nest.take_run();
    let kernel = kernels::grid::grid(size)?;
    let nearest = |turns: &Turns, side: fn(&Turn) -> isize| {
        (0..turns.len()).filter(|&k| side(&turns[k]) != 0).min_by_key(|&k| side(&turns[k]).unsigned_abs())
    };
    let column = nearest(&nest.turns, |turn| turn.to)?;
    let along_both = nearest(&nest.turns, |turn| turn.from) == Some(column);
    let column = nest.turns.remove(column);
    let row = match nearest(&nest.turns, |turn| turn.from) {
        Some(row) => nest.turns.remove(row),
        None => Turn { extent: 1, from: 0, to: 0 },
    };
    let side = if setting.fetches { 64 } else { 256 };
    let mut columns = column.extent.min(4 * side);
    let mut rows = row.extent.min(side.max(UNIT / size / columns));
    if along_both {
        // One row after the other, as far as it goes: so memory is read and written in order.
        columns = column.extent.min(UNIT / size);
        rows = row.extent.min((UNIT / size / columns).max(1));
    }
    let mut outer = whole(&nest.turns);
    outer.push(cut(row, rows, Part::Rows));
    outer.push(cut(column, columns, Part::Columns));
    sort(&mut outer, Store::Plain);
    let work = Work::Grid { kernel, size, from: (row.from, column.from), to: (row.to, column.to) };
    Some(finish(nest, outer, work, rows * columns * size, setting))
}

fn finish(
    nest: ByteNest,
    mut outer: SmallVec<[Outer; 8]>,
    work: Work,
    weight: usize,
    setting: Setting,
) -> Step {
    // Loops of one turn go first, where nobody steps through them.
    outer.order_by_key(|outer| outer.turn.extent > 1);
    // Where all lines are near, or units are of many lines, what counts is that units which differ only in where they are follow each
    // other.
    if (!setting.fetches || !setting.streams && weight >= MANY)
        && let Some(many) = outer.iter().rposition(|outer| outer.turn.extent >= FEW)
    {
        let many = outer.remove(many);
        outer.push(many);
    }
    Step { starts: nest.starts, outer, work, weight: weight.max(1), fills: false }
}

/// Loops that tell the kernel nothing.
pub(crate) fn whole(turns: &[Turn]) -> SmallVec<[Outer; 8]> {
    turns.iter().map(|&turn| Outer { turn, part: Part::Whole }).collect()
}

/// A loop over pieces of another.
pub(crate) fn cut(turn: Turn, piece: usize, part: fn(Cut) -> Part) -> Outer {
    let piece = piece.clamp(1, turn.extent);
    // Where the piece is everything, a step is beyond all places, and none is done.
    let pieces = Turn {
        extent: turn.extent.div_ceil(piece),
        from: turn.from.wrapping_mul(piece as isize),
        to: turn.to.wrapping_mul(piece as isize),
    };
    Outer { turn: pieces, part: part(Cut { whole: turn.extent, piece }) }
}

/// The order of loops around rows.
///
/// Rows go in the destination's order. Only short ones that are stored past the cache go in the source's: reads that
/// follow each other are fetched by the machine itself, and stores past the cache do not care where they go. What adjoins in the
/// source may lie in one line, which else comes from memory for each of its rows.
fn order(turns: &mut [Turn], by_source: bool) {
    turns.order_by_key(|turn| {
        let (from, to) = (turn.from.unsigned_abs(), turn.to.unsigned_abs());
        std::cmp::Reverse(if by_source { (from, to) } else { (to, from) })
    });
}

/// The order of loops around a block, for the same reasons: the source's, if stores go past the cache; else whichever
/// side moves less decides, so that lines of both are used while they are near.
pub(crate) fn sort(outer: &mut [Outer], store: Store) {
    outer.order_by_key(|outer| {
        let (from, to) = (outer.turn.from.unsigned_abs(), outer.turn.to.unsigned_abs());
        std::cmp::Reverse(if store == Store::Plain { (from.min(to), from) } else { (from, to) })
    });
}
