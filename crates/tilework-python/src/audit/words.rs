//! Reports as texts, and objects as plain values of Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use tilework_audit::Refused;
use tilework_explain::{Line, Look, Page};

use crate::error::Result;
use crate::plain;

/// The most files that a report tells of.
const REFUSED: usize = 10;

/// A number of lines, columns or things.
pub fn count(said: Option<&Bound<'_, PyAny>>, field: &str, usual: usize) -> Result<usize> {
    match said {
        Some(said) => Ok(usize::try_from(plain::count(said, field)?).unwrap_or(usize::MAX)),
        None => Ok(usual),
    }
}

/// Lines as one text.
pub fn joined(lines: &[Line]) -> String {
    let look = Look::default();
    lines.iter().map(|line| line.render(look)).collect::<Vec<String>>().join("\n")
}

/// Files that could not be opened.
pub fn refused(refused: &[Refused], width: usize) -> Vec<Line> {
    let mut page = Page::new(width, Look::default());
    page.text("\n");
    page.heading("files that could not be read");
    let words = |each: &Refused| format!("  {}: {}", each.path.display(), each.error.found());
    let mut lines: Vec<String> = refused.iter().take(REFUSED).map(words).collect();
    if refused.len() > REFUSED {
        lines.push(format!("  and {} more", refused.len() - REFUSED));
    }
    page.text(&lines.join("\n"));
    page.into_lines()
}

/// The same as an item of `unread`.
pub fn refused_object<'py>(py: Python<'py>, refused: &Refused) -> PyResult<Bound<'py, PyDict>> {
    let object = PyDict::new(py);
    object.set_item("file", refused.path.to_string_lossy())?;
    object.set_item("reason", refused.error.found())?;
    object.set_item("count", 1)?;
    object.set_item("lines", PyList::empty(py))?;
    object.set_item("bytes", PyList::empty(py))?;
    Ok(object)
}

/// Dicts, lists and numbers, as Python reads them from JSON.
pub fn object<'py>(py: Python<'py>, object: &(impl Serialize + Sync)) -> Result<Bound<'py, PyAny>> {
    let text = serde_json::to_string(object).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (text,))?)
}
