//! Data types: `DML_TENSOR_DATA_TYPE` with its numbers.

use std::fmt;

use crate::element::{Element, System};
use crate::error::{Error, Result};

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

/// One row a type, in the order of the numbers.
#[rustfmt::skip]
const TABLE: [(DataType, Element); 13] = [
    (T::Float32, Element::F32), (T::Float16, Element::F16),
    (T::Uint32, Element::U32), (T::Uint16, Element::U16), (T::Uint8, Element::U8),
    (T::Int32, Element::S32), (T::Int16, Element::S16), (T::Int8, Element::S8),
    (T::Float64, Element::F64), (T::Uint64, Element::U64), (T::Int64, Element::S64),
    (T::Uint4, Element::U4), (T::Int4, Element::S4),
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
        self.element().name_in(System::DirectMl).unwrap_or_default() // every row has one
    }

    /// The type of this name, with or without `DML_TENSOR_DATA_TYPE_`.
    pub fn from_name(name: &str) -> Option<DataType> {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        DataType::of(Element::from_name_in(System::DirectMl, name)?)
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

    /// The elements.
    pub fn element(self) -> Element {
        TABLE[self as usize - 1].1
    }

    /// The type of these elements, if DirectML has them.
    pub fn of(element: Element) -> Option<DataType> {
        TABLE.iter().find(|row| row.1 == element).map(|row| row.0)
    }

    /// The type that this word probably means: the name in other letters, or another system's name for it.
    pub(crate) fn meant_by(word: &str) -> Option<DataType> {
        match Element::meant_by(word.strip_prefix(PREFIX).unwrap_or(word))? {
            Element::Pred => Some(T::Uint8),
            element => DataType::of(element),
        }
    }

    /// Bits of one element.
    pub fn bits(self) -> u32 {
        self.element().bits()
    }

    /// Bytes of one element as a guaranteed alignment counts them: at least 1, also where two elements share a byte.
    pub fn alignment(self) -> u32 {
        self.element().bytes()
    }

    /// Whether it is one of the integer types.
    pub fn is_integer(self) -> bool {
        self.element().is_integer()
    }

    /// The unsigned type of the same width, for index data.
    ///
    /// # Errors
    /// A floating-point type.
    pub fn force_unsigned(self) -> Result<DataType> {
        let unsigned = Element::unsigned_integer(self.bits()).and_then(DataType::of);
        unsigned.filter(|_| self.is_integer()).ok_or_else(|| {
            Error::new(format!("{self} as an unsigned type"))
                .field("DataType")
                .rule("only integers have an unsigned type of the same width")
                .accepts("an INT or UINT type")
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
        // What the table calls DirectML's is here, and nothing else is.
        let named = Element::all().filter(|element| element.name_in(System::DirectMl).is_some());
        assert!(named.eq(Element::all().filter(|&element| DataType::of(element).is_some())));
        assert_eq!(DataType::from_name("float32"), None);
        assert_eq!(DataType::meant_by("float32"), Some(T::Float32));
        assert_eq!(DataType::meant_by("bool"), Some(T::Uint8));
        assert_eq!(DataType::meant_by("string"), None);
    }
}
