//! Views: other indices for the same places, without moving data.
//!
//! A view replaces each dimension of a layout by an expression over the new dimensions. The algebra is closed under
//! that, so a view always exists as a [`Layout`], also where strides alone could not say it: a transposed matrix,
//! flattened, is a layout with a division in it. Whether a system that knows only strides can use a view without
//! copying is what [`Layout::to_strides`] answers.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::expr::{Expr, Id, Node, Nodes, push};
use crate::layout::{Layout, MAX_RANK};

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
        let rank = self.rank();
        let mut place: SmallVec<[usize; 6]> = SmallVec::from_elem(rank, rank);
        for (new, &old) in order.iter().enumerate() {
            match place.get_mut(old) {
                Some(slot) if *slot == rank => *slot = new,
                _ => return Err(self.order_error(order)),
            }
        }
        if order.len() != rank {
            return Err(self.order_error(order));
        }
        let dims = order.iter().map(|&old| self.dims()[old]).collect();
        Ok(self.substitute(dims, |nodes, old, node| {
            push(nodes, Node { expr: Expr::Dim(place[old] as u32), ..node })
        }))
    }

    fn order_error(&self, order: &[usize]) -> Error {
        Error::new(format!("order {order:?} of {}", counted(self.rank() as u64, "dimension")))
            .field("order")
            .rule("an order names every dimension exactly once")
            .accepts(format!("a permutation of {:?}", Vec::from_iter(0..self.rank())))
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
            return Err(Error::new(format!("step {step}")).field("step").accepts("1 or more"));
        }
        let count = (range.end - range.start).div_ceil(step);
        let mut dims = SmallVec::from_slice(self.dims());
        dims[dim] = count;
        Ok(self.substitute(dims, |nodes, old, node| match old == dim {
            true => shift(nodes, node, count, range.start, step as i64),
            false => push(nodes, node),
        }))
    }

    /// A dimension counted from its other end.
    ///
    /// # Errors
    /// A dimension outside the rank.
    pub fn flip(&self, dim: usize) -> Result<Layout> {
        let size = self.require_dim(dim)?;
        Ok(self.substitute(SmallVec::from_slice(self.dims()), |nodes, old, node| {
            match old == dim && size > 0 {
                true => shift(nodes, node, size, size - 1, -1),
                false => push(nodes, node),
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
        crate::layout::check_dims(dims, self.bits())?;
        Ok(self.substitute(SmallVec::from_slice(dims), |nodes, old, node| {
            let expr = match node.reach == dims[added + old] {
                true => Expr::Dim((added + old) as u32),
                false => Expr::Unit,
            };
            push(nodes, Node { expr, ..node })
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
        crate::layout::check_dims(dims, self.bits())?;
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
        let mut nodes = Nodes::new();
        let mut places: SmallVec<[Id; 6]> = SmallVec::from_elem(0, self.rank());
        let old = self.dim_nodes();
        if count == 0 {
            for (place, node) in places.iter_mut().zip(&old) {
                *place = push(&mut nodes, Node { expr: Expr::Unit, ..*node });
            }
            return Ok(self.rebuild(SmallVec::from_slice(dims), nodes, &places));
        }
        for cut in common_factors(self.dims(), dims).windows(2) {
            let (from, to) = (cut[0].0..cut[1].0, cut[0].1..cut[1].1);
            if from.len() == 1 && to.len() == 1 {
                places[from.start] =
                    push(&mut nodes, Node { expr: Expr::Dim(to.start as u32), ..old[from.start] });
                continue;
            }
            let mut whole: Option<Id> = None;
            for dim in to {
                let size = dims[dim];
                let minor = push(&mut nodes, Node { expr: Expr::Dim(dim as u32), reach: size, extent: size });
                whole = Some(match whole {
                    None => minor,
                    Some(major) => crate::layout::expr::merge(&mut nodes, major, minor)?,
                });
            }
            let unit = Node { expr: Expr::Unit, reach: 1, extent: 1 };
            let mut whole = whole.unwrap_or_else(|| push(&mut nodes, unit));
            for dim in from.rev() {
                let node = old[dim];
                let reach = nodes[whole as usize].reach / node.reach;
                let by = node.reach;
                places[dim] = push(&mut nodes, Node { expr: Expr::Mod { of: whole, tile: 0, by }, ..node });
                whole = push(
                    &mut nodes,
                    Node { expr: Expr::Div { of: whole, tile: 0, by }, reach, extent: reach },
                );
            }
        }
        let view = self.rebuild(SmallVec::from_slice(dims), nodes, &places);
        match depth(view.nodes()) {
            0..=MAX_DEPTH => Ok(view),
            depth => Err(Error::new(format!("views of views, {depth} expressions deep"))
                .of_kind(ErrorKind::Limit)
                .field("dimensions")
                .rule(format!("at most {MAX_DEPTH} expressions stand within one another"))
                .accepts("one reshape from the first to the last dimensions, instead of many")),
        }
    }

    fn require_dim(&self, dim: usize) -> Result<u64> {
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
    fn dim_nodes(&self) -> SmallVec<[Node; 6]> {
        let absent = self.dims().iter().map(|&size| Node { expr: Expr::Unit, reach: size, extent: size });
        let mut found: SmallVec<[Node; 6]> = absent.collect();
        for node in self.nodes() {
            if let Expr::Dim(dim) = node.expr {
                found[dim as usize] = *node;
            }
        }
        found
    }

    /// A view: `make` says what stands for each old dimension.
    fn substitute(
        &self,
        dims: SmallVec<[u64; 6]>,
        mut make: impl FnMut(&mut Nodes, usize, Node) -> Id,
    ) -> Layout {
        let mut nodes = Nodes::new();
        let places: SmallVec<[Id; 6]> =
            self.dim_nodes().iter().enumerate().map(|(old, &node)| make(&mut nodes, old, node)).collect();
        self.rebuild(dims, nodes, &places)
    }

    /// Appends every expression but the dimensions, which are now those at `places`.
    fn rebuild(&self, dims: SmallVec<[u64; 6]>, mut nodes: Nodes, places: &[Id]) -> Layout {
        let mut names: SmallVec<[Id; 16]> = SmallVec::new();
        for node in self.nodes() {
            let name = |id: Id| names[id as usize];
            let expr = match node.expr {
                Expr::Dim(dim) => {
                    names.push(places[dim as usize]);
                    continue;
                }
                Expr::Unit => Expr::Unit,
                Expr::Div { of, tile, by } => Expr::Div { of: name(of), tile, by },
                Expr::Mod { of, tile, by } => Expr::Mod { of: name(of), tile, by },
                Expr::Merge { major, minor, scale } => {
                    Expr::Merge { major: name(major), minor: name(minor), scale }
                }
                Expr::Shift { of, start, step } => {
                    let of = name(of);
                    // A slice of a slice is a slice: the inner one has this as its only use, and gives way.
                    if let Some(whole) = compose(start, step, nodes[of as usize].expr) {
                        nodes[of as usize] = Node { expr: whole, ..*node };
                        names.push(of);
                        continue;
                    }
                    Expr::Shift { of, start, step }
                }
            };
            names.push(push(&mut nodes, Node { expr, ..*node }));
        }
        self.with_index(dims, nodes, &names)
    }
}

/// `start + step·x` for a new dimension x of size `count`, in place of the dimension `node`.
fn shift(nodes: &mut Nodes, node: Node, count: u64, start: u64, step: i64) -> Id {
    let of = push(nodes, Node { reach: count, extent: count, ..node });
    push(nodes, Node { expr: Expr::Shift { of, start, step }, ..node })
}

/// `start + step·inner` as one shift, if `inner` is one and the numbers fit (a single value may have any step).
fn compose(start: u64, step: i64, inner: Expr) -> Option<Expr> {
    let Expr::Shift { of, start: inner_start, step: inner_step } = inner else { return None };
    let start = i128::from(start) + i128::from(step) * i128::from(inner_start);
    Some(Expr::Shift { of, start: u64::try_from(start).ok()?, step: step.checked_mul(inner_step)? })
}

/// How deep expressions stand within one another.
fn depth(nodes: &[Node]) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let below = node.expr.parts().iter().map(|&part| depths[part as usize]).max();
        depths.push(1 + below.unwrap_or(0));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Where two lists of sizes with the same product, none of them 0, can be cut into the most groups of equal product:
/// positions from (0, 0) to the ends. A size of 1 without a partner makes a group with nothing on the other side.
pub(crate) fn common_factors(a: &[u64], b: &[u64]) -> Vec<(usize, usize)> {
    let mut cuts = vec![(0, 0)];
    let (mut i, mut j) = (0, 0);
    let (mut before_i, mut before_j) = (1_u64, 1_u64); // neither passes the product of all
    while i < a.len() || j < b.len() {
        // The side that is behind takes its next size; at a cut the smaller size goes, or both if they are equal.
        let (next_a, next_b) = (a.get(i).copied(), b.get(j).copied());
        let even = before_i == before_j;
        let goes =
            |next: Option<u64>, other: Option<u64>| next.filter(|&n| other.is_none_or(|other| n <= other));
        let step_a = if even { goes(next_a, next_b) } else { next_a.filter(|_| before_i < before_j) };
        let step_b = if even { goes(next_b, next_a) } else { next_b.filter(|_| before_j < before_i) };
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
