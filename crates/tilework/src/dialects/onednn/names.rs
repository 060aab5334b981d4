//! The names that oneDNN has: tags, spellings of dimensions, element types, and formats without places.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::element::Element;

/// The tags of oneDNN's enum, in letters of dimensions.
const TAGS: &str = include_str!("tags.txt");

/// Every tag of oneDNN's enum.
pub(super) fn tags() -> impl Iterator<Item = &'static str> {
    TAGS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Whether oneDNN has this tag; a log asks it of every array.
pub(super) fn is_tag(text: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| tags().collect());
    ALL.contains(text)
}

/// The letters that dimensions have by their meaning, in their logical order. An alias has all letters of one of them.
pub(super) const SPELLINGS: [&str; 18] = [
    "x", "nc", "ncw", "nchw", "ncdhw", "oi", "oiw", "oihw", "oidhw", "goiw", "goihw", "goidhw", "tn", "tnc",
    "ldnc", "ldio", "ldgo", "ldigo",
];

/// What each letter of the spellings means.
pub(super) fn meaning(letter: char) -> &'static str {
    match letter {
        'n' => "batch",
        'c' => "channels",
        'd' => "depth",
        'h' => "height",
        'w' => "width",
        'o' => "output channels",
        'i' => "input channels",
        'g' => "groups",
        't' => "time",
        'l' => "layers",
        _ => "the only dimension",
    }
}

/// The aliases that the rule of letters does not lead to the tag that oneDNN's enum has for them.
pub(super) const EXCEPTIONS: [(&str, &str); 6] = [
    ("OhwI24o", "Acdb24a"),
    ("OhwI32o", "Acdb32a"),
    ("gOhwI24o", "aBdec24b"),
    ("gOhwI32o", "aBdec32b"),
    ("gIOhw2i8o16i2o", "aBCde2c8b16c2b"),
    ("gIOdhw2i8o16i2o", "aBCdef2c8b16c2b"),
];

/// oneDNN's element types. Its `f8_e4m3` has no infinities.
const TYPES: [(&str, Element); 15] = [
    ("f32", Element::F32),
    ("bf16", Element::Bf16),
    ("f16", Element::F16),
    ("s8", Element::S8),
    ("u8", Element::U8),
    ("s32", Element::S32),
    ("s64", Element::S64),
    ("f64", Element::F64),
    ("boolean", Element::Pred),
    ("f8_e5m2", Element::F8e5m2),
    ("f8_e4m3", Element::F8e4m3fn),
    ("e8m0", Element::F8e8m0fnu),
    ("f4_e2m1", Element::F4e2m1fn),
    ("s4", Element::S4),
    ("u4", Element::U4),
];

/// What oneDNN calls an element.
pub(super) fn type_name(element: Element) -> Option<&'static str> {
    TYPES.iter().find(|(_, other)| *other == element).map(|(name, _)| *name)
}

/// The element that oneDNN calls this.
pub(super) fn element(name: &str) -> Option<Element> {
    TYPES.iter().find(|(other, _)| *other == name).map(|(_, element)| *element)
}

/// Whether a word of a log is a type: also those that have no elements here.
pub(super) fn is_type(name: &str) -> bool {
    element(name).is_some() || matches!(name, "undef" | "f4_e3m0" | "data_type_max")
}

/// The names of all element types.
pub(super) fn type_names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|(name, _)| *name)
}

/// Formats of oneDNN without places of elements, and why they have none.
const WITHOUT_PLACES: [(&str, &str); 16] = [
    (
        "wino",
        "weights are transformed for Winograd's algorithm, so the buffer has other numbers than the array",
    ),
    (
        "wino_fmt",
        "weights are transformed for Winograd's algorithm, so the buffer has other numbers than the array",
    ),
    ("rnn_packed", "weights are packed by a matrix product of the library in parts that only it knows"),
    ("cublaslt_blocked", "cuBLASLt arranges it; as an order of cuBLASLt it is COL32_2R_4R4"),
    ("zen_packed", "another library packs it in a form that only it knows"),
    ("opaque", "only the implementation that made it knows the form"),
    ("sparse", "only some elements are stored, and where depends on the data"),
    ("csr", "only some elements are stored, and where depends on the data"),
    ("coo", "only some elements are stored, and where depends on the data"),
    ("packed", "only some elements are stored, and where depends on the data"),
    ("grouped", "the sizes of the groups are known at run time only"),
    ("host_scalar", "it is one number on the host, and no array"),
    ("any", "the primitive chooses the format; its own memory descriptor has it"),
    ("undef", "there is no array"),
    ("format_kind_undef", "there is no array"),
    ("format_kind_any", "the primitive chooses the format; its own memory descriptor has it"),
];

/// Why a format has no places, if this is one.
pub(super) fn without_places(name: &str) -> Option<&'static str> {
    WITHOUT_PLACES.iter().find(|(other, _)| *other == name).map(|(_, why)| *why)
}

/// Whether a field of a log says the kind of a format.
pub(super) fn is_kind(name: &str) -> bool {
    name == "blocked" || without_places(name).is_some()
}
