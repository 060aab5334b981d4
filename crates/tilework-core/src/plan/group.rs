//! Pieces with the same loops, kept together.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::nest::{Loop, Loops};

/// Offsets in the source and the destination, relative to those of some element.
pub(super) type Start = (i64, i64);

/// A start moved on by another.
pub(super) fn add(a: Start, b: Start) -> Start {
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1))
}

/// What moves `a` to `b`.
pub(super) fn step(a: Start, b: Start) -> Start {
    (b.0.wrapping_sub(a.0), b.1.wrapping_sub(a.1))
}

/// Loops with everything that they start from.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) loops: Loops,
    pub(super) starts: SmallVec<[Start; 1]>,
}

/// Groups in the order in which their loops were first met.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// Where to find loops, once a search through the list would be slow.
    places: HashMap<Loops, usize>,
}

/// Groups that a search through the list still finds quickly.
const FEW: usize = 12;

impl Groups {
    pub(super) fn add(&mut self, loops: &[Loop], start: Start) {
        let found = match self.list.len() > FEW {
            false => self.list.iter().position(|group| group.loops[..] == *loops),
            true => {
                if self.places.is_empty() {
                    let known = self.list.iter().enumerate();
                    self.places = known.map(|(place, group)| (group.loops.clone(), place)).collect();
                }
                self.places.get(loops).copied()
            }
        };
        match found {
            Some(place) => self.list[place].starts.push(start),
            None => {
                if !self.places.is_empty() {
                    self.places.insert(Loops::from_slice(loops), self.list.len());
                }
                self.list
                    .push(Group { loops: Loops::from_slice(loops), starts: SmallVec::from_elem(start, 1) });
            }
        }
    }

    /// Number of starts in all groups.
    pub(super) fn starts(&self) -> u64 {
        self.list.iter().map(|group| group.starts.len() as u64).sum()
    }

    /// Whether pieces are rows of neighbours on both sides.
    pub(super) fn moves_rows(&self) -> bool {
        self.list.iter().any(|group| matches!(group.loops.last(), Some(Loop { from: 1, to: 1, .. })))
    }

    /// The same pieces with few different loops: the innermost loop is cut into powers of two.
    ///
    /// Tiles of 127 and 128 leave pieces of every length up to 127, and each length would be a nest of its own.
    pub(super) fn halved(&self) -> Groups {
        let mut halved = Groups::default();
        for group in &self.list {
            let Some((&run, outer)) = group.loops.split_last() else {
                group.starts.iter().for_each(|&start| halved.add(&[], start));
                continue;
            };
            let mut done = 0;
            while done < run.extent {
                let part = 1_u64 << (run.extent - done).ilog2();
                let mut loops = Loops::from_slice(outer);
                if part > 1 {
                    loops.push(Loop { extent: part, ..run });
                }
                let by = done as i64;
                let moved = (run.from.wrapping_mul(by), run.to.wrapping_mul(by));
                group.starts.iter().for_each(|&start| halved.add(&loops, add(start, moved)));
                done += part;
            }
        }
        halved
    }

    /// Makes loops of starts that stand evenly.
    pub(super) fn fold(&mut self) {
        for group in &mut self.list {
            while let Some((extent, (from, to))) = even(&group.starts) {
                group.loops.insert(0, Loop { extent: extent as u64, from, to });
                group.starts = group.starts.iter().copied().step_by(extent).collect();
            }
        }
    }
}

/// Into how many starts, a constant step apart, the list can be cut throughout; the most, at least 2.
fn even(starts: &[Start]) -> Option<(usize, Start)> {
    let first = step(*starts.first()?, *starts.get(1)?);
    let differs = |pair: &[Start]| step(pair[0], pair[1]) != first;
    let longest = starts.windows(2).position(differs).map_or(starts.len(), |place| place + 1);
    let evenly = |extent: usize| {
        starts.len().is_multiple_of(extent) && starts.chunks(extent).all(|part| !part.windows(2).any(differs))
    };
    (2..=longest)
        .rev()
        .filter(|extent| starts.len().is_multiple_of(*extent))
        .find(|&extent| evenly(extent))
        .map(|extent| (extent, first))
}
