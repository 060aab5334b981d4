//! Reading grids of chunks: words behind type and sizes, and the metadata of an array, `zarr.json` or `.zarray`.

use super::grid::Array;
use crate::dialect::python::{self, Item, Kind, Value};
use crate::dialect::{Known, sized};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};

/// The keys whose values are read.
const KEYS: [&str; 16] = [
    "shape",
    "dtype",
    "data_type",
    "chunks",
    "shards",
    "order",
    "chunk_grid",
    "name",
    "configuration",
    "chunk_shape",
    "codecs",
    "zarr_format",
    "node_type",
    "read_chunks",
    "inner_chunks",
    "compressor",
];

fn is_read(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Whether a text is metadata.
pub(super) fn is_metadata(text: &str) -> bool {
    text.starts_with('{') && text.contains("\"zarr_format\"")
}

/// Reads a text.
pub(super) fn read(text: &str, known: &Known) -> Result<Array> {
    if is_metadata(text) {
        return metadata(text);
    }
    let Some((array, rest)) = sized::prefix(text) else { return words(text, known) };
    let known = Known { dims: Some(&array.dims), element: Some(array.element), ..*known };
    words(&text[rest..], &known).map_err(|error| error.moved(rest))
}

/// `shards (32, 32) chunks (16, 16) order (1, 0)`
fn words(text: &str, known: &Known) -> Result<Array> {
    let (mut shards, mut chunks, mut order) = (Vec::new(), None, None);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start_matches([' ', ',']).len();
        let rest = &rest[blanks..];
        at += blanks;
        if rest.is_empty() {
            break;
        }
        let word = &rest[..rest.bytes().take_while(|byte| byte.is_ascii_alphabetic()).count()];
        let slot = match word {
            // Shards within shards are said one behind the other.
            "shards" => {
                shards.push(None);
                let last = shards.len() - 1;
                &mut shards[last]
            }
            "chunks" => &mut chunks,
            "order" => &mut order,
            _ => {
                let length = rest.chars().next().map_or(0, char::len_utf8).max(word.len());
                return Err(Error::new(format!("{} in a grid of chunks", quoted(&rest[..length])))
                    .at(at..at + length)
                    .accepts("chunks (5, 20), and shards (20, 40) or order (1, 0) with it"));
            }
        };
        let value = rest[word.len()..].trim_start_matches([' ', '=', ':']);
        let start = at + rest.len() - value.len();
        let Some((sizes, length)) = sized::sizes(value) else {
            return Err(Error::new(format!("no sizes behind {word}"))
                .at(start..text.len())
                .accepts("a size for each dimension, such as (5, 20)"));
        };
        if slot.replace(sizes).is_some() {
            return Err(Error::new(format!("{word} a second time"))
                .at(at..at + word.len())
                .accepts("it once"));
        }
        at = start + length;
    }
    let Some(chunks) = chunks else {
        return Err(Error::new("no chunks").at(0..text.len()).accepts("chunks (5, 20)"));
    };
    let (Some(dims), Some(element)) = (known.dims, known.element) else {
        return Err(Error::new("a grid of chunks alone")
            .at(0..text.len())
            .rule("type and sizes stand before it")
            .accepts(format!("such as f32[10,200] {text}")));
    };
    let order =
        order.map(|order| order.into_iter().map(|dim| usize::try_from(dim).unwrap_or(usize::MAX)).collect());
    let shards = shards.into_iter().flatten().collect();
    let array = Array { element, dims: dims.to_vec(), shards, chunks, order };
    array.checked().map_err(|error| error.at(0..text.len()))
}

/// A part of metadata that is missing or of another kind.
fn missing(what: &str, accepts: &str) -> Error {
    Error::new(format!("no {what} in the metadata")).field("metadata").accepts(accepts)
}

fn entry<'a, 'b>(items: &'b [Item<'a>], key: &str) -> Option<&'b Value<'a>> {
    let is_key = |item: &&Item| item.key.as_ref().is_some_and(|own| own.word() == Some(key));
    items.iter().find(is_key).map(|item| &item.value)
}

fn dictionary<'a, 'b>(value: Option<&'b Value<'a>>) -> &'b [Item<'a>] {
    match value.map(|value| &value.kind) {
        Some(Kind::Dict(items)) => items,
        _ => &[],
    }
}

fn numbers(value: Option<&Value>) -> Option<Vec<u64>> {
    let Kind::List(items) = &value?.kind else { return None };
    let number = |item: &Item| match item.value.kind {
        Kind::Number(number) => u64::try_from(number).ok(),
        _ => None,
    };
    items.iter().map(number).collect()
}

/// `zarr.json` of version 3, or `.zarray` of version 2.
fn metadata(text: &str) -> Result<Array> {
    let items = python::values(text, is_read)?;
    let [Item { key: None, value }] = &items[..] else {
        return Err(Error::new("text behind the metadata").at(0..text.len()).accepts("one object of JSON"));
    };
    let all = dictionary(Some(value));
    let dims =
        numbers(entry(all, "shape")).ok_or_else(|| missing("shape", "an array's zarr.json or .zarray"))?;
    let name = entry(all, "data_type").or_else(|| entry(all, "dtype"));
    let name =
        name.and_then(Value::word).ok_or_else(|| missing("data type", "\"data_type\": \"float32\""))?;
    let element = python::element(name).or_else(|| Element::from_any_name(name)).ok_or_else(|| {
        Error::new(format!("the type {}", quoted(name)))
            .field("data_type")
            .rule("every element is one number of a fixed size, the least significant byte first")
            .accepts("a type such as float32 or <f4")
    })?;
    if let Some(chunks) = numbers(entry(all, "chunks")) {
        let is_fortran = entry(all, "order").and_then(Value::word) == Some("F");
        let order = is_fortran.then(|| (0..dims.len()).rev().collect());
        return Array { element, dims, shards: Vec::new(), chunks, order }.checked();
    }
    let grid = dictionary(entry(all, "chunk_grid"));
    if let Some(name) = entry(grid, "name").and_then(Value::word).filter(|&name| name != "regular") {
        return Err(Error::new(format!("a chunk grid {}", quoted(name)))
            .of_kind(ErrorKind::Unsupported)
            .field("chunk_grid")
            .rule("chunks of one size are read")
            .accepts("\"regular\""));
    }
    let chunks =
        numbers(entry(dictionary(entry(grid, "configuration")), "chunk_shape")).ok_or_else(|| {
            missing(
                "chunk_shape",
                "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [5, 20]}}",
            )
        })?;
    let mut array = Array { element, dims, shards: Vec::new(), chunks, order: None };
    codecs(entry(all, "codecs"), &mut array)?;
    array.checked()
}

/// What the codecs do to the places of elements: a transposition, and shards.
fn codecs(list: Option<&Value>, array: &mut Array) -> Result<()> {
    let Some(Value { kind: Kind::List(items), .. }) = list else { return Ok(()) };
    for item in items {
        let codec = dictionary(Some(&item.value));
        let settings = dictionary(entry(codec, "configuration"));
        match entry(codec, "name").and_then(Value::word) {
            Some("transpose") => {
                let order = numbers(entry(settings, "order"))
                    .ok_or_else(|| missing("order of the codec transpose", "\"order\": [1, 0]"))?;
                if array.order.is_some() {
                    return Err(Error::new("two codecs that transpose").field("codecs").accepts("one"));
                }
                array.order =
                    Some(order.into_iter().map(|dim| usize::try_from(dim).unwrap_or(usize::MAX)).collect());
            }
            Some("sharding_indexed") => {
                let inner = numbers(entry(settings, "chunk_shape"))
                    .ok_or_else(|| missing("chunk_shape of the shards", "\"chunk_shape\": [32, 32]"))?;
                if array.order.is_some() {
                    return Err(Error::new("a transposition of whole shards")
                        .of_kind(ErrorKind::Unsupported)
                        .field("codecs")
                        .accepts("codecs sharding_indexed, with a transposition within them"));
                }
                array.shards.push(std::mem::replace(&mut array.chunks, inner));
                codecs(entry(settings, "codecs"), array)?;
            }
            _ => {}
        }
    }
    Ok(())
}
