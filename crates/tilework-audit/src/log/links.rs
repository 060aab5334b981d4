//! What makes an array that is moved, and what reads it then, where a log gives names to arrays.

use super::logged::Role;
use super::{Log, MoveKey, StepId};
use crate::budget::Budget;
use crate::hash::Map;
use crate::texts::{NONE, Text};
use tilework::InOrder;

/// How many moves in a row are passed to find what made an array, or what reads it.
const FARTHEST: usize = 64;

/// That an operation makes or reads an array with a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(super) step: StepId,
    /// The hash of the name.
    pub(super) tensor: u64,
    pub(super) makes: bool,
    pub(super) line: u64,
}

impl Log {
    /// Notes that an operation makes or reads an array.
    pub(super) fn link(&mut self, budget: &Budget, link: Link) {
        // Both maps below take room for each.
        let fits = budget.for_one(&mut self.links) && budget.take(4 * size_of::<Link>());
        match fits {
            true => self.links.push(link),
            false => self.overflowed = true,
        }
    }

    /// Finds the neighbours of every move, when all operations were read.
    pub(super) fn join(&mut self, budget: &Budget) {
        let links = std::mem::take(&mut self.links);
        let (mut makers, mut readers): (Map<u64, StepId>, Map<u64, StepId>) = Default::default();
        let (mut reads, mut makes): (Map<StepId, u64>, Map<StepId, u64>) = Default::default();
        // What they take was counted with the links.
        makers.reserve(links.len() / 2);
        readers.reserve(links.len() / 2);
        for link in &links {
            match link.makes {
                true => {
                    makers.insert(link.tensor, link.step);
                    makes.entry(link.step).or_insert(link.tensor);
                }
                false => {
                    // Of several, one that is no move says the most.
                    let other = readers.entry(link.tensor).or_insert(link.step);
                    if self.steps[*other as usize].moves.is_some() {
                        *other = link.step;
                    }
                    reads.entry(link.step).or_insert(link.tensor);
                }
            }
        }
        let mut lines: Map<StepId, u64> = Map::default();
        let moves = links.iter().filter(|link| self.steps[link.step as usize].moves.is_some());
        for link in moves {
            lines.entry(link.step).or_insert(link.line);
        }
        let mut moves: Vec<(StepId, u64)> = lines.into_iter().collect();
        moves.order();
        for (step, line) in moves {
            let (before, between) = self.end_of(step, &reads, &makers);
            let (after, _) = self.end_of(step, &makes, &readers);
            let role = match (before, after) {
                (Some(_), Some(_)) => Role::Between,
                (None, Some(_)) => Role::Input,
                (Some(_), None) => Role::Output,
                (None, None) => Role::Unknown,
            };
            let name = |step: Option<StepId>| -> Text { step.map_or(NONE, |step| self.words(step)) };
            let key = MoveKey {
                step,
                before: name(before),
                after: name(after),
                role,
                place: self.places.get(&step).copied().unwrap_or(NONE),
            };
            let own = self.steps[step as usize].name;
            self.moved(budget, key, None, line, own);
            if let Some(first) = between {
                self.chained(budget, (first, step), None, line);
            }
        }
    }

    /// Follows arrays from a move to the first operation that is none, and the move next to it on that side.
    fn end_of(
        &self,
        step: StepId,
        arrays: &Map<StepId, u64>,
        ends: &Map<u64, StepId>,
    ) -> (Option<StepId>, Option<StepId>) {
        let (mut at, mut next_to) = (step, None);
        for _ in 0..FARTHEST {
            let Some(&next) = arrays.get(&at).and_then(|tensor| ends.get(tensor)) else {
                return (None, next_to);
            };
            if self.steps[next as usize].moves.is_none() {
                return (Some(next), next_to);
            }
            next_to = next_to.or(Some(next));
            at = next;
        }
        (None, next_to)
    }

    /// The name of an operation, or what it is called.
    fn words(&self, step: StepId) -> Text {
        let step = &self.steps[step as usize];
        if step.name == NONE { step.operation } else { step.name }
    }
}
