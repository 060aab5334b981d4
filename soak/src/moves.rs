//! Random pairs of layouts: what a relayout moves, against a copy bit by bit, with bytes around the buffers that nobody may
//! write. Some are so large that stores go past the caches.

use tilework::{Layout, PlanOptions};
use tilework_copy::{Inline, Relayout, Threads};

use crate::attack::{Attack, Log, holds};
use crate::dice::Dice;
use crate::layouts::built;
use crate::model::Array;
use crate::random::Wild;

/// Bytes on either side of a buffer.
const MARGIN: usize = 200;

/// Small buffers have no more bytes than this.
const SMALL: u64 = 64 << 10;

/// Large ones have more than 3 MiB, from where on both ways to store are tried, and some more than 12 MiB, from where on
/// stores go past the cache at once.
const LARGE: u64 = 20 << 20;

struct Moves;

pub fn new() -> Result<Box<dyn Attack>, String> {
    Ok(Box::new(Moves))
}

impl Attack for Moves {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        let large = dice.once_in(200);
        let Some(job) = job(dice, large, log)? else { return Ok(()) };
        log.count(if large { "large" } else { "small" });
        let way = dice.below(if large { 3 } else { 5 });
        log.note(|| format!("way {way}, {}", job.relayout.plan()));
        let before = job.to.clone();
        let wanted = job.expected();
        let mut to = before.clone();
        let run = |step: usize, steps: usize, threads: usize, to: &mut [u8]| {
            let (from, to) = (&job.from[job.start.0..], &mut to[job.start.1..]);
            match threads {
                0 => job.relayout.run_step(&Inline, step, steps, from, to),
                _ => job.relayout.run_step(&Threads::new(threads), step, steps, from, to),
            }
            .map_err(|error| format!("the run: {error}"))
        };
        match way {
            0 => {
                // The second run of a large move is the other program's turn.
                for _ in 0..if large { 3 } else { 1 } {
                    to.copy_from_slice(&before);
                    run(0, 1, 0, &mut to)?;
                    job.compare(&to, &wanted, "a run")?;
                }
            }
            1 => {
                let threads = 2 + dice.index(6);
                for _ in 0..if large { 2 } else { 1 } {
                    to.copy_from_slice(&before);
                    run(0, 1, threads, &mut to)?;
                    job.compare(&to, &wanted, "a run of several threads")?;
                }
            }
            2 => {
                let (steps, threads) = (1 + dice.index(9), dice.index(4));
                (0..steps).try_for_each(|step| run(step, steps, threads, &mut to))?;
                job.compare(&to, &wanted, "steps")?;
            }
            3 => job.stream(1 + dice.index(5000))?,
            _ => job.short(dice)?,
        }
        Ok(())
    }

    fn short(&self) -> u64 {
        250
    }
}

/// A move with its buffers.
pub struct Job {
    pub relayout: Relayout,
    one: Array,
    other: Array,
    pub fill: Option<u128>,
    /// With what is around them.
    pub from: Vec<u8>,
    pub to: Vec<u8>,
    /// Where the buffers begin in these.
    pub start: (usize, usize),
}

/// A move that is possible, or nothing.
pub fn job(dice: &mut Dice, large: bool, log: &mut Log) -> Result<Option<Job>, String> {
    let bits = match large {
        true => dice.of(&[32, 64, 128, 96, 32, 64, 128]),
        false => {
            dice.of(&[8, 16, 32, 64, 128, 24, 96, 4, 2, 1, 12, 5, 3, 7, 48, 40, 256, 160, 131, 8, 16, 32])
        }
    };
    let most = if large { LARGE } else { SMALL };
    let dims = sizes(dice, if large { 18 << 20 } else { SMALL }, bits);
    let wild = |overlaps| Wild { sizes: false, overlaps };
    let source_overlaps = dice.once_in(3);
    let one = Array::random(dice, &dims, bits, wild(source_overlaps));
    let destination_overlaps = dice.once_in(30);
    let other = Array::random(dice, &dims, bits, wild(destination_overlaps));
    log.note(|| format!("{one:?}\n{other:?}"));
    let (Some(from), Some(to)) = (built(&one, log)?, built(&other, log)?) else { return Ok(None) };
    if from.bytes() > most || to.bytes() > most {
        log.count("too-large");
        return Ok(None);
    }
    let fill = dice.once_in(2).then(|| {
        let any = u128::from(dice.next()) << 64 | u128::from(dice.next());
        let any = if dice.once_in(3) { 0 } else { any };
        if bits < 128 { any & ((1 << bits) - 1) } else { any }
    });
    let planned = Relayout::new(&from, &to, &PlanOptions { fill, converts: false });
    let relayout = match planned {
        Ok(relayout) => relayout,
        Err(error) => {
            let error = error.to_string();
            log.note(|| error.clone());
            let mut places = other.offsets();
            places.sort_unstable();
            let is_twice = places.windows(2).any(|pair| pair[0] == pair[1]);
            // What is too much to plan is refused as well, and says so.
            let is_limit =
                ["refinement", "nests", "starts", "entries", "table"].iter().any(|w| error.contains(w));
            holds(is_twice || is_limit, || format!("{one:?} to {other:?}: {error}"))?;
            log.count(if is_twice { "places-twice" } else { "too-much-to-plan" });
            return Ok(None);
        }
    };
    // Buffers are where they are, mostly not aligned, sometimes at the beginning of a cache line.
    let place = |dice: &mut Dice| MARGIN + if dice.once_in(4) { 0 } else { dice.index(64) };
    let start = (place(dice), place(dice));
    let beyond = |dice: &mut Dice| if dice.once_in(2) { 0 } else { dice.index(40) };
    let room =
        |start: usize, layout: &Layout, dice: &mut Dice| start + layout.bytes() as usize + beyond(dice);
    let mut source = vec![0; room(start.0, &from, dice)];
    dice.fill(&mut source);
    let mut destination = vec![0; room(start.1, &to, dice) + MARGIN];
    dice.fill(&mut destination);
    Ok(Some(Job { relayout, one, other, fill, from: source, to: destination, start }))
}

impl Job {
    /// What stands in the destination and around it afterwards.
    pub fn expected(&self) -> Vec<u8> {
        self.expected_on(self.to.clone())
    }

    fn expected_on(&self, mut to: Vec<u8>) -> Vec<u8> {
        let width = u64::from(self.other.bits);
        let out = &mut to[self.start.1..];
        if let Some(fill) = self.fill {
            let size = self.relayout.plan().to().size();
            let bit = |at: u64| at < 128 && fill >> at & 1 == 1;
            if width % 8 == 0 {
                let byte = |at: u64| (0..8).map(|k| u8::from(bit(at * 8 + k)) << k).sum();
                let element: Vec<u8> = (0..width / 8).map(byte).collect();
                let whole = &mut out[..(size * width / 8) as usize];
                whole.chunks_mut(element.len()).for_each(|place| place.copy_from_slice(&element));
            } else {
                (0..size * width).for_each(|at| set(out, at, bit(at % width)));
            }
        }
        let from = &self.from[self.start.0..];
        for (read, write) in self.one.offsets().into_iter().zip(self.other.offsets()) {
            let (read, write) = (read * width, write * width);
            if width % 8 == 0 {
                let (read, write, width) = (read as usize / 8, write as usize / 8, width as usize / 8);
                out[write..write + width].copy_from_slice(&from[read..read + width]);
                continue;
            }
            for bit in 0..width {
                set(out, write + bit, get(from, read + bit));
            }
        }
        to
    }

    /// The error if there is a difference, in the buffer or around it.
    pub fn compare(&self, found: &[u8], wanted: &[u8], what: &str) -> Result<(), String> {
        let Some(at) = found.iter().zip(wanted).position(|(found, wanted)| found != wanted) else {
            return Ok(());
        };
        let end = self.start.1 + self.relayout.plan().to().bytes() as usize;
        let side = if at < self.start.1 {
            "before"
        } else if at >= end {
            "behind"
        } else {
            "in"
        };
        Err(format!(
            "{what}: byte {at} {side} the buffer at {}..{end} is {:#x}, the model says {:#x}: {:?} to {:?}, fill {:?}",
            self.start.1, found[at], wanted[at], self.one, self.other, self.fill
        ))
    }

    /// The destination in chunks: what no fill was asked for is zero there.
    fn stream(&self, chunk: usize) -> Result<(), String> {
        let bytes = self.relayout.plan().to().bytes() as usize;
        let mut zero = self.to.clone();
        zero[self.start.1..self.start.1 + bytes].fill(0);
        let wanted = self.expected_on(zero);
        let mut found = Vec::new();
        let from = &self.from[self.start.0..];
        self.relayout
            .stream(from, chunk, |at, bytes| {
                assert_eq!(at, found.len() as u64, "chunks come in order");
                found.extend_from_slice(bytes);
                Ok::<(), tilework::Error>(())
            })
            .map_err(|error| format!("the stream: {error}"))?;
        holds(found.len() == bytes, || format!("{} bytes of {bytes}", found.len()))?;
        holds(found[..] == wanted[self.start.1..self.start.1 + bytes], || {
            format!("a stream in chunks of {chunk}: {:?} to {:?}, fill {:?}", self.one, self.other, self.fill)
        })
    }

    /// Buffers that are too short are refused, and nothing is written.
    fn short(&self, dice: &mut Dice) -> Result<(), String> {
        let plan = self.relayout.plan();
        let lengths = [plan.from().bytes() as usize, plan.to().bytes() as usize];
        let which = dice.index(2);
        if lengths[which] == 0 {
            return Ok(());
        }
        let less = 1 + dice.index(lengths[which].min(70));
        let mut to = self.to.clone();
        let end = [self.start.0 + lengths[0], self.start.1 + lengths[1]];
        let cut = |side: usize| end[side] - if side == which { less } else { 0 };
        let outcome = self.relayout.run_on(
            &Threads::new(1 + dice.index(3)),
            &self.from[self.start.0..cut(0)],
            &mut to[self.start.1..cut(1)],
        );
        holds(outcome.is_err(), || format!("{less} bytes too few were taken"))?;
        holds(to == self.to, || "something was written although a buffer was too short".to_owned())
    }
}

fn get(bytes: &[u8], at: u64) -> bool {
    bytes[at as usize / 8] >> (at % 8) & 1 == 1
}

fn set(bytes: &mut [u8], at: u64, bit: bool) {
    let byte = &mut bytes[at as usize / 8];
    *byte = *byte & !(1 << (at % 8)) | u8::from(bit) << (at % 8);
}

/// Sizes whose elements take about so many bytes at most.
fn sizes(dice: &mut Dice, bytes: u64, bits: u32) -> Vec<u64> {
    let most = bytes * 8 / u64::from(bits);
    let mut room = if bytes > SMALL { most } else { most >> (1 + dice.below(11)) };
    let mut sizes = Vec::new();
    let rank = if bytes > SMALL { 2 + dice.below(3) } else { dice.below(6) };
    for _ in 0..rank {
        let near = dice.of(&[1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, 128, 129, 255, 256, 1000]);
        let size = if dice.once_in(3) { 1 + dice.below(40) } else { near };
        if size <= room {
            sizes.push(size);
            room /= size;
        }
    }
    if bytes > SMALL && room > 1 {
        sizes.insert(dice.index(sizes.len() + 1), room);
    } else if dice.once_in(100) {
        sizes.push(0);
    }
    sizes
}
