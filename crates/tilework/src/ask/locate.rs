//! From a place back to the element: [`Layout::locate`].
//!
//! A place is first read as one value for each axis. Then the expressions are walked backward: the halves of a split
//! give back the whole (`q·t + r`), a merge falls apart (`v div n`, `v mod n`), until the dimensions are reached. A
//! value beyond the extent of its expression is padding, made by the tile that split it; a value beyond the size of a
//! dimension is padding made by `padded_dimensions`.

use std::fmt;

use smallvec::SmallVec;

use crate::algebra::linear::gcd;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::expr::{Expr, Id, dims_under};
use crate::layout::{Axis, Layout};

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
        if offset >= self.size() - self.tail() {
            return Ok(Some(Hole::Tail));
        }
        if !self.is_compact() {
            return self.locate_strided(offset, index);
        }
        let mut values: SmallVec<[u64; 10]> = SmallVec::new();
        let mut rest = offset;
        for axis in self.raw_axes() {
            values.push(rest / axis.stride as u64);
            rest %= axis.stride as u64;
        }
        self.element_of(&values, index)
    }

    /// Free strides: any values of the axes with `base + Σ stride·value = offset` that belong to an element.
    fn locate_strided(&self, offset: u64, index: &mut SmallVec<[u64; 6]>) -> Result<Option<Hole>> {
        let axes = self.raw_axes();
        let steps: SmallVec<[Step; 10]> =
            axes.iter().map(|axis| Step { stride: axis.stride.unsigned_abs(), count: axis.extent }).collect();
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
            Some(hole @ Hole::View { .. }) => self.search_free(values, index, hole),
            // What is padded can be padding for the 0 that stands for what is not known, and no padding for another value.
            Some(hole @ (Hole::Tile { .. } | Hole::Padded { .. })) if !self.hides_no_part() => {
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
        more: &[(Id, u64)],
        index: &mut SmallVec<[u64; 6]>,
    ) -> Option<Hole> {
        let nodes = self.nodes();
        index.clear();
        index.resize(self.rank(), 0);
        let mut known: SmallVec<[Known; 16]> = SmallVec::from_elem(Known::default(), nodes.len());
        let axes = self.raw_axes().iter().zip(axis_values).map(|(axis, &value)| (axis.node, value));
        for (id, value) in axes.chain(more.iter().copied()) {
            known[id as usize].add(value, 0);
        }
        for (id, node) in nodes.iter().enumerate().rev() {
            let Known { value, tile, any } = known[id];
            if !any && node.reach > 0 {
                continue; // one value, or a broadcast: no place depends on it
            }
            if value >= node.extent {
                return Some(Hole::Tile { node: id as u32, tile });
            }
            // What a tile split off is judged where it came from; a merge, where it falls apart.
            if value >= node.reach && node.expr.tile() == 0 && !matches!(node.expr, Expr::Merge { .. }) {
                return Some(Hole::Padded { node: id as u32 });
            }
            match node.expr {
                Expr::Unit => {}
                Expr::Dim(dim) => index[dim as usize] = value,
                // Both halves are below 2^63, as are the extents they came from, so the sum stays within 64 bits.
                Expr::Div { of, tile, by } => known[of as usize].add(value * by, tile),
                Expr::Mod { of, tile, .. } => known[of as usize].add(value, tile),
                Expr::Merge { major, minor, scale } => {
                    known[major as usize].add(value / scale, 0);
                    known[minor as usize].add(value % scale, 0);
                }
                Expr::Shift { of, start, step } => {
                    let moved = i128::from(value) - i128::from(start);
                    let (steps, rest) = (moved / i128::from(step), moved % i128::from(step));
                    match u64::try_from(steps) {
                        Ok(steps) if rest == 0 && steps < nodes[of as usize].reach => {
                            known[of as usize].add(steps, 0);
                        }
                        _ => return Some(Hole::View { node: of }),
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
        let mut known = vec![false; self.nodes().len()];
        for axis in self.raw_axes() {
            known[axis.node as usize] = true;
        }
        for (id, node) in self.nodes().iter().enumerate().rev() {
            if known[id] {
                for part in node.expr.parts() {
                    known[part as usize] = true;
                }
            }
        }
        let mut free: Vec<(Id, u64)> = Vec::new();
        let mut count = 1_u64;
        for (id, node) in self.nodes().iter().enumerate() {
            let (Expr::Div { of, .. } | Expr::Mod { of, .. }) = node.expr else { continue };
            if known[of as usize] && !known[id] && node.reach > 1 {
                free.push((id as Id, 0));
                count = count.saturating_mul(node.reach);
            }
        }
        if count > LOCATE_LIMIT {
            return Err(Error::new("the element at this offset is not decided")
                .field("offset")
                .rule(format!("a slice of a merged broadcast would need over {LOCATE_LIMIT} combinations")));
        }
        for mut combination in 1..count {
            for (id, value) in &mut free {
                let reach = self.nodes()[*id as usize].reach;
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
        let of = |node| dims_under(self.nodes(), node);
        match hole {
            Hole::Tile { node, tile: 0 } => Padding { level: Level::View, dims: of(node) },
            Hole::Tile { node, tile } => Padding { level: Level::Tile(u32::from(tile)), dims: of(node) },
            Hole::Padded { node } => Padding { level: Level::PaddedDimensions, dims: of(node) },
            Hole::View { node } => Padding { level: Level::View, dims: of(node) },
            Hole::Empty => {
                let empty = (0..self.rank()).filter(|&dim| self.dims()[dim] == 0);
                Padding { level: Level::View, dims: empty.collect() }
            }
            Hole::Tail => Padding { level: Level::Tail, dims: Vec::new() },
            Hole::Stride(offset) => Padding { level: Level::Stride, dims: self.stride_gap(offset) },
        }
    }

    /// The dimension after whose end a place between free strides lies: as if that dimension were padded.
    fn stride_gap(&self, offset: u64) -> Vec<usize> {
        let mut rest = i128::from(offset) - self.lowest();
        if rest < 0 {
            return Vec::new();
        }
        let axes = self.raw_axes();
        for (place, axis) in axes.iter().enumerate() {
            let stride = i128::from(axis.stride.unsigned_abs());
            rest -= stride * (rest / stride).min(i128::from(axis.extent - 1));
            let inner = axes[place + 1..].iter();
            let inner: i128 =
                inner.map(|axis| i128::from(axis.stride.unsigned_abs()) * i128::from(axis.extent - 1)).sum();
            if rest > inner {
                let next = axes.get(place + 1).unwrap_or(axis);
                return dims_under(self.nodes(), next.node);
            }
        }
        Vec::new()
    }

    /// The least offset of an element.
    pub(crate) fn lowest(&self) -> i128 {
        let below: i128 = self
            .raw_axes()
            .iter()
            .filter(|axis| axis.stride < 0)
            .map(|axis| i128::from(axis.stride) * i128::from(axis.extent - 1))
            .sum();
        i128::from(self.base()) + below
    }
}

/// What is known of an expression's value from what is made of it.
#[derive(Clone, Copy, Default)]
struct Known {
    value: u64,
    /// The tile that the value was gathered from.
    tile: u8,
    any: bool,
}

impl Known {
    fn add(&mut self, value: u64, tile: u8) {
        *self = Known { value: self.value + value, tile, any: true };
    }
}

/// A place without element, in terms of the layout's expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    Tile {
        node: u32,
        tile: u8,
    },
    Padded {
        node: u32,
    },
    View {
        node: u32,
    },
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

fn search(
    steps: &[Step],
    rest: i128,
    at: usize,
    values: &mut [u64],
    tries: &mut u64,
    accept: &mut dyn FnMut(&[u64]) -> bool,
) -> Option<bool> {
    let [step, others @ ..] = &steps[at..] else { return Some(rest == 0 && accept(values)) };
    if rest < 0 || rest > reach(&steps[at..]) {
        return Some(false);
    }
    let stride = i128::from(step.stride);
    let mut value = ((rest - reach(others)).max(0) + stride - 1) / stride;
    let high = (rest / stride).min(i128::from(step.count - 1));
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
