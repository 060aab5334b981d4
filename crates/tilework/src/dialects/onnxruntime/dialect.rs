//! ONNX Runtime's blocked formats among the notations.

use crate::dialect::blocked::{Block, Blocked};
use crate::dialect::named::{self, Before, Named, check_bits, packed_bits};
use crate::dialect::{Confidence, Dialect, Example, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::layout::Layout;

/// Blocked formats of ONNX Runtime.
pub static DIALECT: Dialect = Dialect {
    name: "onnxruntime",
    title: "a blocked format of ONNX Runtime",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f32[1,17,2,2] NCHWc B=8",
        shows: "channels in blocks",
        offsets: &[(&[0, 9, 1, 0], 49)],
        size: 96,
    },
    Example {
        text: "f32[20,17,3,3] OIHWBiBo B=16",
        shows: "a filter",
        offsets: &[(&[17, 16, 1, 2], (18 + 9 + 5) * 256 + 1)],
        size: 4 * 9 * 256,
    },
    Example {
        text: "f32[9,3,2,2] OIHWBo B=8",
        shows: "the filter of the first layer",
        offsets: &[(&[8, 2, 1, 1], (12 + 11) * 8)],
        size: 2 * 12 * 8,
    },
];

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Nchwc,
    OihwBiBo,
    OihwBo,
}

/// Names; the first of each format is printed.
const NAMES: [(&str, Format); 5] = [
    ("NCHWc", Format::Nchwc),
    ("OIHWBiBo", Format::OihwBiBo),
    ("OIHWBo", Format::OihwBo),
    ("nChwc", Format::Nchwc),
    ("nchwc", Format::Nchwc),
];

/// The blocks that ONNX Runtime has.
const BLOCKS: [u64; 2] = [8, 16];

fn format(word: &str) -> Option<Format> {
    NAMES.iter().find(|(other, _)| *other == word).map(|(_, format)| *format)
}

fn recognise(text: &str) -> Option<Confidence> {
    format(text.split_whitespace().next()?).map(|_| Confidence::Certain)
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    named::read(text, known, "f32[1,17,2,2] NCHWc B=8", body).map(named::found)
}

fn body(text: &str, before: Before) -> Result<Named> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let Some(format) = format(word) else {
        let error = Error::new(format!("{} is no format of ONNX Runtime", quoted(word))).at(0..word.len());
        return Err(error.accepts("NCHWc, OIHWBiBo or OIHWBo, with B=8 or B=16"));
    };
    let rest = rest.trim();
    let at = text.len() - rest.len()..text.len();
    if rest.is_empty() {
        return Err(Error::new("no size of blocks")
            .of_kind(ErrorKind::Unsupported)
            .at(at)
            .rule("it depends on the processor: 16 with AVX-512, 8 on others of AMD64")
            .accepts(format!("{word} B=8 or {word} B=16")));
    }
    let number = rest.strip_prefix("B=").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let block = number.and_then(|number| number.parse().ok()).filter(|block| (1..=1 << 20).contains(block));
    match block {
        Some(block) => array(format, block, before),
        None => Err(Error::new(format!("{} behind the format", quoted(rest))).at(at).accepts("B=8 or B=16")),
    }
}

/// An array in a format.
fn array(format: Format, block: u64, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let name = NAMES.iter().find(|(_, other)| *other == format).map_or("", |(name, _)| name);
    let of = |dim: usize| Block { dim, size: block };
    let (sizes, inner, meaning) = match format {
        Format::Nchwc => (
            "[N,C,H,W]",
            vec![of(1)],
            format!("[N][⌈C/{block}⌉][H][W][{block}]: channels in blocks of {block}"),
        ),
        Format::OihwBo => (
            "[O,I,H,W]",
            vec![of(0)],
            format!("[⌈O/{block}⌉][I][H][W][{block}]: output channels in blocks of {block}"),
        ),
        Format::OihwBiBo => (
            "[O,I,H,W]",
            vec![of(1), of(0)],
            format!(
                "[⌈O/{block}⌉][⌈I/{block}⌉][H][W][{block}][{block}]: blocks of {block} input and {block} output channels"
            ),
        ),
    };
    if dims.len() != 4 {
        return Err(Error::new(format!("{name} of {}", counted(dims.len() as u64, "dimension")))
            .of_kind(ErrorKind::Mismatch)
            .rule(format!("it is a format of {sizes}"))
            .accepts("4 dimensions"));
    }
    let blocked = Blocked::packed(dims, packed_bits(element), &[0, 1, 2, 3], &inner, None)?;
    let mut notes = Vec::new();
    if !BLOCKS.contains(&block) {
        notes.push("ONNX Runtime has blocks of 8 and 16".to_owned());
    }
    if element != Element::F32 {
        notes.push("ONNX Runtime has its blocked formats for f32 alone".to_owned());
    }
    if blocked.padded != blocked.dims {
        notes.push("the padding of blocks is filled with zeros".to_owned());
    }
    Ok(Named {
        notation: &DIALECT,
        element,
        layout: blocked.lower_to(blocked.size()?)?,
        text: format!("{name} B={block}"),
        parts: vec![
            Part::new("format", name, meaning),
            Part::new("block", format!("B={block}"), format!("{block} channels are neighbours")),
        ],
        facts: vec![("block", block.into())],
        notes,
        minor_to_major: None,
    })
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    check_bits(layout, element, "ONNX Runtime")?;
    let before = Before { element, dims: layout.dims() };
    let formats = NAMES.iter().take(3).flat_map(|(_, format)| BLOCKS.map(|block| (*format, block)));
    named::say(
        layout,
        formats.map(|(format, block)| array(format, block, before)),
        "ONNX Runtime has channels in blocks of 8 or 16",
        "an array of four dimensions in such blocks",
    )
}
