//! Where the elements of an array are, by the documents: every tile, `*`, padding and free strides taken into account.
//!
//! These are the plain names. XLA's own functions of these names look at the first tile only, or at none; they are here
//! under names that say so (`…_by_first_tile`, `…_untiled`).

use super::layout::{Layout, PaddingValue};
use super::shape::ArrayShape;
use crate::compare::Verdict;
use crate::error::{Error, Result};
use crate::locate::Place;

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
            Verdict::No(format!("element types {} and {}", self.element_type(), output.element_type()))
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
    /// None if it says nothing, or if the element type has no such value (complex types have no lowest).
    pub fn padding_bits(&self) -> Option<u128> {
        self.layout().and_then(Layout::padding)?.value.bits(self.element_type())
    }
}

impl PaddingValue {
    /// The bits of this value in an element type: as XLA's `MinValue` and `MaxValue` have it, the lowest and highest of
    /// a floating-point type are its infinities, where it has any.
    ///
    /// ```
    /// use tilework::xla::{PaddingValue, PrimitiveType};
    /// assert_eq!(PaddingValue::One.bits(PrimitiveType::Bf16), Some(0x3f80));
    /// assert_eq!(PaddingValue::Lowest.bits(PrimitiveType::S8), Some(0x80));
    /// assert_eq!(PaddingValue::Highest.bits(PrimitiveType::F8e4m3fn), Some(0x7e)); // 448: it has no infinity
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn bits(self, element: super::PrimitiveType) -> Option<u128> {
        let width = element.bit_width()?;
        let ones = u128::MAX >> (128 - width);
        match self {
            PaddingValue::Invalid | PaddingValue::Unknown => None,
            PaddingValue::Zero if element == super::PrimitiveType::F8e8m0fnu => None, // it has no zero
            PaddingValue::Zero => Some(0),
            _ if element.is_floating_point() => float_bits(self, element),
            PaddingValue::One => match element.complex_component() {
                Some(part) => PaddingValue::One.bits(part), // the imaginary part, 0, is in the upper half
                None => (!(element.is_signed_integral() && width == 1)).then_some(1),
            },
            _ if element.is_complex() => None,
            PaddingValue::Lowest if element.is_signed_integral() => Some(1 << (width - 1)),
            PaddingValue::Lowest => Some(0),
            PaddingValue::Highest if element.is_signed_integral() => Some(ones >> 1),
            PaddingValue::Highest => Some(ones),
        }
    }
}

/// One, lowest and highest of each floating-point format, as its bits.
fn float_bits(value: PaddingValue, element: super::PrimitiveType) -> Option<u128> {
    use super::PrimitiveType as P;
    let (one, lowest, highest): (u128, u128, u128) = match element {
        P::F16 => (0x3c00, 0xfc00, 0x7c00),
        P::Bf16 => (0x3f80, 0xff80, 0x7f80),
        P::F32 => (0x3f80_0000, 0xff80_0000, 0x7f80_0000),
        P::F64 => (0x3ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
        P::F8e5m2 => (0x3c, 0xfc, 0x7c),
        P::F8e4m3 => (0x38, 0xf8, 0x78),
        P::F8e3m4 => (0x30, 0xf0, 0x70),
        // No infinities from here on: the largest finite values.
        P::F8e4m3fn => (0x38, 0xfe, 0x7e),
        P::F8e4m3b11fnuz => (0x58, 0xff, 0x7f),
        P::F8e5m2fnuz | P::F8e4m3fnuz => (0x40, 0xff, 0x7f),
        P::F4e2m1fn => (0x2, 0xf, 0x7),
        P::F6e3m2fn => (0x0c, 0x3f, 0x1f),
        P::F6e2m3fn => (0x08, 0x3f, 0x1f),
        P::F8e8m0fnu => (0x7f, 0x00, 0xfe), // exponents alone: 2^-127 to 2^127
        _ => return None,
    };
    match value {
        PaddingValue::One => Some(one),
        PaddingValue::Lowest => Some(lowest),
        PaddingValue::Highest => Some(highest),
        _ => None,
    }
}
