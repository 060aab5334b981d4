//! A value that a person writes, as the bits of an element.

use crate::element::{Class, Element};
use crate::error::{Error, Result};

impl Element {
    /// The bits of 0; none for a type without it.
    pub fn zero(self) -> Option<u128> {
        // Powers of two alone have no zero.
        self.float_format().is_none_or(|format| format.mantissa_bits > 0).then_some(0)
    }

    /// The bits of 1; none for a type without it. Of a complex number the imaginary part, 0, is in the upper half.
    pub fn one(self) -> Option<u128> {
        match self.class() {
            Class::Float(format) => Some(format.one().into()),
            Class::Complex => self.complex_component()?.one(),
            _ => (self != Element::S1).then_some(1),
        }
    }

    /// The bits of the lowest value, which is the negative infinity where there is one; none for complex numbers.
    pub fn lowest(self) -> Option<u128> {
        match self.class() {
            Class::Bool | Class::Unsigned => Some(0),
            Class::Signed => Some(1 << (self.bits() - 1)),
            Class::Float(format) if format.signed => Some(self.highest()? | u128::from(format.sign())),
            Class::Float(_) => Some(0),
            Class::Complex => None,
        }
    }

    /// The bits of the highest value, which is infinity where there is one; none for complex numbers.
    pub fn highest(self) -> Option<u128> {
        match self.class() {
            Class::Bool | Class::Unsigned => Some(ones(self.bits())),
            Class::Signed => Some(ones(self.bits()) >> 1),
            Class::Float(format) => Some(format.infinity().unwrap_or(format.largest()).into()),
            Class::Complex => None,
        }
    }

    /// The bits of a value that somebody writes: `zero`, `one`, `lowest`, `highest`, a number (rounded to the nearest that
    /// the type has), `inf`, `nan`, `true`, `false`, or the bits themselves in hexadecimal.
    ///
    /// ```
    /// use tilework::Element;
    /// assert_eq!(Element::Bf16.value_bits("lowest")?, 0xff80);
    /// assert_eq!(Element::Bf16.value_bits("0xff80")?, 0xff80);
    /// assert_eq!(Element::S8.value_bits("-1")?, 0xff);
    /// assert_eq!(Element::F16.value_bits("0.1")?, 0x2e66);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A word that is no value, and a value that the type does not have.
    pub fn value_bits(self, text: &str) -> Result<u128> {
        bits_of(text, self)
    }

    /// The bits that an element of `bits` bits is filled with to hold a [value](Element::value_bits): the same number
    /// where elements are wider than the type, as an `s4` in a byte is, and any bits that fit the element in hexadecimal.
    ///
    /// ```
    /// use tilework::Element;
    /// assert_eq!(Element::S4.fill_bits("-8", 4)?, 0x8);
    /// assert_eq!(Element::S4.fill_bits("-8", 8)?, 0xf8);
    /// assert_eq!(Element::S4.fill_bits("0x70", 8)?, 0x70);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Element::value_bits`].
    pub fn fill_bits(self, text: &str, bits: u32) -> Result<u128> {
        let width = self.bits();
        if bits > width
            && let Some(written) = hexadecimal(text)
        {
            let ones = ones(bits);
            return written
                .filter(|found| *found <= ones)
                .ok_or_else(|| no_value(text, self, format!("0x0 to {ones:#x}")));
        }
        let found = bits_of(text, self)?;
        let is_negative = self.is_signed_integer() && found >> (width - 1) & 1 == 1;
        Ok(if is_negative && bits > width { found | ones(bits) & !ones(width) } else { found })
    }
}

/// A number whose lowest `bits` bits are one, at least the first.
fn ones(bits: u32) -> u128 {
    u128::MAX >> (128 - bits.clamp(1, 128))
}

/// What is written as bits, if it is; the number is none if it is no number.
fn hexadecimal(text: &str) -> Option<Option<u128>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    Some(u128::from_str_radix(digits, 16).ok().filter(|_| all))
}

fn no_value(text: &str, element: Element, accepts: String) -> Error {
    Error::new(format!("{text:?} as a value of {element}"))
        .field("fill")
        .rule("a fill is a value of the element type, or the bits of one element")
        .accepts(accepts)
}

/// The bits of a value that has a name, if this is one.
fn named(name: &str, element: Element) -> Option<Option<u128>> {
    Some(match name {
        "zero" => element.zero(),
        "one" => element.one(),
        "lowest" => element.lowest(),
        "highest" => element.highest(),
        _ => return None,
    })
}

fn bits_of(text: &str, element: Element) -> Result<u128> {
    let fail = |accepts: String| no_value(text, element, accepts);
    let words = |number: &str| {
        let has = |name: &&str| named(name, element).flatten().is_some();
        let names: Vec<&str> = ["zero", "one", "lowest", "highest"].into_iter().filter(has).collect();
        let example = element.one().unwrap_or(0);
        format!("{}, {number}, or bits such as {example:#x}", names.join(", "))
    };
    let width = element.bits();
    let ones = ones(width);
    if let Some(value) = named(text, element) {
        return value.ok_or_else(|| fail(words("a number")));
    }
    if let Some(bits) = hexadecimal(text) {
        return bits.filter(|bits| *bits <= ones).ok_or_else(|| fail(format!("0x0 to {ones:#x}")));
    }
    if let Class::Float(_) = element.class() {
        return float(text, element).ok_or_else(|| fail(words("a number")));
    }
    if let Some(part) = element.complex_component() {
        return bits_of(text, part); // the imaginary part is 0
    }
    let (low, high) = match element.is_signed_integer() {
        true => (-1_i128 << (width - 1), (1_i128 << (width - 1)) - 1),
        false => (0, (1_i128 << width) - 1),
    };
    let number = match text {
        "false" if element == Element::Pred => Some(0),
        "true" if element == Element::Pred => Some(1),
        _ => text.parse::<i128>().ok(),
    };
    match number {
        Some(number) if (low..=high).contains(&number) => Ok(number as u128 & ones),
        _ => Err(fail(words(&format!("{low} to {high}")))),
    }
}

/// A floating-point number.
fn float(text: &str, element: Element) -> Option<u128> {
    let double: f64 = text.parse().ok()?;
    // Written infinities are those of types that have them; numbers that grow into one are refused.
    let is_infinite = text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("inf");
    let is_value = |is_finite: bool| is_finite || double.is_nan() || is_infinite;
    match element {
        Element::F64 => is_value(double.is_finite()).then_some(double.to_bits().into()),
        Element::F32 => {
            let single: f32 = text.parse().ok()?; // rounded once
            is_value(single.is_finite()).then_some(single.to_bits().into())
        }
        _ => nearest(double, element),
    }
}

/// The nearest of all values that a type of up to 16 bits has, by looking at each; of two the one with an even last bit.
fn nearest(number: f64, element: Element) -> Option<u128> {
    let format = element.float_format()?;
    if number.is_nan() {
        return format.quiet_nan().map(u128::from);
    }
    let mut best: Option<(f64, bool, u64)> = None;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for code in 0..1 << element.bits() {
        let value = format.value(code);
        if value.is_nan() || value.is_infinite() != number.is_infinite() {
            continue;
        }
        (low, high) = (low.min(value), high.max(value));
        // Differences of numbers that are near each other are exact; an infinity differs from itself by none.
        let distance = if value == number { 0.0 } else { (value - number).abs() };
        let sign = value.is_sign_negative() != number.is_sign_negative();
        let rank = (distance, sign, code & 1);
        if best.is_none_or(|(d, s, c)| rank < (d, s, c & 1)) {
            best = Some((distance, sign, code));
        }
    }
    (low..=high).contains(&number).then_some(())?;
    best.map(|(_, _, code)| u128::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_neighbours_of_one_sign_one_is_even() {
        for element in Element::all().filter(|element| element.bits() <= 16) {
            let Some(format) = element.float_format() else { continue };
            for is_negative in [false, true] {
                let codes = (0..1_u64 << element.bits()).map(|code| (format.value(code), code));
                let mut codes: Vec<_> = codes
                    .filter(|(value, _)| !value.is_nan() && value.is_sign_negative() == is_negative)
                    .collect();
                codes.sort_by(|a, b| a.0.total_cmp(&b.0));
                let is_apart = |pair: &[(f64, u64)]| pair[0].0 < pair[1].0 && pair[0].1 % 2 != pair[1].1 % 2;
                assert!(codes.windows(2).all(is_apart), "{element}");
            }
        }
    }

    #[test]
    fn lowest_and_highest_are_those_of_all_values() {
        for element in Element::all().filter(|element| element.bits() <= 16) {
            let Some(format) = element.float_format() else { continue };
            let numbers =
                (0..1 << element.bits()).map(|code| format.value(code)).filter(|value| !value.is_nan());
            let (highest, lowest) = numbers.fold((f64::MIN, f64::MAX), |(h, l), v| (v.max(h), v.min(l)));
            let value = |bits: Option<u128>| bits.map(|bits| format.value(bits as u64));
            assert_eq!(value(element.highest()), Some(highest), "{element}");
            assert_eq!(value(element.lowest()), Some(lowest), "{element}");
            assert_eq!(bits_of("1", element).ok(), element.one(), "{element}");
        }
    }

    #[test]
    fn every_value_of_a_narrow_type_is_its_own_nearest() {
        for element in Element::all().filter(|element| element.bits() <= 8) {
            let Some(format) = element.float_format() else { continue };
            for code in 0..1 << element.bits() {
                let value = format.value(code);
                let found = bits_of(&value.to_string(), element).expect("a value") as u64;
                assert!(
                    found == code || value.is_nan() && format.value(found).is_nan(),
                    "{element} {code:#x} {value}"
                );
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_ties_to_even() {
        let bits = |text: &str, element| bits_of(text, element).expect("a value");
        assert_eq!(bits("0.1", Element::Bf16), 0x3dcd);
        assert_eq!(bits("1.00390625", Element::Bf16), 0x3f80); // halfway between 1 and the next
        assert_eq!(bits("1.01171875", Element::Bf16), 0x3f82);
        assert_eq!(bits("-0", Element::F16), 0x8000);
        assert_eq!(bits("nan", Element::Bf16), 0x7fc0);
        assert_eq!(bits("nan", Element::F16), 0x7e00);
        assert_eq!(bits("-inf", Element::F8e5m2), 0xfc);
        assert_eq!(bits("1e-6", Element::F32), u128::from(1e-6_f32.to_bits()));
        assert_eq!(bits("-2.5", Element::C64), u128::from((-2.5_f32).to_bits()));
        assert_eq!(
            (bits("true", Element::Pred), bits("-1", Element::S4), bits("0x7fc1", Element::Bf16)),
            (1, 15, 0x7fc1)
        );
        assert_eq!(bits("18446744073709551615", Element::U64), u128::from(u64::MAX));
    }

    #[test]
    fn values_that_a_type_does_not_have_are_refused() {
        for (text, element) in [
            ("256", Element::U8),
            ("-1", Element::U8),
            ("128", Element::S8),
            ("1.5", Element::S32),
            ("", Element::S32),
            ("x", Element::F32),
            ("1e39", Element::F32),
            ("1e400", Element::F64),
            ("65520", Element::F16),
            ("inf", Element::F8e4m3fn),
            ("nan", Element::F4e2m1fn),
            ("zero", Element::F8e8m0fnu),
            ("0", Element::F8e8m0fnu),
            ("-1", Element::F8e8m0fnu),
            ("0x100", Element::U8),
            ("0x", Element::U8),
            ("lowest", Element::C64),
            ("invalid", Element::F32),
            ("2", Element::Pred),
        ] {
            assert!(bits_of(text, element).is_err(), "{text} as {element}");
        }
    }

    #[test]
    fn a_refused_value_says_what_the_type_has() {
        for (text, element, accepts) in [
            ("256", Element::U8, "zero, one, lowest, highest, 0 to 255, or bits such as 0x1"),
            ("-129", Element::S8, "zero, one, lowest, highest, -128 to 127, or bits such as 0x1"),
            ("2", Element::Pred, "zero, one, lowest, highest, 0 to 1, or bits such as 0x1"),
            ("true", Element::U8, "zero, one, lowest, highest, 0 to 255, or bits such as 0x1"),
            ("one", Element::S1, "zero, lowest, highest, a number, or bits such as 0x0"),
            ("x", Element::F16, "zero, one, lowest, highest, a number, or bits such as 0x3c00"),
            ("zero", Element::F8e8m0fnu, "one, lowest, highest, a number, or bits such as 0x7f"),
            ("highest", Element::C64, "zero, one, a number, or bits such as 0x3f800000"),
            ("0x100", Element::U8, "0x0 to 0xff"),
            ("0xg", Element::U8, "0x0 to 0xff"),
            ("0x+1", Element::U8, "0x0 to 0xff"),
        ] {
            let error = element.value_bits(text).expect_err(text);
            let words = format!(
                "fill: {text:?} as a value of {element}; a fill is a value of the element type, or the bits of one element; \
                 accepted: {accepts}"
            );
            assert_eq!(error.to_string(), words);
        }
    }

    #[test]
    fn the_ends_of_every_type_of_whole_numbers_are_values_and_those_beyond_are_not() {
        for element in
            Element::all().filter(|element| matches!(element.class(), Class::Signed | Class::Unsigned))
        {
            let width = element.bits();
            let (low, high) = match element.is_signed_integer() {
                true => (-1_i128 << (width - 1), (1_i128 << (width - 1)) - 1),
                false => (0, (1_i128 << width) - 1),
            };
            assert_eq!(bits_of(&low.to_string(), element).ok(), element.lowest(), "{element}");
            assert_eq!(bits_of(&high.to_string(), element).ok(), element.highest(), "{element}");
            assert_eq!(element.value_bits("0x0").ok(), Some(0));
            assert_eq!(
                element.value_bits(&format!("{:#X}", ones(width)).replace("0x", "0X")).ok(),
                Some(ones(width))
            );
            for beyond in [low - 1, high + 1] {
                assert!(bits_of(&beyond.to_string(), element).is_err(), "{beyond} as {element}");
            }
        }
    }

    #[test]
    fn a_value_in_a_wider_element_is_the_same_number() {
        let fill = |element: Element, text: &str, bits| element.fill_bits(text, bits).expect("a value");
        assert_eq!(
            (fill(Element::S4, "-3", 8), fill(Element::S4, "5", 8), fill(Element::S4, "-3", 4)),
            (0xfd, 5, 0xd)
        );
        assert_eq!((fill(Element::S4, "lowest", 16), fill(Element::U4, "15", 8)), (0xfff8, 15));
        assert_eq!((fill(Element::S64, "-1", 128), fill(Element::S1, "-1", 8)), (u128::MAX, 0xff));
        assert_eq!((fill(Element::F16, "-1", 32), fill(Element::Pred, "true", 8)), (0xbc00, 1));
        // Any bits of the element, though the type has fewer; where it is as wide, the type's own.
        assert_eq!((fill(Element::S4, "0xff", 8), fill(Element::S4, "0x8", 4)), (0xff, 8));
        for (text, bits, accepts) in
            [("0x100", 8, "accepted: 0x0 to 0xff"), ("0x10", 4, "accepted: 0x0 to 0xf")]
        {
            let error = Element::S4.fill_bits(text, bits).expect_err(text).to_string();
            assert!(error.ends_with(accepts), "{error}");
        }
    }
}
