//! What the text of a shape means, part by part.

use crate::dialect::{Part, words};
use crate::layout::Layout;
use crate::xla::value::layout::Layout as Written;
use crate::xla::value::shape::{ArrayShape, Shape};
use crate::xla::value::tile::Tile;
use words::{MOST, list};

/// What a shape is, in one phrase.
pub(crate) fn phrase(shape: &Shape) -> Option<String> {
    Some(match shape {
        Shape::Array(_) => return None,
        Shape::Buffer(_) => "a buffer that holds an array".to_owned(),
        Shape::Token => "a token: orders side effects, holds no data".to_owned(),
        Shape::Opaque => "an opaque value: data that XLA cannot see into".to_owned(),
        Shape::Tuple(elements) => match elements.len() {
            0 => "a tuple without elements".to_owned(),
            1 => "a tuple of 1 element".to_owned(),
            count => format!("a tuple of {count} elements"),
        },
    })
}

/// What XLA's own `ArraySize` says, in bytes. XLA has no free strides and, today, no padded dimensions.
pub(crate) fn xla_size(array: &ArrayShape) -> Option<u64> {
    let known =
        array.layout().is_none_or(|written| written.strides().is_none() && written.padding().is_none());
    array.array_size_by_first_tile().ok().filter(|_| known)
}

/// Where XLA's own answer is another.
pub(crate) fn notes(array: &ArrayShape, layout: &Layout) -> Vec<String> {
    let combines = array.layout().is_some_and(|written| written.tiles().iter().any(Tile::combines));
    match xla_size(array) {
        Some(bytes) if bytes != layout.bytes() => vec![format!(
            "XLA's own ArraySize says {}: it looks at the first tile only.",
            crate::words::bytes(bytes.into())
        )],
        None if combines => {
            vec!["XLA's own ArraySize says nothing of use here: it does not know `*`.".to_owned()]
        }
        _ => Vec::new(),
    }
}

/// Every part of an array's text.
pub(crate) fn parts(array: &ArrayShape, layout: Option<&Layout>) -> Vec<Part> {
    let element = array.element_type();
    let meaning = words::element(element, array.element_size_in_bits());
    let mut parts = vec![Part::new("element type", element.name(), meaning), words::dims(array.dims())];
    let Some(written) = array.layout() else { return parts };
    match written.strides() {
        None => {
            let order = written.minor_to_major();
            let meaning = words::order(order);
            parts.extend(
                meaning.map(|text| Part::new("minor to major", format!("{{{}}}", list(order)), text)),
            );
        }
        Some(free) => {
            let text = format!("strides({})", list(&free.strides));
            parts.push(Part::new("strides", text, words::steps(&free.strides)));
            if let Some(base) = free.base {
                parts.push(Part::new(
                    "base",
                    format!("base({base})"),
                    format!("element (0, …, 0) is at {base}"),
                ));
            }
            if let Some(size) = free.size {
                parts.push(Part::new(
                    "size",
                    format!("size({size})"),
                    format!("{size} elements are allocated"),
                ));
            }
        }
    }
    if let Some(padding) = written.padding() {
        let sizes: Vec<String> = padding.padded_dimensions.iter().take(MOST).map(u64::to_string).collect();
        let value = match padding.value.name() {
            "invalid" => "nothing is said about what the padding holds".to_owned(),
            "unknown" => "the padding may hold anything".to_owned(),
            "lowest" | "highest" => {
                format!("the padding holds the {} value of {element}", padding.value.name())
            }
            value => format!("the padding holds {value}"),
        };
        let text = format!("pad({})", list(&padding.padded_dimensions));
        parts.push(Part::new("padding", text, format!("allocated as {}; {value}", sizes.join(" × "))));
    }
    let pieces = layout.map(Layout::index_parts);
    for (number, tile) in (1..).zip(written.tiles()) {
        let text = format!("{}{tile}", if number == 1 { "T" } else { "" });
        let star = tile.combines().then_some("*");
        parts.push(Part::new("tiles", text, words::tile(number, star, pieces)));
    }
    parts.extend(qualifiers(written));
    parts
}

/// The other words within the braces.
fn qualifiers(written: &Written) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut push = |name, text: String, meaning: String| parts.push(Part::new(name, text, meaning));
    let tail = written.tail_padding_alignment_in_elements();
    if tail != 1 {
        push("tail", format!("L({tail})"), format!("the end is padded to a multiple of {tail} elements"));
    }
    if let Some(kind) = written.index_primitive_type() {
        push("index type", format!("#({kind})"), "the type of the indices of sparse storage".to_owned());
    }
    if let Some(kind) = written.pointer_primitive_type() {
        push("pointer type", format!("*({kind})"), "the type of the pointers of sparse storage".to_owned());
    }
    let bits = written.element_size_in_bits();
    if bits != 0 {
        push("element size", format!("E({bits})"), format!("each element takes {bits} bits"));
    }
    let space = written.memory_space();
    if space != 0 {
        let known = match space {
            1 => ", the fast one by custom",
            5 => ", the host's by custom",
            _ => "",
        };
        push("memory space", format!("S({space})"), format!("in memory space {space}{known}"));
    }
    for config in written.split_configs() {
        let (dim, indices) = (config.dimension, list(&config.split_indices));
        let meaning = format!("physical dimension {dim} (0 is the most major) is split at {indices}");
        push("split", format!("SC({dim}:{indices})"), meaning);
    }
    let prefix = written.dynamic_shape_metadata_prefix_bytes();
    if prefix != 0 {
        let meaning = format!("{prefix} bytes before the data hold the sizes at run time");
        push("metadata", format!("M({prefix})"), meaning);
    }
    parts
}
