//! Conversions against a slow reference, which is written from the definition of the formats with `f64` arithmetic.

use proptest::prelude::*;
use tilework_core::Element;

use super::{Conversion, bytes, held_bits};
use crate::kernels::InstructionSet;

/// Bits of exponent and mantissa, bias, the code of the largest value, of infinity or what stands for it, of NaN.
pub(super) struct Definition {
    mantissa: i32,
    bias: i32,
    pub(super) largest: u32,
    pub(super) too_large: u32,
    nan: u32,
    pub(super) sign: u32,
    pub(super) unsigned_zero: bool,
}

pub(super) fn definition(kind: Element) -> Option<Definition> {
    let of = |mantissa, bias, largest, too_large, nan, sign, unsigned_zero| {
        Some(Definition { mantissa, bias, largest, too_large, nan, sign, unsigned_zero })
    };
    match kind {
        Element::Bf16 => of(7, 127, 0x7f7f, 0x7f80, 0x7fc0, 15, false),
        Element::F16 => of(10, 15, 0x7bff, 0x7c00, 0x7e00, 15, false),
        Element::F8e5m2 => of(2, 15, 0x7b, 0x7c, 0x7e, 7, false),
        Element::F8e5m2fnuz => of(2, 16, 0x7f, 0x80, 0x80, 7, true),
        Element::F8e4m3 => of(3, 7, 0x77, 0x78, 0x7c, 7, false),
        Element::F8e4m3fn => of(3, 7, 0x7e, 0x7f, 0x7f, 7, false),
        Element::F8e4m3fnuz => of(3, 8, 0x7f, 0x80, 0x80, 7, true),
        Element::F8e4m3b11fnuz => of(3, 11, 0x7f, 0x80, 0x80, 7, true),
        Element::F8e3m4 => of(4, 3, 0x6f, 0x70, 0x78, 7, false),
        Element::F4e2m1fn => of(1, 1, 0x7, 0x7, 0x8, 3, false),
        _ => None,
    }
}

/// The code of a value, or `None` for a NaN.
fn slow_encode(kind: Element, value: f32) -> Option<u32> {
    if value.is_nan() {
        return None;
    }
    if kind == Element::F8e8m0fnu {
        // The nearest exponent; a tie goes up, and so does all that is above the smallest value.
        let (value, smallest) = (f64::from(value), 2_f64.powi(-127));
        let code = (0..=255).find(|&code| {
            let middle = 1.5 * 2_f64.powi(code - 127);
            if code == 0 { value <= smallest } else { value < middle }
        });
        return match code {
            Some(code) if value > 0.0 && code < 255 => Some(code as u32),
            _ => Some(255),
        };
    }
    let format = definition(kind)?;
    let sign = u32::from(value.is_sign_negative()) << format.sign;
    let size = f64::from(value).abs();
    let code = if size.is_infinite() {
        format.too_large
    } else {
        let exponent = if size == 0.0 { i32::MIN } else { (size.to_bits() >> 52) as i32 - 1023 };
        let exponent = exponent.max(1 - format.bias);
        let quantum = 2_f64.powi(exponent - format.mantissa);
        let steps = (size / quantum).round_ties_even() as u32;
        let below = ((exponent + format.bias - 1) as u32) << format.mantissa;
        if below + steps > format.largest { format.too_large } else { below + steps }
    };
    let drops_sign = format.unsigned_zero && (code == 0 || code == format.nan);
    Some(if drops_sign { code } else { code | sign })
}

/// The value of a code.
pub(super) fn slow_decode(kind: Element, code: u32) -> f64 {
    if kind == Element::F8e8m0fnu {
        return if code == 255 { f64::NAN } else { 2_f64.powi(code as i32 - 127) };
    }
    let Some(format) = definition(kind) else { return f64::NAN };
    if format.unsigned_zero && code == format.nan {
        return f64::NAN;
    }
    let size = code & ((1 << format.sign) - 1);
    let sign = if code >> format.sign & 1 == 1 { -1.0 } else { 1.0 };
    if size > format.largest {
        let infinite = size == format.too_large && format.too_large != format.nan;
        return if infinite { sign * f64::INFINITY } else { f64::NAN };
    }
    let (exponent, mantissa) = ((size >> format.mantissa) as i32, size & ((1 << format.mantissa) - 1));
    let whole = f64::from(mantissa) + if exponent > 0 { f64::from(1 << format.mantissa) } else { 0.0 };
    sign * whole * 2_f64.powi(exponent.max(1) - format.bias - format.mantissa)
}

pub(super) const FLOATS: [Element; 11] = [
    Element::Bf16,
    Element::F16,
    Element::F8e5m2,
    Element::F8e5m2fnuz,
    Element::F8e4m3,
    Element::F8e4m3fn,
    Element::F8e4m3fnuz,
    Element::F8e4m3b11fnuz,
    Element::F8e3m4,
    Element::F8e8m0fnu,
    Element::F4e2m1fn,
];

/// Converts on one set of instructions and gives the codes.
pub(super) fn convert(set: InstructionSet, from: Element, to: Element, codes: &[u64]) -> Vec<u64> {
    run(Conversion::with(from, to, set).unwrap(), codes)
}

fn run(conversion: Conversion, codes: &[u64]) -> Vec<u64> {
    let bits = (held_bits(conversion.from()), held_bits(conversion.to()));
    let mut out = vec![0xa5; bytes(codes.len(), bits.1)];
    conversion.run(codes.len(), &pack(codes, bits.0), &mut out).unwrap();
    unpack(&out, codes.len(), bits.1)
}

fn pack(codes: &[u64], bits: u32) -> Vec<u8> {
    match bits {
        4 => codes.chunks(2).map(|pair| (pair[0] | pair.get(1).unwrap_or(&0) << 4) as u8).collect(),
        _ => codes.iter().flat_map(|code| code.to_le_bytes()[..bits as usize / 8].to_vec()).collect(),
    }
}

fn unpack(packed: &[u8], elements: usize, bits: u32) -> Vec<u64> {
    if bits == 4 {
        return (0..elements).map(|k| u64::from(packed[k / 2] >> (k % 2 * 4) & 15)).collect();
    }
    let one = |bytes: &[u8]| bytes.iter().rev().fold(0, |code, &byte| code << 8 | u64::from(byte));
    packed.chunks(bits as usize / 8).map(one).collect()
}

fn is_nan(kind: Element, code: u64) -> bool {
    match kind {
        Element::F32 => f32::from_bits(code as u32).is_nan(),
        kind => slow_decode(kind, code as u32).is_nan(),
    }
}

/// Checks what became of some values of `f32`.
fn check_encoding(set: InstructionSet, kind: Element, values: &[u64]) {
    for (&bits, &code) in values.iter().zip(&convert(set, Element::F32, kind, values)) {
        let value = f32::from_bits(bits as u32);
        match slow_encode(kind, value) {
            Some(expected) => {
                assert_eq!(code, u64::from(expected), "{value:e} ({bits:08x}) as {kind:?} on {set:?}")
            }
            None if kind == Element::F4e2m1fn => assert_eq!(code, if bits >> 31 == 0 { 8 } else { 0 }),
            None => {
                assert!(is_nan(kind, code), "{bits:08x} as {kind:?} on {set:?}: {code:x}");
                let sign = definition(kind).filter(|format| !format.unsigned_zero).map(|format| format.sign);
                assert!(sign.is_none_or(|sign| code >> sign == bits >> 31), "the sign of a NaN of {kind:?}");
            }
        }
    }
}

#[test]
fn every_code_decodes_to_its_value_on_every_set_of_instructions() {
    for set in InstructionSet::all_here() {
        for kind in FLOATS {
            let codes: Vec<u64> = (0..1 << kind.bits()).collect();
            for (&code, &bits) in codes.iter().zip(&convert(set, kind, Element::F32, &codes)) {
                let (value, expected) = (f32::from_bits(bits as u32), slow_decode(kind, code as u32));
                let same = f64::from(value).to_bits() == expected.to_bits();
                assert!(
                    same || value.is_nan() && expected.is_nan(),
                    "{kind:?} {code:x} on {set:?}: {value:e}"
                );
            }
        }
    }
}

#[test]
fn every_code_of_sixteen_bits_becomes_every_other_kind_as_its_value_does() {
    for set in InstructionSet::all_here() {
        for from in [Element::Bf16, Element::F16] {
            let codes: Vec<u64> = (0..1 << 16).collect();
            let values = convert(set, from, Element::F32, &codes);
            for to in FLOATS.into_iter().filter(|&to| to != from) {
                let found = convert(set, from, to, &codes);
                for (k, &bits) in values.iter().enumerate() {
                    match slow_encode(to, f32::from_bits(bits as u32)) {
                        Some(expected) => {
                            assert_eq!(found[k], u64::from(expected), "{from:?} {k:x} as {to:?}")
                        }
                        None => assert!(is_nan(to, found[k]) || to == Element::F4e2m1fn),
                    }
                }
            }
        }
    }
}

#[test]
fn values_between_two_codes_go_to_the_nearest_and_ties_to_the_even_one() {
    for set in InstructionSet::all_here() {
        for kind in FLOATS {
            let finite = |code: &u32| slow_decode(kind, *code).is_finite();
            let size_bits = definition(kind).map_or(8, |format| format.sign);
            let mut values: Vec<f64> =
                (0..1 << size_bits).filter(finite).map(|code| slow_decode(kind, code)).collect();
            let last = values[values.len() - 1];
            values.push(last + (last - values[values.len() - 2]));
            let middles = values.windows(2).map(|pair| ((pair[0] + pair[1]) / 2.0) as f32);
            let around = middles.flat_map(|middle| {
                let bits = u64::from(middle.to_bits());
                [bits.saturating_sub(1), bits, bits + 1].map(|bits| [bits, bits | 1 << 31])
            });
            let mut edges: Vec<u64> = around.flatten().collect();
            for edge in [0, 1, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff] {
                edges.extend([edge, edge | 1 << 31]);
            }
            for edge in [0x7f80_0000, 0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff] {
                edges.extend([edge, edge | 1 << 31]);
            }
            check_encoding(set, kind, &edges);
        }
    }
}

#[test]
fn results_are_those_of_ml_dtypes() {
    let table = include_str!("../../tests/cases/ml_dtypes.txt");
    let mut lines = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let kind = FLOATS.into_iter().find(|kind| format!("{kind:?}").to_lowercase() == name).unwrap();
        let encodes = words.next() == Some("from");
        let pairs: Vec<(u64, u64)> = words
            .skip(1)
            .map(|pair| {
                let (bits, code) = pair.split_once(':').unwrap();
                (u64::from_str_radix(bits, 16).unwrap(), u64::from_str_radix(code, 16).unwrap())
            })
            .collect();
        let (bits, codes): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        for set in InstructionSet::all_here() {
            if encodes {
                assert_eq!(convert(set, Element::F32, kind, &bits), codes, "f32 to {name} on {set:?}");
            } else {
                assert_eq!(convert(set, kind, Element::F32, &codes), bits, "{name} to f32 on {set:?}");
            }
        }
        lines += 1;
    }
    assert_eq!(lines, 20);
}

#[test]
fn whole_numbers_keep_their_low_bits_or_extend_their_sign() {
    for set in InstructionSet::all_here() {
        let all: Vec<u64> = (0..256).collect();
        let low: Vec<u64> = all.iter().map(|code| code & 15).collect();
        let nibbles: Vec<u64> = (0..16).collect();
        assert_eq!(convert(set, Element::S8, Element::S4, &all), low);
        assert_eq!(convert(set, Element::U8, Element::U4, &all), low);
        assert_eq!(convert(set, Element::U4, Element::U8, &nibbles), nibbles);
        let signed: Vec<u64> = nibbles.iter().map(|&code| if code < 8 { code } else { code + 240 }).collect();
        assert_eq!(convert(set, Element::S4, Element::S8, &nibbles), signed);
    }
}

#[test]
fn a_double_becomes_a_pair_of_floats_that_add_up_to_it() {
    let values = [0.0, -0.0, 1.0, std::f64::consts::PI, -1e-30, 1e300, f64::INFINITY, 2.0 - 2_f64.powi(-52)];
    let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    for set in InstructionSet::all_here() {
        for (value, pair) in values.iter().zip(run(Conversion::to_float_pairs().on(set).unwrap(), &bits)) {
            let (high, low) = (f32::from_bits(pair as u32), f32::from_bits((pair >> 32) as u32));
            assert_eq!(high.to_bits(), (*value as f32).to_bits());
            let rest = if high.is_finite() { (value - f64::from(high)) as f32 } else { 0.0 };
            assert_eq!(low.to_bits(), rest.to_bits(), "{value:e}");
        }
        // 2 and −2^−52 say all of a double that needs 53 bits; PI keeps 49 of its own.
        let there = run(Conversion::to_float_pairs().on(set).unwrap(), &bits);
        let back = run(Conversion::from_float_pairs().on(set).unwrap(), &there);
        assert_eq!(back[2], bits[2]);
        assert_eq!(back[7], bits[7]);
        assert!((f64::from_bits(back[3]) - std::f64::consts::PI).abs() < 2_f64.powi(-47));
        assert_eq!(
            convert(set, Element::F64, Element::F32, &bits)[3],
            u64::from(std::f32::consts::PI.to_bits())
        );
    }
}

#[test]
fn what_is_no_conversion_is_none_and_a_short_buffer_is_an_error() {
    assert!(Conversion::new(Element::F32, Element::F32).is_none());
    assert!(Conversion::new(Element::C64, Element::F32).is_none());
    assert!(Conversion::new(Element::U2, Element::U8).is_none());
    let conversion = Conversion::new(Element::F32, Element::Bf16).unwrap();
    assert!(conversion.run(2, &[0; 7], &mut [0; 4]).is_err());
    assert!(conversion.run(2, &[0; 8], &mut [0; 3]).is_err());
    assert!(conversion.run(usize::MAX, &[0; 8], &mut [0; 4]).is_err());
    assert!(conversion.run(0, &[], &mut []).is_ok());
}

/// Every conversion.
fn all() -> Vec<Conversion> {
    let between =
        Element::all().flat_map(|from| Element::all().filter_map(move |to| Conversion::new(from, to)));
    between.chain([Conversion::to_float_pairs(), Conversion::from_float_pairs()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_values_encode_as_the_definition_says(values in prop::collection::vec(any::<u32>(), 1..300), near in any::<bool>()) {
        // Half of the time near 1, where the small kinds have their values.
        let values: Vec<u64> = values
            .into_iter()
            .map(|bits| u64::from(if near { bits & 0x87ff_ffff | 0x3800_0000 } else { bits }))
            .collect();
        for set in InstructionSet::all_here() {
            for kind in FLOATS {
                check_encoding(set, kind, &values);
            }
        }
    }

    #[test]
    fn any_number_of_elements_converts_alike_and_nothing_beyond_is_touched(
        conversion in prop::sample::select(all()),
        elements in 0_usize..2200,
        seed in any::<u64>(),
    ) {
        let (from, to) = (conversion.from(), conversion.to());
        let mut random = seed;
        let source: Vec<u8> = (0..bytes(elements, held_bits(from)))
            .map(|_| {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (random >> 56) as u8
            })
            .collect();
        let portable = conversion.on(InstructionSet::Portable).unwrap();
        let size = bytes(elements, held_bits(to));
        let mut expected = vec![0xa5; size + 16];
        // One at a time.
        let codes = unpack(&source, elements, held_bits(from));
        for (k, code) in codes.iter().take(elements).enumerate() {
            let mut one = [0; 8];
            portable.run(1, &pack(&[*code], held_bits(from)), &mut one).unwrap();
            let bits = held_bits(to) as usize;
            match bits {
                4 => expected[k / 2] = expected[k / 2] & !(15 << (k % 2 * 4)) | (one[0] & 15) << (k % 2 * 4),
                _ => expected[k * bits / 8..][..bits / 8].copy_from_slice(&one[..bits / 8]),
            }
        }
        for set in InstructionSet::all_here() {
            let mut found = vec![0xa5; size + 16];
            conversion.on(set).unwrap().run(elements, &source, &mut found).unwrap();
            prop_assert_eq!(&found, &expected, "{:?} to {:?} on {:?}", from, to, set);
        }
    }
}
