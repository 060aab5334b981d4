//! `tilework.xla`: shapes and layouts in XLA's words.

mod bitcast;
mod change;
mod equal;
mod formula;
mod index;
mod layout;
mod layout_parts;
mod place;
mod primitive;
mod program;
mod proto;
mod shape;
mod size;
mod surgery;
mod tuple;

pub use layout::{PyXlaLayout, tiles_of};
pub use shape::PyShape;

use pyo3::prelude::*;

use crate::module;

/// The module that `python/tilework/xla.py` shows.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = module::named(parent.py(), "tilework.xla")?;
    module.add_class::<bitcast::PyBitcast>()?;
    module.add_class::<layout::PyXlaLayout>()?;
    module.add_class::<primitive::PyPrimitiveType>()?;
    module.add_class::<program::PyProgramShape>()?;
    module.add_class::<shape::PyShape>()?;
    for function in [
        wrap_pyfunction!(formula::byte_strides_is_major_to_minor, &module)?,
        wrap_pyfunction!(formula::common_factors, &module)?,
        wrap_pyfunction!(formula::compare_indices, &module)?,
        wrap_pyfunction!(formula::dimension_letters, &module)?,
        wrap_pyfunction!(formula::linear_index, &module)?,
        wrap_pyfunction!(formula::tiled_index, &module)?,
        wrap_pyfunction!(shape::make_shape, &module)?,
        wrap_pyfunction!(tuple::make_tuple, &module)?,
    ] {
        module.add_function(function)?;
    }
    module::register(&module, "tilework._xla")?;
    // Pickles look for it where it says it is, which is not the public module.
    module.setattr("_restore", wrap_pyfunction!(shape::_restore, &module)?)
}
