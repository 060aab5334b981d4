//! What XLA answers about a tiled array by looking only at its first tile.
//!
//! XLA's `LayoutUtil::LinearIndex`, `ShapeUtil::ArraySize` and `ShapeUtil::ArrayDataSize` assume that the tiles after
//! the first add no padding and move nothing, which XLA's document on tiles contradicts: `f32[4,8]{1,0:T(3,4)(2,1)}`
//! needs 64 places and gets 48. These are XLA's numbers, for comparing with XLA.

use crate::error::{Error, Result};
use crate::xla::utilities::index::{add, multiply, product, too_many};
use crate::xla::utilities::make::unbounded;
use crate::xla::value::layout::SplitConfig;
use crate::xla::value::shape::ArrayShape;
use crate::xla::value::tile::TileDim;

impl ArrayShape {
    /// XLA's `LayoutUtil::LinearIndex`: the place of an element by the first tile alone, which an array of one
    /// dimension ignores too.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout, Tile}};
    /// let layout = Layout::new([1, 0])?.with_tiles([Tile::new([2, 2])?])?;
    /// let shape = ArrayShape::new(Element::F32, [3, 5u64])?.with_layout(layout)?;
    /// assert_eq!(shape.linear_index_by_first_tile(&[2, 3])?, 17);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An index of another rank or outside the sizes, no layout, free strides, a `*` in the first tile (for which
    /// XLA's number means nothing), more places than 63 bits can count.
    pub fn linear_index_by_first_tile(&self, index: &[u64]) -> Result<u64> {
        self.check_index(index)?;
        let tile = self.first_tile()?;
        let order = self.dimension_order()?;
        if self.rank() == 1 {
            return Ok(index[0]);
        }
        let mut tile_stride = product(tile.iter().copied()).ok_or_else(too_many)?;
        let (mut place, mut stride_within) = (0, 1);
        for (minor, &dim) in order.iter().enumerate() {
            let (at, allocated) = (index[dim], self.allocated_size(dim)?);
            match tile.iter().rev().nth(minor) {
                Some(&size) => {
                    place = add(place, multiply(tile_stride, at / size)?)?;
                    place = add(place, multiply(stride_within, at % size)?)?;
                    tile_stride = multiply(tile_stride, allocated.div_ceil(size))?;
                    stride_within = multiply(stride_within, size)?;
                }
                None => {
                    place = add(place, multiply(tile_stride, at)?)?;
                    tile_stride = multiply(tile_stride, allocated)?;
                }
            }
        }
        Ok(place)
    }

    /// XLA's `ShapeUtil::ArraySize`: the bytes of the buffer by the first tile alone.
    ///
    /// Without tiles it is [`ArrayShape::byte_size_of_elements`], which leaves `L` out as well. With one, every
    /// dimension counts with its largest split.
    ///
    /// # Errors
    /// No layout, free strides, a `*` in the first tile (for which XLA's number means nothing), an unbounded
    /// dimension, more bytes than 63 bits can count.
    pub fn array_size_by_first_tile(&self) -> Result<u64> {
        let tile = self.first_tile()?;
        if tile.is_empty() {
            return self.byte_size_of_elements();
        }
        let dims = self.dimension_order()?;
        let mut sizes = Vec::with_capacity(dims.len().max(tile.len()));
        for minor in 0..dims.len().max(tile.len()) {
            let size = dims.get(minor).map_or(Ok(1), |&dim| self.max_split_size(dim))?;
            // Within 64 bits: rounding up adds less than a tile to a size, and both have 63 bits.
            sizes.push(
                tile.iter().rev().nth(minor).map_or(size, |&tile| size.div_ceil(tile).saturating_mul(tile)),
            );
        }
        let elements = product(sizes).ok_or_else(too_many)?;
        let alignment = self.require_layout()?.tail_padding_alignment_in_elements();
        self.bytes_of(multiply(elements.div_ceil(alignment), alignment)?)
    }

    /// XLA's `ShapeUtil::ArrayDataSize`: the bytes up to the last element, which the first tile alone places.
    ///
    /// # Errors
    /// See [`ArrayShape::linear_index_by_first_tile`].
    pub fn array_data_size_by_first_tile(&self) -> Result<u64> {
        if self.is_zero_element_array() {
            return Ok(0);
        }
        let last = self.dims().iter().enumerate();
        let last = last.map(|(number, dim)| Ok(dim.bound().ok_or_else(|| unbounded(number))? - 1));
        let place = self.linear_index_by_first_tile(&last.collect::<Result<Vec<u64>>>()?)?;
        self.bytes_of(add(place, 1)?)
    }

    /// XLA's `LayoutUtil::MaxSplitSize`: the size of the largest piece into which `SC` cuts this logical dimension.
    ///
    /// Only the first configuration of the dimension counts, and indices out of order are not sorted, as in XLA.
    ///
    /// # Errors
    /// A dimension outside the rank or unbounded.
    pub fn max_split_size(&self, dim: usize) -> Result<u64> {
        self.check_dimension(dim)?;
        let size = self.allocated_size(dim)?;
        let Some(layout) = self.layout() else { return Ok(size) };
        let splits = |config: &&SplitConfig| {
            usize::try_from(config.dimension).is_ok_and(|physical| layout.major(physical) == dim)
        };
        let Some(config) = layout.split_configs().iter().find(splits) else { return Ok(size) };
        let (mut largest, mut last) = (0, 0);
        for &at in &config.split_indices {
            largest = largest.max(at - last); // they increase, and are below the size
            last = at;
        }
        Ok(largest.max(size - last))
    }

    /// XLA's `LayoutUtil::MaxElementsInPerSplit`: the elements of the largest piece into which `SC` cuts the array.
    ///
    /// # Errors
    /// See [`ArrayShape::max_split_size`].
    pub fn max_elements_in_per_split(&self) -> Result<u64> {
        let sizes: Vec<u64> = (0..self.rank()).map(|dim| self.max_split_size(dim)).collect::<Result<_>>()?;
        product(sizes).ok_or_else(too_many)
    }

    /// XLA's `LayoutUtil::GetSplitConfig`: the only split configuration, if there is one.
    ///
    /// # Errors
    /// More than one, where XLA aborts.
    pub fn split_config(&self) -> Result<Option<&SplitConfig>> {
        match self.layout().map_or(&[][..], |layout| layout.split_configs()) {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            several => Err(Error::new(format!("{} split configurations", several.len()))
                .field("split_configs")
                .accepts("one")),
        }
    }

    /// The sizes of the first tile, or none at all.
    fn first_tile(&self) -> Result<Vec<u64>> {
        let tile = self.require_layout()?.tiles().first();
        let size = |dim: &TileDim| match dim {
            TileDim::Size(size) => Ok(*size),
            TileDim::Combine => Err(Error::new("* in the first tile")
                .field("tiles")
                .rule("XLA multiplies by it as if it were a size, and its answer means nothing")
                .accepts("a first tile of sizes only")),
        };
        tile.map_or(&[][..], |tile| tile.dims()).iter().map(size).collect()
    }
}
