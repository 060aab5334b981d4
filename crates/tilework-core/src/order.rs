//! Sorting that is compiled once.
//!
//! The standard library's sort is compiled again for each type and each comparison, some 8 KB of code each time: that was a
//! quarter of the core and of the audit, and of the time to compile them. Here only the few lines that look at the elements
//! are. A short list is sorted where it is; of a long one the numbers are sorted, and the elements follow.
//!
//! What is sorted millions of times or by the million, such as bare numbers, is better off with the standard library's.

use std::cmp::Ordering;

/// As many are put into place one by one.
const SHORT: usize = 16;

/// The standard library's stable sorts, under other names.
pub trait InOrder<T> {
    /// As `sort`.
    fn order(&mut self)
    where
        T: Ord;

    /// As `sort_by_key`.
    fn order_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);

    /// As `sort_by`.
    fn order_by(&mut self, order: impl FnMut(&T, &T) -> Ordering);
}

impl<T> InOrder<T> for [T] {
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }

    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|one, other| key(one).cmp(&key(other)));
    }

    fn order_by(&mut self, mut order: impl FnMut(&T, &T) -> Ordering) {
        if self.len() > SHORT {
            let from = sorted(self.len(), &mut |one, other| order(&self[one], &self[other]));
            return follow(from, &mut |one, other| self.swap(one, other));
        }
        for end in 1..self.len() {
            let mut at = end;
            while at > 0 && order(&self[at], &self[at - 1]).is_lt() {
                self.swap(at, at - 1);
                at -= 1;
            }
        }
    }
}

/// The numbers below `count` in the order of what they are numbers of.
#[inline(never)]
fn sorted(count: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by(|&one, &other| order(one, other));
    numbers
}

/// Moves the element `from[k]` to place `k`, for all `k`, by exchanging two at a time: along each cycle once.
#[inline(never)]
fn follow(mut from: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..from.len() {
        let mut at = first;
        loop {
            let next = std::mem::replace(&mut from[at], at);
            if next == first {
                break;
            }
            swap(at, next);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::InOrder;

    proptest! {
        #[test]
        fn the_order_is_that_of_a_stable_sort(list in prop::collection::vec(0_u8..12, 0..200)) {
            let numbered: Vec<(u8, usize)> = list.iter().copied().zip(0..).collect();
            let (mut ours, mut theirs) = (numbered.clone(), numbered);
            ours.order_by_key(|&(value, _)| std::cmp::Reverse(value));
            theirs.sort_by_key(|&(value, _)| std::cmp::Reverse(value));
            prop_assert_eq!(&ours, &theirs);
            ours.order();
            theirs.sort();
            prop_assert_eq!(&ours, &theirs);
            ours.order_by(|one, other| other.1.cmp(&one.1));
            theirs.reverse();
            theirs.sort_by_key(|each| std::cmp::Reverse(each.1));
            prop_assert_eq!(ours, theirs);
        }
    }
}
