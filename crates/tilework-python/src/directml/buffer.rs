//! `tilework.directml.BufferTensorDesc`: a description that breaks no rule.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use tilework::Element;
use tilework::directml::{BufferTensorDesc, DataType};

use super::desc::{self, Fields, PyDesc};
use super::name;
use super::view::PySubView;
use crate::answer::PyVerdict;
use crate::element;
use crate::error::{Bad, Result};
use crate::layout::PyLayout;
use crate::plain;

/// A description of a tensor in a buffer that breaks no rule: how many elements of which type, and where each lies.
///
/// Made from whatever `Desc` is made from. Strides and offsets count elements, totals count bytes.
///
/// >>> from tilework import directml
/// >>> inner = directml.BufferTensorDesc("FLOAT32 [1,3,224,224] strides [153228,51076,226,1]")
/// >>> inner.total_bytes, inner.offset((0, 0, 1, 1))
/// (611096, 227)
#[pyclass(frozen, name = "BufferTensorDesc", module = "tilework.directml", eq)]
#[derive(Clone, PartialEq)]
pub struct PyBufferTensorDesc {
    pub desc: BufferTensorDesc,
}

impl From<BufferTensorDesc> for PyBufferTensorDesc {
    fn from(desc: BufferTensorDesc) -> PyBufferTensorDesc {
        PyBufferTensorDesc { desc }
    }
}

/// A description of an argument that breaks no rule.
pub fn given(said: &Bound<'_, PyAny>) -> Result<BufferTensorDesc> {
    Ok(desc::given(said)?.build()?)
}

#[pymethods]
impl PyBufferTensorDesc {
    #[new]
    #[pyo3(signature = (spec=None, *, data_type=None, sizes=None, strides=None, total=None, alignment=None,
        flags=None))]
    fn __new__(
        spec: Option<&Bound<'_, PyAny>>,
        data_type: Option<&Bound<'_, PyAny>>,
        sizes: Option<&Bound<'_, PyAny>>,
        strides: Option<&Bound<'_, PyAny>>,
        total: Option<&Bound<'_, PyAny>>,
        alignment: Option<&Bound<'_, PyAny>>,
        flags: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyBufferTensorDesc> {
        let (desc, text) = Fields { data_type, sizes, strides, total, alignment, flags }.read(spec)?;
        match (desc.build(), text) {
            (Ok(desc), _) => Ok(PyBufferTensorDesc { desc }),
            (Err(error), Some(text)) => Err(Bad::within(error, &text)),
            (Err(error), None) => Err(error.into()),
        }
    }

    /// The description of a layout, where one exists, and the offset of its first element.
    ///
    /// The type is that of the layout's elements unless another of the same width is given.
    ///
    /// >>> import tilework
    /// >>> from tilework import directml
    /// >>> inner = tilework.Layout("f32[226,226]")[1:225, 1:225]
    /// >>> directml.BufferTensorDesc.of_layout(inner)
    /// <FLOAT32 [224,224] strides [226,1], at offset 227>
    #[classmethod]
    #[pyo3(signature = (layout, data_type=None))]
    fn of_layout(
        _class: &Bound<'_, PyType>,
        layout: &Bound<'_, PyLayout>,
        data_type: Option<&Bound<'_, PyAny>>,
    ) -> Result<PySubView> {
        let layout = layout.get();
        let data_type = match data_type {
            Some(said) => name::data_type(said)?,
            None => in_directml(layout.element)?,
        };
        Ok(PySubView { view: BufferTensorDesc::lift(&layout.layout, data_type)? })
    }

    /// The name of the type of the elements.
    #[getter]
    fn data_type(&self) -> &'static str {
        self.desc.data_type().name()
    }

    /// NumPy's dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element::dtype(py, self.desc.data_type().element())
    }

    /// The flags: 'NONE' or 'OWNED_BY_DML'.
    #[getter]
    fn flags(&self) -> &'static str {
        self.desc.flags().name()
    }

    /// The number of dimensions, 1 to 8.
    #[getter]
    fn rank(&self) -> usize {
        self.desc.rank()
    }

    /// The sizes of the dimensions.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.desc.sizes())
    }

    /// The strides, in elements, where there are any; None means packed in the order of the sizes.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.desc.strides().map(|strides| PyTuple::new(py, strides)).transpose()
    }

    /// The strides, those of the packed tensor where none are given.
    #[getter]
    fn effective_strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.desc.effective_strides())
    }

    /// The alignment promised for the bound offset; 0 promises nothing.
    #[getter]
    fn alignment(&self) -> u32 {
        self.desc.alignment()
    }

    /// The total that was declared, if one was.
    #[getter]
    fn declared_total(&self) -> Option<u64> {
        self.desc.declared_total()
    }

    /// `TotalTensorSizeInBytes`: what was declared, or else the least that holds the tensor.
    #[getter]
    fn total_bytes(&self) -> u64 {
        self.desc.total_bytes()
    }

    /// The least total: from the first to the last element, rounded up to 4 bytes.
    #[getter]
    fn minimum_bytes(&self) -> u64 {
        self.desc.minimum_bytes()
    }

    /// Elements from the first place to the last: the physical size, at least.
    #[getter]
    fn minimum_elements(&self) -> u64 {
        self.desc.minimum_elements()
    }

    /// Elements of the tensor: the logical size, the product of the sizes.
    #[getter]
    fn elements(&self) -> u64 {
        self.desc.elements()
    }

    /// The offset of an element: the dot product of its index and the strides.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("UINT8 [2,2,3]").offset((1, 0, 1))
    /// 7
    fn offset(&self, index: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(self.desc.offset(&plain::counts(index, "index")?)?)
    }

    /// How the tensor lies in memory, as a `tilework.Layout`: a function from an index to an offset.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("UINT8 [2,3] strides [5,1]").layout().padding
    /// 2
    fn layout(&self) -> Result<PyLayout> {
        Ok(PyLayout::of(Arc::new(self.desc.clone()))?)
    }

    /// Whether both describe the same elements at the same places, whether packed strides are written out or not.
    fn same_view(&self, other: &Bound<'_, PyAny>) -> Result<PyVerdict> {
        Ok(PyVerdict::new(self.desc.same_view(&given(other)?)?))
    }

    /// The fields as they would be written.
    fn to_desc(&self) -> PyDesc {
        PyDesc { desc: self.desc.to_desc() }
    }

    /// The fields under DxDispatch's names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        desc::dict(py, &self.desc.to_json())
    }

    /// The description as JSON, in the form DxDispatch reads.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("UINT8 [2,3] strides [5,1]").to_json()
    /// '{"DataType": "UINT8", "Sizes": [2,3], "Strides": [5,1]}'
    fn to_json(&self) -> String {
        self.desc.to_json()
    }

    fn __str__(&self) -> String {
        self.desc.to_string()
    }

    fn __repr__(&self) -> String {
        format!("tilework.directml.BufferTensorDesc('{}')", self.desc)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.desc.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<PyBufferTensorDesc>(), (self.desc.to_string(),))
    }
}

/// DirectML's type of elements.
fn in_directml(element: Element) -> Result<DataType> {
    let names: Vec<&str> = DataType::all().map(DataType::name).collect();
    Ok(DataType::of(element).ok_or_else(|| plain::unknown(element.name(), "DataType", &names))?)
}
