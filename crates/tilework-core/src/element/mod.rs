//! The types of the elements of arrays, and what every system calls them.
//!
//! One table (`table.rs`) has a row for each type: its bits, its [`Class`] with the [`FloatFormat`] of floats, and its name in
//! each [`System`]. Everything else that Tilework knows of elements follows from it.

mod float;
mod names;
mod table;
mod value;

use std::fmt;

pub use float::{FloatFormat, Nan};
pub use names::System;
use table::{ALL, Row, TABLE};

/// The type of the elements of an array.
///
/// ```
/// use tilework::{Element, System};
/// let bf16 = Element::from_name("bf16").unwrap();
/// assert_eq!((bf16.bits(), bf16.bytes(), bf16.name_in(System::Numpy)), (16, 2, Some("bfloat16")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
#[allow(missing_docs)] // each variant is its own name
pub enum Element {
    Pred,
    S8,
    S16,
    S32,
    S64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    C64,
    Bf16,
    C128,
    F8e5m2,
    F8e4m3fn,
    S4,
    U4,
    F8e4m3b11fnuz,
    F8e5m2fnuz,
    F8e4m3fnuz,
    S2,
    U2,
    F8e4m3,
    F8e3m4,
    S1,
    U1,
    F4e2m1fn,
    F8e8m0fnu,
    F6e3m2fn,
    F6e2m3fn,
}

/// What elements of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// True or false.
    Bool,
    /// Integers with a sign.
    Signed,
    /// Integers without a sign.
    Unsigned,
    /// Floating-point numbers.
    Float(FloatFormat),
    /// Two floating-point numbers, the real one first.
    Complex,
}

impl Element {
    /// Every type, in the order of XLA's numbers.
    pub fn all() -> impl ExactSizeIterator<Item = Element> {
        ALL.into_iter()
    }

    /// How many types there are.
    #[doc(hidden)]
    pub const COUNT: usize = ALL.len();

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name that Tilework prints, which is XLA's: `f32`, `bf16`, `s8`, `pred`.
    pub const fn name(self) -> &'static str {
        self.row().names[System::Xla as usize]
    }

    /// The type with this [name](Element::name).
    #[inline]
    pub fn from_name(name: &str) -> Option<Element> {
        names::by_xla(name)
    }

    /// Bits of one element.
    pub const fn bits(self) -> u32 {
        self.row().bits
    }

    /// Bytes of one element that has bytes of its own.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// What the elements are.
    pub const fn class(self) -> Class {
        self.row().class
    }

    /// How a floating-point number is coded; none for all other types, complex ones too.
    pub const fn float_format(self) -> Option<FloatFormat> {
        match self.class() {
            Class::Float(format) => Some(format),
            _ => None,
        }
    }

    /// Whether it is an integer type; `pred` is none.
    pub fn is_integer(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// Whether it is an integer type with a sign.
    pub fn is_signed_integer(self) -> bool {
        self.class() == Class::Signed
    }

    /// Whether it is an integer type without a sign.
    pub fn is_unsigned_integer(self) -> bool {
        self.class() == Class::Unsigned
    }

    /// Whether it is a floating-point type; a complex type is none.
    pub fn is_float(self) -> bool {
        self.float_format().is_some()
    }

    /// Whether it is a complex type.
    pub fn is_complex(self) -> bool {
        self.class() == Class::Complex
    }

    /// Whether several whole numbers of this type fill a byte. Those of 6 bits do not, and `pred` holds no numbers.
    pub fn is_sub_byte_number(self) -> bool {
        self != Element::Pred && self.bits() < 8 && 8 % self.bits() == 0
    }

    /// The type of the two parts of a complex type.
    pub fn complex_component(self) -> Option<Element> {
        match self {
            Element::C64 => Some(Element::F32),
            Element::C128 => Some(Element::F64),
            _ => None,
        }
    }

    /// The complex type with parts of this type.
    pub fn complex_type(self) -> Option<Element> {
        Element::all().find(|element| element.complex_component() == Some(self))
    }

    /// The signed integer type of this width.
    pub fn signed_integer(bits: u32) -> Option<Element> {
        Element::all().find(|element| element.is_signed_integer() && element.bits() == bits)
    }

    /// The unsigned integer type of this width.
    pub fn unsigned_integer(bits: u32) -> Option<Element> {
        Element::all().find(|element| element.is_unsigned_integer() && element.bits() == bits)
    }

    /// The type as `DLDataType` of DLPack has it: its code, and its bits. DLPack's bool takes 8.
    ///
    /// ```
    /// use tilework::Element;
    /// assert_eq!(Element::Bf16.dlpack(), (4, 16));
    /// assert_eq!(Element::from_dlpack(6, 8), Some(Element::Pred));
    /// ```
    pub fn dlpack(self) -> (u8, u8) {
        let bits = if self == Element::Pred { 8 } else { self.bits() as u8 }; // at most 128
        (self.row().dlpack, bits)
    }

    /// The type of this code and these bits in DLPack.
    pub fn from_dlpack(code: u8, bits: u8) -> Option<Element> {
        Element::all().find(|element| element.dlpack() == (code, bits))
    }
}

/// The name.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
