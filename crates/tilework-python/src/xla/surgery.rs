//! Dimensions permuted, deleted, added and moved, the layout following.

use pyo3::prelude::*;
use pyo3::types::PyAny;
use tilework::xla::ArrayShape;

use super::shape::PyShape;
use crate::error::Result;
use crate::plain;

impl PyShape {
    fn changed(&self, change: impl FnOnce(&ArrayShape) -> tilework::Result<ArrayShape>) -> Result<PyShape> {
        Ok(self.of_array(change(self.array()?)?))
    }
}

#[pymethods]
impl PyShape {
    /// XLA's `PermuteDimensions`: dimension k is dimension permutation[k] of this shape, in the same place of memory.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,100,1000]{0,2,1}").permute_dimensions((1, 2, 0))
    /// tilework.xla.Shape('f32[100,1000,10]{2,1,0}')
    fn permute_dimensions(&self, permutation: &Bound<'_, PyAny>) -> Result<PyShape> {
        let permutation = self.dims(permutation)?;
        self.changed(|array| array.permute_dimensions(&permutation))
    }

    /// XLA's `PermuteDimensionsIgnoringLayout`: the sizes permuted, the layout as it was.
    fn permute_dimensions_ignoring_layout(&self, permutation: &Bound<'_, PyAny>) -> Result<PyShape> {
        let permutation = self.dims(permutation)?;
        self.changed(|array| array.permute_dimensions_ignoring_layout(&permutation))
    }

    /// XLA's `ReorderLogicalDimensions`: the dimensions renumbered, memory as it was.
    ///
    /// `by_old_code` does what XLA's code did for years, where memory stays only if the permutation is its own inverse.
    #[pyo3(signature = (permutation, *, by_old_code=false))]
    fn reorder_logical_dimensions(
        &self,
        permutation: &Bound<'_, PyAny>,
        by_old_code: bool,
    ) -> Result<PyShape> {
        let permutation = self.dims(permutation)?;
        self.changed(|array| match by_old_code {
            true => array.reorder_logical_dimensions_by_old_code(&permutation),
            false => array.reorder_logical_dimensions(&permutation),
        })
    }

    /// XLA's `MakeShapeWithDescendingLayoutAndSamePhysicalLayout`: the dimensions in the order of memory.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3,5]{0,2,1}").make_shape_with_descending_layout_and_same_physical_layout()
    /// tilework.xla.Shape('f32[3,5,2]{2,1,0}')
    fn make_shape_with_descending_layout_and_same_physical_layout(&self) -> Result<PyShape> {
        self.changed(ArrayShape::make_shape_with_descending_layout_and_same_physical_layout)
    }

    /// XLA's `AppendMajorDimension`: a new dimension, the last in number, the most major in memory.
    ///
    /// >>> from tilework import xla
    /// >>> shape = xla.Shape("f32[10,20]")
    /// >>> print(shape.append_major_dimension(40), shape.append_minor_dimension(40))
    /// f32[10,20,40]{1,0,2} f32[10,20,40]{2,1,0}
    fn append_major_dimension(&self, size: &Bound<'_, PyAny>) -> Result<PyShape> {
        let size = plain::count(size, "size")?;
        self.changed(|array| array.append_major_dimension(size))
    }

    /// XLA's `AppendMinorDimension`: a new dimension, the last in number, the most minor in memory.
    fn append_minor_dimension(&self, size: &Bound<'_, PyAny>) -> Result<PyShape> {
        let size = plain::count(size, "size")?;
        self.changed(|array| array.append_minor_dimension(size))
    }

    /// XLA's `PrependMajorDimension`: a new dimension 0, the most major in memory.
    fn prepend_major_dimension(&self, size: &Bound<'_, PyAny>) -> Result<PyShape> {
        let size = plain::count(size, "size")?;
        self.changed(|array| array.prepend_major_dimension(size))
    }

    /// XLA's `InsertDimensionsAtIndex`: new dimensions before a dimension, and in memory on its major side.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[10,20]{0,1}").insert_dimensions_at_index(1, (2, 3))
    /// tilework.xla.Shape('f32[10,2,3,20]{0,3,2,1}')
    fn insert_dimensions_at_index(&self, at: &Bound<'_, PyAny>, sizes: &Bound<'_, PyAny>) -> Result<PyShape> {
        let (at, sizes) = (plain::place(at, "dimension")?, plain::counts(sizes, "sizes")?);
        self.changed(|array| array.insert_dimensions_at_index(at, &sizes))
    }

    /// XLA's `DeleteDimensions`: the shape without these dimensions, given in any order.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[5,3,2,7,9]{2,0,1,4,3}").delete_dimensions((3, 1, 2))
    /// tilework.xla.Shape('f32[5,9]{0,1}')
    fn delete_dimensions(&self, dims: &Bound<'_, PyAny>) -> Result<PyShape> {
        let dims = self.dims(dims)?;
        self.changed(|array| array.delete_dimensions(&dims))
    }

    /// XLA's `FilterDimensions`: the shape with the dimensions for whose number `keep` answers True.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3,5]").filter_dimensions(lambda dim: dim != 1)
    /// tilework.xla.Shape('f32[2,5]{1,0}')
    fn filter_dimensions(&self, keep: &Bound<'_, PyAny>) -> Result<PyShape> {
        let rank = self.array()?.rank();
        let kept: Vec<bool> =
            (0..rank).map(|dim| keep.call1((dim,))?.is_truthy()).collect::<PyResult<_>>()?;
        self.changed(|array| array.filter_dimensions(|dim| kept.get(dim) == Some(&true)))
    }

    /// XLA's `DropDegenerateDimensions`: the shape without its dimensions of size 1.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[1,3,1]").drop_degenerate_dimensions()
    /// tilework.xla.Shape('f32[3]{0}')
    fn drop_degenerate_dimensions(&self) -> Result<PyShape> {
        self.changed(|array| Ok(array.drop_degenerate_dimensions()))
    }

    /// XLA's `MoveDimToMajor`: this dimension is the most major one, in every array of the shape.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3,4]").move_dim_to_major(2)
    /// tilework.xla.Shape('f32[2,3,4]{1,0,2}')
    fn move_dim_to_major(&self, dim: &Bound<'_, PyAny>) -> Result<PyShape> {
        let dim = plain::place(dim, "dimension")?;
        Ok(PyShape { shape: self.shape.clone().move_dim_to_major(dim)? })
    }

    /// XLA's `IsEffectivelyMostMajorDimension`: every dimension more major than this one has size 1.
    fn is_effectively_most_major_dimension(&self, dim: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.array()?.is_effectively_most_major_dimension(self.dim(dim)?)?)
    }
}
