//! Writes a table down: windows with their picks and the patterns that these share.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use tilework_core::InOrder;

use smallvec::SmallVec;

use super::table::{Hull, Part, Shape};
use crate::kernels::net::{Bytes, LANE};
use crate::kernels::picks::{ALIKE, Group, Kind, Pick, TAKEN, Table, Window};
use crate::kernels::vector::LINE;

/// Windows with the same patterns that are worth a call.
const MANY: usize = 4;

/// The picks of a window, one after the other, as few as there can be: each begins where the one before has nothing any more.
pub(super) struct Picking<'a> {
    /// Sorted by their places in the source.
    parts: &'a [Part],
    hull: Hull,
    reach: isize,
    /// Parts before this one have been looked at, and have these bytes that no pick has.
    next: usize,
    open: std::ops::Range<isize>,
}

impl<'a> Picking<'a> {
    /// With picks of `reach` bytes.
    pub(super) fn new(parts: &'a [Part], reach: usize, hull: Hull) -> Picking<'a> {
        Picking { parts, hull, reach: reach as isize, next: 0, open: 0..0 }
    }

    /// Where the next pick begins.
    pub(super) fn next(&mut self) -> Option<isize> {
        if self.open.is_empty() {
            let first = self.parts.get(self.next)?.from;
            self.open = first..first;
        }
        let first = self.open.start;
        let near = self.parts[self.next..].iter().take_while(|part| part.from < first + self.reach);
        let end = near.map(|part| part.from + part.length as isize).fold(self.open.end, isize::max);
        // On a line of the source, if that has it all; and within what may be read.
        let on_line = first & !(self.reach - 1);
        let from = if end <= on_line + self.reach { on_line } else { first };
        let from = from.min(self.hull.high - self.reach).max(self.hull.low);
        let mut last = self.open.end;
        while let Some(part) = self.parts.get(self.next).filter(|part| part.from < from + self.reach) {
            last = last.max(part.from + part.length as isize);
            self.next += 1;
        }
        self.open = from + self.reach..last;
        Some(from)
    }
}

/// What a table is made in.
#[derive(Default)]
pub(super) struct Making {
    table: Table,
    cost: usize,
    /// For each window its shape, and the first of its picks.
    shapes: Vec<(Shape, usize)>,
    known: HashMap<[u8; LINE], u32, BuildHasherDefault<Quick>>,
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
    /// For a table that costs so much.
    pub(super) fn new(cost: usize) -> Making {
        Making { cost, ..Making::default() }
    }

    /// Adds a window of parts that are sorted by their places in the source.
    pub(super) fn add(
        &mut self,
        to: isize,
        parts: &[Part],
        shape: Shape,
        width: usize,
        hull: Hull,
    ) -> Option<()> {
        let before = self.table.picks.len();
        // The bytes that are written.
        let mut mask = 0_u64;
        if shape.lanes {
            let mut lanes: SmallVec<[Part; LINE / LANE]> = parts.into();
            lanes.sort_unstable_by_key(|part| part.at);
            for part in lanes {
                self.table.picks.push(Pick { from: i32::try_from(part.from).ok()?, pattern: 0 });
            }
            mask = u64::MAX >> (64 - width);
        } else {
            let reach = if shape.short { LANE } else { width };
            let mut picks = Picking::new(parts, reach, hull);
            let reach = picks.reach;
            let (mut first, mut open) = (0, SmallVec::<[Part; LINE]>::new());
            while let Some(from) = picks.next() {
                // What parts before have left, and those that begin here.
                let mut pattern = [0; LINE];
                let here = std::mem::take(&mut open);
                for part in here.iter().chain(&parts[first..picks.next]) {
                    let begin = (part.from - from) as usize;
                    let length = part.length.min(reach as usize - begin);
                    for k in 0..length {
                        let (at, taken) = (part.at + k, begin + k);
                        pattern[at] = TAKEN | taken as u8;
                        mask |= 1 << at;
                    }
                    if length < part.length {
                        let (at, from) = (part.at + length, part.from + length as isize);
                        open.push(Part { at, from, length: part.length - length });
                    }
                }
                first = picks.next;
                self.pick(i32::try_from(from).ok()?, &pattern[..width]);
            }
        }
        debug_assert!(width == LINE || (mask + 1).is_power_of_two(), "gaps in a short window: {mask:x}");
        self.table.windows.push(Window { to, mask });
        let picks = self.table.picks.len() - before;
        debug_assert!(picks == shape.picks, "{parts:?} {shape:?} {picks} {hull:?} {width}");
        self.shapes.push((Shape { picks, ..shape }, before));
        Some(())
    }

    fn pick(&mut self, from: i32, pattern: &[u8]) {
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
        let at = number * pattern.len() as u32;
        self.table.picks.push(Pick { from, pattern: at });
    }

    /// The table, with its windows in groups: those with the same patterns, and of what is left those with as many picks.
    pub(super) fn table(self) -> Table {
        let Making { table, shapes, cost, .. } = self;
        let picks = |window: usize| &table.picks[shapes[window].1..][..shapes[window].0.picks];
        let patterns = |window: usize| picks(window).iter().map(|pick| pick.pattern);
        let mut order: Vec<usize> = (0..shapes.len()).collect();
        let key = |window: usize| {
            let (Shape { picks, lanes, short }, _) = shapes[window];
            (picks, !lanes, short, table.windows[window].mask)
        };
        order.order_by(|&one, &other| {
            key(one).cmp(&key(other)).then_with(|| patterns(one).cmp(patterns(other)))
        });
        let are_alike =
            |one: &usize, other: &usize| key(*one) == key(*other) && patterns(*one).eq(patterns(*other));
        let mut made = Table { patterns: table.patterns, cost, ..Table::default() };
        for kind in [Kind::Lanes, Kind::Alike, Kind::Any] {
            for windows in order.chunk_by(are_alike) {
                let (Shape { picks: count, lanes, short }, _) = shapes[windows[0]];
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
                    Some(group)
                        if kind == Kind::Any
                            && (group.kind, group.short, group.count) == (kind, short, count) =>
                    {
                        group.windows += windows.len();
                    }
                    _ => made.groups.push(Group { windows: windows.len(), count, kind, short }),
                }
            }
        }
        made
    }
}
