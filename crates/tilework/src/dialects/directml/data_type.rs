//! Data types: `DML_TENSOR_DATA_TYPE` with its numbers, names and widths.

use std::fmt;

use crate::error::{Error, Result};
use crate::xla::PrimitiveType;

/// The type of the elements of a tensor. There is no bool: a bool is stored as `UINT8`.
///
/// `UNKNOWN`, 0, is no type and therefore no value here: see [`TypeField`](super::TypeField).
///
/// ```
/// use tilework::directml::DataType;
/// let half = DataType::from_name("FLOAT16").unwrap();
/// assert_eq!((half.number(), half.bits()), (2, 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // each variant is its own name
pub enum DataType {
    Float32 = 1,
    Float16 = 2,
    Uint32 = 3,
    Uint16 = 4,
    Uint8 = 5,
    Int32 = 6,
    Int16 = 7,
    Int8 = 8,
    Float64 = 9,
    Uint64 = 10,
    Int64 = 11,
    Uint4 = 12,
    Int4 = 13,
}

use DataType as T;

/// One row a type, in the order of the numbers: type, name, bits.
#[rustfmt::skip]
const TABLE: [(DataType, &str, u32); 13] = [
    (T::Float32, "FLOAT32", 32), (T::Float16, "FLOAT16", 16),
    (T::Uint32, "UINT32", 32), (T::Uint16, "UINT16", 16), (T::Uint8, "UINT8", 8),
    (T::Int32, "INT32", 32), (T::Int16, "INT16", 16), (T::Int8, "INT8", 8),
    (T::Float64, "FLOAT64", 64), (T::Uint64, "UINT64", 64), (T::Int64, "INT64", 64),
    (T::Uint4, "UINT4", 4), (T::Int4, "INT4", 4),
];

/// What other systems call these types, in small letters.
#[rustfmt::skip]
const OTHER_NAMES: [(&str, DataType); 31] = [
    ("f64", T::Float64), ("f32", T::Float32), ("f16", T::Float16),
    ("double", T::Float64), ("float", T::Float32), ("half", T::Float16), ("single", T::Float32),
    ("i64", T::Int64), ("i32", T::Int32), ("i16", T::Int16), ("i8", T::Int8), ("i4", T::Int4),
    ("s64", T::Int64), ("s32", T::Int32), ("s16", T::Int16), ("s8", T::Int8), ("s4", T::Int4),
    ("u64", T::Uint64), ("u32", T::Uint32), ("u16", T::Uint16), ("u8", T::Uint8), ("u4", T::Uint4),
    ("long", T::Int64), ("int", T::Int32), ("uint", T::Uint32), ("short", T::Int16), ("char", T::Int8),
    ("byte", T::Uint8), ("bool", T::Uint8), ("boolean", T::Uint8), ("pred", T::Uint8),
];

/// What DirectML.h puts before every name.
const PREFIX: &str = "DML_TENSOR_DATA_TYPE_";

impl DataType {
    /// Every type, in the order of the numbers.
    pub fn all() -> impl Iterator<Item = DataType> {
        TABLE.iter().map(|row| row.0)
    }

    /// The number in `DML_TENSOR_DATA_TYPE`.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The type of this number; none for 0, `UNKNOWN`, and for numbers that no type has.
    pub fn from_number(number: u32) -> Option<DataType> {
        let row = usize::try_from(number.checked_sub(1)?).ok()?;
        TABLE.get(row).map(|row| row.0)
    }

    /// The name without the prefix `DML_TENSOR_DATA_TYPE_`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize - 1].1
    }

    /// The type of this name, with or without `DML_TENSOR_DATA_TYPE_`.
    pub fn from_name(name: &str) -> Option<DataType> {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Whether the first word of a text is a type as DirectML writes it. XLA's types are other words, so this tells a
    /// description from a shape.
    ///
    /// ```
    /// use tilework::directml::DataType;
    /// assert!(DataType::begins("FLOAT32 [2,3]") && !DataType::begins("f32[2,3]"));
    /// ```
    pub fn begins(text: &str) -> bool {
        let word = text.trim_start().split(|c: char| c.is_whitespace() || c == '[').next().unwrap_or("");
        DataType::from_name(word).is_some()
    }

    /// The same type of XLA, which has them all: `FLOAT32` is `f32`, `INT8` is `s8`.
    pub fn in_xla(self) -> PrimitiveType {
        match self {
            T::Float32 => PrimitiveType::F32,
            T::Float16 => PrimitiveType::F16,
            T::Uint32 => PrimitiveType::U32,
            T::Uint16 => PrimitiveType::U16,
            T::Uint8 => PrimitiveType::U8,
            T::Int32 => PrimitiveType::S32,
            T::Int16 => PrimitiveType::S16,
            T::Int8 => PrimitiveType::S8,
            T::Float64 => PrimitiveType::F64,
            T::Uint64 => PrimitiveType::U64,
            T::Int64 => PrimitiveType::S64,
            T::Uint4 => PrimitiveType::U4,
            T::Int4 => PrimitiveType::S4,
        }
    }

    /// The type of DirectML for XLA's, if it has one.
    pub fn of_xla(element: PrimitiveType) -> Option<DataType> {
        DataType::all().find(|data_type| data_type.in_xla() == element)
    }

    /// The type that this word probably means: the name in other letters, or another system's name for it.
    pub(crate) fn meant_by(word: &str) -> Option<DataType> {
        let word = word.strip_prefix(PREFIX).unwrap_or(word);
        let same = |name: &str| name.eq_ignore_ascii_case(word);
        let own = TABLE.iter().find(|row| same(row.1)).map(|row| row.0);
        let other = || OTHER_NAMES.iter().find(|row| same(row.0)).map(|row| row.1);
        own.or_else(other)
    }

    /// Bits of one element.
    pub fn bits(self) -> u32 {
        TABLE[self as usize - 1].2
    }

    /// Bytes of one element as a guaranteed alignment counts them: at least 1, also where two elements share a byte.
    pub fn alignment(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether it is one of the integer types.
    pub fn is_integer(self) -> bool {
        !matches!(self, T::Float64 | T::Float32 | T::Float16)
    }

    /// The unsigned type of the same width, for index data.
    ///
    /// # Errors
    /// A floating-point type.
    pub fn force_unsigned(self) -> Result<DataType> {
        Ok(match self {
            T::Int64 | T::Uint64 => T::Uint64,
            T::Int32 | T::Uint32 => T::Uint32,
            T::Int16 | T::Uint16 => T::Uint16,
            T::Int8 | T::Uint8 => T::Uint8,
            T::Int4 | T::Uint4 => T::Uint4,
            T::Float64 | T::Float32 | T::Float16 => {
                return Err(Error::new(format!("{self} as an unsigned type"))
                    .field("DataType")
                    .rule("only integers have an unsigned type of the same width")
                    .accepts("an INT or UINT type"));
            }
        })
    }

    /// The 32-bit type that ONNX Runtime used in place of a 64-bit integer: `UINT64` → `UINT32`, `INT64` → `INT32`.
    /// Other types stay.
    pub fn remap_64_bit(self) -> DataType {
        match self {
            T::Uint64 => T::Uint32,
            T::Int64 => T::Int32,
            other => other,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back_to_the_type() {
        for (place, data_type) in DataType::all().enumerate() {
            assert_eq!(data_type.number() as usize, place + 1);
            assert_eq!(DataType::from_number(data_type.number()), Some(data_type));
            assert_eq!(DataType::from_name(data_type.name()), Some(data_type));
            assert_eq!(DataType::from_name(&format!("{PREFIX}{data_type}")), Some(data_type));
        }
        for none in [0, 14, u32::MAX] {
            assert_eq!(DataType::from_number(none), None);
        }
        for data_type in DataType::all() {
            let (same, long) = (data_type.in_xla(), data_type.name());
            assert_eq!(same.bit_width(), Some(data_type.bits()), "{data_type}");
            assert_eq!(same.is_unsigned_integral(), long.starts_with("UINT"), "{data_type}");
            assert_eq!(same.is_signed_integral(), long.starts_with("INT"), "{data_type}");
        }
        assert_eq!(DataType::from_name("float32"), None);
        assert_eq!(DataType::meant_by("float32"), Some(T::Float32));
        assert_eq!(DataType::meant_by("bool"), Some(T::Uint8));
        assert_eq!(DataType::meant_by("string"), None);
    }
}
