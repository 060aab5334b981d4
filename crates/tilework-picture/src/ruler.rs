//! A dimension with its padding in between, in the order of the index.
//!
//! `f32[7]{0:T(3)(2)}` cuts 7 by 3, and each 3 by 2: the places along the dimension are
//!
//! ```text
//! 0 1 ┆ 2 · │ 3 4 ┆ 5 · │ 6 · ┆ · ·
//! ```
//!
//! A position on this ruler is a mixed-radix number: the number of the tile, the place within it, and so on for each
//! further cut. Reading its digits gives the index or, if some digit lies beyond its extent, padding.

use tilework_core::{Part, PartKind};

/// The places along one dimension.
pub(crate) struct Ruler {
    pieces: Vec<Piece>,
    /// The size of the dimension.
    size: u64,
    combined: bool,
}

/// A part of the index and how it is cut further.
struct Piece {
    /// Its number among the parts of the layout.
    part: usize,
    extent: u64,
    /// Places along it: the product of the extents it falls into.
    len: u64,
    cut: Option<Cut>,
}

/// Into the number of the tile and the place within it, which are further pieces.
#[derive(Clone, Copy)]
struct Cut {
    tiles: usize,
    within: usize,
    by: u64,
    tile: u32,
}

impl Ruler {
    /// The ruler of a dimension; without padding and borders where the dimension is combined with another.
    pub(crate) fn new(uses: &Uses, dim: usize, size: u64) -> Ruler {
        let mut pieces = Vec::new();
        let root = uses.dims[dim];
        let whole = root.and_then(|root| uses.pieces(root, &mut pieces)).is_some();
        if !whole {
            pieces = vec![Piece { part: root.unwrap_or(0), extent: size, len: size, cut: None }];
        }
        Ruler { pieces, size, combined: root.is_some() && !whole }
    }

    /// Whether the dimension is combined with another, so that this ruler shows the elements alone.
    pub(crate) fn is_combined(&self) -> bool {
        self.combined
    }

    fn root(&self) -> &Piece {
        &self.pieces[self.pieces.len() - 1]
    }

    /// Number of places along the dimension.
    pub(crate) fn len(&self) -> u64 {
        self.root().len
    }

    /// The index at a position; none is padding.
    pub(crate) fn index(&self, at: u64) -> Option<u64> {
        self.read(self.root(), at).filter(|&index| index < self.size)
    }

    fn read(&self, piece: &Piece, at: u64) -> Option<u64> {
        let value = match &piece.cut {
            None => at,
            Some(cut) => {
                let within = &self.pieces[cut.within];
                let tile = self.read(&self.pieces[cut.tiles], at / within.len)?;
                tile * cut.by + self.read(within, at % within.len)?
            }
        };
        (value < piece.extent).then_some(value)
    }

    /// Puts what a position says of the parts that are not cut further among the values of all parts. That is decided for
    /// padding as well.
    pub(crate) fn put(&self, at: u64, values: &mut [u64]) {
        self.put_piece(self.root(), at, values);
    }

    fn put_piece(&self, piece: &Piece, at: u64, values: &mut [u64]) {
        match &piece.cut {
            None => values[piece.part] = at,
            Some(cut) => {
                let within = &self.pieces[cut.within];
                self.put_piece(&self.pieces[cut.tiles], at / within.len, values);
                self.put_piece(within, at % within.len, values);
            }
        }
    }

    /// The position of an index.
    pub(crate) fn position(&self, index: u64) -> u64 {
        self.find(self.root(), index)
    }

    fn find(&self, piece: &Piece, value: u64) -> u64 {
        match &piece.cut {
            None => value,
            Some(cut) => {
                let within = &self.pieces[cut.within];
                self.find(&self.pieces[cut.tiles], value / cut.by) * within.len
                    + self.find(within, value % cut.by)
            }
        }
    }

    /// The tile whose border lies before a position: the outermost, if there are several.
    pub(crate) fn border(&self, at: u64) -> Option<u32> {
        let (mut piece, mut at) = (self.root(), at);
        while let Some(cut) = piece.cut.as_ref().filter(|_| at > 0) {
            let within = &self.pieces[cut.within];
            if at.is_multiple_of(within.len) {
                return Some(cut.tile);
            }
            (piece, at) = (within, at % within.len);
        }
        None
    }

    /// The first position behind a border of the outermost tile.
    pub(crate) fn first_border(&self) -> Option<u64> {
        let cut = self.root().cut.as_ref()?;
        Some(self.pieces[cut.within].len).filter(|&at| at < self.len())
    }
}

/// How the parts of a layout are used by others.
pub(crate) struct Uses {
    dims: Vec<Option<usize>>,
    cuts: Vec<Option<Cut>>,
    combined: Vec<bool>,
    extents: Vec<u64>,
}

impl Uses {
    pub(crate) fn new(parts: &[Part], rank: usize) -> Uses {
        let mut uses = Uses {
            dims: vec![None; rank],
            cuts: vec![None; parts.len()],
            combined: vec![false; parts.len()],
            extents: parts.iter().map(|part| part.extent).collect(),
        };
        for (id, part) in parts.iter().enumerate() {
            match part.kind {
                PartKind::Unit => {}
                PartKind::Dim(dim) => uses.dims[dim] = Some(id),
                // The place within a tile stands behind the number of the tile.
                PartKind::Tiles { of, by, tile } => {
                    uses.cuts[of] = Some(Cut { tiles: id, within: id, by, tile })
                }
                PartKind::Within { of, .. } => {
                    if let Some(cut) = &mut uses.cuts[of] {
                        cut.within = id;
                    }
                }
                PartKind::Combined { major, minor, .. } => {
                    (uses.combined[major], uses.combined[minor]) = (true, true);
                }
                PartKind::Moved { of, .. } => uses.combined[of] = true,
            }
        }
        uses
    }

    /// Adds a part behind the pieces it is cut into; none if it is combined or moved, or too long to count.
    fn pieces(&self, of: usize, pieces: &mut Vec<Piece>) -> Option<usize> {
        if self.combined[of] {
            return None;
        }
        let extent = self.extents[of];
        let (len, cut) = match self.cuts[of] {
            Some(cut) => {
                let tiles = self.pieces(cut.tiles, pieces)?;
                let within = self.pieces(cut.within, pieces)?;
                (pieces[tiles].len.checked_mul(pieces[within].len)?, Some(Cut { tiles, within, ..cut }))
            }
            None => (extent, None),
        };
        pieces.push(Piece { part: of, extent, len, cut });
        Some(pieces.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilework_core::{Layout, Result};

    fn drawn(layout: &Layout, dim: usize) -> String {
        let ruler = Ruler::new(&Uses::new(layout.index_parts(), layout.rank()), dim, layout.dims()[dim]);
        let mut text = String::new();
        for at in 0..ruler.len() {
            text.push_str(match ruler.border(at) {
                Some(1) => "│",
                Some(_) => "┆",
                None => " ",
            });
            text.push_str(&ruler.index(at).map_or("·".to_owned(), |index| index.to_string()));
            assert!(ruler.index(at).is_none_or(|index| ruler.position(index) == at));
        }
        text
    }

    #[test]
    fn padding_stands_within_tiles_and_behind_the_end() -> Result<()> {
        let layout = Layout::builder(&[7], 32)?.tile(&[Some(3)])?.tile(&[Some(2)])?.build()?;
        assert_eq!(drawn(&layout, 0), " 0 1┆2 ·│3 4┆5 ·│6 ·┆· ·");
        let layout = Layout::builder(&[3, 5], 32)?.padded(&[3, 6])?.tile(&[Some(2), Some(4)])?.build()?;
        assert_eq!(drawn(&layout, 0), " 0 1│2 ·");
        assert_eq!(drawn(&layout, 1), " 0 1 2 3│4 · · ·");
        let layout = Layout::builder(&[7], 32)?.tile(&[Some(4)])?.tile(&[Some(3), Some(1)])?.build()?;
        assert_eq!(drawn(&layout, 0), " 0 1 2 3│4 5 6 ·│· · · ·"); // three tiles of 4 are allocated
        Ok(())
    }

    #[test]
    fn every_position_of_one_tile_is_one_place() -> Result<()> {
        for (size, first, second) in [(7, 3, 2), (10, 4, 4), (1, 5, 3), (9, 2, 7), (12, 6, 5)] {
            let layout = Layout::builder(&[size], 8)?.tile(&[Some(first)])?.tile(&[Some(second)])?.build()?;
            let ruler = Ruler::new(&Uses::new(layout.index_parts(), 1), 0, size);
            assert_eq!(ruler.len(), layout.size());
            assert_eq!(
                (0..ruler.len()).filter_map(|at| ruler.index(at)).collect::<Vec<_>>(),
                (0..size).collect::<Vec<_>>()
            );
        }
        Ok(())
    }

    #[test]
    fn a_combined_dimension_has_a_ruler_of_its_elements_alone() -> Result<()> {
        let layout = Layout::builder(&[2, 3], 32)?.tile(&[None, Some(4)])?.build()?;
        assert!(Ruler::new(&Uses::new(layout.index_parts(), 2), 1, 3).is_combined());
        assert_eq!(drawn(&layout, 1), " 0 1 2");
        Ok(())
    }
}
