//! Tiles: how the minor-most physical dimensions are cut.

use smallvec::SmallVec;

use crate::error::{Error, Result};

/// One tile: a size for each of the minor-most physical dimensions, major to minor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile(SmallVec<[TileDim; 2]>);

/// One entry of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileDim {
    /// The dimension is cut into pieces of this many.
    Size(u64),
    /// `*`: the dimension is combined with the next more minor one before tiling.
    Combine,
}

impl Tile {
    /// A tile of the given sizes, major to minor.
    ///
    /// # Errors
    /// No sizes, or a size that is 0 or above `i64::MAX`.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Result<Tile> {
        Tile::from_dims(sizes.into_iter().map(TileDim::Size))
    }

    /// A tile of sizes and `*` entries, major to minor.
    ///
    /// # Errors
    /// No entries, a size that is 0 or above `i64::MAX`, or a `*` at the end, where there is nothing to combine with.
    pub fn from_dims(dims: impl IntoIterator<Item = TileDim>) -> Result<Tile> {
        Tile::checked(dims.into_iter().collect())
    }

    /// [`Tile::from_dims`] for a reader that already holds the list, without copying it.
    #[inline]
    pub(crate) fn checked(dims: SmallVec<[TileDim; 2]>) -> Result<Tile> {
        let tile = Tile(dims);
        for &dim in &tile.0 {
            if let TileDim::Size(size) = dim
                && (size == 0 || size > i64::MAX as u64)
            {
                return Err(Error::new(format!("tile size {size}"))
                    .field("tiles")
                    .rule("a tile size is at least 1")
                    .accepts("1 to 9223372036854775807, or *"));
            }
        }
        match tile.0.last() {
            None => Err(Error::new("a tile without sizes")
                .field("tiles")
                .rule("a tile has at least one size")
                .accepts("such as T(8,128)")),
            Some(TileDim::Combine) => Err(Error::new("* at the end of a tile")
                .field("tiles")
                .rule("* combines a dimension with the next more minor one, so a size must follow it")
                .accepts("such as T(*,128)")),
            Some(TileDim::Size(_)) => Ok(tile),
        }
    }

    /// The entries, major to minor.
    pub fn dims(&self) -> &[TileDim] {
        &self.0
    }

    /// Whether any entry is `*`.
    pub fn combines(&self) -> bool {
        self.0.contains(&TileDim::Combine)
    }
}
