//! Makes tables: windows, and the picks that they are put together from.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use smallvec::SmallVec;

use crate::kernels::net::{Bytes, LANE};
use crate::kernels::picks::{ALIKE, Group, Kind, Pick, SHIFTED, SHIFTS, TAKEN, Table, Window};
use crate::kernels::vector::LINE;

/// Elements that stay together: `length` of them, from one place to another. Places and lengths are in bytes, or in halves of them where
/// elements have 4 bits: `in_byte` is 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) to: isize,
    pub(super) from: isize,
    pub(super) length: usize,
}

/// Where a window draws a piece from: bytes of the window from `at` on.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    at: usize,
    from: isize,
    length: usize,
}

/// What windows are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Elements in a byte.
    pub(super) in_byte: usize,
    /// Bytes of a window and of a pick.
    pub(super) width: usize,
}

impl Sizes {
    /// A window, in elements of half a byte where these are.
    fn window(self) -> usize {
        self.width * self.in_byte
    }
}

/// Windows before their picks are known: where each goes, and where its parts end in the list of all.
#[derive(Clone, Debug)]
struct Windows {
    sizes: Sizes,
    /// Whether a byte may be written whole where only a half of it is wanted.
    is_loose: bool,
    to: Vec<isize>,
    ends: Vec<usize>,
    parts: Vec<Part>,
}

/// The elements of the source, from and to where a pick may read; whole bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    pub(super) low: isize,
    pub(super) high: isize,
}

/// Windows with the same patterns that are worth a call.
const MANY: usize = 4;

/// Picks of a window: a line that is put together from so few can hardly be had for less.
const FEW: usize = 5;

/// The tables for some runs, which lie in the order of the destination: one pass, or two, and the bytes between the two.
///
/// `parts` says whether a window ends where bytes of the destination are left out.
///
/// None if there are bytes that the runs write only in part.
pub(super) fn tables(runs: &[Run], sizes: Sizes, hull: Hull, parts: bool) -> Option<(Vec<Table>, usize)> {
    let windows = Windows::cut(runs, sizes, parts);
    let one = windows.table(hull)?;
    let each = one.picks.len() / one.windows.len();
    if each < FEW {
        return Some((vec![one], 0));
    }
    // As many picks in either pass.
    let (between, second) = windows.two_passes(if each < 4 * FEW { 4 } else { 8 });
    let bytes = between.to.len() * sizes.width;
    if bytes > super::run::BETWEEN {
        return Some((vec![one], 0));
    }
    let inner = Hull { low: 0, high: (bytes * sizes.in_byte) as isize };
    let (Some(first), Some(second)) = (between.table(hull), second.table(inner)) else {
        return Some((vec![one], 0));
    };
    let two = vec![first, second];
    let cost = |tables: &[Table]| tables.iter().map(Table::cost).sum::<usize>();
    Some(if cost(&two) < cost(std::slice::from_ref(&one)) { (two, bytes) } else { (vec![one], 0) })
}

impl Windows {
    /// The parts of a window.
    fn parts(&self, window: usize) -> &[Part] {
        let first = if window == 0 { 0 } else { self.ends[window - 1] };
        &self.parts[first..self.ends[window]]
    }

    /// Cuts runs into windows.
    fn cut(runs: &[Run], sizes: Sizes, parts: bool) -> Windows {
        let line = sizes.window();
        let parts_of_runs = Vec::with_capacity(runs.len());
        let mut windows =
            Windows { sizes, is_loose: false, to: Vec::new(), ends: Vec::new(), parts: parts_of_runs };
        let (mut next, mut done) = (0, 0);
        while next < runs.len() {
            let to = runs[next].to + done as isize;
            let mut filled = to;
            while let Some(run) = runs.get(next) {
                let here = run.to + done as isize;
                if here - to >= line as isize || parts && here != filled {
                    break;
                }
                let at = (here - to) as usize;
                let length = (run.length - done).min(line - at);
                windows.parts.push(Part { at, from: run.from + done as isize, length });
                filled = here + length as isize;
                done += length;
                if done == run.length {
                    (next, done) = (next + 1, 0);
                }
            }
            windows.to.push(to);
            windows.ends.push(windows.parts.len());
            if sizes.width < LINE && filled < to + line as isize {
                windows.fill_from_before((filled - to) as usize);
            }
        }
        windows
    }

    /// Where the last window is filled up to here only, it begins earlier, in the one before, if that is full and ends where it begins:
    /// a part of a short window costs more to write than bytes that are written twice.
    fn fill_from_before(&mut self, filled: usize) {
        let line = self.sizes.window();
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

    /// The table of one pass.
    fn table(&self, hull: Hull) -> Option<Table> {
        let mut making = Making::default();
        for (window, &to) in self.to.iter().enumerate() {
            making.add(to, self.parts(window), (self.sizes, self.is_loose), hull)?;
        }
        Some(making.table())
    }

    /// Two passes: what `together` windows that draw from the same lines want is brought together first, in the order of the source.
    fn two_passes(&self, together: usize) -> (Windows, Windows) {
        let in_line = self.sizes.window();
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
        parts.sort_by_key(|&(_, (window, part))| (group[window], part.from));
        let mut between = Windows {
            sizes: self.sizes,
            is_loose: true,
            to: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
        };
        let mut second = self.clone();
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

/// What a table is made in.
#[derive(Default)]
struct Making {
    table: Table,
    /// For each window, how many picks it has, and the first of them; and whether these are lanes.
    counts: Vec<(usize, usize, bool)>,
    known: HashMap<[u8; LINE], u32, BuildHasherDefault<Quick>>,
    /// The parts of a window, by their places in the source.
    sorted: Vec<Part>,
}

/// Numbers of patterns are looked up for every pick, and who makes the plan makes the patterns: a hash that is quick will do.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let eight = eight.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte));
            self.0 = (self.0.rotate_left(23) ^ eight).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }
}

impl Making {
    /// Adds a window, with as few picks as there can be: each begins where the one before has nothing any more.
    fn add(&mut self, to: isize, parts: &[Part], (sizes, is_loose): (Sizes, bool), hull: Hull) -> Option<()> {
        let in_byte = sizes.in_byte;
        self.sorted.clear();
        self.sorted.extend(parts);
        self.sorted.sort_unstable_by_key(|part| part.from);
        let line = sizes.window() as isize;
        let before = self.table.picks.len();
        // The halves of bytes that are written; where elements have whole ones, both at once.
        let mut masks = [0_u64; 2];
        let mut next = 0;
        while let Some(first) = self.sorted.get(next).copied() {
            // On a line of the source, if that has it all; and within what may be read.
            let near = self.sorted[next..].iter().take_while(|part| part.from < first.from + line);
            let end = near.map(|part| part.from + part.length as isize).max().unwrap_or(first.from);
            let on_line = first.from & !(line - 1);
            let from = if end <= on_line + line { on_line } else { first.from & -(in_byte as isize) };
            let from = from.min(hull.high - line).max(hull.low);
            let mut patterns = [[0; LINE]; SHIFTS.len()];
            let (start, mut open) = (next, next);
            while let Some(part) = self.sorted.get(next).filter(|part| part.from < from + line) {
                let here = (part.from - from) as usize;
                let length = part.length.min(line as usize - here);
                for k in 0..length {
                    let (at, taken) = (part.at + k, here + k);
                    let half = if in_byte == 1 { 0 } else { 1 + at % 2 * 2 + taken % 2 };
                    patterns[half][at / in_byte] = TAKEN | (taken / in_byte) as u8;
                    masks[at % in_byte] |= 1 << (at / in_byte);
                }
                if length < part.length {
                    let (at, from) = (part.at + length, part.from + length as isize);
                    self.sorted[open] = Part { at, from, length: part.length - length };
                    open += 1;
                }
                next += 1;
            }
            // What is left of parts goes to the next picks.
            let left = open - start;
            if left > 0 {
                self.sorted.copy_within(start..open, next - left);
                next -= left;
                self.sorted[next..].sort_unstable_by_key(|part| part.from);
            }
            let [both, low, _, _, high] = &mut patterns;
            for ((both, low), high) in both.iter_mut().zip(low).zip(high) {
                if *low == *high && *low != 0 {
                    (*both, *low, *high) = (*low, 0, 0);
                }
            }
            for (shift, pattern) in patterns.iter().enumerate() {
                if pattern != &[0; LINE] {
                    self.pick(i32::try_from(from / in_byte as isize).ok()?, shift, &pattern[..sizes.width]);
                }
            }
        }
        if in_byte == 2 && (masks[0] != masks[1] && !is_loose || to % 2 != 0) {
            return None;
        }
        let mut count = self.table.picks.len() - before;
        // Where it would take more than two picks, lanes are quicker.
        let lanes = count > 2 && sizes.width == LINE && in_byte == 1 && are_lanes(parts);
        if lanes {
            self.table.picks.truncate(before);
            for part in parts {
                self.table.picks.push(Pick { from: i32::try_from(part.from).ok()?, pattern: 0 });
            }
            count = parts.len();
        }
        let mask = masks[0] | masks[1];
        debug_assert!(
            sizes.width == LINE || (mask + 1).is_power_of_two(),
            "gaps in a short window: {mask:x}"
        );
        self.table.windows.push(Window { to: to / in_byte as isize, mask });
        self.counts.push((count, before, lanes));
        Some(())
    }

    fn pick(&mut self, from: i32, shift: usize, pattern: &[u8]) {
        let mut bytes = [0; LINE];
        bytes[..pattern.len()].copy_from_slice(pattern);
        let new = self.known.len();
        let number = *self.known.entry(bytes).or_insert(new as u32);
        if number == new as u32 {
            let at = new % (LINE / pattern.len()) * pattern.len();
            if at == 0 {
                self.table.patterns.push(Bytes([0; LINE]));
            }
            if let Some(Bytes(last)) = self.table.patterns.last_mut() {
                // Shuffles of short windows know it the other way round.
                let turned = if pattern.len() < LINE { TAKEN } else { 0 };
                let last = &mut last[at..at + pattern.len()];
                last.iter_mut().zip(pattern).for_each(|(byte, of)| *byte = of ^ turned);
            }
        }
        self.table.picks.push(Pick { from, pattern: number | (shift as u32) << SHIFTED });
    }

    /// The table, with its windows in groups: those with the same patterns, and of what is left those with as many picks.
    fn table(self) -> Table {
        let Making { table, counts, .. } = self;
        let picks = |window: usize| &table.picks[counts[window].1..][..counts[window].0];
        let patterns = |window: usize| picks(window).iter().map(|pick| pick.pattern);
        let mut order: Vec<usize> = (0..counts.len()).collect();
        let key = |window: usize| (counts[window].0, !counts[window].2, table.windows[window].mask);
        order.sort_by(|&one, &other| {
            key(one).cmp(&key(other)).then_with(|| patterns(one).cmp(patterns(other)))
        });
        let are_alike =
            |one: &usize, other: &usize| key(*one) == key(*other) && patterns(*one).eq(patterns(*other));
        let mut made = Table { patterns: table.patterns, ..Table::default() };
        for kind in [Kind::Lanes, Kind::Alike, Kind::Any] {
            for windows in order.chunk_by(are_alike) {
                let (count, _, lanes) = counts[windows[0]];
                let of = match (lanes, count) {
                    (true, _) => Kind::Lanes,
                    (_, ..=ALIKE) if windows.len() >= MANY => Kind::Alike,
                    _ => Kind::Any,
                };
                if of != kind {
                    continue;
                }
                for &window in windows {
                    made.windows.push(table.windows[window]);
                    made.picks.extend(picks(window));
                }
                match made.groups.last_mut() {
                    Some(group) if kind == Kind::Any && (group.kind, group.count) == (kind, count) => {
                        group.windows += windows.len();
                    }
                    _ => made.groups.push(Group { windows: windows.len(), count, kind }),
                }
            }
        }
        made
    }
}

/// Whether a window is made of four lanes.
fn are_lanes(parts: &[Part]) -> bool {
    parts.len() == LINE / LANE
        && parts.iter().enumerate().all(|(k, part)| (part.at, part.length) == (k * LANE, LANE))
}
