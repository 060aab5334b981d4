//! A small reader of the cases and of the shapes in them, for tests that must not depend on the parser.

use serde_json::Value;
use tilework::{
    Element,
    xla::{ArrayShape, Dim, Layout, Shape, SplitConfig, Tile, TileDim},
};

/// All cases of these groups.
pub(crate) fn cases(groups: &[&str]) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/xla.json");
    let all: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let found: Vec<Value> =
        all.into_iter().filter(|case| groups.contains(&case["group"].as_str().unwrap())).collect();
    for group in groups {
        assert!(found.iter().any(|case| case["group"] == *group), "no cases of {group}");
    }
    found
}

/// The shape, or none for a text that is not a valid shape in XLA's printed form.
pub(crate) fn try_shape(text: &str) -> Option<Shape> {
    let mut rest = text;
    let shape = read_shape(&mut rest)?;
    rest.is_empty().then_some(shape)
}

pub(crate) fn shape(text: &str) -> Shape {
    try_shape(text).unwrap_or_else(|| panic!("{text}"))
}

pub(crate) fn array(text: &str) -> ArrayShape {
    shape(text).as_array().unwrap().clone()
}

pub(crate) fn layout(text: &str) -> Layout {
    let mut rest = text;
    let layout = read_layout(&mut rest).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(rest, "", "{text}");
    layout
}

fn eat(rest: &mut &str, word: &str) -> Option<()> {
    *rest = rest.strip_prefix(word)?;
    Some(())
}

fn number(rest: &mut &str) -> Option<u64> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, tail) = rest.split_at(end);
    *rest = tail;
    digits.parse().ok()
}

/// Entries between commas up to `end`, which is passed over.
fn list<T>(rest: &mut &str, end: &str, entry: impl Fn(&mut &str) -> Option<T>) -> Option<Vec<T>> {
    let mut entries = Vec::new();
    while eat(rest, end).is_none() {
        if !entries.is_empty() {
            eat(rest, ",")?;
            while eat(rest, " ").is_some() {}
            if eat(rest, "/*index=").is_some() {
                number(rest)?;
                eat(rest, "*/")?;
            }
        }
        entries.push(entry(rest)?);
    }
    Some(entries)
}

fn read_shape(rest: &mut &str) -> Option<Shape> {
    if eat(rest, "(").is_some() {
        return list(rest, ")", read_shape).map(Shape::Tuple);
    }
    if eat(rest, "b(").is_some() {
        let held = read_shape(rest)?;
        eat(rest, ")")?;
        return Some(Shape::Buffer(held.as_array()?.clone()));
    }
    if eat(rest, "token[]").is_some() {
        return Some(Shape::Token);
    }
    if eat(rest, "opaque[]").is_some() {
        return Some(Shape::Opaque);
    }
    let (name, tail) = rest.split_once('[')?;
    *rest = tail;
    let dims = list(rest, "]", |rest| {
        if eat(rest, "?").is_some() {
            return Some(Dim::Unbounded);
        }
        let bounded = eat(rest, "<=").is_some();
        let size = number(rest)?;
        Some(if bounded { Dim::Bounded(size) } else { Dim::Static(size) })
    })?;
    let array = ArrayShape::new(Element::from_name(name)?, dims).ok()?;
    if eat(rest, " (no layout)").is_some() {
        return Some(Shape::Array(array.without_layout()));
    }
    if !rest.starts_with('{') {
        return Some(Shape::Array(array));
    }
    array.with_layout(read_layout(rest)?).ok().map(Shape::Array)
}

fn read_layout(rest: &mut &str) -> Option<Layout> {
    eat(rest, "{")?;
    let mut order = Vec::new();
    while !rest.starts_with([':', '}']) {
        if !order.is_empty() {
            eat(rest, ",")?;
        }
        order.push(number(rest)? as usize);
    }
    let mut layout = Layout::new(order).ok()?;
    if eat(rest, ":").is_some() {
        layout = read_qualifiers(rest, layout)?;
    }
    eat(rest, "}")?;
    Some(layout)
}

fn read_qualifiers(rest: &mut &str, mut layout: Layout) -> Option<Layout> {
    if eat(rest, "T(").is_some() {
        let mut tiles = Vec::new();
        loop {
            let dims = list(rest, ")", |rest| match eat(rest, "*") {
                Some(()) => Some(TileDim::Combine),
                None => number(rest).map(TileDim::Size),
            })?;
            tiles.push(Tile::from_dims(dims).ok()?);
            if eat(rest, "(").is_none() {
                break;
            }
        }
        layout = layout.with_tiles(tiles).ok()?;
    }
    if let Some(elements) = qualifier(rest, "L(") {
        layout = layout.with_tail_padding_alignment_in_elements(elements?).ok()?;
    }
    let mut types = [None, None];
    for (slot, word) in types.iter_mut().zip(["#(", "*("]) {
        if eat(rest, word).is_some() {
            let (name, tail) = rest.split_once(')')?;
            *rest = tail;
            *slot = Some(Element::from_name(name)?);
        }
    }
    layout = layout.with_sparse_types(types[0], types[1]).ok()?;
    if let Some(bits) = qualifier(rest, "E(") {
        layout = layout.with_element_size_in_bits(u32::try_from(bits?).ok()?);
    }
    if let Some(space) = qualifier(rest, "S(") {
        layout = layout.with_memory_space(space?).ok()?;
    }
    if eat(rest, "SC").is_some() {
        let mut configs = Vec::new();
        while eat(rest, "(").is_some() {
            let dimension = number(rest)?;
            eat(rest, ":")?;
            configs.push(SplitConfig { dimension, split_indices: list(rest, ")", number)? });
        }
        layout = layout.with_split_configs(configs).ok()?;
    }
    if eat(rest, "P(").is_some() {
        layout = layout.with_physical_shape(Some(read_shape(rest)?));
        eat(rest, ")")?;
    }
    if let Some(bytes) = qualifier(rest, "M(") {
        layout = layout.with_dynamic_shape_metadata_prefix_bytes(bytes?).ok()?;
    }
    Some(layout)
}

fn qualifier(rest: &mut &str, word: &str) -> Option<Option<u64>> {
    eat(rest, word)?;
    let value = number(rest);
    Some(value.filter(|_| eat(rest, ")").is_some()))
}
