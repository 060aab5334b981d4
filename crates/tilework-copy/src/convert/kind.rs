//! The kinds of elements that conversions know.

use std::fmt;

/// How the bits of an element are read.
///
/// The names of the floating-point kinds are those of XLA and of the `ml_dtypes` package for Python: `e4m3` has four
/// bits of exponent and three of mantissa, `fn` has no infinities, `fnuz` neither infinities nor a negative zero, and
/// `b11` a bias of 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each variant is its own name
pub enum Kind {
    F64,
    /// Two `f32` that add up to an `f64`, the high one at the lower address: how TPUs hold `f64`.
    F64AsFloatPair,
    F32,
    Bf16,
    F16,
    F8e5m2,
    F8e5m2fnuz,
    F8e4m3,
    F8e4m3fn,
    F8e4m3fnuz,
    F8e4m3b11fnuz,
    F8e3m4,
    F8e8m0fnu,
    F4e2m1fn,
    S8,
    U8,
    S4,
    U4,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 18] = [
        Kind::F64,
        Kind::F64AsFloatPair,
        Kind::F32,
        Kind::Bf16,
        Kind::F16,
        Kind::F8e5m2,
        Kind::F8e5m2fnuz,
        Kind::F8e4m3,
        Kind::F8e4m3fn,
        Kind::F8e4m3fnuz,
        Kind::F8e4m3b11fnuz,
        Kind::F8e3m4,
        Kind::F8e8m0fnu,
        Kind::F4e2m1fn,
        Kind::S8,
        Kind::U8,
        Kind::S4,
        Kind::U4,
    ];

    /// The short name that XLA and others write, such as `f32`, `bf16`, `f8e4m3fn` or `s4`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::F64 => "f64",
            Kind::F64AsFloatPair => "f64_as_f32_pair", // Tilework's own name: XLA has none
            Kind::F32 => "f32",
            Kind::Bf16 => "bf16",
            Kind::F16 => "f16",
            Kind::F8e5m2 => "f8e5m2",
            Kind::F8e5m2fnuz => "f8e5m2fnuz",
            Kind::F8e4m3 => "f8e4m3",
            Kind::F8e4m3fn => "f8e4m3fn",
            Kind::F8e4m3fnuz => "f8e4m3fnuz",
            Kind::F8e4m3b11fnuz => "f8e4m3b11fnuz",
            Kind::F8e3m4 => "f8e3m4",
            Kind::F8e8m0fnu => "f8e8m0fnu",
            Kind::F4e2m1fn => "f4e2m1fn",
            Kind::S8 => "s8",
            Kind::U8 => "u8",
            Kind::S4 => "s4",
            Kind::U4 => "u4",
        }
    }

    /// The kind of this name, in lower case. With an element type of XLA, it is its name that is looked up.
    ///
    /// ```
    /// use tilework_copy::Kind;
    /// assert_eq!(Kind::from_name("bf16"), Some(Kind::Bf16));
    /// assert_eq!(Kind::from_name("s32"), None); // no conversion knows it
    /// ```
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Bits of an element. Those of 4 bits lie two in a byte, the first in the low half.
    pub const fn bits(self) -> u32 {
        match self {
            Kind::F64 | Kind::F64AsFloatPair => 64,
            Kind::F32 => 32,
            Kind::Bf16 | Kind::F16 => 16,
            Kind::F8e5m2 | Kind::F8e5m2fnuz | Kind::F8e4m3 | Kind::F8e4m3fn | Kind::F8e4m3fnuz => 8,
            Kind::F8e4m3b11fnuz | Kind::F8e3m4 | Kind::F8e8m0fnu | Kind::S8 | Kind::U8 => 8,
            Kind::F4e2m1fn | Kind::S4 | Kind::U4 => 4,
        }
    }
}

/// The name.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use tilework::xla::PrimitiveType;

    use super::*;

    #[test]
    fn kinds_are_called_as_the_types_of_xla_with_as_many_bits() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
            let bits = PrimitiveType::from_name(kind.name()).and_then(PrimitiveType::bit_width);
            assert_eq!(bits, (kind != Kind::F64AsFloatPair).then_some(kind.bits()), "{kind}");
        }
    }
}
