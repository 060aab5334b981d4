//! XLA's `IndexUtil`, and visits in the order of memory.

use std::ops::ControlFlow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};

use super::shape::PyShape;
use crate::error::{Bad, Result};
use crate::plain;

#[pymethods]
impl PyShape {
    /// XLA's `MultidimensionalIndexToLinearIndex`: the place of an element when the tiles are ignored.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,20]{0,1}").linear_index_untiled((3, 5))
    /// 53
    fn linear_index_untiled(&self, index: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(self.array()?.linear_index_untiled(&plain::counts(index, "index")?)?)
    }

    /// XLA's `LinearIndexToMultidimensionalIndex`: the element at a place when the tiles are ignored.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,20]{0,1}").multidimensional_index_untiled(53)
    /// (3, 5)
    fn multidimensional_index_untiled<'py>(
        &self,
        py: Python<'py>,
        linear: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyTuple>> {
        let index = self.array()?.multidimensional_index_untiled(plain::count(linear, "linear index")?)?;
        Ok(PyTuple::new(py, index)?)
    }

    /// XLA's `GetDimensionStride`: elements between neighbours along a dimension when the tiles are ignored.
    fn dimension_stride_untiled(&self, dim: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(self.array()?.dimension_stride_untiled(self.dim(dim)?)?)
    }

    /// XLA's `BumpIndices`: the next index, the last dimension fastest whatever the layout; None after the last.
    ///
    /// >>> from tilework import xla
    /// >>> shape = xla.Shape("f32[2,3]")
    /// >>> shape.bump_indices((0, 2)), shape.bump_indices((1, 2))
    /// ((1, 0), None)
    fn bump_indices<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'_, PyAny>,
    ) -> Result<Option<Bound<'py, PyTuple>>> {
        let mut index = plain::counts(index, "index")?;
        match self.array()?.bump_indices(&mut index)? {
            true => Ok(Some(PyTuple::new(py, index)?)),
            false => Ok(None),
        }
    }

    /// XLA's `IndexInBounds`: whether the index has the rank of the array, and every number is within its size.
    fn index_in_bounds(&self, index: &Bound<'_, PyAny>) -> Result<bool> {
        let index: Vec<i64> = plain::wholes(index, "index")?;
        let index: Option<Vec<u64>> = index.into_iter().map(|number| u64::try_from(number).ok()).collect();
        let array = self.array()?;
        Ok(index.is_some_and(|index| array.index_in_bounds(&index)))
    }

    /// XLA's `ForEachIndex`: calls the visitor with every index in the order of memory, until it returns False.
    ///
    /// A window is given by its first index, its sizes and its steps. Returns whether all indices were visited.
    ///
    /// >>> from tilework import xla
    /// >>> seen = []
    /// >>> xla.Shape("f32[2,2]{0,1}").for_each_index(seen.append)
    /// True
    /// >>> seen
    /// [(0, 0), (1, 0), (0, 1), (1, 1)]
    #[pyo3(signature = (visitor, base=None, count=None, incr=None))]
    fn for_each_index(
        &self,
        visitor: &Bound<'_, PyAny>,
        base: Option<&Bound<'_, PyAny>>,
        count: Option<&Bound<'_, PyAny>>,
        incr: Option<&Bound<'_, PyAny>>,
    ) -> Result<bool> {
        let (py, array) = (visitor.py(), self.array()?);
        let visit = |index: &[u64]| {
            // A visitor such as `list.append` runs no Python that would notice somebody who wants to stop.
            let answer = py.check_signals().and_then(|()| visitor.call1((PyTuple::new(py, index)?,)));
            match answer.and_then(|answer| Ok(!answer.is_none() && !answer.is_truthy()?)) {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(None),
                Err(error) => ControlFlow::Break(Some(error)),
            }
        };
        let given = |said: Option<&Bound<'_, PyAny>>, field: &str| {
            said.map(|said| plain::counts(said, field)).transpose()
        };
        let (base, count, incr) = (given(base, "base")?, given(count, "count")?, given(incr, "incr")?);
        let end = match (base, count, incr) {
            (None, None, None) => array.for_each_element(visit)?,
            (Some(base), Some(count), Some(incr)) => array.for_each_index(&base, &count, &incr, visit)?,
            _ => return Err(PyTypeError::new_err("base, count and incr go together").into()),
        };
        match end {
            ControlFlow::Break(Some(error)) => Err(Bad::Python(error)),
            ControlFlow::Break(None) => Ok(false),
            ControlFlow::Continue(()) => Ok(true),
        }
    }
}
