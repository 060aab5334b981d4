//! A step of a program: loops around one kernel call.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::kernels::grid::GridFn;
use crate::kernels::{BlockFn, CarryFn, LineFn, RunsFn, ZipFn};
use crate::nest::Turn;
use crate::net::Blocks;
use crate::picks::Picks;

/// A nest with its kernel.
///
/// The loops around the kernel are counted as one: a *unit* is one turn of them all, and any range of units can be done
/// by itself. That is how work is divided among threads, and how a run can be done in parts.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Where the whole begins, once for each repetition, in bytes.
    pub(crate) starts: SmallVec<[(isize, isize); 1]>,
    /// The loops around the kernel, from the outermost to the innermost.
    pub(crate) outer: SmallVec<[Outer; 8]>,
    pub(crate) work: Work,
    /// Bytes that one unit writes, about.
    pub(crate) weight: usize,
    /// Whether the source is the one element that padding is filled with.
    pub(crate) fills: bool,
}

/// A loop around the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer {
    pub(crate) turn: Turn,
    pub(crate) part: Part,
}

/// What a loop around the kernel tells the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nothing.
    Whole,
    /// Each turn takes some of the kernel's rows, the last turn what is left.
    Rows(Cut),
    /// Each turn takes some of the kernel's columns, the last turn what is left.
    Columns(Cut),
}

/// A count cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) whole: usize,
    pub(crate) piece: usize,
}

impl Cut {
    /// How many are in piece number `turn`.
    fn length(self, turn: usize) -> usize {
        self.piece.min(self.whole - turn * self.piece)
    }
}

/// The kernel, and what it is told beside the place and the counts.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// As many bytes as a unit has columns, next to each other on both sides.
    Whole { store: Store },
    /// Rows of `length` bytes, next to each other on both sides.
    Copy { length: usize, from: isize, to: isize, store: Store, fetches: bool },
    /// The same for short rows.
    Runs { kernel: RunsFn, length: usize, from: isize, to: isize },
    /// Blocks to transpose: a source row is `from` bytes from the next, a destination row `to`.
    Transpose {
        plain: BlockFn,
        stream: BlockFn,
        size: usize,
        from: isize,
        to: isize,
        store: Store,
        fetches: bool,
        /// The kernel for [`Store::Carry`].
        carry: Option<CarryFn>,
    },
    /// `ways` rows, `stride` bytes apart in the source, that alternate in the destination.
    Interleave { plain: ZipFn, stream: ZipFn, size: usize, ways: usize, stride: isize, store: Store },
    /// The way back: the stride is in the destination.
    Deinterleave { plain: ZipFn, stream: ZipFn, size: usize, ways: usize, stride: isize, store: Store },
    /// Lines that go through a network.
    Network(Arc<Blocks>),
    /// Blocks that are put together from a list.
    Picks(Arc<Picks>),
    /// Elements in rows and columns, at any steps: those of a row and of a column.
    Grid { kernel: GridFn, size: usize, from: (isize, isize), to: (isize, isize) },
    /// Elements at any steps.
    Line { kernel: LineFn, size: usize, from: isize, to: isize },
    /// One element repeated: `size` bytes.
    Splat { size: usize, store: Store },
}

/// How a kernel stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// Through the cache.
    Plain,
    /// Past the cache, straight from the kernel; plainly if the destination's address turns out not to allow it.
    Stream,
    /// Past the cache from the kernel: what does not fill a line waits for the next block.
    Carry,
    /// Into a small buffer, and from there past the cache: for destination rows that are no whole lines.
    Stage,
    /// The same for destination rows that are next to each other, and so one long row.
    StageWhole,
}

impl Step {
    /// Number of units.
    pub(crate) fn units(&self) -> usize {
        self.starts.len() * self.outer.iter().map(|outer| outer.turn.extent).product::<usize>()
    }

    /// The place of the unit with this index, of this repetition.
    fn locate(&self, start: usize, index: &[usize]) -> Place {
        let (mut from, mut to) = self.starts.get(start).copied().unwrap_or((0, 0));
        let mut place = Place { from, to, rows: 0, columns: 0, before: 0, after: 0 };
        for (outer, &i) in self.outer.iter().zip(index) {
            from += i as isize * outer.turn.from;
            to += i as isize * outer.turn.to;
            place.count(outer.part, i);
        }
        Place { from, to, ..place }
    }
}

/// The place of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) from: isize,
    pub(crate) to: isize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Rows that come before and after these in the whole that was cut.
    pub(crate) before: usize,
    pub(crate) after: usize,
}

impl Place {
    /// What this turn of a loop says of rows or columns.
    #[inline]
    fn count(&mut self, part: Part, turn: usize) {
        match part {
            Part::Whole => {}
            Part::Rows(cut) => {
                self.rows = cut.length(turn);
                self.before = turn * cut.piece;
                self.after = cut.whole - self.before - self.rows;
            }
            Part::Columns(cut) => self.columns = cut.length(turn),
        }
    }
}

/// Units one after the other that differ only in where they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    first: Place,
    pub(crate) count: usize,
    /// Bytes from one unit to the next.
    pub(crate) from: isize,
    pub(crate) to: isize,
    /// Rows of a unit, if it is rows that are cut.
    rows: usize,
}

impl Stretch {
    /// The place of the unit of this number.
    #[inline]
    pub(crate) fn place(&self, number: usize) -> Place {
        let (steps, rows) = (number as isize, number * self.rows);
        Place {
            from: self.first.from + steps * self.from,
            to: self.first.to + steps * self.to,
            before: self.first.before + rows,
            after: self.first.after.saturating_sub(rows),
            ..self.first
        }
    }
}

/// Walks over units.
pub(crate) struct Walker<'a> {
    step: &'a Step,
    start: usize,
    index: SmallVec<[usize; 8]>,
    place: Place,
}

impl<'a> Walker<'a> {
    /// Stands at a unit of the step.
    pub(crate) fn at(step: &'a Step, mut unit: usize) -> Walker<'a> {
        let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, step.outer.len());
        for (i, outer) in index.iter_mut().zip(&step.outer).rev() {
            // Most begin with the first: then nothing need be divided.
            if unit == 0 {
                break;
            }
            *i = unit % outer.turn.extent;
            unit /= outer.turn.extent;
        }
        let start = unit.min(step.starts.len().saturating_sub(1));
        let place = step.locate(start, &index);
        Walker { step, start, index, place }
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The units from here on, at most `most`, that differ only in where they are; goes behind them.
    #[inline]
    pub(crate) fn stretch(&mut self, most: usize) -> Stretch {
        let mut stretch = Stretch { first: self.place, count: 1, from: 0, to: 0, rows: 0 };
        if let (Some(index), Some(outer)) = (self.index.last_mut(), self.step.outer.last()) {
            let (turn, left) = (outer.turn, outer.turn.extent - *index);
            let (alike, rows) = match outer.part {
                Part::Whole => (left, 0),
                // The last piece may be smaller.
                Part::Rows(cut) => ((cut.whole / cut.piece).saturating_sub(*index), cut.piece),
                Part::Columns(cut) => ((cut.whole / cut.piece).saturating_sub(*index), 0),
            };
            stretch =
                Stretch { count: alike.min(most).max(1), from: turn.from, to: turn.to, rows, ..stretch };
            let steps = stretch.count - 1;
            *index += steps;
            self.place = stretch.place(steps);
        }
        self.advance();
        stretch
    }

    /// Goes to the next unit; stays behind the last one.
    #[inline]
    pub(crate) fn advance(&mut self) {
        for k in (0..self.index.len()).rev() {
            let Outer { turn, part } = self.step.outer[k];
            self.index[k] += 1;
            if self.index[k] < turn.extent {
                self.place.from += turn.from;
                self.place.to += turn.to;
                self.place.count(part, self.index[k]);
                return;
            }
            let steps = turn.extent as isize - 1;
            self.place.from -= steps * turn.from;
            self.place.to -= steps * turn.to;
            self.index[k] = 0;
            self.place.count(part, 0);
        }
        if self.start + 1 < self.step.starts.len() {
            self.start += 1;
            self.place = self.step.locate(self.start, &self.index);
        }
    }
}
