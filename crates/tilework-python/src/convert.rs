//! The argument `convert`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// Whether elements may become others on the way.
pub struct Convert(pub bool);

impl<'py> FromPyObject<'_, 'py> for Convert {
    type Error = PyErr;

    fn extract(said: Borrowed<'_, 'py, PyAny>) -> PyResult<Convert> {
        if let Ok(said) = said.cast::<PyBool>() {
            return Ok(Convert(said.is_true()));
        }
        // NumPy has a type of its own for true and false.
        if said.get_type().name()? == "bool" {
            return said.is_truthy().map(Convert);
        }
        Err(PyTypeError::new_err(format!(
            "convert is {}, and says only whether elements may become others, True or False; into what, the layout says: \
             tw.pack(array, 'bf16[64,300]', convert=True)",
            said.repr()?
        )))
    }
}
