//! XLA's checks of shapes and layouts, with XLA's messages.
//!
//! A value that exists here is valid by itself, so most of XLA's checks stand in the constructors. What is left is what
//! XLA asks of the parts together: a layout where one is needed, no fields of sparse arrays on dense ones, and a layout
//! that fits a shape it was not made for.

use crate::error::{Error, Result};
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::{ArrayShape, Shape};
use crate::xla::value::tile::TileDim;

impl Shape {
    /// XLA's `ShapeUtil::ValidateShape`: every array in the shape has a layout, and it is one of a dense array.
    ///
    /// [`Error::found`] is XLA's message. XLA also refuses some shapes for the order of their sizes:
    /// see [`ArrayShape::validate_sizes_as_xla`].
    ///
    /// ```
    /// use tilework::{Element, xla::Shape};
    /// let shape = Shape::array(Element::F32, [2, 3u64])?;
    /// assert!(shape.validate().is_ok());
    /// let error = shape.without_layout().validate().unwrap_err();
    /// assert_eq!(error.found(), "shape f32[2,3] does not have a layout");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An array without a layout, or with index or pointer types or a physical shape, which only sparse arrays have.
    pub fn validate(&self) -> Result<()> {
        self.validate_layouts(false)
    }

    /// XLA's `ShapeUtil::ValidateShapeWithOptionalLayout`: [`Shape::validate`], where arrays may have no layout.
    ///
    /// # Errors
    /// A layout with index or pointer types or a physical shape, which only sparse arrays have.
    pub fn validate_with_optional_layout(&self) -> Result<()> {
        self.validate_layouts(true)
    }

    fn validate_layouts(&self, allow_missing_layouts: bool) -> Result<()> {
        for array in self.leaves().filter_map(Shape::as_array) {
            match array.layout() {
                Some(layout) => layout.validate_for_array(array)?,
                None if allow_missing_layouts => {}
                None => {
                    return Err(Error::new(format!("shape {} does not have a layout", array.human_string()))
                        .field("layout")
                        .accepts("a layout such as {1,0}"));
                }
            }
        }
        Ok(())
    }
}

impl Layout {
    /// XLA's `LayoutUtil::ValidateLayoutForShape`: whether the layout fits the shape.
    ///
    /// [`Error::found`] is XLA's message. That about padding is from the XLA that had padded dimensions.
    ///
    /// ```
    /// use tilework::{Element, xla::{Layout, Shape}};
    /// let error = Layout::new([0])?.validate_for_shape(&Shape::array(Element::F32, [2, 3u64])?).unwrap_err();
    /// assert_eq!(
    ///     error.found(),
    ///     "layout minor_to_major field contains 1 elements, but shape has 2 dimensions: {0}; shape: f32[2,3]"
    /// );
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A tuple, another rank, a padded dimension below its size, fields that only sparse arrays have, or a split index
    /// not within its dimension. Tokens and opaque values take any layout, as in XLA.
    pub fn validate_for_shape(&self, shape: &Shape) -> Result<()> {
        match shape {
            Shape::Tuple(_) => Err(Error::new("a single Layout is not valid for tuple shapes")
                .field("layout")
                .rule("every array in a tuple has its own layout")),
            Shape::Array(array) | Shape::Buffer(array) => self.validate_for_array(array),
            Shape::Token | Shape::Opaque => Ok(()),
        }
    }

    /// Asks in XLA's order, so that of several faults the same is named.
    fn validate_for_array(&self, array: &ArrayShape) -> Result<()> {
        let rank = array.rank();
        if self.rank() != rank {
            let order: Vec<String> = self.minor_to_major().iter().map(usize::to_string).collect();
            return Err(Error::new(format!(
                "layout minor_to_major field contains {} elements, but shape has {rank} dimensions: {{{}}}; shape: {}",
                self.rank(),
                order.join(", "),
                array.human_string()
            ))
            .field("minor_to_major")
            .rule("minor_to_major names every dimension exactly once")
            .accepts(format!("{rank} numbers")));
        }
        if let Some(padding) = self.padding() {
            for (number, (padded, dim)) in padding.padded_dimensions.iter().zip(array.dims()).enumerate() {
                if let Some(size) = dim.bound().filter(|size| padded < size) {
                    return Err(Error::new(format!(
                        "for dimension {number}, dimension padding ({padded}) is smaller than the dimension size \
                         ({size}) of the shape"
                    ))
                    .field("padded_dimensions")
                    .accepts(format!("{size} or more")));
                }
            }
        }
        let sparse_only = [
            ("index_primitive_type", self.index_primitive_type().is_some()),
            ("pointer_primitive_type", self.pointer_primitive_type().is_some()),
            ("physical_shape", self.physical_shape().is_some()),
        ];
        if let Some((field, _)) = sparse_only.iter().find(|(_, is_set)| *is_set) {
            let shape = array.human_string();
            return Err(Error::new(format!("layout has a {field}, but is not a sparse array: {shape}"))
                .field(*field)
                .rule("XLA has no sparse arrays any more"));
        }
        for config in self.split_configs() {
            let size = array.dims()[self.major(config.dimension as usize)].bound();
            let below = |index: &u64| size.is_some_and(|size| *index < size);
            if let Some(index) = config.split_indices.iter().find(|index| !below(index)) {
                let size = size.map_or(i64::MIN.to_string(), |size| size.to_string());
                return Err(Error::new(format!(
                    "split config split index is out of bounds: {index} (dim size {size}); shape: {}",
                    array.human_string()
                ))
                .field("split_configs")
                .rule("a dimension is split between two of its elements"));
            }
        }
        Ok(())
    }
}

impl ArrayShape {
    /// XLA's check of the sizes: their product, from left to right, never passes 63 bits.
    ///
    /// A 0 further right does not help, so XLA refuses `f32[4611686018427387904,2,0]` and takes
    /// `f32[0,4611686018427387904,2]`. Here both exist, since both have no elements.
    ///
    /// # Errors
    /// A product that overflows before a 0 is met.
    pub fn validate_sizes_as_xla(&self) -> Result<()> {
        let bounds = self.dims().iter().filter_map(|dim| dim.bound());
        let mut product = Some(1u64);
        for size in bounds {
            product = product.and_then(|product| product.checked_mul(size)).filter(|&n| n <= i64::MAX as u64);
        }
        if product.is_some() {
            return Ok(());
        }
        let (element, shape) = (self.element_type(), self.human_string());
        Err(Error::new(format!("Shape Error: Dimensions overflow. Shape({element}): {shape}"))
            .field("dimensions")
            .rule("XLA multiplies the sizes from left to right")
            .accepts("a 0 before the product passes 9223372036854775807"))
    }

    /// XLA's `ShapeUtil::PackedFactorFor1DInterleavedArray`: how many rows the innermost tile of a tiled vector interleaves.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout, Tile}};
    /// let tiles = [Tile::new([1024])?, Tile::new([128])?, Tile::new([2, 1])?];
    /// let layout = Layout::new([0])?.with_tiles(tiles)?;
    /// let shape = ArrayShape::new(Element::Bf16, [1024u64])?.with_layout(layout)?;
    /// assert_eq!(shape.packed_factor_for_1d_interleaved_array()?, 2);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another rank than 1, or a layout without exactly three tiles of which the third has two sizes.
    pub fn packed_factor_for_1d_interleaved_array(&self) -> Result<u64> {
        if self.rank() == 1
            && let [_, _, third] = self.require_layout()?.tiles()
            && let [TileDim::Size(factor), _] = third.dims()
        {
            return Ok(*factor);
        }
        Err(Error::new(format!("Shape {} is not a 1D interleaved array.", self.human_string()))
            .field("tiles")
            .rule("a 1D interleaved array has one dimension and three tiles, the third of two sizes")
            .accepts("such as bf16[1024]{0:T(1024)(128)(2,1)}"))
    }
}
