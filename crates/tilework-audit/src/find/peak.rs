//! When a memory space holds the most, and what.
//!
//! Arguments, results and constants are there throughout; a temporary buffer from the instruction that makes it to the
//! last one that reads it. Buffers at the same place at the same time are one: an operation that works in place gives its
//! operand another name. So are those within a larger one: it is put together from them where they are, or a result holds
//! what was computed on the way to it.

use std::cmp::Reverse;
use tilework::InOrder;

use crate::audit::Audit;
use crate::find::entry::Entry;
use crate::find::findings::{Peak, Sum};
use crate::hash::Map;
use crate::program::{Allocation, Program};

/// The moment at which each memory space holds the most.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    spaces: Vec<SpacePeak>,
    /// For each buffer of the program, whether it is there when its memory space holds the most, and is counted then. Of
    /// those at the same place it is the one that came first, as only one is counted.
    there: Vec<There>,
    /// From when to when the memory of each is held.
    lives: Vec<(u32, u32)>,
}

/// Whether a buffer is there when its memory space holds the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum There {
    No,
    Counted,
    /// In the place of this one.
    InPlaceOf(usize),
}

#[derive(Debug)]
struct SpacePeak {
    space: i64,
    time: u32,
    sum: Sum,
}

/// A place in memory: allocation, offset, size.
type Where = (u32, u64, u64);

impl Peaks {
    /// None without live ranges, or without the places of buffers.
    pub(crate) fn new(audit: &Audit, program: &Program, entries: &[Entry]) -> Peaks {
        if !program.has.assignment || program.lives.is_empty() || entries.len() != program.values.len() {
            return Peaks::default();
        }
        let last = program.lives.values().map(|&(_, end)| end).max().unwrap_or(0);
        let life = |(place, entry): (usize, &Entry)| match temporary(program, place) {
            true => throughout_or(program, audit, entry, last),
            false => (0, last),
        };
        let lives: Vec<(u32, u32)> = entries.iter().enumerate().map(life).collect();
        let mut is_part = vec![false; entries.len()];
        let throughout = (0..entries.len()).filter(|&place| !temporary(program, place));
        parts(program, throughout.collect()).into_iter().for_each(|part| is_part[part] = true);
        let mut places: Vec<usize> = (0..entries.len()).collect();
        places.order_by_key(|&place| entries[place].space);
        let mut peaks = Peaks { spaces: Vec::new(), there: vec![There::No; entries.len()], lives };
        for own in places.chunk_by(|&a, &b| entries[a].space == entries[b].space) {
            let whole: Vec<usize> = own.iter().copied().filter(|&place| !is_part[place]).collect();
            let time = fullest(&whole, program, entries, &|place| peaks.lives[place]);
            let is_there = |place: &usize| {
                let (start, end) = peaks.lives[*place];
                (start..=end).contains(&time)
            };
            let mut there: Vec<(u32, usize)> =
                whole.iter().copied().filter(is_there).map(|place| (peaks.lives[place].0, place)).collect();
            there.order();
            let others: Vec<usize> = own.iter().copied().filter(is_there).collect();
            let parts = parts(program, there.iter().map(|&(_, place)| place).collect());
            let mut taken: Map<Where, ()> = parts.iter().map(|&part| (at(program, part), ())).collect();
            let mut sum = Sum::default();
            let mut counted: Vec<(u32, u64, usize)> = Vec::new();
            for (_, place) in there {
                let (allocation, offset, size) = at(program, place);
                if taken.insert((allocation, offset, size), ()).is_none() {
                    peaks.there[place] = There::Counted;
                    counted.push((allocation, offset, place));
                    sum.add(1, entries[place].allocated, entries[place].data);
                }
            }
            counted.order();
            for place in others {
                let (allocation, offset, _) = at(program, place);
                let before = counted.partition_point(|&(own, start, _)| (own, start) <= (allocation, offset));
                if peaks.there[place] == There::No
                    && let Some(&(_, _, whole)) = before.checked_sub(1).and_then(|before| counted.get(before))
                {
                    peaks.there[place] = There::InPlaceOf(whole);
                }
            }
            let space = own.first().map_or(0, |&place| entries[place].space);
            peaks.spaces.push(SpacePeak { space, time, sum });
        }
        peaks
    }

    /// The space that matters most: the main memory, or the fullest if nothing is in it.
    pub(crate) fn main_space(&self) -> Option<i64> {
        let main = self.spaces.iter().find(|peak| peak.space == 0);
        main.or_else(|| self.spaces.iter().max_by_key(|peak| peak.sum.allocated)).map(|peak| peak.space)
    }

    pub(crate) fn main(&self, audit: &Audit, program: &Program) -> Option<Peak> {
        let main = self.main_space()?;
        let peak = self.spaces.iter().find(|peak| peak.space == main)?;
        let name = program.sequence.get(peak.time as usize).copied().unwrap_or_default();
        let instruction = audit.store.texts.text(name).to_owned();
        Some(Peak { time: peak.time, instruction, space: main, sum: peak.sum })
    }

    /// What is in a memory space when it holds the most.
    pub(crate) fn sum(&self, space: i64) -> Option<Sum> {
        let found = self.spaces.binary_search_by_key(&space, |peak| peak.space).ok()?;
        Some(self.spaces[found].sum)
    }

    /// Whether a buffer is there when its memory space holds the most.
    pub(crate) fn holds(&self, buffer: usize) -> Option<bool> {
        self.there.get(buffer).map(|there| *there != There::No)
    }

    /// Whether it is counted then.
    pub(crate) fn counts(&self, buffer: usize) -> Option<bool> {
        self.there.get(buffer).map(|there| *there == There::Counted)
    }

    /// The buffer that is counted for it then, because it is at the same place.
    pub(crate) fn in_place_of(&self, buffer: usize) -> Option<usize> {
        match self.there.get(buffer)? {
            There::InPlaceOf(other) => Some(*other),
            There::No | There::Counted => None,
        }
    }

    /// From when to when the memory of a buffer is held.
    pub(crate) fn live(
        &self,
        audit: &Audit,
        program: &Program,
        buffer: usize,
        entry: &Entry,
    ) -> Option<(u32, u32)> {
        self.lives.get(buffer).copied().or_else(|| live(audit, program, entry))
    }
}

fn live(audit: &Audit, program: &Program, entry: &Entry) -> Option<(u32, u32)> {
    let name = audit.store.texts.text(entry.name).as_bytes();
    let index = audit.store.texts.text(entry.index).as_bytes();
    program.lives.get(&audit.store.live_key(name, index)).copied()
}

/// A temporary buffer's life; what no range is known of is there throughout.
fn throughout_or(program: &Program, audit: &Audit, entry: &Entry, last: u32) -> (u32, u32) {
    live(audit, program, entry).filter(|(start, end)| start <= end).unwrap_or((0, last))
}

/// The time at which these buffers of a memory space take the most.
fn fullest(own: &[usize], program: &Program, entries: &[Entry], lives: &impl Fn(usize) -> (u32, u32)) -> u32 {
    // Ends come before starts of the same time, and a buffer is still there while its last reader runs.
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for &place in own {
        let (start, end) = lives(place);
        events.push((u64::from(start), true, place));
        events.push((u64::from(end) + 1, false, place));
    }
    events.order();
    // How many buffers are at a place, and what the first of them takes.
    let mut there: Map<Where, (u64, u64)> = Map::default();
    let (mut now, mut most, mut when) = (0_u64, 0, 0);
    // What begins at this time, and what is there for the last time: of these, some may be parts of others.
    let mut turning: Vec<usize> = Vec::new();
    let mut last: Vec<(u32, usize)> = own.iter().map(|&place| (lives(place).1, place)).collect();
    last.order();
    let mut last = last.into_iter().peekable();
    for (number, &(time, starts, place)) in events.iter().enumerate() {
        let (count, allocated) = there.entry(at(program, place)).or_insert((0, entries[place].allocated));
        if starts {
            now = if *count == 0 { now.saturating_add(*allocated) } else { now };
            *count += 1;
            turning.push(place);
        } else {
            *count -= 1;
            if *count == 0 {
                now = now.saturating_sub(*allocated);
                there.remove(&at(program, place));
            }
        }
        if events.get(number + 1).is_some_and(|next| next.0 == time) {
            continue;
        }
        while let Some((_, ending)) = last.next_if(|&(end, _)| u64::from(end) <= time) {
            if u64::from(lives(ending).1) == time {
                turning.push(ending);
            }
        }
        if now > most {
            let mut counted: Map<Where, u64> = Map::default();
            for part in parts(program, std::mem::take(&mut turning)) {
                counted.insert(at(program, part), entries[part].allocated);
            }
            let without = now.saturating_sub(counted.values().fold(0, |sum, &size| sum.saturating_add(size)));
            if without > most {
                (most, when) = (without, time as u32);
            }
        }
        turning.clear();
    }
    when
}

/// Those of these buffers that are parts of larger ones of them.
fn parts(program: &Program, mut places: Vec<usize>) -> Vec<usize> {
    places.order_by_key(|&place| {
        let (allocation, offset, size) = at(program, place);
        (allocation, offset, Reverse(size))
    });
    let mut whole = None;
    places.retain(|&place| {
        let (allocation, offset, size) = at(program, place);
        let end = offset.saturating_add(size);
        let is_within = whole.is_some_and(|(own, _, until)| own == allocation && end <= until);
        if !is_within {
            whole = Some((allocation, offset, end));
        }
        is_within && whole != Some((allocation, offset, end))
    });
    places
}

fn temporary(program: &Program, place: usize) -> bool {
    let allocation = program.values[place].allocation;
    program.allocations.get(allocation as usize).is_none_or(Allocation::is_temporary)
}

fn at(program: &Program, place: usize) -> Where {
    let value = &program.values[place];
    (value.allocation, value.offset, value.size)
}
