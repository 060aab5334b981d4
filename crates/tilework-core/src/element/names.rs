//! What every system calls the elements.

use crate::element::Element;
use crate::element::table::{ALL, TABLE};
use crate::spelling::{LONGEST, nearest};

/// Who names elements.
///
/// They do not agree what a number in a name counts: XLA's `u4` has four bits, and NumPy's, which stands in npy files as
/// `<u4`, has four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum System {
    /// XLA, whose names are Tilework's.
    Xla,
    /// NumPy's dtypes, and those that the package `ml_dtypes` adds.
    Numpy,
    /// PyTorch: what follows `torch.`.
    Torch,
    /// PyTorch's names in graphs, as in `f32[8, 128]`.
    TorchShort,
    /// JAX's names in programs, as in `f32[8,128]`.
    Jax,
    /// MLIR's built-in types. Integers with a sign have none in their name, as StableHLO has it; `si8` is read as well.
    Mlir,
    /// `DML_TENSOR_DATA_TYPE`.
    DirectMl,
    /// The headers of safetensors files.
    Safetensors,
    /// `ggml_type`, of which blocks of quantised numbers are no elements.
    Gguf,
    /// The word of npy files. They hold the types of `ml_dtypes` as plain bytes, which name none.
    Npy,
}

/// How many systems there are.
pub(super) const SYSTEMS: usize = System::ALL.len();

impl System {
    /// Every system.
    pub const ALL: [System; 10] = [
        System::Xla,
        System::Numpy,
        System::Torch,
        System::TorchShort,
        System::Jax,
        System::Mlir,
        System::DirectMl,
        System::Safetensors,
        System::Gguf,
        System::Npy,
    ];
}

/// What people write before a name, and whose name then follows.
const PREFIXES: [(&str, System); 8] = [
    ("torch.", System::Torch),
    ("jax.numpy.", System::Numpy),
    ("jnp.", System::Numpy),
    ("numpy.", System::Numpy),
    ("np.", System::Numpy),
    ("ml_dtypes.", System::Numpy),
    ("tf.", System::Numpy),
    ("DML_TENSOR_DATA_TYPE_", System::DirectMl),
];

/// Names that count bits here and bytes in NumPy, and that XLA does not have.
const AMBIGUOUS: [&str; 4] = ["i1", "i2", "i4", "i8"];

/// Words of programming languages. They mean one thing here and another there, so they are suggestions alone.
#[rustfmt::skip]
const WORDS: [(&str, Element); 17] = [
    ("half", Element::F16), ("float", Element::F32), ("single", Element::F32), ("double", Element::F64),
    ("char", Element::S8), ("byte", Element::U8), ("short", Element::S16), ("int", Element::S32),
    ("uint", Element::U32), ("long", Element::S64), ("boolean", Element::Pred), ("bool_", Element::Pred),
    // Of the floats of 8 bits, those that are used most.
    ("f8", Element::F8e4m3fn), ("fp8", Element::F8e4m3fn), ("float8", Element::F8e4m3fn), ("e4m3", Element::F8e4m3fn),
    ("e5m2", Element::F8e5m2),
];

/// Sorts XLA's names into buckets. The factors are the first that give every name a bucket of its own, which [`BY_NAME`]
/// proves while it is compiled; the fourth byte is where the long names of the small floats differ.
const fn bucket(name: &[u8]) -> usize {
    let (first, second, fourth) = match *name {
        [first, second, _, fourth, ..] => (first, second, fourth),
        [first, second, third] => (first, second, third),
        [first, second] => (first, second, second),
        _ => return 0,
    };
    first
        .wrapping_add(second.wrapping_mul(2))
        .wrapping_add(fourth.wrapping_mul(11))
        .wrapping_add(name.len() as u8) as usize
}

/// For each bucket the place of the element whose name falls into it plus one, or 0.
const BY_NAME: [u8; 256] = {
    let mut places = [0; 256];
    let mut place = 0;
    while place < TABLE.len() {
        let bucket = bucket(ALL[place].name().as_bytes());
        assert!(places[bucket] == 0, "two names in one bucket");
        place += 1;
        places[bucket] = place as u8;
    }
    places
};

/// The element that XLA calls this. Reading shapes spends its time here, so that it looks at one row.
#[inline]
pub(super) fn by_xla(name: &str) -> Option<Element> {
    let place = usize::from(BY_NAME[bucket(name.as_bytes())]).checked_sub(1)?;
    (ALL[place].name() == name).then_some(ALL[place])
}

impl Element {
    /// What a system calls this element, if it has it.
    ///
    /// ```
    /// use tilework::{Element, System};
    /// assert_eq!(Element::U8.name_in(System::Mlir), Some("ui8"));
    /// assert_eq!(Element::F8e4m3fn.name_in(System::Safetensors), Some("F8_E4M3"));
    /// assert_eq!(Element::Pred.name_in(System::DirectMl), None);
    /// ```
    pub fn name_in(self, system: System) -> Option<&'static str> {
        Some(self.row().names[system as usize]).filter(|name| !name.is_empty())
    }

    /// The element that a system calls this.
    pub fn from_name_in(system: System, name: &str) -> Option<Element> {
        if system == System::Xla {
            return by_xla(name);
        }
        let find = |name: &str| Element::all().find(|element| element.name_in(system) == Some(name));
        let is_signed = system == System::Mlir && name.starts_with("si");
        find(name).or_else(|| if is_signed { find(&name[1..]) } else { None })
    }

    /// The element that a name of any system means: `f32`, `float32`, `torch.float32`, `dtype('float32')`, `<f4`, `FLOAT32`.
    ///
    /// XLA's names count first. A name that means different elements in different systems is none.
    ///
    /// ```
    /// use tilework::Element;
    /// assert_eq!(Element::from_any_name("jnp.bfloat16"), Some(Element::Bf16));
    /// assert_eq!(Element::from_any_name("u4"), Some(Element::U4)); // XLA's, four bits
    /// assert_eq!(Element::from_any_name("<u4"), Some(Element::U32)); // NumPy's, four bytes
    /// assert_eq!(Element::from_any_name("i8"), None); // 8 bits in JAX and MLIR, 8 bytes in NumPy
    /// ```
    pub fn from_any_name(name: &str) -> Option<Element> {
        if let Some(element) = by_xla(name) {
            return Some(element);
        }
        if let Some((_, inner)) = name.strip_suffix(')').and_then(|name| name.split_once("dtype(")) {
            let inner = inner.trim_matches(['\'', '"']);
            return [System::Numpy, System::Npy].into_iter().find_map(|by| Element::from_name_in(by, inner));
        }
        for (prefix, system) in PREFIXES {
            if let Some(rest) = name.strip_prefix(prefix) {
                return Element::from_name_in(system, rest);
            }
        }
        if AMBIGUOUS.contains(&name) {
            return None;
        }
        let mut found = System::ALL.into_iter().filter_map(|system| Element::from_name_in(system, name));
        found.next().filter(|first| found.all(|other| other == *first))
    }

    /// The element that this word means in other letters, in another system, or in a programming language. For suggestions.
    pub fn meant_by(word: &str) -> Option<Element> {
        let named = |by: System| {
            Element::all()
                .find(|element| element.name_in(by).is_some_and(|name| name.eq_ignore_ascii_case(word)))
        };
        Element::from_any_name(word).or_else(|| System::ALL.into_iter().find_map(named)).or_else(|| {
            WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, element)| *element)
        })
    }

    /// The element that this word probably means: [what it means](Element::meant_by), or the one of XLA's names that is
    /// nearly the same.
    ///
    /// ```
    /// use tilework::Element;
    /// assert_eq!(Element::nearest("f23"), Some(Element::F32));
    /// assert_eq!(Element::nearest("double"), Some(Element::F64));
    /// assert_eq!(Element::nearest("hello"), None);
    /// ```
    pub fn nearest(word: &str) -> Option<Element> {
        if word.len() > LONGEST {
            return Element::from_any_name(word);
        }
        let near = || nearest(&word.to_ascii_lowercase(), Element::all().map(Element::name)).and_then(by_xla);
        Element::meant_by(word).or_else(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_every_system_leads_back_to_its_element_alone() {
        for (place, system) in System::ALL.into_iter().enumerate() {
            assert_eq!(system as usize, place);
            for element in Element::all() {
                let Some(name) = element.name_in(system) else { continue };
                assert_eq!(Element::from_name_in(system, name), Some(element), "{system:?} {name}");
                let same = Element::all().filter(|other| other.name_in(system) == Some(name)).count();
                assert_eq!(same, 1, "{system:?} {name}");
                let any = Element::from_any_name(name);
                assert!(
                    any == Some(element) || any.is_none() && AMBIGUOUS.contains(&name),
                    "{system:?} {name}"
                );
            }
        }
        for element in Element::all() {
            let (code, bits) = element.dlpack();
            assert_eq!(Element::from_dlpack(code, bits), Some(element));
        }
    }

    #[test]
    fn numbers_in_names_are_the_bits_and_in_npy_files_the_bytes() {
        let number = |name: &str| {
            let digits: String = name
                .chars()
                .skip_while(|letter| !letter.is_ascii_digit())
                .take_while(char::is_ascii_digit)
                .collect();
            digits.parse::<u32>().ok()
        };
        for element in Element::all().filter(|element| *element != Element::Pred) {
            for system in System::ALL {
                let Some(name) = element.name_in(system) else { continue };
                let bits = match system {
                    System::Npy => number(name).map(|bytes| 8 * bytes),
                    System::Mlir if element.is_complex() => number(name).map(|part| 2 * part),
                    _ => number(name),
                };
                assert_eq!(bits, Some(element.bits()), "{system:?} {name}");
            }
        }
    }

    #[test]
    fn letters_of_a_name_say_the_class() {
        for element in Element::all() {
            let letters = |system| element.name_in(system).unwrap_or("").trim_start_matches(['<', '|']);
            let first = |system| letters(system).chars().next();
            assert_eq!(element.is_signed_integer(), first(System::Xla) == Some('s'), "{element}");
            assert_eq!(element.is_unsigned_integer(), first(System::Numpy) == Some('u'), "{element}");
            assert_eq!(element.is_complex(), first(System::Jax) == Some('c'), "{element}");
            assert_eq!(element.is_float(), letters(System::Numpy).contains("float"), "{element}");
        }
    }

    #[test]
    fn a_name_with_one_letter_changed_is_another_name_or_none() {
        for element in Element::all() {
            for at in 0..element.name().len() {
                for letter in ' '..='~' {
                    let name = format!("{}{letter}{}", &element.name()[..at], &element.name()[at + 1..]);
                    let expected = Element::all().find(|element| element.name() == name);
                    assert_eq!(Element::from_name(&name), expected, "{name}");
                }
            }
        }
        assert!(
            ["", "s", "é", "f32 ", "float32", "tuple"].iter().all(|name| Element::from_name(name).is_none())
        );
    }

    #[test]
    fn words_with_prefixes_are_names_of_that_system_alone() {
        for (word, meant) in [
            ("torch.float16", Some(Element::F16)),
            ("torch.f32", None),
            ("np.float32", Some(Element::F32)),
            ("numpy.dtype('float32')", Some(Element::F32)),
            ("dtype('<f4')", Some(Element::F32)),
            ("dtype(bfloat16)", Some(Element::Bf16)),
            ("ml_dtypes.float8_e5m2", Some(Element::F8e5m2)),
            ("DML_TENSOR_DATA_TYPE_UINT8", Some(Element::U8)),
            ("F8_E4M3", Some(Element::F8e4m3fn)),
            ("f8_e4m3", Some(Element::F8e4m3)),
            ("f8E4M3", Some(Element::F8e4m3)),
            ("si8", Some(Element::S8)),
            ("si1", Some(Element::S1)),
            ("sbf16", None),
            ("float", None),
            ("token", None),
        ] {
            assert_eq!(Element::from_any_name(word), meant, "{word}");
        }
        assert_eq!(Element::from_name_in(System::Mlir, "i1"), Some(Element::Pred));
    }

    #[test]
    fn slips_and_foreign_names_lead_to_an_element_and_other_words_do_not() {
        for (word, meant) in [
            ("f23", "f32"),
            ("float32", "f32"),
            ("half", "f16"),
            ("int8", "s8"),
            ("i8", "s8"),
            ("bool", "pred"),
            ("Bool", "pred"),
            ("bfloat16", "bf16"),
            ("fb16", "bf16"),
            ("F8E4M3FM", "f8e4m3fn"),
            ("float8_e5m2", "f8e5m2"),
            ("s33", "s32"),
            ("prde", "pred"),
        ] {
            assert_eq!(Element::nearest(word).map(Element::name), Some(meant), "{word}");
        }
        for word in ["", "x", "hello", "layout", "ééé", "a_word_of_more_than_twenty_letters"] {
            assert_eq!(Element::nearest(word), None, "{word}");
        }
    }
}
