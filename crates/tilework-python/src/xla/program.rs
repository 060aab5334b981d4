//! `tilework.xla.ProgramShape`: named parameters and a result.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use tilework::xla::ProgramShape;

use super::shape::{self, PyShape};
use crate::error::{Bad, Result};
use crate::plain;

/// XLA's `ProgramShape`: named parameters and a result, read from XLA's text.
///
/// >>> from tilework import xla
/// >>> program = xla.ProgramShape("(a: f32[2], b: s32[]) -> f32[2]")
/// >>> program.parameters[1]
/// ('b', tilework.xla.Shape('s32[]'))
#[pyclass(frozen, name = "ProgramShape", module = "tilework.xla", eq)]
#[derive(PartialEq)]
pub struct PyProgramShape {
    program: ProgramShape,
}

#[pymethods]
impl PyProgramShape {
    #[new]
    fn __new__(text: &str) -> Result<PyProgramShape> {
        let program = ProgramShape::parse(text).map_err(|error| Bad::within(error, text))?;
        Ok(PyProgramShape { program })
    }

    /// A program of parameters, pairs of a name and a shape, and a result.
    ///
    /// >>> from tilework import xla
    /// >>> print(xla.ProgramShape.of([("a", "f32[2]")], "f32[2]{0}"))
    /// (a: f32[2]) -> f32[2]
    #[classmethod]
    fn of(
        _class: &Bound<'_, PyType>,
        parameters: &Bound<'_, PyAny>,
        result: &Bound<'_, PyAny>,
    ) -> Result<PyProgramShape> {
        let parameter = |said: Bound<'_, PyAny>| {
            let (name, shape): (String, Bound<'_, PyAny>) = said.extract()?;
            Ok((name, shape::given(&shape)?))
        };
        let parameters = plain::items(parameters)?.into_iter().map(parameter).collect::<Result<Vec<_>>>()?;
        Ok(PyProgramShape { program: ProgramShape { parameters, result: shape::given(result)? } })
    }

    /// The program shape in the bytes of XLA's `ProgramShapeProto`.
    #[classmethod]
    fn from_proto(_class: &Bound<'_, PyType>, data: &[u8]) -> Result<PyProgramShape> {
        Ok(PyProgramShape { program: ProgramShape::from_proto(data)? })
    }

    /// The bytes of XLA's `ProgramShapeProto`, exactly as XLA writes them.
    fn to_proto<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.program.to_proto()?))
    }

    /// Each parameter's name, which may be empty, and its shape.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pair = |(name, shape): &(String, _)| (name.clone(), PyShape { shape: Clone::clone(shape) });
        PyTuple::new(py, self.program.parameters.iter().map(pair).collect::<Vec<_>>())
    }

    /// The shape of what the program gives.
    #[getter]
    fn result(&self) -> PyShape {
        PyShape { shape: self.program.result.clone() }
    }

    fn __str__(&self) -> String {
        self.program.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let parameters = self.parameters(py)?.to_list().repr()?;
        Ok(format!("tilework.xla.ProgramShape.of({parameters}, {})", self.result().__repr__()))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.program.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let of = py.get_type::<PyProgramShape>().getattr("of")?;
        (of, (self.parameters(py)?, self.result())).into_pyobject(py)
    }
}
