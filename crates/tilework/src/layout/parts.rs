//! What a layout is made of, for those who explain or draw it.
//!
//! A layout is a sum of axes, and each axis is a part of the index: a dimension, the number of a tile in it, the place
//! within a tile, or several of these combined. Parts stand in one list, each after those it is made of.

use crate::layout::Layout;
use crate::layout::expr::{Expr, Node};

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
    /// The constant 0: what a tile cuts beyond the rank of the array.
    Unit,
    /// A dimension of the index.
    Dim(usize),
    /// ⌊of/by⌋, the number of a tile. Tiles are counted from 1; 0 is a view.
    Tiles { of: usize, by: u64, tile: u32 },
    /// `of mod by`, the place within a tile.
    Within { of: usize, by: u64, tile: u32 },
    /// `scale·major + minor`: `*` in a tile combines two parts.
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
    pub fn index_parts(&self) -> Vec<Part> {
        self.nodes().iter().map(part).collect()
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
    pub fn axes(&self) -> Vec<Axis> {
        self.raw_axes()
            .iter()
            .map(|axis| Axis { part: axis.node as usize, extent: axis.extent, stride: axis.stride })
            .collect()
    }
}

fn part(node: &Node) -> Part {
    let kind = match node.expr {
        Expr::Unit => PartKind::Unit,
        Expr::Dim(dim) => PartKind::Dim(dim as usize),
        Expr::Div { of, tile, by } => PartKind::Tiles { of: of as usize, by, tile: tile.into() },
        Expr::Mod { of, tile, by } => PartKind::Within { of: of as usize, by, tile: tile.into() },
        Expr::Merge { major, minor, scale } => {
            PartKind::Combined { major: major as usize, minor: minor as usize, scale }
        }
        Expr::Shift { of, start, step } => PartKind::Moved { of: of as usize, start, step },
    };
    Part { kind, reach: node.reach, extent: node.extent }
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
