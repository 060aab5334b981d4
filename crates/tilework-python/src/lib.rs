//! The Python border: `import tilework as tw`.
//!
//! Nothing is decided here. Texts and arrays of Python become layouts of `tilework`, its answers become Python's values,
//! and `tilework-copy` moves the data. What can be said in Python stands in `python/tilework`.

mod answer;
mod array;
mod audit;
mod block;
mod comparison;
mod convert;
mod directml;
mod dlpack;
mod element;
mod error;
mod everyday;
mod explain;
mod fill;
mod find;
mod flat;
mod jax;
mod kept;
mod layout;
mod link;
mod module;
mod movement;
mod numpy_names;
mod pack;
mod picture;
mod plain;
mod plan;
mod prepared;
mod read;
mod suggest;
mod translate;
mod unpack;
mod view;
mod xla;

use pyo3::prelude::*;

/// The functions and types that `python/tilework/__init__.py` shows.
///
/// It needs the interpreter's lock: what an array says of its memory holds until code of Python's runs again (`array::Look`).
#[pymodule(gil_used = true)]
mod _tilework {
    #[pymodule_export]
    use crate::answer::PyPadding;
    #[pymodule_export]
    use crate::answer::PyVerdict;
    #[pymodule_export]
    use crate::audit::PyAudit;
    #[pymodule_export]
    use crate::audit::PyAuditChange;
    #[pymodule_export]
    use crate::audit::audit;
    #[pymodule_export]
    use crate::block::PyBlocks;
    #[pymodule_export]
    use crate::block::block;
    #[pymodule_export]
    use crate::comparison::PyComparison;
    #[pymodule_export]
    use crate::dlpack::PyDlpack;
    #[pymodule_export]
    use crate::dlpack::from_dlpack;
    #[pymodule_export]
    use crate::dlpack::to_dlpack;
    #[pymodule_export]
    use crate::everyday::astype;
    #[pymodule_export]
    use crate::everyday::channels_first;
    #[pymodule_export]
    use crate::everyday::channels_last;
    #[pymodule_export]
    use crate::everyday::contiguous;
    #[pymodule_export]
    use crate::everyday::copyto;
    #[pymodule_export]
    use crate::everyday::transpose;
    #[pymodule_export]
    use crate::find::PySighting;
    #[pymodule_export]
    use crate::find::find;
    #[pymodule_export]
    use crate::layout::PyLayout;
    #[pymodule_export]
    use crate::pack::pack;
    #[pymodule_export]
    use crate::plan::PyPlan;
    #[pymodule_export]
    use crate::plan::relayout;
    #[pymodule_export]
    use crate::suggest::PySuggestions;
    #[pymodule_export]
    use crate::suggest::suggest;
    #[pymodule_export]
    use crate::translate::translate;
    #[pymodule_export]
    use crate::unpack::unpack;

    use pyo3::prelude::*;

    /// The command `tilework` with these arguments, of which the first is the name of the program; returns the exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| tilework_cli::run(arguments))
    }

    /// The same with the answer in JSON: the exit code, the answer and the errors in words.
    #[pyfunction]
    fn ask(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> (u8, String, String) {
        let answer = py.detach(|| tilework_cli::ask(arguments));
        (answer.code, answer.json, answer.errors)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::directml::register(module)?;
        crate::xla::register(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
