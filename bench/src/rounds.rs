//! How a figure is measured: all figures of a table take turns, round after round, and each reports its median.
//!
//! Taking turns spreads whatever else the machine does over all of them, so that their ratios stay honest.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds that count; one before them warms up.
const ROUNDS: usize = 21;

/// A figure is repeated within a round until so much time has passed.
const ROUND: Duration = Duration::from_millis(15);

/// Why a figure could not be measured.
pub type Failure = String;

/// One thing measured.
pub struct Figure<'a> {
    round: Box<dyn FnMut() -> Result<f64, Failure> + 'a>,
    taken: Vec<f64>,
}

impl<'a> Figure<'a> {
    /// Nanoseconds of one operation, of which a call of `work` does so many.
    pub fn new<T>(operations: usize, mut work: impl FnMut() -> T + 'a) -> Figure<'a> {
        Figure::of(move || {
            let (mut calls, start) = (0_u32, Instant::now());
            while start.elapsed() < ROUND {
                black_box(work());
                calls += 1;
            }
            Ok(start.elapsed().as_nanos() as f64 / f64::from(calls) / operations as f64)
        })
    }

    /// A figure that measures a round itself.
    pub fn of(round: impl FnMut() -> Result<f64, Failure> + 'a) -> Figure<'a> {
        Figure { round: Box::new(round), taken: Vec::new() }
    }
}

/// Measures all figures in turns; the median of each.
pub fn medians(mut figures: Vec<Figure>) -> Result<Vec<f64>, Failure> {
    for round in 0..=ROUNDS {
        for figure in &mut figures {
            let taken = (figure.round)()?;
            if round > 0 {
                figure.taken.push(taken);
            }
        }
    }
    Ok(figures.into_iter().map(|figure| median(figure.taken)).collect())
}

fn median(mut taken: Vec<f64>) -> f64 {
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}
