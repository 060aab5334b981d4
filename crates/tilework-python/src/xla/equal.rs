//! Equality with chosen differences overlooked, compatibility, and validation.

use pyo3::prelude::*;
use pyo3::types::PyAny;
use tilework::xla::{Equal, LayoutEqual, Shape};

use super::shape::{self, PyShape};
use crate::error::Result;
use crate::plain;

/// A way to make a comparison overlook something.
type Ignoring<T> = (&'static str, fn(T) -> T);

const IN_LAYOUT: [Ignoring<LayoutEqual>; 10] = [
    ("tiles", LayoutEqual::ignore_tiles),
    ("tail_padding_alignment_in_elements", LayoutEqual::ignore_tail_padding_alignment_in_elements),
    ("index_primitive_type", LayoutEqual::ignore_index_primitive_type),
    ("pointer_primitive_type", LayoutEqual::ignore_pointer_primitive_type),
    ("element_size", LayoutEqual::ignore_element_size),
    ("memory_space", LayoutEqual::ignore_memory_space),
    ("split_configs", LayoutEqual::ignore_split_configs),
    ("physical_shape", LayoutEqual::ignore_physical_shape),
    ("padding", LayoutEqual::ignore_padding),
    ("all_but_minor_to_major", LayoutEqual::minor_to_major_only),
];

const IN_SHAPE: [Ignoring<Equal>; 12] = [
    ("layout", Equal::ignore_layout),
    ("tiles_in_layout", Equal::ignore_tiles_in_layout),
    ("element_size_in_layout", Equal::ignore_element_size_in_layout),
    ("memory_space_in_layout", Equal::ignore_memory_space_in_layout),
    (
        "tail_padding_alignment_in_elements_in_layout",
        Equal::ignore_tail_padding_alignment_in_elements_in_layout,
    ),
    ("split_config_in_layout", Equal::ignore_split_config_in_layout),
    ("all_but_minor_to_major_in_layout", Equal::minor_to_major_only_in_layout),
    ("element_type", Equal::ignore_element_type),
    ("fp_precision", Equal::ignore_fp_precision),
    ("dynamic_dimension", Equal::ignore_dynamic_dimension),
    ("dimensions", Equal::ignore_dimensions),
    ("buffer", Equal::ignore_buffer),
];

fn comparison<T>(start: T, ignore: Option<&Bound<'_, PyAny>>, known: &[Ignoring<T>]) -> Result<T> {
    let words = ignore.map(plain::words).transpose()?.unwrap_or_default();
    words.iter().try_fold(start, |comparison, word| match known.iter().find(|(name, _)| name == word) {
        Some((_, ignoring)) => Ok(ignoring(comparison)),
        None => {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            Err(plain::unknown(word, "ignore", &names).into())
        }
    })
}

/// A comparison of layouts that overlooks what the words say.
pub fn of_layouts(ignore: Option<&Bound<'_, PyAny>>) -> Result<LayoutEqual> {
    comparison(LayoutEqual::new(), ignore, &IN_LAYOUT)
}

impl PyShape {
    fn test(&self, other: &Bound<'_, PyAny>, test: fn(&Shape, &Shape) -> bool) -> Result<bool> {
        Ok(test(&self.shape, &shape::given(other)?))
    }
}

#[pymethods]
impl PyShape {
    /// XLA's `Equal`: whether the two are equal in all but what to ignore, and `M`, which is never compared.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3]").equal("bf16[2,3]{0,1}", ignore=["layout", "fp_precision"])
    /// True
    #[pyo3(signature = (other, *, ignore=None))]
    fn equal(&self, other: &Bound<'_, PyAny>, ignore: Option<&Bound<'_, PyAny>>) -> Result<bool> {
        Ok(comparison(Equal::new(), ignore, &IN_SHAPE)?.equal(&self.shape, &shape::given(other)?))
    }

    /// XLA's `LayoutsInShapesEqual`: the same layouts at the same places, whatever the sizes and types.
    #[pyo3(signature = (other, *, ignore=None))]
    fn layouts_equal(&self, other: &Bound<'_, PyAny>, ignore: Option<&Bound<'_, PyAny>>) -> Result<bool> {
        Ok(self.shape.layouts_equal(&shape::given(other)?, of_layouts(ignore)?))
    }

    /// XLA's `Compatible`: equal but for layouts and for which dimensions are dynamic.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[2,3]").compatible("f32[2,3]{0,1}")
    /// True
    fn compatible(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::compatible)
    }

    /// XLA's `CompatibleIgnoringElementType`.
    fn compatible_ignoring_element_type(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::compatible_ignoring_element_type)
    }

    /// XLA's `CompatibleIgnoringFpPrecision`: any two floating-point types are the same.
    fn compatible_ignoring_fp_precision(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::compatible_ignoring_fp_precision)
    }

    /// XLA's `CompatibleKind`: the same tuples, and arrays of the same rank at the same places.
    fn compatible_kind(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::compatible_kind)
    }

    /// XLA's `EqualStructure`: the same places exist in both, whatever stands there; an empty tuple has those of an array.
    fn equal_structure(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::equal_structure)
    }

    /// XLA's `SameElementType`.
    fn same_element_type(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::same_element_type)
    }

    /// XLA's `SameElementTypeIgnoringFpPrecision`: any two floating-point types are the same.
    fn same_element_type_ignoring_fp_precision(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(other, Shape::same_element_type_ignoring_fp_precision)
    }

    /// XLA's `SameDimensions`: the same sizes and bounds, where an unbounded dimension is the same as any.
    fn same_dimensions(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.array()?.same_dimensions(&shape::given_array(other)?))
    }

    /// XLA's `SameRank`.
    fn same_rank(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.array()?.same_rank(&shape::given_array(other)?))
    }

    /// XLA's `DynamicShapeIsCompatible`: every dynamic array fits the one at the same place of `bounded`.
    fn dynamic_shape_is_compatible(&self, bounded: &Bound<'_, PyAny>) -> Result<bool> {
        self.test(bounded, Shape::dynamic_shape_is_compatible)
    }

    /// XLA's `ValidateShape`: an error unless every array has a layout, and it is one of a dense array.
    ///
    /// With `optional_layout` arrays may have none.
    #[pyo3(signature = (*, optional_layout=false))]
    fn validate(&self, optional_layout: bool) -> Result<()> {
        match optional_layout {
            true => self.shape.validate_with_optional_layout()?,
            false => self.shape.validate()?,
        }
        Ok(())
    }

    /// XLA's check of the sizes: an error if their product, from left to right, passes 63 bits before a 0 is met.
    fn validate_sizes_as_xla(&self) -> Result<()> {
        Ok(self.array()?.validate_sizes_as_xla()?)
    }
}
