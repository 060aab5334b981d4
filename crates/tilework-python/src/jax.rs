//! Layouts as JAX takes them.

use pyo3::prelude::*;
use tilework::Error;
use tilework::xla::{self, ArrayShape, TileDim};

use crate::error::Result;
use crate::layout::PyLayout;
use crate::read;

#[pymethods]
impl PyLayout {
    /// The layout as a `jax.experimental.layout.Layout`, for `Format(layout, sharding)`.
    ///
    /// JAX has to be installed, and a layout has to be an order of the dimensions and tiles to be one of JAX; other
    /// layouts are refused with a `LayoutError`.
    ///
    /// >>> tw.Layout("bf16[64,300]{0,1:T(8,128)(2,1)}").to_jax()  # doctest: +SKIP
    /// Layout(major_to_minor=(1, 0), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)
    fn to_jax<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let Some(written) = self.order_and_tiles() else {
            let error = Error::new(format!("the layout of {}", self.spelled()))
                .rule("a Layout of JAX is an order of the dimensions, and tiles")
                .accepts("strides of a packed array, and T(...), without pad, base and size");
            return Err(error.into());
        };
        let order: Vec<usize> = written.minor_to_major().iter().rev().copied().collect();
        let sizes = |tile: &xla::Tile| -> Vec<Option<u64>> {
            tile.dims()
                .iter()
                .map(|dim| if let TileDim::Size(size) = dim { Some(*size) } else { None })
                .collect()
        };
        let tiles: Vec<Vec<Option<u64>>> = written.tiles().iter().map(sizes).collect();
        let order = pyo3::types::PyTuple::new(py, order)?;
        let told = (order, tiles, written.element_size_in_bits());
        Ok(py.import("tilework._foreign")?.call_method1("to_jax", told)?)
    }
}

impl PyLayout {
    /// The order and the tiles that say this layout, if they do.
    fn order_and_tiles(&self) -> Option<xla::Layout> {
        let own = read::array_of(&self.source).filter(|_| self.views.is_empty()).cloned();
        let ordered = own.filter(|array| array.layout().is_some_and(|written| written.strides().is_none()));
        let array = ordered.or_else(|| ArrayShape::saying(&self.layout, self.element).ok())?;
        let written = array.layout()?;
        let bare = xla::Layout::new(written.minor_to_major().iter().copied()).ok()?;
        let bare = bare.with_tiles(written.tiles().iter().cloned()).ok()?;
        let bare = bare.with_element_size_in_bits(written.element_size_in_bits());
        let shape = ArrayShape::new(self.element, self.layout.dims().iter().copied()).ok()?;
        let said = shape.with_layout(bare.clone()).ok()?.lower().ok()?;
        said.same_buffer(&self.layout).is_yes().then_some(bare)
    }
}
