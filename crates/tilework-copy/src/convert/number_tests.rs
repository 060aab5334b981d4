//! Integers and `f64` become other numbers by one rounding: against a search among all values of a type.

use std::cmp::Ordering;

use proptest::prelude::*;
use tilework_core::Element;

use super::tests::{FLOATS, convert, definition, slow_decode};
use crate::kernels::InstructionSet;

/// The code next to a number above 0, which `against` compares with any value; ties go to the even code.
fn nearest(kind: Element, against: impl Fn(f64) -> Ordering) -> Option<u32> {
    let format = definition(kind)?;
    let (mut low, mut high) = (0, format.largest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        match against(slow_decode(kind, middle)) {
            Ordering::Less => high = middle - 1,
            _ => low = middle,
        }
    }
    let value = slow_decode(kind, low);
    let step = match low {
        code if code == format.largest => value - slow_decode(kind, low - 1),
        code => slow_decode(kind, code + 1) - value,
    };
    let next = if low == format.largest { format.too_large } else { low + 1 };
    Some(match against(value + step / 2.0) {
        Ordering::Less => low,
        Ordering::Greater => next,
        // The code behind the largest is even or odd as if there were one more.
        Ordering::Equal => {
            if low % 2 == 0 {
                low
            } else {
                next
            }
        }
    })
}

/// An integer against a value that is no NaN, exactly.
fn compare(integer: i128, value: f64) -> Ordering {
    match () {
        _ if value.abs() >= 2_f64.powi(100) => 0.0.partial_cmp(&value).unwrap(),
        _ => (integer << 20).cmp(&((value * 2_f64.powi(20)).floor() as i128)).then_with(|| {
            if (value * 2_f64.powi(20)).fract() == 0.0 { Ordering::Equal } else { Ordering::Less }
        }),
    }
}

fn signed(kind: Element, code: Option<u32>, is_negative: bool) -> u64 {
    let (format, code) = (definition(kind).unwrap(), code.unwrap());
    let drops_sign = format.unsigned_zero && (code == 0 || code == format.too_large);
    u64::from(if is_negative && !drops_sign { code | 1 << format.sign } else { code })
}

/// The types that `definition` knows.
fn rounded() -> impl Iterator<Item = Element> {
    FLOATS.into_iter().filter(|&kind| definition(kind).is_some())
}

fn check_doubles(values: &[f64]) {
    let codes: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    for set in InstructionSet::all_here() {
        for kind in rounded() {
            for (value, found) in values.iter().zip(convert(set, Element::F64, kind, &codes)) {
                let code = nearest(kind, |other| value.abs().partial_cmp(&other).unwrap());
                assert_eq!(
                    found,
                    signed(kind, code, value.is_sign_negative()),
                    "{value:e} as {kind:?} on {set:?}"
                );
            }
        }
    }
}

fn check_integers(values: &[i64]) {
    let codes: Vec<u64> = values.iter().map(|&value| value as u64).collect();
    for set in InstructionSet::all_here() {
        for kind in rounded() {
            for (&value, found) in values.iter().zip(convert(set, Element::S64, kind, &codes)) {
                let code = nearest(kind, |other| compare(i128::from(value).abs(), other));
                assert_eq!(found, signed(kind, code, value < 0), "{value} as {kind:?} on {set:?}");
            }
            for (&value, found) in codes.iter().zip(convert(set, Element::U64, kind, &codes)) {
                let code = nearest(kind, |other| compare(value.into(), other));
                assert_eq!(found, signed(kind, code, false), "{value} as {kind:?} on {set:?}");
            }
        }
        let floats = convert(set, Element::S64, Element::F32, &codes);
        let doubles = convert(set, Element::U64, Element::F64, &codes);
        for (k, &value) in values.iter().enumerate() {
            assert_eq!(floats[k], u64::from((value as f32).to_bits()));
            assert_eq!(doubles[k], (value as u64 as f64).to_bits());
        }
    }
}

/// Integers, with the number of bits and whether they have a sign.
const INTEGERS: [(Element, u32, bool); 10] = [
    (Element::S4, 4, true),
    (Element::S8, 8, true),
    (Element::S16, 16, true),
    (Element::S32, 32, true),
    (Element::S64, 64, true),
    (Element::U4, 4, false),
    (Element::U8, 8, false),
    (Element::U16, 16, false),
    (Element::U32, 32, false),
    (Element::U64, 64, false),
];

fn low(value: i128, bits: u32) -> u64 {
    (value & ((1 << bits) - 1)) as u64
}

/// The number that a code of an integer is.
fn number(code: u64, bits: u32, has_sign: bool) -> i128 {
    let code = i128::from(code);
    if has_sign && code >> (bits - 1) & 1 == 1 { code - (1 << bits) } else { code }
}

fn check_between_integers(values: &[u64]) {
    for set in InstructionSet::all_here() {
        for (from, from_bits, from_sign) in INTEGERS {
            let codes: Vec<u64> = values.iter().map(|&value| low(value.into(), from_bits)).collect();
            let numbers = codes.iter().map(|&code| number(code, from_bits, from_sign));
            for (to, to_bits, _) in INTEGERS.into_iter().filter(|to| to.0 != from) {
                let expected: Vec<u64> = numbers.clone().map(|number| low(number, to_bits)).collect();
                assert_eq!(convert(set, from, to, &codes), expected, "{from:?} to {to:?} on {set:?}");
            }
            let truth: Vec<u64> = codes.iter().map(|&code| u64::from(code != 0)).collect();
            assert_eq!(convert(set, from, Element::Pred, &codes), truth, "{from:?} on {set:?}");
            assert_eq!(convert(set, Element::Pred, from, &truth), truth, "{from:?} on {set:?}");
        }
    }
}

fn check_cutting_off(values: &[f64]) {
    for set in InstructionSet::all_here() {
        for (to, bits, has_sign) in INTEGERS {
            let (least, most) = match has_sign {
                true => (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1),
                false => (0, (1_i128 << bits) - 1),
            };
            let expected = |value: f64| low((value as i128).clamp(least, most), bits);
            let doubles: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            let found = convert(set, Element::F64, to, &doubles);
            assert_eq!(
                found,
                values.iter().map(|&value| expected(value)).collect::<Vec<u64>>(),
                "{to:?} on {set:?}"
            );
            let floats: Vec<u64> = values.iter().map(|&value| (value as f32).to_bits().into()).collect();
            let found = convert(set, Element::F32, to, &floats);
            let wanted = values.iter().map(|&value| expected(f64::from(value as f32)));
            assert_eq!(found, wanted.collect::<Vec<u64>>(), "{to:?} on {set:?}");
        }
    }
}

#[test]
fn what_two_roundings_would_get_wrong_is_right() {
    // Just above and below the middle of two values of bf16, by less than f32 can say.
    let (tie, less) = (1.0 + 2_f64.powi(-8), 2_f64.powi(-40));
    check_doubles(&[tie, tie + less, tie - less, -tie - less, 3.0 * tie + less, 0.0, -0.0]);
    check_doubles(&[
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        2_f64.powi(-150),
        65519.999999,
        65520.0,
    ]);
    check_doubles(&[f64::INFINITY, f64::NEG_INFINITY]);
    let tie = (1 << 62) + (1 << 54);
    check_integers(&[
        tie,
        tie + 1,
        tie - 1,
        -tie - 1,
        i64::MAX,
        i64::MIN,
        0,
        1,
        -1,
        16_777_217,
        65519,
        65520,
    ]);
}

#[test]
fn a_double_that_is_none_becomes_a_nan_or_0() {
    let nan = [f64::NAN.to_bits()];
    for set in InstructionSet::all_here() {
        assert_eq!(convert(set, Element::F64, Element::Bf16, &nan), [0x7fc0]);
        assert_eq!(convert(set, Element::F64, Element::S32, &nan), [0]);
        assert_eq!(convert(set, Element::F64, Element::Pred, &nan), [1]);
    }
    check_cutting_off(&[
        0.99,
        -0.99,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        255.5,
        127.999,
        -128.5,
        7.9,
        8.0,
    ]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn random_numbers_become_the_nearest_of_every_type(
        words in prop::collection::vec(any::<u64>(), 1..40),
        shift in 0_u32..64,
        exponent in -160_i32..140,
    ) {
        let near = |&word: &u64| f64::from_bits(word & !(0x7ff << 52) | 1023 << 52) * 2_f64.powi(exponent);
        let values: Vec<f64> = words.iter().map(near).collect();
        check_doubles(&values);
        check_integers(&words.iter().map(|&word| word as i64 >> shift).collect::<Vec<i64>>());
        check_between_integers(&words);
        check_cutting_off(&values);
    }
}
