//! Coupled dimensions, and those that no multiple cuts: a table of one period.
//!
//! Where dimensions are merged and the merged number is cut, or a tile cuts the rest of another, no loop follows both
//! layouts for long. The offsets of one period are then computed one by one, and runs of even steps in them are the
//! pieces. All periods are alike up to a constant (`components.rs`), so whole periods are loops, and only the rest at
//! the end of each dimension needs a table of its own.

use super::group::{Groups, Start, add, step};
use super::nest::{Loop, Loops};
use crate::algebra::components::{Component, Quotients};
use crate::algebra::linear::{Linear, used};
use crate::ask::compare::{TABLE_LIMIT, WORK_LIMIT};
use crate::error::{Error, Result};

/// Computes both offsets of a component, the other dimensions being 0.
pub(super) struct Table<'a> {
    dims: &'a [u64],
    quotients: &'a Quotients,
    /// The quotients that the component uses.
    used: Vec<usize>,
    forms: [Linear; 2],
    component: &'a Component,
    index: Vec<u64>,
    values: Vec<i128>,
    origin: Start,
}

/// A range of one dimension: `span` positions, again after each `period`, `turns` times.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    span: u64,
    turns: u64,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        component: &'a Component,
        quotients: &'a Quotients,
        forms: [&Linear; 2],
        dims: &'a [u64],
    ) -> Table<'a> {
        let own = |form: &Linear| {
            let mut own = form.clone();
            own.terms.retain(|(term, _)| component.terms.contains(term));
            own
        };
        let used = used(&quotients.0, component.terms.iter().copied());
        let mut table = Table {
            dims,
            quotients,
            used: (0..used.len()).filter(|&place| used[place]).collect(),
            forms: forms.map(own),
            component,
            index: vec![0; dims.len()],
            values: vec![0; quotients.0.len()],
            origin: (0, 0),
        };
        table.origin = table.at_index();
        table
    }

    /// The offsets at `self.index`, relative to those at 0.
    fn at_index(&mut self) -> Start {
        for &place in &self.used {
            let quotient = &self.quotients.0[place];
            self.values[place] = quotient.value(&self.index, &self.values);
        }
        let [from, to] = [0, 1].map(|side| self.forms[side].value(&self.index, &self.values) as i64);
        step(self.origin, (from, to))
    }

    /// The offsets with one dimension at `x` and the others at 0.
    fn at(&mut self, dim: usize, x: u64) -> Start {
        self.index.fill(0);
        self.index[dim] = x;
        self.at_index()
    }

    /// The pieces, grouped by their loops.
    pub(super) fn groups(&mut self) -> Result<Groups> {
        let mut periods = self.quotients.periods(self.dims.len());
        self.check(&periods)?;
        if let &[dim] = self.component.dims.as_slice() {
            periods[dim] = self.least_period(dim, periods[dim]);
        }
        let inner = self.inner_dim();
        let mut dims: Vec<usize> = self.component.dims.iter().copied().filter(|&dim| dim != inner).collect();
        dims.push(inner);
        let ranges: Vec<Vec<Range>> = dims.iter().map(|&dim| ranges(self.dims[dim], periods[dim])).collect();
        let mut groups = Groups::default();
        let boxes: usize = ranges.iter().map(Vec::len).product();
        for mut number in 0..boxes {
            let mut chosen: Vec<(usize, Range)> = Vec::with_capacity(dims.len());
            for (&dim, ranges) in dims.iter().zip(&ranges) {
                chosen.push((dim, ranges[number % ranges.len()]));
                number /= ranges.len();
            }
            let mut outer = Loops::new();
            for &(dim, range) in &chosen {
                if range.turns > 1 {
                    let (from, to) = self.at(dim, range.span);
                    outer.push(Loop { extent: range.turns, from, to });
                }
            }
            self.index.fill(0);
            for &(dim, range) in &chosen {
                self.index[dim] = range.start;
            }
            self.tabulate(&chosen, &outer, &mut groups);
        }
        Ok(groups)
    }

    /// Condition: the table of the periods, and the time to compute it, stay within the limits.
    fn check(&self, periods: &[u64]) -> Result<()> {
        let mut entries = Some(1_u64);
        for &dim in &self.component.dims {
            let whole = self.dims[dim];
            let period = periods[dim];
            let positions = if whole / period >= 2 { period + whole % period } else { whole };
            entries = entries.and_then(|entries| entries.checked_mul(positions));
        }
        let terms: usize = self.used.iter().map(|&place| self.quotients.0[place].of.terms.len() + 8).sum();
        let terms = (terms + self.forms[0].terms.len() + self.forms[1].terms.len() + 8) as u64;
        let entries = entries.filter(|&entries| entries <= TABLE_LIMIT);
        if entries.and_then(|entries| entries.checked_mul(terms)).is_some_and(|work| work <= WORK_LIMIT) {
            return Ok(());
        }
        Err(Error::new(format!(
            "dimensions {:?} are coupled by tiles that do not divide each other, or by merging",
            self.component.dims
        ))
        .rule(format!(
            "the table of one period has at most {TABLE_LIMIT} entries, and less if each is costly"
        ))
        .accepts("smaller dimensions, or sizes that the tiles divide"))
    }

    /// The least divisor of the period after which the dimension repeats already.
    fn least_period(&mut self, dim: usize, period: u64) -> u64 {
        let known = self.dims[dim].min(period);
        let mut offsets: Vec<Start> = Vec::with_capacity(known as usize);
        for x in 0..known {
            let offset = self.at(dim, x);
            offsets.push(offset);
        }
        let whole = if self.dims[dim] > period { Some(self.at(dim, period)) } else { None };
        let after = |x: u64| match (offsets.get(x as usize), whole) {
            (Some(&offset), _) => Some(offset),
            (None, Some(whole)) => Some(add(offsets[(x - period) as usize], whole)),
            (None, None) => None,
        };
        let repeats = |p: u64| {
            let moved = |x: u64| add(offsets[x as usize], offsets[p as usize]);
            (0..known).all(|x| after(x + p).is_none_or(|next| next == moved(x)))
        };
        // A period beyond 64 bits is not exact, but then every position is known and has been looked at.
        (1..known).filter(|&p| period.is_multiple_of(p)).find(|&p| repeats(p)).unwrap_or(period)
    }

    /// The dimension with the smallest step in the destination: runs are looked for along it.
    fn inner_dim(&mut self) -> usize {
        let steps = self.component.dims.iter().filter(|&&dim| self.dims[dim] > 1);
        let steps: Vec<usize> = steps.copied().collect();
        let least = steps.into_iter().min_by_key(|&dim| match self.at(dim, 1).1.unsigned_abs() {
            0 => u64::MAX,
            step => step,
        });
        least.unwrap_or(self.component.dims[0])
    }

    /// Adds the runs of a box. The last range is the innermost.
    fn tabulate(&mut self, ranges: &[(usize, Range)], outer: &Loops, groups: &mut Groups) {
        let Some((&(inner, range), rest)) = ranges.split_last() else { return };
        loop {
            let mut run: Option<Run> = None;
            for x in range.start..range.start + range.span {
                self.index[inner] = x;
                let at = self.at_index();
                if !run.as_mut().is_some_and(|open| open.goes_on(at))
                    && let Some(done) = run.replace(Run { start: at, last: at, step: (0, 0), len: 1 })
                {
                    done.add(outer, groups);
                }
            }
            if let Some(done) = run {
                done.add(outer, groups);
            }
            let turned = rest.iter().rev().any(|&(dim, range)| {
                self.index[dim] += 1;
                if self.index[dim] == range.start + range.span {
                    self.index[dim] = range.start;
                    return false;
                }
                true
            });
            if !turned {
                return;
            }
        }
    }
}

/// Offsets with an even step.
struct Run {
    start: Start,
    last: Start,
    step: Start,
    len: u64,
}

impl Run {
    fn goes_on(&mut self, at: Start) -> bool {
        let step = step(self.last, at);
        if self.len > 1 && step != self.step {
            return false;
        }
        (self.step, self.last) = (step, at);
        self.len += 1;
        true
    }

    fn add(&self, outer: &Loops, groups: &mut Groups) {
        let mut loops = outer.clone();
        if self.len > 1 {
            loops.push(Loop { extent: self.len, from: self.step.0, to: self.step.1 });
        }
        groups.add(&loops, self.start);
    }
}

/// Whole periods as one range, and the rest.
fn ranges(size: u64, period: u64) -> Vec<Range> {
    let turns = size / period;
    if turns < 2 {
        return vec![Range { start: 0, span: size, turns: 1 }];
    }
    let mut ranges = vec![Range { start: 0, span: period, turns }];
    if !size.is_multiple_of(period) {
        ranges.push(Range { start: turns * period, span: size % period, turns: 1 });
    }
    ranges
}
