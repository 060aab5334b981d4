//! `tilework.directml.Desc`: a description as somebody wrote it.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use tilework::Error;
use tilework::directml::{Desc, TypeField, read_descs};

use super::buffer::PyBufferTensorDesc;
use super::{check, name};
use crate::error::{Bad, Result};
use crate::plain;

/// A description of a tensor as somebody wrote it, in the fields of `DML_BUFFER_TENSOR_DESC`. Any of them may be wrong.
///
/// Read from a line of text, from JSON, or from a dict with DxDispatch's names of the fields; keywords set single
/// fields. `check` says what is wrong, `build` makes the description that is right.
///
/// >>> from tilework import directml
/// >>> directml.Desc("FLOAT16 NHWC [1,64,56,56]")
/// tilework.directml.Desc('FLOAT16 [1,64,56,56] strides [200704,1,3584,64]')
/// >>> directml.Desc({"DataType": "UINT8", "Sizes": [2, 3], "Strides": [5, 1]})
/// tilework.directml.Desc('UINT8 [2,3] strides [5,1]')
/// >>> directml.Desc(data_type="FLOAT32", sizes=(2, 3), total=5).check()[0].legal
/// '24'
#[pyclass(frozen, name = "Desc", module = "tilework.directml", eq)]
#[derive(Clone, PartialEq)]
pub struct PyDesc {
    pub desc: Desc,
}

/// The keywords that set fields, as Python gives them.
pub struct Fields<'a, 'py> {
    pub data_type: Option<&'a Bound<'py, PyAny>>,
    pub sizes: Option<&'a Bound<'py, PyAny>>,
    pub strides: Option<&'a Bound<'py, PyAny>>,
    pub total: Option<&'a Bound<'py, PyAny>>,
    pub alignment: Option<&'a Bound<'py, PyAny>>,
    pub flags: Option<&'a Bound<'py, PyAny>>,
}

impl Fields<'_, '_> {
    /// The description, and the text it is from.
    pub fn read(&self, spec: Option<&Bound<'_, PyAny>>) -> Result<(Desc, Option<String>)> {
        let (mut desc, text) = match (spec, self.data_type, self.sizes) {
            (Some(spec), _, _) => read(spec)?,
            (None, Some(_), Some(_)) => (empty(), None),
            _ => {
                let message = "a text, a dict or a description is needed, or data_type and sizes";
                return Err(PyTypeError::new_err(message).into());
            }
        };
        if let Some(said) = self.data_type {
            desc.data_type = name::type_field(said)?;
        }
        if let Some(said) = self.sizes {
            desc.sizes = plain::wholes(said, "Sizes")?.into();
        }
        if let Some(said) = self.strides {
            desc.strides = Some(plain::wholes(said, "Strides")?.into());
        }
        if let Some(said) = self.total {
            desc.total = Some(plain::count(said, "TotalTensorSizeInBytes")?);
        }
        if let Some(said) = self.alignment {
            desc.alignment = plain::count(said, "GuaranteedBaseOffsetAlignment")?;
        }
        if let Some(said) = self.flags {
            desc.flags = name::flag_bits(said)?;
        }
        Ok((desc, text))
    }
}

/// A description that says nothing yet.
fn empty() -> Desc {
    Desc {
        data_type: TypeField::from_number(0),
        flags: 0,
        dimension_count: None,
        sizes: Default::default(),
        strides: None,
        total: None,
        alignment: 0,
    }
}

/// A description from whatever says one, and the text it is from.
fn read(spec: &Bound<'_, PyAny>) -> Result<(Desc, Option<String>)> {
    if let Ok(desc) = spec.cast::<PyDesc>() {
        return Ok((desc.get().desc.clone(), None));
    }
    if let Ok(desc) = spec.cast::<PyBufferTensorDesc>() {
        return Ok((desc.get().desc.to_desc(), None));
    }
    let text = match spec.cast::<PyString>() {
        Ok(text) => text.to_str()?.to_owned(),
        Err(_) => {
            let dict = spec.cast::<PyDict>().map_err(PyErr::from)?;
            spec.py().import("json")?.call_method1("dumps", (dict,))?.extract()?
        }
    };
    let bad = |error: Error| Bad::within(error.or_at(0..text.len()), &text);
    let mut found = read_descs(&text).map_err(bad)?;
    match (found.pop(), found.len()) {
        (Some(one), 0) => {
            let desc = one.read().map_err(bad)?;
            Ok((desc, Some(text)))
        }
        (_, others) => Err(bad(Error::new(format!("{} descriptors", others + 1)).accepts("one"))),
    }
}

/// A description of an argument.
pub fn given(said: &Bound<'_, PyAny>) -> Result<Desc> {
    Ok(read(said)?.0)
}

/// The fields as Python's JSON reads them.
pub fn dict<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}

#[pymethods]
impl PyDesc {
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
    ) -> Result<PyDesc> {
        let fields = Fields { data_type, sizes, strides, total, alignment, flags };
        Ok(PyDesc { desc: fields.read(spec)?.0 })
    }

    /// The name of the type of the elements, or what stands in its place.
    #[getter]
    fn data_type(&self) -> String {
        match &self.desc.data_type {
            TypeField::Known(known) => known.name().to_owned(),
            TypeField::Number(number) => number.to_string(),
            TypeField::Name(name) => name.clone(),
        }
    }

    /// The sizes as written.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.desc.sizes)
    }

    /// The strides as written, in elements; None means packed in the order of the sizes.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.desc.strides.as_ref().map(|strides| PyTuple::new(py, strides)).transpose()
    }

    /// `DimensionCount` where it was written; otherwise it is the number of sizes.
    #[getter]
    fn dimension_count(&self) -> Option<i64> {
        self.desc.dimension_count
    }

    /// `TotalTensorSizeInBytes` where it was declared; otherwise it is computed.
    #[getter]
    fn total(&self) -> Option<u64> {
        self.desc.total
    }

    /// `GuaranteedBaseOffsetAlignment`; 0 promises nothing.
    #[getter]
    fn alignment(&self) -> u64 {
        self.desc.alignment
    }

    /// All bits of the flags.
    #[getter]
    fn flags(&self) -> u32 {
        self.desc.flags
    }

    /// The description that is known to be right, or an error that names the first rule that it breaks.
    fn build(&self) -> Result<PyBufferTensorDesc> {
        Ok(PyBufferTensorDesc { desc: self.desc.build()? })
    }

    /// Everything that the description breaks; see `tilework.directml.check`.
    #[pyo3(signature = (feature_level=None, *, offset=None, range_bytes=None, buffer_bytes=None))]
    fn check(
        &self,
        feature_level: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        range_bytes: Option<&Bound<'_, PyAny>>,
        buffer_bytes: Option<&Bound<'_, PyAny>>,
    ) -> Result<Vec<check::PyViolation>> {
        check::violations(&self.desc, feature_level, offset, range_bytes, buffer_bytes)
    }

    /// The fields under DxDispatch's names.
    ///
    /// >>> from tilework import directml
    /// >>> directml.Desc("UINT8 [2,3] strides [5,1]").to_dict()
    /// {'DataType': 'UINT8', 'Sizes': [2, 3], 'Strides': [5, 1]}
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(py, &self.desc.to_json())
    }

    /// The description as JSON, in the form DxDispatch reads.
    fn to_json(&self) -> String {
        self.desc.to_json()
    }

    fn __str__(&self) -> String {
        self.desc.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("tilework.directml.Desc({})", PyString::new(py, &self.spelled()).repr()?))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.desc.to_json().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<PyDesc>(), (self.spelled(),))
    }
}

impl PyDesc {
    /// The line of text, or where it does not say all of this the JSON.
    fn spelled(&self) -> String {
        let line = self.desc.to_string();
        match Desc::parse(&line).is_ok_and(|read| read == self.desc) {
            true => line,
            false => self.desc.to_json(),
        }
    }
}
