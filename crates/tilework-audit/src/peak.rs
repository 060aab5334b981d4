//! When a memory space holds the most, and what.
//!
//! Arguments, results and constants are there throughout; a temporary buffer from the instruction that makes it to the
//! last one that reads it. Buffers at the same place at the same time are one: an operation that works in place gives its
//! operand another name.

use crate::audit::Audit;
use crate::findings::{Peak, Sum};
use crate::hash::Map;
use crate::program::Program;
use crate::sums::Entry;

/// The moment at which each memory space holds the most.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    spaces: Vec<SpacePeak>,
}

#[derive(Debug)]
struct SpacePeak {
    space: i64,
    time: u32,
    sum: Sum,
    /// For each buffer of the program, whether it is there.
    holds: Vec<bool>,
}

/// A place in memory: allocation, offset, size.
type Where = (u32, u64, u64);

impl Peaks {
    /// None without live ranges, or without the places of buffers.
    pub(crate) fn new(audit: &Audit, program: &Program, entries: &[Entry]) -> Peaks {
        if !program.has.assignment || program.lives.is_empty() || entries.len() != program.values.len() {
            return Peaks::default();
        }
        let lives: Vec<(u32, u32)> = entries.iter().map(|entry| throughout_or(program, audit, entry)).collect();
        let mut numbers: Vec<i64> = entries.iter().map(|entry| entry.space).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let peaks = numbers.iter().map(|&space| SpacePeak::new(space, program, entries, &lives));
        Peaks { spaces: peaks.collect() }
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
        let instruction = audit.texts.text(name).to_owned();
        Some(Peak { time: peak.time, instruction, space: main, sum: peak.sum })
    }

    /// What is in a memory space when it holds the most.
    pub(crate) fn sum(&self, space: i64) -> Option<Sum> {
        self.spaces.iter().find(|peak| peak.space == space).map(|peak| peak.sum)
    }

    /// Whether a buffer is there when its memory space holds the most.
    pub(crate) fn holds(&self, space: i64, buffer: usize) -> Option<bool> {
        let peak = self.spaces.iter().find(|peak| peak.space == space)?;
        peak.holds.get(buffer).copied()
    }

    /// From when to when a buffer lives.
    pub(crate) fn live(&self, audit: &Audit, program: &Program, entry: &Entry) -> Option<(u32, u32)> {
        live(audit, program, entry)
    }
}

fn live(audit: &Audit, program: &Program, entry: &Entry) -> Option<(u32, u32)> {
    let name = audit.texts.text(entry.name).as_bytes();
    let index = audit.texts.text(entry.index).as_bytes();
    program.lives.get(&audit.live_key(name, index)).copied()
}

/// A temporary buffer's life; everything else, and what no range is known of, is there throughout.
fn throughout_or(program: &Program, audit: &Audit, entry: &Entry) -> (u32, u32) {
    live(audit, program, entry).filter(|(start, end)| start <= end).unwrap_or((0, u32::MAX))
}

impl SpacePeak {
    fn new(space: i64, program: &Program, entries: &[Entry], lives: &[(u32, u32)]) -> SpacePeak {
        let own = |&place: &usize| entries[place].space == space;
        let lives = |place: usize| match temporary(program, place) {
            true => lives[place],
            false => (0, u32::MAX),
        };
        // Ends come before starts of the same time, and a buffer is still there while its last reader runs.
        let mut events: Vec<(u64, bool, usize)> = Vec::new();
        for place in (0..entries.len()).filter(own) {
            let (start, end) = lives(place);
            events.push((u64::from(start), true, place));
            events.push((u64::from(end) + 1, false, place));
        }
        events.sort_unstable();
        let mut there: Map<Where, u64> = Map::default();
        let mut now = Sum::default();
        let mut best = SpacePeak { space, time: 0, sum: Sum::default(), holds: Vec::new() };
        for (number, &(time, starts, place)) in events.iter().enumerate() {
            let entry = &entries[place];
            let count = there.entry(at(program, place)).or_default();
            if starts {
                *count += 1;
                if *count == 1 {
                    now.add(1, entry.allocated, entry.data);
                }
            } else {
                *count -= 1;
                if *count == 0 {
                    there.remove(&at(program, place));
                    now.buffers -= 1;
                    now.allocated = now.allocated.saturating_sub(entry.allocated);
                    now.data = now.data.saturating_sub(entry.data);
                }
            }
            let is_last = events.get(number + 1).is_none_or(|next| next.0 != time);
            if is_last && now.allocated > best.sum.allocated {
                (best.time, best.sum) = (time as u32, now);
            }
        }
        best.holds = vec![false; entries.len()];
        for place in (0..entries.len()).filter(own) {
            let (start, end) = lives(place);
            best.holds[place] = start <= best.time && best.time <= end;
        }
        best
    }
}

fn temporary(program: &Program, place: usize) -> bool {
    let allocation = program.values[place].allocation;
    program.allocations.get(allocation as usize).is_none_or(|allocation| allocation.temporary)
}

fn at(program: &Program, place: usize) -> Where {
    let value = &program.values[place];
    (value.allocation, value.offset, value.size)
}
