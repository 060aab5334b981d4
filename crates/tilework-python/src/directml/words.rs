//! What the document's words say of a tensor.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilework::directml::{self as dml, Remark, Words};

use super::buffer::PyBufferTensorDesc;
use crate::error::Result;

/// What the document's words say of a tensor: packed, padded, broadcast, overlapping.
///
/// >>> from tilework import directml
/// >>> words = directml.BufferTensorDesc("UINT8 [2,3] strides [0,1]").words()
/// >>> words.packed, words.is_broadcast, words.broadcast_dims, words.elements, words.minimum_elements
/// (False, True, (0,), 6, 3)
#[pyclass(frozen, name = "Words", module = "tilework.directml", eq)]
#[derive(PartialEq)]
pub struct PyWords {
    words: Words,
}

#[pymethods]
impl PyWords {
    /// Whether there are as many places as elements and every element has its own, in whatever order.
    #[getter]
    fn packed(&self) -> bool {
        self.words.packed
    }

    /// Whether every element has a place of its own; None where strides overlap so that it was not decided.
    #[getter]
    fn unique(&self) -> Option<bool> {
        self.words.unique
    }

    /// The dimensions larger than 1 with a stride of 0.
    #[getter]
    fn broadcast_dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.words.broadcast_dims)
    }

    /// Whether some dimension repeats its elements.
    #[getter]
    fn is_broadcast(&self) -> bool {
        self.words.is_broadcast()
    }

    /// Whether two elements share a place; None where that was not decided.
    #[getter]
    fn overlaps(&self) -> Option<bool> {
        self.words.overlaps()
    }

    /// Whether there are places without an element, inside or behind.
    #[getter]
    fn is_padded(&self) -> bool {
        self.words.is_padded()
    }

    /// Whether places between the first element and the last hold none.
    #[getter]
    fn gaps(&self) -> bool {
        self.words.gaps
    }

    /// Places behind the last element that a declared total has room for.
    #[getter]
    fn slack(&self) -> u64 {
        self.words.slack
    }

    /// Elements of the tensor: the logical size.
    #[getter]
    fn elements(&self) -> u64 {
        self.words.elements
    }

    /// Places from the first element to the last: the least physical size.
    #[getter]
    fn minimum_elements(&self) -> u64 {
        self.words.minimum_elements
    }

    fn __repr__(&self) -> String {
        let words = &self.words;
        let said = [
            (words.packed, "packed"),
            (words.is_broadcast(), "broadcast"),
            (words.is_padded(), "padded"),
            (words.overlaps() == Some(true), "overlapping"),
        ];
        let said: Vec<&str> = said.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
        format!("<{}: {} elements in {} places>", said.join(", "), words.elements, words.minimum_elements)
    }
}

#[pymethods]
impl PyBufferTensorDesc {
    /// The document's words for this tensor.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc("UINT8 [2,3] strides [5,1]").words()
    /// <padded: 6 elements in 8 places>
    fn words(&self) -> Result<PyWords> {
        Ok(PyWords { words: self.desc.words()? })
    }

    /// What is legal and worth knowing, of a tensor that an operator reads or, as an `output`, writes.
    #[pyo3(signature = (*, output=false))]
    fn remarks(&self, output: bool) -> Result<Vec<&'static str>> {
        Ok(dml::remarks(&self.desc, output)?.iter().map(Remark::sentence).collect())
    }
}
