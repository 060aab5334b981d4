//! Indices of an array in dimension order: XLA's `IndexUtil`.
//!
//! XLA's functions know only `minor_to_major`, so they say nothing true about a tiled layout; that is why they are
//! called `untiled` here. XLA never wrote them for `padded_dimensions`; here they step over the padding as the
//! document has it, and a linear index can then be padding.

use std::cmp::Ordering;

use crate::error::{Error, Result, counted};
use crate::xla::utilities::make::unbounded;
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::ArrayShape;

impl ArrayShape {
    /// XLA's `IndexUtil::MultidimensionalIndexToLinearIndex`: the place of an element when the tiles are ignored.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let shape = ArrayShape::new(Element::F32, [10, 20u64])?.with_layout(Layout::new([0, 1])?)?;
    /// assert_eq!(shape.linear_index_untiled(&[3, 5])?, 53);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An index of another rank or outside the sizes, no layout, free strides, an unbounded dimension, more places
    /// than 63 bits can count.
    pub fn linear_index_untiled(&self, index: &[u64]) -> Result<u64> {
        self.check_index(index)?;
        let (mut place, mut stride) = (0, 1);
        for &dim in self.dimension_order()? {
            place = add(place, multiply(index[dim], stride)?)?;
            stride = multiply(stride, self.allocated_size(dim)?)?;
        }
        Ok(place)
    }

    /// XLA's `IndexUtil::LinearIndexToMultidimensionalIndex`: the element at a place when the tiles are ignored.
    ///
    /// # Errors
    /// A place past the end or in the padding of `padded_dimensions`, no layout, free strides, an unbounded dimension.
    pub fn multidimensional_index_untiled(&self, linear: u64) -> Result<Vec<u64>> {
        let mut index = vec![0; self.rank()];
        let mut rest = linear;
        for &dim in self.dimension_order()? {
            let allocated = self.allocated_size(dim)?;
            if allocated == 0 {
                return Err(no_element(linear, "the array has no elements"));
            }
            index[dim] = rest % allocated;
            rest /= allocated;
        }
        if rest > 0 {
            return Err(no_element(linear, "it is past the end of the array"));
        }
        match index.iter().zip(self.dims()).position(|(&at, dim)| Some(at) >= dim.bound()) {
            Some(dim) => Err(no_element(linear, &format!("it is padding of dimension {dim}"))),
            None => Ok(index),
        }
    }

    /// XLA's `IndexUtil::GetDimensionStride`: elements between neighbours along a dimension when the tiles are ignored.
    ///
    /// # Errors
    /// A dimension outside the rank, no layout, free strides, a more minor dimension that is unbounded, a stride above 63 bits.
    pub fn dimension_stride_untiled(&self, dim: usize) -> Result<u64> {
        self.check_dimension(dim)?;
        let more_minor = self.dimension_order()?.iter().take_while(|&&minor| minor != dim);
        let sizes: Vec<u64> = more_minor.map(|&minor| self.allocated_size(minor)).collect::<Result<_>>()?;
        product(sizes).ok_or_else(too_many)
    }

    /// XLA's `IndexUtil::BumpIndices`: steps to the next index, the last dimension fastest whatever the layout.
    ///
    /// False at the last index, which then stays as it is. Of an array without elements always false.
    ///
    /// ```
    /// use tilework::{Element, xla::ArrayShape};
    /// let shape = ArrayShape::new(Element::F32, [2, 3u64])?;
    /// let mut index = [0, 2];
    /// assert!(shape.bump_indices(&mut index)?);
    /// assert_eq!(index, [1, 0]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An index of another rank or outside the sizes, an unbounded dimension.
    pub fn bump_indices(&self, index: &mut [u64]) -> Result<bool> {
        if self.dims().iter().any(|dim| dim.bound() == Some(0)) {
            return self.check_index_rank(index).map(|()| false);
        }
        self.check_index(index)?;
        for number in (0..index.len()).rev() {
            let size = self.dims()[number].bound().ok_or_else(|| unbounded(number))?;
            if index[number] + 1 < size {
                index[number] += 1;
                index[number + 1..].fill(0);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// XLA's `IndexUtil::IndexInBounds`: the index has the rank of the array, and every number is below its size.
    ///
    /// As in XLA, nothing is in the bounds of an array with an unbounded dimension.
    pub fn index_in_bounds(&self, index: &[u64]) -> bool {
        index.len() == self.rank() && index.iter().zip(self.dims()).all(|(&at, dim)| Some(at) < dim.bound())
    }

    /// Says which number of the index is outside which size.
    pub(crate) fn check_index(&self, index: &[u64]) -> Result<()> {
        self.check_index_rank(index)?;
        for (number, (&at, dim)) in index.iter().zip(self.dims()).enumerate() {
            let size = dim.bound().ok_or_else(|| unbounded(number))?;
            if at >= size {
                return Err(Error::new(format!("index {at} in dimension {number} of size {size}"))
                    .field("index")
                    .rule("an index is below the size of its dimension")
                    .accepts(match size {
                        0 => "nothing: the array has no elements".to_owned(),
                        _ => format!("0 to {}", size - 1),
                    }));
            }
        }
        Ok(())
    }

    fn check_index_rank(&self, index: &[u64]) -> Result<()> {
        if index.len() == self.rank() {
            return Ok(());
        }
        Err(Error::new(format!(
            "an index of {} for {}",
            counted(index.len() as u64, "number"),
            counted(self.rank() as u64, "dimension")
        ))
        .field("index")
        .rule("an index has one number for each dimension")
        .accepts(counted(self.rank() as u64, "number")))
    }

    /// The dimensions in the order of memory, the most minor first.
    pub(crate) fn dimension_order(&self) -> Result<&[usize]> {
        self.require_layout()?.order()
    }

    /// The size of a dimension as far as `padded_dimensions` allocates it.
    pub(crate) fn allocated_size(&self, dim: usize) -> Result<u64> {
        match self.layout().and_then(Layout::padding) {
            Some(padding) => Ok(padding.padded_dimensions[dim]),
            None => self.dims()[dim].bound().ok_or_else(|| unbounded(dim)),
        }
    }
}

/// XLA's `IndexUtil::CompareIndices`: the order in which [`ArrayShape::bump_indices`] meets two indices.
///
/// Less when `lhs` comes first, as XLA's code has it; the comment in XLA's header says the opposite.
///
/// # Errors
/// Indices of different length, where XLA aborts.
pub fn compare_indices(lhs: &[u64], rhs: &[u64]) -> Result<Ordering> {
    if lhs.len() != rhs.len() {
        return Err(Error::new(format!("indices of {} and {} numbers", lhs.len(), rhs.len()))
            .field("index")
            .rule("indices of one array have the same length"));
    }
    Ok(lhs.cmp(rhs))
}

fn no_element(linear: u64, why: &str) -> Error {
    Error::new(format!("no element at place {linear}")).field("linear index").rule(why)
}

/// The product of sizes, or none when it is above `i64::MAX`. A 0 among them makes it 0, whatever the order.
pub(crate) fn product(sizes: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut product = Some(1u64);
    for size in sizes {
        match size {
            0 => return Some(0),
            _ => product = product.and_then(|product| within(product.checked_mul(size)?)),
        }
    }
    product
}

/// The product, which counts places.
///
/// # Errors
/// Above `i64::MAX`.
pub(crate) fn multiply(a: u64, b: u64) -> Result<u64> {
    a.checked_mul(b).and_then(within).ok_or_else(too_many)
}

/// The sum, which counts places.
///
/// # Errors
/// Above `i64::MAX`.
pub(crate) fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).and_then(within).ok_or_else(too_many)
}

fn within(places: u64) -> Option<u64> {
    (places <= i64::MAX as u64).then_some(places)
}

/// The error of a count that leaves 63 bits.
pub(crate) fn too_many() -> Error {
    Error::new("more places than 63 bits can count")
        .field("dimensions")
        .rule("sizes, strides and offsets are at most 9223372036854775807")
        .accepts("smaller dimensions, tiles or padding")
}
