//! More dimensions, or fewer without joining any, broadcasting, and other types over the same bytes.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::directml as dml;

use super::buffer::PyBufferTensorDesc;
use super::name;
use crate::error::Result;
use crate::plain;

#[pymethods]
impl PyBufferTensorDesc {
    /// At least `rank` dimensions, by sizes of 1 in front ('trailing') or behind ('leading').
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [3,5]").with_min_rank(4)
    /// tilework.directml.BufferTensorDesc('FLOAT32 [1,1,3,5] strides [0,0,5,1]')
    #[pyo3(signature = (rank, align="trailing"))]
    fn with_min_rank(&self, rank: &Bound<'_, PyAny>, align: &str) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.with_min_rank(plain::place(rank, "rank")?, name::align(align)?)?.into())
    }

    /// Dimension i of this tensor as dimension axes[i] of one with `rank` dimensions; the others are of size 1.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [2,3]").place_at_axes(4, (1, 3))
    /// tilework.directml.BufferTensorDesc('FLOAT32 [1,2,1,3] strides [0,3,0,1]')
    fn place_at_axes(&self, rank: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.place_at_axes(plain::place(rank, "rank")?, &plain::places(axes, "axes")?)?.into())
    }

    /// Only `rank` dimensions: the first are dropped ('trailing') or the last ('leading'), which must be of size 1.
    #[pyo3(signature = (rank, align="trailing"))]
    fn truncate(&self, rank: &Bound<'_, PyAny>, align: &str) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.truncate(plain::place(rank, "rank")?, name::align(align)?)?.into())
    }

    /// The sizes, packed in the order of `layout`, as dimensions N, C, (D,) H, W; what is not named is of size 1.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [2,3,4,5]").scatter("NHWC")
    /// tilework.directml.BufferTensorDesc('FLOAT32 [2,5,3,4] strides [60,1,20,5]')
    fn scatter(&self, layout: &str) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.scatter(layout)?.into())
    }

    /// Repeated to larger sizes by strides of 0; the last `ignored` dimensions are left alone. Always a view.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [2,1,4] strides [4,4,1]").broadcast_to((5, 2, 3, 4))
    /// tilework.directml.BufferTensorDesc('FLOAT32 [5,2,3,4] strides [0,4,0,1]')
    #[pyo3(signature = (sizes, ignored=None))]
    fn broadcast_to(
        &self,
        sizes: &Bound<'_, PyAny>,
        ignored: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyBufferTensorDesc> {
        let ignored = ignored.map_or(Ok(0), |said| plain::place(said, "ignored"))?;
        Ok(self.desc.broadcast_to(&plain::narrows(sizes, "Sizes")?, ignored)?.into())
    }

    /// Whether the tensor, its sizes named by letters, is packed in this order.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [1,2,3,5] strides [30,1,10,2]").fits_order("NCHW", "NHWC")
    /// True
    fn fits_order(&self, letters: &str, order: &str) -> Result<bool> {
        Ok(self.desc.fits_order(letters, order)?)
    }

    /// Every name of a layout that fits the tensor: packed, in that order. None for a tensor that is not packed.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [2,3] strides [1,2]").layout_names()
    /// ['WH', 'CN']
    fn layout_names(&self) -> Vec<&'static str> {
        self.desc.layout_names()
    }

    /// 64-bit integers as their low halves, as ONNX Runtime did: strides doubled, and room for the last high half.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("INT64 [2,3]").emulate_64_bit_like_onnx_runtime()
    /// tilework.directml.BufferTensorDesc('UINT32 [2,3] strides [6,2] total 48')
    fn emulate_64_bit_like_onnx_runtime(&self) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.emulate_64_bit_like_onnx_runtime()?.into())
    }

    /// 64-bit integers as their low halves, as TensorFlow did: strides doubled, and nothing behind the last low half.
    fn emulate_64_bit_like_tensorflow(&self) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.emulate_64_bit_like_tensorflow()?.into())
    }

    /// The low part of every element as a narrower type, little endian.
    fn low_parts(&self, data_type: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.low_parts(name::data_type(data_type)?)?.into())
    }

    /// The same tensor with the unsigned type of the same width.
    fn force_unsigned(&self) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.force_unsigned()?.into())
    }
}

/// The sizes with 1s put in until there are `min_rank`: behind the first `left` dimensions, then moved by `placement`.
///
/// >>> from tilework import directml
/// >>> directml.align_dimensions((2, 3, 4), 4, 2, 0)  # N C W as N C 1 W
/// (2, 3, 1, 4)
#[pyfunction]
#[pyo3(signature = (sizes, min_rank, left, placement))]
pub fn align_dimensions<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
    min_rank: &Bound<'py, PyAny>,
    left: &Bound<'py, PyAny>,
    placement: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    let (sizes, min_rank) = (plain::narrows(sizes, "Sizes")?, plain::place(min_rank, "min_rank")?);
    let (left, placement) = (plain::whole(left, "left")?, plain::whole(placement, "placement")?);
    Ok(PyTuple::new(py, dml::align_dimensions(&sizes, min_rank, left, placement)?)?)
}

/// The names of the axes of a tensor of lower rank in TensorFlow's formats.
///
/// >>> from tilework import directml
/// >>> directml.axes_for_rank("NHWC", 2)
/// 'WC'
#[pyfunction]
pub fn axes_for_rank(format: &str, rank: &Bound<'_, PyAny>) -> Result<&'static str> {
    Ok(dml::axes_for_rank(format, plain::place(rank, "rank")?)?)
}

/// The two sizes of a tensor coerced to 2-D at an axis, as ONNX Runtime does.
///
/// >>> from tilework import directml
/// >>> directml.coerce_to_2d((1, 2, 3, 4), 2)
/// (2, 12)
#[pyfunction]
pub fn coerce_to_2d<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
    axis: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    let sizes = dml::coerce_to_2d(&plain::narrows(sizes, "Sizes")?, plain::whole(axis, "axis")?)?;
    Ok(PyTuple::new(py, sizes)?)
}
