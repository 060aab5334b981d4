//! Strides built for an order, for padding and for broadcasting.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::directml as dml;

use super::name;
use crate::error::Result;
use crate::plain;

fn sizes_of(said: &Bound<'_, PyAny>) -> Result<Vec<u32>> {
    plain::narrows(said, "Sizes")
}

fn tuple<'py>(py: Python<'py>, numbers: tilework::Result<Vec<u32>>) -> Result<Bound<'py, PyTuple>> {
    Ok(PyTuple::new(py, numbers?)?)
}

/// The strides of the tensor packed in the order of its sizes: each is the product of the sizes after it.
///
/// >>> from tilework import directml
/// >>> directml.packed_strides((1, 1, 3, 5))
/// (15, 15, 5, 1)
#[pyfunction]
pub fn packed_strides<'py>(py: Python<'py>, sizes: &Bound<'py, PyAny>) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::packed_strides(&sizes_of(sizes)?))
}

/// The strides of sizes named by letters, packed in another order, the most minor last.
///
/// >>> from tilework import directml
/// >>> directml.order_strides((1, 1, 3, 5), "NCHW", "NHWC")
/// (15, 1, 5, 1)
#[pyfunction]
pub fn order_strides<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
    letters: &str,
    order: &str,
) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::order_strides(&sizes_of(sizes)?, letters, order))
}

/// Like `order_strides`, with dimensions that are broadcast: they count as 1 in every product and get stride 0.
///
/// >>> from tilework import directml
/// >>> directml.broadcast_order_strides((2, 3, 4, 5), "NCHW", "NHWC", (False, True, False, False))
/// (20, 0, 5, 1)
#[pyfunction]
pub fn broadcast_order_strides<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
    letters: &str,
    order: &str,
    broadcast: Vec<bool>,
) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::broadcast_order_strides(&sizes_of(sizes)?, letters, order, &broadcast))
}

/// The strides of DirectMLX's interleaved-channel policy: dimension 1 is the most minor, for any rank.
///
/// >>> from tilework import directml
/// >>> directml.interleaved_channel_strides((2, 3, 4))
/// (12, 1, 3)
#[pyfunction]
pub fn interleaved_channel_strides<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::interleaved_channel_strides(&sizes_of(sizes)?))
}

/// The packed strides, but with the stride of `dim` rounded up to a multiple of `align_bytes`; strides above follow.
///
/// >>> from tilework import directml
/// >>> directml.padded_strides("FLOAT16", (1, 3, 224, 224), 2, 256)  # 448-byte rows become 512
/// (172032, 57344, 256, 1)
#[pyfunction]
pub fn padded_strides<'py>(
    py: Python<'py>,
    data_type: &Bound<'py, PyAny>,
    sizes: &Bound<'py, PyAny>,
    dim: &Bound<'py, PyAny>,
    align_bytes: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    let (data_type, sizes) = (name::data_type(data_type)?, sizes_of(sizes)?);
    let dim = crate::read::dimension(plain::whole(dim, "dim")?, sizes.len())?;
    tuple(py, dml::padded_strides(data_type, &sizes, dim, plain::narrow(align_bytes, "align_bytes")?))
}

/// The names of the sizes of a tensor that lies in this order: NCHW for NHWC, OIHW for HWIO.
///
/// >>> from tilework import directml
/// >>> directml.letters_of("HWIO")
/// 'OIHW'
#[pyfunction]
pub fn letters_of(order: &str) -> Result<String> {
    Ok(dml::letters_of(order)?)
}

/// The strides of a packed tensor repeated to `target`, as ONNX Runtime gives them: 0 wherever the source has size 1.
///
/// >>> from tilework import directml
/// >>> directml.broadcast_strides_like_onnx_runtime((1, 3, 1), (2, 3, 1))
/// (0, 1, 0)
#[pyfunction]
pub fn broadcast_strides_like_onnx_runtime<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::broadcast_strides_like_onnx_runtime(&sizes_of(source)?, &sizes_of(target)?))
}

/// The strides of a packed tensor repeated to `target`, as TensorFlow gives them: 0 wherever sizes differ.
///
/// >>> from tilework import directml
/// >>> directml.broadcast_strides_like_tensorflow((1, 3, 1), (2, 3, 1))
/// (0, 1, 1)
#[pyfunction]
pub fn broadcast_strides_like_tensorflow<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::broadcast_strides_like_tensorflow(&sizes_of(source)?, &sizes_of(target)?))
}

/// The sizes to which several tensors can all be repeated, as NumPy has it.
///
/// >>> from tilework import directml
/// >>> directml.common_sizes((2, 1, 4), (3, 1), ())
/// (2, 3, 4)
#[pyfunction]
#[pyo3(signature = (*inputs))]
pub fn common_sizes<'py>(py: Python<'py>, inputs: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyTuple>> {
    let inputs: Vec<Vec<u32>> = inputs.iter().map(|sizes| sizes_of(&sizes)).collect::<Result<_>>()?;
    let inputs: Vec<&[u32]> = inputs.iter().map(Vec::as_slice).collect();
    tuple(py, dml::common_sizes(&inputs))
}

/// The sizes of two packed tensors that are broadcast against each other, and of the result, in as few dimensions as
/// that takes.
///
/// >>> from tilework import directml
/// >>> directml.collapse_pair((2, 3, 4), (3, 4))
/// ((2, 12), (1, 12), (2, 12))
#[pyfunction]
pub fn collapse_pair<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> Result<(Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
    let pair = dml::collapse_pair(&sizes_of(x)?, &sizes_of(y)?)?;
    Ok((PyTuple::new(py, pair.x)?, PyTuple::new(py, pair.y)?, PyTuple::new(py, pair.result)?))
}

/// A transpose of a packed tensor with fewer dimensions: the sizes of the input, the order, and the sizes of the output.
///
/// >>> from tilework import directml
/// >>> directml.simplify_transpose((2, 3, 4, 5), (0, 2, 3, 1))
/// ((2, 3, 20), (0, 2, 1), (2, 20, 3))
#[pyfunction]
pub fn simplify_transpose<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
    order: &Bound<'py, PyAny>,
) -> Result<(Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
    let simple = dml::simplify_transpose(&sizes_of(sizes)?, &plain::places(order, "order")?)?;
    let out = PyTuple::new(py, simple.out_sizes)?;
    Ok((PyTuple::new(py, simple.sizes)?, PyTuple::new(py, simple.order)?, out))
}

/// A transpose by the strides of the output: each size of the packed input gets the stride it has in the packed output.
///
/// >>> from tilework import directml
/// >>> directml.transpose_as_output_strides((2, 3, 4), (2, 0, 1))
/// (3, 1, 6)
#[pyfunction]
pub fn transpose_as_output_strides<'py>(
    py: Python<'py>,
    sizes: &Bound<'py, PyAny>,
    order: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyTuple>> {
    tuple(py, dml::transpose_as_output_strides(&sizes_of(sizes)?, &plain::places(order, "order")?))
}
