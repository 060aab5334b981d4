//! TensorRT's formats among the notations.

use super::format::{Format, NAMES, TYPES, type_name};
use super::{phrase, read};
use crate::dialect::blocked::ways;
use crate::dialect::named::{self, Before, Named, check_bits, no_type};
use crate::dialect::{Confidence, Dialect, Example, Fact, Part, Said};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;
use tilework_core::InOrder;

/// Formats of TensorRT, as names, phrases and strides.
pub static DIALECT: Dialect = Dialect {
    name: "tensorrt",
    title: "a format of TensorRT",
    recognise,
    read: read::read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f16[16,3,224,224] kHWC8",
        shows: "channels last, up to 8",
        offsets: &[(&[1, 2, 3, 4], 224 * 224 * 8 + (3 * 224 + 4) * 8 + 2)],
        size: 16 * 8 * 224 * 224,
    },
    Example {
        text: "s8[2,40,3,5] kCHW32",
        shows: "channels in vectors of 32",
        offsets: &[(&[1, 33, 2, 4], 2 * 480 + 480 + (2 * 5 + 4) * 32 + 1)],
        size: 2 * 2 * 15 * 32,
    },
    Example { text: "f32[2,3] kLINEAR", shows: "row-major", offsets: &[(&[1, 2], 5)], size: 6 },
    Example {
        text: "f16[1,9,2,3,4] TensorFormat::kDHWC8",
        shows: "with depth",
        offsets: &[(&[0, 8, 1, 2, 3], (12 + 2 * 4 + 3) * 16 + 8)],
        size: 24 * 16,
    },
    Example {
        text: "u8[1,3,2,5] trt.TensorFormat.HWC",
        shows: "as Python has it",
        offsets: &[(&[0, 1, 1, 4], 28)],
        size: 30,
    },
    Example {
        text: "f16[2,5,3,3] fp16:chw4",
        shows: "as trtexec has it",
        offsets: &[(&[1, 4, 2, 2], 72 + 36 + 32)],
        size: 144,
    },
    Example {
        text: "f16[1,2,3,20] kDLA_LINEAR",
        shows: "rows of 64 bytes",
        offsets: &[(&[0, 1, 2, 19], 96 + 64 + 19)],
        size: 192,
    },
    Example {
        text: "s8[1,3,16,20] kDLA_HWC4 on Xavier",
        shows: "an image for a DLA",
        offsets: &[(&[0, 2, 1, 19], 96 + 76 + 2)],
        size: 16 * 24 * 4,
    },
    Example {
        text: "s8[16,512,28,28] Thirty-two wide channel vectorized row major Int8 format",
        shows: "the engine inspector's phrase",
        offsets: &[(&[0, 33, 0, 1], 28 * 28 * 32 + 32 + 1)],
        size: 16 * 512 * 28 * 28,
    },
    Example {
        text: "f16[1,5,2,3] Channel major FP16 format where channel % 4 == 0",
        shows: "a format without a name",
        offsets: &[(&[0, 4, 1, 2], 44)],
        size: 48,
    },
    Example {
        text: "s8[1,144,128,128] Int8(589824,16384:4,128,1)",
        shows: "strides of a build log, in vectors of 4",
        offsets: &[(&[0, 5, 1, 2], (16384 + 128 + 2) * 4 + 1)],
        size: 2_359_296,
    },
    Example {
        text: "[1,64,5,7] Half(280,1:8,56,8)",
        shows: "strides, which say the type themselves",
        offsets: &[(&[0, 9, 1, 2], (56 + 16 + 1) * 8 + 1)],
        size: 2240,
    },
    Example {
        text: "f32[2,3,4,5] Float(160,1,40,8)",
        shows: "strides of a build log",
        offsets: &[(&[1, 2, 3, 4], 160 + 2 + 120 + 32)],
        size: 320,
    },
];

fn recognise(text: &str) -> Option<Confidence> {
    let is_certain = text.contains(read::KEY)
        || phrase::begins(text)
        || read::begins_strides(text)
        || read::sizes_before(text).is_some()
        || read::io(text).is_some()
        || read::name(text).is_some_and(|(name, _)| read::format(name).is_some());
    if is_certain {
        return Some(Confidence::Certain);
    }
    let likely = ["kCHW", "kHWC", "kDHWC", "kCDHW", "kDLA", "kLINEAR", "kNCHW", "kNHWC"];
    likely.iter().any(|begin| text.starts_with(begin)).then_some(Confidence::Likely)
}

/// An array in a format.
pub(super) fn array(format: &Format, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let layout = format.lower(dims, element)?;
    let text = format.text(element);
    let mut notes = Vec::new();
    if type_name(element).is_none() {
        notes.push(format!("TensorRT has no element type {element}"));
    } else if let Some(types) = format.types().filter(|types| !types.contains(&element)) {
        let types: Vec<&str> = types.iter().map(|element| element.name()).collect();
        notes.push(format!("TensorRT has {text} for elements of {}", types.join(" and ")));
    }
    if let Format::DlaImage(_) = format {
        notes.push("how long rows are depends on the chip: 64 bytes on Orin, 32 on Xavier".to_owned());
    }
    let what = match format {
        Format::Strides { .. } => "strides",
        _ => "format",
    };
    let number = NAMES.iter().filter(|(name, _)| !name.contains(' ')).position(|(_, other)| other == format);
    let order = format.blocked(dims, element)?.order();
    Ok(Named {
        notation: &DIALECT,
        element,
        parts: vec![Part::new(what, &text, format.meaning(dims.len()))],
        facts: vec![("enum_value", number.map_or(Fact::Null, Fact::from))],
        text,
        layout,
        notes,
        minor_to_major: Some(order.into_iter().rev().collect()),
    })
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    if type_name(element).is_none() {
        let names: Vec<&str> = TYPES.iter().map(|(_, element)| element.name()).collect();
        return Err(no_type(element, "TensorRT", &names.join(", ")));
    }
    check_bits(layout, element, "TensorRT")?;
    let before = Before { element, dims: layout.dims() };
    // Several names may say it; those come first that TensorRT has for this type.
    let mut names: Vec<Format> = NAMES.iter().map(|(_, format)| format.clone()).collect();
    names.order_by_key(|format| format.types().is_some_and(|types| !types.contains(&element)));
    let phrases = [2, 4].map(|multiple| Format::VectorMinor { depth: false, multiple });
    let strides = ways(layout).unwrap_or_default().into_iter().filter_map(|way| {
        let (unit, vector) = match way.inner[..] {
            [] => (1, None),
            [block] => (block.size, Some((block.dim, block.size))),
            _ => return None,
        };
        let strides = way.strides.iter().map(|stride| stride.is_multiple_of(unit).then_some(stride / unit));
        Some(Format::Strides { strides: strides.collect::<Option<_>>()?, vector }).filter(|_| way.offset == 0)
    });
    let candidates = names.into_iter().chain(phrases).chain(strides).map(|format| array(&format, before));
    named::say(
        layout,
        candidates,
        "TensorRT has row-major, channels in vectors or last, rows of the DLA, and strides with vectors of one dimension",
        "another notation, or one of these",
    )
}
