//! Which element type somebody meant who wrote something else.

use crate::spelling::{LONGEST, nearest};
use crate::xla::value::element::PrimitiveType;

/// What other systems call XLA's types.
#[rustfmt::skip]
const OTHER_NAMES: [(&str, &str); 32] = [
    ("bool", "pred"), ("i1", "pred"), ("boolean", "pred"),
    ("int2", "s2"), ("int4", "s4"), ("int8", "s8"), ("int16", "s16"), ("int32", "s32"), ("int64", "s64"),
    ("uint2", "u2"), ("uint4", "u4"), ("uint8", "u8"), ("uint16", "u16"), ("uint32", "u32"), ("uint64", "u64"),
    ("i4", "s4"), ("i8", "s8"), ("i16", "s16"), ("i32", "s32"), ("i64", "s64"), ("int", "s32"),
    ("half", "f16"), ("float16", "f16"), ("float", "f32"), ("float32", "f32"), ("double", "f64"), ("float64", "f64"),
    ("bfloat16", "bf16"), ("complex64", "c64"), ("complex128", "c128"), ("byte", "u8"), ("opaque_type", "opaque"),
];

/// The type that this word probably means: another system's name for it, or a name that is nearly the same.
pub(crate) fn nearest_type(word: &str) -> Option<PrimitiveType> {
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_ascii_lowercase();
    if let Some(row) = OTHER_NAMES.iter().find(|row| row.0 == word) {
        return PrimitiveType::from_name(row.1);
    }
    // `float8_e4m3fn`, as NumPy's extension types write it.
    if let Some(kind) = word
        .strip_prefix("float")
        .and_then(|rest| PrimitiveType::from_name(&format!("f{}", rest.replace('_', ""))))
    {
        return Some(kind);
    }
    let writable = |kind: &PrimitiveType| !matches!(kind, PrimitiveType::Tuple | PrimitiveType::Buffer);
    let kind = nearest(&word, PrimitiveType::all().filter(writable).map(PrimitiveType::name))?;
    PrimitiveType::from_name(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_foreign_names_lead_to_a_type_and_other_words_do_not() {
        for (word, meant) in [
            ("f23", "f32"),
            ("float32", "f32"),
            ("int8", "s8"),
            ("bool", "pred"),
            ("bfloat16", "bf16"),
            ("fb16", "bf16"),
            ("F8E4M3FM", "f8e4m3fn"),
            ("float8_e5m2", "f8e5m2"),
            ("opaqe", "opaque"),
            ("s33", "s32"),
            ("prde", "pred"),
            ("tokn", "token"),
        ] {
            assert_eq!(nearest_type(word).map(PrimitiveType::name), Some(meant), "{word}");
        }
        for word in ["", "x", "hello", "layout", "ééé", "a_word_of_more_than_twenty_letters"] {
            assert_eq!(nearest_type(word), None, "{word}");
        }
        assert!(OTHER_NAMES.iter().all(|row| PrimitiveType::from_name(row.1).is_some()));
    }
}
