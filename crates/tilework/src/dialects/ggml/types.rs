//! The types of ggml: elements, and blocks of quantised numbers.

use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, quoted};

/// What a tensor is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Element(Element),
    Blocks(&'static Block),
}

/// A type of quantised numbers, whose elements are coded together in blocks.
///
/// ```
/// use tilework::ggml::Block;
/// let block = Block::named("Q4_K").unwrap();
/// assert_eq!((block.name(), block.elements(), block.bytes()), ("q4_K", 256, 144));
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// As ggml prints it.
    pub(super) name: &'static str,
    /// Elements of a block, neighbours along `ne[0]`.
    pub(super) elements: u64,
    pub(super) bytes: u64,
    /// What stands in a block, in its order.
    pub(super) holds: &'static str,
}

impl Block {
    /// The type of this name, in letters of any case.
    pub fn named(name: &str) -> Option<&'static Block> {
        BLOCKS.iter().find(|block| block.name.eq_ignore_ascii_case(name))
    }

    /// Its name, as ggml prints it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many elements a block has, neighbours along the most minor dimension.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The bytes of a block.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

const fn block(name: &'static str, elements: u64, bytes: u64, holds: &'static str) -> Block {
    Block { name, elements, bytes, holds }
}

/// Elements of a block of the types that end in K, and of those like them.
const K: u64 = 256;

/// The structures of `ggml-common.h`.
#[rustfmt::skip]
static BLOCKS: [Block; 27] = [
    block("q1_0",    128, 18, "an f16 scale, 1 bit an element"),
    block("q2_0",    64,  18, "an f16 scale, 2 bits an element"),
    block("q4_0",    32,  18, "an f16 scale, 4 bits an element: byte j has element j in its low half and element j + 16 in its high half"),
    block("q4_1",    32,  20, "an f16 scale and an f16 minimum, 4 bits an element"),
    block("q5_0",    32,  22, "an f16 scale, the fifth bits, the lower 4 bits of each element"),
    block("q5_1",    32,  24, "an f16 scale and an f16 minimum, the fifth bits, the lower 4 bits of each element"),
    block("q8_0",    32,  34, "an f16 scale, 8 bits an element"),
    block("q8_1",    32,  36, "an f16 scale and an f16 sum, 8 bits an element"),
    block("mxfp4",   32,  17, "an e8m0 scale, 4 bits an element"),
    block("nvfp4",   64,  36, "4 scales of 8 bits, each for 16 elements, 4 bits an element"),
    block("q2_K",    K,   84, "4-bit scales and minimums for each 16 elements, 2 bits an element, an f16 scale and an f16 minimum of these"),
    block("q3_K",    K,  110, "the third bits, the lower 2 bits of each element, 6-bit scales for each 16 elements, an f16 scale of these"),
    block("q4_K",    K,  144, "an f16 scale and an f16 minimum, 6-bit scales and minimums for each 32 elements, 4 bits an element"),
    block("q5_K",    K,  176, "an f16 scale and an f16 minimum, 6-bit scales and minimums for each 32 elements, the fifth bits, the lower 4 bits of each element"),
    block("q6_K",    K,  210, "the lower 4 bits of each element, the upper 2 bits, 8-bit scales for each 16 elements, an f16 scale of these"),
    block("q8_K",    K,  292, "an f32 scale, 8 bits an element, the sums of each 16 elements"),
    block("tq1_0",   K,   54, "numbers from -1 to 1, five to a byte and the last 16 four to a byte, an f16 scale"),
    block("tq2_0",   K,   66, "2 bits an element, an f16 scale"),
    block("iq1_s",   K,   50, "an f16 scale, numbers of entries in a table, scales for each 32 elements"),
    block("iq1_m",   K,   56, "numbers of entries in a table, 3-bit scales and an f16 scale among them"),
    block("iq2_xxs", K,   66, "an f16 scale, numbers of entries in a table with their signs and scales"),
    block("iq2_xs",  K,   74, "an f16 scale, numbers of entries in a table with their signs, 4-bit scales"),
    block("iq2_s",   K,   82, "an f16 scale, numbers of entries in a table, signs, 4-bit scales"),
    block("iq3_xxs", K,   98, "an f16 scale, numbers of entries in a table, signs and scales"),
    block("iq3_s",   K,  110, "an f16 scale, numbers of entries in a table, signs, scales"),
    block("iq4_nl",  32,  18, "an f16 scale, 4 bits an element that choose from 16 values"),
    block("iq4_xs",  K,  136, "an f16 scale, 6-bit scales for each 32 elements, 4 bits an element that choose from 16 values"),
];

/// What stands before a name in C and in Python.
const PREFIXES: [&str; 2] = ["GGML_TYPE_", "GGMLQuantizationType."];

impl Type {
    /// The type of this name, in letters of any case, as C, the logs and gguf-py write it.
    pub(super) fn of_name(word: &str) -> Option<Type> {
        let name = PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix)).unwrap_or(word);
        let element = Element::all()
            .find(|element| element.name_in(System::Gguf).is_some_and(|own| own.eq_ignore_ascii_case(name)));
        element.map(Type::Element).or_else(|| Block::named(name).map(Type::Blocks))
    }

    /// The type of this name.
    ///
    /// # Errors
    /// What is no type, and what is only another order of the rows of one. The errors have no place.
    pub(super) fn parse(word: &str) -> Result<Type> {
        if let Some(found) = Type::of_name(word) {
            return Ok(found);
        }
        if let Some(plain) = interleaved(word) {
            return Err(Error::new(format!("the type {}", quoted(word)))
                .of_kind(ErrorKind::Unsupported)
                .rule(format!(
                    "it is {plain} with the blocks of several rows mixed, which is done for one kind of processor when a model is \
                     loaded; its elements have no places of their own"
                ))
                .accepts(format!("{plain}, which is what a file of ggml has")));
        }
        let names: Vec<&str> = names().collect();
        let near = crate::nearest(&word.to_ascii_lowercase(), names.iter().copied());
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        Err(Error::new(format!("{} is no type of ggml", quoted(word))).accepts(format!(
            "f32, f16, bf16, f64, i8, i16, i32, i64, or a type of blocks such as q4_0{near}"
        )))
    }

    /// As ggml prints it.
    pub(super) fn name(self) -> String {
        match self {
            Type::Element(element) => name(element).unwrap_or_else(|| element.name().to_owned()),
            Type::Blocks(block) => block.name.to_owned(),
        }
    }

    /// Elements and bytes of what is stored as one: an element, or a block.
    pub(super) fn unit(self) -> (u64, u64) {
        match self {
            Type::Element(element) => (1, element.bytes().into()),
            Type::Blocks(block) => (block.elements, block.bytes),
        }
    }
}

/// ggml's name of an element, if it has it.
pub(super) fn name(element: Element) -> Option<String> {
    element.name_in(System::Gguf).map(str::to_ascii_lowercase)
}

/// Every name, as ggml prints it.
fn names() -> impl Iterator<Item = &'static str> {
    const ELEMENTS: [&str; 8] = ["f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64"];
    ELEMENTS.into_iter().chain(BLOCKS.iter().map(|block| block.name))
}

/// The type whose rows this one mixes: `q4_0` of `q4_0_8_8`, `q4_0_8x8` and `q4_0_r8`.
fn interleaved(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let lower = lower.trim_start_matches("ggml_type_").trim_start_matches("type_");
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, last) = lower.rsplit_once('_')?;
    let plain = match last.strip_prefix('r').filter(|rows| number(rows)) {
        Some(_) => rest,
        None if last.split_once('x').is_some_and(|(rows, bytes)| number(rows) && number(bytes)) => rest,
        None => {
            let (plain, rows) = rest.rsplit_once('_')?;
            if !number(rows) || !number(last) {
                return None;
            }
            plain
        }
    };
    Type::of_name(plain).map(Type::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_its_type() {
        for word in names() {
            let found = Type::parse(word).unwrap();
            assert_eq!(found.name(), word);
            assert_eq!(Type::of_name(&word.to_uppercase()), Some(found));
            assert_eq!(Type::of_name(&format!("GGML_TYPE_{}", word.to_uppercase())), Some(found));
        }
        let named = Element::all().filter(|element| name(*element).is_some()).count();
        assert_eq!(names().count(), named + BLOCKS.len());
    }

    #[test]
    fn mixed_rows_are_those_of_a_type() {
        for (word, plain) in [
            ("q4_0_4_4", Some("q4_0")),
            ("Q4_0_8_8", Some("q4_0")),
            ("TYPE_IQ4_NL_4_4", Some("iq4_nl")),
            ("q8_0_r8", Some("q8_0")),
            ("q4_K_8x8", Some("q4_K")),
            ("q4_0", None),
            ("q4_9_4_4", None),
            ("q4_0_4", None),
            ("_r4", None),
        ] {
            assert_eq!(interleaved(word).as_deref(), plain, "{word}");
        }
    }
}
