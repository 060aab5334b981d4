//! cuDNN's formats among the notations.

use crate::dialect::blocked::{Block, Blocked};
use crate::dialect::named::{self, Before, Named, check_bits, packed_bits};
use crate::dialect::{Confidence, Dialect, Example, Fact, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::layout::Layout;

/// Formats of cuDNN's tensors.
pub static DIALECT: Dialect = Dialect {
    name: "cudnn",
    title: "a tensor format of cuDNN",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "s8[2,64,3,5] NC/32HW32",
        shows: "channels in vectors of 32",
        offsets: &[(&[1, 33, 2, 4], 960 + 480 + 14 * 32 + 1)],
        size: 1920,
    },
    Example {
        text: "s8[1,8,2,2] CUDNN_TENSOR_NCHW_VECT_C INT8x4",
        shows: "channels in vectors of 4",
        offsets: &[(&[0, 5, 1, 0], 16 + 8 + 1)],
        size: 32,
    },
    Example {
        text: "f16[2,3,4,5] CUDNN_TENSOR_NHWC",
        shows: "channels last",
        offsets: &[(&[1, 2, 3, 4], 119), (&[0, 1, 0, 1], 4)],
        size: 120,
    },
];

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Nchw,
    Nhwc,
    /// Channels in vectors, of images with this many dimensions of space.
    Vectors {
        size: u64,
        spatial: usize,
    },
}

/// The letters of the dimensions of space.
const SPATIAL: [&str; 3] = ["W", "HW", "DHW"];

/// `NC/32HW32`
fn vectors(word: &str) -> Option<Format> {
    let rest = word.strip_prefix("NC/")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (size, rest) = rest.split_at(digits);
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, again) = rest.split_at(letters);
    let spatial = SPATIAL.iter().position(|other| *other == letters)? + 1;
    let number = size.parse().ok().filter(|&size: &u64| size > 1 && size <= 1 << 20)?;
    (size == again).then_some(Format::Vectors { size: number, spatial })
}

fn format(text: &str) -> Option<Format> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["CUDNN_TENSOR_NCHW"] => Some(Format::Nchw),
        ["CUDNN_TENSOR_NHWC"] => Some(Format::Nhwc),
        ["CUDNN_TENSOR_NCHW_VECT_C", "INT8x4" | "UINT8x4"] => Some(Format::Vectors { size: 4, spatial: 2 }),
        ["CUDNN_TENSOR_NCHW_VECT_C", "INT8x32"] => Some(Format::Vectors { size: 32, spatial: 2 }),
        [word] => vectors(word),
        _ => None,
    }
}

fn recognise(text: &str) -> Option<Confidence> {
    match format(text) {
        Some(_) => Some(Confidence::Certain),
        None => (text.starts_with("CUDNN_TENSOR_") || text.starts_with("NC/")).then_some(Confidence::Likely),
    }
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    named::read(text, known, "s8[2,64,3,5] NC/32HW32", body).map(named::found)
}

fn body(text: &str, before: Before) -> Result<Named> {
    let accepts = "CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC, NC/4HW4, NC/32HW32";
    if text == "CUDNN_TENSOR_NCHW_VECT_C" {
        return Err(Error::new("vectors of unknown size")
            .of_kind(ErrorKind::Unsupported)
            .at(0..text.len())
            .rule("how many channels are in a vector is said by the data type")
            .accepts("INT8x4 or INT8x32 behind it"));
    }
    match format(text) {
        Some(format) => array(format, before),
        None => Err(Error::new(format!("{} is no format of cuDNN", quoted(text)))
            .at(0..text.len())
            .accepts(accepts)),
    }
}

/// An array in a format.
fn array(format: Format, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let rank = match format {
        Format::Vectors { spatial, .. } => spatial + 2,
        _ => 4,
    };
    let text = match format {
        Format::Nchw => "CUDNN_TENSOR_NCHW".to_owned(),
        Format::Nhwc => "CUDNN_TENSOR_NHWC".to_owned(),
        Format::Vectors { size, spatial } => format!("NC/{size}{}{size}", SPATIAL[spatial - 1]),
    };
    if dims.len() != rank {
        return Err(Error::new(format!("{text} of {}", counted(dims.len() as u64, "dimension")))
            .of_kind(ErrorKind::Mismatch)
            .rule("the letters are the dimensions")
            .accepts(counted(rank as u64, "dimension")));
    }
    let plain: Vec<usize> = (0..rank).collect();
    let (order, inner, vector, meaning) = match format {
        Format::Nchw => (plain, Vec::new(), Fact::Null, "row-major".to_owned()),
        Format::Nhwc => (vec![0, 2, 3, 1], Vec::new(), Fact::Null, "channels last".to_owned()),
        Format::Vectors { size, .. } => {
            if !dims[1].is_multiple_of(size) {
                return Err(Error::new(format!("{} in vectors of {size}", counted(dims[1], "channel")))
                    .rule("cuDNN's manual has whole vectors alone")
                    .accepts(format!("a multiple of {size}")));
            }
            let meaning = format!(
                "channels (dimension 1) in vectors of {size}: [N][C/{size}][{}][{size}]",
                SPATIAL[rank - 3]
            );
            (plain, vec![Block { dim: 1, size }], size.into(), meaning)
        }
    };
    let blocked = Blocked::packed(dims, packed_bits(element), &order, &inner, None)?;
    Ok(Named {
        notation: &DIALECT,
        element,
        layout: blocked.lower_to(blocked.size()?)?,
        parts: vec![Part::new("format", &text, meaning)],
        text,
        facts: vec![("vector", vector)],
        notes: Vec::new(),
        minor_to_major: Some(order.into_iter().rev().collect()),
    })
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    check_bits(layout, element, "cuDNN")?;
    let before = Before { element, dims: layout.dims() };
    let spatial = layout.rank().saturating_sub(2);
    let vectors = if (1..=3).contains(&spatial) { &[4, 32, 2, 8, 16][..] } else { &[] };
    let vectors = vectors.iter().map(|&size| Format::Vectors { size, spatial });
    let formats = [Format::Nchw, Format::Nhwc].into_iter().chain(vectors);
    named::say(
        layout,
        formats.map(|format| array(format, before)),
        "cuDNN's names are for images: NCHW, NHWC, and channels in whole vectors",
        "one of these; a descriptor with strides says others",
    )
}
