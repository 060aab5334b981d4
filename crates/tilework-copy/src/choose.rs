//! Which kernel moves a nest, and in what order the loops around it go.
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
//! Where these loops are short, such a kernel moves a few bytes a call, and touches each line many times. A network of lines
//! ([`crate::net`]) takes several loops at a time. Which is better is estimated, from the lines that either touches; there is no
//! list of cases.

use smallvec::{SmallVec, smallvec};

use crate::exec::STAGE;
use crate::kernels::net::LANE;
use crate::kernels::vector::LINE;
use crate::kernels::{self, InstructionSet, ZipFn};
use crate::nest::{ByteNest, Turn, Turns};
use crate::net;
use crate::picks;
use crate::setting::Setting;
use crate::step::{Cut, Outer, Part, Step, Store, Work};

/// Rows of so many bytes are copied by the row kernel; shorter ones by one that has no call for each.
const SHORT: usize = 64;

/// Rows of so many bytes are copied as fast as can be.
const LONG: usize = 1024;

/// Bytes that a unit should move: large against the cost of finding its place, small against a share of the work.
const UNIT: usize = 16 << 10;

/// An element that fills so many bytes has a kernel call of its own.
const REPEATED: usize = 256;

/// Lines that are touched for each line of the elements, 2 of them being the least, with which there is nothing to look for.
const ENOUGH: f64 = 2.3;

/// What is thought to cost no more than so many times the best may be better: the estimate is that far off.
const CLOSE: f64 = 1.6;

/// How many of those are tried.
pub(crate) const CANDIDATES: usize = 3;

/// What a call of a kernel costs, in lines that are touched.
const CALL: usize = 10;

/// What a row costs that is copied by itself, beside its lines.
const ROW: usize = 4;

/// Bytes of a unit where everything is one long row.
const WHOLE: usize = 256 << 10;

/// Bytes of a destination row that are collected before they are stored.
const COLLECTED: usize = 2048;

/// Ways to move a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By its unit loops.
    Units,
    /// Through a network of lines of so many bytes.
    Network(usize),
    /// In squares of a line of so many bytes by a line.
    Squares(usize),
    /// By a list.
    Picks,
    /// Element by element, in two loops.
    Grid,
}

impl Way {
    /// In the order in which they are looked at.
    pub(crate) const ALL: [Way; 7] = [
        Way::Units,
        Way::Network(LINE),
        Way::Squares(LINE),
        Way::Picks,
        Way::Grid,
        Way::Network(LANE),
        Way::Squares(LANE),
    ];

    /// The steps that move a nest in this way, or most of it, and what they leave; if it can be.
    fn steps(self, nest: &ByteNest, setting: Setting) -> Option<(Vec<Step>, Vec<ByteNest>)> {
        let one = |(step, rest)| (vec![step], rest);
        match self {
            Way::Units => Some((vec![by_unit_loops(nest.clone(), setting)], Vec::new())),
            Way::Network(width) => net::blocks(nest, width, setting).map(one),
            Way::Squares(width) => net::squares(nest, width, setting).map(|step| (vec![step], Vec::new())),
            Way::Picks => picks::picks(nest, 1, setting),
            Way::Grid => Some((vec![grid(nest.clone(), setting)?], Vec::new())),
        }
    }
}

/// Chooses the kernels of a nest: one, or several where a part of the nest is left to another.
pub(crate) fn choose(nest: ByteNest, setting: Setting) -> Vec<Step> {
    candidates(&nest, setting).swap_remove(0)
}

/// The ways to move a nest that are thought to be the best, or nearly so: the best comes first.
pub(crate) fn candidates(nest: &ByteNest, setting: Setting) -> Vec<Vec<Step>> {
    let elements: f64 = nest.turns.iter().map(|turn| turn.extent as f64).product();
    let enough = ENOUGH * elements * (nest.size * nest.starts.len()) as f64 / LINE as f64;
    let mut found: Vec<(f64, Vec<Step>)> = Vec::new();
    let mut least = f64::INFINITY;
    let total = |steps: &[Step]| steps.iter().map(|step| cost(step, setting)).sum::<f64>();
    for way in Way::ALL {
        let Some((mut steps, rest)) = way.steps(nest, setting) else { continue };
        let is_it = setting.only == Some(way);
        if is_it || total(&steps) < least * CLOSE {
            let any = Setting { only: None, ..setting };
            steps.extend(rest.into_iter().flat_map(|nest| choose(nest, any)));
            let total = if is_it { 0.0 } else { total(&steps) };
            least = least.min(total);
            found.push((total, steps));
        }
        if is_it || setting.only.is_none() && (least <= enough || found.iter().any(|one| is_simple(&one.1))) {
            break;
        }
    }
    found.retain(|one| one.0 <= least * CLOSE);
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    found.truncate(CANDIDATES);
    let fetching = |steps: Vec<Step>| {
        if setting.fetches { steps.into_iter().map(net::fetching).collect() } else { steps }
    };
    found.into_iter().map(|one| fetching(one.1)).collect()
}

/// Whether nothing could be better.
fn is_simple(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step.work {
        Work::Splat { .. } | Work::Whole { .. } => true,
        Work::Copy { length, .. } => length >= LONG,
        _ => false,
    })
}

/// What a step costs, in lines that are touched: an estimate that tells good kernels from bad ones.
pub(crate) fn cost(step: &Step, setting: Setting) -> f64 {
    let (mut rows, mut columns) = (1, 1);
    let mut units = step.starts.len() as f64;
    for outer in &step.outer {
        match outer.part {
            Part::Rows(cut) => rows = cut.piece,
            Part::Columns(cut) => columns = cut.piece,
            Part::Whole => {}
        }
        // The last piece may be a part of one.
        units *= match outer.part {
            Part::Rows(cut) | Part::Columns(cut) => cut.whole as f64 / cut.piece as f64,
            Part::Whole => outer.turn.extent as f64,
        };
    }
    // Lines of pieces of so many bytes, at such a step.
    let read = |count: usize, length: usize, step: isize| match step.unsigned_abs() {
        step if step < LINE => (count * step + length).div_ceil(LINE),
        _ => count * length.div_ceil(LINE),
    };
    // What is written in parts comes from memory first, if no cache keeps it.
    let written = |count: usize, length: usize, step: isize| match step.unsigned_abs() {
        step if step <= length => (count * step + length).div_ceil(LINE),
        step if step.is_multiple_of(LINE) && length.is_multiple_of(LINE) => count * length / LINE,
        _ => count * (length / LINE + 1 + usize::from(setting.streams)),
    };
    let lines = match step.work {
        Work::Network(ref blocks) => blocks.cost(setting),
        Work::Picks(ref picks) => picks.cost(setting),
        Work::Transpose { size, from, to, store, .. } => {
            let lines = read(rows, columns * size, from)
                + match store {
                    Store::Plain => written(columns, rows * size, to),
                    Store::Stream => columns * rows * size / LINE,
                    Store::Stage | Store::StageWhole => 2 * columns * rows * size / LINE,
                };
            // Registers that are not full; and within the cache it is instructions that count, and these are more.
            let part = rows.min(columns) * size < LINE;
            CALL + match (part, setting.fetches || size < 4) {
                (true, _) => lines * 3 / 2,
                (false, true) => lines,
                (false, false) => lines * 4 / 3,
            }
        }
        Work::Interleave { size, ways, stride, .. } => {
            CALL + read(ways, columns * size, stride) + columns * size * ways / LINE
        }
        Work::Deinterleave { size, ways, stride, .. } => {
            CALL + columns * size * ways / LINE + written(ways, columns * size, stride)
        }
        Work::Runs { length, from, to, .. } => {
            CALL + read(rows, length, from) + written(rows, length, to) + rows / 2
        }
        Work::Copy { length, .. } => rows * (2 * length.div_ceil(LINE) + ROW),
        Work::Collect { length, .. } => rows * columns * (3 * length.div_ceil(LINE) + ROW),
        Work::Grid { size, from, to, .. } => {
            let touched = |steps: (isize, isize)| {
                let lines = |count: usize, step: isize| read(count, size, step);
                (rows * lines(columns, steps.1)).min(columns * lines(rows, steps.0))
            };
            CALL + if setting.fetches { touched(from) + touched(to) } else { 0 }
                + rows * columns / 2
                + rows * 2
        }
        Work::Line { size, from, to, .. } => {
            CALL + read(rows, size, from) + written(rows, size, to) + rows / 2
        }
        // A call for each column of each row, and what it makes is put together first.
        Work::CollectApart { length, ways, .. } => {
            rows * columns * (CALL + (3 * length * ways).div_ceil(LINE))
        }
        _ => 2 * step.weight.div_ceil(LINE),
    };
    lines as f64 * units
}

/// Chooses the kernel for the unit loops of a nest.
fn by_unit_loops(mut nest: ByteNest, setting: Setting) -> Step {
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
        return finish(nest, outer, Work::Whole { store: setting.rows() }, WHOLE.min(length));
    }
    let lines = |turn: &Turn| turn.to.unsigned_abs().is_multiple_of(LINE);
    let whole_lines = length.is_multiple_of(LINE) && nest.turns.iter().all(lines);
    if setting.streams && (SHORT..1024).contains(&length) {
        let along = nest.turns.iter().position(|turn| turn.to == length as isize);
        let nearest = (0..nest.turns.len()).min_by_key(|&k| nest.turns[k].from.unsigned_abs());
        if let (false, Some(along), Some(nearest)) = (whole_lines, along, nearest)
            && along != nearest
        {
            return collect(nest, length, along, nearest);
        }
    }
    // Short rows of whole lines that pass the cache go in the source's order.
    order(&mut nest.turns, setting.streams && whole_lines && length <= 256);
    let inner = nest.turns.pop().unwrap_or(Turn { extent: 1, from: length as isize, to: length as isize });
    let adjacent = inner.to == length as isize;
    let piece = (UNIT / length).max(1);
    let work = if length < SHORT {
        let kernel = kernels::runs(setting.set, length);
        Work::Runs { kernel, length, from: inner.from, to: inner.to }
    } else {
        let store = match setting.streams {
            false => Store::Plain,
            true if whole_lines || length >= 1024 => Store::Stream,
            true if adjacent && nest.turns.iter().all(|turn| turn.to != 0) => Store::Stage,
            true => Store::Plain,
        };
        Work::Copy { length, from: inner.from, to: inner.to, store }
    };
    let mut outer = whole(&nest.turns);
    outer.push(cut(inner, piece, Part::Rows));
    finish(nest, outer, work, piece.min(inner.extent) * length)
}

/// Rows of `length` bytes that make up longer ones in the destination (along the loop `along`), which are no whole
/// lines, while it is another loop (`nearest`) that brings the source's rows one after the other.
fn collect(nest: ByteNest, length: usize, along: usize, nearest: usize) -> Step {
    let (columns, rows) = (nest.turns[along], nest.turns[nearest]);
    let others: Turns = nest
        .turns
        .iter()
        .enumerate()
        .filter(|&(k, _)| k != along && k != nearest)
        .map(|(_, turn)| *turn)
        .collect();
    let column_piece = (COLLECTED / length).clamp(1, columns.extent);
    let row_piece = (2 * UNIT / (column_piece * length + LINE)).clamp(1, rows.extent);
    let mut outer = whole(&others);
    outer.push(cut(rows, row_piece, Part::Rows));
    outer.push(cut(columns, column_piece, Part::Columns));
    sort(&mut outer, Store::Stage);
    let work = Work::Collect { length, along: columns.from, from: rows.from, to: rows.to };
    finish(nest, outer, work, row_piece * column_piece * length)
}

/// Rows that lie alternating in the source, apart and short in the destination, where they make up longer ones: these
/// are collected. `long` is the loop along the rows, `apart` the one over them.
fn collect_apart(
    nest: &ByteNest,
    others: &Turns,
    long: Turn,
    apart: Turn,
    ways: usize,
    kernel: ZipFn,
) -> Option<Step> {
    let length = long.extent * nest.size;
    let along = others.iter().position(|turn| turn.to == length as isize)?;
    let lines = |turn: &Turn| turn.to.unsigned_abs().is_multiple_of(LINE);
    let whole_lines = length.is_multiple_of(LINE) && lines(&apart) && others.iter().all(lines);
    if length > COLLECTED / 2 || whole_lines && length >= 4 * LINE {
        return None;
    }
    let columns = others[along];
    let mut others = others.clone();
    others.remove(along);
    let nearest = (0..others.len()).min_by_key(|&k| others[k].from.unsigned_abs());
    let rows = match nearest {
        Some(nearest) if others[nearest].from.unsigned_abs() < columns.from.unsigned_abs() => {
            others.remove(nearest)
        }
        _ => Turn { extent: 1, from: 0, to: 0 },
    };
    let column_piece = (COLLECTED / length).clamp(1, columns.extent);
    let row_piece = (2 * UNIT / ((column_piece * length + LINE) * ways)).clamp(1, rows.extent);
    let mut outer = whole(&others);
    outer.push(cut(rows, row_piece, Part::Rows));
    outer.push(cut(columns, column_piece, Part::Columns));
    sort(&mut outer, Store::Stage);
    let work = Work::CollectApart {
        kernel,
        count: long.extent,
        length,
        ways,
        apart: apart.to,
        along: columns.from,
        from: rows.from,
        to: rows.to,
    };
    let weight = row_piece * column_piece * length * ways;
    Some(Step { starts: nest.starts.clone(), outer, work, weight: weight.max(1), fills: false })
}

/// One element, repeated.
fn splat(mut nest: ByteNest, setting: Setting) -> Step {
    let inner = nest.turns.pop().unwrap_or(Turn { extent: 1, from: 0, to: nest.size as isize });
    let piece = UNIT / nest.size;
    let mut outer = whole(&nest.turns);
    outer.push(cut(inner, piece, Part::Rows));
    let work = Work::Splat { size: nest.size, store: setting.rows() };
    let weight = piece.min(inner.extent) * nest.size;
    finish(nest, outer, work, weight)
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
        return zip(nest, outer, columns, ways, work, setting.rows());
    }
    let (ways, count) = (columns.extent, rows.extent);
    if rows.from == size * ways as isize
        && columns.to > 0
        && count >= ways
        && (ways < 8 || !setting.streams)
        && let Some(kernel) = kernels::deinterleave(setting.set, bytes, ways)
    {
        if setting.streams
            && let Some(step) = collect_apart(&nest, &outer, rows, columns, ways, kernel.plain)
        {
            return step;
        }
        let work = Work::Deinterleave {
            plain: kernel.plain,
            stream: kernel.stream,
            size: bytes,
            ways,
            stride: columns.to,
            store: setting.rows(),
        };
        return zip(nest, outer, rows, ways, work, setting.rows());
    }
    blocks(nest, outer, rows, columns, setting)
}

/// Rows that alternate on one side; `long` is the loop along them.
fn zip(nest: ByteNest, outer: Turns, long: Turn, ways: usize, work: Work, store: Store) -> Step {
    let mut outer = whole(&outer);
    let line = LINE / nest.size;
    let piece = (UNIT / (ways * nest.size)).next_multiple_of(line);
    outer.push(cut(long, piece, Part::Columns));
    let weight = piece.min(long.extent) * ways * nest.size;
    sort(&mut outer, store);
    finish(nest, outer, work, weight)
}

/// Blocks to transpose: `rows` is the loop along the destination, `columns` the one along the source.
fn blocks(nest: ByteNest, others: Turns, rows: Turn, columns: Turn, setting: Setting) -> Step {
    let size = nest.size;
    let Some(kernel) = kernels::transpose(setting.set, size) else { return lines(nest, setting) };
    let tile = kernel.tile;
    let lines = |step: isize| step.unsigned_abs().is_multiple_of(LINE);
    let whole_lines = lines(columns.to)
        && (rows.extent * size).is_multiple_of(LINE)
        && others.iter().all(|turn| lines(turn.to));
    let store = match setting.streams {
        false => Store::Plain,
        // Half a line at a time, stores past the cache are slow: registers of a line write it, others put rows together.
        true if whole_lines && (setting.set == InstructionSet::Avx512 || rows.extent * size < 256) => {
            Store::Stream
        }
        true if columns.to == (rows.extent * size) as isize && rows.extent * size <= 2048 => {
            Store::StageWhole
        }
        true if rows.extent * size >= 256 => Store::Stage,
        true => Store::Plain,
    };
    let (row_bytes, column_bytes) = match store {
        Store::Stage => (512, 128),
        Store::StageWhole => (rows.extent * size, (UNIT / rows.extent).max(LINE)),
        Store::Stream => ((32 * size).clamp(128, 256), 256),
        Store::Plain if !setting.fetches => (2048, 2048),
        Store::Plain => (256, 256),
    };
    let row_piece = match store {
        Store::StageWhole => rows.extent,
        _ => even(rows.extent, (row_bytes / size).max(tile), tile),
    };
    let mut column_piece = even(columns.extent, (column_bytes / size).max(tile), tile);
    match store {
        Store::Stage => {
            // What is borrowed from the next block, and a line that makes their number odd.
            let row = (row_piece * size).next_multiple_of(LINE) + 2 * LINE;
            column_piece = column_piece.min((STAGE / row / tile * tile).max(tile));
        }
        // Rows of up to 2048 bytes: a tile of them may be more than the buffer holds.
        Store::StageWhole => column_piece = column_piece.min(STAGE / (row_piece * size)),
        Store::Plain | Store::Stream => {}
    }
    let mut outer = whole(&others);
    outer.push(cut(rows, row_piece, Part::Rows));
    outer.push(cut(columns, column_piece, Part::Columns));
    sort(&mut outer, store);
    let work = Work::Transpose {
        plain: kernel.plain,
        stream: kernel.stream,
        size,
        from: rows.from,
        to: columns.to,
        store,
        fetches: setting.fetches,
    };
    let weight = row_piece.min(rows.extent) * column_piece.min(columns.extent) * size;
    finish(nest, outer, work, weight)
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
    finish(nest, outer, work, weight)
}

/// Elements one by one, in the loop with the smallest step of the destination and that of the source; they may be runs that have
/// the size of an element.
fn grid(mut nest: ByteNest, setting: Setting) -> Option<Step> {
    let size = nest.take_run();
    let kernel = kernels::grid::grid(size)?;
    let nearest = |turns: &Turns, side: fn(&Turn) -> isize| {
        (0..turns.len()).filter(|&k| side(&turns[k]) != 0).min_by_key(|&k| side(&turns[k]).unsigned_abs())
    };
    let column = nearest(&nest.turns, |turn| turn.to)?;
    let column = nest.turns.remove(column);
    let row = match nearest(&nest.turns, |turn| turn.from) {
        Some(row) => nest.turns.remove(row),
        None => Turn { extent: 1, from: 0, to: 0 },
    };
    // The longer loop is the inner one.
    let (row, column) = if row.extent / 4 > column.extent { (column, row) } else { (row, column) };
    let side = if setting.fetches { 64 } else { 256 };
    let (rows, columns) = (row.extent.min(side), column.extent.min(4 * side));
    let mut outer = whole(&nest.turns);
    outer.push(cut(row, rows, Part::Rows));
    outer.push(cut(column, columns, Part::Columns));
    sort(&mut outer, Store::Plain);
    let work = Work::Grid { kernel, size, from: (row.from, column.from), to: (row.to, column.to) };
    Some(finish(nest, outer, work, rows * columns * size))
}

fn finish(nest: ByteNest, outer: SmallVec<[Outer; 8]>, work: Work, weight: usize) -> Step {
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

/// A piece of about `piece`, of whole tiles, so that the last piece is not much smaller than the others.
fn even(whole: usize, piece: usize, tile: usize) -> usize {
    let pieces = (whole + piece / 2) / piece;
    whole.div_ceil(pieces.max(1)).next_multiple_of(tile)
}

/// The order of loops around rows.
///
/// Rows go in the destination's order. Only short ones that are stored past the cache go in the source's: reads that
/// follow each other are fetched by the machine itself, and stores past the cache do not care where they go.
fn order(turns: &mut Turns, by_source: bool) {
    turns.sort_by_key(|turn| {
        let (from, to) = (turn.from.unsigned_abs(), turn.to.unsigned_abs());
        std::cmp::Reverse(if by_source { (from, to) } else { (to, from) })
    });
}

/// The order of loops around a block, for the same reasons: the source's, if stores go past the cache; else whichever
/// side moves less decides, so that lines of both are used while they are near.
pub(crate) fn sort(outer: &mut [Outer], store: Store) {
    outer.sort_by_key(|outer| {
        let (from, to) = (outer.turn.from.unsigned_abs(), outer.turn.to.unsigned_abs());
        std::cmp::Reverse(if store == Store::Plain { (from.min(to), from) } else { (from, to) })
    });
}
