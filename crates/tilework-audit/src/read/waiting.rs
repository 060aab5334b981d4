//! Moves of the computation that is being read, until it is known what reads them.
//!
//! The compiler makes copies of its own, and says of none which line of the program it is for. What reads such a copy
//! says so mostly, or what reads what was only passed on; else what makes the copied value. So the moves of a computation
//! are kept until it ends.

use crate::budget::Budget;
use crate::hash::Map;
use crate::program::{MoveKey, Near};
use crate::texts::Text;

/// The most moves of one computation of which it is known what reads them.
const LIMIT: usize = 1 << 20;

/// How many moves that read one another are followed.
const DEEP: usize = 64;

/// Moves in the order of the computation.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    moves: Vec<Waits>,
    /// What their values are called by operands, after they were passed on as well.
    values: Map<u64, u32>,
}

/// A move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    pub(crate) key: MoveKey,
    pub(crate) line: u64,
    pub(crate) name: Text,
    /// Whether it is a move, or makes a buffer of which only that is asked where it comes from.
    pub(crate) moves: bool,
    /// Where its operand comes from, as far as that is known.
    pub(crate) made: u32,
    /// Where what reads it first comes from: a line, or else an operation.
    read: u32,
    operation: u32,
    /// The move that reads it.
    then: Option<u32>,
}

impl Waits {
    /// One of which nothing is known yet but where its operand comes from.
    pub(crate) fn new(key: MoveKey, line: u64, name: Text, made: u32, moves: bool) -> Waits {
        Waits { key, line, name, moves, made, read: 0, operation: 0, then: None }
    }
}

impl Waiting {
    /// Whether any of them waits.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        !self.values.is_empty()
    }

    /// The move whose value an operand is.
    #[inline]
    pub(crate) fn of(&self, operand: u64) -> Option<u32> {
        self.values.get(&operand).copied()
    }

    /// Adds a move whose value operands call so; false if there is no room for it.
    pub(crate) fn add(&mut self, budget: &Budget, value: u64, waits: Waits) -> bool {
        let Waiting { moves, values } = self;
        if moves.len() >= LIMIT || !budget.for_one(moves) || !budget.for_entry(values) {
            return false;
        }
        let number = moves.len() as u32;
        // What it passes on is for what it is for.
        if let Some(passed) = values.insert(value, number)
            && let Some(passed) = moves.get_mut(passed as usize)
        {
            passed.then = passed.then.or(Some(number));
        }
        moves.push(waits);
        true
    }

    /// Whether it is not known yet what this move is for.
    pub(crate) fn is_open(&self, number: u32) -> bool {
        self.moves.get(number as usize).is_some_and(|waits| waits.read == 0 && waits.then.is_none())
    }

    /// Notes where what reads it comes from, and whether that is a line.
    pub(crate) fn is_read(&mut self, number: u32, source: u32, is_line: bool) {
        let Some(waits) = self.moves.get_mut(number as usize) else { return };
        if is_line {
            waits.read = source;
        } else if waits.operation == 0 {
            waits.operation = source;
        }
    }

    /// Notes that a result of the program is its value.
    pub(crate) fn is_result(&mut self, number: u32, result: u32) {
        if let Some(waits) = self.moves.get_mut(number as usize).filter(|waits| waits.key.result == 0) {
            waits.key.result = result.saturating_add(1);
        }
    }

    /// Notes that its value is passed on by something that does not say where it comes from.
    pub(crate) fn is_passed(&mut self, budget: &Budget, number: u32, value: u64) {
        match self.values.get(&value).copied() {
            Some(other) if other == number => {}
            // That is a move itself, or passes on another move: what is found for it is found for this one.
            Some(other) => {
                if let Some(waits) = self.moves.get_mut(number as usize) {
                    waits.then = waits.then.or(Some(other));
                }
            }
            None if budget.for_entry(&mut self.values) => {
                self.values.insert(value, number);
            }
            None => {}
        }
    }

    /// Ends the computation: all of its moves, with what they are near to. `is_line` says of what comes from somewhere
    /// whether its line is known.
    pub(crate) fn end(&mut self, is_line: impl Fn(u32) -> bool, mut each: impl FnMut(Waits)) {
        self.values.clear();
        for number in 0..self.moves.len() {
            let mut waits = self.moves[number];
            if !is_line(waits.key.source) {
                (waits.key.near, waits.key.near_source) = self.near(&waits, &is_line);
            }
            each(waits);
        }
        self.moves.clear();
    }

    fn near(&self, waits: &Waits, is_line: impl Fn(u32) -> bool) -> (Near, u32) {
        let (mut read, mut operation, mut next) = (waits.read, waits.operation, waits.then);
        for _ in 0..DEEP {
            let then = next.filter(|_| read == 0).and_then(|next| self.moves.get(next as usize));
            let Some(then) = then else { break };
            let own = Some(then.key.source).filter(|&own| is_line(own));
            read = own.unwrap_or(then.read);
            operation =
                [operation, then.key.source, then.operation].into_iter().find(|&own| own != 0).unwrap_or(0);
            next = then.then;
        }
        // A line rather than an operation, and what a move is for rather than what it is of.
        let mut found = [(Near::Read, read), (Near::Made, waits.made), (Near::Read, operation)];
        if waits.key.source != 0 {
            found[2].1 = 0;
        }
        if !is_line(waits.made) {
            found.swap(1, 2);
        }
        let own = waits.key.source != 0;
        let known = |source: u32| if own { is_line(source) } else { source != 0 };
        found.into_iter().find(|&(_, source)| known(source)).unwrap_or_default()
    }

    /// Gives back what it takes.
    pub(crate) fn give(&self, budget: &Budget) {
        budget.give_list(&self.moves);
        budget.give_map(&self.values);
    }
}
