//! Short lists in public values, which hold their usual few entries without memory of their own.

use std::fmt;
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

/// A list of which up to `N` entries stand in the value itself; more of them are on the heap, as in a `Vec`.
///
/// ```
/// use tilework::Few;
/// let mut few: Few<u64, 2> = [3, 5].into();
/// few.push(7);
/// assert_eq!((few.len(), &few[1..]), (3, &[5, 7][..]));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Few<T, const N: usize>(SmallVec<[T; N]>);

impl<T, const N: usize> Few<T, N> {
    /// No entries.
    pub fn new() -> Few<T, N> {
        Few(SmallVec::new())
    }

    /// Adds an entry at the end.
    pub fn push(&mut self, entry: T) {
        self.0.push(entry);
    }

    /// Takes the last entry out.
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Puts an entry in front of the one at `place`, or at the end if that is the length.
    ///
    /// # Panics
    /// If `place` is above the length.
    pub fn insert(&mut self, place: usize, entry: T) {
        self.0.insert(place, entry);
    }

    /// Takes an entry out; those behind it move up.
    ///
    /// # Panics
    /// If there is none at `place`.
    pub fn remove(&mut self, place: usize) -> T {
        self.0.remove(place)
    }

    /// All entries.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The list itself, for a module that works on it.
    pub(crate) fn list(&mut self) -> &mut SmallVec<[T; N]> {
        &mut self.0
    }

    /// The list that a module keeps while it works on it.
    #[doc(hidden)]
    pub fn of(list: SmallVec<[T; N]>) -> Few<T, N> {
        Few(list)
    }
}

impl<T, const N: usize> Default for Few<T, N> {
    fn default() -> Few<T, N> {
        Few::new()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Few<T, N> {
        Few(entries.into_iter().collect())
    }
}

impl<T, const N: usize, const M: usize> From<[T; M]> for Few<T, N> {
    fn from(entries: [T; M]) -> Few<T, N> {
        entries.into_iter().collect()
    }
}

impl<T, const N: usize> From<Vec<T>> for Few<T, N> {
    fn from(entries: Vec<T>) -> Few<T, N> {
        Few(entries.into())
    }
}

impl<T: Clone, const N: usize> From<&[T]> for Few<T, N> {
    fn from(entries: &[T]) -> Few<T, N> {
        Few(entries.into())
    }
}

impl<T, const N: usize> IntoIterator for Few<T, N> {
    type Item = T;
    type IntoIter = Entries<T, N>;

    fn into_iter(self) -> Entries<T, N> {
        Entries(self.0.into_iter())
    }
}

/// The entries of a [`Few`], one by one.
pub struct Entries<T, const N: usize>(smallvec::IntoIter<[T; N]>);

impl<T, const N: usize> Iterator for Entries<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T, const N: usize> DoubleEndedIterator for Entries<T, N> {
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back()
    }
}

impl<T, const N: usize> ExactSizeIterator for Entries<T, N> {}

impl<'a, T, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Few<T, N> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_list_does_what_a_vector_does() {
        let (mut few, mut all): (Few<u8, 2>, Vec<u8>) = Default::default();
        for entry in 0..9 {
            let place = usize::from(entry) % 3;
            few.insert(place.min(few.len()), entry);
            all.insert(place.min(all.len()), entry);
            few.push(entry);
            all.push(entry);
        }
        assert_eq!((few.remove(3), few.pop()), (all.remove(3), all.pop()));
        assert_eq!(
            (few.as_slice(), few.first(), format!("{few:?}")),
            (&all[..], all.first(), format!("{all:?}"))
        );
        few.iter_mut().chain(&mut all).for_each(|entry| *entry += 1);
        (&mut few).into_iter().for_each(|entry| *entry *= 2);
        all.iter_mut().for_each(|entry| *entry *= 2);
        assert_eq!(Few::<u8, 2>::from(&all[..]), few);
        let (mut entries, mut others) = (few.into_iter(), all.into_iter());
        assert_eq!(
            (entries.len(), entries.next_back(), entries.next()),
            (others.len(), others.next_back(), others.next())
        );
        assert!(entries.eq(others));
        assert_eq!(Few::<u8, 2>::from(vec![3]).pop(), Some(3));
    }
}
