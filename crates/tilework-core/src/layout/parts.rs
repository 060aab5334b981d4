//! What a layout is made of: a sum of axes, each a part of the index times a stride.
//!
//! A part of the index is a dimension, or made from parts by two constructors and their inverses:
//!
//! ```text
//! split   e  →  (e div t, e mod t)          a tile cuts a dimension
//! merge   a, b  →  a·n + b                   a `*` in a tile combines two
//! ```
//!
//! plus `start + step·e`, which views (slice, flip) need, and the constant 0 for a tile position beyond the rank.
//! Parts stand in one list, each after those it is made of, so that every walk over them is a loop: forward to
//! compute a place, backward to find the index from a place (see `locate.rs`).
//!
//! Each part knows its *reach*, the number of values it takes (`0..reach`), and its *extent*, the number of
//! values that are allocated for it. Extent above reach is padding, and the only place where padding comes from.

use crate::order::InOrder;
use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// A part of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// How it is made.
    pub kind: PartKind,
    /// Number of values that the indices give it.
    pub reach: u64,
    /// Number of values that places are allocated for; at least `reach`. What is above it is padding.
    pub extent: u64,
}

/// How a part is made. Other parts are named by their position in [`Layout::index_parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named as in the formulas
pub enum PartKind {
    /// The constant 0: what a tile cuts beyond the rank of the array, or a dimension of size 1 that no index names.
    Unit,
    /// A dimension of the index.
    Dim(usize),
    /// ⌊of/by⌋, the number of a tile. Tiles are counted from 1; 0 is a view.
    Tiles { of: usize, by: u64, tile: u32 },
    /// `of mod by`, the place within a tile.
    Within { of: usize, by: u64, tile: u32 },
    /// `scale·major + minor`: `*` in a tile combines two parts. `scale` is the extent of `minor`.
    Combined { major: usize, minor: usize, scale: u64 },
    /// `start + step·of`, from a view.
    Moved { of: usize, start: u64, step: i64 },
}

/// One term of the sum: a part of the index and the places that one step along it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its position in [`Layout::index_parts`].
    pub part: usize,
    /// Number of values that places are allocated for.
    pub extent: u64,
    /// In elements.
    pub stride: i64,
}

impl Axis {
    /// How many places lie between its first value and its last.
    pub(crate) fn span(&self) -> i128 {
        i128::from(self.stride.unsigned_abs()) * i128::from(self.extent - 1)
    }
}

impl Layout {
    /// The parts of the index that the layout is made of, each after those it is made of.
    ///
    /// ```
    /// use tilework::{Layout, PartKind};
    /// let layout = Layout::builder(&[3], 32)?.tile(&[Some(2)])?.build()?;
    /// let parts = layout.index_parts();
    /// assert_eq!(parts[0].kind, PartKind::Dim(0));
    /// assert_eq!(parts[1].kind, PartKind::Tiles { of: 0, by: 2, tile: 1 });
    /// assert_eq!((parts[2].kind, parts[2].extent), (PartKind::Within { of: 0, by: 2, tile: 1 }, 2));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn index_parts(&self) -> &[Part] {
        &self.0.parts
    }

    /// The terms of the sum, from the largest stride to the smallest. Parts of extent 1 add nothing and are left out.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// let axes: Vec<_> = layout.axes().iter().map(|axis| (axis.extent, axis.stride)).collect();
    /// assert_eq!(axes, [(2, 12), (3, 4), (2, 2), (2, 1)]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn axes(&self) -> &[Axis] {
        &self.0.axes
    }
}

impl PartKind {
    /// The tile that split this off, counted from 1; 0 for what no tile made.
    pub(crate) fn tile(self) -> u32 {
        match self {
            PartKind::Tiles { tile, .. } | PartKind::Within { tile, .. } => tile,
            _ => 0,
        }
    }

    /// The parts that this one is made of.
    #[inline]
    pub(crate) fn made_of(self) -> impl Iterator<Item = usize> {
        let parts = match self {
            PartKind::Unit | PartKind::Dim(_) => [None, None],
            PartKind::Tiles { of, .. } | PartKind::Within { of, .. } | PartKind::Moved { of, .. } => {
                [Some(of), None]
            }
            PartKind::Combined { major, minor, .. } => [Some(major), Some(minor)],
        };
        parts.into_iter().flatten()
    }
}

impl Part {
    /// The constant 0.
    pub(crate) const UNIT: Part = Part::whole(PartKind::Unit, 1);

    /// A part without padding.
    pub(crate) const fn whole(kind: PartKind, extent: u64) -> Part {
        Part { kind, reach: extent, extent }
    }
}

/// The parts of a layout, each after those it is made of.
pub(crate) type Parts = SmallVec<[Part; 12]>;

/// Adds a part and returns its position.
#[inline]
pub(crate) fn push(parts: &mut Parts, part: Part) -> usize {
    parts.push(part);
    parts.len() - 1
}

/// Adds `of div by` and `of mod by`.
#[inline]
pub(crate) fn split(parts: &mut Parts, of: usize, by: u64, tile: u32) -> (usize, usize) {
    let Part { reach, extent, .. } = parts[of];
    let tiles = extent.div_ceil(by);
    let reached = if reach == extent { tiles } else { reach.div_ceil(by) };
    let div = push(parts, Part { kind: PartKind::Tiles { of, tile, by }, reach: reached, extent: tiles });
    (div, push(parts, Part { kind: PartKind::Within { of, tile, by }, reach: reach.min(by), extent: by }))
}

/// Adds `major·extent(minor) + minor`.
pub(crate) fn merge(parts: &mut Parts, major: usize, minor: usize) -> Result<usize> {
    let (a, b) = (parts[major], parts[minor]);
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
    Ok(push(parts, Part { kind: PartKind::Combined { major, minor, scale }, reach, extent }))
}

/// The dimensions under a part, ascending.
///
/// Each part stands after those it is made of, so one walk from it to the front sees all of them once, also where
/// parts are shared: `*` may merge what a tile split, again and again.
pub fn dims_under(parts: &[Part], of: usize) -> Vec<usize> {
    let mut under: SmallVec<[bool; 16]> = SmallVec::from_elem(false, of + 1);
    under[of] = true;
    let mut dims = Vec::new();
    for at in (0..=of).rev() {
        if !under[at] {
            continue;
        }
        if let PartKind::Dim(dim) = parts[at].kind {
            dims.push(dim);
        }
        for below in parts[at].kind.made_of() {
            under[below] = true;
        }
    }
    dims.order();
    dims.dedup();
    dims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;

    #[test]
    fn parts_shared_by_many_others_cost_no_more_than_themselves() -> Result<()> {
        // Each `*` merges what the tile before it split, so the whole is in every part twice as often as before.
        let mut builder = Layout::builder(&[64], 32)?.tile(&[Some(4)])?;
        for _ in 0..60 {
            builder = builder.tile(&[None, Some(2)])?;
        }
        let layout = builder.build()?;
        assert!(layout.index_parts().len() <= 1 + 3 * 61);
        assert_eq!((layout.growths().len(), layout.offset(&[5])?), (0, 5));
        Ok(())
    }

    #[test]
    fn a_part_stands_behind_those_it_is_made_of() -> Result<()> {
        let layout = Layout::builder(&[4, 6], 32)?
            .tile(&[Some(2), Some(3)])?
            .tile(&[None, Some(4)])?
            .build()?
            .slice(1, 1..5, 2)?;
        for (id, part) in layout.index_parts().iter().enumerate() {
            match part.kind {
                PartKind::Unit | PartKind::Dim(_) => {}
                PartKind::Tiles { of, .. } | PartKind::Within { of, .. } | PartKind::Moved { of, .. } => {
                    assert!(of < id);
                }
                PartKind::Combined { major, minor, .. } => assert!(major < id && minor < id),
            }
        }
        assert!(layout.axes().iter().all(|axis| axis.part < layout.index_parts().len()));
        Ok(())
    }
}
