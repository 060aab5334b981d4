//! The block that is moved at a time: some lines in a row on either side.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::chain::{Chain, Growing};
use super::network::{Network, Side, divisible, network, square};
use super::run::MOST;
use crate::carry;
use crate::choose::{cut, sort, whole};
use crate::exec::STAGE;
use crate::explain;
use crate::fetch;
use crate::kernels::InstructionSet;
use crate::kernels::net::{self, HALF, Pass, PassFn, Put, TOGETHER};
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn};
use crate::past::{self, FRONT};
use crate::setting::Setting;
use crate::step::{Part, Step, Work};

/// Bytes of a block.
const BLOCK: usize = 64 << 10;

/// The same where all is in the cache, if loops are long enough.
const NEAR: usize = 16 << 10;

/// Lines in a row that a block wants in the destination, and at most in the source.
const ROWS: usize = 8;
const COLUMNS: usize = 8;

/// What a block costs beside its lines, in lines that are touched.
const BLOCK_CALL: usize = 16;

/// What a kernel's call costs that copies lines to and fro.
const KERNEL_CALL: usize = 10;

/// Destination rows that are no whole lines are put together in a buffer if they have so many bytes.
const STAGED: usize = 256;

/// A network, and the calls of a block.
///
/// What lies in a row in the destination are the block's *rows*, what lies in a row in the source its *columns*. Where the
/// network has lines of its own, both are counted in lines, and a call is of one row and one column:
///
/// ```text
/// line r of the call:  source      + rows.from[row] + columns.from[column] + from[r]
///                      destination + rows.to[row]   + columns.to[column]   + to[r]
/// ```
///
/// Else they are counted in elements, and it is neighbouring ones that make up the lines: those of the source are the rows of
/// the call, those of the destination its columns.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(super) passes: SmallVec<[Pass; 1]>,
    /// Bytes of a line, and lines of a call.
    pub(super) width: usize,
    pub(super) lines: usize,
    /// Where the lines of the network are, if it has some.
    pub(super) own: Option<Network>,
    pub(super) rows: Chain,
    pub(super) columns: Chain,
    /// The side along which one call follows the other.
    pub(super) inner: Side,
    /// The source lines of a block: what is fetched for the next one, so many with each call.
    pub(super) fetch: Vec<isize>,
    pub(super) fetches: usize,
    /// Kernels for the first of two passes, and for the last one: through the cache, and past it.
    pub(super) first: Option<PassFn>,
    pub(super) plain: PassFn,
    pub(super) stream: PassFn,
    /// Whether lines of the destination are all whole ones if one of them is; and are then written past the cache.
    pub(super) is_whole: bool,
    pub(super) streams: bool,
    /// How a block is put together, where lines are no whole ones: its rows go on from block to block, or go to a buffer.
    pub(super) carried: Option<Carried>,
    pub(super) staged: Option<Staged>,
}

/// The rows of a block whose lines are no whole ones: each of a column's pieces is one.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) kernel: PassFn,
    /// The places of a column's rows, from its own.
    pub(super) pieces: Vec<isize>,
    /// Where the lines before are held, from those of the first row of the column, and whether they are the first ones of their rows: of
    /// the lines of a network, or of the columns of squares.
    pub(super) holds: Vec<isize>,
    pub(super) firsts: Vec<bool>,
}

/// Where rows of the destination stand in the buffer that they are put together in.
#[derive(Debug)]
pub(super) struct Staged {
    /// Bytes from one to the next.
    pub(super) pitch: usize,
    /// Instead of the columns' places in the destination, and of those of the network's lines.
    pub(super) columns: Vec<isize>,
    pub(super) lines: Vec<isize>,
    /// The places in the destination of the rows that a column has, from its own.
    pub(super) pieces: Vec<isize>,
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = explain::lines(self.lines, self.width);
        let what = if self.own.is_some() { "a network of" } else { "squares of" };
        let passes = if self.passes.len() == 1 { "" } else { ", in two passes" };
        // Short lines go past the cache from a buffer, or not at all.
        let stored = explain::blocks_stored(
            self.streams || self.staged.is_some(),
            self.is_whole && self.streams,
            self.carried.is_some(),
            self.staged.is_some(),
        );
        let [rows, columns] = [&self.rows, &self.columns].map(|chain| chain.to.len());
        write!(f, "{what} {lines}{passes}, in blocks of {rows} by {columns}, {stored}")
    }
}

impl Blocks {
    /// Entries of a chain that a call takes.
    pub(super) fn taken(&self) -> usize {
        if self.own.is_some() { 1 } else { self.lines }
    }

    /// Bytes of one entry of the rows.
    pub(super) fn entry(&self) -> usize {
        self.width / self.taken()
    }

    /// Lists the source lines of a block, of blocks that are in step with lines or not.
    fn fetch_lines(&mut self, in_step: bool) {
        let taken = self.taken();
        let [rows, columns] = [&self.rows, &self.columns].map(|chain| chain.to.len().div_ceil(taken));
        self.fetch = match &self.own {
            // What lies in a row in the source are the columns.
            None => {
                let length = self.columns.to.len() * self.entry();
                fetch::lines(self.rows.from.iter().map(|&row| (row, length)), in_step)
            }
            Some(own) => {
                let (columns, width) = (&self.columns.from, self.width);
                let lines = self.rows.from.iter().flat_map(|row| own.from.iter().map(move |line| row + line));
                let spans = lines.flat_map(|line| columns.iter().map(move |column| (line + column, width)));
                fetch::lines(spans, in_step)
            }
        };
        // The first of two passes is called for each line of the second.
        let groups = if self.first.is_some() { 1 << self.passes[1].count } else { 1 };
        self.fetches = self.fetch.len().div_ceil(rows * columns).next_multiple_of(groups);
        self.fetch = fetch::spread(&self.fetch, self.fetches * rows * columns);
    }

    /// Whether its calls are squares of elements wide enough for a kernel of their own.
    fn zips(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.square.is_some()) && self.lines * 4 <= self.width
    }

    /// What a block costs, in lines that are touched: calls, lines, and the second pass.
    pub(crate) fn cost(&self, setting: Setting) -> usize {
        let [rows, columns] = [&self.rows, &self.columns].map(|side| side.to.len().div_ceil(self.taken()));
        let calls = rows * columns;
        let lines = calls * self.lines;
        // Lines that are no whole ones are put together first, and some of them are written in two parts. Within the cache that
        // costs little.
        let split = match (self.is_whole, setting.streams) {
            (true, _) => 0,
            (false, true) if self.carried.is_some() => lines / 2,
            (false, true) => lines * 3 / 2,
            (false, false) => lines / 4,
        };
        // Where lines are copied to and fro a kernel's call costs more, and takes those along a row.
        let copied = if setting.set == InstructionSet::Avx2 {
            KERNEL_CALL * columns * (rows * self.lines).div_ceil(TOGETHER)
        } else {
            0
        };
        // In the nearest caches it is the permutes that count.
        let near = if setting.fetches { 0 } else { lines / 2 };
        BLOCK_CALL
            + match self.width {
                LINE => 2 * calls + lines * (1 + self.passes.len()) + split + near + copied,
                // A stage takes twice as long as moving what it permutes; or as long, if it zips.
                HALF => {
                    let stage = if self.zips() { 1 } else { 2 };
                    let each = |pass: &Pass| {
                        let bytes = [&pass.before, &pass.after].into_iter().flatten().count();
                        1 + stage * pass.count + bytes
                    };
                    let each: usize = 1 + self.passes.iter().map(each).sum::<usize>();
                    calls + (lines * each + split) / 2
                }
                // What is measured is that much more than the lines and the instructions.
                _ => ((2 * lines + split) * self.width / LINE + (calls + lines) / 2) * 8 / 5,
            }
    }

    /// All bytes that a unit with so many rows and columns reads and writes, as spans from its place.
    pub(crate) fn spans(&self, rows: usize, columns: usize) -> [(isize, usize); 2] {
        let (rows, columns) = (rows * self.rows.each, columns * self.columns.each);
        let zero: &[isize] = &[0];
        let (from, to) = self.own.as_ref().map_or((zero, zero), |own| (&own.from[..], &own.to[..]));
        let of = |lists: [&[isize]; 3]| {
            let low: isize = lists.iter().filter_map(|list| list.iter().min()).sum();
            let high: isize = lists.iter().filter_map(|list| list.iter().max()).sum();
            (low, (high - low) as usize + self.entry())
        };
        [
            of([from, &self.rows.from[..rows], &self.columns.from[..columns]]),
            of([to, &self.rows.to[..rows], &self.columns.to[..columns]]),
        ]
    }
}

/// The step that moves a nest with a network, or most of it, and what it leaves; if there is one.
pub(crate) fn blocks(nest: &ByteNest, width: usize, setting: Setting) -> Option<(Step, Vec<ByteNest>)> {
    let (nest, rest) = divisible(nest, width)?;
    let (network, mut nest) = network(&nest, width).ok()?;
    // Where a line stays what it is, the only gain is that lines are put together before they go past the cache.
    if network.passes.iter().all(Pass::changes_nothing) && !setting.streams {
        return None;
    }
    let lines = network.from.len();
    let mut columns = Growing::new(Side::Source, width, &network.steps[0]);
    let mut rows = Growing::new(Side::Destination, width, &network.steps[1]);
    let wanted = grow(&mut nest, &mut rows, &mut columns, (lines, width), setting);
    let chains = (rows.cut(wanted.0, 1), columns.cut(wanted.1, 1));
    let (passes, own) = (network.passes.clone(), Some(network));
    Some((finish(nest, chains, passes, own, (lines, width), setting)?, rest))
}

/// The step that moves a nest in squares of a line by a line, if the loops that lie in a row on both sides are different ones.
pub(crate) fn squares(nest: &ByteNest, width: usize, setting: Setting) -> Option<Step> {
    let mut nest = nest.clone();
    let lines = width / nest.size;
    let mut columns = Growing::new(Side::Source, nest.size, &[]);
    let mut rows = Growing::new(Side::Destination, nest.size, &[]);
    columns.grow(&mut nest, width);
    rows.grow(&mut nest, width);
    if columns.bytes < width || rows.bytes < width {
        return None;
    }
    let wanted = grow(&mut nest, &mut rows, &mut columns, (lines, width), setting);
    let chains = (rows.cut(wanted.0, width), columns.cut(wanted.1, width));
    let passes = square(nest.size, width)?;
    finish(nest, chains, passes, None, (lines, width), setting)
}

/// Takes loops for rows and columns: first for rows that are worth putting together. Returns the bytes in a row that a block wants in the
/// destination and in the source, for a network of so many lines.
fn grow(
    nest: &mut ByteNest,
    rows: &mut Growing,
    columns: &mut Growing,
    (lines, width): (usize, usize),
    setting: Setting,
) -> (usize, usize) {
    // With few lines in a call, memory wants longer pieces; and squares of many lines are as wide on both sides.
    let row = match lines {
        ..4 => 2 * ROWS * LINE,
        17.. if setting.streams && rows.is_square() => 6 * LINE,
        _ => ROWS * LINE,
    };
    let filled =
        |row: usize, most: usize| (BLOCK * width / (row.max(width) * lines)).clamp(width, most * LINE);
    let mut column = filled(row, COLUMNS);
    rows.grow(nest, STAGED);
    columns.grow(nest, column);
    rows.grow(nest, row);
    if setting.streams {
        // A block is filled by longer pieces of the source where it has no more of the destination; where lines are many, it may be larger.
        // Calls are counted in short lines where lines are short: a longer piece would be more calls than there may be.
        let most = if width == LINE { 4 * COLUMNS } else { COLUMNS };
        column = if lines > 16 { COLUMNS * LINE } else { filled(rows.bytes.min(row), most) };
        columns.grow(nest, column);
    }
    if setting.fetches {
        return (row, column);
    }
    // Within the cache it is blocks that cost.
    let rest = |bytes: usize, wanted: usize| NEAR * width / lines / bytes.min(wanted);
    let column = column.max(rest(rows.bytes, row));
    columns.grow(nest, column);
    let row = row.max(rest(columns.bytes, column));
    rows.grow(nest, row);
    (row, column)
}

type Cut = (Chain, Turn, usize);

fn finish(
    nest: ByteNest,
    ((rows, row, row_piece), (columns, column, column_piece)): (Cut, Cut),
    mut passes: SmallVec<[Pass; 1]>,
    own: Option<Network>,
    (lines, width): (usize, usize),
    setting: Setting,
) -> Option<Step> {
    // With AVX2 only squares have lines of 64 bytes, and are put together along rows. Within the cache short lines are quicker.
    let along_rows = width == LINE && setting.set == InstructionSet::Avx2;
    if along_rows && !setting.streams {
        return None;
    }
    let square = |put| {
        let size = match &own {
            None => width / lines,
            Some(network) if along_rows || width < LINE => network.square?,
            Some(_) => return None,
        };
        net::square(setting.set, width, size, put)
    };
    // A kernel of their own needs no pass.
    if square(Put::Plain).is_some() {
        passes.truncate(1);
    }
    let last = passes.last()?;
    // A short line is only a part of one, so that it is put together with others before it goes past the cache.
    let streams = setting.streams && width == LINE;
    let kernel = |pass: &Pass, put| square(put).or_else(|| net::pass(setting.set, width, pass.count, put));
    let put = if streams { Put::Stream } else { Put::Plain };
    let (plain, stream, carry) = (kernel(last, Put::Plain)?, kernel(last, put)?, kernel(last, Put::Carry));
    let first = if passes.len() > 1 { Some(kernel(&passes[0], Put::Plain)?) } else { None };
    // The lists of calls that begin at one place are so long.
    if own.is_none() && rows.to.len().max(columns.to.len()) > MOST * lines {
        return None;
    }
    // One call after the other along the side that has more of them. Where both have as many, it is the destination, which
    // is then written in longer pieces, unless a call's lines are few.
    let counts = (rows.to.len(), columns.to.len());
    let mut blocks = Blocks {
        inner: if along_rows || counts.0 > counts.1 || counts.0 == counts.1 && lines >= 4 {
            Side::Destination
        } else {
            Side::Source
        },
        passes,
        width,
        lines,
        own,
        rows,
        columns,
        fetch: Vec::new(),
        fetches: 0,
        first,
        plain,
        stream,
        is_whole: false,
        streams,
        carried: None,
        staged: None,
    };
    // Each line of a call must be of a row of its own.
    if along_rows && blocks.own.is_some() && rows_of_lines(&blocks).1.len() < lines {
        return None;
    }
    let zero = vec![0];
    let to = blocks.own.as_ref().map_or(&zero, |own| &own.to);
    let whole_line = |step: &isize| step.unsigned_abs().is_multiple_of(LINE);
    let bytes = blocks.rows.bytes * row_piece;
    blocks.is_whole = to.iter().chain(&blocks.columns.to).all(whole_line) && whole_line(&(bytes as isize));
    if setting.streams && bytes >= STAGED {
        blocks.carried = carry.and_then(|kernel| carried(&blocks, kernel));
        if blocks.carried.is_none() {
            blocks.staged = staged(&blocks, bytes);
        }
    }
    let weight = counts.0 * counts.1 * to.len() * width / blocks.taken();
    let mut outer = whole(&nest.turns);
    outer.push(cut(row, row_piece, Part::Rows));
    outer.push(cut(column, column_piece, Part::Columns));
    sort(&mut outer, setting.rows());
    let whole_row = blocks.rows.bytes * row.extent;
    if blocks.carried.is_some() && !blocks.is_whole {
        carry::along_rows(&mut outer, whole_row);
    } else if blocks.staged.is_some() && !blocks.is_whole {
        past::along_rows_or_source(&mut outer, whole_row);
    }
    Some(Step { starts: nest.starts, outer, work: Work::Network(blocks.into()), weight, fills: false })
}

/// The step, with the list of what is fetched for the next block: it takes longer than all the rest, so it is made for the step
/// that is taken.
pub(crate) fn fetching(mut step: Step) -> Step {
    if let Work::Network(blocks) = &mut step.work
        && let Some(blocks) = Arc::get_mut(blocks)
        && blocks.fetch.is_empty()
    {
        blocks.fetch_lines(fetch::in_step(&step.starts, step.outer.iter().map(|outer| &outer.turn)));
    }
    step
}

/// The rows to which the lines of a column belong: for each line which of them, and the place within it; and where the rows are.
fn rows_of_lines(blocks: &Blocks) -> (Vec<(usize, isize)>, Vec<isize>) {
    let (mut lines, mut pieces) = (vec![(0, 0)], vec![0]);
    let steps = blocks.own.as_ref().map_or(&[][..], |own| &own.steps[1]);
    for &step in steps {
        // Lines that are next to each other are part of one row.
        let within = step > 0 && (step as usize) < blocks.rows.bytes;
        let there = |&(piece, at): &(usize, isize)| {
            if within { (piece, at + step) } else { (piece + pieces.len(), at) }
        };
        let more: Vec<_> = lines.iter().map(there).collect();
        lines.extend(more);
        if !within {
            let more: Vec<_> = pieces.iter().map(|piece| piece + step).collect();
            pieces.extend(more);
        }
    }
    (lines, pieces)
}

/// How the rows of a block go on in the next one; unless the lines of a row are not moved one after the other, or rows are too many.
fn carried(blocks: &Blocks, kernel: PassFn) -> Option<Carried> {
    let (lines, pieces) = rows_of_lines(blocks);
    let columns = blocks.columns.to.len();
    if columns * pieces.len() > carry::ROWS {
        return None;
    }
    if blocks.own.is_none() {
        let holds = (0..columns).map(|column| (column * LINE) as isize).collect();
        return Some(Carried { kernel, pieces, holds, firsts: vec![true; columns] });
    }
    // The second of two passes has one line of each call of the first.
    let first = if blocks.first.is_some() { 1 << blocks.passes[0].count } else { lines.len() };
    let order = (0..first).flat_map(|line| (line..lines.len()).step_by(first));
    let mut done = vec![0; pieces.len()];
    for &row in &blocks.rows.to {
        for line in order.clone() {
            let (piece, within) = lines[line];
            if row + within != done[piece] {
                return None;
            }
            done[piece] += LINE as isize;
        }
    }
    let holds = lines.iter().map(|line| (line.0 * LINE) as isize).collect();
    Some(Carried { kernel, pieces, holds, firsts: lines.iter().map(|line| line.1 == 0).collect() })
}

/// The places of a block whose rows have so many bytes, in a buffer.
fn staged(blocks: &Blocks, bytes: usize) -> Option<Staged> {
    let pitch = past::pitch(bytes);
    let (lines, pieces) = rows_of_lines(blocks);
    let lines = lines.into_iter().map(|(piece, within)| (piece * pitch) as isize + within).collect();
    let columns = blocks.columns.to.len();
    let columns: Vec<_> = (0..columns).map(|column| (column * pieces.len() * pitch) as isize).collect();
    (columns.len() * pieces.len() * pitch + FRONT <= STAGE).then_some(Staged {
        pitch,
        columns,
        lines,
        pieces,
    })
}
