//! From a place back to the element: [`Layout::locate`].
//!
//! A place is first read as one value for each axis. Then the expressions are walked backward: the halves of a split
//! give back the whole (`q·t + r`), a merge falls apart (`v div n`, `v mod n`), until the dimensions are reached. A
//! value beyond the extent of its expression is padding, made by the tile that split it; a value beyond the size of a
//! dimension is padding made by `padded_dimensions`.

use std::fmt;

use smallvec::SmallVec;

use crate::arithmetic::gcd;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;
use crate::layout::parts::{Axis, PartKind, dims_under};

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The element with this index. Where several share the place (a broadcast), one of them.
    Element(Vec<u64>),
    /// Allocated, but no element stands there.
    Padding(Padding),
}

/// Why a place holds no element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Padding {
    /// What allocated it.
    pub level: Level,
    /// The dimensions that were made larger; several when they were combined, none for a tail or a scalar's tile.
    pub dims: Vec<usize>,
}

/// What can allocate padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// The older `padded_dimensions`.
    PaddedDimensions,
    /// A tile, counted from 1 in the order in which they are applied.
    Tile(u32),
    /// Strides larger than what they step over, and offsets before the first element.
    Stride,
    /// The end of the buffer: an alignment or a size larger than needed.
    Tail,
    /// A view shows only a part of the array.
    View,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::PaddedDimensions => f.write_str("padded dimensions"),
            Level::Tile(number) => write!(f, "tile {number}"),
            Level::Stride => f.write_str("strides"),
            Level::Tail => f.write_str("the end of the buffer"),
            Level::View => f.write_str("outside the view"),
        }
    }
}

impl fmt::Display for Padding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.level)?;
        match self.dims.as_slice() {
            [] => Ok(()),
            [dim] => write!(f, ", dimension {dim}"),
            dims => {
                let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
                write!(f, ", dimensions {}", dims.join(" and "))
            }
        }
    }
}

/// The most steps [`Layout::locate`] searches when strides overlap in a way that no rule resolves.
pub const LOCATE_LIMIT: u64 = 1 << 20;

impl Layout {
    /// The element at an offset, or why there is none.
    ///
    /// ```
    /// use tilework::{Layout, Level, Padding, Place};
    /// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// assert_eq!(layout.locate(17)?, Place::Element(vec![2, 3]));
    /// assert_eq!(layout.locate(9)?, Place::Padding(Padding { level: Level::Tile(1), dims: vec![1] }));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An offset at or beyond the size; or free strides that overlap so that more than [`LOCATE_LIMIT`] steps would
    /// have to be searched.
    pub fn locate(&self, offset: u64) -> Result<Place> {
        let mut index = SmallVec::<[u64; 6]>::new();
        Ok(match self.locate_into(offset, &mut index)? {
            None => Place::Element(index.to_vec()),
            Some(hole) => Place::Padding(self.describe(hole)),
        })
    }

    /// Like [`Layout::locate`], without allocating: the index goes into `index`, and a hole comes back.
    pub(crate) fn locate_into(&self, offset: u64, index: &mut SmallVec<[u64; 6]>) -> Result<Option<Hole>> {
        if offset >= self.size() {
            return Err(Error::new(format!(
                "offset {offset} in a buffer of {}",
                counted(self.size(), "element")
            ))
            .of_kind(ErrorKind::Range)
            .field("offset")
            .rule("an offset is below the size of the buffer")
            .accepts(match self.size() {
                0 => "nothing: the buffer is empty".to_owned(),
                size => format!("0 to {}", size - 1),
            }));
        }
        let offset = self.swizzle().map_or(offset, |swizzle| swizzle.invert(offset));
        if offset >= self.size() - self.tail() {
            return Ok(Some(Hole::Tail));
        }
        if !self.is_compact() {
            return self.locate_strided(offset, index);
        }
        let mut values: SmallVec<[u64; 10]> = SmallVec::new();
        let mut rest = offset;
        for axis in self.axes() {
            values.push(rest / axis.stride as u64);
            rest %= axis.stride as u64;
        }
        self.element_of(&values, index)
    }

    /// Free strides: any values of the axes with `base + Σ stride·value = offset` that belong to an element.
    fn locate_strided(&self, offset: u64, index: &mut SmallVec<[u64; 6]>) -> Result<Option<Hole>> {
        let axes = self.axes();
        let steps: SmallVec<[Step; 10]> = axes.iter().map(Step::of).collect();
        let mut first = None;
        let found = solve(&steps, i128::from(offset) - self.lowest(), &mut |values| {
            // The search counts negative strides from their other end.
            let turn =
                |(&value, axis): (&u64, &Axis)| if axis.stride < 0 { axis.extent - 1 - value } else { value };
            let values: SmallVec<[u64; 10]> = values.iter().zip(axes).map(turn).collect();
            let hole = self.element_of(&values, index);
            let is_element = hole == Ok(None);
            first.get_or_insert(hole);
            is_element
        });
        match (found, first) {
            (Some(true), _) => Ok(None),
            (Some(false), None) => Ok(Some(Hole::Stride(offset))),
            (Some(false), Some(hole)) => hole,
            (None, _) => Err(Error::new(format!("offset {offset} is not decided")).field("offset").rule(
                format!("these strides overlap so that over {LOCATE_LIMIT} combinations would be tried"),
            )),
        }
    }

    /// The element that these values of the axes stand for.
    fn element_of(&self, values: &[u64], index: &mut SmallVec<[u64; 6]>) -> Result<Option<Hole>> {
        match self.walk_back(values, &[], index) {
            // What is padded can be padding for the 0 that stands for what is not known, and no padding for another value.
            Some(hole) if matches!(hole, Hole::Part(Level::View, _)) || !self.hides_no_part() => {
                self.search_free(values, index, hole)
            }
            None if self.is_empty() => Ok(Some(Hole::Empty)),
            found => Ok(found),
        }
    }

    /// From a value for each axis, and for some further expressions, to the index.
    fn walk_back(
        &self,
        axis_values: &[u64],
        more: &[(usize, u64)],
        index: &mut SmallVec<[u64; 6]>,
    ) -> Option<Hole> {
        let parts = self.index_parts();
        index.clear();
        index.resize(self.rank(), 0);
        let mut known: SmallVec<[Known; 16]> = SmallVec::from_elem(Known::default(), parts.len());
        let axes = self.axes().iter().zip(axis_values).map(|(axis, &value)| (axis.part, value));
        for (id, value) in axes.chain(more.iter().copied()) {
            known[id].add(value, 0);
        }
        for (id, part) in parts.iter().enumerate().rev() {
            let Known { value, tile, any } = known[id];
            if !any && part.reach > 0 {
                continue; // one value, or a broadcast: no place depends on it
            }
            if value >= part.extent {
                return Some(Hole::Part(if tile == 0 { Level::View } else { Level::Tile(tile) }, id));
            }
            // What a tile split off is judged where it came from; a merge, where it falls apart.
            if value >= part.reach && part.kind.tile() == 0 && !matches!(part.kind, PartKind::Combined { .. })
            {
                return Some(Hole::Part(Level::PaddedDimensions, id));
            }
            match part.kind {
                PartKind::Unit => {}
                PartKind::Dim(dim) => index[dim] = value,
                // Both halves are below 2^63, as are the extents they came from, so the sum stays within 64 bits.
                PartKind::Tiles { of, tile, by } => known[of].add(value * by, tile),
                PartKind::Within { of, tile, .. } => known[of].add(value, tile),
                PartKind::Combined { major, minor, scale } => {
                    known[major].add(value / scale, 0);
                    known[minor].add(value % scale, 0);
                }
                PartKind::Moved { of, start, step } => {
                    let moved = i128::from(value) - i128::from(start);
                    let (steps, rest) = (moved / i128::from(step), moved % i128::from(step));
                    match u64::try_from(steps) {
                        Ok(steps) if rest == 0 && steps < parts[of].reach => {
                            known[of].add(steps, 0);
                        }
                        _ => return Some(Hole::Part(Level::View, of)),
                    }
                }
            }
        }
        None
    }

    /// Where a dimension was broadcast, merged with another and then sliced, half of a split is not known from the
    /// place, and 0 may lie outside the slice: tries its other values.
    #[cold]
    fn search_free(
        &self,
        values: &[u64],
        index: &mut SmallVec<[u64; 6]>,
        hole: Hole,
    ) -> Result<Option<Hole>> {
        // What a place depends on, from the axes down. Further views of a half that is not known change nothing.
        let mut known = vec![false; self.index_parts().len()];
        for axis in self.axes() {
            known[axis.part] = true;
        }
        for (id, part) in self.index_parts().iter().enumerate().rev() {
            if known[id] {
                for below in part.kind.made_of() {
                    known[below] = true;
                }
            }
        }
        let mut free: Vec<(usize, u64)> = Vec::new();
        let mut count = 1_u64;
        for (id, part) in self.index_parts().iter().enumerate() {
            let (PartKind::Tiles { of, .. } | PartKind::Within { of, .. }) = part.kind else { continue };
            if known[of] && !known[id] {
                free.push((id, 0));
                count = count.saturating_mul(part.reach);
            }
        }
        if count > LOCATE_LIMIT {
            return Err(Error::new("the element at this offset is not decided")
                .field("offset")
                .rule(format!("a slice of a merged broadcast would need over {LOCATE_LIMIT} combinations")));
        }
        for mut combination in 1..count {
            for (id, value) in &mut free {
                let reach = self.index_parts()[*id].reach;
                (*value, combination) = (combination % reach, combination / reach);
            }
            if self.walk_back(values, &free, index).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(hole))
    }

    /// A hole with the dimensions it belongs to.
    pub(crate) fn describe(&self, hole: Hole) -> Padding {
        let (level, dims) = match hole {
            Hole::Part(level, part) => (level, dims_under(self.index_parts(), part)),
            Hole::Empty => (Level::View, (0..self.rank()).filter(|&dim| self.dims()[dim] == 0).collect()),
            Hole::Tail => (Level::Tail, Vec::new()),
            Hole::Stride(offset) => (Level::Stride, self.stride_gap(offset)),
        };
        Padding { level, dims }
    }

    /// The dimension after whose end a place between free strides lies: as if that dimension were padded.
    fn stride_gap(&self, offset: u64) -> Vec<usize> {
        let Ok(mut rest) = u128::try_from(i128::from(offset) - self.lowest()) else { return Vec::new() };
        let axes = self.axes();
        for (place, axis) in axes.iter().enumerate() {
            let stride = u128::from(axis.stride.unsigned_abs());
            rest -= stride * (rest / stride).min(u128::from(axis.extent - 1));
            // What the next minor axis fills, step by step, is not behind it, even if the last step is not filled itself.
            let (next, filled) = match axes.get(place + 1) {
                Some(next) => (next, u128::from(next.stride.unsigned_abs()) * u128::from(next.extent)),
                None => (axis, 1),
            };
            if rest >= filled {
                return dims_under(self.index_parts(), next.part);
            }
        }
        Vec::new()
    }

    /// The least offset of an element.
    pub(crate) fn lowest(&self) -> i128 {
        let backward = self.axes().iter().filter(|axis| axis.stride < 0);
        i128::from(self.base()) - backward.map(Axis::span).sum::<i128>()
    }
}

/// What is known of an expression's value from what is made of it.
#[derive(Clone, Copy, Default)]
struct Known {
    value: u64,
    /// The tile that the value was gathered from.
    tile: u32,
    any: bool,
}

impl Known {
    fn add(&mut self, value: u64, tile: u32) {
        *self = Known { value: self.value + value, tile, any: true };
    }
}

/// A place without element, in terms of the layout's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    /// Beyond the values of a part.
    Part(Level, usize),
    /// Broadcast to no elements at all.
    Empty,
    Stride(u64),
    Tail,
}

/// A number of values, each a stride further.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) stride: u64,
    pub(crate) count: u64,
}

impl Step {
    pub(crate) fn of(axis: &Axis) -> Step {
        Step { stride: axis.stride.unsigned_abs(), count: axis.extent }
    }
}

/// The largest value of `Σ stride·value`.
fn reach(steps: &[Step]) -> i128 {
    steps.iter().map(|step| i128::from(step.stride) * i128::from(step.count - 1)).sum()
}

/// Finds values, each below its count, with `Σ stride·value = target`, that are also accepted.
///
/// None: undecided after [`LOCATE_LIMIT`] tries. Where strides do not overlap, each leaves one candidate and this is
/// plain division. The last two are solved by the extended Euclidean algorithm, so two overlapping strides of any
/// count need no search either.
pub(crate) fn solve(steps: &[Step], target: i128, accept: &mut dyn FnMut(&[u64]) -> bool) -> Option<bool> {
    let mut values: SmallVec<[u64; 10]> = SmallVec::from_elem(0, steps.len());
    search(steps, target, 0, &mut values, &mut LOCATE_LIMIT.clone(), accept)
}

/// Whether two different lists of values, each below its count, have the same `Σ stride·value`, and first differ at
/// `place`: their differences up to the last step. None where [`solve`] has none.
///
/// They do exactly if some differences `d`, the first of them positive, with |d| below the counts, have
/// `Σ stride·d = 0`.
pub(crate) fn overlap_from(steps: &[Step], place: usize) -> Option<Option<Vec<i64>>> {
    let (first, rest) = (steps[place], &steps[place + 1..]);
    if i128::from(first.stride) > reach(rest) {
        return Some(None); // one step is further than all others together
    }
    // The first difference is 1 + v; each further one is −(count − 1) + v.
    let mut differences: SmallVec<[Step; 10]> = SmallVec::new();
    differences.push(Step { count: first.count - 1, ..first });
    differences.extend(rest.iter().map(|step| Step { count: 2 * step.count - 1, ..*step }));
    let mut found = vec![0; place];
    let is_found = solve(&differences, reach(rest) - i128::from(first.stride), &mut |values| {
        found.push(values[0] as i64 + 1);
        let further = values[1..].iter().zip(rest);
        found.extend(further.map(|(&value, step)| (value as i64).wrapping_sub(step.count as i64 - 1)));
        true
    })?;
    Some(is_found.then_some(found))
}

fn search(
    steps: &[Step],
    rest: i128,
    at: usize,
    values: &mut [u64],
    tries: &mut u64,
    accept: &mut dyn FnMut(&[u64]) -> bool,
) -> Option<bool> {
    let [step, others @ ..] = &steps[at..] else { return Some(rest == 0 && accept(values)) };
    let stride = i128::from(step.stride);
    let mut value = ((rest - reach(others)).max(0) + stride - 1) / stride;
    let high = rest.div_euclid(stride).min(i128::from(step.count - 1));
    let common = others.iter().fold(0, |common, step| gcd(common, step.stride));
    let mut jump = 1;
    if common > 0 {
        // What is left must be a multiple of the other strides' common divisor.
        let Some(first) = congruent(stride, rest, i128::from(common), value) else { return Some(false) };
        (value, jump) = (first, i128::from(common / gcd(common, step.stride)));
    }
    while value <= high {
        *tries = tries.checked_sub(1)?;
        values[at] = value as u64;
        if search(steps, rest - value * stride, at + 1, values, tries, accept)? {
            return Some(true);
        }
        value += jump;
    }
    Some(false)
}

/// The least `v ≥ low` with `stride·v ≡ rest (mod modulus)`.
fn congruent(stride: i128, rest: i128, modulus: i128, low: i128) -> Option<i128> {
    let (common, inverse) = {
        // Invariant: r = stride·s (mod modulus)
        let (mut r0, mut r1, mut s0, mut s1) = (stride % modulus, modulus, 1_i128, 0_i128);
        while r1 != 0 {
            let q = r0 / r1;
            (r0, r1) = (r1, r0 - q * r1);
            (s0, s1) = (s1, s0 - q * s1);
        }
        (r0, s0)
    };
    if rest % common != 0 {
        return None;
    }
    let period = modulus / common;
    let v = (rest / common % period) * inverse.rem_euclid(period) % period; // both factors are below 2^63
    Some(low + (v - low).rem_euclid(period))
}
