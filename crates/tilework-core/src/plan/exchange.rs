//! Nests of loops through a swizzle.
//!
//! A swizzle keeps runs of places together and looks at the offset modulo some power of two. So where all elements of a
//! nest are in one run, but for loops that step by multiples of that power, the swizzle moves the nest as a whole. Every
//! other nest is split until that holds: a loop into whole periods and the rest, or into what is left of the run and
//! what comes after. Where many parts come out they have the same loops, and are one nest with many starts.

use super::group::{Groups, Start, add};
use super::nest::{Loop, Loops, Nest};
use super::refine::{NEST_LIMIT, START_LIMIT, nest, too_many_starts};
use super::tidy::tidy;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::swizzle::Swizzle;

/// Nests over places before they are exchanged, as nests over places after that.
pub(super) fn copies(mut nests: Vec<Nest>, [from, to]: [Option<&Swizzle>; 2]) -> Result<Vec<Nest>> {
    for (swizzle, side) in [(from, Side::From), (to, Side::To)] {
        if let Some(swizzle) = swizzle {
            let (run, period) = (swizzle.run(), swizzle.period());
            let mut exchange = Exchange { swizzle, side, run, period, found: Groups::default(), starts: 0 };
            for nest in nests {
                for &(from, to) in &nest.starts {
                    exchange.split(Loops::from_slice(&nest.loops), (from as i64, to as i64))?;
                }
            }
            nests = exchange.found.list.into_iter().map(nest).collect();
        }
    }
    Ok(nests)
}

#[derive(Clone, Copy)]
enum Side {
    From,
    To,
}

struct Exchange<'a> {
    swizzle: &'a Swizzle,
    side: Side,
    /// Places that stay together.
    run: u64,
    /// What the swizzle sees of an offset is its rest by this.
    period: u64,
    found: Groups,
    starts: u64,
}

impl Exchange<'_> {
    fn of_side(&self, both: Start) -> i64 {
        match self.side {
            Side::From => both.0,
            Side::To => both.1,
        }
    }

    fn stride(&self, each: &Loop) -> i64 {
        self.of_side((each.from, each.to))
    }

    /// Adds the parts of a nest that the swizzle moves as wholes.
    fn split(&mut self, mut loops: Loops, start: Start) -> Result<()> {
        let first = self.of_side(start).rem_euclid(self.run as i64);
        let (mut below, mut above) = (i128::from(first), i128::from(first));
        let mut most: Option<usize> = None;
        for (place, each) in loops.iter().enumerate() {
            let stride = self.stride(each);
            if each.extent == 1 || stride.unsigned_abs().is_multiple_of(self.period) {
                continue;
            }
            let span = i128::from(stride) * i128::from(each.extent - 1);
            *(if span < 0 { &mut below } else { &mut above }) += span;
            if most.is_none_or(|most| self.stride(&loops[most]).unsigned_abs() < stride.unsigned_abs()) {
                most = Some(place);
            }
        }
        let (Some(most), false) = (most, below >= 0 && above < i128::from(self.run)) else {
            return self.add(loops, start);
        };
        let each = loops[most];
        let stride = self.stride(&each);
        // After `turns` turns the loop is where it began, for the swizzle.
        let turns = self.period >> stride.trailing_zeros();
        if each.extent > turns {
            let whole = each.extent / turns;
            let rest = each.extent % turns;
            if rest > 0 {
                let mut loops = loops.clone();
                loops[most].extent = rest;
                self.split(loops, moved(start, &each, whole * turns))?;
            }
            let by = turns as i64; // below 2^62
            loops[most].extent = turns;
            loops.push(Loop {
                extent: whole,
                from: each.from.wrapping_mul(by),
                to: each.to.wrapping_mul(by),
            });
            return self.split(loops, start);
        }
        // If all of the loop is in one run, it is the others that leave it, and each turn is a nest of its own.
        let stays = self.turns_in_run(start, stride) >= each.extent;
        let mut done = 0;
        while done < each.extent {
            let start = moved(start, &each, done);
            let count = if stays { 1 } else { self.turns_in_run(start, stride).min(each.extent - done) };
            let mut loops = loops.clone();
            loops[most].extent = count;
            self.split(loops, start)?;
            done += count;
        }
        Ok(())
    }

    /// How many turns of a loop stay in the run in which it starts.
    fn turns_in_run(&self, start: Start, stride: i64) -> u64 {
        let first = self.of_side(start).rem_euclid(self.run as i64) as u64;
        match stride > 0 {
            true => (self.run - first).div_ceil(stride.unsigned_abs()),
            false => first / stride.unsigned_abs() + 1,
        }
    }

    /// Adds a nest that the swizzle moves as a whole.
    fn add(&mut self, mut loops: Loops, start: Start) -> Result<()> {
        let exchanged = |place: i64| self.swizzle.apply(place as u64) as i64;
        let start = match self.side {
            Side::From => (exchanged(start.0), start.1),
            Side::To => (start.0, exchanged(start.1)),
        };
        let moved = tidy(&mut loops);
        self.found.add(&loops, add(start, moved));
        self.starts += 1;
        if self.starts > START_LIMIT {
            return Err(too_many_starts());
        }
        if self.found.list.len() as u64 > NEST_LIMIT {
            return Err(Error::new("too many shapes of pieces")
                .of_kind(ErrorKind::Limit)
                .rule(format!("a plan has at most {NEST_LIMIT} nests of loops"))
                .accepts("strides that are powers of two within the bits of the swizzle"));
        }
        Ok(())
    }
}

/// A start moved on by `turns` turns of a loop.
fn moved(start: Start, each: &Loop, turns: u64) -> Start {
    let turns = turns as i64; // below an extent
    add(start, (each.from.wrapping_mul(turns), each.to.wrapping_mul(turns)))
}
