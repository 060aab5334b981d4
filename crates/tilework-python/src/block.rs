//! `tilework.block`: whether a Pallas kernel on a TPU can see an array in blocks of some size.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilework::Error;
use tilework_audit::Block;
use tilework_explain::{Blocked, Look, explain_block};

use crate::audit::{self, words};
use crate::error::Result;
use crate::explain::preformatted;
use crate::kept;
use crate::plain;

/// Whether a Pallas kernel on a TPU can see an array in blocks of this shape: what `tilework block` says.
///
/// The array is a Layout or anything that makes one, such as a text. `block_shape` is what a `BlockSpec` has, None for a
/// squeezed dimension included.
///
/// >>> blocks = tw.block("f32[1024,100]", (8, 100))
/// >>> bool(blocks), blocks.grid, blocks.nbytes
/// (True, (128, 1), 4096)
/// >>> blocks = tw.block("bf16[512,512]", (100, 512))
/// >>> bool(blocks), blocks.nearest
/// (False, [(96, 512), (104, 512)])
/// >>> print(blocks)
/// bf16[512,512]{1,0} in blocks of (100, 512)
/// ...
#[pyfunction]
pub fn block(array: &Bound<'_, PyAny>, block_shape: &Bound<'_, PyAny>) -> Result<PyBlocks> {
    let layout = kept::layout(array, None)?;
    let layout = layout.get();
    let mut sizes = Vec::new();
    for size in plain::items(block_shape)? {
        sizes.push(if size.is_none() { None } else { Some(plain::count(&size, "block_shape")?) });
    }
    if sizes.contains(&Some(0)) {
        let error = Error::new("a block of size 0").field("block_shape");
        return Err(error.rule("a block has at least one element").accepts("1 or more, or None").into());
    }
    let shape = layout.source.to_string();
    let block = Block::new(layout.layout.dims(), layout.element, &sizes)?;
    let blocked = Blocked::new(&shape, &block, layout.element)?;
    let text = words::joined(&explain_block(&shape, &block, layout.element, audit::WIDTH, Look::default())?);
    Ok(PyBlocks { blocked, text })
}

/// An array in blocks, as a Pallas kernel sees it: true in a condition if Pallas takes the block shape.
#[pyclass(frozen, name = "Blocks", module = "tilework")]
pub struct PyBlocks {
    blocked: Blocked,
    text: String,
}

#[pymethods]
impl PyBlocks {
    /// Whether Pallas takes the block shape.
    #[getter]
    fn legal(&self) -> bool {
        self.blocked.legal
    }

    /// The rule for blocks of this many dimensions, in Pallas' words.
    #[getter]
    fn rule(&self) -> &str {
        &self.blocked.rule
    }

    /// How many blocks cover the array in each dimension.
    #[getter]
    fn grid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.blocked.grid)
    }

    /// What one block takes in VMEM, padded to tiles, in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.blocked.vmem.allocated_bytes
    }

    /// The nearest legal block shapes, the cheapest first; none where this one is legal.
    ///
    /// >>> tw.block("f32[1024,100]", (8, 50)).nearest
    /// [(8, 100)]
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.blocked.nearest.iter().map(|near| PyTuple::new(py, &near.block)).collect()
    }

    /// Everything as plain values, with the fields of `tilework block --json`.
    ///
    /// >>> tw.block("bf16[512,512]", (100, 512)).to_dict()["dimensions"][0]["reason"]
    /// "100 is neither divisible by 8 nor equal to the array's 512"
    fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        words::object(py, &self.blocked)
    }

    fn __bool__(&self) -> bool {
        self.blocked.legal
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let takes = if self.blocked.legal { "legal" } else { "refused" };
        format!("<{takes}: {}>", self.text.lines().next().unwrap_or_default())
    }

    fn _repr_html_(&self) -> String {
        preformatted(&self.text)
    }
}
