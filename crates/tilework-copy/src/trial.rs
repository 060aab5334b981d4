//! Some programs for one plan, and the one that turned out the fastest.
//!
//! Whether stores should go past the cache depends on whether the destination's lines are in the cache already. Between
//! the size of the second cache and that of the last one nobody can know: it depends on what else runs on the machine, and
//! on what the caller did last with the buffers. And where two kernels are about as good, the estimate may take the wrong one.
//! All programs write the same bytes, so runs decide: the first few take turns, and from then on the fastest one works, while
//! now and then another shows whether it still is slower.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::program::Program;
use crate::ways::CANDIDATES;

/// Runs of a program one after the other. The first of them does not count: it meets caches as another program left them, one whose
/// stores go past the cache leaves the destination out of it. It takes some runs more until the last cache has all that it can hold.
const TURN: usize = 4;

/// Turns that each program is measured in at first, unless it turns out to be much slower.
const TURNS: usize = 2;

/// From then on, another has a turn each time after this many runs.
const AGAIN: usize = 256;

/// Programs with the other kind of stores.
pub(crate) const OTHERS: usize = 2;

/// The candidates, and those with the other kind of stores.
const MOST: usize = CANDIDATES + OTHERS;

/// The other programs, and how all did so far.
#[derive(Debug)]
pub(crate) struct Trial {
    others: Vec<Program>,
    /// Runs on one thread, and on several: what is faster may differ.
    scores: [Score; 2],
}

/// How long runs took.
#[derive(Debug, Default)]
struct Score {
    is_long: bool,
    runs: AtomicU32,
    /// One more than the program of the last run.
    last: AtomicU32,
    /// In nanoseconds; 0 where there was no run.
    times: [AtomicU64; MOST],
    measured: [AtomicU32; MOST],
}

impl Trial {
    /// Beside a first program, these; `is_long` says that no cache holds both sides of the data.
    pub(crate) fn new(mut others: Vec<Program>, is_long: bool) -> Trial {
        others.truncate(MOST - 1);
        let score = || Score { is_long, ..Score::default() };
        Trial { others, scores: [score(), score()] }
    }

    /// All programs, with the nanoseconds that each took so far on `width` threads; 0 where it did not run.
    pub(crate) fn all<'a>(
        &'a self,
        first: &'a Program,
        width: usize,
    ) -> impl Iterator<Item = (&'a Program, u64)> {
        let times = self.scores[usize::from(width > 1)].times.iter();
        [first].into_iter().chain(&self.others).zip(times.map(|time| time.load(Ordering::Relaxed)))
    }

    /// Does all of the work with one of the programs. Threads may call this at the same time; they only disturb each
    /// other's measurements.
    pub(crate) fn run(&self, first: &Program, width: usize, run: impl FnOnce(&Program)) {
        let score = &self.scores[usize::from(width > 1)];
        let (program, counts) = score.takes(1 + self.others.len());
        let runs = if program == 0 { first } else { &self.others[program - 1] };
        if !counts {
            return run(runs);
        }
        let start = Instant::now();
        run(runs);
        score.record(program, start.elapsed().as_nanos() as u64);
    }
}

impl Score {
    /// Which of `count` programs does the next run, and whether it is measured.
    fn takes(&self, count: usize) -> (usize, bool) {
        let number = self.runs.fetch_add(1, Ordering::Relaxed) as usize;
        let (program, wanted) = self.chooses(number, count);
        let last = self.last.swap(program as u32 + 1, Ordering::Relaxed);
        (program, wanted && (self.is_long && last != 0 || last == program as u32 + 1))
    }

    /// Which of `count` programs the run of this number is done by, and whether it is to be measured.
    fn chooses(&self, number: usize, count: usize) -> (usize, bool) {
        let time = |program: &usize| self.times[*program].load(Ordering::Relaxed);
        let measured = |program: &usize| self.measured[*program].load(Ordering::Relaxed) as usize;
        let best = (0..count).min_by_key(time).unwrap_or(0);
        // Where no cache holds the data each run counts, and there are few, as all that are slower are felt.
        let (part, counted) = if self.is_long { (8, 1) } else { (4, TURN - 1) };
        let limit = time(&best) + time(&best) / part;
        let close = (0..count).filter(|program| time(program) <= limit || measured(program) % counted > 0);
        let turns = |program: &usize| measured(program) / counted;
        match close.min_by_key(turns) {
            Some(program) if turns(&program) < TURNS => (program, true),
            // The others come in turn, and the best is measured as often as they are.
            _ => match number % AGAIN / TURN {
                0 => ((best + 1 + number / AGAIN % (count - 1).max(1)) % count, true),
                1 => (best, true),
                _ => (best, false),
            },
        }
    }

    /// A shorter time counts at once, a longer one little by little and however long it is: a run can be disturbed, but not
    /// helped.
    fn record(&self, program: usize, took: u64) {
        self.measured[program].fetch_add(1, Ordering::Relaxed);
        let time = &self.times[program];
        let before = time.load(Ordering::Relaxed);
        let longer = took.saturating_sub(before).min(before / 4);
        let now = if before == 0 || took < before { took } else { before + longer / 4 };
        time.store(now.max(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program of each run, if they take so long.
    fn runs<const N: usize>(score: &Score, count: usize, times: [u64; N]) -> Vec<usize> {
        let one = |_| {
            let (program, counts) = score.takes(N);
            if counts {
                score.record(program, times[program]);
            }
            program
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_first_runs_take_turns_and_then_the_fastest_one_works() {
        let score = Score::default();
        let turns =
            |programs: &[usize]| programs.iter().flat_map(|&program| [program; TURN]).collect::<Vec<_>>();
        assert_eq!(runs(&score, 20, [80, 70]), turns(&[0, 1, 0, 1, 1]));
        let reverse = Score::default();
        assert_eq!(runs(&reverse, 20, [70, 80]), turns(&[0, 1, 0, 1, 0]));
        // What is much slower has one turn.
        let three = Score::default();
        assert_eq!(runs(&three, 20, [80, 120, 70]), turns(&[0, 1, 2, 0, 2]));
        assert_eq!(runs(&three, 4, [80, 120, 70]), [2; 4]);
    }

    /// What a program is measured in is as it left the caches itself.
    #[test]
    fn a_run_counts_only_after_one_of_the_same_program() {
        let score = Score::default();
        let mut last = usize::MAX;
        for _ in 0..4 * AGAIN {
            let (program, counts) = score.takes(3);
            assert!(!counts || program == last);
            if counts {
                score.record(program, 100 + program as u64);
            }
            last = program;
        }
        assert!(
            (0..3)
                .all(|program| score.measured[program].load(Ordering::Relaxed) as usize > TURNS * (TURN - 1))
        );
    }

    #[test]
    fn where_no_cache_holds_the_data_each_run_but_the_first_counts() {
        let long = || Score { is_long: true, ..Score::default() };
        assert_eq!(runs(&long(), 9, [100, 130, 70]), [0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(runs(&long(), 9, [100, 95, 130]), [0, 0, 1, 2, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn when_another_becomes_faster_it_is_noticed() {
        let score = Score::default();
        runs(&score, 2 * AGAIN, [100, 120, 70]);
        // Each of the others has its turn, and one stays.
        let later = runs(&score, 3 * AGAIN, [50, 120, 70]);
        assert_eq!(later[3 * AGAIN - 5..], [0; 5]);
        assert!(later.contains(&1));
    }

    #[test]
    fn one_disturbed_run_changes_little() {
        let score = Score::default();
        runs(&score, 4 * TURN, [100, 70]);
        score.record(1, 10_000);
        assert_eq!(score.takes(2).0, 1);
    }
}
