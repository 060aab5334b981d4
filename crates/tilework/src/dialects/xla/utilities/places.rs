//! Where the elements of an array are, by the documents: every tile, `*`, padding and free strides taken into account.
//!
//! These are the plain names. XLA's own functions of these names look at the first tile only, or at none; they are here
//! under names that say so (`…_by_first_tile`, `…_untiled`).

use crate::ask::locate::Place;
use crate::ask::verdict::{Difference, Verdict};
use crate::error::{Error, Result};
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::ArrayShape;

impl ArrayShape {
    /// The offset of an element, in elements from the start of the buffer.
    ///
    /// For many indices of one shape, [`lower`](ArrayShape::lower) it once and ask the layout.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let shape = Shape::parse("f32[3,5]{1,0:T(2,2)}")?;
    /// assert_eq!(shape.as_array().unwrap().offset(&[2, 3])?, 17);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ArrayShape::lower`], and an index of another rank or outside the sizes.
    pub fn offset(&self, index: &[u64]) -> Result<u64> {
        self.lower()?.offset(index)
    }

    /// The element at an offset, or which padding stands there.
    ///
    /// # Errors
    /// Those of [`ArrayShape::lower`] and of [`crate::Layout::locate`].
    pub fn locate(&self, offset: u64) -> Result<Place> {
        self.lower()?.locate(offset)
    }

    /// The bytes of the buffer: all padding of all tiles, padded dimensions and the tail included.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let shape = Shape::parse("f32[6,4]{1,0:T(3,2)(2,1)}")?; // 3 rows, cut by 2, are 4
    /// let array = shape.as_array().unwrap();
    /// assert_eq!(array.array_size()?, 4 * 32);
    /// assert_eq!(array.array_size_by_first_tile()?, 4 * 24); // XLA assumes that later tiles add nothing
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ArrayShape::lower`].
    pub fn array_size(&self) -> Result<u64> {
        Ok(self.lower()?.bytes())
    }

    /// Whether a reshape from this array to another moves no data: a reshape-bitcast, tiles and all.
    ///
    /// XLA's own test, which knows no tiles, is `reshape_is_bitcast_untiled`.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let tiled = Shape::parse("f32[8,256]{1,0:T(8,128)}")?;
    /// let flat = Shape::parse("f32[2048]{0}")?;
    /// assert!(tiled.as_array().unwrap().reshape_is_bitcast(flat.as_array().unwrap(), false)?.is_no());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ArrayShape::lower`], of either array.
    pub fn reshape_is_bitcast(&self, output: &ArrayShape, ignore_element_type: bool) -> Result<Verdict> {
        if let Some(verdict) = self.other_type(output, ignore_element_type) {
            return Ok(verdict);
        }
        Ok(self.lower()?.reshape_bitcast(&output.lower()?))
    }

    /// Whether a transpose from this array to another moves no data, where `mapping[k]` is the dimension of this array
    /// that becomes dimension `k` of the output.
    ///
    /// XLA's own test, which compares dimension orders alone, is `transpose_is_bitcast_by_order`.
    ///
    /// # Errors
    /// Those of [`ArrayShape::lower`], of either array, and a mapping that is no permutation of the dimensions.
    pub fn transpose_is_bitcast(
        &self,
        output: &ArrayShape,
        mapping: &[usize],
        ignore_element_type: bool,
    ) -> Result<Verdict> {
        if let Some(verdict) = self.other_type(output, ignore_element_type) {
            return Ok(verdict);
        }
        Ok(self.lower()?.permute(mapping)?.same_buffer(&output.lower()?))
    }

    fn other_type(&self, output: &ArrayShape, ignored: bool) -> Option<Verdict> {
        (!ignored && self.element_type() != output.element_type()).then(|| {
            Verdict::No(Difference::ElementType([self, output].map(|array| array.element_type().to_string())))
        })
    }

    /// The buffer, place by place: the elements, given in row-major index order, and `padding` everywhere else.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// // The older document's example: [2,3], dimension 0 minor, padded to [3,5] with zeros
    /// let shape = Shape::parse("s8[2,3]{0,1:pad(3,5)=zero}")?;
    /// let array = shape.as_array().unwrap();
    /// let buffer = array.image(&['a', 'b', 'c', 'd', 'e', 'f'], '0')?;
    /// assert_eq!(buffer, ['a', 'd', '0', 'b', 'e', '0', 'c', 'f', '0', '0', '0', '0', '0', '0', '0']);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ArrayShape::lower`], another number of elements than the array has, or a buffer larger than memory.
    pub fn image<T: Clone>(&self, elements: &[T], padding: T) -> Result<Vec<T>> {
        let layout = self.lower()?;
        if elements.len() as u64 != layout.len() {
            return Err(Error::new(format!("{} elements for an array of {}", elements.len(), layout.len()))
                .field("elements"));
        }
        let mut buffer = Vec::new();
        let size = usize::try_from(layout.size()).ok().filter(|&size| buffer.try_reserve_exact(size).is_ok());
        let size = size.ok_or_else(|| {
            Error::new(format!("a buffer of {} elements does not fit memory", layout.size())).field("size")
        })?;
        buffer.resize(size, padding);
        let mut next = elements.iter();
        layout.for_each_in_index_order(|_, offset| {
            if let Some(element) = next.next() {
                buffer[offset as usize] = element.clone(); // below the size, which fits memory
            }
        });
        Ok(buffer)
    }

    /// The bits of one element of padding, where the older layout's `padding_value` says them.
    ///
    /// None if it says nothing, or if the element type has no such value (complex types have no lowest). Where elements are
    /// wider than their type, it is the same number there.
    ///
    /// ```
    /// let shape = tilework::xla::Shape::parse("s4[3]{0:pad(5)=lowest}")?;
    /// assert_eq!(shape.as_array().unwrap().padding_bits(), Some(0xf8)); // -8 in a byte
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn padding_bits(&self) -> Option<u128> {
        let value = self.layout().and_then(Layout::padding)?.value;
        value.bits(self.element_type())?; // no error is made for what is none
        self.element_type().fill_bits(value.name(), self.element_size_in_bits()).ok()
    }
}
