//! What makes an array that is moved, and what reads it then, where a log only says what ran one after the other.
//!
//! An array has no name in such a log, but its format, type and sizes are nearly one. So what is moved was made by the
//! last operation that wrote such an array, and is read by the next one that reads such an array.

use super::logged::Role;
use super::{Log, MoveKey, Part, StepId};
use crate::budget::Budget;
use crate::texts::NONE;

/// How many operations before a move may have made what it moves.
const BEFORE: usize = 16;

/// How many moves may wait for what reads their results.
const WAITING: usize = 64;

/// What is known of the operations before the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    /// The last operations that are no moves, the last one last.
    before: Vec<StepId>,
    /// Moves since then.
    waiting: Vec<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    step: StepId,
    nanoseconds: Option<u64>,
    line: u64,
    /// The operation that made what is moved.
    before: Option<StepId>,
}

impl Log {
    /// Notes an operation behind all others.
    pub(super) fn neighbour(&mut self, budget: &Budget, step: StepId, nanoseconds: Option<u64>, line: u64) {
        match self.steps[step as usize].moves {
            Some((from, _)) => {
                let made = |&&before: &&StepId| self.has(before, Part::Output, from);
                let before = self.neighbours.before.iter().rev().find(made).copied();
                let goes_on = |waiting: &&Waiting| {
                    let moves = self.steps[waiting.step as usize].moves;
                    moves.is_some_and(|(_, to)| self.array_of(to).may_be(self.array_of(from)))
                };
                let first = self.neighbours.waiting.iter().rev().find(goes_on).map(|waiting| waiting.step);
                if let Some(first) = first {
                    self.chained(budget, (first, step), nanoseconds, line);
                }
                // One that is read by nothing soon is read by nothing that is there.
                if self.neighbours.waiting.len() >= WAITING {
                    let first = self.neighbours.waiting.remove(0);
                    self.decided(budget, first, None);
                }
                self.neighbours.waiting.push(Waiting { step, nanoseconds, line, before });
            }
            None => {
                for waiting in std::mem::take(&mut self.neighbours.waiting) {
                    self.decided(budget, waiting, Some(step));
                }
                if self.neighbours.before.len() >= BEFORE {
                    self.neighbours.before.remove(0);
                }
                self.neighbours.before.push(step);
            }
        }
    }

    /// Ends the log: nothing reads what waits.
    pub(crate) fn ends(&mut self, budget: &Budget) {
        for waiting in std::mem::take(&mut self.neighbours.waiting) {
            self.decided(budget, waiting, None);
        }
        self.neighbours = Neighbours::default();
    }

    fn decided(&mut self, budget: &Budget, waiting: Waiting, next: Option<StepId>) {
        let Waiting { step, nanoseconds, line, before } = waiting;
        let Some((_, to)) = self.steps[step as usize].moves else { return };
        let is = |part: Part| next.is_some_and(|next| self.has(next, part, to));
        let (reads, weights) = (is(Part::Input), is(Part::Weights));
        // Weights are made before anything runs, so what was made by an operation is none.
        let role = match (before, reads, weights) {
            (Some(_), true, _) => Role::Between,
            (_, false, true) => Role::Weights,
            (None, true, _) => Role::Input,
            (Some(_), false, false) => Role::Output,
            (None, false, false) => Role::Unknown,
        };
        let operation = |step: Option<StepId>| step.map_or(NONE, |step| self.steps[step as usize].operation);
        let before = if role == Role::Weights { NONE } else { operation(before) };
        let after = operation(next.filter(|_| reads || weights));
        self.moved(budget, MoveKey { step, before, after, role, place: NONE }, nanoseconds, line, NONE);
    }

    /// Whether an operation has such an array as this part.
    fn has(&self, step: StepId, part: Part, array: super::ArrayId) -> bool {
        let array = self.array_of(array);
        let is = |&(own, other): &(Part, super::ArrayId)| own == part && self.array_of(other).may_be(array);
        self.steps[step as usize].arrays.iter().any(is)
    }
}
