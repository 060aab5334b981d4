//! The same shape with another layout, other elements, or other dynamic dimensions.

use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use tilework::xla::ArrayShape;

use super::shape::{self, PyShape};
use super::{layout, primitive};
use crate::error::Result;
use crate::plain;

#[pymethods]
impl PyShape {
    /// The same array with this layout, which may be a text.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,5]").with_layout("{0,1}")
    /// tilework.xla.Shape('f32[3,5]{0,1}')
    fn with_layout(&self, layout: &Bound<'_, PyAny>) -> Result<PyShape> {
        Ok(self.of_array(self.array()?.clone().with_layout(layout::given(layout)?)?))
    }

    /// XLA's `MakeShapeWithDenseLayout`: this layout, whose `E` becomes 0 where it says only what the type says.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,5]").with_dense_layout("{0,1:E(32)}")
    /// tilework.xla.Shape('f32[3,5]{0,1}')
    fn with_dense_layout(&self, layout: &Bound<'_, PyAny>) -> Result<PyShape> {
        let (array, layout) = (self.array()?, layout::given(layout)?);
        let dims = array.dims().iter().copied();
        Ok(self.of_array(ArrayShape::with_dense_layout(array.element_type(), dims, layout)?))
    }

    /// Every array in the shape with its default layout, row-major.
    fn with_default_layout(&self) -> PyShape {
        PyShape { shape: self.shape.clone().with_default_layout() }
    }

    /// No array in the shape has a layout; with paths, only those there have none.
    #[pyo3(signature = (*paths))]
    fn without_layout(&self, paths: &Bound<'_, PyTuple>) -> Result<PyShape> {
        let shape = self.shape.clone();
        if paths.is_empty() {
            return Ok(PyShape { shape: shape.without_layout() });
        }
        let paths: Vec<Vec<usize>> =
            paths.iter().map(|path| plain::places(&path, "shape index")).collect::<Result<_>>()?;
        Ok(PyShape { shape: shape::without_layouts(shape, &paths)? })
    }

    /// No layout in the shape has tiles.
    fn without_tiles(&self) -> PyShape {
        PyShape { shape: self.shape.clone().without_tiles() }
    }

    /// XLA's `CopyLayoutBetweenShapes`: every array with the layout of its counterpart in another shape.
    fn with_layouts_of(&self, source: &Bound<'_, PyAny>) -> Result<PyShape> {
        let (mut shape, source) = (self.shape.clone(), shape::given(source)?);
        shape.copy_layout_from(&source)?;
        Ok(PyShape { shape })
    }

    /// Whether every array in the shape has a layout.
    #[getter]
    fn has_layout(&self) -> bool {
        self.shape.has_layout()
    }

    /// Whether some shape that is not a tuple has a layout, or needs none.
    #[getter]
    fn has_any_layout(&self) -> bool {
        self.shape.has_any_layout()
    }

    /// Whether some layout in the shape has an `E(bits)`.
    #[getter]
    fn has_custom_element_size_in_bits(&self) -> bool {
        self.shape.has_custom_element_size_in_bits()
    }

    /// XLA's `GetDefaultLayoutForShape`: row-major for arrays, empty for tokens and opaque values.
    fn default_layout(&self) -> Result<layout::PyXlaLayout> {
        Ok(layout::PyXlaLayout { layout: self.shape.default_layout()? })
    }

    /// XLA's `ChangeElementType`: every array with these elements; `E(bits)` stays only for types narrower than a byte.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("s4[64,128]{1,0:E(4)}").with_element_type("pred")
    /// tilework.xla.Shape('pred[64,128]{1,0}')
    fn with_element_type(&self, element_type: &Bound<'_, PyAny>) -> Result<PyShape> {
        Ok(PyShape { shape: self.shape.clone().with_element_type(primitive::given_element(element_type)?)? })
    }

    /// XLA's `ComplexComponentShape`: the shape of the real or the imaginary parts.
    fn complex_component_shape(&self) -> Result<PyShape> {
        Ok(PyShape { shape: self.shape.clone().complex_component_shape()? })
    }

    /// XLA's `UpdateElementSizeInBits`: types narrower than a byte get `E(bits)`, or, without packing, none has it.
    fn with_updated_element_size_in_bits(&self, pack_subbyte_types: bool) -> PyShape {
        PyShape { shape: self.shape.clone().with_updated_element_size_in_bits(pack_subbyte_types) }
    }

    /// XLA's `DeviceShapeToHostShape`: no tiles, `L`, `E`, `S`, `P` or `M`; the order and `SC` stay.
    fn device_shape_to_host_shape(&self) -> PyShape {
        PyShape { shape: self.shape.clone().device_shape_to_host_shape() }
    }

    /// XLA's `MakeStaticShape`: every bounded dimension takes its bound.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[<=8,4]").with_static_dimensions()
    /// tilework.xla.Shape('f32[8,4]{1,0}')
    fn with_static_dimensions(&self) -> Result<PyShape> {
        Ok(PyShape { shape: self.shape.clone().with_static_dimensions()? })
    }

    /// XLA's `UpdateDynamicDimension`: one dimension dynamic, with its size as the bound, or static.
    ///
    /// `path` leads to the array in a tuple.
    #[pyo3(signature = (dim, is_dynamic, path=None))]
    fn update_dynamic_dimension(
        &self,
        dim: &Bound<'_, PyAny>,
        is_dynamic: bool,
        path: Option<&Bound<'_, PyAny>>,
    ) -> Result<PyShape> {
        let path = path.map(|path| plain::places(path, "shape index")).transpose()?.unwrap_or_default();
        let number = plain::whole(dim, "dimension")?;
        let dim = match self.shape.subshape(&path)?.as_array() {
            Some(array) => array.dimension_number(number)?,
            None => 0, // refused for what it is
        };
        Ok(PyShape { shape: self.shape.clone().update_dynamic_dimension(&path, dim, is_dynamic)? })
    }

    /// XLA's `CopyDynamicDimensions`: the same sizes, dynamic where the dimensions of another array are.
    fn copy_dynamic_dimensions(&self, source: &Bound<'_, PyAny>) -> Result<PyShape> {
        Ok(self.of_array(self.array()?.copy_dynamic_dimensions(&shape::given_array(source)?)?))
    }
}
