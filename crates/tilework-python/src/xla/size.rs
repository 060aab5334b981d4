//! How many elements and bytes a shape has, by each of XLA's functions.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};

use super::shape::PyShape;
use crate::error::Result;
use crate::plain;

#[pymethods]
impl PyShape {
    /// The number of elements, with every bounded dimension at its bound.
    fn elements_in(&self) -> Result<u64> {
        Ok(self.array()?.elements_in()?)
    }

    /// The elements of all arrays in the shape together.
    fn elements_in_recursive(&self) -> Result<u64> {
        Ok(self.shape.elements_in_recursive()?)
    }

    /// The product of the sizes and bounds, unbounded dimensions left out.
    fn static_extent_product(&self) -> Result<u64> {
        Ok(self.array()?.static_extent_product())
    }

    /// The bytes of the buffer: all padding of all tiles, padded dimensions and the tail included.
    ///
    /// >>> from tilework import xla
    /// >>> shape = xla.Shape("f32[6,4]{1,0:T(3,2)(2,1)}")  # 3 rows, cut by 2, are 4
    /// >>> shape.array_size(), shape.array_size_by_first_tile()
    /// (128, 96)
    fn array_size(&self) -> Result<u64> {
        Ok(self.array()?.array_size()?)
    }

    /// XLA's `ArraySize`: the bytes of the buffer by the first tile alone.
    fn array_size_by_first_tile(&self) -> Result<u64> {
        Ok(self.array()?.array_size_by_first_tile()?)
    }

    /// XLA's `ArrayDataSize`: the bytes up to the last element, which the first tile alone places.
    fn array_data_size_by_first_tile(&self) -> Result<u64> {
        Ok(self.array()?.array_data_size_by_first_tile()?)
    }

    /// XLA's `ByteSizeOfElements`: bytes of the elements and of padded dimensions; it knows nothing of tiles.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("s4[9]{0:E(4)}").byte_size_of_elements()
    /// 5
    fn byte_size_of_elements(&self) -> Result<u64> {
        Ok(self.array()?.byte_size_of_elements()?)
    }

    /// XLA's `ByteSizeOf`: bytes of the elements of an array, or of the pointers in a tuple.
    #[pyo3(signature = (pointer_size=None))]
    fn byte_size_of(&self, pointer_size: Option<&Bound<'_, PyAny>>) -> Result<u64> {
        let pointer_size = pointer_size.map(|said| plain::count(said, "pointer size")).transpose()?;
        Ok(self.shape.byte_size_of(pointer_size)?)
    }

    /// The bytes XLA's CPU client reports: with pointers of 8 bytes, and for a dynamic array 4 more a dimension.
    fn cpu_shape_size_bytes(&self) -> Result<u64> {
        Ok(self.shape.cpu_shape_size_bytes()?)
    }

    /// XLA's `SerializedSize`: bytes of a literal of this shape as XLA writes it, shape included.
    fn serialized_size(&self) -> Result<u64> {
        Ok(self.shape.serialized_size()?)
    }

    /// XLA's `UnpackedByteStrides`: bytes between neighbours along each dimension, when tiles and `E` are ignored.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f16[5,7,9]").byte_strides_untiled()
    /// (126, 18, 2)
    fn byte_strides_untiled<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>> {
        Ok(PyTuple::new(py, self.array()?.byte_strides_untiled()?)?)
    }

    /// XLA's `MaxSplitSize`: the size of the largest piece into which `SC` cuts this dimension.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[150,200,100]{0,1,2:SC(0:30)(1:40,130)}").max_split_size(1)
    /// 90
    fn max_split_size(&self, dim: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(self.array()?.max_split_size(self.dim(dim)?)?)
    }

    /// XLA's `MaxElementsInPerSplit`: the elements of the largest piece into which `SC` cuts the array.
    fn max_elements_in_per_split(&self) -> Result<u64> {
        Ok(self.array()?.max_elements_in_per_split()?)
    }

    /// XLA's `GetSplitConfig`: the only split configuration, if there is one.
    fn split_config<'py>(&self, py: Python<'py>) -> Result<Option<(u64, Bound<'py, PyTuple>)>> {
        match self.array()?.split_config()? {
            Some(config) => Ok(Some((config.dimension, PyTuple::new(py, &config.split_indices)?))),
            None => Ok(None),
        }
    }

    /// XLA's `PackedFactorFor1DInterleavedArray`: how many rows the innermost tile of a tiled vector interleaves.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("bf16[1024]{0:T(1024)(128)(2,1)}").packed_factor_for_1d_interleaved_array()
    /// 2
    fn packed_factor_for_1d_interleaved_array(&self) -> Result<u64> {
        Ok(self.array()?.packed_factor_for_1d_interleaved_array()?)
    }
}
