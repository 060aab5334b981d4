//! What is said of every element type: the file `tests/golden/elements.txt`, with a sum over the values of many texts (see
//! `golden`).

use std::collections::BTreeSet;
use std::fmt::Write;

use tilework::{Element, System, nearest};

use crate::golden::{Sum, compare, none};

/// What people write for a value, rightly or not.
const VALUES: [&str; 52] = [
    "zero",
    "one",
    "lowest",
    "highest",
    "Zero",
    "",
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "+1",
    "2",
    "3",
    "7",
    "8",
    "-8",
    "-9",
    "15",
    "16",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "18446744073709551616",
    "0.1",
    "1.5",
    "-2.5",
    "0.4375",
    "0.40625",
    "6",
    "448",
    "449",
    "464",
    "465",
    "1e39",
    "-1e309",
    "inf",
    "-inf",
    "nan",
    "true",
    "false",
    "0x",
    "0x7",
    "0X10",
    "0xff",
    "0x1_0",
];

/// Names, most of them nearly right.
fn words() -> BTreeSet<String> {
    let names =
        Element::all().flat_map(|element| System::ALL.into_iter().filter_map(move |by| element.name_in(by)));
    let mut words = BTreeSet::new();
    for name in names.chain([
        "double",
        "float",
        "hello",
        "half",
        "dtype('<f4')",
        "torch.int8",
        "jnp.dtype('int8')",
        "si8",
        "is8",
    ]) {
        let signs: Vec<char> = name.chars().collect();
        for at in 0..signs.len() {
            let [before, after] = [&signs[..at], &signs[at + 1..]].map(String::from_iter);
            words.insert(format!("{before}{after}"));
            words.insert(format!("{before}9{after}"));
            words.insert(format!("{before}{}x{after}", signs[at]));
            if let Some(next) = after.chars().next() {
                words.insert(format!("{before}{next}{}{}", signs[at], &after[next.len_utf8()..]));
            }
        }
        words.insert(name.to_uppercase());
        words.insert(format!("{name}{name}"));
        words.insert(name.to_owned());
    }
    words
}

fn about(element: Element) -> String {
    let mut file =
        format!("== {element}, {} bits, {} B\n{:?}\n", element.bits(), element.bytes(), element.class());
    let mut line = |name: &str, text: String| writeln!(file, "{name}: {text}").expect("a string takes all");
    let is = [
        element.is_integer(),
        element.is_signed_integer(),
        element.is_unsigned_integer(),
        element.is_float(),
        element.is_complex(),
        element.is_sub_byte_number(),
    ];
    line("integer, signed, unsigned, float, complex, parts of a byte", format!("{is:?}"));
    line("of complex", format!("{:?} {:?}", element.complex_component(), element.complex_type()));
    let (code, bits) = element.dlpack();
    line("DLPack", format!("{code} {bits}, which is {:?}", Element::from_dlpack(code, bits)));
    let of_bits = [Element::signed_integer(element.bits()), Element::unsigned_integer(element.bits())];
    line("integers of as many bits", format!("{of_bits:?}"));
    let hexadecimal = |bits: Option<u128>| bits.map(|bits| format!("{bits:#x}"));
    let values = [element.zero(), element.one(), element.lowest(), element.highest()].map(hexadecimal);
    line("zero, one, lowest, highest", format!("{values:?}"));
    for system in System::ALL {
        if let Some(name) = element.name_in(system) {
            line(
                &format!("{system:?}"),
                format!("{name}, which is {:?}", Element::from_name_in(system, name)),
            );
        }
    }
    let mut sum = Sum::default();
    for text in VALUES {
        sum.add(text, &format!("{:?}", element.value_bits(text)));
        for bits in [1, 4, 8, 16, 128].into_iter().filter(|&bits| bits >= element.bits()) {
            sum.add(text, &format!("{bits} {:?}", element.fill_bits(text, bits)));
        }
    }
    line("values", format!("sum {:016x}", sum.0));
    if let Some(format) = element.float_format() {
        let mut sum = Sum::default();
        // Of many numbers those at the ends, and some of the others.
        let (last, step) = match format.bits() {
            bits @ 0..=8 => ((1_u64 << bits) - 1, 1),
            bits => (u64::MAX >> (64 - bits), (1 << (bits - 9)) - 1),
        };
        let mut code = 0_u64;
        while code <= last {
            for code in [code, last - code] {
                sum.add("", &format!("{code:#x} {:?}", format.value(code)));
            }
            let Some(next) = code.checked_add(step) else { break };
            code = next;
        }
        for code in [format.largest(), format.largest() + 1, format.smallest(), format.sign(), format.one()] {
            line(&format!("{code:#x}"), format!("{:?}", format.value(code)));
        }
        line("numbers", format!("sum {:016x}", sum.0));
    }
    file
}

#[test]
fn an_element_is_named_and_has_the_values_that_it_had() {
    let mut file = String::new();
    Element::all().for_each(|element| file += &about(element));
    let (mut sum, words) = (Sum::default(), words());
    let names = ["f32", "f64", "bf16", "float", "floating", "strides", "stride", "s8", "u8"];
    for word in &words {
        let meant = [Element::from_any_name(word), Element::meant_by(word), Element::nearest(word)];
        sum.add(word, &format!("{meant:?} {:?}", nearest(word, names)));
    }
    for word in
        ["flaot", "floatnig", "f46", "stridse", "tsride", "strid", "a", "fl", "f", "floating-point-numbers"]
    {
        let meant = (Element::nearest(word), nearest(word, names));
        writeln!(file, "{word}: {meant:?}").expect("a string takes all");
    }
    writeln!(file, "== {} words: sum {:016x}", words.len(), sum.0).expect("a string takes all");
    let mut wrong = Vec::new();
    compare("elements.txt", file, &mut wrong);
    none(wrong);
}
