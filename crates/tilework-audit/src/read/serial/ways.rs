//! Ways through nested tuples: which part of a value is meant.

use crate::budget::{Budget, PIECE};
use crate::hash::Map;

/// Ways through nested tuples, by number: `{}`, `{0}`, `{0,1}`.
#[derive(Debug)]
pub(crate) struct Ways {
    budget: Budget,
    /// What they take of it.
    bytes: usize,
    list: Vec<Box<[u32]>>,
    numbers: Map<Box<[u32]>, u32>,
}

/// The most ways.
const LIMIT: usize = 1 << 20;

/// The way to a value that is no part of a tuple.
pub(crate) const WHOLE: u32 = 0;

/// The longest way that is followed.
const DEEPEST: usize = 32;

impl Drop for Ways {
    fn drop(&mut self) {
        self.budget.give(self.bytes);
        self.budget.give_list(&self.list);
        self.budget.give_map(&self.numbers);
    }
}

impl Ways {
    /// Those that are held within a budget, and for as long as they live; that to the whole so far.
    pub(crate) fn held_by(budget: &Budget) -> Ways {
        let whole: Box<[u32]> = Box::default();
        let mut ways = Ways { budget: budget.clone(), bytes: 0, numbers: Map::default(), list: Vec::new() };
        if budget.for_one(&mut ways.list) && budget.for_entry(&mut ways.numbers) {
            ways.numbers.insert(whole.clone(), WHOLE);
            ways.list.push(whole);
        }
        ways
    }

    /// The number of a way; none if it is longer than any that is followed.
    pub(crate) fn number(&mut self, way: &[u32]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(way) {
            return Some(number);
        }
        if way.len() > DEEPEST || self.list.len() >= LIMIT {
            return None;
        }
        let Ways { budget, bytes, list, numbers } = self;
        let more = 2 * (size_of_val(way) + PIECE);
        if !(budget.for_one(list) && budget.for_entry(numbers) && budget.take(more)) {
            return None;
        }
        *bytes += more;
        self.list.push(way.into());
        let number = (self.list.len() - 1) as u32;
        self.numbers.insert(way.into(), number);
        Some(number)
    }

    pub(crate) fn way(&self, number: u32) -> &[u32] {
        self.list.get(number as usize).map_or(&[], |way| way)
    }

    /// The way that begins with these elements and goes on like another one.
    pub(crate) fn within(&mut self, elements: &[u32], way: u32) -> Option<u32> {
        let longer = [elements, self.way(way)].concat();
        self.number(&longer)
    }

    /// The rest of a way behind this element; none if it begins otherwise.
    pub(crate) fn out_of(&mut self, element: u32, way: u32) -> Option<u32> {
        let rest = self.way(way).strip_prefix(&[element])?.to_vec();
        self.number(&rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_goes_into_tuples_and_out_of_them() {
        let mut ways = Ways::held_by(&Budget::default());
        let inner = ways.within(&[2, 0], WHOLE).expect("a short way");
        let longer = ways.within(&[1], inner).expect("a short way");
        assert_eq!(ways.way(longer), [1, 2, 0]);
        assert_eq!(ways.out_of(1, longer), Some(inner));
        assert_eq!(ways.out_of(2, longer), None);
        assert_eq!(ways.out_of(0, WHOLE), None);
        assert_eq!(ways.number(&[0; DEEPEST + 1]), None);
    }
}
