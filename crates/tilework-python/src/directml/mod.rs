//! `tilework.directml`: tensors described by sizes and strides, in DirectML's words.

mod buffer;
mod check;
mod desc;
mod fact;
mod make;
mod name;
mod rank;
mod size;
mod strides;
mod view;
mod words;

use pyo3::prelude::*;
use tilework::directml as dml;

use crate::module;

/// The module that `python/tilework/directml.py` shows.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = module::named(parent.py(), "tilework.directml")?;
    module.add_class::<buffer::PyBufferTensorDesc>()?;
    module.add_class::<check::PyFoundDesc>()?;
    module.add_class::<check::PyViolation>()?;
    module.add_class::<desc::PyDesc>()?;
    module.add_class::<size::PySizeTerms>()?;
    module.add_class::<view::PyCopyNeeded>()?;
    module.add_class::<view::PySubView>()?;
    module.add_class::<words::PyWords>()?;
    for function in [
        wrap_pyfunction!(check::check, &module)?,
        wrap_pyfunction!(check::read_json, &module)?,
        wrap_pyfunction!(fact::data_type_bits, &module)?,
        wrap_pyfunction!(fact::data_type_number, &module)?,
        wrap_pyfunction!(fact::data_types, &module)?,
        wrap_pyfunction!(fact::feature_level_number, &module)?,
        wrap_pyfunction!(fact::feature_level_of_type, &module)?,
        wrap_pyfunction!(fact::feature_levels, &module)?,
        wrap_pyfunction!(fact::force_unsigned, &module)?,
        wrap_pyfunction!(fact::max_dimension_count, &module)?,
        wrap_pyfunction!(fact::min_dimension_count, &module)?,
        wrap_pyfunction!(fact::pack_nibbles, &module)?,
        wrap_pyfunction!(fact::unpack_nibbles, &module)?,
        wrap_pyfunction!(rank::align_dimensions, &module)?,
        wrap_pyfunction!(rank::axes_for_rank, &module)?,
        wrap_pyfunction!(rank::coerce_to_2d, &module)?,
        wrap_pyfunction!(size::buffer_size_bytes, &module)?,
        wrap_pyfunction!(size::buffer_size_bytes_wrapping_like_directmlx, &module)?,
        wrap_pyfunction!(size::required_bytes, &module)?,
        wrap_pyfunction!(strides::broadcast_order_strides, &module)?,
        wrap_pyfunction!(strides::broadcast_strides_like_onnx_runtime, &module)?,
        wrap_pyfunction!(strides::broadcast_strides_like_tensorflow, &module)?,
        wrap_pyfunction!(strides::collapse_pair, &module)?,
        wrap_pyfunction!(strides::common_sizes, &module)?,
        wrap_pyfunction!(strides::interleaved_channel_strides, &module)?,
        wrap_pyfunction!(strides::letters_of, &module)?,
        wrap_pyfunction!(strides::order_strides, &module)?,
        wrap_pyfunction!(strides::packed_strides, &module)?,
        wrap_pyfunction!(strides::padded_strides, &module)?,
        wrap_pyfunction!(strides::simplify_transpose, &module)?,
        wrap_pyfunction!(strides::transpose_as_output_strides, &module)?,
    ] {
        module.add_function(function)?;
    }
    for (name, value) in [
        ("DIMENSION_COUNT_MAX", dml::DIMENSION_COUNT_MAX.into()),
        ("DIMENSION_COUNT_MAX1", dml::DIMENSION_COUNT_MAX1.into()),
        ("MAX_ELEMENTS", dml::MAX_ELEMENTS),
        ("MINIMUM_BUFFER_TENSOR_ALIGNMENT", dml::MINIMUM_BUFFER_TENSOR_ALIGNMENT),
        ("PERSISTENT_BUFFER_ALIGNMENT", dml::PERSISTENT_BUFFER_ALIGNMENT),
        ("TEMPORARY_BUFFER_ALIGNMENT", dml::TEMPORARY_BUFFER_ALIGNMENT),
        ("TEXTURE_PITCH_ALIGNMENT", dml::TEXTURE_PITCH_ALIGNMENT),
    ] {
        let value: u64 = value;
        module.add(name, value)?;
    }
    module.add("LATEST", dml::FeatureLevel::LATEST.name())?;
    module::register(&module, "tilework._directml")
}
