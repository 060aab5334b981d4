//! Makes tables: windows, and the picks that they are put together from.

use smallvec::SmallVec;
use tilework_core::InOrder;

use super::making::{Making, Picking};
use crate::kernels::net::LANE;
use crate::kernels::picks::Table;
use crate::kernels::vector::LINE;

/// Elements that stay together: `length` of them, from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) to: isize,
    pub(super) from: isize,
    pub(super) length: usize,
}

/// Where a window draws a piece from: bytes of the window from `at` on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) at: usize,
    pub(super) from: isize,
    pub(super) length: usize,
}

/// Windows before their picks are known: where each goes, and where its parts end in the list of all.
#[derive(Clone, Debug)]
struct Windows {
    /// Bytes of a window and of a pick.
    width: usize,
    to: Vec<isize>,
    ends: Vec<usize>,
    parts: Vec<Part>,
    /// What [`Windows::look`] found out.
    shapes: Vec<Shape>,
    cost: usize,
}

/// The elements of the source, from and to where a pick may read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    pub(super) low: isize,
    pub(super) high: isize,
}

/// Picks of a window: a line that is put together from so few can hardly be had for less.
const FEW: usize = 5;

/// What a pick costs, in thirds of a line that is touched: as it is read at any address, most of those as long as a line lie across
/// two. What was just written between two passes is waited for, and is hardly ever put together in the same way twice.
const SHORT_PICK: usize = 2;
const LONG_PICK: usize = 4;
const BETWEEN_PICK: usize = 4;

/// The tables for some runs, which lie in the order of the destination: one pass, or two, and the bytes between the two.
///
/// `parts` says whether a window ends where bytes of the destination are left out.
///
/// # Errors
/// That it would cost more than `limit` lines: nothing is written down then.
pub(super) fn tables(
    runs: &[Run],
    width: usize,
    hull: Hull,
    parts: bool,
    limit: f64,
) -> Result<Option<(Vec<Table>, usize)>, TooDear> {
    let mut one = Windows::cut(runs, width, parts);
    one.look(hull, false);
    let single = one.cost();
    if one.picks() >= FEW * one.to.len() {
        // As many picks in either pass.
        let (mut between, mut second) =
            one.two_passes(if one.picks() < 4 * FEW * one.to.len() { 4 } else { 8 });
        let bytes = between.to.len() * width;
        let inner = Hull { low: 0, high: bytes as isize };
        between.look(hull, false);
        second.look(inner, true);
        let both = between.cost() + second.cost();
        if bytes <= super::run::BETWEEN && both < single {
            if both as f64 > limit {
                return Err(TooDear);
            }
            if let (Some(first), Some(second)) = (between.table(hull), second.table(inner)) {
                return Ok(Some((vec![first, second], bytes)));
            }
        }
    }
    if single as f64 > limit { Err(TooDear) } else { Ok(one.table(hull).map(|table| (vec![table], 0))) }
}

/// A list costs more than it may.
#[derive(Debug)]
pub(super) struct TooDear;

/// How a window is put together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) picks: usize,
    /// Of lanes, which need no patterns; or by picks of 16 bytes, however long the window is.
    pub(super) lanes: bool,
    pub(super) short: bool,
}

impl Windows {
    /// The parts of a window.
    fn parts(&self, window: usize) -> &[Part] {
        let first = if window == 0 { 0 } else { self.ends[window - 1] };
        &self.parts[first..self.ends[window]]
    }

    /// Cuts runs into windows.
    fn cut(runs: &[Run], width: usize, parts: bool) -> Windows {
        let parts_of_runs = Vec::with_capacity(runs.len());
        let mut windows = Windows {
            width,
            to: Vec::new(),
            ends: Vec::new(),
            parts: parts_of_runs,
            shapes: Vec::new(),
            cost: 0,
        };
        let (mut next, mut done) = (0, 0);
        while next < runs.len() {
            let to = runs[next].to + done as isize;
            let mut filled = to;
            while let Some(run) = runs.get(next) {
                let here = run.to + done as isize;
                if here - to >= width as isize || parts && here != filled {
                    break;
                }
                let at = (here - to) as usize;
                let length = (run.length - done).min(width - at);
                windows.parts.push(Part { at, from: run.from + done as isize, length });
                filled = here + length as isize;
                done += length;
                if done == run.length {
                    (next, done) = (next + 1, 0);
                }
            }
            windows.to.push(to);
            windows.ends.push(windows.parts.len());
            if width < LINE && filled < to + width as isize {
                windows.fill_from_before((filled - to) as usize);
            }
        }
        windows
    }

    /// Where the last window is filled up to here only, it begins earlier, in the one before, if that is full and ends where it begins:
    /// a part of a short window costs more to write than bytes that are written twice.
    fn fill_from_before(&mut self, filled: usize) {
        let line = self.width;
        let last = self.to.len() - 1;
        if last == 0 || self.to[last - 1] + line as isize != self.to[last] {
            return;
        }
        let more = line - filled;
        let mut before: SmallVec<[Part; LINE]> = self.parts(last - 1).into();
        before.retain(|part| part.at + part.length > filled);
        let no_gap = before.first().is_some_and(|part| part.at <= filled)
            && before.last().is_some_and(|part| part.at + part.length == line);
        if !no_gap {
            return;
        }
        for part in &mut before {
            let skipped = filled.saturating_sub(part.at);
            *part = Part {
                at: part.at + skipped - filled,
                from: part.from + skipped as isize,
                length: part.length - skipped,
            };
        }
        let first = self.ends[last - 1];
        self.parts[first..].iter_mut().for_each(|part| part.at += more);
        self.parts.splice(first..first, before);
        self.ends[last] = self.parts.len();
        self.to[last] -= more as isize;
    }

    /// Sorts the parts of each window by their places in the source, and says how it is put together at the least cost.
    /// `is_between` says that its source is what the first of two passes wrote.
    fn look(&mut self, hull: Hull, is_between: bool) {
        let width = self.width;
        let long = if is_between { BETWEEN_PICK } else { LONG_PICK };
        let mut first = 0;
        for &end in &self.ends {
            let parts = &mut self.parts[first..end];
            first = end;
            let lanes = are_lanes(parts, width);
            parts.sort_unstable_by_key(|part| part.from);
            let count = |reach: usize| {
                let mut picks = Picking::new(parts, reach, hull);
                std::iter::from_fn(|| picks.next()).count()
            };
            let (longs, lane) = (count(width), width / LANE);
            let shorts = if width > LANE { count(LANE) } else { usize::MAX / SHORT_PICK };
            let shape = if lanes && lane * SHORT_PICK <= longs * long {
                Shape { picks: lane, lanes, short: false }
            } else if shorts * SHORT_PICK <= longs * long {
                Shape { picks: shorts, lanes: false, short: true }
            } else {
                Shape { picks: longs, lanes: false, short: false }
            };
            let each = if shape.lanes || shape.short || width == LANE { SHORT_PICK } else { long };
            self.cost += shape.picks * each;
            self.shapes.push(shape);
        }
    }

    fn picks(&self) -> usize {
        self.shapes.iter().map(|shape| shape.picks).sum()
    }

    /// In lines that are touched.
    fn cost(&self) -> usize {
        self.to.len() + self.cost / 3
    }

    /// The table of one pass.
    fn table(&self, hull: Hull) -> Option<Table> {
        let mut making = Making::new(self.cost());
        for (window, &to) in self.to.iter().enumerate() {
            let shape = self.shapes[window];
            making.add(to, self.parts(window), shape, self.width, hull)?;
        }
        Some(making.table())
    }

    /// Two passes: what `together` windows that draw from the same lines want is brought together first, in the order of the source.
    fn two_passes(&self, together: usize) -> (Windows, Windows) {
        let in_line = self.width;
        // Windows that draw from the same lines become neighbours.
        let mut order: Vec<usize> = (0..self.to.len()).collect();
        order.sort_by_cached_key(|&window| {
            let lines = self.parts(window).iter().map(|part| part.from.div_euclid(in_line as isize));
            let mut lines: SmallVec<[isize; LINE]> = lines.collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        });
        let mut group = vec![0; self.to.len()];
        for (place, &window) in order.iter().enumerate() {
            group[window] = place / together;
        }
        let windows = (0..self.to.len()).flat_map(|window| self.parts(window).iter().map(move |_| window));
        let mut parts: Vec<_> = windows.zip(&self.parts).enumerate().collect();
        parts.order_by_key(|&(_, (window, part))| (group[window], part.from));
        let mut between = Windows {
            width: self.width,
            to: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
            shapes: Vec::new(),
            cost: 0,
        };
        let mut second = Windows { shapes: Vec::new(), cost: 0, ..self.clone() };
        let (mut filled, mut now) = (0, usize::MAX);
        for (number, (window, part)) in parts {
            if now != group[window] || filled + part.length > in_line {
                (now, filled) = (group[window], 0);
                between.to.push((between.to.len() * in_line) as isize);
                between.ends.push(between.parts.len());
            }
            second.parts[number].from = ((between.to.len() - 1) * in_line + filled) as isize;
            between.parts.push(Part { at: filled, ..*part });
            filled += part.length;
            if let Some(end) = between.ends.last_mut() {
                *end = between.parts.len();
            }
        }
        (between, second)
    }
}

/// Whether a window is made of lanes.
fn are_lanes(parts: &[Part], width: usize) -> bool {
    parts.len() == width / LANE
        && parts.iter().enumerate().all(|(k, part)| (part.at, part.length) == (k * LANE, LANE))
}
