//! How an array is cut into pieces.

use serde::{Deserialize, Serialize};
use tilework::{Element, Error, ErrorKind, MAX_RANK, Result};

use crate::cut::Cut;
use crate::region::Region;

/// How an array is cut: each dimension for itself. Pieces are numbered in row-major order, from 0.
///
/// Nothing is listed: a grid of 2^62 pieces takes as much memory as one of two.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<Cut>", try_from = "Vec<Cut>")]
pub struct Grid {
    cuts: Vec<Cut>,
    count: u64,
}

impl From<Grid> for Vec<Cut> {
    fn from(grid: Grid) -> Vec<Cut> {
        grid.cuts
    }
}

impl TryFrom<Vec<Cut>> for Grid {
    type Error = Error;

    fn try_from(cuts: Vec<Cut>) -> Result<Grid> {
        Grid::new(cuts)
    }
}

impl Grid {
    /// The grid of these cuts.
    ///
    /// # Errors
    /// More dimensions than a layout has, and more pieces or elements than 63 bits count.
    pub fn new(cuts: Vec<Cut>) -> Result<Grid> {
        if cuts.len() > MAX_RANK {
            return Err(Error::new(format!("{} dimensions", cuts.len()))
                .of_kind(ErrorKind::Limit)
                .accepts(format!("up to {MAX_RANK}")));
        }
        let product = |name: &str, of: &dyn Fn(&Cut) -> u64| {
            let fits = |product: &u64| *product <= i64::MAX as u64;
            let multiplied = cuts.iter().try_fold(1_u64, |all, cut| all.checked_mul(of(cut)).filter(fits));
            match multiplied {
                Some(product) => Ok(product),
                // An empty dimension makes all others harmless.
                None if cuts.iter().any(|cut| cut.size() == 0) => Ok(0),
                None => Err(Error::new(format!("more {name} than 63 bits count"))
                    .of_kind(ErrorKind::Overflow)
                    .field("grid")),
            }
        };
        product("elements", &Cut::size)?;
        let count = product("pieces", &Cut::count)?;
        Ok(Grid { cuts, count })
    }

    /// Pieces of these sizes of an array of these.
    ///
    /// # Errors
    /// As many sizes of pieces as there are dimensions, and those of [`Cut::every`] and [`Grid::new`].
    pub fn regular(sizes: &[u64], pieces: &[u64]) -> Result<Grid> {
        if sizes.len() != pieces.len() {
            return Err(Error::new(format!(
                "{} sizes of pieces for {} dimensions",
                pieces.len(),
                sizes.len()
            ))
            .of_kind(ErrorKind::Mismatch)
            .field("pieces")
            .accepts(format!("{} sizes", sizes.len())));
        }
        Grid::new(
            sizes.iter().zip(pieces).map(|(&size, &piece)| Cut::every(size, piece)).collect::<Result<_>>()?,
        )
    }

    /// The same pieces over larger sizes: what the old sizes have not are pieces, and parts of pieces, without elements. Cuts that are
    /// not regular become so.
    ///
    /// # Errors
    /// Another number of sizes, a smaller size, and too many pieces.
    pub(crate) fn grown(&self, sizes: &[u64]) -> Result<Grid> {
        let old = self.sizes();
        if old == sizes {
            return Ok(self.clone());
        }
        if old.len() != sizes.len() || old.iter().zip(sizes).any(|(old, new)| new < old) {
            return Err(Error::new(format!("sizes of {old:?} that grow to {sizes:?}")));
        }
        let pieces = self.cuts.iter().map(|cut| cut.regular().unwrap_or(cut.largest()).max(1));
        Grid::regular(sizes, &pieces.collect::<Vec<u64>>())
    }

    /// All of an array as one piece.
    ///
    /// # Errors
    /// Those of [`Grid::new`].
    pub fn one(sizes: &[u64]) -> Result<Grid> {
        Grid::regular(sizes, &sizes.iter().map(|&size| size.max(1)).collect::<Vec<u64>>())
    }

    /// How each dimension is cut.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The sizes of the array.
    pub fn sizes(&self) -> Vec<u64> {
        self.cuts.iter().map(Cut::size).collect()
    }

    /// How many pieces there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where a piece stands along each dimension.
    ///
    /// # Errors
    /// A number that no piece has.
    pub fn coordinates(&self, piece: u64) -> Result<Vec<u64>> {
        if piece >= self.count {
            return Err(Error::new(format!("piece {piece} of {}", self.count))
                .of_kind(ErrorKind::Range)
                .field("piece")
                .rule("pieces are counted from 0"));
        }
        let (mut rest, mut coordinates) = (piece, vec![0; self.cuts.len()]);
        for (coordinate, cut) in coordinates.iter_mut().zip(&self.cuts).rev() {
            *coordinate = rest % cut.count(); // none is 0, as there is a piece
            rest /= cut.count();
        }
        Ok(coordinates)
    }

    /// The number of the piece that stands there.
    ///
    /// # Errors
    /// Coordinates that no piece has.
    pub fn number(&self, coordinates: &[u64]) -> Result<u64> {
        let is_there = coordinates.len() == self.cuts.len()
            && coordinates.iter().zip(&self.cuts).all(|(&at, cut)| at < cut.count());
        if !is_there {
            let counts: Vec<u64> = self.cuts.iter().map(Cut::count).collect();
            return Err(Error::new(format!("a piece at {coordinates:?}"))
                .of_kind(ErrorKind::Range)
                .field("piece")
                .rule(format!("there are {counts:?} pieces along the dimensions, counted from 0")));
        }
        Ok(coordinates.iter().zip(&self.cuts).fold(0, |number, (&at, cut)| number * cut.count() + at))
    }

    /// The elements of a piece, without what hangs over the end of the array.
    ///
    /// # Errors
    /// A number that no piece has.
    pub fn region(&self, piece: u64) -> Result<Region> {
        let ranges = self.coordinates(piece)?.into_iter().zip(&self.cuts).map(|(at, cut)| cut.range(at));
        let (start, size) = ranges.map(|range| (range.start, range.end - range.start)).unzip();
        Ok(Region { start, size })
    }

    /// The bytes of a piece that is cut as all are, of these elements, in rows.
    pub(crate) fn piece_bytes(&self, element: Element) -> u64 {
        let elements =
            self.cuts.iter().map(|cut| u128::from(cut.regular().unwrap_or(cut.largest()))).product::<u128>();
        u64::try_from(elements.saturating_mul(element.bytes().into())).unwrap_or(u64::MAX)
    }

    /// The pieces that have elements of a region, in the order of their numbers.
    pub fn touching(&self, region: &Region) -> impl Iterator<Item = u64> + use<> {
        let along = self.cuts.iter().enumerate().map(|(dim, cut)| {
            let start = region.start.get(dim).copied().unwrap_or(0);
            let size = region.size.get(dim).copied().unwrap_or(0);
            (cut.touching(&(start..start.saturating_add(size))), cut.count())
        });
        let along: Vec<_> = along.collect();
        let mut next: Option<Vec<u64>> =
            along.iter().map(|(range, _)| Some(range.start).filter(|_| !range.is_empty())).collect();
        std::iter::from_fn(move || {
            let at = next.as_mut()?;
            let number = at.iter().zip(&along).fold(0, |number, (&at, (_, count))| number * count + at);
            let moved = at.iter_mut().zip(&along).rev().any(|(at, (range, _))| {
                *at += 1;
                let is_within = *at < range.end;
                if !is_within {
                    *at = range.start;
                }
                is_within
            });
            if !moved {
                next = None;
            }
            Some(number)
        })
    }

    /// The pieces that have elements of a region, each with the region that they share.
    pub fn sources(&self, region: &Region) -> impl Iterator<Item = (u64, Region)> + use<'_> {
        let region = region.clone();
        let pieces = self.touching(&region);
        pieces.filter_map(move |piece| Some((piece, self.region(piece).ok()?.shared(&region)?)))
    }

    /// Blocks with these numbers of pieces along each dimension, as a grid of its own.
    ///
    /// # Errors
    /// None that the grid itself had not.
    pub fn grouped(&self, pieces: &[u64]) -> Result<Grid> {
        Grid::new(self.cuts.iter().zip(pieces).map(|(cut, &pieces)| cut.grouped(pieces)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_coordinates_and_regions_agree() -> Result<()> {
        let grid = Grid::new(vec![Cut::every(7, 3)?, Cut::at(vec![0, 1, 5])?, Cut::every(4, 9)?])?;
        assert_eq!((grid.count(), grid.sizes()), (6, vec![7, 5, 4]));
        let mut elements = 0;
        for piece in 0..grid.count() {
            assert_eq!(grid.number(&grid.coordinates(piece)?)?, piece);
            let region = grid.region(piece)?;
            elements += region.len();
            assert_eq!(grid.touching(&region).collect::<Vec<u64>>(), [piece]);
        }
        assert_eq!(elements, 140);
        let region = Region { start: vec![2, 1, 0], size: vec![2, 2, 1] };
        let naive: Vec<u64> = (0..6)
            .filter(|&piece| grid.region(piece).is_ok_and(|own| own.shared(&region).is_some()))
            .collect();
        assert_eq!(grid.touching(&region).collect::<Vec<u64>>(), naive);
        assert!(grid.region(6).is_err() && grid.number(&[0, 2, 0]).is_err() && grid.number(&[0]).is_err());
        Ok(())
    }

    #[test]
    fn bytes_of_a_piece_are_those_of_a_whole_one() -> Result<()> {
        let grid = |pieces: [u64; 2]| Grid::regular(&[7, 4], &pieces);
        assert_eq!(grid([3, 9])?.piece_bytes(Element::F32), 108);
        assert_eq!(grid([3, i64::MAX as u64])?.piece_bytes(Element::F32), u64::MAX);
        let mixed = Grid::new(vec![Cut::at(vec![0, 1, 6, 7])?, Cut::every(4, 3)?])?;
        assert_eq!(mixed.piece_bytes(Element::F64), 120);
        Ok(())
    }

    #[test]
    fn a_region_of_fewer_dimensions_touches_nothing() -> Result<()> {
        assert_eq!(Grid::regular(&[7, 4], &[3, 2])?.touching(&Region::whole(&[7])).count(), 0);
        Ok(())
    }

    #[test]
    fn grids_may_be_huge_empty_or_of_no_dimensions() -> Result<()> {
        let huge = Grid::regular(&[1 << 31, 1 << 31], &[1, 1])?;
        assert_eq!(huge.coordinates(huge.count() - 1)?, [(1 << 31) - 1; 2]);
        assert!(Grid::regular(&[1 << 32, 1 << 32], &[1 << 31; 2]).is_err());
        let empty = Grid::regular(&[0, u64::MAX >> 1, u64::MAX >> 1], &[1, 1, 1])?;
        assert_eq!((empty.count(), empty.touching(&Region::whole(&[0, 5, 5])).count()), (0, 0));
        // Sizes that overflow before the 0 comes, and the largest array.
        let late = Grid::regular(&[1 << 40, 1 << 40, 0], &[1, 1, 1])?;
        assert_eq!((late.count(), late.sizes()), (0, vec![1 << 40, 1 << 40, 0]));
        assert_eq!(Grid::regular(&[i64::MAX as u64], &[1])?.count(), i64::MAX as u64);
        assert_eq!(Grid::one(&[0, 1, 2])?.cuts(), Grid::regular(&[0, 1, 2], &[1, 1, 2])?.cuts());
        assert!(Grid::one(&[1; MAX_RANK]).is_ok() && Grid::one(&[1; MAX_RANK + 1]).is_err());
        let scalar = Grid::one(&[])?;
        assert_eq!((scalar.count(), scalar.touching(&Region::whole(&[])).count()), (1, 1));
        Ok(())
    }
}
