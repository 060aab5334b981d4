//! Ways through nested tuples: which part of a value is meant.

use crate::hash::Map;

/// Ways through nested tuples, by number: `{}`, `{0}`, `{0,1}`.
#[derive(Debug)]
pub(crate) struct Ways {
    list: Vec<Box<[u32]>>,
    numbers: Map<Box<[u32]>, u32>,
}

/// The most ways.
const LIMIT: usize = 1 << 20;

/// The way to a value that is no part of a tuple.
pub(crate) const WHOLE: u32 = 0;

/// The longest way that is followed.
const DEEPEST: usize = 32;

impl Default for Ways {
    fn default() -> Ways {
        let whole: Box<[u32]> = Box::default();
        Ways { numbers: Map::from_iter([(whole.clone(), WHOLE)]), list: vec![whole] }
    }
}

impl Ways {
    /// The number of a way; none if it is longer than any that is followed.
    pub(crate) fn number(&mut self, way: &[u32]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(way) {
            return Some(number);
        }
        if way.len() > DEEPEST || self.list.len() >= LIMIT {
            return None;
        }
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
        let mut ways = Ways::default();
        let inner = ways.within(&[2, 0], WHOLE).expect("a short way");
        let longer = ways.within(&[1], inner).expect("a short way");
        assert_eq!(ways.way(longer), [1, 2, 0]);
        assert_eq!(ways.out_of(1, longer), Some(inner));
        assert_eq!(ways.out_of(2, longer), None);
        assert_eq!(ways.out_of(0, WHOLE), None);
        assert_eq!(ways.number(&[0; DEEPEST + 1]), None);
    }
}
