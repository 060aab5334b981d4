//! Where an element is and which element is there: as documented, and by XLA's first tile.

use pyo3::prelude::*;
use pyo3::types::PyAny;

use super::shape::PyShape;
use crate::error::Result;
use crate::plain;

#[pymethods]
impl PyShape {
    /// The offset of an element, in elements from the start of the buffer, tiles and all.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,5]{1,0:T(2,2)}").offset((2, 3))
    /// 17
    fn offset(&self, index: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(self.array()?.offset(&plain::counts(index, "index")?)?)
    }

    /// XLA's `LinearIndex`: the place of an element by the first tile alone.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,5]{1,0:T(2,2)}").linear_index_by_first_tile((2, 3))
    /// 17
    fn linear_index_by_first_tile(&self, index: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(self.array()?.linear_index_by_first_tile(&plain::counts(index, "index")?)?)
    }
}
