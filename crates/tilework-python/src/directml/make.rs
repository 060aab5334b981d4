//! Descriptions built from what they are for.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString, PyTuple, PyType};
use tilework::directml::{
    BufferTensorDesc, DataType, TensorFlags, TensorProperties, default_policy, interleaved_channel_policy,
};

use super::buffer::PyBufferTensorDesc;
use super::name;
use crate::error::Result;
use crate::plain;

fn sizes_of(said: &Bound<'_, PyAny>) -> Result<Vec<u32>> {
    plain::narrows(said, "Sizes")
}

#[pymethods]
impl PyBufferTensorDesc {
    /// Sizes named by letters, packed in another order: sizes NCHW that lie as NHWC.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc.in_order("FLOAT32", (1, 1, 3, 5), "NCHW", "NHWC").strides
    /// (15, 1, 5, 1)
    #[classmethod]
    fn in_order(
        _class: &Bound<'_, PyType>,
        data_type: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        letters: &str,
        order: &str,
    ) -> Result<PyBufferTensorDesc> {
        let data_type = name::data_type(data_type)?;
        Ok(BufferTensorDesc::in_order(data_type, &sizes_of(sizes)?, letters, order)?.into())
    }

    /// A packed buffer whose sizes stand in the order `stored`, seen with sizes in the order `view`.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc.from_stored("FLOAT32", (11, 3, 5, 7), "OHWI", "OIHW")
    /// tilework.directml.BufferTensorDesc('FLOAT32 [11,7,3,5] strides [105,1,35,7]')
    #[classmethod]
    fn from_stored(
        _class: &Bound<'_, PyType>,
        data_type: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        stored: &str,
        view: &str,
    ) -> Result<PyBufferTensorDesc> {
        let data_type = name::data_type(data_type)?;
        Ok(BufferTensorDesc::from_stored(data_type, &sizes_of(sizes)?, stored, view)?.into())
    }

    /// A tensor whose dimension `dim` starts at multiples of `align_bytes`, as the rows of a texture do at 256.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc.padded("FLOAT16", (1, 3, 224, 224), -2, 256).strides
    /// (172032, 57344, 256, 1)
    #[classmethod]
    fn padded(
        _class: &Bound<'_, PyType>,
        data_type: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        dim: &Bound<'_, PyAny>,
        align_bytes: &Bound<'_, PyAny>,
    ) -> Result<PyBufferTensorDesc> {
        let (data_type, sizes) = (name::data_type(data_type)?, sizes_of(sizes)?);
        let dim = crate::read::dimension(plain::whole(dim, "dim")?, sizes.len())?;
        let align_bytes = plain::narrow(align_bytes, "align_bytes")?;
        Ok(BufferTensorDesc::padded(data_type, &sizes, dim, align_bytes)?.into())
    }

    /// The diagonal of a packed n x n matrix, as TensorFlow writes it.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc.diagonal("FLOAT32", 3)
    /// tilework.directml.BufferTensorDesc('FLOAT32 [1,1,1,3] strides [0,0,0,4]')
    #[classmethod]
    fn diagonal(
        _class: &Bound<'_, PyType>,
        data_type: &Bound<'_, PyAny>,
        n: &Bound<'_, PyAny>,
    ) -> Result<PyBufferTensorDesc> {
        Ok(BufferTensorDesc::diagonal(name::data_type(data_type)?, plain::narrow(n, "n")?)?.into())
    }

    /// One value for each index of an axis, repeated along every other dimension: a bias or a scale.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc.along_axis("FLOAT16", (2, 64, 56, 56), 1).strides
    /// (0, 1, 0, 0)
    #[classmethod]
    fn along_axis(
        _class: &Bound<'_, PyType>,
        data_type: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        axis: &Bound<'_, PyAny>,
    ) -> Result<PyBufferTensorDesc> {
        let (data_type, sizes) = (name::data_type(data_type)?, sizes_of(sizes)?);
        let axis = crate::read::dimension(plain::whole(axis, "axis")?, sizes.len())?;
        Ok(BufferTensorDesc::along_axis(data_type, &sizes, axis)?.into())
    }

    /// One value for all elements: every stride is 0, and the buffer holds one element.
    #[classmethod]
    fn scalar_fill(
        _class: &Bound<'_, PyType>,
        data_type: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
    ) -> Result<PyBufferTensorDesc> {
        Ok(BufferTensorDesc::scalar_fill(name::data_type(data_type)?, &sizes_of(sizes)?)?.into())
    }

    /// The tensor that a policy makes: 'default', 'interleaved_channel', or a function of type, flags and sizes.
    ///
    /// The function answers with strides or None, a total or None, and an alignment.
    ///
    /// >>> from tilework import directml
    /// >>> directml.BufferTensorDesc.by_policy("interleaved_channel", "FLOAT16", (1, 64, 56, 56)).strides
    /// (200704, 1, 3584, 64)
    /// >>> policy = lambda data_type, flags, sizes: (directml.packed_strides(sizes), None, 16)
    /// >>> directml.BufferTensorDesc.by_policy(policy, "FLOAT16", (2, 3))
    /// tilework.directml.BufferTensorDesc('FLOAT16 [2,3] strides [3,1] alignment 16')
    #[classmethod]
    #[pyo3(signature = (policy, data_type, sizes, *, flags=None))]
    fn by_policy(
        _class: &Bound<'_, PyType>,
        policy: &Bound<'_, PyAny>,
        data_type: &Bound<'_, PyAny>,
        sizes: &Bound<'_, PyAny>,
        flags: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyBufferTensorDesc> {
        let (data_type, flags, sizes) = (name::data_type(data_type)?, name::flags(flags)?, sizes_of(sizes)?);
        let properties = properties(policy, data_type, flags, &sizes)?;
        let policy = |_: DataType, _: TensorFlags, _: &[u32]| Ok(properties.clone());
        Ok(BufferTensorDesc::by_policy(policy, data_type, flags, &sizes)?.into())
    }
}

/// What a policy of the library or one of Python's answers.
fn properties(
    policy: &Bound<'_, PyAny>,
    data_type: DataType,
    flags: TensorFlags,
    sizes: &[u32],
) -> Result<TensorProperties> {
    if let Ok(name) = policy.cast::<PyString>() {
        return match name.to_str()? {
            "default" => Ok(default_policy(data_type, flags, sizes)?),
            "interleaved_channel" => Ok(interleaved_channel_policy(data_type, flags, sizes)?),
            other => Err(plain::unknown(other, "policy", &["default", "interleaved_channel"]).into()),
        };
    }
    let tuple = PyTuple::new(policy.py(), sizes)?;
    let answer = policy.call1((data_type.name(), flags.name(), tuple))?;
    let parts = plain::items(&answer)?;
    let [strides, total, alignment] = &parts[..] else {
        return Err(PyTypeError::new_err("a policy answers with strides, a total and an alignment").into());
    };
    let some = |said: &Bound<'_, PyAny>| !said.is_none();
    Ok(TensorProperties {
        strides: some(strides).then(|| plain::narrows(strides, "Strides")).transpose()?,
        total: some(total).then(|| plain::count(total, "TotalTensorSizeInBytes")).transpose()?,
        alignment: plain::narrow(alignment, "GuaranteedBaseOffsetAlignment")?,
    })
}
