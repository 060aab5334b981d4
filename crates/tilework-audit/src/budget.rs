//! How much memory an audit may take: everything that grows with what is read is counted before it grows.
//!
//! What a text can make large is in lists, maps and texts. A list or a map is counted when it gets more room, at its old and
//! its new size together, as both exist for a moment; a text when it is held. What cannot be counted, or what the system does
//! not give, is not kept: the budget then is exceeded for good, and the reading ends with an error.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::hash::Map;

/// What is held where neither a person nor the system says how much: 2 GiB.
const USUAL: u64 = 2 << 30;

/// What the allocator takes for each piece of memory besides.
pub(crate) const PIECE: usize = 16;

/// What concluding takes for each buffer, move or shape, besides what is held of it.
pub(crate) const CONCLUDING: usize = 320;

/// Bytes that may be held and are, shared by all that hold some.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<State>);

#[derive(Debug)]
struct State {
    limit: usize,
    held: AtomicUsize,
    exceeded: AtomicBool,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(usual())
    }
}

/// What an audit may take where nobody says it: 2 GiB, or half of what the process may yet have, if that is less.
pub(crate) fn usual() -> u64 {
    let own = |file: &str, name: &str| -> Option<u64> {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    // Linux says both; elsewhere nothing is known of limits.
    let limit = own("/proc/self/limits", "Max address space");
    let taken = limit.and_then(|_| own("/proc/self/status", "VmSize:"));
    let left = limit.zip(taken).map(|(limit, taken)| limit.saturating_sub(taken * 1024) / 2);
    left.map_or(USUAL, |left| left.min(USUAL))
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Budget {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Budget(Arc::new(State { limit, held: AtomicUsize::new(0), exceeded: AtomicBool::new(false) }))
    }

    pub(crate) fn limit(&self) -> usize {
        self.0.limit
    }

    pub(crate) fn held(&self) -> usize {
        self.0.held.load(Relaxed)
    }

    /// Bytes that may be taken yet.
    pub(crate) fn left(&self) -> usize {
        self.0.limit.saturating_sub(self.held())
    }

    /// Whether something was not kept.
    #[inline]
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.exceeded.load(Relaxed)
    }

    /// Counts bytes that are about to be held; false if they are not to be.
    #[must_use]
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let fits = self.left() >= bytes && !self.is_exceeded();
        match fits {
            true => drop(self.0.held.fetch_add(bytes, Relaxed)),
            false => self.exceed(),
        }
        fits
    }

    /// Counts bytes that are held no longer.
    pub(crate) fn give(&self, bytes: usize) {
        self.0.held.fetch_sub(bytes, Relaxed);
    }

    /// Notes that the memory is at its end, whatever was counted.
    pub(crate) fn exceed(&self) {
        self.0.exceeded.store(true, Relaxed);
    }

    /// Replaces what takes `old` bytes by what takes `new`, both of which are there while `grow` runs.
    fn replace<E>(&self, old: usize, new: usize, grow: impl FnOnce() -> Result<(), E>) -> bool {
        if !self.take(new) {
            return false;
        }
        match grow() {
            Ok(()) => self.give(old),
            Err(_) => {
                self.give(new);
                self.exceed();
            }
        }
        !self.is_exceeded()
    }

    /// Makes room for one more in a list; false if there is none.
    #[inline]
    pub(crate) fn for_one<T>(&self, list: &mut Vec<T>) -> bool {
        list.len() < list.capacity() || self.for_more(list, 1)
    }

    /// Makes room for as many more in a list; false if there is none.
    pub(crate) fn for_more<T>(&self, list: &mut Vec<T>, more: usize) -> bool {
        let (length, capacity) = (list.len(), list.capacity());
        if more <= capacity - length {
            return true;
        }
        let wanted = length.saturating_add(more).max(capacity.saturating_mul(2)).max(4);
        let bytes = |count: usize| count.saturating_mul(size_of::<T>());
        self.replace(bytes(capacity), bytes(wanted), || list.try_reserve_exact(wanted - length))
    }

    /// Makes room for as many more bytes, in a buffer so large that the system moves its pages and copies none: what it takes
    /// is counted once. It doubles, as long as there is room for that.
    #[cfg(feature = "proto")]
    pub(crate) fn for_bytes(&self, list: &mut Vec<u8>, more: usize) -> bool {
        let (length, capacity) = (list.len(), list.capacity());
        if more <= capacity - length {
            return true;
        }
        let doubled = capacity.saturating_add(capacity.min(self.left()));
        let wanted = length.saturating_add(more).max(doubled);
        if !self.take(wanted - capacity) {
            return false;
        }
        let grown = list.try_reserve_exact(wanted - length).is_ok();
        if !grown {
            self.give(wanted - capacity);
            self.exceed();
        }
        grown
    }

    /// Makes room for one more in a map; false if there is none.
    #[inline]
    pub(crate) fn for_entry<K: Eq + Hash, V>(&self, map: &mut Map<K, V>) -> bool {
        map.len() < map.capacity() || self.grow(map)
    }

    #[cold]
    fn grow<K: Eq + Hash, V>(&self, map: &mut Map<K, V>) -> bool {
        // Maps double, and begin with room for 3.
        let (old, new) = (map.capacity(), (2 * map.capacity()).max(3));
        let (old, new) = (bytes_of::<K, V>(old), bytes_of::<K, V>(new));
        self.replace(old, new, || map.try_reserve(1))
    }

    /// Gives back what a map takes.
    pub(crate) fn give_map<K, V>(&self, map: &Map<K, V>) {
        self.give(bytes_of::<K, V>(map.capacity()));
    }

    /// Gives back what a list takes.
    pub(crate) fn give_list<T>(&self, list: &Vec<T>) {
        self.give(list.capacity() * size_of::<T>());
    }
}

/// What a map of this capacity takes: of its places, a power of two, seven eighths are used, and each has a byte besides.
fn bytes_of<K, V>(capacity: usize) -> usize {
    match capacity {
        0 => 0,
        _ => (capacity * 8).div_ceil(7).next_power_of_two() * (size_of::<(K, V)>() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_maps_are_counted_before_they_grow_and_stay_within_the_budget() {
        let budget = Budget::new(10_000);
        let mut list: Vec<u64> = Vec::new();
        while budget.for_one(&mut list) {
            list.push(1);
        }
        // 512 are held, and there is no room for them and 1024 more.
        assert_eq!((list.len(), budget.held()), (512, 4096));
        assert!(budget.is_exceeded() && !budget.take(1));

        let budget = Budget::new(100_000);
        let mut map: Map<u64, u64> = Map::default();
        while budget.for_entry(&mut map) {
            map.insert(map.len() as u64, 1);
        }
        assert_eq!(map.len(), map.capacity());
        assert_eq!(budget.held(), bytes_of::<u64, u64>(map.capacity()));
        assert!((30_000..50_000).contains(&budget.held()), "{}", budget.held());
        budget.give_map(&map);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn what_the_system_does_not_give_exceeds_the_budget_and_ends_nothing() {
        let budget = Budget::new(u64::MAX);
        let mut list: Vec<u64> = Vec::new();
        assert!(!budget.for_more(&mut list, usize::MAX / 16));
        assert!(budget.is_exceeded());
        assert_eq!(budget.held(), 0);
    }
}
