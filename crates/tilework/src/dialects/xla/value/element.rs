//! Element types: XLA's `PrimitiveType` with its numbers, names and widths.

use std::fmt;

use crate::error::{Error, Result};

/// XLA's `PrimitiveType`: the type of the elements of an array, or the kind of a shape without elements.
///
/// ```
/// use tilework::xla::PrimitiveType;
/// let bf16 = PrimitiveType::from_name("bf16").unwrap();
/// assert_eq!((bf16.number(), bf16.bit_width(), bf16.byte_width()), (16, Some(16), Some(2)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // each variant is its own name
pub enum PrimitiveType {
    Pred = 1,
    S8 = 2,
    S16 = 3,
    S32 = 4,
    S64 = 5,
    U8 = 6,
    U16 = 7,
    U32 = 8,
    U64 = 9,
    F16 = 10,
    F32 = 11,
    F64 = 12,
    Tuple = 13,
    Opaque = 14,
    C64 = 15,
    Bf16 = 16,
    Token = 17,
    C128 = 18,
    F8e5m2 = 19,
    F8e4m3fn = 20,
    S4 = 21,
    U4 = 22,
    F8e4m3b11fnuz = 23,
    F8e5m2fnuz = 24,
    F8e4m3fnuz = 25,
    S2 = 26,
    U2 = 27,
    F8e4m3 = 28,
    F8e3m4 = 29,
    S1 = 30,
    U1 = 31,
    F4e2m1fn = 32,
    F8e8m0fnu = 33,
    Buffer = 34,
    F6e3m2fn = 35,
    F6e2m3fn = 36,
}

/// What the elements are, as far as XLA's predicates ask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Pred,
    Signed,
    Unsigned,
    Float,
    Complex,
    None,
}

use Class::{Complex, Float, None as NoElements, Signed, Unsigned};
use PrimitiveType as P;

/// One row a type, in the order of the numbers: type, printed name, bits, class.
#[rustfmt::skip]
const TABLE: [(PrimitiveType, &str, u32, Class); 36] = [
    (P::Pred, "pred", 1, Class::Pred),
    (P::S8, "s8", 8, Signed), (P::S16, "s16", 16, Signed), (P::S32, "s32", 32, Signed), (P::S64, "s64", 64, Signed),
    (P::U8, "u8", 8, Unsigned), (P::U16, "u16", 16, Unsigned), (P::U32, "u32", 32, Unsigned), (P::U64, "u64", 64, Unsigned),
    (P::F16, "f16", 16, Float), (P::F32, "f32", 32, Float), (P::F64, "f64", 64, Float),
    (P::Tuple, "tuple", 0, NoElements), (P::Opaque, "opaque", 0, NoElements),
    (P::C64, "c64", 64, Complex), (P::Bf16, "bf16", 16, Float), (P::Token, "token", 0, NoElements), (P::C128, "c128", 128, Complex),
    (P::F8e5m2, "f8e5m2", 8, Float), (P::F8e4m3fn, "f8e4m3fn", 8, Float),
    (P::S4, "s4", 4, Signed), (P::U4, "u4", 4, Unsigned),
    (P::F8e4m3b11fnuz, "f8e4m3b11fnuz", 8, Float), (P::F8e5m2fnuz, "f8e5m2fnuz", 8, Float), (P::F8e4m3fnuz, "f8e4m3fnuz", 8, Float),
    (P::S2, "s2", 2, Signed), (P::U2, "u2", 2, Unsigned),
    (P::F8e4m3, "f8e4m3", 8, Float), (P::F8e3m4, "f8e3m4", 8, Float),
    (P::S1, "s1", 1, Signed), (P::U1, "u1", 1, Unsigned),
    (P::F4e2m1fn, "f4e2m1fn", 4, Float), (P::F8e8m0fnu, "f8e8m0fnu", 8, Float),
    (P::Buffer, "buffer", 0, NoElements),
    (P::F6e3m2fn, "f6e3m2fn", 6, Float), (P::F6e2m3fn, "f6e2m3fn", 6, Float),
];

/// Sorts the names into buckets. The factors are the first that give every name a bucket of its own, which
/// [`BY_NAME`] proves while it is compiled; the fourth byte is where the long names of the small floats differ.
const fn bucket(name: &[u8]) -> usize {
    let (first, second, fourth) = match *name {
        [first, second, _, fourth, ..] => (first, second, fourth),
        [first, second, third] => (first, second, third),
        [first, second] => (first, second, second),
        _ => return 0,
    };
    first
        .wrapping_add(second.wrapping_mul(2))
        .wrapping_add(fourth.wrapping_mul(11))
        .wrapping_add(name.len() as u8) as usize
}

/// For each bucket the number of the type whose name falls into it, or 0.
const BY_NAME: [u8; 256] = {
    let mut numbers = [0; 256];
    let mut row = 0;
    while row < TABLE.len() {
        let bucket = bucket(TABLE[row].1.as_bytes());
        assert!(numbers[bucket] == 0, "two names in one bucket");
        row += 1;
        numbers[bucket] = row as u8;
    }
    numbers
};

impl PrimitiveType {
    /// Every type, in the order of XLA's numbers.
    pub fn all() -> impl Iterator<Item = PrimitiveType> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (PrimitiveType, &'static str, u32, Class) {
        &TABLE[self as usize - 1]
    }

    /// The number in XLA's `xla_data.proto`.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// The type with this number; 0 and unknown numbers have none.
    pub fn from_number(number: i32) -> Option<PrimitiveType> {
        TABLE.get(usize::try_from(number).ok()?.checked_sub(1)?).map(|row| row.0)
    }

    /// The name as XLA prints it, in lower case.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The type with this name, in lower case as XLA writes it.
    pub fn from_name(name: &str) -> Option<PrimitiveType> {
        let row = usize::from(BY_NAME[bucket(name.as_bytes())]).checked_sub(1)?;
        (TABLE[row].1 == name).then_some(TABLE[row].0)
    }

    /// Bits of one element; none for tuples, tokens, opaque values and buffers.
    pub fn bit_width(self) -> Option<u32> {
        (self.row().2 > 0).then_some(self.row().2)
    }

    /// Bytes of one element, rounded up, which is what XLA stores unless a layout says `E(bits)`.
    pub fn byte_width(self) -> Option<u32> {
        self.bit_width().map(|bits| bits.div_ceil(8))
    }

    /// Whether arrays have elements of this type.
    pub fn is_array_type(self) -> bool {
        self.bit_width().is_some()
    }

    /// Signed and unsigned integers; `pred` is not one.
    pub fn is_integral(self) -> bool {
        matches!(self.row().3, Signed | Unsigned)
    }

    /// Signed integers.
    pub fn is_signed_integral(self) -> bool {
        self.row().3 == Signed
    }

    /// Unsigned integers.
    pub fn is_unsigned_integral(self) -> bool {
        self.row().3 == Unsigned
    }

    /// Floating-point types, without the complex ones.
    pub fn is_floating_point(self) -> bool {
        self.row().3 == Float
    }

    /// Complex types.
    pub fn is_complex(self) -> bool {
        self.row().3 == Complex
    }

    /// XLA's `ElementIsSigned`: signed integers and floats, not complex.
    pub fn element_is_signed(self) -> bool {
        matches!(self.row().3, Signed | Float)
    }

    /// XLA's `IsSubByteNonPredType`: several whole elements fill a byte, and not `pred`. Types of 6 bits are not.
    pub fn is_sub_byte_non_pred(self) -> bool {
        self != P::Pred && self.bit_width().is_some_and(|bits| bits < 8 && 8 % bits == 0)
    }

    /// The type of the two components of a complex type.
    pub fn complex_component(self) -> Option<PrimitiveType> {
        match self {
            P::C64 => Some(P::F32),
            P::C128 => Some(P::F64),
            _ => None,
        }
    }

    /// The complex type with components of this type.
    pub fn complex_type(self) -> Option<PrimitiveType> {
        match self {
            P::F32 => Some(P::C64),
            P::F64 => Some(P::C128),
            _ => None,
        }
    }

    /// The signed integer type of this width.
    pub fn signed_integral_for_bit_width(bits: u32) -> Option<PrimitiveType> {
        TABLE.iter().find(|row| row.3 == Signed && row.2 == bits).map(|row| row.0)
    }

    /// The unsigned integer type of this width.
    pub fn unsigned_integral_for_bit_width(bits: u32) -> Option<PrimitiveType> {
        TABLE.iter().find(|row| row.3 == Unsigned && row.2 == bits).map(|row| row.0)
    }

    /// The bits of an element, or an error that says that this type has no elements.
    pub(crate) fn require_bits(self) -> Result<u32> {
        self.bit_width().ok_or_else(|| {
            Error::new(format!("{self} has no elements"))
                .field("element type")
                .rule("an array needs elements of a fixed width")
                .accepts("an element type such as f32, bf16, s8 or pred")
        })
    }
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_rows_stand_at_their_numbers() {
        for (row, number) in TABLE.iter().zip(1..) {
            assert_eq!(row.0.number(), number);
            assert_eq!(PrimitiveType::from_number(number), Some(row.0));
            assert_eq!(PrimitiveType::from_name(row.1), Some(row.0));
        }
        assert_eq!(PrimitiveType::from_number(0), None);
        assert_eq!(PrimitiveType::from_number(37), None);
        assert_eq!(PrimitiveType::from_number(-1), None);
    }

    #[test]
    fn a_name_with_one_letter_changed_is_another_name_or_none() {
        for row in &TABLE {
            for at in 0..row.1.len() {
                for letter in ' '..='~' {
                    let name = format!("{}{letter}{}", &row.1[..at], &row.1[at + 1..]);
                    let expected = TABLE.iter().find(|row| row.1 == name).map(|row| row.0);
                    assert_eq!(PrimitiveType::from_name(&name), expected, "{name}");
                }
            }
        }
        assert!(
            ["", "s", "é", "f32 ", "float32"].iter().all(|name| PrimitiveType::from_name(name).is_none())
        );
    }
}
