//! Reading formats.

use std::sync::Arc;

use super::dialect::array;
use super::format::{Chip, Format, NAMES, TYPES};
use super::phrase;
use crate::dialect::named::{self, Before, Named};
use crate::dialect::{Found, Known, sized};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// What stands before a name of the enum, in C++ and in Python.
const CLASSES: [&str; 6] = [
    "nvinfer1::TensorFormat::",
    "TensorFormat::",
    "tensorrt.TensorFormat.",
    "trt.TensorFormat.",
    "TensorFormat.",
    "",
];

/// Names of trtexec's types.
const IO_TYPES: [(&str, Element); 11] = [
    ("fp32", Element::F32),
    ("fp16", Element::F16),
    ("bf16", Element::Bf16),
    ("int8", Element::S8),
    ("uint8", Element::U8),
    ("int32", Element::S32),
    ("int64", Element::S64),
    ("int4", Element::S4),
    ("bool", Element::Pred),
    ("fp8", Element::F8e4m3fn),
    ("fp4", Element::F4e2m1fn),
];

/// The name of the enum, as C++ has it, that a text begins with, and how long it is.
pub(super) fn name(text: &str) -> Option<(&str, usize)> {
    let class = CLASSES.iter().find(|class| text.starts_with(**class))?;
    let rest = &text[class.len()..];
    let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    Some((&rest[..length], class.len() + length))
        .filter(|(name, _)| class.is_empty() == name.starts_with('k') || class.ends_with("::"))
}

/// The format of this name, `kCHW32` or `CHW32`, also by the names of TensorRT 6.
pub(super) fn format(name: &str) -> Option<Format> {
    let name = name.strip_prefix('k').unwrap_or(name);
    let name = match name {
        "NCHW" => "LINEAR",
        "NC2HW2" => "CHW2",
        "NHWC8" => "HWC8",
        name => name,
    };
    NAMES.iter().find(|(other, _)| &other[1..] == name).map(|(_, format)| format.clone())
}

/// `fp16:hwc8`
pub(super) fn io(text: &str) -> Option<(Element, Format)> {
    let (kind, name) = text.split_once(':')?;
    let (_, element) = IO_TYPES.iter().find(|(other, _)| *other == kind)?;
    let name = if name == "chw" { "linear" } else { name };
    let is_lower =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let format = NAMES.iter().find(|(other, _)| is_lower && other[1..].eq_ignore_ascii_case(name))?;
    Some((*element, format.1.clone()))
}

/// Whether a text begins as strides of logs do: with a type and a parenthesis.
pub(super) fn begins_strides(text: &str) -> bool {
    text.split_once('(').is_some_and(|(kind, _)| TYPES.iter().any(|(name, _)| *name == kind.trim_end()))
}

/// Sizes before strides, which say the type themselves: `[1,144,2,3] Int8(216,6:4,3,1)`; and where the strides begin.
pub(super) fn sizes_before(text: &str) -> Option<(Vec<u64>, usize)> {
    let (dims, end) = sized::sizes(text)?;
    let rest = text[end..].trim_start();
    begins_strides(rest).then_some((dims, text.len() - rest.len()))
}

/// The key of the inspector's objects.
pub(super) const KEY: &str = "\"Format/Datatype\"";

/// Reads a text.
pub(super) fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    if text.contains(KEY) {
        return object(text).map(named::found);
    }
    if let Some((dims, at)) = sizes_before(text) {
        let kind = text[at..].split('(').next().map_or("", str::trim_end);
        let element =
            TYPES.iter().find(|(name, _)| *name == kind).map_or(Element::F32, |(_, element)| *element);
        let before = Before { element, dims: &dims };
        return body(&text[at..], before).map_err(|error| error.or_at(0..text.len() - at).moved(at));
    }
    named::read(text, known, "f16[16,3,224,224] kHWC8", body)
}

fn body(text: &str, before: Before) -> Result<Vec<Found>> {
    if let Some(arrow) = text.find("->") {
        let second = arrow + 2 + (text[arrow + 2..].len() - text[arrow + 2..].trim_start().len());
        let from = strides(text[..arrow].trim_end(), before, true)?;
        let to = strides(&text[second..], before, false).map_err(|error| error.moved(second))?;
        let found = |name: &str, array: Named| Found { name: Some(name.to_owned()), said: Arc::new(array) };
        return Ok(vec![found("from", from), found("to", to)]);
    }
    if begins_strides(text) {
        return strides(text, before, true).map(named::found);
    }
    if phrase::begins(text) {
        let (format, element, channels) = phrase::parse(text)?;
        same(element, before.element, 0..text.len())?;
        if let Some(channels) = channels {
            let own = before.dims.len().checked_sub(3).map(|dim| before.dims[dim]);
            if own.is_some_and(|own| own != channels && !(own == 3 && channels == 4)) {
                return Err(Error::new(format!(
                    "{}, and sizes with {}",
                    counted(channels, "channel"),
                    own.unwrap_or(0)
                ))
                .of_kind(ErrorKind::Mismatch)
                .at(0..text.len())
                .accepts("sizes with as many"));
            }
        }
        return array(&format, before).map(named::found);
    }
    if let Some((element, format)) = io(text) {
        same(element, before.element, 0..text.find(':').unwrap_or(0))?;
        return array(&format, before).map(named::found);
    }
    let (word, length) = name(text).unwrap_or((text, text.len()));
    let Some(mut found) = format(word) else {
        let names: Vec<&str> =
            NAMES.iter().map(|(name, _)| *name).filter(|name| !name.contains(' ')).collect();
        let near = crate::nearest(word, names.iter().copied()).map(|near| format!("; did you mean {near}?"));
        return Err(Error::new(format!("{} is no format of TensorRT", quoted(word)))
            .at(0..length)
            .accepts(format!("{}{}", names.join(", "), near.unwrap_or_default())));
    };
    let rest = text[length..].trim_start();
    let at = text.len() - rest.len();
    match (&found, rest) {
        (_, "") => {}
        (Format::DlaImage(_), "on Orin") => {}
        (Format::DlaImage(_), "on Xavier") => found = Format::DlaImage(Chip::Xavier),
        (Format::DlaImage(_), _) => {
            return Err(Error::new(format!("{} behind the format", quoted(rest)))
                .at(at..text.len())
                .rule("the rows of an image depend on the chip of the DLA")
                .accepts("on Orin, on Xavier, or the end of the text"));
        }
        _ => {
            return Err(Error::new(format!("{} behind the format", quoted(rest)))
                .at(at..text.len())
                .accepts("the end of the text"));
        }
    }
    array(&found, before).map(named::found)
}

/// Two words for the type must say the same.
fn same(own: Element, before: Element, at: std::ops::Range<usize>) -> Result<()> {
    match own == before {
        true => Ok(()),
        false => Err(Error::new(format!("elements of {own}, and {before} before them"))
            .of_kind(ErrorKind::Mismatch)
            .at(at)
            .rule("each thing is said once")
            .accepts(own.to_string())),
    }
}

/// `Int8(589824,16384:4,128,1)`
fn strides(text: &str, before: Before, checks: bool) -> Result<Named> {
    let bad = |at: std::ops::Range<usize>, found: String| {
        Error::new(found)
            .at(at)
            .accepts("a type and a stride for each dimension, such as Int8(589824,16384:4,128,1)")
    };
    let open =
        text.find('(').ok_or_else(|| bad(0..text.len(), format!("{} are no strides", quoted(text))))?;
    let kind = text[..open].trim_end();
    let element = TYPES.iter().find(|(name, _)| *name == kind).map(|(_, element)| *element);
    let element = element.ok_or_else(|| {
        let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        Error::new(format!("{} is no type of TensorRT", quoted(kind))).at(0..open).accepts(names.join(", "))
    })?;
    if checks {
        same(element, before.element, 0..kind.len())?;
    }
    let inner = text[open + 1..]
        .strip_suffix(')')
        .ok_or_else(|| bad(text.len()..text.len(), "no closing parenthesis at the end".to_owned()))?;
    let (mut all, mut vector) = (Vec::new(), None);
    let mut at = open + 1;
    for (dim, part) in inner.split(',').enumerate() {
        let place = at..at + part.len();
        at += part.len() + 1;
        let word = part.trim();
        if word.is_empty() && inner.trim().is_empty() {
            break;
        }
        let (stride, size) = match word.split_once(':') {
            None => (word, None),
            Some((stride, size)) => (stride, Some(size)),
        };
        let number = |word: &str| {
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            word.parse().ok().filter(|&number: &u64| is_number && number <= i64::MAX as u64)
        };
        let Some(stride) = number(stride) else {
            return Err(bad(place, format!("{} is no stride", quoted(word)))
                .rule("what has letters is known at run time only"));
        };
        all.push(stride);
        let Some(size) = size else { continue };
        let size = number(size).filter(|&size| size > 0);
        match (size, &vector) {
            (Some(size), None) => vector = Some((dim, size)),
            _ => {
                return Err(
                    bad(place, format!("{} is no stride", quoted(word))).rule("one dimension is in vectors")
                );
            }
        }
    }
    let vector = vector.filter(|(_, size)| *size > 1);
    array(&Format::Strides { strides: all, vector }, Before { element, ..before })
}

/// An object of the inspector: `{"Name": …, "Dimensions": [1,512,7,7], "Format/Datatype": "…"}`.
fn object(text: &str) -> Result<Named> {
    let after = |key: &str| {
        let at = text.find(key)? + key.len();
        let rest = text[at..].trim_start().strip_prefix(':')?.trim_start();
        Some(text.len() - rest.len())
    };
    let missing = |what: &str| {
        Error::new(format!("no {what}"))
            .at(0..text.len())
            .rule("an object of the engine inspector has both")
            .accepts("\"Dimensions\" and \"Format/Datatype\"")
    };
    let dims_at = after("\"Dimensions\"").ok_or_else(|| missing("Dimensions"))?;
    let (dims, _) = sized::sizes(&text[dims_at..]).ok_or_else(|| {
        Error::new("these are no sizes")
            .at(dims_at..text.len())
            .rule("sizes that are -1 are known at run time only")
            .accepts("sizes such as [1,512,7,7]")
    })?;
    let format_at = after(KEY).ok_or_else(|| missing("Format/Datatype"))?;
    let phrase =
        text[format_at..].strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(phrase, _)| phrase);
    let phrase = phrase.ok_or_else(|| {
        Error::new("this is no text").at(format_at..text.len()).accepts("a phrase in quotes")
    })?;
    let (_, element, _) = phrase::parse(phrase).map_err(|error| error.moved(format_at + 1))?;
    let before = Before { element, dims: &dims };
    let found = body(phrase, before).map_err(|error| error.or_at(0..phrase.len()).moved(format_at + 1))?;
    let said = found.first().and_then(|found| found.said.get::<Named>().cloned());
    said.ok_or_else(|| missing("format"))
}
