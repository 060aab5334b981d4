//! What XLA's layouts of today cannot say: the older layout's padding, and Tilework's free strides.

use crate::xla::value::element::PrimitiveType;

use PrimitiveType as P;

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
    /// use tilework::xla::{PaddingValue, PrimitiveType};
    /// assert_eq!(PaddingValue::One.bits(PrimitiveType::Bf16), Some(0x3f80));
    /// assert_eq!(PaddingValue::Lowest.bits(PrimitiveType::S8), Some(0x80));
    /// assert_eq!(PaddingValue::Highest.bits(PrimitiveType::F8e4m3fn), Some(0x7e)); // 448: it has no infinity
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn bits(self, element: PrimitiveType) -> Option<u128> {
        let width = element.bit_width()?;
        let ones = u128::MAX >> (128 - width);
        match self {
            PaddingValue::Invalid | PaddingValue::Unknown => None,
            PaddingValue::Zero if element == P::F8e8m0fnu => None, // it has no zero
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
fn float_bits(value: PaddingValue, element: PrimitiveType) -> Option<u128> {
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
