//! What may be shared by threads, shared: one relayout with many buffers, several relayouts at once, and layouts that are
//! asked for the first time by all of them together.

use std::thread;

use tilework_copy::{Inline, Threads};

use crate::attack::{Attack, Log, holds};
use crate::dice::Dice;
use crate::layouts::built;
use crate::model::Array;
use crate::moves::{Job, job};
use crate::random::Wild;

struct Shared;

pub fn new() -> Result<Box<dyn Attack>, String> {
    Ok(Box::new(Shared))
}

impl Attack for Shared {
    fn case(&mut self, dice: &mut Dice, log: &mut Log) -> Result<(), String> {
        if dice.once_in(3) {
            return asked(dice, log);
        }
        let large = dice.once_in(300);
        let mut jobs = Vec::new();
        for _ in 0..1 + dice.below(3) {
            jobs.extend(job(dice, large, log)?);
        }
        log.count(if large { "large" } else { "small" });
        let threads = 2 + dice.index(5);
        let rounds = if large { 1 } else { 1 + dice.index(6) };
        let inner = dice.index(4);
        let wanted: Vec<Vec<u8>> = jobs.iter().map(Job::expected).collect();
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|number| {
                    let (jobs, wanted) = (&jobs, &wanted);
                    scope.spawn(move || {
                        for round in 0..rounds {
                            let Some(at) = (number + round).checked_rem(jobs.len()) else { return Ok(()) };
                            once(&jobs[at], &wanted[at], inner)?;
                        }
                        Ok(())
                    })
                })
                .collect();
            let mut outcomes = workers.into_iter().map(|worker| worker.join());
            outcomes.try_for_each(|outcome| outcome.unwrap_or_else(|_| Err("a thread panicked".to_owned())))
        })
    }

    fn short(&self) -> u64 {
        150
    }
}

/// The move into a buffer of this thread's own.
fn once(job: &Job, wanted: &[u8], inner: usize) -> Result<(), String> {
    let mut to = job.to.clone();
    let (from, out) = (&job.from[job.start.0..], &mut to[job.start.1..]);
    match inner {
        0 | 1 => job.relayout.run_on(&Inline, from, out),
        threads => job.relayout.run_on(&Threads::new(threads), from, out),
    }
    .map_err(|error| error.to_string())?;
    job.compare(&to, wanted, "several threads at once")
}

/// A fresh layout, whose canonical form every thread wants at the same moment.
fn asked(dice: &mut Dice, log: &mut Log) -> Result<(), String> {
    let dims: Vec<u64> = (0..1 + dice.below(4)).map(|_| 1 + dice.below(9)).collect();
    let array = Array::random(dice, &dims, 32, Wild { sizes: false, overlaps: true });
    log.note(|| format!("{array:?}"));
    let Some(layout) = built(&array, log)? else { return Ok(()) };
    let alone = layout.formula();
    let fresh = array.build().map_err(|error| error.to_string())?;
    let barrier = std::sync::Barrier::new(4);
    let answers: Vec<(String, bool, Option<u64>)> = thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            (fresh.formula(), fresh.same_buffer(&layout).is_yes(), fresh.places())
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let first = (alone, true, layout.places());
    holds(answers.len() == 4 && answers.iter().all(|answer| *answer == first), || {
        format!("{array:?}: {answers:?}, but alone {first:?}")
    })
}
