//! Speaking of dimensions: numbers from the end, letters, and where a dimension stands in the order of memory.

use crate::error::{Error, Result, counted};
use crate::xla::value::layout::{Layout, accepted_numbers};
use crate::xla::value::shape::{ArrayShape, Dim};
use tilework_core::InOrder;

/// The letters of XLA's document on shapes for the dimensions of an array of this rank, dimension 0 first.
///
/// Only arrays of 2, 3 and 4 dimensions have letters. They name dimension numbers, not places in memory: dimension 1 of
/// a matrix is `x` in every layout.
///
/// ```
/// use tilework::xla::dimension_letters;
/// assert_eq!(dimension_letters(4), Some(['p', 'z', 'y', 'x'].as_slice()));
/// assert_eq!(dimension_letters(5), None);
/// ```
pub fn dimension_letters(rank: usize) -> Option<&'static [char]> {
    const LETTERS: [char; 4] = ['p', 'z', 'y', 'x'];
    matches!(rank, 2..=4).then(|| &LETTERS[4 - rank..])
}

impl ArrayShape {
    /// XLA's `ShapeUtil::GetDimensionNumber`: the dimension with this number, where -1 is the last.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Dim}};
    /// let shape = ArrayShape::new(Element::F32, [1, 2, 3, 4u64])?;
    /// assert_eq!((shape.dimension_number(-1)?, shape.dimension(-1)?), (3, Dim::Static(4)));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number outside `-rank..rank`. XLA aborts below that and looks past the end above it.
    pub fn dimension_number(&self, number: i64) -> Result<usize> {
        let rank = self.rank();
        let dim = match usize::try_from(number.unsigned_abs()) {
            Ok(back) if number < 0 => rank.checked_sub(back),
            Ok(forth) => Some(forth).filter(|&forth| forth < rank),
            Err(_) => None,
        };
        dim.ok_or_else(|| {
            Error::new(format!("dimension {number} of {}", counted(rank as u64, "dimension")))
                .field("dimension")
                .rule("dimensions are numbered from 0, or from -1 down, -1 being the last")
                .accepts(match rank {
                    0 => accepted_numbers(0),
                    _ => format!("-{rank} to {}", rank - 1),
                })
        })
    }

    /// XLA's `ShapeUtil::GetDimension`: the size of a dimension, where -1 is the last.
    ///
    /// # Errors
    /// See [`ArrayShape::dimension_number`].
    pub fn dimension(&self, number: i64) -> Result<Dim> {
        self.dimension_number(number).map(|dim| self.dims()[dim])
    }

    /// The letter of a dimension in XLA's document on shapes: y x, z y x, or p z y x.
    ///
    /// ```
    /// use tilework::{Element, xla::ArrayShape};
    /// let shape = ArrayShape::new(Element::F32, [2, 3, 5u64])?;
    /// assert_eq!((shape.dimension_letter(0)?, shape.dimension_letter(-1)?), ('z', 'x'));
    /// assert_eq!(shape.dimension_of_letter('y')?, 1);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number outside `-rank..rank`, or a rank other than 2, 3 and 4.
    pub fn dimension_letter(&self, number: i64) -> Result<char> {
        let dim = self.dimension_number(number)?;
        Ok(self.letters()?[dim])
    }

    /// The dimension that XLA's document on shapes calls by this letter.
    ///
    /// # Errors
    /// A letter that no dimension of this rank has, or a rank other than 2, 3 and 4.
    pub fn dimension_of_letter(&self, letter: char) -> Result<usize> {
        let letters = self.letters()?;
        letters.iter().position(|&known| known == letter).ok_or_else(|| {
            let known: Vec<String> = letters.iter().map(char::to_string).collect();
            Error::new(format!("dimension {letter:?} of {}", counted(self.rank() as u64, "dimension")))
                .field("dimension")
                .rule("the last dimension is x, before it stand y, z and p")
                .accepts(known.join(", "))
        })
    }

    fn letters(&self) -> Result<&'static [char]> {
        dimension_letters(self.rank()).ok_or_else(|| {
            Error::new(format!("letters for {}", counted(self.rank() as u64, "dimension")))
                .field("dimension")
                .rule("only arrays of 2, 3 and 4 dimensions have letters")
                .accepts("a dimension number")
        })
    }

    /// XLA's `ShapeUtil::HasDegenerateDimensions`: some dimension has size 1.
    pub fn has_degenerate_dimensions(&self) -> bool {
        self.dims().iter().any(|dim| dim.bound() == Some(1))
    }

    /// XLA's `ShapeUtil::IsEffectivelyMostMajorDimension`: every dimension more major than this one has size 1.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let shape = ArrayShape::new(Element::F32, [1, 1, 16, 1, 279u64])?;
    /// let shape = shape.with_layout(Layout::new([4, 1, 2, 3, 0])?)?;
    /// assert!(shape.is_effectively_most_major_dimension(2)?);
    /// assert!(!shape.is_effectively_most_major_dimension(4)?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension outside the rank, no layout, free strides.
    pub fn is_effectively_most_major_dimension(&self, dim: usize) -> Result<bool> {
        self.check_dimension(dim)?;
        let mut major_to_minor = self.dimension_order()?.iter().rev();
        Ok(major_to_minor.find(|&&major| major == dim || self.dims()[major].bound() != Some(1)) == Some(&dim))
    }
}

impl Layout {
    /// XLA's `LayoutUtil::AreDimensionsConsecutive`: these dimensions stand side by side in memory, in any order.
    ///
    /// A dimension given twice is not beside itself.
    ///
    /// ```
    /// use tilework::xla::Layout;
    /// let layout = Layout::new([3, 0, 2, 1])?;
    /// assert!(layout.are_dimensions_consecutive(&[2, 0, 3])?);
    /// assert!(!layout.are_dimensions_consecutive(&[3, 2])?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A dimension outside the rank, or free strides.
    pub fn are_dimensions_consecutive(&self, dims: &[usize]) -> Result<bool> {
        self.order()?;
        dims.iter().try_for_each(|&dim| check_dimension(dim, self.rank()))?;
        let physical = self.logical_to_physical();
        let mut positions: Vec<usize> = dims.iter().map(|&dim| physical[dim]).collect();
        positions.order();
        Ok(positions.windows(2).all(|pair| pair[1] - pair[0] == 1))
    }

    /// The dimensions in the order of memory, the most minor first.
    ///
    /// # Errors
    /// Free strides.
    pub(crate) fn order(&self) -> Result<&[usize]> {
        if self.strides().is_some() {
            return Err(Error::new("free strides have no dimension order")
                .field("strides")
                .rule("the question is about dimensions in the order of memory")
                .accepts("a layout with minor_to_major"));
        }
        Ok(self.minor_to_major())
    }
}

/// Checks that an array of this rank has the dimension.
pub(crate) fn check_dimension(dim: usize, rank: usize) -> Result<()> {
    if dim < rank {
        return Ok(());
    }
    Err(Error::new(format!("dimension {dim} of {}", counted(rank as u64, "dimension")))
        .field("dimension")
        .rule("dimensions are numbered from 0")
        .accepts(accepted_numbers(rank)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn array(dims: &[u64]) -> ArrayShape {
        ArrayShape::new(Element::F32, dims.iter().copied()).unwrap()
    }

    #[test]
    fn numbers_count_from_both_ends_and_no_further() {
        let shape = array(&[2, 3, 5]);
        let found: Vec<Option<usize>> = (-4..5).map(|number| shape.dimension_number(number).ok()).collect();
        assert_eq!(found, [None, Some(0), Some(1), Some(2), Some(0), Some(1), Some(2), None, None]);
        for number in [i64::MIN, i64::MAX] {
            assert_eq!(shape.dimension_number(number).unwrap_err().accepted(), Some("-3 to 2"));
        }
        assert!(array(&[]).dimension_number(0).is_err() && array(&[]).dimension_number(-1).is_err());
    }

    #[test]
    fn letters_go_both_ways_for_ranks_two_to_four_only() {
        for (rank, letters) in [(2, "yx"), (3, "zyx"), (4, "pzyx")] {
            let shape = array(&vec![7; rank]);
            for (dim, letter) in letters.chars().enumerate() {
                assert_eq!(shape.dimension_letter(dim as i64).unwrap(), letter);
                assert_eq!(shape.dimension_letter(dim as i64 - rank as i64).unwrap(), letter);
                assert_eq!(shape.dimension_of_letter(letter).unwrap(), dim);
            }
            assert!(shape.dimension_of_letter('X').is_err() && shape.dimension_letter(rank as i64).is_err());
        }
        assert_eq!(array(&[7, 7]).dimension_of_letter('z').unwrap_err().accepted(), Some("y, x"));
        for rank in [0, 1, 5, 6] {
            assert!(array(&vec![7; rank]).dimension_of_letter('x').is_err());
            assert!(array(&vec![7; rank]).dimension_letter(-1).is_err());
        }
    }

    #[test]
    fn a_dimension_is_effectively_most_major_behind_size_one_only() {
        let shape = array(&[1, 4, 1]).with_layout(Layout::new([2, 1, 0]).unwrap()).unwrap();
        let most_major: Vec<bool> =
            (0..3).map(|dim| shape.is_effectively_most_major_dimension(dim).unwrap()).collect();
        assert_eq!(most_major, [true, true, false]);
        assert!(shape.is_effectively_most_major_dimension(3).is_err());
        assert!(shape.without_layout().is_effectively_most_major_dimension(0).is_err());
    }

    #[test]
    fn consecutive_dimensions_may_come_in_any_order_but_once() {
        let layout = Layout::new([3, 0, 2, 1]).unwrap();
        for (dims, consecutive) in [
            (&[][..], true),
            (&[2], true),
            (&[1, 2], true),
            (&[1, 0], false),
            (&[1, 3, 2, 0], true),
            (&[1, 3, 2], false),
            (&[1, 1], false),
        ] {
            assert_eq!(layout.are_dimensions_consecutive(dims).unwrap(), consecutive, "{dims:?}");
        }
        assert!(layout.are_dimensions_consecutive(&[1, 4]).is_err());
    }
}
