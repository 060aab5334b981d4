//! Regions of an array: where they start and their sizes.

use serde::{Deserialize, Serialize};

/// A part of an array: from `start`, as many elements along each dimension as `size` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Region {
    /// The index of its first element.
    pub start: Vec<u64>,
    /// Its sizes.
    pub size: Vec<u64>,
}

impl Region {
    /// All of an array of these sizes.
    pub fn whole(sizes: &[u64]) -> Region {
        Region { start: vec![0; sizes.len()], size: sizes.to_vec() }
    }

    /// How many elements it has.
    pub fn len(&self) -> u128 {
        self.size.iter().map(|&size| u128::from(size)).fold(1, u128::saturating_mul)
    }

    /// Whether it has none.
    ///
    /// ```
    /// use tilework_stores::Region;
    /// assert!(Region::whole(&[4, 0]).is_empty() && !Region::whole(&[4, 1]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.size.contains(&0)
    }

    /// What two regions of one array share; none if they share no element.
    ///
    /// ```
    /// use tilework_stores::Region;
    /// let a = Region { start: vec![0, 4], size: vec![4, 4] };
    /// let b = Region { start: vec![2, 0], size: vec![9, 5] };
    /// assert_eq!(a.shared(&b), Some(Region { start: vec![2, 4], size: vec![2, 1] }));
    /// assert_eq!(a.shared(&Region { start: vec![0, 0], size: vec![4, 4] }), None);
    /// ```
    pub fn shared(&self, other: &Region) -> Option<Region> {
        let mut shared = Region { start: Vec::with_capacity(self.start.len()), size: Vec::new() };
        for dim in 0..self.start.len() {
            let end = |region: &Region| region.start[dim].saturating_add(region.size[dim]);
            let start = self.start[dim].max(*other.start.get(dim)?);
            let end = end(self).min(end(other));
            shared.start.push(start);
            shared.size.push(end.checked_sub(start).filter(|&size| size > 0)?);
        }
        Some(shared)
    }

    /// The same region, counted from the first element of `origin`, in which it lies.
    pub fn within(&self, origin: &[u64]) -> Region {
        let start = self.start.iter().zip(origin).map(|(start, origin)| start.saturating_sub(*origin));
        Region { start: start.collect(), size: self.size.clone() }
    }
}
