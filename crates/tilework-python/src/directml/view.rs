//! Other indices to the same places, or why data must be moved.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::directml::{BufferTensorDesc, CopyNeeded, SubView, ViewOrCopy};

use super::buffer::PyBufferTensorDesc;
use super::name;
use crate::error::Result;
use crate::plain;
use crate::read;

/// Why data must be moved: two dimensions that would become one and are not one run. It is False in a condition.
///
/// >>> from tilework import directml
/// >>> needed = directml.BufferTensorDesc("FLOAT32 NHWC [1,3,8,8]").reshape(1, 192)
/// >>> needed.dims, needed.stride, needed.wanted
/// ((1, 2), 1, 192)
#[pyclass(frozen, name = "CopyNeeded", module = "tilework.directml", eq)]
#[derive(PartialEq)]
pub struct PyCopyNeeded {
    needed: CopyNeeded,
}

#[pymethods]
impl PyCopyNeeded {
    /// The outer and the inner dimension.
    #[getter]
    fn dims(&self) -> (usize, usize) {
        self.needed.dims
    }

    /// The stride of the outer one.
    #[getter]
    fn stride(&self) -> u64 {
        self.needed.stride
    }

    /// The stride it would have to have: the inner one's stride times its size.
    #[getter]
    fn wanted(&self) -> u128 {
        self.needed.wanted
    }

    fn __bool__(&self) -> bool {
        false
    }

    fn __str__(&self) -> String {
        self.needed.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<copy needed: {}>", self.needed)
    }
}

/// A view, and how many elements its first one is behind that of the original.
#[pyclass(frozen, name = "SubView", module = "tilework.directml", eq)]
#[derive(PartialEq)]
pub struct PySubView {
    pub view: SubView,
}

#[pymethods]
impl PySubView {
    /// The view.
    #[getter]
    fn desc(&self) -> PyBufferTensorDesc {
        self.view.desc.clone().into()
    }

    /// Elements to add to the offset of the binding.
    #[getter]
    fn offset(&self) -> u64 {
        self.view.offset
    }

    /// The offset in bytes, which is what a binding takes; None if it is not whole.
    #[getter]
    fn offset_bytes(&self) -> Option<u64> {
        self.view.offset_bytes()
    }

    fn __repr__(&self) -> String {
        format!("<{}, at offset {}>", self.view.desc, self.view.offset)
    }
}

/// A view, or why there is none: one of two types.
fn answer<'py>(py: Python<'py>, answer: ViewOrCopy) -> Result<Bound<'py, PyAny>> {
    Ok(match answer {
        ViewOrCopy::View(desc) => Bound::new(py, PyBufferTensorDesc { desc })?.into_any(),
        ViewOrCopy::Copy(needed) => Bound::new(py, PyCopyNeeded { needed })?.into_any(),
    })
}

impl PyBufferTensorDesc {
    /// A dimension, where −1 is the last.
    pub fn dim(&self, dim: &Bound<'_, PyAny>) -> Result<usize> {
        read::dimension(plain::whole(dim, "dim")?, self.desc.rank())
    }

    fn viewed(desc: tilework::Result<BufferTensorDesc>) -> Result<PyBufferTensorDesc> {
        Ok(PyBufferTensorDesc { desc: desc? })
    }
}

#[pymethods]
impl PyBufferTensorDesc {
    /// The same tensor with these strides: 0 broadcasts, larger than packed pads.
    fn with_strides(&self, strides: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.with_strides(&plain::narrows(strides, "Strides")?))
    }

    /// The same tensor packed in the order of its sizes, without strides.
    fn without_strides(&self) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.without_strides())
    }

    /// The same tensor; strides that say nothing beyond the packed ones are left out.
    fn without_redundant_strides(&self) -> PyBufferTensorDesc {
        self.desc.without_redundant_strides().into()
    }

    /// The same tensor with its strides written out.
    fn with_explicit_strides(&self) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.with_explicit_strides())
    }

    /// The same tensor with a declared total.
    fn with_declared_total(&self, bytes: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.with_declared_total(plain::count(bytes, "TotalTensorSizeInBytes")?))
    }

    /// The same tensor without a declared total: it is computed.
    fn without_declared_total(&self) -> PyBufferTensorDesc {
        self.desc.without_declared_total().into()
    }

    /// The same tensor with a promise about the offset it will be bound at.
    fn with_alignment(&self, alignment: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.with_alignment(plain::narrow(alignment, "GuaranteedBaseOffsetAlignment")?))
    }

    /// The same tensor with these flags.
    fn with_flags(&self, flags: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Ok(self.desc.with_flags(name::flags(Some(flags))?).into())
    }

    /// The dimensions in another order: dimension k of the view is dimension order[k]. Always a view.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [2,4,5,3]").permute(0, 3, 1, 2)  # NHWC as NCHW
    /// tilework.directml.BufferTensorDesc('FLOAT32 [2,3,4,5] strides [60,1,15,3]')
    #[pyo3(signature = (*order))]
    fn permute(&self, order: &Bound<'_, PyTuple>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.permute(&read::dimensions(order, self.desc.rank())?))
    }

    /// ONNX Runtime's way with axes: some may be dropped, repeated, or beyond the rank.
    fn gather_axes_like_onnx_runtime(&self, axes: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.gather_axes_like_onnx_runtime(&plain::places(axes, "axes")?))
    }

    /// The same elements in row-major order of the index under other sizes, as a view or as the reason for a copy.
    ///
    /// >>> from tilework import directml
    /// >>> nhwc = directml.BufferTensorDesc("FLOAT32 NHWC [1,3,8,8]")
    /// >>> nhwc.reshape(1, 3, 64)
    /// tilework.directml.BufferTensorDesc('FLOAT32 [1,3,64] strides [192,1,3]')
    /// >>> print(nhwc.reshape(1, 192))
    /// dimensions 1 and 2 cannot become one: the stride of dimension 1 is 1, and one run would need 192
    #[pyo3(signature = (*sizes))]
    fn reshape<'py>(&self, py: Python<'py>, sizes: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyAny>> {
        let sizes = read::sizes(sizes, self.desc.elements())?;
        let narrow = |size: u64| u32::try_from(size).map_err(|_| beyond(size));
        let sizes: Vec<u32> = sizes.into_iter().map(narrow).collect::<tilework::Result<_>>()?;
        answer(py, self.desc.reshape(&sizes)?)
    }

    /// The same elements in this number of dimensions, the leading or the trailing ones folded into one.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [2,2,3] strides [0,0,1]").fold(2, "leading")
    /// tilework.directml.BufferTensorDesc('FLOAT32 [4,3] strides [0,1]')
    fn fold<'py>(&self, py: Python<'py>, rank: &Bound<'py, PyAny>, fold: &str) -> Result<Bound<'py, PyAny>> {
        answer(py, self.desc.fold(plain::place(rank, "rank")?, name::fold(fold)?)?)
    }

    /// The same elements in two dimensions: those before the axis and those from it on. ONNX's flatten.
    fn flatten<'py>(&self, py: Python<'py>, axis: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        answer(py, self.desc.flatten(plain::place(axis, "axis")?)?)
    }

    /// Why not all dimensions are one run; None if they are.
    fn collapse(&self) -> Option<PyCopyNeeded> {
        self.desc.collapse().map(|needed| PyCopyNeeded { needed })
    }

    /// The same elements in as few dimensions as strides allow. Always a view.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [4,1,3,8] strides [24,0,8,1]").coalesce()
    /// tilework.directml.BufferTensorDesc('FLOAT32 [96] strides [1]')
    fn coalesce(&self) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.coalesce())
    }

    /// Without the dimensions of size 1 among these; all of them if none are named.
    #[pyo3(signature = (*dims))]
    fn squeeze(&self, dims: &Bound<'_, PyTuple>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.squeeze(&read::dimensions(dims, self.desc.rank())?))
    }

    /// With a dimension of size 1 before this dimension; the rank stands for the end.
    fn unsqueeze(&self, dim: &Bound<'_, PyAny>) -> Result<PyBufferTensorDesc> {
        Self::viewed(self.desc.unsqueeze(plain::place(dim, "dim")?))
    }

    /// Every step-th element of a dimension, from start up to, not including, stop. Always a view, at an offset.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [4,10]").slice(1, 1, 8, 3)
    /// <FLOAT32 [4,3] strides [10,3], at offset 1>
    #[pyo3(signature = (dim, start, stop, step=None))]
    fn slice(
        &self,
        dim: &Bound<'_, PyAny>,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
    ) -> Result<PySubView> {
        let range = plain::count(start, "start")?..plain::count(stop, "stop")?;
        let step = step.map_or(Ok(1), |step| plain::count(step, "step"))?;
        Ok(PySubView { view: self.desc.slice(self.dim(dim)?, range, step)? })
    }

    /// A box within the tensor: its first index and its sizes.
    ///
    /// >>> from tilework import directml
    /// >>> image = directml.BufferTensorDesc("FLOAT32 [1,3,226,226]")
    /// >>> image.sub_view((0, 0, 1, 1), (1, 3, 224, 224))
    /// <FLOAT32 [1,3,224,224] strides [153228,51076,226,1], at offset 227>
    fn sub_view(&self, first: &Bound<'_, PyAny>, sizes: &Bound<'_, PyAny>) -> Result<PySubView> {
        let (first, sizes) = (plain::narrows(first, "first")?, plain::narrows(sizes, "Sizes")?);
        Ok(PySubView { view: self.desc.sub_view(&first, &sizes)? })
    }

    /// Other sizes and strides, and another type, over the bytes of this tensor. The total stays.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("FLOAT32 [16,4,4,10]").reinterpret((2560,), data_type="INT32")
    /// tilework.directml.BufferTensorDesc('INT32 [2560]')
    #[pyo3(signature = (sizes, strides=None, *, data_type=None))]
    fn reinterpret(
        &self,
        sizes: &Bound<'_, PyAny>,
        strides: Option<&Bound<'_, PyAny>>,
        data_type: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyBufferTensorDesc> {
        let data_type = data_type.map_or(Ok(self.desc.data_type()), name::data_type)?;
        let sizes = plain::narrows(sizes, "Sizes")?;
        let strides = strides.map(|said| plain::narrows(said, "Strides")).transpose()?;
        Self::viewed(self.desc.reinterpret(data_type, &sizes, strides.as_deref()))
    }
}

fn beyond(size: u64) -> tilework::Error {
    tilework::Error::new(size.to_string()).field("Sizes").accepts(format!("1 to {}", u32::MAX))
}
