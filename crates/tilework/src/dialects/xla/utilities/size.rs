//! How many elements and bytes a shape has, in XLA's own counting.
//!
//! XLA's byte sizes count elements and know nothing of tiles, `L`, `M` and `SC`; the older layout's padded dimensions
//! they do count. XLA's two functions that look at a tile are in `first_tile`.

use crate::element::Element;
use crate::error::{Error, Result, counted};
use crate::xla::utilities::index::{add, multiply, product, too_many};
use crate::xla::utilities::make::unbounded;
use crate::xla::value::dims::check_dimension;
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::{ArrayShape, Shape};

impl ArrayShape {
    /// XLA's `ShapeUtil::ElementsIn`: the number of elements, with every bounded dimension at its bound.
    ///
    /// # Errors
    /// An unbounded dimension, unless another dimension is 0.
    pub fn elements_in(&self) -> Result<u64> {
        let has_none = self.is_zero_element_array();
        match self.dims().iter().position(|dim| dim.bound().is_none()) {
            Some(number) if !has_none => Err(unbounded(number)),
            _ => Ok(self.static_extent_product()),
        }
    }

    /// XLA's `Layout::StaticExtentProduct`: the product of the sizes and bounds, unbounded dimensions left out.
    pub fn static_extent_product(&self) -> u64 {
        // A shape that exists has fewer than 2^63 bytes, so its elements can be counted.
        product(self.dims().iter().filter_map(|dim| dim.bound())).unwrap_or(u64::MAX)
    }

    /// XLA's `ShapeUtil::IsZeroElementArray`: some size is 0.
    pub fn is_zero_element_array(&self) -> bool {
        self.dims().iter().any(|dim| dim.bound() == Some(0))
    }

    /// XLA's `ShapeUtil::IsScalar`: no dimensions.
    pub fn is_scalar(&self) -> bool {
        self.rank() == 0
    }

    /// XLA's `ShapeUtil::IsEffectiveScalar`: every dimension has size 1.
    pub fn is_effective_scalar(&self) -> bool {
        self.true_num_dimensions() == 0
    }

    /// The number of dimensions of a size above 1: the true rank of XLA's document on shapes.
    ///
    /// A dimension that is dynamic counts when its bound is above 1.
    pub fn true_rank(&self) -> usize {
        self.dims().iter().filter(|dim| dim.bound().is_none_or(|size| size > 1)).count()
    }

    /// XLA's `ShapeUtil::TrueNumDimensions`: the number of dimensions of a size other than 1, so that 0 counts too.
    ///
    /// XLA's document leaves 0 out: see [`ArrayShape::true_rank`].
    pub fn true_num_dimensions(&self) -> usize {
        self.dims().iter().filter(|dim| dim.bound() != Some(1)).count()
    }

    /// XLA's `ShapeUtil::ElementSizeInBits`: `E`, or the bytes of the type in bits, so that `pred` and `s4` take 8.
    pub fn element_size_in_bits(&self) -> u32 {
        match self.layout().map_or(0, Layout::element_size_in_bits) {
            0 => 8 * self.element_bytes(),
            bits => bits,
        }
    }

    /// Bytes of one element that no layout packs.
    pub(crate) fn element_bytes(&self) -> u32 {
        self.element_type().bytes()
    }

    /// XLA's `ShapeUtil::ByteSizeOfElements`: bytes of the elements, and of the padding by `padded_dimensions`.
    ///
    /// XLA leaves out tiles, `L`, `M` and `SC` here, and so does this; free strides are left out too.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Layout}};
    /// let layout = Layout::new([0])?.with_element_size_in_bits(4);
    /// let shape = ArrayShape::new(Element::S4, [9u64])?.with_layout(layout)?;
    /// assert_eq!(shape.byte_size_of_elements()?, 5);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// An unbounded dimension, or more bytes than 63 bits can count.
    pub fn byte_size_of_elements(&self) -> Result<u64> {
        let elements = match self.has_padded_dimensions() {
            true => {
                let sizes = (0..self.rank()).map(|dim| self.allocated_size(dim));
                product(sizes.collect::<Result<Vec<u64>>>()?).ok_or_else(too_many)?
            }
            false => self.elements_in()?,
        };
        self.bytes_of(elements)
    }

    /// The bytes of this many elements side by side.
    pub(crate) fn bytes_of(&self, elements: u64) -> Result<u64> {
        let bits = u128::from(elements) * u128::from(self.element_size_in_bits());
        u64::try_from(bits.div_ceil(8)).ok().filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(too_many)
    }

    /// XLA's older `LayoutUtil::IsPadded`: some of the `padded_dimensions` is larger than its size.
    pub fn has_padded_dimensions(&self) -> bool {
        let padding = self.layout().and_then(Layout::padding);
        padding.is_some_and(|padding| {
            padding
                .padded_dimensions
                .iter()
                .zip(self.dims())
                .any(|(&padded, dim)| Some(padded) != dim.bound())
        })
    }

    /// XLA's `ShapeUtil::UnpackedByteStrides`: bytes between neighbours along each dimension, when tiles and `E` are
    /// ignored.
    ///
    /// ```
    /// use tilework::{Element, xla::ArrayShape};
    /// let shape = ArrayShape::new(Element::F16, [5, 7, 9u64])?;
    /// assert_eq!(shape.byte_strides_untiled()?, [126, 18, 2]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// No layout, an unbounded dimension that is not the most major, a stride above 63 bits.
    pub fn byte_strides_untiled(&self) -> Result<Vec<i64>> {
        let bytes = self.element_bytes();
        if let Some(strides) = self.require_layout()?.strides() {
            let in_bytes = |&stride: &i64| stride.checked_mul(i64::from(bytes)).ok_or_else(too_many);
            return strides.strides.iter().map(in_bytes).collect();
        }
        let mut strides = vec![0; self.rank()];
        let mut stride = Ok(u64::from(bytes));
        for &dim in self.dimension_order()? {
            let here = stride?;
            strides[dim] = i64::try_from(here).map_err(|_| too_many())?;
            // Whether the most major size is known, and what it would come to, does not matter.
            stride = self.allocated_size(dim).and_then(|size| multiply(here, size));
        }
        Ok(strides)
    }

    /// How the array lies in memory.
    pub(crate) fn require_layout(&self) -> Result<&Layout> {
        self.layout().ok_or_else(|| {
            Error::new("the shape has no layout")
                .field("layout")
                .rule("the answer depends on the order of the dimensions in memory")
                .accepts("a layout such as {1,0}")
        })
    }

    pub(crate) fn check_dimension(&self, dim: usize) -> Result<()> {
        check_dimension(dim, self.rank())
    }
}

impl Shape {
    /// XLA's `ShapeUtil::ElementsInRecursive`: the elements of all arrays together.
    ///
    /// # Errors
    /// A token or an opaque value, an unbounded dimension, more elements than 63 bits can count.
    pub fn elements_in_recursive(&self) -> Result<u64> {
        self.leaves().try_fold(0, |sum, leaf| match leaf {
            Shape::Array(array) | Shape::Buffer(array) => add(sum, array.elements_in()?),
            _ => Err(Error::new(format!("a shape of type {} has no elements", leaf.element_type()))
                .field("shape")
                .accepts("arrays and tuples of arrays")),
        })
    }

    /// XLA's `ShapeUtil::ByteSizeOf`: bytes of the elements of an array, or of the pointers in a tuple.
    ///
    /// Like [`ArrayShape::byte_size_of_elements`] it knows nothing of tiles. A tuple has one pointer for each of its
    /// elements, whatever these hold; an opaque value is one pointer; a token takes nothing.
    ///
    /// # Errors
    /// A tuple or an opaque value without a pointer size or with one of 0, an unbounded dimension, more bytes than
    /// 63 bits can count.
    pub fn byte_size_of(&self, pointer_size: Option<u64>) -> Result<u64> {
        let pointers = |count: usize| match pointer_size {
            Some(bytes) if bytes > 0 => multiply(bytes, count as u64),
            _ => Err(Error::new(format!("a pointer size is needed for type {}", self.element_type()))
                .field("pointer size")
                .rule("a tuple or an opaque value is stored as pointers")
                .accepts("1 or more bytes, usually 8")),
        };
        match self {
            Shape::Array(array) | Shape::Buffer(array) => array.byte_size_of_elements(),
            Shape::Tuple(elements) => pointers(elements.len()),
            Shape::Opaque => pointers(1),
            Shape::Token => Ok(0),
        }
    }

    /// The bytes XLA's CPU client reports: [`Shape::byte_size_of`] with pointers of 8 bytes, and for a dynamic array
    /// 4 more a dimension.
    ///
    /// # Errors
    /// See [`Shape::byte_size_of`].
    pub fn cpu_shape_size_bytes(&self) -> Result<u64> {
        let bytes = self.byte_size_of(Some(8))?;
        match self.as_array() {
            Some(array) => add(bytes, dynamic_sizes(array)),
            None => Ok(bytes),
        }
    }

    /// XLA's `ShapeUtil::SerializedSize`: bytes of a literal of this shape as XLA writes it, shape included.
    ///
    /// # Errors
    /// A token or an opaque value, a shape that has no proto (see [`Shape::to_proto`]), an unbounded dimension.
    pub fn serialized_size(&self) -> Result<u64> {
        // Eight bytes hold the length of the proto.
        let head = add(8, self.to_proto()?.len() as u64)?;
        self.leaves().try_fold(head, |sum, leaf| {
            let Some(array) = leaf.as_array() else {
                return Err(Error::new(format!("a {} cannot be serialized", leaf.element_type()))
                    .field("shape")
                    .accepts("arrays and tuples of arrays"));
            };
            let element = array.element_type();
            let data = match element {
                Element::Pred => array.elements_in()?.div_ceil(8),
                _ if element.is_sub_byte_number() => {
                    array.elements_in()?.div_ceil(u64::from(8 / element.bits()))
                }
                _ => array.byte_size_of_elements()?,
            };
            add(sum, add(data, dynamic_sizes(array))?)
        })
    }
}

/// Four bytes for the size of every dimension, if any is dynamic.
fn dynamic_sizes(array: &ArrayShape) -> u64 {
    if array.is_static() { 0 } else { 4 * array.rank() as u64 }
}

/// XLA's `LayoutUtil::ByteStridesIsMajorToMinor`: these strides in bytes are those of a packed row-major array.
///
/// # Errors
/// Another number of strides than dimensions.
pub fn byte_strides_is_major_to_minor(byte_strides: &[i64], dims: &[u64], element: Element) -> Result<bool> {
    if byte_strides.len() != dims.len() {
        return Err(Error::new(format!(
            "{} byte strides for {}",
            byte_strides.len(),
            counted(dims.len() as u64, "dimension")
        ))
        .field("byte strides")
        .rule("every dimension has one stride"));
    }
    let mut expected = Some(u64::from(element.bytes()));
    for (&stride, &size) in byte_strides.iter().zip(dims).rev() {
        if u64::try_from(stride).ok() != expected || expected.is_none() {
            return Ok(false);
        }
        expected = expected.and_then(|bytes| bytes.checked_mul(size));
    }
    Ok(true)
}
