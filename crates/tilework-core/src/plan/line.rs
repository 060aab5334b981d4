//! One dimension on its own: where either layout changes its stride.
//!
//! Along one dimension both offsets move by a constant at every step, and by a further constant at each *cut*: at every
//! multiple of a tile, counted from some phase. Between cuts both are affine.
//!
//! A range is split at its largest cut. What lies between two cuts of that kind repeats, if all smaller cuts divide the
//! largest, or else after their least common multiple; the repetitions are a loop, and inside one of them only smaller
//! cuts are left. If each cut divides the next, L cuts make at most L + 1 pieces, none of them with a loop more than
//! there are cuts: the whole tiles, and for each level of tiles what is left over at the end.

use crate::order::InOrder;
use smallvec::SmallVec;

use super::group::Groups;
use super::nest::{Loop, Loops};
use crate::algebra::canon::Canon;
use crate::algebra::components::{Component, Quotients};
use crate::algebra::linear::{Linear, Term};
use crate::arithmetic::lcm;

/// Offsets in the source and the destination, before they are known to fit 63 bits.
type Pair = (i128, i128);

/// How the two offsets move along one dimension.
pub(super) struct Line {
    size: u64,
    slope: Pair,
    /// By ascending distance.
    cuts: SmallVec<[Cut; 6]>,
}

/// A further move from x − 1 to x wherever x ≡ phase (mod by).
#[derive(Clone, Copy)]
struct Cut {
    by: u64,
    phase: u64,
    step: Pair,
}

impl Cut {
    /// The first cut at `x` or after it.
    fn first_from(self, x: u64) -> u64 {
        let over = x % self.by;
        let wait = if over <= self.phase { self.phase - over } else { self.by - over + self.phase };
        x.saturating_add(wait)
    }

    fn is_within(self, start: u64, end: u64) -> bool {
        self.first_from(start + 1) < end
    }

    /// How many are passed from 0 to `x`.
    fn passed(self, x: u64) -> u64 {
        match self.phase {
            0 => x / self.by,
            phase if x < phase => 0,
            phase => (x - phase) / self.by + 1,
        }
    }
}

/// Elements in a row, with the loops around them.
struct Piece {
    outer: Loops,
    start: u64,
    len: u64,
    slope: Pair,
}

impl Line {
    /// A dimension on which both forms are plain.
    pub(super) fn plain(dim: usize, size: u64, from: &Canon, to: &Canon) -> Line {
        let (from, to) = (from.cuts(dim), to.cuts(dim));
        let mut line = Line { size, slope: (from[0].1, to[0].1), cuts: SmallVec::new() };
        for &(by, step) in &from[1..] {
            line.cut(by, 0, (step, 0));
        }
        for &(by, step) in &to[1..] {
            line.cut(by, 0, (0, step));
        }
        line.cuts.order_by_key(|cut| cut.by);
        line
    }

    /// The one dimension of a component, if only multiples cut it: every quotient is ⌊(c ± x) / by⌋.
    pub(super) fn of(
        component: &Component,
        quotients: &Quotients,
        forms: [&Linear; 2],
        dims: &[u64],
    ) -> Option<Line> {
        let &[dim] = component.dims.as_slice() else { return None };
        let mut line = Line { size: dims[dim], slope: (0, 0), cuts: SmallVec::new() };
        for &term in &component.terms {
            let step = (forms[0].coefficient(term), forms[1].coefficient(term));
            match term {
                Term::Dim(_) => line.slope = step,
                Term::Quotient(place) => {
                    let quotient = &quotients.0[place];
                    let by = i128::from(quotient.by);
                    let constant = quotient.of.constant;
                    match quotient.of.terms.as_slice() {
                        [(Term::Dim(_), 1)] => line.cut(quotient.by, (-constant).rem_euclid(by) as u64, step),
                        [(Term::Dim(_), -1)] => {
                            line.cut(quotient.by, (constant + 1).rem_euclid(by) as u64, (-step.0, -step.1));
                        }
                        _ => return None,
                    }
                }
            }
        }
        line.cuts.order_by_key(|cut| cut.by);
        Some(line)
    }

    fn cut(&mut self, by: u64, phase: u64, step: Pair) {
        match self.cuts.iter_mut().find(|cut| (cut.by, cut.phase) == (by, phase)) {
            Some(cut) => cut.step = (cut.step.0 + step.0, cut.step.1 + step.1),
            None => self.cuts.push(Cut { by, phase, step }),
        }
    }

    /// The pieces, grouped by their loops; none if there are more than `limit`.
    pub(super) fn groups(&self, limit: usize) -> Option<Groups> {
        let mut pieces = Vec::new();
        self.split(0, self.size, self.cuts.len(), &Loops::new(), limit, &mut pieces)?;
        let mut groups = Groups::default();
        for mut piece in pieces {
            if piece.len > 1 {
                piece.outer.push(self.turn(piece.len, piece.slope));
            }
            let (from, to) = self.at(piece.start);
            groups.add(&piece.outer, (from as i64, to as i64)); // differences of two offsets
        }
        Some(groups)
    }

    /// The offsets at x, relative to those at 0.
    fn at(&self, x: u64) -> Pair {
        let along = |slope: i128| slope.wrapping_mul(i128::from(x));
        self.cuts.iter().fold((along(self.slope.0), along(self.slope.1)), |(from, to), cut| {
            let passed = i128::from(cut.passed(x));
            (
                from.wrapping_add(cut.step.0.wrapping_mul(passed)),
                to.wrapping_add(cut.step.1.wrapping_mul(passed)),
            )
        })
    }

    /// The step between two positions.
    fn between(&self, a: u64, b: u64) -> Pair {
        let (a, b) = (self.at(a), self.at(b));
        (b.0.wrapping_sub(a.0), b.1.wrapping_sub(a.1))
    }

    fn turn(&self, extent: u64, step: Pair) -> Loop {
        Loop { extent, from: step.0 as i64, to: step.1 as i64 } // both ends are offsets
    }

    /// Splits a range in which only the first `count` cuts can lie.
    fn split(
        &self,
        start: u64,
        end: u64,
        count: usize,
        outer: &Loops,
        limit: usize,
        pieces: &mut Vec<Piece>,
    ) -> Option<()> {
        if start == end {
            return Some(());
        }
        let within = |cut: &&Cut| cut.is_within(start, end);
        let Some(top) = self.cuts[..count].iter().rposition(|cut| cut.is_within(start, end)) else {
            return self.emit(start, end, outer, limit, pieces);
        };
        let cut = self.cuts[top];
        let period = self.cuts[..=top].iter().filter(within).fold(1, |period, cut| lcm(period, cut.by));
        let first = cut.first_from(start);
        let turns = (end - first) / period;
        if turns >= 2 {
            let last = first + turns * period;
            self.split(start, first, top, outer, limit, pieces)?;
            let mut inner = outer.clone();
            inner.push(self.turn(turns, self.between(first, first + period)));
            self.split(first, first + period, top + usize::from(period > cut.by), &inner, limit, pieces)?;
            return self.split(last, end, count, outer, limit, pieces);
        }
        let mut at = start;
        while at < end {
            let next = cut.first_from(at + 1).min(end);
            self.split(at, next, top, outer, limit, pieces)?;
            at = next;
        }
        Some(())
    }

    /// Adds elements that both layouts step through evenly, or lets the piece before go on through them.
    fn emit(&self, start: u64, end: u64, outer: &Loops, limit: usize, pieces: &mut Vec<Piece>) -> Option<()> {
        let len = end - start;
        if let Some(before) = pieces.last_mut()
            && before.start + before.len == start
            && before.outer == *outer
        {
            let step = self.between(start - 1, start);
            if (before.len == 1 || before.slope == step)
                && (len == 1 || self.between(start, start + 1) == step)
            {
                before.len += len;
                before.slope = step;
                return Some(());
            }
        }
        if pieces.len() >= limit {
            return None;
        }
        let slope = if len > 1 { self.between(start, start + 1) } else { (0, 0) };
        pieces.push(Piece { outer: outer.clone(), start, len, slope });
        Some(())
    }
}
