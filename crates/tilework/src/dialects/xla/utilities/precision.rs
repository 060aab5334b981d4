//! Which of two element types holds more: XLA's `HigherPrecisionType`.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::xla::value::primitive::PrimitiveType;

/// Complex or not; the range and digits of a float; bits; signed or not. Later ones decide where earlier ones are equal.
type Precision = (bool, Option<(i32, u32)>, u32, bool);

impl PrimitiveType {
    /// XLA's `HigherPrecisionType`: complex before real, then range, digits, bits, and signed before unsigned.
    ///
    /// ```
    /// use tilework::{Element, xla::PrimitiveType};
    /// let [f16, bf16] = [Element::F16, Element::Bf16].map(PrimitiveType::from);
    /// assert_eq!(f16.higher_precision(bf16)?, bf16);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A type without elements, and two types of which neither is higher, such as `pred` and `u1`, where XLA aborts.
    pub fn higher_precision(self, other: PrimitiveType) -> Result<PrimitiveType> {
        match self.precision()?.cmp(&other.precision()?) {
            std::cmp::Ordering::Greater => Ok(self),
            std::cmp::Ordering::Less => Ok(other),
            std::cmp::Ordering::Equal if self == other => Ok(self),
            std::cmp::Ordering::Equal => {
                Err(Error::new(format!("neither of {self} and {other} is the higher"))
                    .field("element type")
                    .rule("range, digits, bits and sign are compared in this order, and all are the same")
                    .accepts("the same type twice, or types that differ in one of them"))
            }
        }
    }

    /// XLA's `ElementCanUpcast`: whether `to` is the higher of the two, or the same.
    ///
    /// # Errors
    /// See [`PrimitiveType::higher_precision`].
    pub fn can_upcast_to(self, to: PrimitiveType) -> Result<bool> {
        Ok(self.higher_precision(to)? == to)
    }

    /// The properties in the order of their weight: a float's range and digits, of which other types have none.
    fn precision(self) -> Result<Precision> {
        let element = Element::try_from(self)?;
        let component = element.complex_component().unwrap_or(element);
        let float = component.float_format();
        Ok((
            element.is_complex(),
            float.map(|float| (float.overflow_exponent(), float.significand_width())),
            component.bits(),
            component.is_signed_integer(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Element as P;

    fn higher(a: impl Into<PrimitiveType>, b: impl Into<PrimitiveType>) -> Option<Element> {
        a.into().higher_precision(b.into()).ok()?.element()
    }

    #[test]
    fn ranges_and_digits_are_those_of_numeric_limits_in_cpp() {
        for (element, max_exponent, digits) in [
            (P::F16, 16, 11),
            (P::F32, 128, 24),
            (P::F64, 1024, 53),
            (P::Bf16, 128, 8),
            (P::F8e5m2, 16, 3),
            (P::F8e4m3fn, 9, 4),
            (P::F8e4m3b11fnuz, 5, 4),
            (P::F8e5m2fnuz, 16, 3),
            (P::F8e4m3fnuz, 8, 4),
            (P::F8e4m3, 8, 4),
            (P::F8e3m4, 4, 5),
            (P::F4e2m1fn, 3, 2),
            (P::F8e8m0fnu, 128, 1),
            (P::F6e3m2fn, 5, 3),
            (P::F6e2m3fn, 3, 4),
        ] {
            let float = element.float_format().unwrap();
            assert_eq!(
                (float.overflow_exponent(), float.significand_width()),
                (max_exponent, digits),
                "{element}"
            );
        }
    }

    #[test]
    fn the_higher_of_two_types_is_complex_then_wide_in_range_then_exact_then_signed() {
        assert_eq!(higher(P::C64, P::F64), Some(P::C64));
        assert_eq!(higher(P::S64, P::F16), Some(P::F16));
        assert_eq!(higher(P::F32, P::Bf16), Some(P::F32));
        assert_eq!(higher(P::F8e5m2, P::F8e4m3fn), Some(P::F8e5m2));
        assert_eq!(higher(P::U8, P::S8), Some(P::S8));
        assert_eq!(higher(P::S8, P::U16), Some(P::U16));
        assert_eq!(higher(P::F32, P::F32), Some(P::F32));
        assert!(PrimitiveType::from(P::Bf16).can_upcast_to(P::F32.into()).unwrap());
        assert!(!PrimitiveType::from(P::F32).can_upcast_to(P::Bf16.into()).unwrap());
    }

    #[test]
    fn a_tie_and_a_type_without_elements_are_errors() {
        assert_eq!(higher(P::F8e5m2, P::F8e5m2fnuz), None);
        assert_eq!(higher(P::Pred, P::U1), None);
        assert_eq!(higher(PrimitiveType::Token, P::F32), None);
        assert_eq!(higher(PrimitiveType::Tuple, PrimitiveType::Tuple), None);
    }
}
