//! Functions on lists of numbers.

use std::cmp::Ordering;

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::{
    Element,
    xla::{self, ArrayShape, Layout, Tile},
};

use super::{layout, primitive};
use crate::error::Result;
use crate::plain;

/// The letters of XLA's document on shapes for the dimensions of an array of this rank; None but for 2, 3 and 4.
///
/// >>> from tilework import xla
/// >>> xla.dimension_letters(4)
/// ('p', 'z', 'y', 'x')
#[pyfunction]
pub fn dimension_letters<'py>(
    py: Python<'py>,
    rank: &Bound<'py, PyAny>,
) -> Result<Option<Bound<'py, PyTuple>>> {
    let letters = xla::dimension_letters(plain::place(rank, "rank")?);
    Ok(letters.map(|letters| PyTuple::new(py, letters)).transpose()?)
}

/// The place of an element in a row-major array: `linear_index(e, d)` of XLA's document on tiled layouts.
///
/// >>> from tilework import xla
/// >>> xla.linear_index((2, 3), (3, 5))
/// 13
#[pyfunction]
pub fn linear_index(index: &Bound<'_, PyAny>, dims: &Bound<'_, PyAny>) -> Result<u64> {
    let (index, dims) = (plain::counts(index, "index")?, plain::counts(dims, "dims")?);
    Ok(ArrayShape::new(Element::U8, dims)?.offset(&index)?)
}

/// The place of an element in a row-major array that is cut into tiles, one level after another; '*' combines.
///
/// >>> from tilework import xla
/// >>> xla.tiled_index((2, 3), (3, 5), (2, 2))
/// 17
#[pyfunction]
#[pyo3(signature = (index, dims, *tiles))]
pub fn tiled_index(
    index: &Bound<'_, PyAny>,
    dims: &Bound<'_, PyAny>,
    tiles: &Bound<'_, PyTuple>,
) -> Result<u64> {
    let (index, dims) = (plain::counts(index, "index")?, plain::counts(dims, "dims")?);
    let tiles: Vec<Tile> = tiles.iter().map(|sizes| layout::tile(&sizes)).collect::<Result<_>>()?;
    let layout = Layout::descending(dims.len()).with_tiles(tiles)?;
    Ok(ArrayShape::new(Element::U8, dims)?.with_layout(layout)?.offset(&index)?)
}

/// XLA's `CommonFactors`: where two lists of sizes of equal product can be cut into groups of equal product.
///
/// >>> from tilework import xla
/// >>> xla.common_factors((7, 9, 2, 15), (63, 6, 5))
/// [(0, 0), (2, 1), (4, 3)]
#[pyfunction]
pub fn common_factors(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> Result<Vec<(usize, usize)>> {
    Ok(xla::common_factors(&plain::counts(a, "sizes")?, &plain::counts(b, "sizes")?)?)
}

/// XLA's `CompareIndices`: -1, 0 or 1 as `bump_indices` meets the first before, with or after the second.
///
/// >>> from tilework import xla
/// >>> xla.compare_indices((0, 2), (1, 0))
/// -1
#[pyfunction]
pub fn compare_indices(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> Result<i32> {
    Ok(match xla::compare_indices(&plain::counts(lhs, "index")?, &plain::counts(rhs, "index")?)? {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    })
}

/// XLA's `ByteStridesIsMajorToMinor`: whether strides in bytes are those of a packed row-major array.
///
/// >>> from tilework import xla
/// >>> xla.byte_strides_is_major_to_minor((3960, 440, 44, 4), (8, 9, 10, 11), "f32")
/// True
#[pyfunction]
pub fn byte_strides_is_major_to_minor(
    byte_strides: &Bound<'_, PyAny>,
    dims: &Bound<'_, PyAny>,
    element_type: &Bound<'_, PyAny>,
) -> Result<bool> {
    let (strides, dims) = (plain::wholes(byte_strides, "byte strides")?, plain::counts(dims, "dims")?);
    Ok(xla::byte_strides_is_major_to_minor(&strides, &dims, primitive::given_element(element_type)?)?)
}
