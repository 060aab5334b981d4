//! Whether a reshape or a transpose moves data, and what a bitcast is made of.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::xla::{Bitcast, TransposeReshapeTranspose};

use super::shape::{self, PyShape, written};
use crate::answer::PyVerdict;
use crate::error::Result;
use crate::plain;

/// A bitcast as a reshape, a transpose, or a transpose to row-major order, a reshape and another transpose.
///
/// >>> from tilework import xla
/// >>> xla.Shape("f32[3,7,6,4]").decompose_bitcast("f32[3,6,4,7]{2,1,3,0}")
/// <bitcast: transpose (0, 2, 3, 1)>
#[pyclass(frozen, name = "Bitcast", module = "tilework.xla", eq)]
#[derive(PartialEq)]
pub struct PyBitcast {
    bitcast: Bitcast,
}

impl PyBitcast {
    fn steps(&self) -> Option<&TransposeReshapeTranspose> {
        match &self.bitcast {
            Bitcast::TransposeReshapeTranspose(steps) => Some(steps),
            _ => None,
        }
    }
}

fn tuple<'py>(py: Python<'py>, dims: Option<&[usize]>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    dims.map(|dims| PyTuple::new(py, dims)).transpose()
}

#[pymethods]
impl PyBitcast {
    /// 'reshape', 'transpose' or 'transpose_reshape_transpose'.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.bitcast {
            Bitcast::Reshape => "reshape",
            Bitcast::Transpose { .. } => "transpose",
            Bitcast::TransposeReshapeTranspose(_) => "transpose_reshape_transpose",
        }
    }

    /// Of a transpose: for each dimension of the output the one of the input.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.bitcast {
            Bitcast::Transpose { dims } => tuple(py, Some(dims)),
            _ => Ok(None),
        }
    }

    /// Of three steps: for each dimension of `transpose1_shape` the one of the input.
    #[getter]
    fn transpose1_dims<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        tuple(py, self.steps().map(|steps| &steps.transpose1_dims[..]))
    }

    /// Of three steps: the input with its dimensions in the order of memory, so that it is row-major.
    #[getter]
    fn transpose1_shape(&self) -> Option<PyShape> {
        self.steps().map(|steps| PyShape { shape: steps.transpose1_shape.clone().into() })
    }

    /// Of three steps: the output with its dimensions in the order of memory, so that it is row-major.
    #[getter]
    fn reshape_shape(&self) -> Option<PyShape> {
        self.steps().map(|steps| PyShape { shape: steps.reshape_shape.clone().into() })
    }

    /// Of three steps: for each dimension of the output the one of `reshape_shape`.
    #[getter]
    fn transpose2_dims<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        tuple(py, self.steps().map(|steps| &steps.transpose2_dims[..]))
    }

    /// Of three steps: whether the first transpose changes nothing.
    #[getter]
    fn is_transpose1_identity(&self) -> Option<bool> {
        self.steps().map(TransposeReshapeTranspose::is_transpose1_identity)
    }

    /// Of three steps: whether the second transpose changes nothing.
    #[getter]
    fn is_transpose2_identity(&self) -> Option<bool> {
        self.steps().map(TransposeReshapeTranspose::is_transpose2_identity)
    }

    fn __repr__(&self) -> String {
        match &self.bitcast {
            Bitcast::Reshape => "<bitcast: reshape>".to_owned(),
            Bitcast::Transpose { dims } => format!("<bitcast: transpose {}>", written(dims)),
            Bitcast::TransposeReshapeTranspose(steps) => format!(
                "<bitcast: transpose {} to {}, reshape to {}, transpose {}>",
                written(&steps.transpose1_dims),
                steps.transpose1_shape,
                steps.reshape_shape,
                written(&steps.transpose2_dims)
            ),
        }
    }
}

#[pymethods]
impl PyShape {
    /// Whether a reshape to another array moves no data, tiles and all.
    ///
    /// >>> from tilework import xla
    /// >>> bool(xla.Shape("f32[8,256]{1,0:T(8,128)}").reshape_is_bitcast("f32[2048]"))
    /// False
    #[pyo3(signature = (output, *, ignore_element_type=false))]
    fn reshape_is_bitcast(&self, output: &Bound<'_, PyAny>, ignore_element_type: bool) -> Result<PyVerdict> {
        let output = shape::given_array(output)?;
        Ok(PyVerdict::new(self.array()?.reshape_is_bitcast(&output, ignore_element_type)?))
    }

    /// Whether a transpose to another array moves no data, where mapping[k] is the dimension here that becomes
    /// dimension k there.
    #[pyo3(signature = (output, mapping, *, ignore_element_type=false))]
    fn transpose_is_bitcast(
        &self,
        output: &Bound<'_, PyAny>,
        mapping: &Bound<'_, PyAny>,
        ignore_element_type: bool,
    ) -> Result<PyVerdict> {
        let (output, mapping) = (shape::given_array(output)?, self.dims(mapping)?);
        let verdict = self.array()?.transpose_is_bitcast(&output, &mapping, ignore_element_type)?;
        Ok(PyVerdict::new(verdict))
    }

    /// XLA's `ReshapeIsBitcast`, which ignores tiles, `E`, `L` and `S`.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,4]").reshape_is_bitcast_untiled("f32[12]")
    /// True
    #[pyo3(signature = (output, *, ignore_element_type=false))]
    fn reshape_is_bitcast_untiled(
        &self,
        output: &Bound<'_, PyAny>,
        ignore_element_type: bool,
    ) -> Result<bool> {
        Ok(self.array()?.reshape_is_bitcast_untiled(&shape::given_array(output)?, ignore_element_type)?)
    }

    /// XLA's `TransposeIsBitcast`, which compares the orders of the dimensions alone.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,5]").transpose_is_bitcast_by_order("f32[5,10]{0,1}", (1, 0))
    /// True
    #[pyo3(signature = (output, mapping, *, ignore_element_type=false))]
    fn transpose_is_bitcast_by_order(
        &self,
        output: &Bound<'_, PyAny>,
        mapping: &Bound<'_, PyAny>,
        ignore_element_type: bool,
    ) -> Result<bool> {
        let (output, mapping) = (shape::given_array(output)?, self.dims(mapping)?);
        Ok(self.array()?.transpose_is_bitcast_by_order(&output, &mapping, ignore_element_type)?)
    }

    /// XLA's `IsReshapeOrTransposeBitcast`: equal, or a reshape or a transpose is a bitcast when tiles are ignored.
    #[pyo3(signature = (output, *, ignore_element_type=false))]
    fn is_reshape_or_transpose_bitcast_untiled(
        &self,
        output: &Bound<'_, PyAny>,
        ignore_element_type: bool,
    ) -> Result<bool> {
        let output = shape::given_array(output)?;
        Ok(self.array()?.is_reshape_or_transpose_bitcast_untiled(&output, ignore_element_type)?)
    }

    /// XLA's `DeduceTransposeDimensionsForBitcast`: the transpose to another array that is a bitcast when tiles are
    /// ignored, or None.
    fn deduce_transpose_dimensions_for_bitcast<'py>(
        &self,
        py: Python<'py>,
        output: &Bound<'py, PyAny>,
    ) -> Result<Option<Bound<'py, PyTuple>>> {
        let dims = self.array()?.deduce_transpose_dimensions_for_bitcast(&shape::given_array(output)?)?;
        Ok(tuple(py, dims.as_deref())?)
    }

    /// XLA's `IsDecomposableBitcast`: both are arrays with layouts and as many elements.
    fn is_decomposable_bitcast(&self, output: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.shape.is_decomposable_bitcast(&shape::given(output)?))
    }

    /// XLA's `DecomposeBitcast`: the bitcast to another array as a reshape, a transpose or both; None if there is none.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[1,16,17,3]").decompose_bitcast("f32[16,51]")
    /// <bitcast: reshape>
    fn decompose_bitcast(&self, output: &Bound<'_, PyAny>) -> Result<Option<PyBitcast>> {
        let bitcast = self.array()?.decompose_bitcast(&shape::given_array(output)?)?;
        Ok(bitcast.map(|bitcast| PyBitcast { bitcast }))
    }

    /// XLA's `DecomposeBitcastToTrt`: the bitcast to another array as a transpose, a reshape and a transpose.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3]{0,1}").decompose_bitcast_to_trt("f32[6]")
    /// <bitcast: transpose (1, 0) to f32[3,2]{1,0}, reshape to f32[6]{0}, transpose (0,)>
    fn decompose_bitcast_to_trt(&self, output: &Bound<'_, PyAny>) -> Result<Option<PyBitcast>> {
        let steps = self.array()?.decompose_bitcast_to_trt(&shape::given_array(output)?)?;
        let bitcast = |steps| Bitcast::TransposeReshapeTranspose(Box::new(steps));
        Ok(steps.map(|steps| PyBitcast { bitcast: bitcast(steps) }))
    }

    /// XLA's `AlignLayouts`: the output with the dimension order that makes the reshape a bitcast, or None.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,8,5,7,11]{3,2,1,0,4}").align_layouts("f32[4,3,2,7,5,11]")
    /// tilework.xla.Shape('f32[4,3,2,7,5,11]{4,3,2,1,0,5}')
    fn align_layouts(&self, output: &Bound<'_, PyAny>) -> Result<Option<PyShape>> {
        let aligned = self.array()?.align_layouts(&shape::given_array(output)?)?;
        Ok(aligned.map(|array| PyShape { shape: array.into() }))
    }

    /// XLA's `DimensionsUnmodifiedByReshape`: pairs of a dimension here and one of the output that are the same.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[7,9,2,15,4]").dimensions_unmodified_by_reshape("f32[63,6,5,4]")
    /// [(4, 3)]
    fn dimensions_unmodified_by_reshape(&self, output: &Bound<'_, PyAny>) -> Result<Vec<(usize, usize)>> {
        Ok(self.array()?.dimensions_unmodified_by_reshape(&shape::given_array(output)?)?)
    }

    /// XLA's `ReshapeLeavesDimensionsUnmodified`: the dimensions of the output that these become, or None.
    fn reshape_leaves_dimensions_unmodified<'py>(
        &self,
        py: Python<'py>,
        output: &Bound<'py, PyAny>,
        input_dims: &Bound<'py, PyAny>,
    ) -> Result<Option<Bound<'py, PyTuple>>> {
        let (output, dims) = (shape::given_array(output)?, plain::places(input_dims, "dimension")?);
        let found = self.array()?.reshape_leaves_dimensions_unmodified(&output, &dims)?;
        Ok(tuple(py, found.as_deref())?)
    }

    /// XLA's `InsertedOrDeleted1SizedDimensions`: the dimensions that the output has not, and those that it has more;
    /// None if the two differ by other sizes than 1.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[1,3]").inserted_or_deleted_1_sized_dimensions("f32[3,1,1]")
    /// ((0,), (1, 2))
    fn inserted_or_deleted_1_sized_dimensions<'py>(
        &self,
        py: Python<'py>,
        output: &Bound<'py, PyAny>,
    ) -> Result<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        match self.array()?.inserted_or_deleted_1_sized_dimensions(&shape::given_array(output)?)? {
            Some(found) => Ok(Some((PyTuple::new(py, found.deleted)?, PyTuple::new(py, found.inserted)?))),
            None => Ok(None),
        }
    }
}
