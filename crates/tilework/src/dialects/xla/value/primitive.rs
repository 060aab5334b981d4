//! XLA's `PrimitiveType`: the elements with their numbers, and the kinds of shapes without elements.

use std::fmt;

use crate::element::Element;
use crate::error::{Error, Result};

/// The type of the elements of an array, or the kind of a shape without elements.
///
/// ```
/// use tilework::{Element, xla::PrimitiveType};
/// let bf16 = PrimitiveType::from_name("bf16").unwrap();
/// assert_eq!((bf16.number(), bf16.element()), (16, Some(Element::Bf16)));
/// assert_eq!(PrimitiveType::Token.element(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimitiveType {
    /// Elements of an array.
    Array(Element),
    /// Shapes in a list.
    Tuple,
    /// Data that XLA cannot see into.
    Opaque,
    /// Orders side effects, holds no data.
    Token,
    /// A buffer that holds an array.
    Buffer,
}

use PrimitiveType::{Array, Buffer, Opaque, Token, Tuple};

/// The types from number 1 on.
#[rustfmt::skip]
const NUMBERED: [PrimitiveType; 36] = [
    Array(Element::Pred), Array(Element::S8), Array(Element::S16), Array(Element::S32), Array(Element::S64),
    Array(Element::U8), Array(Element::U16), Array(Element::U32), Array(Element::U64),
    Array(Element::F16), Array(Element::F32), Array(Element::F64), Tuple, Opaque, Array(Element::C64),
    Array(Element::Bf16), Token, Array(Element::C128), Array(Element::F8e5m2), Array(Element::F8e4m3fn),
    Array(Element::S4), Array(Element::U4), Array(Element::F8e4m3b11fnuz), Array(Element::F8e5m2fnuz),
    Array(Element::F8e4m3fnuz), Array(Element::S2), Array(Element::U2), Array(Element::F8e4m3), Array(Element::F8e3m4),
    Array(Element::S1), Array(Element::U1), Array(Element::F4e2m1fn), Array(Element::F8e8m0fnu), Buffer,
    Array(Element::F6e3m2fn), Array(Element::F6e2m3fn),
];

/// The number of each element.
const NUMBERS: [u8; Element::COUNT] = {
    let mut numbers = [0; Element::COUNT];
    let mut row = 0;
    while row < NUMBERED.len() {
        if let Array(element) = NUMBERED[row] {
            numbers[element as usize] = row as u8 + 1;
        }
        row += 1;
    }
    numbers
};

impl PrimitiveType {
    /// Every type, in the order of XLA's numbers.
    pub fn all() -> impl Iterator<Item = PrimitiveType> {
        NUMBERED.into_iter()
    }

    /// The number in XLA's `xla_data.proto`.
    pub fn number(self) -> i32 {
        match self {
            Array(element) => NUMBERS[element as usize].into(),
            Tuple => 13,
            Opaque => 14,
            Token => 17,
            Buffer => 34,
        }
    }

    /// The type with this number; 0 and unknown numbers have none.
    pub fn from_number(number: i32) -> Option<PrimitiveType> {
        NUMBERED.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }

    /// The name as XLA prints it, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Array(element) => element.name(),
            Tuple => "tuple",
            Opaque => "opaque",
            Token => "token",
            Buffer => "buffer",
        }
    }

    /// The type with this name, in lower case as XLA writes it.
    pub fn from_name(name: &str) -> Option<PrimitiveType> {
        let other = || [Tuple, Opaque, Token, Buffer].into_iter().find(|kind| kind.name() == name);
        Element::from_name(name).map(Array).or_else(other)
    }

    /// The type of the elements of an array; none for all that has no elements.
    pub fn element(self) -> Option<Element> {
        match self {
            Array(element) => Some(element),
            _ => None,
        }
    }
}

impl From<Element> for PrimitiveType {
    fn from(element: Element) -> PrimitiveType {
        Array(element)
    }
}

/// The elements, or an error that says that this type has none.
impl TryFrom<PrimitiveType> for Element {
    type Error = Error;

    fn try_from(kind: PrimitiveType) -> Result<Element> {
        kind.element().ok_or_else(|| {
            Error::new(format!("{kind} has no elements"))
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
    fn numbers_and_names_lead_back_to_the_type() {
        for (kind, number) in PrimitiveType::all().zip(1..) {
            assert_eq!(kind.number(), number);
            assert_eq!(PrimitiveType::from_number(number), Some(kind));
            assert_eq!(PrimitiveType::from_name(kind.name()), Some(kind));
        }
        assert!(
            Element::all().all(|element| PrimitiveType::all().any(|kind| kind.element() == Some(element)))
        );
        assert!([0, 37, -1].into_iter().all(|number| PrimitiveType::from_number(number).is_none()));
        assert!(["", "é", "f32 ", "float32"].iter().all(|name| PrimitiveType::from_name(name).is_none()));
    }
}
