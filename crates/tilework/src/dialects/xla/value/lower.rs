//! XLA's shapes as layouts: `ArrayShape` → [`crate::Layout`].

use smallvec::SmallVec;

use crate::error::Result;
use crate::xla::utilities::make::unbounded;
use crate::xla::value::shape::ArrayShape;
use crate::xla::value::tile::TileDim;

impl ArrayShape {
    /// The layout of this array: minor-to-major order, padded dimensions, every tile level with `*`, tail alignment,
    /// `E(bits)`, or free strides. A dynamic dimension counts with its bound; without a layout the array is row-major.
    ///
    /// This is the documented meaning, which for uneven inner tiles and for `*` is more than XLA's own size function
    /// computes: see [`ArrayShape::array_size_by_first_tile`].
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let shape = Shape::parse("bf16[64,300]{1,0:T(8,128)(2,1)}")?;
    /// let layout = shape.as_array().unwrap().lower()?;
    /// assert_eq!((layout.size(), layout.bytes()), (64 * 384, 49152));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An unbounded dimension, or more allocated bytes than 63 bits can count.
    pub fn lower(&self) -> Result<crate::Layout> {
        let mut dims: SmallVec<[u64; 6]> = SmallVec::new();
        for (number, dim) in self.dims().iter().enumerate() {
            dims.push(dim.bound().ok_or_else(|| unbounded(number))?);
        }
        let bits = self.element_size_in_bits();
        let Some(layout) = self.layout() else { return crate::Layout::row_major(&dims, bits) };
        if let Some(free) = layout.strides() {
            return crate::Layout::strided(&dims, bits, &free.strides, free.base, free.size);
        }
        let mut builder = crate::Layout::builder(&dims, bits)?;
        builder.set_order(layout.minor_to_major());
        if let Some(padding) = layout.padding() {
            builder.pad(&padding.padded_dimensions)?;
        }
        for tile in layout.tiles() {
            builder.push_tile(tile.dims().iter().map(|&dim| match dim {
                TileDim::Size(size) => Some(size),
                TileDim::Combine => None,
            }))?;
        }
        builder.set_align(layout.tail_padding_alignment_in_elements());
        builder.build()
    }
}
