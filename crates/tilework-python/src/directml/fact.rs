//! What DirectML's headers say of types and feature levels, and numbers of 4 bits.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyBytes, PyTuple};
use tilework::Error;
use tilework::directml::{self as dml, DataType, FeatureLevel};

use super::name;
use crate::error::Result;
use crate::plain;

/// The names of the types, in the order of DirectML's numbers.
#[pyfunction]
pub fn data_types<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, DataType::all().map(DataType::name).collect::<Vec<_>>())
}

/// The number of a type in `DML_TENSOR_DATA_TYPE`.
///
/// >>> from tilework import directml
/// >>> directml.data_type_number("FLOAT16"), directml.data_type_number("float16")
/// (2, 2)
#[pyfunction]
pub fn data_type_number(data_type: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(name::data_type(data_type)?.number())
}

/// Bits of one element of a type.
#[pyfunction]
pub fn data_type_bits(data_type: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(name::data_type(data_type)?.bits())
}

/// The unsigned type of the same width, for index data.
///
/// >>> from tilework import directml
/// >>> directml.force_unsigned("INT64")
/// 'UINT64'
#[pyfunction]
pub fn force_unsigned(data_type: &Bound<'_, PyAny>) -> Result<&'static str> {
    Ok(name::data_type(data_type)?.force_unsigned()?.name())
}

/// The names of the feature levels, the oldest first.
#[pyfunction]
pub fn feature_levels<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, FeatureLevel::all().map(FeatureLevel::name).collect::<Vec<_>>())
}

/// The number of a feature level in `DML_FEATURE_LEVEL`.
///
/// >>> from tilework import directml
/// >>> hex(directml.feature_level_number("5.2"))
/// '0x5200'
#[pyfunction]
pub fn feature_level_number(feature_level: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(name::level(Some(feature_level))?.number())
}

/// The feature level from which on some operator takes this type.
///
/// >>> from tilework import directml
/// >>> directml.feature_level_of_type("INT4")
/// '6_3'
#[pyfunction]
pub fn feature_level_of_type(data_type: &Bound<'_, PyAny>) -> Result<&'static str> {
    Ok(FeatureLevel::of_type(name::data_type(data_type)?).name())
}

/// The fewest dimensions that a feature level takes.
#[pyfunction]
pub fn min_dimension_count(feature_level: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(name::level(Some(feature_level))?.min_dimension_count())
}

/// The most dimensions that any operator of a feature level takes.
///
/// >>> from tilework import directml
/// >>> directml.max_dimension_count("2_1"), directml.max_dimension_count("3_0")
/// (5, 8)
#[pyfunction]
pub fn max_dimension_count(feature_level: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(name::level(Some(feature_level))?.max_dimension_count())
}

/// 4-bit numbers in bytes, the first in the low half. Of an odd count, the last high half is 0.
///
/// >>> from tilework import directml
/// >>> directml.pack_nibbles("UINT4", [1, 2, 3, 4, 5]).hex()
/// '214305'
#[pyfunction]
pub fn pack_nibbles<'py>(
    py: Python<'py>,
    data_type: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyBytes>> {
    let data_type = name::data_type(data_type)?;
    let narrow = |value: i64| {
        i8::try_from(value).map_err(|_| {
            Error::new(value.to_string()).field("values").rule(format!("{data_type} has 4 bits"))
        })
    };
    let values: Vec<i8> =
        plain::wholes(values, "values")?.into_iter().map(narrow).collect::<tilework::Result<_>>()?;
    Ok(PyBytes::new(py, &dml::pack_nibbles(data_type, &values)?))
}

/// The first `count` 4-bit numbers of bytes.
///
/// >>> from tilework import directml
/// >>> directml.unpack_nibbles("INT4", b"\x2f", 2)
/// [-1, 2]
#[pyfunction]
pub fn unpack_nibbles(
    data_type: &Bound<'_, PyAny>,
    data: &[u8],
    count: &Bound<'_, PyAny>,
) -> Result<Vec<i8>> {
    Ok(dml::unpack_nibbles(name::data_type(data_type)?, data, plain::place(count, "count")?)?)
}
