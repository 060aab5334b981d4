//! Views: other indices for the same places, without moving data.
//!
//! A view replaces each dimension of a layout by an expression over the new dimensions. The algebra is closed under
//! that, so a view always exists as a [`Layout`], also where strides alone could not say it: a transposed matrix,
//! flattened, is a layout with a division in it. Whether a system that knows only strides can use a view without
//! copying is what [`Layout::to_strides`] answers.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::parts::{Axis, Part, PartKind, Parts, merge, push};
use crate::layout::{Inner, Layout, MAX_RANK, check_dims, check_order};

/// The most expressions within one another, which keeps walks over them within any thread's stack. Tiles alone, at their
/// most, nest less deep.
pub(crate) const MAX_DEPTH: usize = 1024;

impl Layout {
    /// The dimensions in another order: dimension `k` of the view is dimension `order[k]` of this layout.
    ///
    /// ```
    /// use tilework::Layout;
    /// let view = Layout::row_major(&[2, 3], 32)?.permute(&[1, 0])?;
    /// assert_eq!(view.dims(), [3, 2]);
    /// assert_eq!(view.to_strides()?.strides, [1, 3]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Not a permutation of the dimensions.
    pub fn permute(&self, order: &[usize]) -> Result<Layout> {
        check_order(order, self.rank(), "order")?;
        let mut place: SmallVec<[usize; 6]> = SmallVec::from_elem(0, order.len());
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let dims = order.iter().map(|&old| self.dims()[old]).collect();
        Ok(self.substitute(dims, |parts, old, part| {
            push(parts, Part { kind: PartKind::Dim(place[old]), ..part })
        }))
    }

    /// Every `step`-th element of a dimension, from `range.start` up to, not including, `range.end`.
    ///
    /// ```
    /// use tilework::Layout;
    /// let view = Layout::row_major(&[10], 32)?.slice(0, 1..8, 3)?;
    /// let strided = view.to_strides()?;
    /// assert_eq!((view.dims(), strided.first, &strided.strides[..]), (&[3][..], 1, &[3][..]));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension outside the rank, a range outside the dimension, or a step of 0.
    pub fn slice(&self, dim: usize, range: Range<u64>, step: u64) -> Result<Layout> {
        let size = self.require_dim(dim)?;
        if range.start > range.end || range.end > size {
            return Err(Error::new(format!("range {}..{} of dimension {dim}", range.start, range.end))
                .of_kind(ErrorKind::Range)
                .field("range")
                .accepts(format!("a range within 0..{size}")));
        }
        if step == 0 || step > i64::MAX as u64 {
            return Err(Error::new(format!("step {step}"))
                .field("step")
                .accepts(format!("1 to {}", i64::MAX)));
        }
        let count = (range.end - range.start).div_ceil(step);
        let mut dims = SmallVec::from_slice(self.dims());
        dims[dim] = count;
        Ok(self.substitute(dims, |parts, old, part| match old == dim {
            true => shift(parts, part, count, range.start, step as i64),
            false => push(parts, part),
        }))
    }

    /// A dimension counted from its other end.
    ///
    /// # Errors
    /// A dimension outside the rank.
    pub fn flip(&self, dim: usize) -> Result<Layout> {
        let size = self.require_dim(dim)?;
        Ok(self.substitute(SmallVec::from_slice(self.dims()), |parts, old, part| {
            match old == dim && size > 0 {
                true => shift(parts, part, size, size - 1, -1),
                false => push(parts, part),
            }
        }))
    }

    /// The array repeated to larger dimensions, as NumPy does: dimensions are matched from the last, a dimension of
    /// size 1 or a missing one is repeated.
    ///
    /// ```
    /// use tilework::Layout;
    /// let view = Layout::row_major(&[3], 32)?.broadcast(&[2, 3])?;
    /// assert_eq!(view.to_strides()?.strides, [0, 1]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fewer dimensions than the layout has, or a dimension that is neither kept nor 1.
    pub fn broadcast(&self, dims: &[u64]) -> Result<Layout> {
        let Some(added) = dims.len().checked_sub(self.rank()).filter(|_| dims.len() <= MAX_RANK) else {
            let found = counted(dims.len() as u64, "dimension");
            return Err(Error::new(format!("{found} for a layout of {}", self.rank()))
                .of_kind(ErrorKind::Mismatch)
                .field("dimensions")
                .accepts(format!("{} to {MAX_RANK} dimensions", self.rank())));
        };
        for (dim, (&old, &new)) in self.dims().iter().zip(&dims[added..]).enumerate() {
            if old != new && old != 1 {
                return Err(Error::new(format!("dimension {dim} of size {old} cannot become {new}"))
                    .of_kind(ErrorKind::Mismatch)
                    .field("dimensions")
                    .rule("only a dimension of size 1 is repeated; anything else needs a copy")
                    .accepts(format!("{old}")));
            }
        }
        check_dims(dims, self.bits())?;
        Ok(self.substitute(SmallVec::from_slice(dims), |parts, old, part| {
            let kind = match part.reach == dims[added + old] {
                true => PartKind::Dim(added + old),
                false => PartKind::Unit,
            };
            push(parts, Part { kind, ..part })
        }))
    }

    /// A dimension of size `outer · inner` as two, the second being `inner`.
    ///
    /// # Errors
    /// A dimension outside the rank, or a size that `inner` does not divide.
    pub fn split_dim(&self, dim: usize, inner: u64) -> Result<Layout> {
        let size = self.require_dim(dim)?;
        if inner == 0 || !size.is_multiple_of(inner) {
            return Err(Error::new(format!("dimension {dim} of size {size} split by {inner}"))
                .field("inner")
                .rule("the parts of a dimension multiply to its size")
                .accepts(format!("a divisor of {size}")));
        }
        let mut dims = self.dims().to_vec();
        dims.splice(dim..=dim, [size / inner, inner]);
        self.reshape(&dims)
    }

    /// The dimensions `dim` and `dim + 1` as one, the first being the major part.
    ///
    /// # Errors
    /// A dimension without another after it, or a product above `i64::MAX`.
    pub fn merge_dims(&self, dim: usize) -> Result<Layout> {
        let major = self.require_dim(dim)?;
        let Some(&minor) = self.dims().get(dim + 1) else {
            return Err(Error::new(format!("dimension {dim} is the last of {}", self.rank()))
                .field("dimension")
                .rule("a dimension is merged with the one after it")
                .accepts(match self.rank() {
                    1 => "nothing: there is only one dimension".to_owned(),
                    rank => format!("0 to {}", rank - 2),
                }));
        };
        // An overflow is refused by the reshape as any size too large is.
        let merged = major.saturating_mul(minor);
        let mut dims = self.dims().to_vec();
        dims.splice(dim..=dim + 1, [merged]);
        self.reshape(&dims)
    }

    /// The same elements in row-major index order under other dimensions.
    ///
    /// ```
    /// use tilework::Layout;
    /// let columns = Layout::builder(&[2, 3], 32)?.minor_to_major(&[0, 1])?.build()?;
    /// let flat = columns.reshape(&[6])?;
    /// assert_eq!(flat.canon().to_string(), "⌊i/3⌋ + 2·(i mod 3)");
    /// let error = flat.to_strides().unwrap_err(); // strides alone cannot say it
    /// assert_eq!(error.found(), "dimension 0 changes its stride at every multiple of 3");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another number of elements; or merges and splits of a view, of a view, … until over 1024 expressions stand
    /// within one another.
    pub fn reshape(&self, dims: &[u64]) -> Result<Layout> {
        check_dims(dims, self.bits())?;
        let count = if dims.contains(&0) { 0 } else { dims.iter().product::<u64>() };
        if count != self.len() {
            return Err(Error::new(format!(
                "{} in {dims:?}, but the layout has {}",
                counted(count, "element"),
                self.len()
            ))
            .field("dimensions")
            .rule("a reshape keeps the number of elements")
            .accepts(format!("dimensions whose product is {}", self.len())));
        }
        let mut parts = Parts::new();
        let mut places: SmallVec<[usize; 6]> = SmallVec::from_elem(0, self.rank());
        let old = self.dim_parts();
        if count == 0 {
            for (place, part) in places.iter_mut().zip(&old) {
                *place = push(&mut parts, Part { kind: PartKind::Unit, ..*part });
            }
            return Ok(self.rebuild(SmallVec::from_slice(dims), parts, &places));
        }
        for cut in common_factors(self.dims(), dims).windows(2) {
            let (from, to) = (cut[0].0..cut[1].0, cut[0].1..cut[1].1);
            if from.len() == 1 && to.len() == 1 {
                places[from.start] =
                    push(&mut parts, Part { kind: PartKind::Dim(to.start), ..old[from.start] });
                continue;
            }
            let mut whole: Option<usize> = None;
            for dim in to {
                let size = dims[dim];
                let minor = push(&mut parts, Part::whole(PartKind::Dim(dim), size));
                whole = Some(match whole {
                    None => minor,
                    Some(major) => merge(&mut parts, major, minor)?,
                });
            }
            let mut whole = whole.unwrap_or_else(|| push(&mut parts, Part::UNIT));
            for dim in from.rev() {
                let part = old[dim];
                let reach = parts[whole].reach / part.reach;
                let by = part.reach;
                places[dim] =
                    push(&mut parts, Part { kind: PartKind::Within { of: whole, tile: 0, by }, ..part });
                whole = push(&mut parts, Part::whole(PartKind::Tiles { of: whole, tile: 0, by }, reach));
            }
        }
        let view = self.rebuild(SmallVec::from_slice(dims), parts, &places);
        match depth(view.index_parts()) {
            0..=MAX_DEPTH => Ok(view),
            depth => Err(Error::new(format!("views of views, {depth} expressions deep"))
                .of_kind(ErrorKind::Limit)
                .field("dimensions")
                .rule(format!("at most {MAX_DEPTH} expressions stand within one another"))
                .accepts("one reshape from the first to the last dimensions, instead of many")),
        }
    }

    pub(crate) fn require_dim(&self, dim: usize) -> Result<u64> {
        self.dims().get(dim).copied().ok_or_else(|| {
            Error::new(format!("dimension {dim} of {}", self.rank()))
                .of_kind(ErrorKind::Range)
                .field("dimension")
                .rule("dimensions are counted from 0")
                .accepts(match self.rank() {
                    0 => "nothing: a scalar has no dimensions".to_owned(),
                    rank => format!("0 to {}", rank - 1),
                })
        })
    }

    /// The expression of each dimension; the constant 0 for one that no expression names (a broadcast).
    fn dim_parts(&self) -> SmallVec<[Part; 6]> {
        let absent = self.dims().iter().map(|&size| Part::whole(PartKind::Unit, size));
        let mut found: SmallVec<[Part; 6]> = absent.collect();
        for part in self.index_parts() {
            if let PartKind::Dim(dim) = part.kind {
                found[dim] = *part;
            }
        }
        found
    }

    /// A view: `make` says what stands for each old dimension.
    fn substitute(
        &self,
        dims: SmallVec<[u64; 6]>,
        mut make: impl FnMut(&mut Parts, usize, Part) -> usize,
    ) -> Layout {
        let mut parts = Parts::new();
        let places: SmallVec<[usize; 6]> =
            self.dim_parts().iter().enumerate().map(|(old, &part)| make(&mut parts, old, part)).collect();
        self.rebuild(dims, parts, &places)
    }

    /// Appends every expression but the dimensions, which are now those at `places`.
    fn rebuild(&self, dims: SmallVec<[u64; 6]>, mut parts: Parts, places: &[usize]) -> Layout {
        let mut names: SmallVec<[usize; 16]> = SmallVec::new();
        for part in self.index_parts() {
            let name = |id: usize| names[id];
            let kind = match part.kind {
                PartKind::Dim(dim) => {
                    names.push(places[dim]);
                    continue;
                }
                PartKind::Unit => PartKind::Unit,
                PartKind::Tiles { of, tile, by } => PartKind::Tiles { of: name(of), tile, by },
                PartKind::Within { of, tile, by } => PartKind::Within { of: name(of), tile, by },
                PartKind::Combined { major, minor, scale } => {
                    PartKind::Combined { major: name(major), minor: name(minor), scale }
                }
                PartKind::Moved { of, start, step } => {
                    let of = name(of);
                    // A slice of a slice is a slice: the inner one has this as its only use, and gives way.
                    if let Some(whole) = compose(start, step, parts[of].kind) {
                        parts[of] = Part { kind: whole, ..*part };
                        names.push(of);
                        continue;
                    }
                    PartKind::Moved { of, start, step }
                }
            };
            names.push(push(&mut parts, Part { kind, ..*part }));
        }
        let axes = self.0.axes.iter().map(|axis| Axis { part: names[axis.part], ..*axis }).collect();
        let mut view =
            Layout(Box::new(Inner { dims, parts, axes, canon: OnceLock::new(), ..(*self.0).clone() }));
        if !view.0.compact && !view.is_empty() {
            view.dissolve_shifts();
        }
        view
    }
}

/// `start + step·x` for a new dimension x of size `count`, in place of the dimension `part`.
fn shift(parts: &mut Parts, part: Part, count: u64, start: u64, step: i64) -> usize {
    let of = push(parts, Part { reach: count, extent: count, ..part });
    push(parts, Part { kind: PartKind::Moved { of, start, step }, ..part })
}

/// `start + step·inner` as one shift, if `inner` is one and the numbers fit (a single value may have any step).
fn compose(start: u64, step: i64, inner: PartKind) -> Option<PartKind> {
    let PartKind::Moved { of, start: inner_start, step: inner_step } = inner else { return None };
    let start = i128::from(start) + i128::from(step) * i128::from(inner_start);
    Some(PartKind::Moved { of, start: u64::try_from(start).ok()?, step: step.checked_mul(inner_step)? })
}

/// How deep expressions stand within one another.
fn depth(parts: &[Part]) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(parts.len());
    for part in parts {
        let below = part.kind.made_of().map(|part| depths[part]).max();
        depths.push(1 + below.unwrap_or(0));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Where two lists of sizes with the same product, none of them 0, can be cut into the most groups of equal product:
/// positions from (0, 0) to the ends. A size of 1 without a partner makes a group with nothing on the other side.
pub fn common_factors(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut cuts = vec![(0, 0)];
    let (mut i, mut j) = (0, 0);
    let (mut before_i, mut before_j) = (1_u64, 1_u64); // neither passes the product of all
    while i < a.len() || j < b.len() {
        // The side that is behind takes its next size; at a cut the smaller size goes, or both if they are equal.
        let (next_a, next_b) = (a.get(i).copied(), b.get(j).copied());
        let goes =
            |next: Option<u64>, other: Option<u64>| next.filter(|&n| other.is_none_or(|other| n <= other));
        let (step_a, step_b) = match before_i.cmp(&before_j) {
            Ordering::Less => (next_a, None),
            Ordering::Greater => (None, next_b),
            Ordering::Equal => (goes(next_a, next_b), goes(next_b, next_a)),
        };
        if let Some(size) = step_a {
            before_i *= size;
            i += 1;
        }
        if let Some(size) = step_b {
            before_j *= size;
            j += 1;
        }
        if before_i == before_j {
            cuts.push((i, j));
        }
    }
    cuts
}
