//! Elements below a byte, block by block as bytes.
//!
//! In which order bytes go is what the engine is for ([`crate::ways`]), and elements below a byte are only as hard because they share
//! bytes. So a block is taken apart, moved and put together again, and stays in the nearest caches meanwhile:
//!
//! ```text
//! source           rows of elements           in the block's loops, as far as the source goes on
//!   widened        a byte for each            A, a row for each row of the source
//!   moved          a nest of bytes            B, a row for each row of the destination
//!   narrowed       rows of elements           the destination
//! ```
//!
//! A row of A begins where its first element is, whatever the phase of that in a byte of the source: what precedes it in the byte lies
//! before the row. So does a row of B: a byte of the destination that begins or ends a row is merged.
//!
//! Loops are cut into whole pieces, what is left over is a nest of its own. Blocks are units if no two of them write to one byte; else all
//! turns of the loops whose turns do are one unit.

use std::fmt;
use std::ops::Range;

use smallvec::SmallVec;
use tilework_core::{InOrder, Loop, Nest};

use crate::cost::cost;
use crate::exec::{self, Buffers, Scratch};
use crate::kernels::vector::{LINE, fetch};
use crate::nest::ByteNest;
use crate::setting::Setting;
use crate::step::Step;
use crate::subbyte::{self, Widen};
use crate::ways;

/// Elements that a block wants in a row in the source and in the destination: the first for which there is room.
const WANTED: [(u64, u64); 7] = [(256, 256), (128, 256), (128, 128), (64, 128), (64, 64), (32, 32), (16, 16)];

/// The most elements of a block, which are bytes of A and of B: both lie in the nearest cache, or in the second where memory is waited for
/// and long rows pay.
const MOST: u64 = if cfg!(test) { 2 << 10 } else { 16 << 10 };
const MOST_FAR: u64 = if cfg!(test) { 4 << 10 } else { 32 << 10 };

/// Bytes of A and of B at most.
const ROOM: usize = 96 << 10;

/// What a row costs on either side beside its elements, in lines that are touched.
const ROW: f64 = 4.0;

/// What an element costs where each goes by itself.
const ALONE: f64 = 1.0;

/// Two loops of at least this number of turns, each of which moves one element on one side, are transposed as they are: that moves less.
const LONG: u64 = 16;

/// Runs of this number of elements and more are copied as bits.
const LONG_RUN: u64 = 64;

/// Bytes before A and B, and behind them.
const FRONT: usize = LINE;
const BACK: usize = 2 * LINE;

/// A nest of elements below a byte, in blocks.
#[derive(Debug)]
pub(crate) struct Wide {
    setting: Setting,
    bits: u32,
    kernels: Widen,
    /// Where the first block begins, in elements.
    starts: SmallVec<[(u64, u64); 1]>,
    /// From block to block.
    outer: Vec<Loop>,
    /// How many of these loops have turns that share no bytes; they come first.
    divided: usize,
    /// Whether no two blocks share a byte, nor one of them with anything else.
    is_whole: bool,
    source: Rows,
    destination: Rows,
    /// From A to B.
    steps: Vec<Step>,
    elements: u64,
    cost: f64,
}

/// The rows of a block on one side.
#[derive(Debug)]
struct Rows {
    /// Where each begins, in elements from the block's place.
    at: Vec<i64>,
    /// Elements of a row.
    length: usize,
    /// Bytes from one row to the next where each element has a byte.
    pitch: usize,
}

/// A line of scratch.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// A and B of a thread, kept from step to step.
#[derive(Default)]
pub(crate) struct Blocks(Vec<Line>);

impl Blocks {
    /// A and B, with room for `a` bytes and for `b` bytes.
    fn bytes(&mut self, a: usize, b: usize) -> [*mut u8; 2] {
        let (a, b) = (a.div_ceil(LINE), b.div_ceil(LINE));
        self.0.resize(self.0.len().max(a + b), Line([0; LINE]));
        let (before, behind) = self.0.split_at_mut(a);
        [before, behind].map(|lines| lines.as_mut_ptr().cast())
    }
}

impl Rows {
    /// The rows of some loops on one side; the first `inner` of an order are within a row. And the step of each loop in the
    /// widened block.
    fn new(
        loops: &[Loop],
        order: &[usize],
        inner: usize,
        side: fn(&Loop) -> i64,
    ) -> Option<(Rows, i64, Vec<i64>)> {
        let (within, across) = order.split_at(inner);
        let reach = |k: &usize| (loops[*k].extent as i64 - 1) * side(&loops[*k]);
        let length = 1 + within.iter().map(|k| reach(k).unsigned_abs() as usize).sum::<usize>();
        let low: i64 = within.iter().map(|k| reach(k).min(0)).sum();
        // An odd number of lines, so that rows do not meet in one set of the cache; short rows share lines.
        let room = length + 7; // and what precedes the first element in its byte
        let pitch = if room < LINE { room.next_multiple_of(16) } else { (room.div_ceil(LINE) | 1) * LINE };
        let mut steps: Vec<i64> = loops.iter().map(side).collect();
        let mut at = vec![low];
        for &k in across {
            steps[k] = (at.len() * pitch) as i64;
            let Loop { extent, .. } = loops[k];
            if at.len() as u64 * extent > (ROOM / pitch) as u64 {
                return None;
            }
            let turns = (0..extent as i64).map(|turn| turn * side(&loops[k]));
            at = turns.flat_map(|moved| at.iter().map(move |at| at + moved)).collect();
        }
        (at.len() * pitch <= ROOM).then_some((Rows { at, length, pitch }, -low, steps))
    }

    fn bytes(&self) -> usize {
        FRONT + self.at.len() * self.pitch + BACK
    }

    /// What it costs to widen or narrow the rows, in lines that are touched.
    fn cost(&self) -> f64 {
        self.at.len() as f64 * (ROW + 1.5 * (self.length / LINE) as f64)
    }
}

/// The steps for a nest of elements below a byte, if it pays to have them as bytes.
pub(crate) fn wide(nest: &Nest, bits: u32, setting: Setting) -> Option<Vec<Wide>> {
    if !matches!(bits, 1 | 2 | 4) {
        return None;
    }
    let mut nest = nest.clone();
    nest.tidy();
    let is_long = |l: &Loop| (l.from, l.to) == (1, 1) && l.extent >= LONG_RUN;
    if nest.loops.iter().any(is_long) || nest.loops.iter().any(|l| l.to <= 0) {
        return None;
    }
    let most = ALONE * nest.elements() as f64;
    let unit = |one: fn(&Loop) -> i64, other: fn(&Loop) -> i64| {
        nest.loops.iter().any(|l| one(l) == 1 && other(l) != 1 && l.extent >= LONG)
    };
    if setting.only.is_none() && unit(|l| l.from, |l| l.to) && unit(|l| l.to, |l| l.from) {
        return None;
    }
    let most_elements = if setting.fetches { MOST_FAR } else { MOST };
    let pieces = pieces(&nest.loops, u64::from(8 / bits), most_elements)?;
    let mut made = Vec::new();
    divide(nest, pieces, 0, (bits, setting), &mut made)?;
    let cost: f64 = made.iter().map(|wide| wide.cost).sum();
    (setting.only.is_some() || cost <= most).then_some(made)
}

/// How many turns of each loop are in a block: as many elements in a row on both sides as there is room for, and then more until the block
/// is worth its calls.
fn pieces(loops: &[Loop], in_byte: u64, most: u64) -> Option<Vec<u64>> {
    let orders = [by(loops, |l| l.from), by(loops, |l| l.to)];
    let all = |pieces: &[u64]| pieces.iter().fold(1, |all: u64, &piece| all.saturating_mul(piece));
    let in_rows = |wanted: (u64, u64)| {
        let mut pieces = vec![1; loops.len()];
        for (order, wanted) in orders.iter().zip([wanted.0, wanted.1]) {
            let mut length: u64 = 1;
            for &k in order {
                if length >= wanted {
                    break;
                }
                pieces[k] = piece(loops[k].extent, wanted.div_ceil(length), in_byte).max(pieces[k]);
                length = length.saturating_mul(pieces[k]);
            }
        }
        pieces
    };
    let mut pieces = WANTED.iter().map(|&wanted| in_rows(wanted)).find(|pieces| all(pieces) <= most)?;
    for &k in &orders[1] {
        let more = most / 2 / all(&pieces);
        if more > 1 {
            let before = pieces[k];
            pieces[k] = piece(loops[k].extent, before * more, in_byte).max(before);
        }
    }
    Some(pieces)
}

/// The loops that move on one side, from the smallest step to the largest.
fn by(loops: &[Loop], side: fn(&Loop) -> i64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..loops.len()).filter(|&k| side(&loops[k]) != 0).collect();
    order.order_by_key(|&k| side(&loops[k]).unsigned_abs());
    order
}

/// At least `least` turns of a loop, if it has them: better half as many more than some that are left over.
fn piece(extent: u64, least: u64, in_byte: u64) -> u64 {
    let least = least.next_multiple_of(in_byte);
    if extent <= least + least / 2 {
        return extent;
    }
    (least..least + least / 2)
        .step_by(in_byte as usize)
        .find(|piece| extent.is_multiple_of(*piece))
        .unwrap_or(least)
}

/// Cuts loops into whole pieces, from one on; turns that are left over are pieces of their own.
fn divide(
    mut nest: Nest,
    pieces: Vec<u64>,
    first: usize,
    how: (u32, Setting),
    made: &mut Vec<Wide>,
) -> Option<()> {
    for place in first..pieces.len() {
        let Loop { extent, from, to } = nest.loops[place];
        let left = extent % pieces[place];
        if left > 0 {
            let (mut rest, mut pieces) = (nest.clone(), pieces.clone());
            (rest.loops[place].extent, pieces[place]) = (left, left);
            let before = (extent - left) as i64;
            for start in &mut rest.starts {
                // Wraps to the right value where a stride is negative: the place is within the source.
                start.0 = start.0.wrapping_add_signed(before.wrapping_mul(from));
                start.1 = start.1.wrapping_add_signed(before.wrapping_mul(to));
            }
            divide(rest, pieces, place + 1, how, made)?;
            nest.loops[place].extent -= left;
        }
    }
    made.push(Wide::new(&nest, &pieces, how)?);
    Some(())
}

impl Wide {
    /// A nest whose loops are cut into pieces, all of them whole.
    fn new(nest: &Nest, pieces: &[u64], (bits, setting): (u32, Setting)) -> Option<Wide> {
        let kernels = subbyte::widen(setting.set, bits)?;
        let piece = |(l, &piece): (&Loop, &u64)| Loop { extent: piece, ..*l };
        let outer = |(l, &piece): (&Loop, &u64)| Loop {
            extent: l.extent / piece,
            from: l.from.wrapping_mul(piece as i64),
            to: l.to.wrapping_mul(piece as i64),
        };
        let mut inner: Vec<Loop> = nest.loops.iter().zip(pieces).map(piece).collect();
        let mut outer: Vec<Loop> = nest.loops.iter().zip(pieces).map(outer).collect();
        inner.retain(|l| l.extent > 1);
        outer.retain(|l| l.extent > 1);

        // In the source gaps are read that are no longer than what is between them.
        let mut span = 1;
        let order = by(&inner, |l| l.from);
        let dense = order.iter().take_while(|&&k| {
            let (step, turns) = (inner[k].from.unsigned_abs(), inner[k].extent);
            let near = step <= 2 * span;
            span = span.saturating_add((turns - 1).saturating_mul(step));
            near && span <= ROOM as u64 / 2
        });
        let dense = dense.count();
        let (source, first, from) = Rows::new(&inner, &order, dense, |l| l.from)?;
        let mut length = 1;
        let order = by(&inner, |l| l.to);
        let dense = order.iter().take_while(|&&k| {
            let goes_on = inner[k].to == length;
            length *= inner[k].extent as i64;
            goes_on
        });
        let dense = dense.count();
        let (destination, _, to) = Rows::new(&inner, &order, dense, |l| l.to)?;

        let moved = inner.iter().zip(from.iter().zip(&to));
        let moved = moved.map(|(l, (&from, &to))| Loop { extent: l.extent, from, to });
        let bytes =
            Nest { starts: [((FRONT as i64 + first) as u64, FRONT as u64)].into(), loops: moved.collect() };
        let blocks = outer.iter().map(|l| l.extent as f64).product::<f64>() * nest.starts.len() as f64;
        // Where there are few blocks it is not worth the time to look for the best way.
        let once = blocks < 8.0;
        let near = Setting { streams: false, fetches: false, fetches_blocks: false, once, ..setting };
        let steps = ways::choose(ByteNest::new(&bytes, 1), near);

        let in_byte = u64::from(8 / bits);
        let whole = |place: i64| place.unsigned_abs().is_multiple_of(in_byte);
        let is_whole = nest.starts.iter().all(|start| whole(start.1 as i64))
            && outer.iter().all(|l| whole(l.to))
            && destination.at.iter().all(|&at| whole(at))
            && whole(destination.length as i64);
        outer.order_by_key(|l| {
            let (from, to) = (l.from.unsigned_abs(), l.to.unsigned_abs());
            std::cmp::Reverse((from.min(to), from))
        });
        let mut divided = outer.len();
        if !is_whole {
            let all =
                Nest { starts: nest.starts.clone(), loops: outer.iter().chain(&inner).copied().collect() };
            let apart: Vec<bool> =
                (0..outer.len()).map(|k| subbyte::shares_no_bytes(&all, k, bits)).collect();
            let part = |wanted: bool| {
                outer.iter().zip(&apart).filter(move |&(_, &apart)| apart == wanted).map(|(l, _)| *l)
            };
            divided = part(true).count();
            outer = part(true).chain(part(false)).collect();
        }
        let lines = |rows: &Rows| {
            if setting.fetches { rows.at.len() * (1 + rows.length / (LINE * in_byte as usize)) } else { 0 }
        };
        let moved: f64 = steps.iter().map(|step| cost(step, near)).sum();
        let block =
            moved + source.cost() + destination.cost() + (lines(&source) + lines(&destination)) as f64;
        Some(Wide {
            setting,
            bits,
            kernels,
            starts: nest.starts.iter().copied().collect(),
            outer,
            divided,
            is_whole,
            source,
            destination,
            steps,
            elements: inner.iter().map(|l| l.extent).product(),
            cost: block * blocks,
        })
    }

    /// Whether none of its bytes holds anything else.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// What it costs, in lines that are touched.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    pub(crate) fn units(&self) -> usize {
        let starts = if self.is_whole { self.starts.len() } else { 1 };
        starts * self.outer[..self.divided].iter().map(|l| l.extent as usize).product::<usize>()
    }

    /// Blocks of a unit.
    fn blocks(&self) -> usize {
        let starts = if self.is_whole { 1 } else { self.starts.len() };
        starts * self.outer[self.divided..].iter().map(|l| l.extent as usize).product::<usize>()
    }

    /// Bytes that a unit writes, about.
    pub(crate) fn weight(&self) -> usize {
        (self.blocks() * (self.elements * u64::from(self.bits)).div_ceil(8) as usize).max(1)
    }

    /// Where the block of a number begins on either side, in elements.
    fn place(&self, mut number: usize) -> (u64, u64) {
        let (mut from, mut to) = (0_u64, 0_u64);
        let mut step = |loops: &[Loop]| {
            for l in loops.iter().rev() {
                let turn = (number % l.extent as usize) as i64;
                number /= l.extent as usize;
                // Wraps to the right value where a stride is negative: the place is within the source.
                from = from.wrapping_add_signed(turn.wrapping_mul(l.from));
                to = to.wrapping_add_signed(turn.wrapping_mul(l.to));
            }
        };
        step(&self.outer);
        let start = self.starts[number.min(self.starts.len() - 1)];
        (start.0.wrapping_add(from), start.1.wrapping_add(to))
    }

    /// Runs a range of units.
    ///
    /// # Safety
    /// 1. The nest's places are within the buffers, which do not overlap.
    /// 2. Nobody else writes what these units read, or touches the bytes that they write.
    /// 3. The machine has the instructions of the setting's set.
    pub(crate) unsafe fn run(&self, units: Range<usize>, buffers: Buffers, scratch: &mut Scratch) {
        let mut blocks = std::mem::take(&mut scratch.wide);
        let [a, b] = blocks.bytes(self.source.bytes(), self.destination.bytes());
        let between = Buffers {
            source: a,
            source_bytes: self.source.bytes(),
            destination: b,
            destination_bytes: self.destination.bytes(),
        };
        let (first, end) = (units.start * self.blocks(), units.end * self.blocks());
        for number in first..end {
            let (from, to) = self.place(number);
            let next = if self.setting.fetches && number + 1 < end { self.place(number + 1).0 } else { from };
            // SAFETY: the block is a part of the nest; A and B have room for its rows, which `Rows::new` saw to.
            unsafe {
                self.widen(from, next, a, buffers);
                for step in &self.steps {
                    exec::run(self.setting.set, step, 0..step.units(), between, scratch);
                }
                self.narrow(b, to, buffers);
            }
        }
        scratch.wide = blocks;
    }

    /// Widens the rows of a block into A, and asks for those of the next one.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose places these are.
    unsafe fn widen(&self, from: u64, next: u64, a: *mut u8, buffers: Buffers) {
        let (bits, in_byte) = (self.bits as usize, u64::from(8 / self.bits));
        let ahead = (next.wrapping_sub(from) as i64 / in_byte as i64) as isize;
        for (row, &at) in self.source.at.iter().enumerate() {
            let first = from.wrapping_add_signed(at);
            let (byte, phase) = ((first / in_byte) as usize, (first % in_byte) as usize);
            let bytes = (phase + self.source.length).div_ceil(in_byte as usize);
            debug_assert!(byte + bytes <= buffers.source_bytes);
            // SAFETY: the first and the last byte hold elements of the nest. What the kernel touches behind the row is behind A, or the
            // beginning of a row that is yet to come.
            unsafe {
                let read = std::slice::from_raw_parts(buffers.source.add(byte), bytes);
                if ahead != 0 {
                    let next = read.as_ptr().wrapping_offset(ahead);
                    (0..bytes).step_by(LINE).for_each(|line| fetch(next.wrapping_add(line)));
                }
                let row = a.add(FRONT + row * self.source.pitch - phase);
                (self.kernels.widen)(read, std::slice::from_raw_parts_mut(row, subbyte::room(bytes, bits)));
            }
        }
    }

    /// Narrows the rows of B into the destination.
    ///
    /// # Safety
    /// As for [`Wide::run`], for the block whose place this is.
    unsafe fn narrow(&self, b: *const u8, to: u64, buffers: Buffers) {
        let (bits, in_byte) = (self.bits as usize, (8 / self.bits) as usize);
        let length = self.destination.length;
        for (row, &at) in self.destination.at.iter().enumerate() {
            let first = to.wrapping_add_signed(at);
            let (byte, phase) = ((first / in_byte as u64) as usize, (first % in_byte as u64) as usize);
            debug_assert!(byte + (phase + length).div_ceil(in_byte) <= buffers.destination_bytes);
            let head = ((in_byte - phase) % in_byte).min(length);
            let bytes = (length - head) / in_byte;
            let tail = length - head - bytes * in_byte;
            // SAFETY: every byte that is written holds elements of the row; what the kernel reads behind the row is within B.
            unsafe {
                let row = b.add(FRONT + row * self.destination.pitch);
                let mut to = buffers.destination.add(byte);
                if head > 0 {
                    merge(row, head, to, phase, bits);
                    to = to.add(1);
                }
                let wide = std::slice::from_raw_parts(row.add(head), subbyte::room(bytes, bits));
                (self.kernels.narrow)(wide, std::slice::from_raw_parts_mut(to, bytes));
                if tail > 0 {
                    merge(row.add(length - tail), tail, to.add(bytes), 0, bits);
                }
            }
        }
    }
}

/// Puts fewer elements into a byte than it holds, from one of them on.
///
/// # Safety
/// `count` elements can be read, and the byte can be read and written.
unsafe fn merge(from: *const u8, count: usize, to: *mut u8, phase: usize, bits: usize) {
    let mask = ((1 << (count * bits)) - 1) << (phase * bits);
    // SAFETY: the caller's promise.
    unsafe {
        let value = (0..count).fold(0, |value, k| value | *from.add(k) << ((phase + k) * bits));
        *to = *to & !mask | value;
    }
}

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        write!(
            f,
            "blocks of {} elements of {} bits: {} widened, moved as bytes, narrowed into {}; {} of {} B",
            self.elements,
            self.bits,
            counted(self.source.at.len(), "row"),
            counted(self.destination.at.len(), "row"),
            counted(self.units(), "unit"),
            self.weight()
        )?;
        self.steps.iter().try_for_each(|step| write!(f, "; as bytes {step}"))
    }
}
