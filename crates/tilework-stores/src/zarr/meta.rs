//! What the metadata of an array say: sizes, chunks and shards, the order in a chunk, codecs, the value of missing places.

use serde_json::{Map, Value};
use tilework::dialect::{Axes, Described, Said, with_axes};
use tilework::zarr::Array;
use tilework::{Element, Error, ErrorKind, Layout, Result, System};
use tilework_files::{element_of, little_endian};

use super::chain::{Chain, codec, named};
use super::codec::Codec;
use super::fill;
use super::json::{Object, shown, sizes, unread, wrong};

/// An array as its metadata say it.
#[derive(Clone, Debug)]
pub(crate) struct Meta {
    /// Sizes, type, chunks, shards and the order within a chunk.
    pub(crate) array: Array,
    pub(crate) element: Element,
    pub(crate) dims: Vec<u64>,
    pub(crate) keys: Keys,
    /// The bits of an element that was never written.
    pub(crate) fill: u128,
    /// The bytes of numbers that are stored with the most significant byte first; 0 for others.
    pub(crate) reversed: usize,
    /// What compresses and sums a chunk, in the order of writing.
    pub(crate) codecs: Vec<Codec>,
    /// The shards, where there are some; behind them those within, from the outermost on.
    pub(crate) shards: Vec<Level>,
    pub(crate) names: Option<Axes>,
    pub(crate) attributes: Map<String, Value>,
}

/// Shards of one size: how many parts each has in every dimension, and the index of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) parts: Vec<u64>,
    pub(crate) index: Index,
}

/// Where a shard has its index, and how that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) at_start: bool,
    pub(crate) has_sum: bool,
    pub(crate) is_reversed: bool,
}

/// How the key of a chunk is made of its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    /// What stands before the coordinates, as in `c/0/1`.
    pub(crate) has_prefix: bool,
    pub(crate) separator: char,
}

impl Keys {
    /// The key of a chunk.
    pub(crate) fn of(self, coordinates: &[u64]) -> String {
        let numbers = coordinates.iter().map(u64::to_string);
        let parts: Vec<String> = self.has_prefix.then(|| "c".to_owned()).into_iter().chain(numbers).collect();
        match parts.is_empty() {
            true => "0".to_owned(), // a number of version 2
            false => parts.join(&self.separator.to_string()),
        }
    }
}

impl Meta {
    /// What the array is, with the names of its dimensions.
    pub(crate) fn said(&self) -> Said {
        let said: Said = std::sync::Arc::new(self.array.clone());
        let named = self.names.clone().and_then(|names| with_axes(said.clone(), names).ok());
        named.unwrap_or(said)
    }

    /// The sizes of what is stored under one key.
    pub(crate) fn whole(&self) -> &[u64] {
        self.array.shards().unwrap_or(self.array.chunks())
    }

    /// The layout of a part of these sizes, in chunks one after the other.
    ///
    /// # Errors
    /// More bytes than 63 bits count.
    pub(crate) fn layout_of(&self, sizes: &[u64]) -> Result<Layout> {
        Array::new(self.element, sizes, self.array.chunks(), None, self.array.order())?.layout()
    }
}

/// What is at a place of a store.
#[derive(Debug)]
pub(crate) enum Node {
    Array(Box<Meta>),
    /// An array that is not read: its type, its sizes, and why.
    Unread(String, Option<Vec<u64>>, Error),
    Group(Map<String, Value>),
}

/// What a group or an array of version 3 is, by its `zarr.json`.
///
/// # Errors
/// Metadata that cannot be right.
pub(crate) fn read(value: &Value) -> Result<Node> {
    let all = Object::new(value, "metadata")?;
    match all.need("zarr_format", "3")? {
        version if version.as_u64() == Some(3) => {}
        version => return Err(wrong("zarr_format", version, "3")),
    }
    match all.text("node_type", "\"array\" or \"group\"")? {
        "group" => Ok(Node::Group(attributes(all)?)),
        "array" => or_unread(all, "data_type", array(all)),
        other => Err(wrong("node_type", &other.into(), "\"array\" or \"group\"")),
    }
}

/// What an array of version 2 is, by its `.zarray`, and its `.zattrs` if it has some.
///
/// # Errors
/// Metadata that cannot be right.
pub(crate) fn read_v2(value: &Value, attributes: Map<String, Value>) -> Result<Node> {
    let all = Object::new(value, "metadata")?;
    match all.need("zarr_format", "2")? {
        version if version.as_u64() == Some(2) => {}
        version => return Err(wrong("zarr_format", version, "2")),
    }
    or_unread(all, "dtype", array_v2(all, attributes))
}

/// What is right and not read here is listed with the reason.
fn or_unread(all: Object, kind: &str, found: Result<Meta>) -> Result<Node> {
    match found {
        Ok(meta) => Ok(Node::Array(Box::new(meta))),
        Err(why) if why.kind() == ErrorKind::Unsupported => {
            let kind = match all.get(kind) {
                Some(Value::String(kind)) => kind.clone(),
                Some(Value::Object(object)) => {
                    object.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
                }
                _ => "structure".to_owned(),
            };
            Ok(Node::Unread(kind, all.get("shape").and_then(sizes), why))
        }
        Err(error) => Err(error),
    }
}

fn attributes(all: Object) -> Result<Map<String, Value>> {
    match all.get("attributes") {
        None => Ok(Map::new()),
        Some(value) => Ok(Object::new(value, "attributes")?.map().clone()),
    }
}

/// What version 3 says of an array, and who reads it has to understand.
const KEYS: [&str; 12] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
    "consolidated_metadata",
];

fn array(all: Object) -> Result<Meta> {
    let dims = all.sizes("shape")?;
    for (key, value) in all.map() {
        let is_optional = value.get("must_understand").and_then(Value::as_bool) == Some(false);
        if !KEYS.contains(&key.as_str()) && !is_optional {
            return Err(unread(shown(value), key).rule("every key is one of version 3 of Zarr"));
        }
    }
    if all.get("storage_transformers").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
        return Err(unread("storage transformers".to_owned(), "storage_transformers").accepts("none"));
    }
    let kind = all.need("data_type", "\"float32\"")?;
    let element =
        kind.as_str().and_then(|name| Element::from_name_in(System::Numpy, name)).ok_or_else(|| {
            unread(format!("the type {}", shown(kind)), "data_type")
                .rule("every element is one number of a fixed size")
                .accepts("bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, bfloat16, and the names of ml_dtypes")
        })?;
    let (grid, settings) = named(all.need("chunk_grid", "{\"name\": \"regular\", …}")?, "chunk_grid")?;
    if grid != "regular" {
        return Err(unread(format!("a chunk grid {grid:?}"), "chunk_grid").accepts("\"regular\""));
    }
    let settings = settings.ok_or_else(|| Error::new("no configuration").field("chunk_grid"))?;
    let whole = Object::new(settings, "chunk_grid")?.sizes("chunk_shape")?;
    let keys = match all.get("chunk_key_encoding") {
        None => Keys { has_prefix: true, separator: '/' },
        Some(value) => keys(value)?,
    };
    let list = all.need("codecs", "[{\"name\": \"bytes\", …}]")?;
    let chain = Chain::read(list, dims.len(), element)?;
    // The sizes of what is cut, from a whole shard on, and the indexes on the way.
    let (mut sizes, mut indexes, mut chain) = (vec![whole], Vec::new(), chain);
    while let Some(shards) = chain.shards.take() {
        sizes.push(shards.chunks);
        indexes.push(shards.index);
        chain = shards.inner;
    }
    let borrowed: Vec<&[u64]> = sizes.iter().map(Vec::as_slice).collect();
    let (chunks, shards) = borrowed.split_last().ok_or_else(|| Error::new("no chunks"))?; // one at least
    let array = Array::nested(element, &dims, chunks, shards, chain.order.as_deref())?;
    // The array has checked that each divides the one before it.
    let parts = |pair: &[Vec<u64>]| pair[0].iter().zip(&pair[1]).map(|(shard, part)| shard / part).collect();
    let shards = sizes.windows(2).zip(indexes).map(|(pair, index)| Level { parts: parts(pair), index });
    let shards = shards.collect();
    let fill = all
        .map()
        .get("fill_value")
        .ok_or_else(|| Error::new("no \"fill_value\"").field("metadata").accepts("\"fill_value\": 0"))?;
    Ok(Meta {
        fill: fill::read(fill, element)?,
        names: names(all, dims.len())?,
        attributes: attributes(all)?,
        array,
        element,
        dims,
        keys,
        reversed: chain.reversed,
        codecs: chain.codecs,
        shards,
    })
}

/// The names of dimensions, where each has one that is a name.
fn names(all: Object, rank: usize) -> Result<Option<Axes>> {
    let Some(value) = all.get("dimension_names") else { return Ok(None) };
    let list = value
        .as_array()
        .filter(|list| list.len() == rank)
        .ok_or_else(|| wrong("dimension_names", value, &format!("a list of {rank} names")))?;
    let names: Option<Vec<String>> = list.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    Ok(names.filter(|names| !names.is_empty()).and_then(|names| Axes::new(names).ok()))
}

fn keys(value: &Value) -> Result<Keys> {
    const FIELD: &str = "chunk_key_encoding";
    let (name, settings) = named(value, FIELD)?;
    let (has_prefix, usual) = match name {
        "default" => (true, '/'),
        "v2" => (false, '.'),
        other => {
            return Err(unread(format!("keys {other:?}"), FIELD).accepts("\"default\" or \"v2\""));
        }
    };
    Ok(Keys {
        has_prefix,
        separator: separator(settings.and_then(|all| all.get("separator")), usual, FIELD)?,
    })
}

fn separator(value: Option<&Value>, usual: char, field: &str) -> Result<char> {
    match value {
        None | Some(Value::Null) => Ok(usual),
        Some(Value::String(text)) if text == "." => Ok('.'),
        Some(Value::String(text)) if text == "/" => Ok('/'),
        Some(other) => Err(wrong(field, other, "the separator \".\" or \"/\"")),
    }
}

fn array_v2(all: Object, mut attributes: Map<String, Value>) -> Result<Meta> {
    let dims = all.sizes("shape")?;
    let kind = all.need("dtype", "\"<f4\"")?;
    let descr = kind.as_str().ok_or_else(|| {
        unread(format!("elements of several parts, {}", shown(kind)), "dtype")
            .accepts("one number, such as \"<f4\"")
    })?;
    // Of what NumPy has not, TensorStore writes the name.
    let by_name = Element::from_name_in(System::Numpy, descr);
    let element = match by_name {
        Some(element) => element,
        None => element_of(descr, None).map_err(|error| {
            unread(error.found().to_owned(), "dtype")
                .rule("every element is one number of a fixed size")
                .accepts("a type such as \"<f4\" or \"bfloat16\"")
        })?,
    };
    let reversed = little_endian(descr).filter(|_| by_name.is_none()).map_or(0, |(_, width)| width);
    if let Some(filters) =
        all.get("filters").filter(|filters| filters.as_array().is_none_or(|all| !all.is_empty()))
    {
        return Err(unread(format!("filters {}", shown(filters)), "filters")
            .rule("filters change numbers before they are compressed, and are not read")
            .accepts("null"));
    }
    let codecs = match all.get("compressor") {
        None => Vec::new(),
        Some(value) => {
            let name = Object::new(value, "compressor")?.text("id", "a text")?;
            if !["zlib", "gzip", "zstd", "blosc", "lz4"].contains(&name) {
                return Err(unread(format!("the compressor {name:?}"), "compressor")
                    .accepts("null, zlib, gzip, zstd, blosc or lz4"));
            }
            // A level is the writer's business.
            vec![codec(name, None)?]
        }
    };
    let order: Option<Vec<usize>> = match all.get("order") {
        None => None,
        Some(Value::String(order)) if order == "C" => None,
        Some(Value::String(order)) if order == "F" => Some((0..dims.len()).rev().collect()),
        Some(other) => return Err(wrong("order", other, "\"C\" or \"F\"")),
    };
    // xarray says in the attributes what version 3 says beside them.
    const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
    let names = attributes.get(DIMENSIONS).and_then(Value::as_array).and_then(|list| {
        let names: Option<Vec<String>> = list.iter().map(|name| name.as_str().map(str::to_owned)).collect();
        names.filter(|names| names.len() == dims.len() && !names.is_empty())
    });
    let fill = all.map().get("fill_value").unwrap_or(&Value::Null);
    if names.is_some() {
        attributes.remove(DIMENSIONS);
        if let Some(mask) = fill::mask(fill, element) {
            attributes.entry(fill::MASK).or_insert(mask);
        }
    }
    Ok(Meta {
        array: Array::new(element, &dims, &all.sizes("chunks")?, None, order.as_deref())?,
        fill: fill::read(fill, element)?,
        keys: Keys {
            has_prefix: false,
            separator: separator(all.get("dimension_separator"), '.', "dimension_separator")?,
        },
        names: names.and_then(|names| Axes::new(names).ok()),
        attributes,
        element,
        dims,
        reversed,
        codecs,
        shards: Vec::new(),
    })
}
