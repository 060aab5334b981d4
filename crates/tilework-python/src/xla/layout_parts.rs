//! The fields of `tilework.xla.Layout`, and what its dimension order says.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::Error;
use tilework::{Element, xla::Layout};

use super::layout::{PyXlaLayout, tiles_of};
use super::shape::PyShape;
use crate::error::Result;
use crate::plain;

impl PyXlaLayout {
    fn dim(&self, dim: &Bound<'_, PyAny>) -> Result<usize> {
        let (number, rank) = (plain::whole(dim, "dimension")?, self.layout.rank());
        crate::read::dimension(number, rank)
    }

    fn kth(&self, k: &Bound<'_, PyAny>) -> Result<usize> {
        let (k, rank) = (plain::place(k, "k")?, self.layout.rank());
        match k < rank {
            true => Ok(k),
            false => Err(Error::new(format!("dimension {k} of {rank} in the order of memory"))
                .field("k")
                .accepts(format!("below {rank}"))
                .into()),
        }
    }
}

#[pymethods]
impl PyXlaLayout {
    /// The number of dimensions.
    #[getter]
    fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The dimensions in the order of memory, the most minor first. Of free strides: row-major order, which says nothing.
    #[getter]
    fn minor_to_major<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.layout.minor_to_major())
    }

    /// For each dimension its physical number, 0 being the most major: XLA's `MakeLogicalToPhysical`.
    #[getter]
    fn logical_to_physical<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.layout.logical_to_physical())
    }

    /// The k-th most minor dimension.
    fn minor(&self, k: &Bound<'_, PyAny>) -> Result<usize> {
        Ok(self.layout.minor(self.kth(k)?))
    }

    /// The k-th most major dimension.
    fn major(&self, k: &Bound<'_, PyAny>) -> Result<usize> {
        Ok(self.layout.major(self.kth(k)?))
    }

    /// Whether the order is `{0,1,...}`.
    #[getter]
    fn is_monotonic_with_dim0_minor(&self) -> bool {
        self.layout.is_monotonic_with_dim0_minor()
    }

    /// Whether the order is `{...,1,0}`.
    #[getter]
    fn is_monotonic_with_dim0_major(&self) -> bool {
        self.layout.is_monotonic_with_dim0_major()
    }

    /// Whether the layout says nothing beyond the dimension order.
    #[getter]
    fn is_plain(&self) -> bool {
        self.layout.is_plain()
    }

    /// The tiles, applied from left to right, as tuples of sizes; None in one is a `*`.
    #[getter]
    fn tiles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tiles_of(py, &self.layout)
    }

    /// `L`: the buffer is padded at its end to a multiple of this many elements.
    #[getter]
    fn tail_padding_alignment_in_elements(&self) -> u64 {
        self.layout.tail_padding_alignment_in_elements()
    }

    /// `E`: bits of one element in memory, or 0 where the element type decides.
    #[getter]
    fn element_size_in_bits(&self) -> u32 {
        self.layout.element_size_in_bits()
    }

    /// `S`: the memory space. 0 is the default, 1 usually a small fast memory, 5 the host.
    #[getter]
    fn memory_space(&self) -> u8 {
        self.layout.memory_space()
    }

    /// `SC`: pairs of a physical dimension and the indices where it is split between memories.
    #[getter]
    fn split_configs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pairs = self
            .layout
            .split_configs()
            .iter()
            .map(|config| Ok((config.dimension, PyTuple::new(py, &config.split_indices)?)));
        PyTuple::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    /// `M`: bytes of dynamic-size metadata before the data.
    #[getter]
    fn dynamic_shape_metadata_prefix_bytes(&self) -> u64 {
        self.layout.dynamic_shape_metadata_prefix_bytes()
    }

    /// `#`: the index type of sparse storage.
    #[getter]
    fn index_primitive_type(&self) -> Option<&'static str> {
        self.layout.index_primitive_type().map(Element::name)
    }

    /// `*`: the pointer type of sparse storage.
    #[getter]
    fn pointer_primitive_type(&self) -> Option<&'static str> {
        self.layout.pointer_primitive_type().map(Element::name)
    }

    /// `P`: the physical shape of a sparse array.
    #[getter]
    fn physical_shape(&self) -> Option<PyShape> {
        self.layout.physical_shape().map(|shape| PyShape { shape: shape.clone() })
    }

    /// The older layout's allocated size of each dimension.
    ///
    /// >>> from tilework import xla
    /// >>> layout = xla.Layout("{0,1:pad(3,5)=zero}")
    /// >>> layout.padded_dimensions, layout.padding_value
    /// ((3, 5), 'zero')
    #[getter]
    fn padded_dimensions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.layout.padding().map(|padding| PyTuple::new(py, &padding.padded_dimensions)).transpose()
    }

    /// What the padding of the older layout holds: 'invalid', 'zero', 'one', 'lowest', 'highest' or 'unknown'.
    #[getter]
    fn padding_value(&self) -> Option<&'static str> {
        self.layout.padding().map(|padding| padding.value.name())
    }

    /// The free strides, in elements, where the layout has them instead of a dimension order.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.layout.strides().map(|free| PyTuple::new(py, &free.strides)).transpose()
    }

    /// The place of the first element where free strides say it.
    #[getter]
    fn base(&self) -> Option<u64> {
        self.layout.strides().and_then(|free| free.base)
    }

    /// The allocated elements where free strides say them.
    #[getter]
    fn size(&self) -> Option<u64> {
        self.layout.strides().and_then(|free| free.size)
    }

    /// The same layout without tiles.
    fn without_tiles(&self) -> PyXlaLayout {
        PyXlaLayout { layout: self.layout.clone().without_tiles() }
    }

    /// Whether these dimensions stand side by side in memory, in any order.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Layout((3, 0, 2, 1)).are_dimensions_consecutive((2, 0, 3))
    /// True
    fn are_dimensions_consecutive(&self, dims: &Bound<'_, PyAny>) -> Result<bool> {
        let dims: Vec<usize> = plain::items(dims)?.iter().map(|dim| self.dim(dim)).collect::<Result<_>>()?;
        Ok(self.layout.are_dimensions_consecutive(&dims)?)
    }

    /// The layout without this dimension, the higher ones renumbered.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Layout((2, 0, 1)).delete_dimension(0)
    /// tilework.xla.Layout('{1,0}')
    fn delete_dimension(&self, dim: &Bound<'_, PyAny>) -> Result<PyXlaLayout> {
        changed(self.layout.delete_dimension(self.dim(dim)?))
    }

    /// The layout with this dimension as the most major one.
    fn move_dim_to_major(&self, dim: &Bound<'_, PyAny>) -> Result<PyXlaLayout> {
        changed(self.layout.move_dim_to_major(self.dim(dim)?))
    }
}

fn changed(layout: tilework::Result<Layout>) -> Result<PyXlaLayout> {
    Ok(PyXlaLayout { layout: layout? })
}
