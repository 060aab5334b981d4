//! Two programs for one plan, and the one that turned out faster.
//!
//! Whether stores should go past the cache depends on whether the destination's lines are in the cache already. Between
//! the size of the second cache and that of the last one nobody can know: it depends on what else runs on the machine, and
//! on what the caller did last with the buffers. Both programs write the same bytes, so runs decide: the first few take
//! turns, and from then on the faster one works, while now and then the other shows whether it still is the slower.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::program::Program;

/// Runs that take turns, the first of which does not count: it meets memory that was never touched.
const TURNS: u32 = 9;

/// From then on, every so many runs are the other's.
const AGAIN: u32 = 32;

/// The other program, and how the two did so far.
#[derive(Debug)]
pub(crate) struct Trial {
    other: Program,
    /// Runs on one thread, and on several: what is faster may differ.
    scores: [Score; 2],
}

/// How long runs took.
#[derive(Debug, Default)]
struct Score {
    runs: AtomicU32,
    /// In nanoseconds, of the first program and of the other; 0 where there was none.
    times: [AtomicU64; 2],
}

impl Trial {
    pub(crate) fn new(other: Program) -> Trial {
        Trial { other, scores: Default::default() }
    }

    /// Does all of the work with one of the programs. Threads may call this at the same time; they only disturb each
    /// other's measurements.
    pub(crate) fn run(&self, first: &Program, width: usize, run: impl FnOnce(&Program)) {
        let score = &self.scores[usize::from(width > 1)];
        let number = score.runs.fetch_add(1, Ordering::Relaxed);
        let other = score.takes_other(number);
        let start = Instant::now();
        run(if other { &self.other } else { first });
        if number > 0 {
            score.record(other, start.elapsed().as_nanos() as u64);
        }
    }
}

impl Score {
    /// Whether the run of this number is the other program's.
    fn takes_other(&self, number: u32) -> bool {
        if number < TURNS {
            return number % 2 == 1;
        }
        let [first, other] = [&self.times[0], &self.times[1]].map(|time| time.load(Ordering::Relaxed));
        (other < first) != number.is_multiple_of(AGAIN)
    }

    /// A shorter time counts at once, a longer one by and by and however long it is: a run can be disturbed, but not helped.
    fn record(&self, other: bool, took: u64) {
        let time = &self.times[usize::from(other)];
        let before = time.load(Ordering::Relaxed);
        let longer = took.saturating_sub(before).min(before / 4);
        let now = if before == 0 || took < before { took } else { before + longer / 4 };
        time.store(now.max(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each run is the other program's, if they take so long.
    fn runs(score: &Score, count: u32, first: u64, other: u64) -> Vec<bool> {
        let one = |_| {
            let number = score.runs.fetch_add(1, Ordering::Relaxed);
            let choice = score.takes_other(number);
            if number > 0 {
                score.record(choice, if choice { other } else { first });
            }
            choice
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_first_runs_take_turns_and_then_the_faster_one_works() {
        let score = Score::default();
        let turns = [false, true, false, true, false, true, false, true, false];
        assert_eq!(runs(&score, 12, 100, 70), [&turns[..], &[true; 3]].concat());
        let reverse = Score::default();
        assert_eq!(runs(&reverse, 12, 70, 100), [&turns[..], &[false; 3]].concat());
    }

    #[test]
    fn when_the_other_becomes_faster_it_is_noticed() {
        let score = Score::default();
        runs(&score, AGAIN, 100, 70);
        assert_eq!(runs(&score, 3, 50, 70), [false, false, false]); // its turn, and it stays
    }

    #[test]
    fn one_disturbed_run_changes_little() {
        let score = Score::default();
        runs(&score, 10, 100, 70);
        score.record(true, 10_000);
        assert!(score.takes_other(11));
    }
}
