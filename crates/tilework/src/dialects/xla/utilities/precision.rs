//! Which of two element types holds more: XLA's `HigherPrecisionType`.

use crate::error::{Error, Result};
use crate::xla::value::element::PrimitiveType;

use PrimitiveType as P;

/// One row a floating-point type: the smallest power of two that overflows, and the digits of the significand with
/// the hidden one. They are `max_exponent` and `digits` of C++'s `numeric_limits`.
const FLOATS: [(PrimitiveType, i32, i32); 15] = [
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
];

impl PrimitiveType {
    /// XLA's `OverflowExponent`: the smallest power of two above every value; none for types that are not floats.
    ///
    /// ```
    /// use tilework::xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::F8e4m3fn.overflow_exponent(), Some(9)); // at most 448
    /// ```
    pub fn overflow_exponent(self) -> Option<i32> {
        FLOATS.iter().find(|row| row.0 == self).map(|row| row.1)
    }

    /// XLA's `SignificandWidth`: digits of the significand, the hidden one included; none for types that are not floats.
    pub fn significand_width(self) -> Option<i32> {
        FLOATS.iter().find(|row| row.0 == self).map(|row| row.2)
    }

    /// XLA's `HigherPrecisionType`: complex before real, then range, digits, bits, and signed before unsigned.
    ///
    /// ```
    /// use tilework::xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::F16.higher_precision(PrimitiveType::Bf16)?, PrimitiveType::Bf16);
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

    /// The properties in the order of their weight.
    fn precision(self) -> Result<(bool, i32, i32, u32, bool)> {
        let component = self.complex_component().unwrap_or(self);
        Ok((
            self.is_complex(),
            component.overflow_exponent().unwrap_or(-1),
            component.significand_width().unwrap_or(-1),
            component.require_bits()?,
            component.is_signed_integral(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_has_a_range_and_digits_and_nothing_else_has() {
        for element in P::all() {
            assert_eq!(element.overflow_exponent().is_some(), element.is_floating_point(), "{element}");
        }
    }

    #[test]
    fn the_higher_of_two_types_is_complex_then_wide_in_range_then_exact_then_signed() {
        let higher = |a: P, b: P| a.higher_precision(b).unwrap();
        assert_eq!(higher(P::C64, P::F64), P::C64);
        assert_eq!(higher(P::S64, P::F16), P::F16);
        assert_eq!(higher(P::F32, P::Bf16), P::F32);
        assert_eq!(higher(P::F8e5m2, P::F8e4m3fn), P::F8e5m2);
        assert_eq!(higher(P::U8, P::S8), P::S8);
        assert_eq!(higher(P::S8, P::U16), P::U16);
        assert_eq!(higher(P::F32, P::F32), P::F32);
        assert!(P::Bf16.can_upcast_to(P::F32).unwrap());
        assert!(!P::F32.can_upcast_to(P::Bf16).unwrap());
    }

    #[test]
    fn a_tie_and_a_type_without_elements_are_errors() {
        assert!(P::F8e5m2.higher_precision(P::F8e5m2fnuz).is_err());
        assert!(P::Pred.higher_precision(P::U1).is_err());
        assert!(P::Token.higher_precision(P::F32).is_err());
        assert!(P::Tuple.higher_precision(P::Tuple).is_err());
    }
}
