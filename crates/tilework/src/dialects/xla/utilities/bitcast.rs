//! XLA's own bitcast tests: whether a reshape or a transpose leaves every element where it is, as far as the order of
//! the dimensions tells.
//!
//! XLA looks at element types, sizes and `minor_to_major` here and at nothing else: tiles, `E`, `L`, `S` and the rest
//! are left out, so its yes means little for tiled arrays. The functions say so in their names. Older XLA had padded
//! dimensions, and what it made of them is kept.

use crate::error::Result;
use crate::xla::utilities::surgery::{check_rank, inverse};
use crate::xla::value::layout::{Layout, check_permutation};
use crate::xla::value::shape::{ArrayShape, Shape};

/// How a bitcast reads as operations on the dimensions: XLA's `BitcastDecomposition`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bitcast {
    /// A reshape: the elements keep their row-major order.
    Reshape,
    /// A transpose: dimension `i` of the output is dimension `dims[i]` of the input.
    Transpose {
        /// For each dimension of the output the one of the input.
        dims: Vec<usize>,
    },
    /// A transpose, a reshape and another transpose.
    TransposeReshapeTranspose(Box<TransposeReshapeTranspose>),
}

/// A bitcast as a transpose to row-major order, a reshape, and a transpose from row-major order: XLA's
/// `BitcastDecompositionTrt`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransposeReshapeTranspose {
    /// For each dimension of `transpose1_shape` the one of the input.
    pub transpose1_dims: Vec<usize>,
    /// The input with its dimensions in the order of memory, so that it is row-major.
    pub transpose1_shape: ArrayShape,
    /// The output with its dimensions in the order of memory, so that it is row-major.
    pub reshape_shape: ArrayShape,
    /// For each dimension of the output the one of `reshape_shape`.
    pub transpose2_dims: Vec<usize>,
}

impl TransposeReshapeTranspose {
    /// XLA's `IsTranspose1Identity`: the first transpose changes nothing.
    pub fn is_transpose1_identity(&self) -> bool {
        self.transpose1_dims.is_sorted()
    }

    /// XLA's `IsTranspose2Identity`: the second transpose changes nothing.
    pub fn is_transpose2_identity(&self) -> bool {
        self.transpose2_dims.is_sorted()
    }
}

impl ArrayShape {
    /// XLA's `ShapeUtil::ReshapeIsBitcast`: a reshape from this shape to `output` leaves every element in its place when
    /// tiles, `E`, `L` and `S` are ignored.
    ///
    /// Arrays without elements always reshape freely. Padded dimensions never do, as in older XLA.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let rows = ArrayShape::new(Element::F32, [3, 4u64])?;
    /// let columns = rows.clone().with_layout(Layout::new([0, 1])?)?;
    /// let flat = ArrayShape::new(Element::F32, [12u64])?;
    /// assert!(rows.reshape_is_bitcast_untiled(&flat, false)?);
    /// assert!(!columns.reshape_is_bitcast_untiled(&flat, false)?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape without a layout, free strides, an unbounded dimension.
    pub fn reshape_is_bitcast_untiled(&self, output: &ArrayShape, ignore_element_type: bool) -> Result<bool> {
        let orders = (self.dimension_order()?, output.dimension_order()?);
        let elements = (self.elements_in()?, output.elements_in()?);
        if !self.has_type_of(output, ignore_element_type) || elements.0 != elements.1 {
            return Ok(false);
        }
        if self.has_padded_dimensions() || output.has_padded_dimensions() {
            return Ok(false);
        }
        Ok(elements.0 == 0 || self.runs(orders.0)? == output.runs(orders.1)?)
    }

    /// The function from row-major number to place, as sizes and strides from the last dimension to the first.
    ///
    /// Dimensions of size 1 are left out, and a dimension whose stride continues the one behind it is merged with it.
    /// What is left is the function's own: the first size is where the places stop growing by the first stride, and so
    /// on. So two shapes place all elements alike exactly if their runs are equal.
    fn runs(&self, order: &[usize]) -> Result<Vec<(u64, u64)>> {
        let sizes = self.bounds()?;
        let mut strides = vec![0; self.rank()];
        let mut stride = 1;
        for &dim in order {
            strides[dim] = stride;
            stride *= sizes[dim]; // at most the number of elements
        }
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (&size, &stride) in sizes.iter().zip(&strides).rev().filter(|&(&size, _)| size != 1) {
            match runs.last_mut() {
                Some((run, of)) if *run * *of == stride => *run *= size,
                _ => runs.push((size, stride)),
            }
        }
        Ok(runs)
    }

    /// XLA's `ShapeUtil::TransposeIsBitcast`: the transpose that makes dimension `dimension_mapping[i]` of this shape
    /// dimension `i` of `output` agrees with the dimension orders.
    ///
    /// XLA never looks at the sizes, so it trusts that `output` has those of the transpose; nor does it forgive a
    /// dimension of size 1 in another place of the order. Tiles, `E`, `L` and `S` are ignored. Padded dimensions are a
    /// no only where both shapes have them, as in older XLA.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let rows = ArrayShape::new(Element::F32, [10, 5u64])?;
    /// let columns = ArrayShape::new(Element::F32, [5, 10u64])?.with_layout(Layout::new([0, 1])?)?;
    /// assert!(rows.transpose_is_bitcast_by_order(&columns, &[1, 0], false)?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A mapping that is not a permutation of the dimensions of `output`, a shape without a layout, free strides.
    pub fn transpose_is_bitcast_by_order(
        &self,
        output: &ArrayShape,
        dimension_mapping: &[usize],
        ignore_element_type: bool,
    ) -> Result<bool> {
        check_rank("dimension_mapping", dimension_mapping.len(), output.rank())?;
        check_permutation("dimension_mapping", dimension_mapping)?;
        let (input_order, output_order) = (self.dimension_order()?, output.dimension_order()?);
        let both_padded = self.has_padded_dimensions() && output.has_padded_dimensions();
        let same_order = output_order.iter().map(|&dim| &dimension_mapping[dim]).eq(input_order);
        Ok(same_order && !both_padded && self.has_type_of(output, ignore_element_type))
    }

    /// XLA's `ShapeUtil::IsReshapeOrTransposeBitcast`: the shapes are equal, or a reshape or a transpose between them is
    /// a bitcast when tiles, `E`, `L` and `S` are ignored.
    ///
    /// XLA's code asks for the transpose the wrong way round and so misses those that are not their own inverse, such as
    /// `f32[2,3,5]{2,1,0}` to `f32[3,5,2]{1,0,2}`; here they are found.
    ///
    /// # Errors
    /// See [`ArrayShape::reshape_is_bitcast_untiled`].
    pub fn is_reshape_or_transpose_bitcast_untiled(
        &self,
        output: &ArrayShape,
        ignore_element_type: bool,
    ) -> Result<bool> {
        if !self.has_type_of(output, ignore_element_type) {
            return Ok(false);
        }
        let equal = crate::xla::Equal::new().ignore_element_type().arrays_equal(self, output);
        Ok(equal
            || self.reshape_is_bitcast_untiled(output, true)?
            || self.deduce_transpose_dimensions_for_bitcast(output)?.is_some())
    }

    /// XLA's `ShapeUtil::DeduceTransposeDimensionsForBitcast`: the transpose to `output` that is a bitcast when tiles,
    /// `E`, `L` and `S` are ignored, or none. Dimension `i` of `output` is dimension `dims[i]` here.
    ///
    /// Padded dimensions must agree as well as the sizes.
    ///
    /// # Errors
    /// A shape without a layout, or free strides.
    pub fn deduce_transpose_dimensions_for_bitcast(&self, output: &ArrayShape) -> Result<Option<Vec<usize>>> {
        let (input_order, output_order) = (self.dimension_order()?, output.dimension_order()?);
        if self.rank() != output.rank() {
            return Ok(None);
        }
        let dims: Vec<usize> = inverse(output_order).iter().map(|&minor| input_order[minor]).collect();
        let sizes_of = |array: &ArrayShape, dim: usize| {
            let padding = array.layout().and_then(Layout::padding);
            let bound = array.dims()[dim].bound();
            (bound, padding.map_or(bound, |padding| Some(padding.padded_dimensions[dim])))
        };
        let sizes_fit = (0..).zip(&dims).all(|(to, &from)| sizes_of(self, from) == sizes_of(output, to));
        Ok(sizes_fit.then_some(dims))
    }

    /// XLA's `ShapeUtil::IsDecomposableBitcast`: both shapes have layouts and as many elements.
    ///
    /// Element types and their widths are not compared, and an unbounded dimension is a no.
    pub fn is_decomposable_bitcast(&self, output: &ArrayShape) -> bool {
        self.layout().is_some()
            && output.layout().is_some()
            && self.elements_in().is_ok_and(|elements| output.elements_in().is_ok_and(|out| elements == out))
    }

    /// XLA's `ShapeUtil::DecomposeBitcast`: the bitcast from this shape to `output` as a reshape, a transpose or both,
    /// or none if it [cannot be](ArrayShape::is_decomposable_bitcast) or padded dimensions stand in the way.
    ///
    /// As in XLA, tiles and `E` play no part in what is found: the answer is that of the untiled arrays. Element types
    /// are not compared.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Bitcast, Layout}};
    /// let input = ArrayShape::new(Element::F32, [3, 7, 6, 4u64])?;
    /// let output = ArrayShape::new(Element::F32, [3, 6, 4, 7u64])?;
    /// let output = output.with_layout(Layout::new([2, 1, 3, 0])?)?;
    /// assert_eq!(input.decompose_bitcast(&output)?, Some(Bitcast::Transpose { dims: vec![0, 2, 3, 1] }));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Free strides.
    pub fn decompose_bitcast(&self, output: &ArrayShape) -> Result<Option<Bitcast>> {
        if !self.is_decomposable_bitcast(output) {
            return Ok(None);
        }
        if self.reshape_is_bitcast_untiled(output, true)? {
            return Ok(Some(Bitcast::Reshape));
        }
        if let Some(dims) = self.deduce_transpose_dimensions_for_bitcast(output)? {
            return Ok(Some(Bitcast::Transpose { dims }));
        }
        let both = self.decompose_bitcast_to_trt(output)?;
        Ok(both.map(|both| Bitcast::TransposeReshapeTranspose(Box::new(both))))
    }

    /// XLA's `ShapeUtil::DecomposeBitcastToTrt`: the bitcast from this shape to `output` as a transpose, a reshape and a
    /// transpose, or none if it [cannot be](ArrayShape::is_decomposable_bitcast) or either shape is padded.
    ///
    /// See [`ArrayShape::make_shape_with_descending_layout_and_same_physical_layout`] for the two shapes between, and
    /// [`ArrayShape::decompose_bitcast`] for what plays no part.
    ///
    /// # Errors
    /// Free strides.
    pub fn decompose_bitcast_to_trt(&self, output: &ArrayShape) -> Result<Option<TransposeReshapeTranspose>> {
        let padded = self.has_padded_dimensions() || output.has_padded_dimensions();
        if padded || !self.is_decomposable_bitcast(output) {
            return Ok(None);
        }
        let last = output.rank().wrapping_sub(1); // unused where the rank is 0
        Ok(Some(TransposeReshapeTranspose {
            transpose1_dims: self.dimension_order()?.iter().rev().copied().collect(),
            transpose1_shape: self.make_shape_with_descending_layout_and_same_physical_layout()?,
            reshape_shape: output.make_shape_with_descending_layout_and_same_physical_layout()?,
            transpose2_dims: inverse(output.dimension_order()?).iter().map(|&minor| last - minor).collect(),
        }))
    }

    fn has_type_of(&self, other: &ArrayShape, ignore_element_type: bool) -> bool {
        ignore_element_type || self.element_type() == other.element_type()
    }
}

impl Shape {
    /// XLA's `ShapeUtil::IsDecomposableBitcast`: see [`ArrayShape::is_decomposable_bitcast`]. Other shapes than arrays
    /// are not.
    pub fn is_decomposable_bitcast(&self, output: &Shape) -> bool {
        match (self.as_array(), output.as_array()) {
            (Some(input), Some(output)) => input.is_decomposable_bitcast(output),
            _ => false,
        }
    }
}
