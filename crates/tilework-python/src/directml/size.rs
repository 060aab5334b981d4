//! How many bytes a tensor needs, and why.

use pyo3::prelude::*;
use pyo3::types::PyAny;
use tilework::directml::{self as dml, SizeTerms};

use super::buffer::PyBufferTensorDesc;
use super::name;
use crate::error::Result;
use crate::plain;

/// How many bytes a binding needs, with every term of the sum; as text it is the sum written out.
///
/// >>> from tilework import directml
/// >>> print(directml.BufferTensorDesc("FLOAT32 [2,3] strides [5,1]").size_terms(offset=16))
/// last element: 1·5 + 2·1 = 7
/// bytes: (7 + 1) elements · 4 bytes = 32
/// offset 16 + total 32 = 48
#[pyclass(frozen, name = "SizeTerms", module = "tilework.directml", eq)]
#[derive(PartialEq)]
pub struct PySizeTerms {
    terms: SizeTerms,
}

#[pymethods]
impl PySizeTerms {
    /// For each dimension its last index and its stride: their product is how far the dimension reaches.
    #[getter]
    fn terms(&self) -> Vec<(u32, u64)> {
        self.terms.terms.to_vec()
    }

    /// The offset of the last element, in elements.
    #[getter]
    fn last(&self) -> u64 {
        self.terms.last
    }

    /// Bits of an element.
    #[getter]
    fn bits(&self) -> u32 {
        self.terms.bits
    }

    /// Bytes up to the last element, not rounded.
    #[getter]
    fn bytes(&self) -> u128 {
        self.terms.bytes
    }

    /// The least total, rounded up to 4 bytes.
    #[getter]
    fn minimum(&self) -> u64 {
        self.terms.minimum
    }

    /// The declared total, if there is one.
    #[getter]
    fn declared(&self) -> Option<u64> {
        self.terms.declared
    }

    /// The offset of the binding, in bytes.
    #[getter]
    fn offset(&self) -> u64 {
        self.terms.offset
    }

    /// Bytes that the buffer must have.
    #[getter]
    fn needs(&self) -> u128 {
        self.terms.needs
    }

    fn __str__(&self) -> String {
        self.terms.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<{} bytes needed>", self.terms.needs)
    }
}

#[pymethods]
impl PyBufferTensorDesc {
    /// The sum that says how many bytes the tensor needs when it is bound at an offset, in bytes.
    #[pyo3(signature = (offset=None))]
    fn size_terms(&self, offset: Option<&Bound<'_, PyAny>>) -> Result<PySizeTerms> {
        let offset = offset.map_or(Ok(0), |said| plain::count(said, "offset"))?;
        Ok(PySizeTerms { terms: self.desc.size_terms(offset) })
    }
}

/// Strides of an argument, if there are any.
fn strides_of(strides: Option<&Bound<'_, PyAny>>) -> Result<Option<Vec<u32>>> {
    strides.map(|said| plain::narrows(said, "Strides")).transpose()
}

/// The least number of bytes that hold the tensor, a multiple of 4: `DMLCalcBufferTensorSize` without its overflows.
///
/// >>> from tilework import directml
/// >>> directml.buffer_size_bytes("FLOAT32", (2, 3), (5, 1))
/// 32
/// >>> directml.buffer_size_bytes("UINT4", (5,))  # 20 bits are 3 bytes are 4
/// 4
#[pyfunction]
#[pyo3(signature = (data_type, sizes, strides=None))]
pub fn buffer_size_bytes(
    data_type: &Bound<'_, PyAny>,
    sizes: &Bound<'_, PyAny>,
    strides: Option<&Bound<'_, PyAny>>,
) -> Result<u64> {
    let (sizes, strides) = (plain::narrows(sizes, "Sizes")?, strides_of(strides)?);
    Ok(dml::buffer_size_bytes(name::data_type(data_type)?, &sizes, strides.as_deref())?)
}

/// Bytes from the start of the storage to the end of a tensor whose first element is `offset` elements in. Not rounded.
///
/// >>> from tilework import directml
/// >>> directml.required_bytes("FLOAT32", (1, 3, 224, 224), (153228, 51076, 226, 1), offset=227)
/// 612004
#[pyfunction]
#[pyo3(signature = (data_type, sizes, strides=None, *, offset=None))]
pub fn required_bytes(
    data_type: &Bound<'_, PyAny>,
    sizes: &Bound<'_, PyAny>,
    strides: Option<&Bound<'_, PyAny>>,
    offset: Option<&Bound<'_, PyAny>>,
) -> Result<u64> {
    let (sizes, strides) = (plain::narrows(sizes, "Sizes")?, strides_of(strides)?);
    let offset = offset.map_or(Ok(0), |said| plain::count(said, "offset"))?;
    Ok(dml::required_bytes(name::data_type(data_type)?, &sizes, strides.as_deref(), offset)?)
}

/// What DirectMLX's `DMLCalcBufferTensorSize` answers, with its wrapping around: to explain a wrong size, not to use.
///
/// >>> from tilework import directml
/// >>> directml.buffer_size_bytes_wrapping_like_directmlx("FLOAT32", (2, 2), (4294967295, 1))
/// 4
#[pyfunction]
#[pyo3(signature = (data_type, sizes, strides=None))]
pub fn buffer_size_bytes_wrapping_like_directmlx(
    data_type: &Bound<'_, PyAny>,
    sizes: &Bound<'_, PyAny>,
    strides: Option<&Bound<'_, PyAny>>,
) -> Result<u64> {
    let (sizes, strides) = (plain::narrows(sizes, "Sizes")?, strides_of(strides)?);
    let data_type = name::data_type(data_type)?;
    Ok(dml::buffer_size_bytes_wrapping_like_directmlx(data_type, &sizes, strides.as_deref()))
}
