//! The value of places that were never written, as JSON and as the bits of an element.

use serde_json::{Value, json};
use tilework::{Element, Error, Result};
use tilework_copy::Conversion;

use super::json::{shown, wrong};
use crate::orbax::to_base64;

/// The bits of a value. An integer is a number; a float is one, or `NaN`, `Infinity` or its bits in hexadecimal as text; a complex
/// number is a list of two. `null`, which version 2 has, is 0.
///
/// # Errors
/// What is no value of the type.
pub(crate) fn read(value: &Value, element: Element) -> Result<u128> {
    const FIELD: &str = "fill_value";
    let bits = 8 * element.bytes();
    let accepts = format!("a value of {element}");
    if element.is_complex() {
        let (part, width) = if element == Element::C64 { (Element::F32, 32) } else { (Element::F64, 64) };
        return match value {
            Value::Array(parts) if parts.len() == 2 => {
                Ok(read(&parts[0], part)? | read(&parts[1], part)? << width)
            }
            Value::Null => Ok(0),
            Value::Number(_) => read(value, part),
            other => Err(wrong(FIELD, other, "two numbers such as [0.0, 0.0]")),
        };
    }
    let text = match value {
        Value::Null => return Ok(0),
        Value::Bool(value) if element == Element::Pred => return Ok(u128::from(*value)),
        Value::Number(number) if element == Element::Pred => match number.as_u64() {
            Some(bit @ 0..=1) => return Ok(u128::from(bit)),
            _ => return Err(wrong(FIELD, value, "true or false")),
        },
        // Some writers of version 2 give integers a fraction of 0.
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64() && element.is_integer()) {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 9e15 => (whole as i64).to_string(),
            _ => number.to_string(),
        },
        Value::String(text) if element.is_float() => match &**text {
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            "NaN" => "nan".to_owned(),
            text => text.to_owned(),
        },
        other => return Err(wrong(FIELD, other, &accepts)),
    };
    element.fill_bits(&text, bits).map_err(|_| {
        Error::new(shown(value)).field(FIELD).rule(format!("elements are {element}")).accepts(accepts)
    })
}

/// Where xarray says which value stands for none.
pub(crate) const MASK: &str = "_FillValue";

/// The value that stands for none, as xarray says it in version 3; in version 2 the fill is meant by it.
pub(super) fn mask(value: &Value, element: Element) -> Option<Value> {
    let number = match value {
        Value::Number(number) if element.is_integer() => return Some(json!(number)),
        Value::Number(number) => number.as_f64()?,
        Value::String(text) if text == "NaN" => f64::NAN,
        Value::String(text) if text == "Infinity" => f64::INFINITY,
        Value::String(text) if text == "-Infinity" => f64::NEG_INFINITY,
        _ => return None,
    };
    let number = match element {
        Element::F32 => f64::from(number as f32),
        Element::F64 => number,
        _ => return None,
    };
    Some(json!(to_base64(&number.to_le_bytes())))
}

/// The value as version 3 writes it: as a number where one says it exactly, and else as its bits.
pub(crate) fn written(fill: u128, element: Element) -> Value {
    let bytes = element.bytes() as usize;
    if element == Element::Pred {
        return json!(fill & 1 == 1);
    }
    if element.is_complex() {
        let (part, width) = if element == Element::C64 { (Element::F32, 32) } else { (Element::F64, 64) };
        return json!([written(fill & ((1 << width) - 1), part), written(fill >> width, part)]);
    }
    if element.is_signed_integer() {
        let unused = 128 - 8 * bytes as u32;
        return json!(((fill << unused) as i128 >> unused) as i64);
    }
    if !element.is_float() {
        return json!(fill as u64);
    }
    let little = fill.to_le_bytes();
    let mut double = [0; 8];
    match Conversion::new(element, Element::F64) {
        Some(conversion) if element != Element::F64 => {
            if conversion.run(1, &little[..bytes], &mut double).is_err() {
                return bits(fill, bytes);
            }
        }
        _ => double = *little.first_chunk().unwrap_or(&[0; 8]),
    }
    let number = f64::from_le_bytes(double);
    let value = match number {
        number if number.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        number => json!(number),
    };
    if read(&value, element) == Ok(fill) { value } else { bits(fill, bytes) }
}

fn bits(fill: u128, bytes: usize) -> Value {
    json!(format!("0x{fill:0width$x}", width = 2 * bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_the_specification_says() {
        use Element::{Bf16, C64, F8e4m3fn, F16, F32, F64, Pred, S4, S8, S64, U8, U64};
        for (text, element, bits) in [
            ("0", F32, 0),
            ("1.5", F32, 0x3fc0_0000),
            ("-0.0", F64, 1 << 63),
            ("\"Infinity\"", F16, 0x7c00),
            ("\"-Infinity\"", Bf16, 0xff80),
            ("\"NaN\"", F32, 0x7fc0_0000),
            ("\"0x7fc00001\"", F32, 0x7fc0_0001),
            ("1.0", F8e4m3fn, 0x38),
            ("-1", S8, 0xff),
            ("-1", S4, 0xff),
            ("-9223372036854775808", S64, 1 << 63),
            ("18446744073709551615", U64, u128::from(u64::MAX)),
            ("3.0", U8, 3),
            ("true", Pred, 1),
            ("0", Pred, 0),
            ("[1.0, -2.0]", C64, 0xc000_0000_3f80_0000),
            ("null", F32, 0),
        ] {
            let value = serde_json::from_str(text).expect(text);
            assert_eq!(read(&value, element), Ok(bits), "{text} of {element}");
            assert_eq!(read(&written(bits, element), element), Ok(bits), "{text} of {element} written");
        }
        for (text, element) in [
            ("256", U8),
            ("-1", U8),
            ("1.5", S8),
            ("\"x\"", F32),
            ("true", F32),
            ("[1]", C64),
            ("2", Pred),
            ("\"\"", U8),
        ] {
            let value = serde_json::from_str(text).expect(text);
            let error = read(&value, element).expect_err(text).to_string();
            assert!(error.contains(text.trim_matches('"')), "{error}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_bits() {
        for element in Element::all().filter(|element| element.bits() >= 8 || *element == Element::Pred) {
            let ones = if element == Element::Pred { 1 } else { u128::MAX >> (128 - element.bits()) };
            for fill in [0, 1, ones, ones >> 1, ones / 3] {
                let value = written(fill, element);
                assert_eq!(read(&value, element), Ok(fill), "{fill:x} of {element} as {value}");
            }
        }
    }
}
