//! Where things come from: places in the program that was compiled, each held once.

use crate::budget::Budget;
use crate::hash::Map;
use crate::texts::Text;

/// The most places.
const LIMIT: usize = 1 << 22;

/// A place in the program that was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    /// Such as `jit(f)/add`.
    pub(crate) operation: Text,
    pub(crate) file: Text,
    /// 0 if it is not known.
    pub(crate) line: u32,
}

/// All places, by number. Number 0 is the unknown place.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    numbers: Map<Source, u32>,
    list: Vec<Source>,
    budget: Budget,
}

impl Sources {
    /// Those that are held within a budget; none so far.
    pub(crate) fn within(budget: &Budget) -> Sources {
        let none = Source::default();
        Sources { numbers: Map::from_iter([(none, 0)]), list: vec![none], budget: budget.clone() }
    }

    pub(crate) fn number(&mut self, source: Source) -> u32 {
        let Sources { numbers, list, budget } = self;
        if let Some(&number) = numbers.get(&source) {
            return number;
        }
        if list.len() >= LIMIT || !budget.for_one(list) || !budget.for_entry(numbers) {
            return 0;
        }
        list.push(source);
        let number = (list.len() - 1) as u32;
        numbers.insert(source, number);
        number
    }

    pub(crate) fn source(&self, number: u32) -> Source {
        self.list.get(number as usize).copied().unwrap_or_default()
    }
}
