//! The list of codecs of an array: an order of dimensions, chunks in shards, the order of bytes, and what encodes these.

use serde_json::Value;
use tilework::{Element, Error, Result};

use super::codec::Codec;
use super::json::{Object, sizes, unread, wrong};
use super::meta::Index;

/// A name and its configuration; a text alone is a name.
pub(super) fn named<'a>(value: &'a Value, field: &'a str) -> Result<(&'a str, Option<&'a Value>)> {
    if let Some(name) = value.as_str() {
        return Ok((name, None));
    }
    let object = Object::new(value, field)?;
    let name = object.need("name", "a text")?;
    let name = name.as_str().ok_or_else(|| wrong(field, name, "a name such as \"bytes\""))?;
    Ok((name, object.get("configuration")))
}

/// What a list of codecs says.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// The dimensions from major to minor, where something transposes.
    pub(super) order: Option<Vec<usize>>,
    /// The bytes of numbers that are stored with the most significant byte first; 0 for others.
    pub(super) reversed: usize,
    pub(super) codecs: Vec<Codec>,
    pub(super) shards: Option<Box<Shards>>,
}

/// Chunks in shards: their sizes, what they are, and where the index is.
#[derive(Debug)]
pub(super) struct Shards {
    pub(super) chunks: Vec<u64>,
    pub(super) inner: Chain,
    pub(super) index: Index,
}

const CODECS: &str = "codecs";

/// The most shards within shards.
const DEEPEST: usize = 4;

impl Chain {
    pub(super) fn read(list: &Value, rank: usize, element: Element) -> Result<Chain> {
        Chain::of(list, rank, element, DEEPEST)
    }

    /// The list of codecs, with shards as deep as `levels`.
    fn of(list: &Value, rank: usize, element: Element, levels: usize) -> Result<Chain> {
        let chain = Chain::parts(list, rank, element, levels)?;
        if chain.shards.is_none() {
            return Ok(chain);
        }
        // Only chunks lie in an order of their own, and only they can be read alone.
        let found = match (&chain.order, chain.codecs.first()) {
            (Some(_), _) => "a transposition of whole shards".to_owned(),
            (None, Some(codec)) => format!("shards that {} encodes as a whole", codec.name()),
            (None, None) => return Ok(chain),
        };
        Err(unread(found, CODECS)
            .rule("each chunk of a shard is read alone")
            .accepts("sharding_indexed alone, and other codecs within it"))
    }

    fn parts(list: &Value, rank: usize, element: Element, levels: usize) -> Result<Chain> {
        let list = list.as_array().ok_or_else(|| wrong(CODECS, list, "a list of codecs"))?;
        let mut chain = Chain::default();
        let mut is_bytes = false;
        for value in list {
            let (name, settings) = named(value, CODECS)?;
            let setting = |key: &str| settings.and_then(|all| all.get(key)).filter(|value| !value.is_null());
            let is_array = matches!(name, "transpose" | "bytes" | "sharding_indexed");
            if is_array == is_bytes {
                return Err(Error::new(format!("{name:?} at a place of the list where it cannot be"))
                    .field(CODECS)
                    .rule("codecs of arrays come first, then one that makes bytes, then codecs of bytes")
                    .accepts("[transpose, …, bytes, zstd, …]"));
            }
            match name {
                "transpose" => chain.transpose(setting("order"), rank)?,
                "bytes" => {
                    is_bytes = true;
                    chain.reversed = reversed(setting("endian"), element)?;
                }
                "sharding_indexed" if levels == 0 => {
                    return Err(unread(
                        format!("more than {DEEPEST} codecs sharding_indexed in one another"),
                        CODECS,
                    )
                    .accepts(format!("up to {DEEPEST}")));
                }
                "sharding_indexed" => {
                    is_bytes = true;
                    let settings = settings.ok_or_else(|| {
                        Error::new("sharding_indexed without its configuration").field(CODECS)
                    })?;
                    chain.shards = Some(Box::new(Shards::read(settings, rank, element, levels - 1)?));
                }
                _ => chain.codecs.push(codec(name, settings)?),
            }
        }
        if !is_bytes {
            return Err(Error::new("no codec that makes bytes")
                .field(CODECS)
                .accepts("\"bytes\" or \"sharding_indexed\""));
        }
        Ok(chain)
    }

    fn transpose(&mut self, order: Option<&Value>, rank: usize) -> Result<()> {
        let order = order.ok_or_else(|| Error::new("transpose without its order").field(CODECS))?;
        let read = sizes(order).and_then(|order| {
            let order: Option<Vec<usize>> =
                order.into_iter().map(|dim| usize::try_from(dim).ok().filter(|dim| *dim < rank)).collect();
            let order = order?;
            let mut seen = vec![false; rank];
            order.iter().for_each(|&dim| seen[dim] = true);
            (order.len() == rank && seen.iter().all(|seen| *seen)).then_some(order)
        });
        let order = read.ok_or_else(|| {
            wrong(CODECS, order, "an order that has each dimension once, such as [1, 0]")
                .rule(format!("transpose orders {rank} dimensions"))
        })?;
        self.order = Some(match self.order.take() {
            None => order,
            // What is transposed again is what was transposed.
            Some(first) => order.into_iter().map(|dim| first[dim]).collect(),
        });
        Ok(())
    }
}

impl Shards {
    fn read(settings: &Value, rank: usize, element: Element, levels: usize) -> Result<Shards> {
        let settings = Object::new(settings, CODECS)?;
        let chunks = settings.sizes("chunk_shape")?;
        let inner = settings.need("codecs", "the codecs of a chunk")?;
        let inner = Chain::of(inner, rank, element, levels)?;
        let at_start = match settings.get("index_location") {
            None => false,
            Some(Value::String(place)) if place == "end" => false,
            Some(Value::String(place)) if place == "start" => true,
            Some(other) => return Err(wrong("index_location", other, "\"start\" or \"end\"")),
        };
        let list = settings.need("index_codecs", "[{\"name\": \"bytes\", …}, {\"name\": \"crc32c\"}]")?;
        let of_index = Chain::of(list, 0, Element::U64, 0)?;
        let has_sum = match &of_index.codecs[..] {
            [] => false,
            [Codec::Crc32c] => true,
            [other, ..] => {
                return Err(unread(format!("an index that {} encodes", other.name()), "index_codecs")
                    .rule("the index of a shard has a size that is known")
                    .accepts("bytes, and crc32c"));
            }
        };
        let index = Index { at_start, has_sum, is_reversed: of_index.reversed > 0 };
        Ok(Shards { chunks, inner, index })
    }
}

/// The bytes of numbers that are stored with the most significant byte first; 0 for others.
fn reversed(endian: Option<&Value>, element: Element) -> Result<usize> {
    let width = element.bytes() as usize / if element.is_complex() { 2 } else { 1 };
    match endian {
        None if width == 1 => Ok(0),
        Some(Value::String(endian)) if endian == "little" => Ok(0),
        Some(Value::String(endian)) if endian == "big" => Ok(if width > 1 { width } else { 0 }),
        None => Err(Error::new("the codec bytes without its endian")
            .field(CODECS)
            .rule(format!("an element of {element} has {} bytes", element.bytes()))
            .accepts("\"endian\": \"little\"")),
        Some(other) => Err(wrong(CODECS, other, "the endian \"little\" or \"big\"")),
    }
}

/// A codec of bytes.
pub(super) fn codec(name: &str, settings: Option<&Value>) -> Result<Codec> {
    let number = |key: &str, usual: i64, range: std::ops::RangeInclusive<i64>| match settings
        .and_then(|all| all.get(key))
    {
        None | Some(Value::Null) => Ok(usual),
        Some(value) => value
            .as_i64()
            .filter(|number| range.contains(number))
            .ok_or_else(|| wrong(CODECS, value, &format!("a {key} of {} to {}", range.start(), range.end()))),
    };
    Ok(match name {
        "gzip" => Codec::Gzip(number("level", 6, 0..=9)? as u32),
        "zlib" => Codec::Zlib,
        "zstd" => {
            let has_sum = settings.and_then(|all| all.get("checksum")).and_then(Value::as_bool);
            Codec::Zstd(number("level", 0, -131_072..=22)? as i32, has_sum.unwrap_or(false))
        }
        "crc32c" => Codec::Crc32c,
        "blosc" => Codec::Blosc,
        "lz4" => Codec::Lz4,
        other => {
            return Err(unread(format!("the codec {other:?}"), CODECS)
                .accepts("bytes, transpose, sharding_indexed, gzip, zstd, blosc and crc32c"));
        }
    })
}
