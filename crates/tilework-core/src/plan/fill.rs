//! The places of the destination that hold no element, as nests.
//!
//! # Strides
//!
//! Where the elements lie by strides, each larger than what the smaller ones reach, there is a gap after each step but
//! the last of a dimension, and one piece in front of all elements and one behind.
//!
//! # Tiles
//!
//! In a compact layout a place is one value for each axis, and axes are what splitting has left of the dimensions. Let
//! `v` be split by a tile t into `v div t` and `v mod t`, and let r of its values be taken, r = q·t + m with m < t. Then
//!
//! ```text
//! inside(v, r)    inside(div, q) × inside(mod, t)   and, if m > 0,   {div = q} × inside(mod, m)
//! outside(v, r)   outside(div, ⌈r/t⌉) × every mod
//!                 inside(div, q) × outside(mod, t)   and, if m > 0,   {div = q} × outside(mod, m)
//! ```
//!
//! down to the axes, where both are ranges. A place is padding if some dimension is outside: those before it inside,
//! itself outside, those after it anything, so that no place is filled twice.
//!
//! A merge is a dimension of its own if everything that is merged is taken whole. Where it is not, where views or free
//! strides leave other gaps, and where there are over [`NEST_LIMIT`] nests, the whole allocation is filled before the
//! elements are copied.

use crate::order::InOrder;
use smallvec::SmallVec;

use super::group::{self, Groups};
use super::nest::{Loop, Loops, Nest};
use super::refine::{NEST_LIMIT, nest};
use super::tidy::tidy;
use crate::layout::Layout;
use crate::layout::parts::{Axis, Part, PartKind};

/// What is to be filled, and whether that covers elements, so that it must come first.
pub(super) fn fills(to: &Layout) -> (Vec<Nest>, bool) {
    if to.size() == 0 || to.len() == to.size() {
        return (Vec::new(), false); // every element has its place
    }
    if to.is_empty() {
        return (whole(to.size()), false);
    }
    match between_strides(to).or_else(|| outside_tiles(to)) {
        Some(groups) => (groups.list.into_iter().map(nest).collect(), false),
        None => (whole(to.size()), true),
    }
}

fn whole(size: u64) -> Vec<Nest> {
    let mut groups = Groups::default();
    add(&mut groups, 0, &[(size, 1)]);
    groups.list.into_iter().map(nest).collect()
}

/// Adds the places from `start` on: for each extent and stride, that number of steps. Nothing if some extent is 0.
fn add(groups: &mut Groups, start: u64, steps: &[(u64, i64)]) {
    if steps.iter().any(|&(extent, _)| extent == 0) {
        return;
    }
    let mut loops: Loops = steps.iter().map(|&(extent, to)| Loop { extent, from: 0, to }).collect();
    let moved = tidy(&mut loops);
    groups.add(&loops, group::add((0, start as i64), moved));
}

/// In front of, between and behind elements that lie by strides, none of which overlaps another.
fn between_strides(to: &Layout) -> Option<Groups> {
    let strides = to.canon().strides()?;
    let mut steps: SmallVec<[(u64, i64); 8]> = SmallVec::new();
    let mut first = to.canon().form().constant;
    for (&size, &stride) in to.dims().iter().zip(&strides).filter(|(size, _)| **size > 1) {
        steps.push((size, i64::try_from(stride.unsigned_abs()).ok()?));
        first += i128::from(stride.min(0)) * i128::from(size - 1);
    }
    let first = u64::try_from(first).ok()?;
    steps.order_by_key(|&(_, stride)| std::cmp::Reverse(stride));
    // What one step of each stride spans, and everything.
    let mut spans: SmallVec<[u64; 8]> = SmallVec::from_elem(1, steps.len() + 1);
    for place in (0..steps.len()).rev() {
        let (size, stride) = steps[place];
        if (stride as u64) < spans[place + 1] {
            return None;
        }
        spans[place] = spans[place + 1] + stride as u64 * (size - 1); // within the allocated size
    }
    let mut groups = Groups::default();
    add(&mut groups, 0, &[(first, 1)]);
    for place in 0..steps.len() {
        let (size, stride) = steps[place];
        let mut around: SmallVec<[(u64, i64); 8]> = SmallVec::from_slice(&steps[..place]);
        around.push((size - 1, stride));
        around.push((stride as u64 - spans[place + 1], 1));
        add(&mut groups, first + spans[place + 1], &around);
    }
    add(&mut groups, first + spans[0], &[(to.size() - first - spans[0], 1)]);
    Some(groups)
}

/// Ranges of some axes; the others take every value.
type Region = SmallVec<[(usize, u64, u64); 4]>;

/// The splits of a compact layout.
struct Tree<'a> {
    parts: &'a [Part],
    /// The tile that splits each expression, and the halves.
    splits: Vec<Option<Split>>,
    /// Whether an expression is part of a merge.
    merged: Vec<bool>,
}

#[derive(Clone, Copy, Default)]
struct Split {
    by: u64,
    div: usize,
    rest: usize,
}

/// The padding of a compact layout that no view has changed.
fn outside_tiles(to: &Layout) -> Option<Groups> {
    if !to.is_compact() {
        return None;
    }
    let tree = Tree::new(to.index_parts())?;
    let axes = to.axes();
    let mut groups = Groups::default();
    let mut before: Vec<Region> = vec![Region::new()];
    for (root, taken) in tree.roots()? {
        let outside = tree.outside(root, taken)?;
        let inside = tree.inside(root, taken)?;
        for region in product(&before, &outside)? {
            let steps: SmallVec<[(u64, i64); 8]> =
                axes.iter().map(|axis| (range(&region, axis).1, axis.stride)).collect();
            let start = axes.iter().map(|axis| range(&region, axis).0 * axis.stride as u64).sum();
            add(&mut groups, start, &steps);
        }
        before = product(&before, &inside)?;
    }
    add(&mut groups, to.size() - to.tail(), &[(to.tail(), 1)]);
    (groups.list.len() as u64 <= NEST_LIMIT).then_some(groups)
}

/// The first value of an axis in a region, and how many there are.
fn range(region: &Region, axis: &Axis) -> (u64, u64) {
    let own = region.iter().find(|(part, ..)| *part == axis.part);
    own.map_or((0, axis.extent), |&(_, start, end)| (start, end - start))
}

impl Tree<'_> {
    fn new(parts: &[Part]) -> Option<Tree<'_>> {
        let mut splits = vec![None; parts.len()];
        let mut merged = vec![false; parts.len()];
        for (id, part) in (0..).zip(parts) {
            match part.kind {
                PartKind::Tiles { of, by, tile: 1.. } => {
                    splits[of].get_or_insert(Split { by, ..Split::default() }).div = id;
                }
                PartKind::Within { of, by, tile: 1.. } => {
                    splits[of].get_or_insert(Split { by, ..Split::default() }).rest = id;
                }
                PartKind::Combined { major, minor, .. } => {
                    merged[major] = true;
                    merged[minor] = true;
                }
                PartKind::Unit | PartKind::Dim(_) => {}
                PartKind::Tiles { .. } | PartKind::Within { .. } | PartKind::Moved { .. } => return None, // a view
            }
        }
        Some(Tree { parts, splits, merged })
    }

    /// Every dimension and merge that is not merged further, with how many of its values are taken.
    fn roots(&self) -> Option<Vec<(usize, u64)>> {
        let mut taken: Vec<u64> = Vec::with_capacity(self.parts.len());
        let mut roots = Vec::new();
        for (id, part) in (0..).zip(self.parts) {
            taken.push(match part.kind {
                PartKind::Combined { major, minor, scale } => {
                    let whole = taken[minor] == self.parts[minor].extent;
                    if !whole {
                        return None;
                    }
                    taken[major] * scale
                }
                PartKind::Unit | PartKind::Dim(_) => part.reach,
                _ => part.extent, // half of a split: its regions say if it is taken whole
            });
            let is_half = matches!(part.kind, PartKind::Tiles { .. } | PartKind::Within { .. });
            if !is_half && !self.merged[id] {
                roots.push((id, taken[id]));
            }
        }
        Some(roots)
    }

    /// The values from `start` to `end` of an expression that is not split.
    fn part(&self, part: usize, start: u64, end: u64) -> Option<Vec<Region>> {
        if start >= end {
            return Some(Vec::new());
        }
        if start == 0 && end == self.parts[part].extent {
            return Some(vec![Region::new()]);
        }
        // A part of what is merged shows in no axis of its own.
        (!self.merged[part]).then(|| vec![smallvec::smallvec![(part, start, end)]])
    }

    fn inside(&self, part: usize, taken: u64) -> Option<Vec<Region>> {
        let Some(Split { by, div, rest }) = self.splits[part] else {
            return self.part(part, 0, taken);
        };
        let (whole, more) = (taken / by, taken % by);
        let mut regions = product(&self.inside(div, whole)?, &self.inside(rest, by)?)?;
        if more > 0 {
            regions.extend(product(&self.value(div, whole)?, &self.inside(rest, more)?)?);
        }
        Some(regions)
    }

    fn outside(&self, part: usize, taken: u64) -> Option<Vec<Region>> {
        let Some(Split { by, div, rest }) = self.splits[part] else {
            return self.part(part, taken, self.parts[part].extent);
        };
        let (whole, more) = (taken / by, taken % by);
        let mut regions = self.outside(div, taken.div_ceil(by))?;
        regions.extend(product(&self.inside(div, whole)?, &self.outside(rest, by)?)?);
        if more > 0 {
            regions.extend(product(&self.value(div, whole)?, &self.outside(rest, more)?)?);
        }
        Some(regions)
    }

    /// One value of an expression.
    fn value(&self, part: usize, value: u64) -> Option<Vec<Region>> {
        let Some(Split { by, div, rest }) = self.splits[part] else {
            return self.part(part, value, value + 1);
        };
        product(&self.value(div, value / by)?, &self.value(rest, value % by)?)
    }
}

/// All combinations of one region of each list, unless they are too many; the lists speak of different axes.
fn product(a: &[Region], b: &[Region]) -> Option<Vec<Region>> {
    let pairs =
        || a.iter().flat_map(|a| b.iter().map(move |b| a.iter().chain(b).copied().collect())).collect();
    ((a.len() * b.len()) as u64 <= NEST_LIMIT).then(pairs)
}
