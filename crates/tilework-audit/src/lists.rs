//! Short lists of numbers, each held once: orders of dimensions, and ways through tuples.

use crate::budget::{Budget, PIECE};
use crate::hash::Map;

/// The number of a list.
pub(crate) type List = u32;

/// The empty list: what is not known, or the whole.
pub(crate) const EMPTY: List = 0;

/// The most lists.
const LIMIT: usize = 1 << 20;

/// The longest list.
const LONGEST: usize = 32;

/// Lists by number and numbers by list.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    budget: Budget,
    /// What they take of it.
    bytes: usize,
    lists: Vec<Box<[u32]>>,
    numbers: Map<Box<[u32]>, List>,
}

impl Lists {
    /// Those that are held within a budget; the empty one so far.
    pub(crate) fn within(budget: &Budget) -> Lists {
        let mut lists =
            Lists { budget: budget.clone(), bytes: 0, numbers: Map::default(), lists: Vec::new() };
        lists.number(&[]);
        lists
    }

    /// The number of a list; none if it is longer than any that is held, or there is no memory for it.
    pub(crate) fn number(&mut self, list: &[u32]) -> Option<List> {
        if let Some(&number) = self.numbers.get(list) {
            return Some(number);
        }
        if list.len() > LONGEST || self.lists.len() >= LIMIT {
            return None;
        }
        let Lists { budget, bytes, lists, numbers } = self;
        let more = 2 * (size_of_val(list) + PIECE);
        if !(budget.for_one(lists) && budget.for_entry(numbers) && budget.take(more)) {
            return None;
        }
        *bytes += more;
        let number = lists.len() as List;
        lists.push(list.into());
        numbers.insert(list.into(), number);
        Some(number)
    }

    /// The list with this number.
    pub(crate) fn list(&self, number: List) -> &[u32] {
        self.lists.get(number as usize).map_or(&[], |list| list)
    }

    /// Gives back what they take.
    #[cfg(feature = "proto")]
    pub(crate) fn end(&self) {
        self.budget.give(self.bytes);
        self.budget.give_list(&self.lists);
        self.budget.give_map(&self.numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_held_once_and_a_long_one_is_not() {
        let mut lists = Lists::within(&Budget::default());
        let order = lists.number(&[2, 0, 1]).expect("a short list");
        assert_eq!(lists.list(order), [2, 0, 1]);
        assert_eq!(lists.number(&[2, 0, 1]), Some(order));
        assert_eq!((lists.number(&[]), lists.list(EMPTY)), (Some(EMPTY), &[][..]));
        assert_eq!(lists.number(&[0; LONGEST + 1]), None);
    }
}
