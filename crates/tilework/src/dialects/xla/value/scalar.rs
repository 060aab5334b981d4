//! A value that a person writes, as the bits of an element.

use crate::error::{Error, Result};
use crate::xla::value::element::PrimitiveType;
use crate::xla::value::padding::PaddingValue;

use PrimitiveType as P;

impl PrimitiveType {
    /// The bits of a value that somebody writes: `zero`, `one`, `lowest`, `highest`, a number (rounded to the nearest that
    /// the type has), `inf`, `nan`, `true`, `false`, or the bits themselves in hexadecimal.
    ///
    /// ```
    /// use tilework::xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::Bf16.value_bits("lowest")?, 0xff80);
    /// assert_eq!(PrimitiveType::Bf16.value_bits("0xff80")?, 0xff80);
    /// assert_eq!(PrimitiveType::S8.value_bits("-1")?, 0xff);
    /// assert_eq!(PrimitiveType::F16.value_bits("0.1")?, 0x2e66);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A word that is no value, and a value that the type does not have.
    pub fn value_bits(self, text: &str) -> Result<u128> {
        bits_of(text, self)
    }

    /// The bits that an element of `bits` bits is filled with to hold a [value](PrimitiveType::value_bits): the same number
    /// where elements are wider than the type, as an `s4` in a byte is, and any bits that fit the element in hexadecimal.
    ///
    /// ```
    /// use tilework::xla::PrimitiveType;
    /// assert_eq!(PrimitiveType::S4.fill_bits("-8", 4)?, 0x8);
    /// assert_eq!(PrimitiveType::S4.fill_bits("-8", 8)?, 0xf8);
    /// assert_eq!(PrimitiveType::S4.fill_bits("0x70", 8)?, 0x70);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`PrimitiveType::value_bits`].
    pub fn fill_bits(self, text: &str, bits: u32) -> Result<u128> {
        let width = self.bit_width().unwrap_or(0);
        if bits > width
            && let Some(written) = hexadecimal(text)
        {
            let ones = ones(bits);
            return written
                .filter(|found| *found <= ones)
                .ok_or_else(|| no_value(text, self, format!("0x0 to {ones:#x}")));
        }
        let found = bits_of(text, self)?;
        let is_negative = self.is_signed_integral() && width > 0 && found >> (width - 1) & 1 == 1;
        Ok(if is_negative && bits > width { found | ones(bits) & !ones(width) } else { found })
    }
}

/// So many bits of one, at least one.
fn ones(bits: u32) -> u128 {
    u128::MAX >> (128 - bits.clamp(1, 128))
}

/// What is written as bits, if it is; the number is none if it is no number.
fn hexadecimal(text: &str) -> Option<Option<u128>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    Some(u128::from_str_radix(digits, 16).ok().filter(|_| all))
}

fn no_value(text: &str, element: PrimitiveType, accepts: String) -> Error {
    Error::new(format!("{text:?} as a value of {element}"))
        .field("fill")
        .rule("a fill is a value of the element type, or the bits of one element")
        .accepts(accepts)
}

fn bits_of(text: &str, element: PrimitiveType) -> Result<u128> {
    let fail = |accepts: String| no_value(text, element, accepts);
    let words = |number: &str| {
        let has =
            |name: &&str| PaddingValue::from_name(name).is_some_and(|value| value.bits(element).is_some());
        let names: Vec<&str> = ["zero", "one", "lowest", "highest"].into_iter().filter(has).collect();
        let example = PaddingValue::One.bits(element).unwrap_or(0);
        format!("{}, {number}, or bits such as {example:#x}", names.join(", "))
    };
    let Some(width) = element.bit_width() else { return Err(fail("a type that has elements".to_owned())) };
    let ones = ones(width);
    if let Some(value) = PaddingValue::from_name(text) {
        return value.bits(element).ok_or_else(|| fail(words("a number")));
    }
    if let Some(bits) = hexadecimal(text) {
        return bits.filter(|bits| *bits <= ones).ok_or_else(|| fail(format!("0x0 to {ones:#x}")));
    }
    if element.is_integral() || element == P::Pred {
        let (low, high) = match element.is_signed_integral() {
            true => (-1_i128 << (width - 1), (1_i128 << (width - 1)) - 1),
            false => (0, (1_i128 << width) - 1),
        };
        let number = match text {
            "false" if element == P::Pred => Some(0),
            "true" if element == P::Pred => Some(1),
            _ => text.parse::<i128>().ok(),
        };
        return match number {
            Some(number) if (low..=high).contains(&number) => Ok(number as u128 & ones),
            _ => Err(fail(words(&format!("{low} to {high}")))),
        };
    }
    match element.complex_component() {
        Some(part) => bits_of(text, part), // the imaginary part is 0
        None => float(text, element).ok_or_else(|| fail(words("a number"))),
    }
}

/// A floating-point number.
fn float(text: &str, element: PrimitiveType) -> Option<u128> {
    // Written infinities are those of types that have them; numbers that grow into one are refused.
    let infinite = |text: &str| text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("inf");
    match element {
        P::F64 => text
            .parse::<f64>()
            .ok()
            .filter(|x| x.is_finite() || x.is_nan() || infinite(text))
            .map(|x| x.to_bits().into()),
        P::F32 => text
            .parse::<f32>()
            .ok()
            .filter(|x| x.is_finite() || x.is_nan() || infinite(text))
            .map(|x| x.to_bits().into()),
        _ => {
            let number = text.parse::<f64>().ok()?;
            nearest(number, element)
        }
    }
}

/// The nearest of all values that a type of up to 16 bits has, by looking at each; of two the one with an even last bit.
fn nearest(number: f64, element: PrimitiveType) -> Option<u128> {
    let format = Format::of(element)?;
    let codes = 0..1_u32 << element.bit_width()?;
    if number.is_nan() {
        // The first whose mantissa has its highest bit, which is a quiet one; some types have one NaN without it.
        let quiet = format.mantissa.checked_sub(1).map_or(0, |bit| 1 << bit);
        let is_nan = |code: &u32| format.value(*code).is_nan();
        let first = codes.clone().find(|code| is_nan(code) && code & quiet == quiet);
        return first.or_else(|| codes.clone().find(is_nan)).map(u128::from);
    }
    let mut best: Option<(f64, u32, u32)> = None;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for code in codes {
        let value = format.value(code);
        if value.is_nan() || value.is_infinite() != number.is_infinite() {
            continue;
        }
        (low, high) = (low.min(value), high.max(value));
        // Differences of numbers that are near each other are exact; an infinity differs from itself by none.
        let distance = if value == number { 0.0 } else { (value - number).abs() };
        let sign = u32::from(value.is_sign_negative() != number.is_sign_negative());
        let rank = (distance, sign, code & 1);
        if best.is_none_or(|(d, s, c)| rank < (d, s, c & 1)) {
            best = Some((distance, sign, code));
        }
    }
    (low..=high).contains(&number).then_some(())?;
    best.map(|(_, _, code)| u128::from(code))
}

/// How the values of a narrow floating-point type are written.
struct Format {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

/// Which codes are no numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// The largest exponent: infinities, and NaNs.
    Ieee,
    /// All ones but the sign is NaN.
    AllOnes,
    /// What would be −0 is NaN.
    NegativeZero,
    None,
    /// Powers of two alone, and all ones is NaN.
    Powers,
}

impl Format {
    #[rustfmt::skip]
    fn of(element: PrimitiveType) -> Option<Format> {
        use Special::{AllOnes, Ieee, NegativeZero, None as Plain, Powers};
        let (exponent, mantissa, bias, special) = match element {
            P::F16 => (5, 10, 15, Ieee),
            P::Bf16 => (8, 7, 127, Ieee),
            P::F8e5m2 => (5, 2, 15, Ieee),
            P::F8e4m3 => (4, 3, 7, Ieee),
            P::F8e3m4 => (3, 4, 3, Ieee),
            P::F8e4m3fn => (4, 3, 7, AllOnes),
            P::F8e4m3b11fnuz => (4, 3, 11, NegativeZero),
            P::F8e5m2fnuz => (5, 2, 16, NegativeZero),
            P::F8e4m3fnuz => (4, 3, 8, NegativeZero),
            P::F4e2m1fn => (2, 1, 1, Plain),
            P::F6e3m2fn => (3, 2, 3, Plain),
            P::F6e2m3fn => (2, 3, 1, Plain),
            P::F8e8m0fnu => (8, 0, 127, Powers),
            _ => return None,
        };
        Some(Format { exponent, mantissa, bias, special })
    }

    fn value(&self, code: u32) -> f64 {
        let exponent = code >> self.mantissa & ((1 << self.exponent) - 1);
        let mantissa = code & ((1 << self.mantissa) - 1);
        let all = (1 << (self.exponent + self.mantissa)) - 1;
        let negative = self.special != Special::Powers && code > all;
        let sign = if negative { -1.0 } else { 1.0 };
        let largest = exponent == (1 << self.exponent) - 1;
        match self.special {
            Special::Ieee if largest && mantissa == 0 => return sign * f64::INFINITY,
            Special::Ieee if largest => return f64::NAN,
            Special::AllOnes if code & all == all => return f64::NAN,
            Special::NegativeZero if negative && code & all == 0 => return f64::NAN,
            Special::Powers if code == all => return f64::NAN,
            Special::Powers => return 2_f64.powi(exponent as i32 - self.bias),
            _ => {}
        }
        let digits = f64::from(mantissa) / f64::from(1 << self.mantissa);
        match exponent {
            0 => sign * digits * 2_f64.powi(1 - self.bias),
            _ => sign * (1.0 + digits) * 2_f64.powi(exponent as i32 - self.bias),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_agree_with_the_named_values() {
        for element in PrimitiveType::all() {
            let Some(format) = Format::of(element) else { continue };
            let value = |named: PaddingValue| named.bits(element).map(|bits| format.value(bits as u32));
            assert_eq!(value(PaddingValue::One), Some(1.0), "{element}");
            let all = (0..1_u32 << element.bit_width().unwrap_or(0)).map(|code| format.value(code));
            let numbers: Vec<f64> = all.filter(|value| !value.is_nan()).collect();
            let highest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lowest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(value(PaddingValue::Highest), Some(highest), "{element}");
            assert_eq!(value(PaddingValue::Lowest), Some(lowest), "{element}");
            assert_eq!(bits_of("1", element), Ok(PaddingValue::One.bits(element).unwrap_or(9)));
        }
    }

    #[test]
    fn every_value_of_a_narrow_type_is_its_own_nearest() {
        for element in PrimitiveType::all().filter(|element| element.bit_width() < Some(9)) {
            let Some(format) = Format::of(element) else { continue };
            for code in 0..1_u32 << element.bit_width().unwrap_or(0) {
                let value = format.value(code);
                let found = bits_of(&value.to_string(), element).expect("a value");
                assert!(
                    found == u128::from(code) || value.is_nan() && format.value(found as u32).is_nan(),
                    "{element} {code:#x} {value}"
                );
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_ties_to_even() {
        let bits = |text: &str, element| bits_of(text, element).expect("a value");
        assert_eq!(bits("0.1", P::Bf16), 0x3dcd);
        assert_eq!(bits("1.00390625", P::Bf16), 0x3f80); // halfway between 1 and the next
        assert_eq!(bits("1.01171875", P::Bf16), 0x3f82);
        assert_eq!(bits("-0", P::F16), 0x8000);
        assert_eq!(bits("nan", P::Bf16), 0x7fc0);
        assert_eq!(bits("nan", P::F16), 0x7e00);
        assert_eq!(bits("-inf", P::F8e5m2), 0xfc);
        assert_eq!(bits("1e-6", P::F32), u128::from(1e-6_f32.to_bits()));
        assert_eq!(bits("-2.5", P::C64), u128::from((-2.5_f32).to_bits()));
        assert_eq!((bits("true", P::Pred), bits("-1", P::S4), bits("0x7fc1", P::Bf16)), (1, 15, 0x7fc1));
        assert_eq!(bits("18446744073709551615", P::U64), u128::from(u64::MAX));
    }

    #[test]
    fn values_that_a_type_does_not_have_are_refused() {
        for (text, element) in [
            ("256", P::U8),
            ("-1", P::U8),
            ("128", P::S8),
            ("1.5", P::S32),
            ("", P::S32),
            ("x", P::F32),
            ("1e39", P::F32),
            ("1e400", P::F64),
            ("65520", P::F16),
            ("inf", P::F8e4m3fn),
            ("nan", P::F4e2m1fn),
            ("zero", P::F8e8m0fnu),
            ("0", P::F8e8m0fnu),
            ("-1", P::F8e8m0fnu),
            ("0x100", P::U8),
            ("0x", P::U8),
            ("lowest", P::C64),
            ("invalid", P::F32),
            ("1", P::Token),
            ("2", P::Pred),
        ] {
            assert!(bits_of(text, element).is_err(), "{text} as {element}");
        }
    }
}
