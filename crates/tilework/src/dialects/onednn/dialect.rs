//! oneDNN's descriptors among the notations.

use super::array::{Array, Format};
use super::names::without_places;
use super::read::{WORDS, read, words as split};
use super::tag::Tag;
use super::{MAX_DIMS, line, log, say, words};
use crate::dialect::{Confidence, Described, Dialect, Example, Facts, Part};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Format tags, blocked descriptors and lines of verbose logs.
pub static DIALECT: Dialect = Dialect {
    name: "onednn",
    title: "a memory descriptor of oneDNN",
    recognise,
    read,
    say: Some(say::say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f32[1,17,2,2] nChw8c",
        shows: "channels in blocks of 8",
        offsets: &[(&[0, 9, 1, 0], 32 + 2 * 8 + 1), (&[0, 16, 1, 1], 2 * 32 + 3 * 8)],
        size: 96,
    },
    Example {
        text: "float32 (1,17,2,2) aBcd8b",
        shows: "the same in letters of dimensions",
        offsets: &[(&[0, 9, 1, 0], 49)],
        size: 96,
    },
    Example { text: "bf16[3,5] ba", shows: "column-major", offsets: &[(&[2, 3], 11)], size: 15 },
    Example {
        text: "s32[3,5] AB16b16a",
        shows: "blocks of both dimensions",
        offsets: &[(&[0, 1], 16), (&[1, 0], 1), (&[2, 4], 66)],
        size: 256,
    },
    Example {
        text: "s8[5,9] AB4b16a4b",
        shows: "two blocks of one dimension",
        offsets: &[(&[0, 3], 3), (&[0, 4], 64), (&[1, 0], 4), (&[4, 8], 144)],
        size: 256,
    },
    Example {
        text: "f32[3,5] AB2a2b",
        shows: "a tag that oneDNN's enum does not have",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example { text: "f16[3,5] ab strides 8x1", shows: "strides", offsets: &[(&[2, 3], 19)], size: 24 },
    Example {
        text: "f32[2,17,5,4] aBcd8b strides 512x160x32x8",
        shows: "strides of the outer digits",
        offsets: &[(&[1, 9, 1, 2], 512 + 160 + 32 + 16 + 1)],
        size: 1024,
    },
    Example {
        text: "f32[2,17] ab strides 32x1 padded 2x24 offset 3",
        shows: "padding and an offset",
        offsets: &[(&[0, 0], 3), (&[1, 16], 3 + 32 + 16)],
        size: 3 + 64,
    },
    Example {
        text: "u8[3,5] ba size 20",
        shows: "places behind the last element",
        offsets: &[(&[2, 4], 14)],
        size: 20,
    },
    Example { text: "s4[4,6] ab", shows: "elements of 4 bits", offsets: &[(&[3, 5], 23)], size: 24 },
    Example {
        text: "src_f32::blocked:aBcd8b::f0 1x17x2x2",
        shows: "a descriptor of a log",
        offsets: &[(&[0, 9, 1, 0], 49)],
        size: 96,
    },
    Example {
        text: "src:bf16:ap:blocked:aBcd8b::f0 1x17x2x2",
        shows: "the same as it is written today",
        offsets: &[(&[0, 9, 1, 0], 49)],
        size: 96,
    },
    Example {
        text: "dst:f32::blocked:ab:16x1:f0 2x3",
        shows: "strides in a log",
        offsets: &[(&[1, 2], 18)],
        size: 32,
    },
    Example {
        text: "wei_s8:p:blocked:ABcd4b16a4b::f1:s8m1 16x3x3x3",
        shows: "compensation behind the weights",
        offsets: &[(&[1, 2, 0, 1], 256 + 6)],
        size: 9 * 256 + 16 * 4,
    },
];

/// A line or a descriptor of a log, or a tag. Tags that oneDNN has are its own; others may be those of other systems.
fn recognise(text: &str) -> Option<Confidence> {
    if line::start(text).is_some() {
        return Some(Confidence::Certain);
    }
    let (_, first) = split(text).next()?;
    if log::is_descriptor(first) {
        return Some(Confidence::Certain);
    }
    if without_places(first).is_some() {
        return (first.len() == text.len()).then_some(Confidence::Likely);
    }
    let goes_on = split(text).nth(1).is_none_or(|(_, word)| WORDS.contains(&word));
    match Tag::read(first) {
        // A block is enough to know a tag by, whatever follows it.
        Ok(tag) if !goes_on => (!tag.inner.is_empty()).then_some(Confidence::Likely),
        Ok(tag) if tag.is_named() => Some(Confidence::Certain),
        Ok(_) => Some(Confidence::Likely),
        Err(_) => (goes_on && looks_like(first)).then_some(Confidence::Likely),
    }
}

/// Whether a word is no tag, but has the form of one: `nChw8x`.
fn looks_like(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let blocks = &word[letters..];
    (1..=MAX_DIMS).contains(&letters)
        && blocks.starts_with(|c: char| c.is_ascii_digit())
        && blocks.ends_with(|c: char| c.is_ascii_lowercase())
        && blocks.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

impl Described for Array {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        self.element.ok()
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn open(&self) -> Option<String> {
        self.is_at_run_time()
            .then(|| "sizes or strides are known at run time only, so there is no layout".to_owned())
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        words::parts(self)
    }

    fn facts(&self) -> Facts {
        words::facts(self)
    }

    fn notes(&self, _: &Layout) -> Vec<String> {
        words::notes(self)
    }

    /// Padding of blocks holds zeros.
    fn fill(&self) -> Option<u128> {
        Some(0)
    }

    fn minor_to_major(&self) -> Option<Vec<usize>> {
        match &self.format {
            Format::Blocked(descriptor) => Some(descriptor.tag.order.iter().rev().copied().collect()),
            _ => None,
        }
    }
}
