//! How many of the most minor dimensions a list of tiles cuts.
//!
//! Outside of these the order of the dimensions changes no size: every further dimension multiplies it. That makes a
//! few lowered layouts stand for all orders of any number of dimensions.

use tilework::xla::{Tile, TileDim};

/// How many of the most minor of `rank` dimensions the tiles cut or combine.
///
/// A tile cuts as many of the most minor dimensions as it has sizes, and puts behind the number of tiles in each the
/// place within a tile. So the next tile meets these first, and reaches further only if it has more sizes.
pub(crate) fn reach(tiles: &[Tile], rank: usize) -> usize {
    // What stands at each physical dimension, the most minor first: the most major of the array's dimensions in it,
    // counted from the most minor. Dimensions beyond the end are those that no tile has met.
    let mut standing: Vec<usize> = Vec::new();
    let mut met = 0;
    for tile in tiles {
        while standing.len() < tile.dims().len() {
            standing.push(met);
            met += 1;
        }
        let (cut, rest) = standing.split_at(tile.dims().len());
        // `*` gives a dimension to the next more minor one.
        let mut pieces: Vec<usize> = Vec::new();
        let mut combined = 0;
        for (&piece, entry) in cut.iter().rev().zip(tile.dims()) {
            combined = combined.max(piece);
            if let TileDim::Size(_) = entry {
                pieces.push(std::mem::take(&mut combined));
            }
        }
        pieces.reverse();
        standing = [&pieces[..], &pieces, rest].concat();
    }
    met.min(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles_from_text;

    #[test]
    fn later_tiles_cut_what_the_first_one_left() {
        for (text, rank, expected) in [
            ("T(8,128)", 5, 2),
            ("T(8,128)(2,1)", 5, 2),
            ("T(8,128)(2,1,1,1)", 5, 2),
            ("T(8,128)(2,1,1,1,1)", 5, 3),
            ("T(128)(4,1)", 5, 1),
            ("T(128)(4,2,1)", 5, 2),
            ("T(*,128)", 5, 2),
            ("T(*,128)(2,1)", 5, 2),
            ("T(*,128)(2,1,1)", 5, 3),
            ("T(*,*,2,*,3)", 9, 5),
            ("T(8,128)", 1, 1),
            ("T(8,128)", 0, 0),
        ] {
            let tiles: Vec<Tile> = tiles_from_text(text).unwrap();
            assert_eq!(reach(&tiles, rank), expected, "{text}");
        }
    }
}
