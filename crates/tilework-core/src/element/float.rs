//! How floating-point numbers are coded.

/// A floating-point format: from the most significant bit a sign, an exponent, and a mantissa.
///
/// The exponent is stored plus a bias. Where it is 0, the number is subnormal: there is no hidden bit. A format without a
/// mantissa has powers of two alone, and neither a zero nor subnormal numbers.
///
/// ```
/// use tilework::Element;
/// let format = Element::F8e4m3fn.float_format().unwrap();
/// assert_eq!((format.exponent_bits, format.mantissa_bits, format.bias), (4, 3, 7));
/// assert_eq!(format.value(format.largest()), 448.0);
/// assert_eq!(format.value(format.one()), 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa, without the hidden one.
    pub mantissa_bits: u32,
    /// What is added to the exponent where it is stored.
    pub bias: u32,
    /// Whether there are infinities.
    pub infinities: bool,
    /// Which codes are no numbers.
    pub nan: Nan,
    /// Whether there is a sign.
    pub signed: bool,
}

/// The codes that are NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nan {
    /// The largest exponent with any mantissa but 0, which is infinity.
    LargestExponent,
    /// All bits one, whatever the sign.
    AllOnes,
    /// What would be −0.
    NegativeZero,
    /// No code.
    None,
}

impl FloatFormat {
    const fn new(exponent_bits: u32, mantissa_bits: u32, bias: u32, nan: Nan) -> FloatFormat {
        let infinities = matches!(nan, Nan::LargestExponent);
        FloatFormat { exponent_bits, mantissa_bits, bias, infinities, nan, signed: true }
    }

    /// A format as IEEE 754 has it.
    pub(super) const fn ieee(exponent_bits: u32, mantissa_bits: u32) -> FloatFormat {
        FloatFormat::new(exponent_bits, mantissa_bits, (1 << (exponent_bits - 1)) - 1, Nan::LargestExponent)
    }

    /// Without infinities, and with one NaN for each sign: `fn`.
    pub(super) const fn finite(exponent_bits: u32, mantissa_bits: u32) -> FloatFormat {
        FloatFormat {
            nan: Nan::AllOnes,
            infinities: false,
            ..FloatFormat::ieee(exponent_bits, mantissa_bits)
        }
    }

    /// Without infinities or a negative zero, whose code is the NaN: `fnuz`.
    pub(super) const fn unsigned_zero(exponent_bits: u32, mantissa_bits: u32, bias: u32) -> FloatFormat {
        FloatFormat::new(exponent_bits, mantissa_bits, bias, Nan::NegativeZero)
    }

    /// Without infinities or NaNs.
    pub(super) const fn numbers(exponent_bits: u32, mantissa_bits: u32) -> FloatFormat {
        FloatFormat { nan: Nan::None, ..FloatFormat::finite(exponent_bits, mantissa_bits) }
    }

    /// Powers of two alone, without a sign.
    pub(super) const fn powers(exponent_bits: u32) -> FloatFormat {
        FloatFormat { signed: false, ..FloatFormat::finite(exponent_bits, 0) }
    }

    /// Bits of a number.
    pub const fn bits(self) -> u32 {
        self.signed as u32 + self.exponent_bits + self.mantissa_bits
    }

    /// Digits of the significand, the hidden one included.
    pub const fn significand_width(self) -> u32 {
        self.mantissa_bits + 1
    }

    /// The exponent of the smallest power of two above every finite value.
    pub const fn overflow_exponent(self) -> i32 {
        (self.largest() >> self.mantissa_bits) as i32 - self.bias as i32 + 1
    }

    /// The codes without a sign, all ones.
    const fn magnitudes(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    /// The bit of the sign; 0 where there is none.
    pub const fn sign(self) -> u64 {
        (self.signed as u64) << (self.exponent_bits + self.mantissa_bits)
    }

    /// The code of 1.
    pub const fn one(self) -> u64 {
        (self.bias as u64) << self.mantissa_bits
    }

    /// The code of the largest finite value.
    pub const fn largest(self) -> u64 {
        match self.nan {
            Nan::LargestExponent => self.magnitudes() - (1 << self.mantissa_bits),
            Nan::AllOnes => self.magnitudes() - 1,
            Nan::NegativeZero | Nan::None => self.magnitudes(),
        }
    }

    /// The code of the smallest positive value, which is subnormal where there is a mantissa.
    pub const fn smallest(self) -> u64 {
        (self.mantissa_bits > 0) as u64
    }

    /// The code of the positive infinity, if there is one.
    pub const fn infinity(self) -> Option<u64> {
        if self.infinities { Some(self.largest() + 1) } else { None }
    }

    /// The code of a quiet NaN, if there is one.
    pub const fn quiet_nan(self) -> Option<u64> {
        match self.nan {
            Nan::LargestExponent => Some(self.largest() + 1 + (1 << (self.mantissa_bits - 1))),
            Nan::AllOnes => Some(self.magnitudes()),
            Nan::NegativeZero => Some(self.sign()),
            Nan::None => None,
        }
    }

    /// The value of a code, of which the lowest [`FloatFormat::bits`] bits count.
    pub fn value(self, code: u64) -> f64 {
        let magnitude = code & self.magnitudes();
        let negative = code & self.sign() != 0;
        let sign = if negative { -1.0 } else { 1.0 };
        match self.nan {
            Nan::LargestExponent if magnitude == self.largest() + 1 => return sign * f64::INFINITY,
            Nan::LargestExponent | Nan::AllOnes if magnitude > self.largest() => return f64::NAN,
            Nan::NegativeZero if negative && magnitude == 0 => return f64::NAN,
            _ => {}
        }
        let stored = (magnitude >> self.mantissa_bits) as i32;
        let digits = magnitude & ((1 << self.mantissa_bits) - 1);
        let is_subnormal = stored == 0 && self.mantissa_bits > 0;
        let digits = if is_subnormal { digits } else { digits | 1 << self.mantissa_bits };
        let exponent = stored.max(i32::from(is_subnormal)) - self.bias as i32 - self.mantissa_bits as i32;
        // Two steps, because 2^-1074 is below what one power gives.
        sign * digits as f64 * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
    }
}

#[cfg(test)]
mod tests {
    use crate::element::Element;

    #[test]
    fn the_values_of_f64_and_f32_are_those_of_the_machine() {
        let (double, single) = (Element::F64.float_format().unwrap(), Element::F32.float_format().unwrap());
        for value in [0.0, 1.0, -2.5, 0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY] {
            assert_eq!(double.value(value.to_bits()), value);
            assert_eq!(single.value(u64::from((value as f32).to_bits())), f64::from(value as f32));
        }
        assert!(
            double.value(f64::NAN.to_bits()).is_nan()
                && double.value((-0.0_f64).to_bits()).is_sign_negative()
        );
    }

    #[test]
    fn largest_smallest_one_and_nan_are_what_the_values_of_all_codes_say() {
        for element in Element::all() {
            let Some(format) = element.float_format() else { continue };
            assert_eq!(format.bits(), element.bits(), "{element}");
            assert_eq!(format.value(format.one()), 1.0, "{element}");
            assert!(format.quiet_nan().is_none_or(|code| format.value(code).is_nan()), "{element}");
            assert!(format.infinity().is_none_or(|code| format.value(code) == f64::INFINITY), "{element}");
            let overflow = 2_f64.powi(format.overflow_exponent() - 1); // twice that may be no f64
            let largest = format.value(format.largest());
            assert!(largest >= overflow && largest / 2.0 < overflow, "{element}");
            if format.bits() > 16 {
                continue;
            }
            let finite = || (0..1 << format.bits()).map(|code| format.value(code)).filter(|v| v.is_finite());
            assert_eq!(finite().fold(0.0, f64::max), largest, "{element}");
            let smallest = finite().filter(|&value| value > 0.0).fold(f64::MAX, f64::min);
            assert_eq!(smallest, format.value(format.smallest()), "{element}");
        }
    }
}
