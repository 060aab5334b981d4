//! Ways through nested tuples: which part of a value is meant.

use crate::budget::Budget;
use crate::lists::{EMPTY, List, Lists};

/// Ways through nested tuples, by number: `{}`, `{0}`, `{0,1}`.
#[derive(Debug)]
pub(crate) struct Ways(Lists);

/// The way to a value that is no part of a tuple.
pub(crate) const WHOLE: List = EMPTY;

impl Drop for Ways {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Ways {
    /// Those that are held within a budget, and for as long as they live; that to the whole so far.
    pub(crate) fn held_by(budget: &Budget) -> Ways {
        Ways(Lists::within(budget))
    }

    /// The number of a way; none if it is longer than any that is followed.
    pub(crate) fn number(&mut self, way: &[u32]) -> Option<List> {
        self.0.number(way)
    }

    pub(crate) fn way(&self, number: List) -> &[u32] {
        self.0.list(number)
    }

    /// The way that begins with these elements and goes on like another one.
    pub(crate) fn within(&mut self, elements: &[u32], way: List) -> Option<List> {
        let longer = [elements, self.way(way)].concat();
        self.number(&longer)
    }

    /// The rest of a way behind this element; none if it begins otherwise.
    pub(crate) fn out_of(&mut self, element: u32, way: List) -> Option<List> {
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
    }
}
