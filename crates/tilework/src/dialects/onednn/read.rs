//! Reading descriptors: a tag behind type and sizes, descriptors of logs, and lines of logs.

use super::array::{Array, Descriptor, Format, without_places};
use super::names::{element, is_type};
use super::tag::Tag;
use super::{line, log};
use crate::dialect::{Dim, Found, Known, sized};
use crate::error::{Error, ErrorKind, Result, quoted};

/// Reads a text.
pub(super) fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    if let Some(start) = line::start(text) {
        return line::read(&text[start..], known).map_err(|error| error.moved(start));
    }
    // Type and sizes stand before what nobody recognised.
    if let Some((array, rest)) = sized::prefix(text) {
        let known = Known { dims: Some(&array.dims), element: Some(array.element), ..*known };
        return read_body(&text[rest..], &known).map_err(|error| error.moved(rest));
    }
    read_body(text, known)
}

fn read_body(text: &str, known: &Known) -> Result<Vec<Found>> {
    match log::is_descriptor(words(text).next().map_or("", |(_, word)| word)) {
        true => descriptors(text, known),
        false => tagged(text, known).map(|array| vec![Found::unnamed(array)]),
    }
}

/// What may stand behind a tag.
pub(super) const WORDS: [&str; 4] = ["strides", "padded", "offset", "size"];

/// The words between blanks, with their places.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Sizes or strides as logs have them.
pub(super) fn numbers(word: &str) -> Option<Vec<Dim>> {
    let number = |text: &str| match text {
        "*" => Some(Dim::Unbounded),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok().filter(|&size: &u64| size <= i64::MAX as u64).map(Dim::Static)
        }
        _ => None,
    };
    word.split('x').map(number).collect()
}

/// Numbers that are known.
pub(super) fn known_numbers(word: &str) -> Option<Vec<u64>> {
    let number = |dim: Dim| match dim {
        Dim::Static(size) => Some(size),
        _ => None,
    };
    numbers(word)?.into_iter().map(number).collect()
}

/// A tag, with whatever it does not say behind it.
fn tagged(text: &str, known: &Known) -> Result<Array> {
    let mut items = words(text);
    let Some((at, word)) = items.next() else {
        return Err(Error::new("no tag").at(0..0).accepts("a tag such as nChw8c"));
    };
    let place = at..at + word.len();
    if let Some(why) = super::names::without_places(word) {
        return Err(without_places(word, why).at(place));
    }
    let mut descriptor = Descriptor::of_tag(Tag::parse(word).map_err(|error| error.moved(at))?);
    let mut places = vec![("tag", place.clone())];
    while let Some((at, key)) = items.next() {
        let here = at..at + key.len();
        let is_single = matches!(key, "offset" | "size");
        let known_key = WORDS.contains(&key);
        if !known_key || places.iter().any(|(other, _)| *other == key) {
            let found = if known_key {
                format!("{key} a second time")
            } else {
                format!("{} behind a tag", quoted(key))
            };
            let accepts = "strides 32x4, padded 4x8, offset 16, size 128, or the end of the text";
            return Err(Error::new(found).at(here).accepts(accepts));
        }
        let accepts =
            if is_single { "a number, such as 16" } else { "a number for each dimension, such as 32x4" };
        let Some((value_at, value)) = items.next() else {
            return Err(Error::new(format!("nothing after {key}")).at(here.end..here.end).accepts(accepts));
        };
        let value_place = value_at..value_at + value.len();
        let found = known_numbers(value).filter(|numbers| !is_single || numbers.len() == 1);
        let Some(found) = found else {
            return Err(Error::new(format!("{} is no {key}", quoted(value)))
                .at(value_place)
                .accepts(accepts));
        };
        match key {
            "strides" => descriptor.strides = Some(found),
            "padded" => descriptor.padded = Some(found),
            "offset" => descriptor.offset = found[0],
            _ => descriptor.size = Some(found[0]),
        }
        places.push((key, value_place));
    }
    let (Some(dims), Some(element)) = (known.dims, known.element) else {
        return Err(Error::new(format!("{} alone", quoted(word)))
            .of_kind(ErrorKind::Unsupported)
            .at(0..text.len())
            .rule("a tag says no sizes and no element type")
            .accepts(format!("both before it, such as {}", example(&descriptor.tag))));
    };
    let array = Array::of(element, dims, descriptor);
    array.lower().map_err(|error| {
        let place = error.field_name().and_then(|field| places.iter().find(|(key, _)| *key == field));
        let place = place.map_or(0..text.len(), |(_, place)| place.clone());
        error.at(place)
    })?;
    Ok(array)
}

/// What a tag can stand behind.
fn example(tag: &Tag) -> String {
    let sizes = match tag.rank() {
        4 => "1,17,2,2".to_owned(),
        rank => vec!["5"; rank].join(","),
    };
    format!("f32[{sizes}] {tag}")
}

/// Descriptors of a log, and their sizes.
fn descriptors(text: &str, known: &Known) -> Result<Vec<Found>> {
    let mut items: Vec<(usize, &str)> = words(text).collect();
    let dims = items.last().and_then(|(_, word)| numbers(word));
    if dims.is_some() {
        items.pop();
    }
    let dims = dims.or_else(|| known.dims.map(|dims| dims.iter().map(|&size| Dim::Static(size)).collect()));
    let single = items.len() == 1;
    let mut found = Vec::with_capacity(items.len());
    for (at, word) in items {
        let place = at..at + word.len();
        let array = log::descriptor(word).map_err(|error| error.moved(at))?;
        let Some(mut array) = array else { continue };
        if let Some(dims) = &dims {
            array.dims = Ok(dims.clone());
        }
        if let (Ok(own), Some(known)) = (array.element, known.element)
            && own != known
        {
            return Err(Error::new(format!("elements of {own}, and {known} before them"))
                .of_kind(ErrorKind::Mismatch)
                .at(place)
                .rule("each thing is said once")
                .accepts(format!("{own}")));
        }
        let at_run_time = array.is_at_run_time();
        if let Err(error) = array.lower()
            && !at_run_time
            && single
        {
            let accepts = array.dims.is_err().then_some("the sizes behind it, such as 1x17x2x2");
            let error = error.at(place);
            return Err(match accepts {
                Some(accepts) => error.accepts(accepts),
                None => error,
            });
        }
        let name = array.log.as_ref().map(|log| log.name.clone()).filter(|name| !name.is_empty());
        found.push(Found { name, said: std::sync::Arc::new(array) });
    }
    match found.is_empty() {
        false => Ok(log::numbered(found)),
        true => Err(Error::new("no array")
            .at(0..text.len())
            .rule("the descriptors are undef")
            .accepts("a descriptor such as src:f32::blocked:abcd::f0")),
    }
}

impl Array {
    /// Whether something is known at run time only.
    pub(super) fn is_at_run_time(&self) -> bool {
        let dims = self.dims.as_ref().is_ok_and(|dims| dims.iter().any(|dim| dim.is_dynamic()));
        dims || self.format == Format::AtRunTime
    }
}

/// The type that a log names.
pub(super) fn type_of(name: &str) -> Result<crate::Element, &'static str> {
    match element(name) {
        Some(element) => Ok(element),
        None if name == "f4_e3m0" => Err("f4_e3m0 is no element type of Tilework"),
        None if is_type(name) => Err("its type is undef"),
        None => Err("the log does not say its type"),
    }
}
