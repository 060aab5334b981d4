//! What was made before and may be asked for again.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values that were used lately, by what they were made from. Where there is no room, the one that was used longest ago
/// goes. It may be shared by threads.
///
/// ```
/// use tilework::Kept;
/// static SQUARES: Kept<u32, u32> = Kept::new(2);
/// SQUARES.keep(3, 9);
/// SQUARES.keep(4, 16);
/// assert_eq!(SQUARES.find(&3, |&square| square), Some(9));
/// SQUARES.keep(5, 25); // in the place of 4, as 3 was asked for since
/// assert_eq!((SQUARES.find(&4, |&square| square), SQUARES.len()), (None, 2));
/// ```
#[derive(Debug)]
pub struct Kept<K, V> {
    room: usize,
    entries: Mutex<Entries<K, V>>,
}

#[derive(Debug)]
struct Entries<K, V> {
    map: HashMap<K, (V, u64), BuildHasherDefault<DefaultHasher>>,
    /// Counts uses: what has the least number was used longest ago.
    now: u64,
}

impl<K: Hash + Eq + Clone, V> Kept<K, V> {
    /// Room for `room` values, at least one.
    pub const fn new(room: usize) -> Kept<K, V> {
        let map = HashMap::with_hasher(BuildHasherDefault::new());
        Kept { room, entries: Mutex::new(Entries { map, now: 0 }) }
    }

    /// What `copy` takes from the value of this key, if it is kept.
    pub fn find<Q: Hash + Eq + ?Sized, R>(&self, key: &Q, copy: impl FnOnce(&V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
    {
        let mut entries = self.entries();
        entries.now += 1;
        let now = entries.now;
        let (value, used) = entries.map.get_mut(key)?;
        *used = now;
        Some(copy(value))
    }

    /// Keeps a value, in the place of what was kept for the key before.
    pub fn keep(&self, key: K, value: V) {
        let mut entries = self.entries();
        entries.now += 1;
        let now = entries.now;
        let mut oldest = None;
        if entries.map.len() >= self.room && !entries.map.contains_key(&key) {
            let first = entries.map.iter().min_by_key(|(_, (_, used))| *used);
            oldest = first.map(|(key, _)| key.clone());
        }
        let gone =
            (oldest.and_then(|oldest| entries.map.remove(&oldest)), entries.map.insert(key, (value, now)));
        drop(entries);
        drop(gone); // it may have work to do, and does it without the lock
    }

    /// Number of values that are kept.
    pub fn len(&self) -> usize {
        self.entries().map.len()
    }

    /// Whether no value is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A thread that panicked elsewhere leaves the values as they are: whole.
    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_or_kept_last_stays() {
        let kept: Kept<u8, u8> = Kept::new(3);
        assert!(kept.is_empty());
        (0..3).for_each(|key| kept.keep(key, key));
        kept.keep(0, 9); // kept once more, in the place of what was there
        assert_eq!((kept.len(), kept.is_empty(), kept.find(&1, |_| ())), (3, false, Some(())));
        kept.keep(3, 3); // so 2 goes
        let values: Vec<Option<u8>> = (0..4).map(|key| kept.find(&key, |&value| value)).collect();
        assert_eq!(values, [Some(9), Some(1), None, Some(3)]);
        let one: Kept<u8, u8> = Kept::new(0); // which makes room for one
        one.keep(1, 1);
        one.keep(2, 2);
        assert_eq!((one.len(), one.find(&2, |&value| value)), (1, Some(2)));
    }
}
