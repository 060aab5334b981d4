//! How a figure is measured: all figures of a table take turns, round after round, and each reports its median.
//!
//! A ratio is the median of the ratios within the rounds. Whatever else the machine does slows neighbours in a round
//! alike, so ratios stay honest where the figures themselves do not.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds that count; one before them warms up.
const ROUNDS: usize = 61;

/// A figure is repeated within a round until so much time has passed.
const ROUND: Duration = Duration::from_millis(4);

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

/// What was measured.
pub struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Measures all figures in turns.
    pub fn measure<'a>(figures: impl IntoIterator<Item = Figure<'a>>) -> Result<Rounds, Failure> {
        let mut figures: Vec<Figure> = figures.into_iter().collect();
        for round in 0..=ROUNDS {
            for figure in &mut figures {
                let taken = (figure.round)()?;
                if round > 0 {
                    figure.taken.push(taken);
                }
            }
        }
        Ok(Rounds(figures.into_iter().map(|figure| figure.taken).collect()))
    }

    /// The median of a figure, by its place in the list.
    pub fn figure(&self, place: usize) -> f64 {
        median(self.0[place].clone())
    }

    /// How many times a figure is larger than another.
    pub fn ratio(&self, place: usize, than: usize) -> f64 {
        median(self.0[place].iter().zip(&self.0[than]).map(|(a, b)| a / b).collect())
    }
}

fn median(mut taken: Vec<f64>) -> f64 {
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}
