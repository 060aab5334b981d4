//! Lists of findings, which may be as long as a dump says, and no longer than there is memory for.

use std::cell::Cell;

use crate::budget::Budget;
use crate::find::findings::{Buffer, Contradiction, Keyed, Move, Place, Shared};
use crate::find::judged::{Advice, Donatable, Replica};
use crate::log::logged::{BankConflict, LogArray, LogMove, PaddedArray, Pair};
use crate::texts::printed;

/// Bytes that are made of each byte that is listed: objects, tables, pictures.
const MADE_OF_IT: usize = 4;

/// What lists may take yet.
#[derive(Debug)]
pub(crate) struct Listing {
    left: Cell<usize>,
    cut: Cell<bool>,
}

impl Listing {
    pub(crate) fn within(budget: &Budget) -> Listing {
        Listing { left: Cell::new(budget.left()), cut: Cell::new(false) }
    }

    /// The first of these, as many as there is memory for.
    pub(crate) fn of<T: Listed>(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        let mut list = Vec::new();
        for item in items {
            let bytes = MADE_OF_IT.saturating_mul(2 * size_of::<T>() + item.text_bytes());
            match self.left.get().checked_sub(bytes) {
                Some(left) if list.try_reserve(1).is_ok() => self.left.set(left),
                _ => {
                    self.cut();
                    break;
                }
            }
            list.push(item);
        }
        list
    }

    /// Notes that a list is shorter than it should be.
    pub(crate) fn cut(&self) {
        self.cut.set(true);
    }

    /// Whether some list is.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.get()
    }
}

/// What lists are made of.
pub(crate) trait Listed {
    /// The bytes of its texts, as they are shown.
    fn text_bytes(&self) -> usize;
}

fn of(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

impl Listed for Place {
    fn text_bytes(&self) -> usize {
        of(&self.operation) + of(&self.file)
    }
}

impl Listed for Buffer {
    fn text_bytes(&self) -> usize {
        of(&self.name)
            + of(&self.in_place_of)
            + printed(&*self.shape)
            + of(&self.computation)
            + self.place.text_bytes()
            + self.near_place.text_bytes()
    }
}

impl Listed for Shared {
    fn text_bytes(&self) -> usize {
        printed(&*self.shape) + self.names.iter().map(String::len).sum::<usize>() + self.place.text_bytes()
    }
}

impl Listed for String {
    fn text_bytes(&self) -> usize {
        self.len()
    }
}

impl<K: Listed> Listed for Keyed<K> {
    fn text_bytes(&self) -> usize {
        self.key.text_bytes()
    }
}

impl Listed for Move {
    fn text_bytes(&self) -> usize {
        let own = self.name.len() + printed(&*self.from) + printed(&*self.to);
        own + of(&self.argument)
            + of(&self.computation)
            + self.place.text_bytes()
            + self.near_place.text_bytes()
    }
}

impl Listed for Advice {
    fn text_bytes(&self) -> usize {
        self.name.len() + printed(&*self.shape) + printed(&*self.instead)
    }
}

impl Listed for Donatable {
    fn text_bytes(&self) -> usize {
        self.name.len()
    }
}

impl Listed for Replica {
    fn text_bytes(&self) -> usize {
        self.name.len() + printed(&*self.whole) + printed(&*self.shape)
    }
}

impl Listed for Contradiction {
    fn text_bytes(&self) -> usize {
        of(&self.name) + printed(&*self.shape)
    }
}

impl Listed for LogArray {
    fn text_bytes(&self) -> usize {
        self.format.len() + of(&self.element) + of(&self.sizes)
    }
}

impl Listed for LogMove {
    fn text_bytes(&self) -> usize {
        let arrays = self.from.text_bytes() + self.to.text_bytes();
        arrays + of(&self.before) + of(&self.after) + of(&self.place) + of(&self.name)
    }
}

impl Listed for Pair {
    fn text_bytes(&self) -> usize {
        self.from.len() + self.to.len()
    }
}

impl Listed for PaddedArray {
    fn text_bytes(&self) -> usize {
        self.array.text_bytes() + self.operation.len()
    }
}

impl Listed for BankConflict {
    fn text_bytes(&self) -> usize {
        self.operation.len() + self.from.text_bytes() + self.to.text_bytes() + of(&self.place)
    }
}
