//! The kinds of elements that conversions know.

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
