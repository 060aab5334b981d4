//! Errors of Tilework as Python's `tilework.LayoutError`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use tilework::Error;

/// What the functions of this room return.
pub type Result<T, E = Bad> = std::result::Result<T, E>;

/// Why something cannot be done.
pub enum Bad {
    /// One of Tilework's own errors, and the text that it is about.
    Layout(Error, Option<String>),
    /// One of Python's.
    Python(PyErr),
}

impl Bad {
    /// An error in a text.
    pub fn within(error: Error, text: &str) -> Bad {
        Bad::Layout(error, Some(text.to_owned()))
    }
}

impl From<Error> for Bad {
    fn from(error: Error) -> Bad {
        Bad::Layout(error, None)
    }
}

impl From<PyErr> for Bad {
    fn from(error: PyErr) -> Bad {
        Bad::Python(error)
    }
}

impl From<Bad> for PyErr {
    fn from(bad: Bad) -> PyErr {
        match bad {
            Bad::Python(error) => error,
            Bad::Layout(error, text) => {
                Python::attach(|py| raise(py, &error, text.as_deref()).unwrap_or_else(|e| e))
            }
        }
    }
}

/// `tilework.LayoutError`, which is written in Python: classes there can have fields and a docstring.
pub fn layout_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "tilework._error", "LayoutError")
}

fn raise(py: Python<'_>, error: &Error, text: Option<&str>) -> PyResult<PyErr> {
    let message = match text {
        Some(text) => error.report(text).to_string(),
        None => error.to_string(),
    };
    let span = error.span().map(|span| (span.start, span.end));
    let told =
        (message, error.found(), error.field_name(), error.broken_rule(), error.accepted(), span, text);
    Ok(PyErr::from_value(layout_error(py)?.call1(told)?))
}

impl From<std::convert::Infallible> for Bad {
    fn from(never: std::convert::Infallible) -> Bad {
        match never {}
    }
}
