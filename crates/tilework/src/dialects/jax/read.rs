//! Reading what JAX prints.

use std::ops::Range;
use tilework_core::InOrder;

use super::written::{Array, COMBINE, Written};
use crate::dialect::Known;
use crate::dialect::python::{self, Item, Kind, Value, attribute};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// The arguments of a `Layout`, in their order.
const ARGUMENTS: [&str; 3] = ["major_to_minor", "tiling", "sub_byte_element_size_in_bits"];

/// The classes that say a layout. `DeviceLocalLayout` is the older name of `Layout`, which was that of `Format` then.
pub(super) const CLASSES: [&str; 3] = ["Layout", "DeviceLocalLayout", "Format"];

/// Whether values of this argument are read. The sharding may be of any form.
fn is_read(key: &str) -> bool {
    ARGUMENTS.contains(&key) || ["layout", "device_local_layout", "format", "shape", "dtype"].contains(&key)
}

/// Reads a text; sizes and type are known from elsewhere unless the text is a `ShapeDtypeStruct`.
pub(super) fn read(text: &str, known: &Known) -> Result<Array> {
    let items = python::values(text, is_read)?;
    let Some(Item { key: None, value }) = items.first() else {
        return Err(Error::new("this is no layout of JAX").at(0..text.len()).accepts(EXAMPLE));
    };
    let mut found =
        Found { dims: known.dims.map(<[u64]>::to_vec), element: known.element, ..Found::default() };
    found.read(value, text)?;
    if let Some(more) = items.get(1) {
        return Err(more.value.error("something after the layout").accepts("the end of the text"));
    }
    let Some((written, at)) = found.layout else {
        return Err(value.error("no layout is said").accepts(EXAMPLE));
    };
    let (Some(dims), Some(element)) = (found.dims, found.element) else {
        return Err(value
            .error("a layout of JAX alone")
            .of_kind(ErrorKind::Unsupported)
            .rule("dimensions and type are known from elsewhere")
            .accepts(format!("both before it, such as bf16[64,300] {EXAMPLE}")));
    };
    check_order(&written.major_to_minor, dims.len(), at.order)?;
    let array = Array { element, dims, layout: written, sharding: found.sharding };
    array.lower().map_err(|error| error.at(at.tiling))?;
    Ok(array)
}

const EXAMPLE: &str = "Layout(major_to_minor=(0, 1), tiling=((8, 128),))";

/// Where the parts of a `Layout` are.
struct Places {
    order: Range<usize>,
    tiling: Range<usize>,
}

/// What a text says.
#[derive(Default)]
struct Found {
    element: Option<Element>,
    dims: Option<Vec<u64>>,
    layout: Option<(Written, Places)>,
    sharding: Option<String>,
}

impl Found {
    /// A `Layout`, or what it stands in.
    fn read(&mut self, value: &Value, text: &str) -> Result<()> {
        let (name, items) = match &value.kind {
            Kind::Call(name, items) => (attribute(name), items),
            Kind::Name(name) | Kind::Text(name) if attribute(name) == "AUTO" => {
                return Err(value
                    .error("AUTO is no layout yet")
                    .of_kind(ErrorKind::Unsupported)
                    .rule("the compiler chooses it")
                    .accepts("what compiled.input_formats or compiled.output_formats has"));
            }
            Kind::Name("None") => {
                return Err(value
                    .error("no layout is said")
                    .rule("None is the device's own")
                    .accepts(EXAMPLE));
            }
            _ => return Err(value.error("this is no layout of JAX").accepts(EXAMPLE)),
        };
        let is_older_format =
            || items.iter().any(|item| keyed(item).is_some_and(|key| key == "device_local_layout"));
        match name {
            "Layout" | "DeviceLocalLayout" if !is_older_format() => {
                self.layout = Some(layout(value, items)?);
                Ok(())
            }
            "Layout" | "Format" => self.arguments(items, &["layout", "sharding"], text),
            "ShapeDtypeStruct" => self.arguments(items, &["shape", "dtype"], text),
            name => Err(value
                .error(format!("{} is no layout of JAX", quoted(name)))
                .accepts(format!("{}, or ShapeDtypeStruct with a format", CLASSES.join(", ")))),
        }
    }

    /// The arguments of what a layout stands in.
    fn arguments(&mut self, items: &[Item], positions: &[&str], text: &str) -> Result<()> {
        for (place, item) in items.iter().enumerate() {
            let value = &item.value;
            match keyed(item).or(positions.get(place).copied()) {
                Some("layout" | "device_local_layout" | "format") => self.read(value, text)?,
                Some("sharding") => self.sharding = Some(text[value.span.clone()].to_owned()),
                Some("shape") => self.dims = Some(value.sizes()?),
                Some("dtype") => self.element = Some(value.element()?),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The name of a named argument.
fn keyed<'a>(item: &'a Item) -> Option<&'a str> {
    item.key.as_ref().and_then(Value::word)
}

/// The arguments of a `Layout`.
fn layout(value: &Value, items: &[Item]) -> Result<(Written, Places)> {
    let mut given: [Option<&Value>; 3] = [None; 3];
    for (place, item) in items.iter().enumerate() {
        let argument = match keyed(item) {
            Some(key) => ARGUMENTS.iter().position(|argument| *argument == key),
            None => Some(place).filter(|&place| place < ARGUMENTS.len()),
        };
        let (span, shown) = match &item.key {
            Some(key) => (key.span.clone(), keyed(item).unwrap_or_default()),
            None => (item.value.span.clone(), "a fourth argument"),
        };
        let Some(argument) = argument else {
            return Err(Error::new(format!("Layout has no {}", quoted(shown)))
                .at(span)
                .accepts(ARGUMENTS.join(", ")));
        };
        if given[argument].replace(&item.value).is_some() {
            return Err(Error::new(format!("{} a second time", ARGUMENTS[argument])).at(span));
        }
    }
    let [Some(order), tiling, bits] = given else {
        let end = value.span.end.saturating_sub(1);
        return Err(Error::new("no major_to_minor")
            .at(end..value.span.end)
            .rule("a Layout names the dimensions, the most major first")
            .accepts(EXAMPLE));
    };
    let accepts = "dimensions such as (0, 1)";
    let order_of = |(dim, at): (i128, Range<usize>)| match usize::try_from(dim) {
        Ok(dim) => Ok(dim),
        Err(_) => Err(Error::new(format!("dimension {dim}")).at(at).accepts("dimensions, counted from 0")),
    };
    let major_to_minor = order.numbers(accepts)?.into_iter().map(order_of).collect::<Result<_>>()?;
    let written = Written {
        major_to_minor,
        tiling: tiling.map_or(Ok(Vec::new()), tiles)?,
        element_bits: bits.map_or(Ok(0), element_bits)?,
    };
    let places = Places { order: order.span.clone(), tiling: tiling.unwrap_or(value).span.clone() };
    Ok((written, places))
}

/// A tuple of tiles.
fn tiles(value: &Value) -> Result<Vec<Vec<Option<u64>>>> {
    const ACCEPTS: &str = "tiles such as ((8, 128), (2, 1)), or ((8, 128),) for one";
    let tile = |item: &Item| match item.value.kind {
        Kind::List(_) => sizes(&item.value),
        Kind::Number(_) => Err(value
            .error("sizes where tiles are wanted")
            .rule("tiling is a tuple of tiles, and a tile is a tuple of sizes")
            .accepts(ACCEPTS)),
        _ => Err(item.value.error("this is no tile").accepts(ACCEPTS)),
    };
    match &value.kind {
        Kind::Name("None") => Ok(Vec::new()),
        Kind::List(items) => items.iter().map(tile).collect(),
        _ => Err(value.error("these are no tiles").accepts(ACCEPTS)),
    }
}

/// The sizes of one tile.
fn sizes(tile: &Value) -> Result<Vec<Option<u64>>> {
    let size = |(size, at): (i128, Range<usize>)| match u64::try_from(size) {
        Ok(size @ 1..) if size <= i64::MAX as u64 => Ok(Some(size)),
        _ if size == i128::from(COMBINE) => Ok(None),
        _ => Err(Error::new(format!("a tile size of {size}"))
            .at(at)
            .accepts("1 or more, or -(2**63), which combines a dimension with the next")),
    };
    let sizes: Vec<_> =
        tile.numbers("sizes such as (8, 128)")?.into_iter().map(size).collect::<Result<_>>()?;
    match sizes.last() {
        None => Err(tile.error("a tile without sizes").accepts("sizes such as (8, 128)")),
        Some(None) => Err(tile
            .error("a tile that ends with -(2**63)")
            .rule("it combines a dimension with the next more minor one")
            .accepts("a size at the end")),
        Some(_) => Ok(sizes),
    }
}

fn element_bits(value: &Value) -> Result<u32> {
    let bits = match value.kind {
        Kind::Number(bits) => u32::try_from(bits).ok(),
        _ => None,
    };
    bits.ok_or_else(|| value.error("this is no number of bits").accepts("0, or bits such as 4"))
}

/// An order names every dimension once.
fn check_order(major_to_minor: &[usize], rank: usize, at: Range<usize>) -> Result<()> {
    let mut sorted = major_to_minor.to_vec();
    sorted.order();
    if sorted.into_iter().eq(0..rank) {
        return Ok(());
    }
    let all: Vec<usize> = (0..rank).take(8).collect();
    Err(Error::new(format!("this major_to_minor of {}", counted(rank as u64, "dimension")))
        .of_kind(ErrorKind::Mismatch)
        .at(at)
        .rule("it names every dimension exactly once")
        .accepts(match rank {
            0 => "()".to_owned(),
            1..=8 => format!("a permutation of {}", super::written::tuple(&all)),
            _ => format!("the {rank} dimensions, counted from 0"),
        }))
}
