//! Everything that a description breaks, and descriptions in files.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilework::Error;
use tilework::directml::{self as dml, Binding, Desc, FoundDesc, Violation};

use super::desc::{self, PyDesc};
use super::name;
use crate::error::{Bad, Result};
use crate::plain;

/// One rule that is broken: the field, which entry of it, the value, the limit, and a value that would be legal.
///
/// >>> from tilework import directml
/// >>> found = directml.check("FLOAT16 [5,55] strides [9,3] total 123")[0]
/// >>> found.rule, found.field, found.value, found.limit, found.legal
/// ('TotalTensorSizeTooSmall', 'TotalTensorSizeInBytes', '123', '400 or more', '400')
#[pyclass(frozen, name = "Violation", module = "tilework.directml", eq)]
#[derive(PartialEq)]
pub struct PyViolation {
    violation: Violation,
}

#[pymethods]
impl PyViolation {
    /// The name of the rule, for machines.
    #[getter]
    fn rule(&self) -> &'static str {
        self.violation.rule.name()
    }

    /// The rule in one sentence.
    #[getter]
    fn sentence(&self) -> &'static str {
        self.violation.rule.sentence()
    }

    /// The field, as DirectML.h names it; of a binding `Offset`, `SizeInBytes` or `BufferBytes`.
    #[getter]
    fn field(&self) -> &'static str {
        self.violation.field
    }

    /// Which size or stride, if one.
    #[getter]
    fn index(&self) -> Option<usize> {
        self.violation.index
    }

    /// The value found.
    #[getter]
    fn value(&self) -> &str {
        &self.violation.value
    }

    /// What it is held against.
    #[getter]
    fn limit(&self) -> &str {
        &self.violation.limit
    }

    /// A legal value in its place; None if the field alone cannot be put right.
    #[getter]
    fn legal(&self) -> Option<&str> {
        self.violation.legal.as_deref()
    }

    fn __str__(&self) -> String {
        self.violation.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.violation)
    }
}

fn shown(found: Vec<Violation>) -> Vec<PyViolation> {
    found.into_iter().map(|violation| PyViolation { violation }).collect()
}

/// Where a tensor is bound, if anything is said of that.
fn binding(
    offset: Option<&Bound<'_, PyAny>>,
    range: Option<&Bound<'_, PyAny>>,
    buffer: Option<&Bound<'_, PyAny>>,
) -> Result<Option<Binding>> {
    if offset.is_none() && range.is_none() && buffer.is_none() {
        return Ok(None);
    }
    let bytes =
        |said: Option<&Bound<'_, PyAny>>, field: &str| said.map(|said| plain::count(said, field)).transpose();
    Ok(Some(Binding {
        offset: bytes(offset, "offset")?.unwrap_or(0),
        range: bytes(range, "range_bytes")?,
        buffer: bytes(buffer, "buffer_bytes")?,
    }))
}

/// What a description breaks.
pub fn violations(
    desc: &Desc,
    feature_level: Option<&Bound<'_, PyAny>>,
    offset: Option<&Bound<'_, PyAny>>,
    range_bytes: Option<&Bound<'_, PyAny>>,
    buffer_bytes: Option<&Bound<'_, PyAny>>,
) -> Result<Vec<PyViolation>> {
    let binding = binding(offset, range_bytes, buffer_bytes)?;
    Ok(shown(dml::check(desc, name::level(feature_level)?, binding.as_ref())))
}

/// Everything that a description breaks at a feature level, the newest if none is given. Empty: it is right.
///
/// With an offset, a range or a buffer, all in bytes, the binding is checked with it.
///
/// >>> from tilework import directml
/// >>> desc = "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]"
/// >>> directml.check(desc)
/// []
/// >>> for found in directml.check(desc, offset=4 * 50176, buffer_bytes=612912):
/// ...     print(found.field, found.value, found.limit)
/// BufferBytes offset 200704 + 611096 = 811800 612912
#[pyfunction]
#[pyo3(signature = (desc, feature_level=None, *, offset=None, range_bytes=None, buffer_bytes=None))]
pub fn check(
    desc: &Bound<'_, PyAny>,
    feature_level: Option<&Bound<'_, PyAny>>,
    offset: Option<&Bound<'_, PyAny>>,
    range_bytes: Option<&Bound<'_, PyAny>>,
    buffer_bytes: Option<&Bound<'_, PyAny>>,
) -> Result<Vec<PyViolation>> {
    violations(&desc::given(desc)?, feature_level, offset, range_bytes, buffer_bytes)
}

/// A description found in a file: the way to it, where it stands, and what could be read of it.
#[pyclass(frozen, name = "FoundDesc", module = "tilework.directml")]
pub struct PyFoundDesc {
    found: FoundDesc,
}

#[pymethods]
impl PyFoundDesc {
    /// The way to it through the file; empty if the file is the descriptor.
    #[getter]
    fn path(&self) -> &str {
        &self.found.path
    }

    /// The bytes it stands at.
    #[getter]
    fn span(&self) -> (usize, usize) {
        (self.found.span.start, self.found.span.end)
    }

    /// What could be read of it.
    #[getter]
    fn desc(&self) -> PyDesc {
        PyDesc { desc: self.found.desc.clone() }
    }

    /// What could not: unknown fields, fields that stand twice, values of another kind.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.found.errors.iter().map(Error::to_string).collect::<Vec<_>>())
    }

    /// What it breaks, as far as it could be read; see `tilework.directml.check`.
    #[pyo3(signature = (feature_level=None, *, offset=None, range_bytes=None, buffer_bytes=None))]
    fn check(
        &self,
        feature_level: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        range_bytes: Option<&Bound<'_, PyAny>>,
        buffer_bytes: Option<&Bound<'_, PyAny>>,
    ) -> Result<Vec<PyViolation>> {
        let binding = binding(offset, range_bytes, buffer_bytes)?;
        Ok(shown(self.found.check(name::level(feature_level)?, binding.as_ref())))
    }

    fn __repr__(&self) -> String {
        match self.found.path.as_str() {
            "" => format!("<{}>", self.found.desc),
            path => format!("<{path}: {}>", self.found.desc),
        }
    }
}

/// Every descriptor in a JSON text, wherever it stands: one, several, or those of a model file of DxDispatch.
///
/// >>> from tilework import directml
/// >>> text = '{"in": {"DataType": "FLOAT32", "Sizes": [2, 3]}, "out": {"DataType": "FLOAT32", "Sizes": [3, 2]}}'
/// >>> [(found.path, str(found.desc)) for found in directml.read_json(text)]
/// [('in', 'FLOAT32 [2,3]'), ('out', 'FLOAT32 [3,2]')]
#[pyfunction]
pub fn read_json(text: &str) -> Result<Vec<PyFoundDesc>> {
    let found = dml::read_json(text).map_err(|error| Bad::within(error, text))?;
    Ok(found.into_iter().map(|found| PyFoundDesc { found }).collect())
}
