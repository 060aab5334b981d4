//! Index expressions: what a layout multiplies by its strides.
//!
//! An expression is a dimension, or made from expressions by two constructors and their inverses:
//!
//! ```text
//! split   e  →  (e div t, e mod t)          a tile cuts a dimension
//! merge   a, b  →  a·n + b                   a `*` in a tile combines two
//! ```
//!
//! plus `start + step·e`, which views (slice, flip) need, and the constant 0 for a tile position beyond the rank.
//! Expressions stand in one list, each after those it is made of, so that every walk over them is a loop: forward to
//! compute a place, backward to find the index from a place (see `locate.rs`).
//!
//! Each expression knows its *reach*, the number of values it takes (`0..reach`), and its *extent*, the number of
//! values that are allocated for it. Extent above reach is padding, and the only place where padding comes from.

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};

/// The position of an expression in its list.
///
/// A layout that was built has at most `MAX_RANK + 4 · MAX_TILES · MAX_RANK` expressions, and views add few, so 32 bits
/// are plenty; they are kept small because layouts are built by the million.
pub(crate) type Id = u32;

/// How an expression is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expr {
    /// The constant 0: a dimension of size 1 that no index names.
    Unit,
    /// A dimension of the index.
    Dim(u32),
    /// `of div by`, split off by a tile, counted from 1, or by a view: 0
    Div { of: Id, tile: u8, by: u64 },
    /// `of mod by`, likewise
    Mod { of: Id, tile: u8, by: u64 },
    /// `major·scale + minor`, where `scale` is the extent of `minor`
    Merge { major: Id, minor: Id, scale: u64 },
    /// `start + step·of`
    Shift { of: Id, start: u64, step: i64 },
}

impl Expr {
    /// The tile that split this off, counted from 1; 0 for what no tile made.
    pub(crate) fn tile(self) -> u8 {
        match self {
            Expr::Div { tile, .. } | Expr::Mod { tile, .. } => tile,
            _ => 0,
        }
    }

    /// The expressions that this one is made of.
    pub(crate) fn parts(self) -> SmallVec<[Id; 2]> {
        match self {
            Expr::Unit | Expr::Dim(_) => SmallVec::new(),
            Expr::Div { of, .. } | Expr::Mod { of, .. } | Expr::Shift { of, .. } => {
                SmallVec::from_slice(&[of])
            }
            Expr::Merge { major, minor, .. } => SmallVec::from_buf([major, minor]),
        }
    }
}

/// An expression with what is known about its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) expr: Expr,
    /// Number of values that an index can give: `0..reach`.
    pub(crate) reach: u64,
    /// Number of values that places are allocated for; at least `reach`.
    pub(crate) extent: u64,
}

/// The expressions of a layout, each after those it is made of.
pub(crate) type Nodes = SmallVec<[Node; 12]>;

/// Adds an expression and returns its position.
#[inline]
pub(crate) fn push(nodes: &mut Nodes, node: Node) -> Id {
    nodes.push(node);
    (nodes.len() - 1) as Id
}

/// Adds `of div by` and `of mod by`.
#[inline]
pub(crate) fn split(nodes: &mut Nodes, of: Id, by: u64, tile: u8) -> (Id, Id) {
    let Node { reach, extent, .. } = nodes[of as usize];
    let tiles = extent.div_ceil(by);
    let reached = if reach == extent { tiles } else { reach.div_ceil(by) };
    let div = push(nodes, Node { expr: Expr::Div { of, tile, by }, reach: reached, extent: tiles });
    (div, push(nodes, Node { expr: Expr::Mod { of, tile, by }, reach: reach.min(by), extent: by }))
}

/// Adds `major·extent(minor) + minor`.
pub(crate) fn merge(nodes: &mut Nodes, major: Id, minor: Id) -> Result<Id> {
    let (a, b) = (nodes[major as usize], nodes[minor as usize]);
    let scale = b.extent;
    let extent = a.extent.checked_mul(scale).filter(|&extent| extent <= i64::MAX as u64);
    let extent = extent.ok_or_else(|| {
        Error::new(format!("combining extents {} and {scale} overflows 63 bits", a.extent))
            .of_kind(ErrorKind::Overflow)
            .field("tiles")
            .rule("combined dimensions have at most 9223372036854775807 places")
            .accepts("smaller dimensions or tiles")
    })?;
    let reach = if a.reach == 0 || b.reach == 0 { 0 } else { (a.reach - 1) * scale + b.reach };
    Ok(push(nodes, Node { expr: Expr::Merge { major, minor, scale }, reach, extent }))
}

/// The dimensions under an expression, ascending.
///
/// Each expression stands after those it is made of, so one walk from it to the front sees all of them once, also
/// where parts are shared: `*` may merge what a tile split, again and again.
pub(crate) fn dims_under(nodes: &[Node], id: Id) -> Vec<usize> {
    let mut under: SmallVec<[bool; 16]> = SmallVec::from_elem(false, id as usize + 1);
    under[id as usize] = true;
    let mut dims = Vec::new();
    for id in (0..under.len()).rev() {
        if !under[id] {
            continue;
        }
        let expr = nodes[id].expr;
        if let Expr::Dim(dim) = expr {
            dims.push(dim as usize);
        }
        for part in expr.parts() {
            under[part as usize] = true;
        }
    }
    dims.sort_unstable();
    dims.dedup();
    dims
}
