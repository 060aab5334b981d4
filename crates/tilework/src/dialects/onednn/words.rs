//! What a descriptor means, part by part.

use super::array::{Array, Descriptor, Format, by_x};
use super::names::{meaning, type_name};
use super::tag::{Tag, letter};
use crate::dialect::blocked::Blocked;
use crate::dialect::named::packed_bits;
use crate::dialect::{Fact, Facts, Part, words};

/// Every part of an array's text.
pub(super) fn parts(array: &Array) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(log) = array.log.as_ref().filter(|log| !log.name.is_empty()) {
        parts.push(Part::new("name", &log.name, role(&log.name)));
    }
    let element = match array.element {
        Ok(element) => {
            let name = if array.log.is_some() {
                type_name(element).unwrap_or(element.name())
            } else {
                element.name()
            };
            Part::new("element type", name, words::element(element, packed_bits(element)))
        }
        Err(why) => Part::new("element type", "undef", why),
    };
    parts.push(element);
    match &array.dims {
        Ok(dims) => parts.push(words::dims(dims)),
        Err(why) => parts.push(Part::new("dimensions", "", *why)),
    }
    let blocked = array.blocked().ok();
    match &array.format {
        Format::Blocked(descriptor) => descriptor_parts(&mut parts, descriptor, blocked.as_ref()),
        Format::WithoutPlaces(kind, why) => parts.push(Part::new("format", kind, *why)),
        Format::AtRunTime => {
            parts.push(Part::new("format", "*", "the strides are known when the program runs"))
        }
    }
    let Some(log) = &array.log else { return parts };
    if !log.flags.is_empty() {
        let each = log.flags.chars().map(|flag| match flag {
            'a' => "a: the program left the choice of the format to the primitive",
            'p' => "p: dimensions are padded",
            'o' => "o: the array begins within its padding",
            _ => "0: the first element is not at the start",
        });
        parts.push(Part::new("flags", &log.flags, each.collect::<Vec<_>>().join("; ")));
    }
    let behind = match log.extra.as_str() {
        "f0" => "nothing is kept behind the elements",
        _ => {
            "what oneDNN keeps behind the elements, such as sums of weights that make up for signs or zero points"
        }
    };
    if !log.extra.is_empty() {
        parts.push(Part::new("extra", &log.extra, behind));
    }
    parts
}

fn descriptor_parts(parts: &mut Vec<Part>, descriptor: &Descriptor, blocked: Option<&Blocked>) {
    let tag = &descriptor.tag;
    parts.push(Part::new("tag", tag.to_string(), tag_words(tag, blocked)));
    if let Some(strides) = &descriptor.strides {
        let steps: Vec<i64> =
            strides.iter().map(|&stride| i64::try_from(stride).unwrap_or(i64::MAX)).collect();
        let of = if tag.inner.is_empty() { "" } else { " from block to block" };
        parts.push(Part::new(
            "strides",
            format!("strides {}", by_x(strides)),
            format!("{}{of}", words::steps(&steps)),
        ));
    }
    if let (Some(padded), Some(blocked)) = (&descriptor.padded, blocked) {
        let each = (0..padded.len()).filter(|&dim| padded[dim] > blocked.dims[dim]);
        let each: Vec<String> = each
            .map(|dim| format!("dimension {dim} from {} to {}", blocked.dims[dim], padded[dim]))
            .collect();
        let meaning = if each.is_empty() {
            "no dimension is padded".to_owned()
        } else {
            format!("there are places for more elements: {}", each.join(", "))
        };
        parts.push(Part::new("padded", format!("padded {}", by_x(padded)), meaning));
    }
    if descriptor.offset > 0 {
        let offset = descriptor.offset;
        parts.push(Part::new(
            "offset",
            format!("offset {offset}"),
            format!("element (0, …, 0) is {offset} elements from the start"),
        ));
    }
    if let Some(size) = descriptor.size {
        parts.push(Part::new("size", format!("size {size}"), format!("{size} elements are allocated")));
    }
}

/// `dimension 1 (c, channels)`
fn named(tag: &Tag, dim: usize) -> String {
    match tag.spelling.and_then(|spelling| spelling.chars().nth(dim)) {
        Some(name) => format!("dimension {dim} ({name}, {})", meaning(name)),
        None => format!("dimension {dim} ({})", letter(dim)),
    }
}

/// What a tag says.
fn tag_words(tag: &Tag, blocked: Option<&Blocked>) -> String {
    let is_cut = |dim: usize| tag.inner.iter().any(|block| block.dim == dim);
    let outer = tag
        .order
        .iter()
        .map(|&dim| if is_cut(dim) { format!("blocks of {}", named(tag, dim)) } else { named(tag, dim) });
    let outer: Vec<String> = outer.collect();
    let mut text = match &outer[..] {
        [one] => one.clone(),
        outer => format!("from major to minor: {}", outer.join(", ")),
    };
    if !tag.inner.is_empty() {
        let inner: Vec<String> = tag
            .inner
            .iter()
            .map(|block| format!("{} of {}", block.size, letter_of(tag, block.dim)))
            .collect();
        text.push_str(&format!(
            "; in a block of {}: {}",
            blocked.map_or("elements".to_owned(), |blocked| blocked.block().to_string()),
            inner.join(", ")
        ));
    }
    if let Some(blocked) = blocked {
        let padded = (0..blocked.dims.len()).filter(|&dim| blocked.padded[dim] > blocked.dims[dim]);
        let padded: Vec<String> = padded
            .map(|dim| {
                format!("{} from {} to {}", letter_of(tag, dim), blocked.dims[dim], blocked.padded[dim])
            })
            .collect();
        if !padded.is_empty() {
            text.push_str(&format!("; padded: {}", padded.join(", ")));
        }
    }
    text
}

fn letter_of(tag: &Tag, dim: usize) -> char {
    tag.spelling.and_then(|spelling| spelling.chars().nth(dim)).unwrap_or(letter(dim))
}

/// What an array of this name is to its primitive.
fn role(name: &str) -> String {
    let (diff, rest) = match name.strip_prefix("diff_") {
        Some(rest) => ("the gradient of ", rest),
        None => ("", name),
    };
    let what = match rest {
        "src" | "fsrc" | "in" | "src_a" | "src_b" => "a source",
        "dst" | "fdst" | "out" => "the destination",
        "wei" | "fwei" => "the weights",
        "bia" | "fbia" | "bias" => "the bias",
        "data" => "source or destination",
        "diff" => "a gradient",
        "ws" => "a workspace from the forward pass to the backward pass",
        "stats" => "mean and variance",
        _ => "an array of the primitive",
    };
    format!("{diff}{what}")
}

/// The same as values.
pub(super) fn facts(array: &Array) -> Facts {
    let numbers = |numbers: &[u64]| numbers.iter().copied().collect::<Fact>();
    let blocked = array.blocked().ok();
    let (tag, kind) = match &array.format {
        Format::Blocked(descriptor) => (Some(&descriptor.tag), "blocked"),
        Format::WithoutPlaces(kind, _) => (None, kind.as_str()),
        Format::AtRunTime => (None, "blocked"),
    };
    let of_blocked = |value: fn(&Blocked) -> Fact| blocked.as_ref().map_or(Fact::Null, value);
    let log = array.log.as_ref();
    Facts::about("array")
        .with("element_type", array.element.ok().map(|element| element.name()))
        .with("written_type", array.element.ok().and_then(type_name))
        .with(
            "dimensions",
            array.dims.as_ref().map_or(Fact::Null, |dims| dims.iter().map(|dim| dim.bound()).collect()),
        )
        .with("format_kind", kind)
        .with("written_tag", tag.map(|tag| tag.to_string()))
        .with("tag", tag.map(Tag::base))
        .with("is_tag_of_enum", tag.map_or(Fact::Null, |tag| tag.is_named().into()))
        .with("padded_dimensions", blocked.as_ref().map_or(Fact::Null, |blocked| numbers(&blocked.padded)))
        .with("strides", blocked.as_ref().map_or(Fact::Null, |blocked| numbers(&blocked.strides)))
        .with("inner_blocks", of_blocked(|blocked| blocked.inner.iter().map(|block| block.size).collect()))
        .with("inner_dimensions", of_blocked(|blocked| blocked.inner.iter().map(|block| block.dim).collect()))
        .with("name", log.map(|log| log.name.clone()).filter(|name| !name.is_empty()))
        .with("flags", log.map(|log| log.flags.clone()))
        .with("extra", log.map(|log| log.extra.clone()))
}

/// What else there is to know.
pub(super) fn notes(array: &Array) -> Vec<String> {
    let mut notes = Vec::new();
    let Format::Blocked(descriptor) = &array.format else { return notes };
    let base = descriptor.tag.base();
    if !descriptor.tag.is_named() {
        notes.push(format!(
            "oneDNN's enum has no tag {base}: a program cannot ask for it by name, though a primitive may choose it"
        ));
    } else if base != descriptor.tag.to_string() {
        notes.push(format!("the tag is {base} in letters of dimensions"));
    }
    if let Ok(element) = array.element
        && type_name(element).is_none()
    {
        notes.push(format!("oneDNN has no element type {element}"));
    }
    if let Ok(blocked) = array.blocked()
        && blocked.padded != blocked.dims
        && !blocked.inner.is_empty()
    {
        notes.push(
            "oneDNN's primitives rely on zeros in the padding of blocks, and keep them there".to_owned(),
        );
    }
    notes
}
