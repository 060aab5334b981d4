//! Descriptors as verbose logs have them.
//!
//! ```text
//! NAME:TYPE:FLAGS:blocked:TAG:STRIDES:EXTRA     today; strides are there only if the array is not dense
//! NAME_TYPE:FLAGS:blocked:TAG:STRIDES:EXTRA     before
//! NAME_TYPE:FLAGS:blocked:TAG:EXTRA             before there were strides
//! NAME:TYPE_TAG, NAME:TAG                       MKL-DNN 0.x
//! ```

use super::array::{Array, Descriptor, Format, Log};
use super::names::{is_kind, is_type, type_names, without_places};
use super::read::{known_numbers, type_of};
use super::tag::Tag;
use crate::dialect::Found;
use crate::error::{Error, Result, quoted};

/// Where the fields of a descriptor are.
struct Fields<'a> {
    name: &'a str,
    kind_of_element: &'a str,
    flags: &'a str,
    /// The field of the format's kind, and those behind it.
    rest: Vec<&'a str>,
}

/// Whether a word is a descriptor: it has a kind of format where descriptors have it.
pub(super) fn is_descriptor(word: &str) -> bool {
    fields(word).is_some()
}

fn fields(word: &str) -> Option<Fields<'_>> {
    let parts: Vec<&str> = word.split(':').collect();
    let is_flags = |flags: &str| flags.bytes().all(|byte| b"apo0".contains(&byte));
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // A type that oneDNN lacks is refused by its name later.
    if let [name, element, flags, kind, ..] = parts[..]
        && !element.is_empty()
        && is_name(element)
        && is_flags(flags)
        && is_kind(kind)
        && is_name(name)
    {
        return Some(Fields { name, kind_of_element: element, flags, rest: parts[3..].to_vec() });
    }
    let [first, flags, kind, ..] = parts[..] else { return None };
    if !is_flags(flags) || !is_kind(kind) {
        return None;
    }
    let (name, element) = match is_type(first) {
        true => ("", first),
        false => {
            let all = type_names().chain(["undef", "f4_e3m0"]);
            // f8_e4m3 ends as no other type does, so the longest that fits is the type.
            let longest = all.filter(|name| first.strip_suffix(name).is_some_and(|rest| rest.ends_with('_')));
            let element = longest.max_by_key(|name| name.len())?;
            (&first[..first.len() - element.len() - 1], &first[first.len() - element.len()..])
        }
    };
    is_name(name).then_some(Fields { name, kind_of_element: element, flags, rest: parts[2..].to_vec() })
}

/// Reads a descriptor without sizes. None if it says that there is no array.
///
/// # Errors
/// A tag, strides or fields that are none.
pub(super) fn descriptor(word: &str) -> Result<Option<Array>> {
    let Some(fields) = fields(word) else {
        return Err(Error::new(format!("{} is no memory descriptor", quoted(word)))
            .at(0..word.len())
            .rule("NAME:TYPE:FLAGS:blocked:TAG:STRIDES:EXTRA, with NAME_TYPE in older logs")
            .accepts("a descriptor such as src:f32::blocked:aBcd8b::f0"));
    };
    let at = |part: &str| {
        let start = part.as_ptr() as usize - word.as_ptr() as usize;
        start..start + part.len()
    };
    let kind = fields.rest[0];
    if kind == "undef" {
        return Ok(None);
    }
    if !is_type(fields.kind_of_element) {
        let near = crate::nearest(fields.kind_of_element, type_names());
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(Error::new(format!("{} is no element type of oneDNN", quoted(fields.kind_of_element)))
            .at(at(fields.kind_of_element))
            .accepts(format!("an element type such as f32{near}")));
    }
    let log = |extra: String| Log { name: fields.name.to_owned(), flags: fields.flags.to_owned(), extra };
    let element = type_of(fields.kind_of_element);
    let dims = Err("the text does not say them");
    let is_extra = |part: &str| {
        part.strip_prefix('f').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if let Some(why) = without_places(kind) {
        let extra = fields
            .rest
            .iter()
            .position(|part| is_extra(part))
            .map_or(String::new(), |from| fields.rest[from..].join(":"));
        let format = Format::WithoutPlaces(kind.to_owned(), why);
        return Ok(Some(Array { element, dims, format, log: Some(log(extra)) }));
    }
    let tag = fields.rest.get(1).copied().unwrap_or("");
    if tag == "*" {
        let extra = fields
            .rest
            .iter()
            .position(|part| is_extra(part))
            .map_or(String::new(), |from| fields.rest[from..].join(":"));
        return Ok(Some(Array { element, dims, format: Format::AtRunTime, log: Some(log(extra)) }));
    }
    let tag_at = fields.rest.get(1).map_or(word.len(), |part| at(part).start);
    let mut descriptor = Descriptor::of_tag(Tag::parse(tag).map_err(|error| error.moved(tag_at))?);
    let mut rest = &fields.rest[2..];
    if let [strides, behind @ ..] = rest
        && !is_extra(strides)
    {
        if !strides.is_empty() {
            descriptor.strides = Some(known_numbers(strides).ok_or_else(|| {
                Error::new(format!("{} are no strides", quoted(strides)))
                    .at(at(strides))
                    .accepts("a stride for each dimension, such as 16x1, or nothing")
            })?);
        }
        rest = behind;
    }
    let extra = rest.join(":");
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.+-".contains(&byte);
    let is_known = is_extra(&extra) && extra.bytes().all(fine);
    if !extra.is_empty() && !is_known {
        let start = rest.first().map_or(word.len(), |part| at(part).start);
        return Err(Error::new(format!("{} behind the strides", quoted(&extra)))
            .at(start..word.len())
            .accepts("f0, or the flags and masks of compensation such as f1:s8m1"));
    }
    let extra = if extra.is_empty() { "f0".to_owned() } else { extra };
    Ok(Some(Array { element, dims, format: Format::Blocked(descriptor), log: Some(log(extra)) }))
}

/// Reads a descriptor of MKL-DNN 0.x: `in:f32_nchw`, `fsrc:nChw16c`. None if there is no array.
///
/// # Errors
/// A tag that is none.
pub(super) fn older(word: &str) -> Result<Option<Array>> {
    let (name, what) = word.split_once(':').unwrap_or(("", word));
    let (element, tag) = match what.split_once('_').filter(|(name, _)| is_type(name)) {
        Some((name, tag)) => (type_of(name), tag),
        None => (Err("logs of MKL-DNN 0.x do not say the types of arithmetic primitives"), what),
    };
    let dims = Err("the text does not say them");
    let log = |name: &str| Some(Log { name: name.to_owned(), flags: String::new(), extra: "f0".to_owned() });
    if tag == "undef" {
        return Ok(None);
    }
    if let Some(why) = without_places(tag) {
        return Ok(Some(Array {
            element,
            dims,
            format: Format::WithoutPlaces(tag.to_owned(), why),
            log: log(name),
        }));
    }
    let tag = Tag::parse(tag).map_err(|error| error.moved(word.len() - tag.len()))?;
    Ok(Some(Array { element, dims, format: Format::Blocked(Descriptor::of_tag(tag)), log: log(name) }))
}

/// Arrays of one name get a number: `src0`, `src1`.
pub(super) fn numbered(mut found: Vec<Found>) -> Vec<Found> {
    let names: Vec<Option<String>> = found.iter().map(|found| found.name.clone()).collect();
    for (place, name) in names.iter().enumerate() {
        let same = |range: &[Option<String>]| range.iter().filter(|other| *other == name).count();
        if let Some(name) = name
            && same(&names) > 1
        {
            found[place].name = Some(format!("{name}{}", same(&names[..place])));
        }
    }
    found
}
