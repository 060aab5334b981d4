//! Modules of the extension beside the first, importable by names of their own.

use pyo3::prelude::*;

/// A module whose functions say that they are of the public module `name`.
pub fn named<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    PyModule::new(py, name)
}

/// Lets Python import the module under its own name, as the public one is another, written in Python.
pub fn register(module: &Bound<'_, PyModule>, name: &str) -> PyResult<()> {
    module.setattr("__name__", name)?;
    module.delattr("__all__")?; // the public module has one
    module.py().import("sys")?.getattr("modules")?.set_item(name, module)
}
