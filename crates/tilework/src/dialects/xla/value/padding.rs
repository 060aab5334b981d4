//! What XLA's layouts of today cannot say: the older layout's padding, and Tilework's free strides.

use crate::element::Element;

/// The padding of the older `Layout`: `padded_dimensions` and `padding_value`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Padding {
    /// The allocated size of each logical dimension, at least its size.
    pub padded_dimensions: Vec<u64>,
    /// What the padding holds.
    pub value: PaddingValue,
}

/// The older `PaddingValue`, with its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PaddingValue {
    /// `INVALID_PAD`: nothing is said about the padding.
    #[default]
    Invalid = 0,
    /// `ZERO_PAD`
    Zero = 1,
    /// `ONE_PAD`
    One = 2,
    /// `LOWEST_PAD`: the lowest value of the element type.
    Lowest = 3,
    /// `HIGHEST_PAD`: the highest value of the element type.
    Highest = 4,
    /// `UNKNOWN_PAD`: the padding may hold anything.
    Unknown = 5,
}

impl PaddingValue {
    const ALL: [(PaddingValue, &'static str); 6] = [
        (PaddingValue::Invalid, "invalid"),
        (PaddingValue::Zero, "zero"),
        (PaddingValue::One, "one"),
        (PaddingValue::Lowest, "lowest"),
        (PaddingValue::Highest, "highest"),
        (PaddingValue::Unknown, "unknown"),
    ];

    /// The word Tilework writes after `pad(..)=`.
    pub fn name(self) -> &'static str {
        PaddingValue::ALL[self as usize].1
    }

    /// The value that this word names.
    pub fn from_name(name: &str) -> Option<PaddingValue> {
        PaddingValue::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The number in the older `xla_data.proto`.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// The value with this number.
    pub fn from_number(number: i32) -> Option<PaddingValue> {
        PaddingValue::ALL.get(usize::try_from(number).ok()?).map(|row| row.0)
    }
}

/// Tilework's own `strides(..),base(..),size(..)`: what XLA's notation cannot say. In elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strides {
    /// The stride of each logical dimension: 0 broadcasts, negative reverses.
    pub strides: Vec<i64>,
    /// The place of element (0, …, 0); none stands for the least that keeps every place at 0 or above.
    pub base: Option<u64>,
    /// Allocated elements; none stands for the last place plus one.
    pub size: Option<u64>,
}

impl PaddingValue {
    /// The bits of this value in an element type: as XLA's `MinValue` and `MaxValue` have it, the lowest and highest of
    /// a floating-point type are its infinities, where it has any.
    ///
    /// ```
    /// use tilework::{Element, xla::PaddingValue};
    /// assert_eq!(PaddingValue::One.bits(Element::Bf16), Some(0x3f80));
    /// assert_eq!(PaddingValue::Lowest.bits(Element::S8), Some(0x80));
    /// assert_eq!(PaddingValue::Highest.bits(Element::F8e4m3fn), Some(0x7e)); // 448: it has no infinity
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn bits(self, element: Element) -> Option<u128> {
        match self {
            PaddingValue::Invalid | PaddingValue::Unknown => None,
            PaddingValue::Zero => element.zero(),
            PaddingValue::One => element.one(),
            PaddingValue::Lowest => element.lowest(),
            PaddingValue::Highest => element.highest(),
        }
    }
}
