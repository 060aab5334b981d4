//! What a text of CuTe means, part by part.

use super::composed::{Composed, Function};
use super::engine::{Engine, Pointee, Pointer, stored_bits};
use super::layout::Layout;
use super::print::{Spell, Spelling};
use super::swizzle::Swizzle;
use super::tensor::Tensor;
use super::tuple::{IntTuple, Leaf};
use crate::dialect::words::{self, MOST};
use crate::dialect::{Dim, Fact, Facts, Part};
use crate::error::counted;

fn text(value: &impl Spell) -> String {
    let mut text = String::new();
    value.spell(Spelling::Ir, &mut text);
    text
}

/// Every part of a text.
pub(super) fn parts(tensor: &Tensor) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(element) = tensor.element() {
        let what = words::element(element, stored_bits(element));
        parts.push(Part::new("element type", element.name(), what));
    }
    if let Some(sizes) = tensor.sizes() {
        let dims: Vec<Dim> = sizes.iter().map(|&size| Dim::Static(size)).collect();
        parts.push(words::dims(&dims));
    }
    match tensor.engine() {
        Some(Engine::Pointer(pointer)) => {
            let plain = Pointer { swizzle: None, ..pointer.clone() };
            parts.push(Part::new("pointer", text(&plain), pointed(pointer)));
            if let Some(swizzle) = pointer.swizzle() {
                parts.push(Part::new("swizzle", text(&swizzle), swizzle_words(swizzle, "address in bytes")));
            }
        }
        Some(Engine::Coord(coord)) => {
            parts.push(Part::new("coordinate", text(coord), "the coordinate of the first element"));
        }
        None => {}
    }
    composed(tensor.layout(), &mut parts);
    parts
}

fn composed(composed: &Composed, parts: &mut Vec<Part>) {
    if !composed.is_plain() {
        match composed.function() {
            Function::Swizzle(swizzle) => {
                parts.push(Part::new("swizzle", text(swizzle), swizzle_words(*swizzle, "offset")));
            }
            Function::Layout(layout) => {
                let meaning = "the layout that takes what the other one gives as its coordinate";
                parts.push(Part::new("outer layout", text(layout), meaning));
            }
        }
        let meaning = match composed.offset().as_int() {
            Some(0) => "nothing is added".to_owned(),
            _ => format!("{} is added to what the layout gives", composed.offset()),
        };
        parts.push(Part::new("offset", text(composed.offset()), meaning));
    }
    let layout = composed.layout();
    parts.push(Part::new("shape", text(layout.shape()), shape_words(layout.shape())));
    parts.push(Part::new("stride", text(layout.stride()), stride_words(layout)));
}

fn pointed(pointer: &Pointer) -> String {
    let elements = match (&pointer.to, pointer.bits()) {
        (Pointee::Named(name), None) => format!("elements of the type {name}"),
        (_, Some(bits)) => format!("elements of {}", counted(bits.into(), "bit")),
        (Pointee::Bits(bits), None) => format!("elements of {}", counted((*bits).into(), "bit")),
    };
    let space = match pointer.space() {
        None => String::new(),
        Some("smem") => " in shared memory".to_owned(),
        Some("gmem") => " in global memory".to_owned(),
        Some("rmem") => " in registers".to_owned(),
        Some("tmem") => " in tensor memory".to_owned(),
        Some(other) => format!(" in {other} memory"),
    };
    let align = pointer.align.map(|align| format!(", aligned to {align} B")).unwrap_or_default();
    format!("{elements}{space}{align}; the address does not change the layout")
}

/// Which bits of what a swizzle changes.
fn swizzle_words(swizzle: Swizzle, of: &str) -> String {
    if swizzle.is_identity() {
        return "no bits change".to_owned();
    }
    let bits = |mask: u64| {
        let (from, count) = (mask.trailing_zeros(), mask.count_ones());
        match count {
            1 => format!("bit {from}"),
            2 => format!("bits {from} and {}", from + 1),
            _ => format!("bits {from} to {}", from + count - 1),
        }
    };
    let are = if swizzle.bits() == 1 { "is" } else { "are" };
    format!("{} of the {of} {are} flipped where {} {are} set", bits(swizzle.target()), bits(swizzle.source()))
}

fn shape_words(shape: &IntTuple) -> String {
    if shape.is_empty() {
        return "no modes: one element".to_owned();
    }
    let mode = |(number, mode): (usize, &IntTuple)| {
        let of = match mode.product() {
            Ok(size) => size.to_string(),
            Err(_) => "known at run time only".to_owned(),
        };
        let sizes: Vec<String> = mode.leaves().iter().take(MOST).map(ToString::to_string).collect();
        let more = if mode.leaves().len() > MOST { " × …" } else { "" };
        match sizes.len() {
            0 | 1 => format!("mode {number} is {of}"),
            _ => format!("mode {number} is {of} = {}{more}, the first fastest", sizes.join(" × ")),
        }
    };
    let modes: Vec<String> = shape.modes().iter().enumerate().take(MOST).map(mode).collect();
    let more = if shape.rank() > MOST { "; …" } else { "" };
    format!("{}{more}", modes.join("; "))
}

fn stride_words(layout: &Layout) -> String {
    if layout.stride().has_basis() {
        let example = layout.stride().leaves().into_iter().find(|leaf| matches!(leaf, Leaf::Basis(_)));
        return match (example, layout.example()) {
            (Some(leaf), Some(coordinate)) => {
                format!("scaled bases, which make coordinates: a step of {leaf} adds {coordinate}")
            }
            _ => "scaled bases, which make coordinates".to_owned(),
        };
    }
    match layout.stride().ints() {
        Err(_) => "a ? is known at run time only".to_owned(),
        Ok(steps) if steps.is_empty() => "one element has no steps".to_owned(),
        Ok(steps) => words::steps(&steps).replace("dimension", "digit"),
    }
}

/// The same as values.
pub(super) fn facts(tensor: &Tensor) -> Facts {
    let layout = tensor.layout();
    let numbers = |swizzle: Swizzle| -> Fact {
        [swizzle.bits().into(), swizzle.base().into(), i64::from(swizzle.shift())].into_iter().collect()
    };
    let own = match layout.function() {
        Function::Swizzle(swizzle) if !layout.is_plain() => Some(numbers(*swizzle)),
        _ => None,
    };
    let outer = match layout.function() {
        Function::Layout(layout) => Some(text(layout)),
        Function::Swizzle(_) => None,
    };
    let (pointer, coordinate) = match tensor.engine() {
        Some(Engine::Pointer(pointer)) => (Some(text(pointer)), None),
        Some(Engine::Coord(coord)) => (None, Some(text(coord))),
        None => (None, None),
    };
    let of_pointer = tensor.pointer().and_then(Pointer::swizzle).map(numbers);
    Facts::about("array")
        .with("element_type", tensor.element().map(|element| element.name().to_owned()))
        .with("dimensions", tensor.sizes().map(|sizes| sizes.iter().copied().collect::<Fact>()))
        .with("pointer", pointer)
        .with("pointer_swizzle", of_pointer)
        .with("coordinate", coordinate)
        .with("swizzle", own)
        .with("outer", outer)
        .with("offset", (!layout.is_plain()).then(|| text(layout.offset())))
        .with("shape", text(layout.layout().shape()))
        .with("stride", text(layout.layout().stride()))
        .with("cpp", layout.spelled(Spelling::Cpp))
}

/// What else there is to know.
pub(super) fn notes(tensor: &Tensor) -> Vec<String> {
    let shape = tensor.layout().layout().shape();
    let mut notes = Vec::new();
    if tensor.bits().is_none() {
        notes.push(format!(
            "The text says no type of elements, so each is counted as 1 byte. Places do not depend on it; with a type \
             before it, as in f32 {}, bytes are right too.",
            text(tensor.layout())
        ));
    }
    if shape.depth() > 1 {
        notes.push(
            "Each top-level mode is one dimension; the modes within it are the digits of its index, the first fastest."
                .to_owned(),
        );
    }
    let padded = |(number, (mode, &size)): (usize, (&IntTuple, &u64))| {
        let places = mode.product().ok().and_then(|places| u64::try_from(places).ok())?;
        (places > size).then(|| {
            format!("Dimension {number} has {size} of the {places} coordinates of mode {number}; the rest is padding.")
        })
    };
    let sizes = tensor.sizes().unwrap_or_default();
    notes.extend(shape.modes().iter().zip(sizes).enumerate().filter_map(padded));
    if tensor.pointer().and_then(Pointer::swizzle).is_some() {
        notes.push(
            "The swizzle is of addresses: the elements are where the layout says if the pointer is aligned to the swizzle's \
             pattern."
                .to_owned(),
        );
    }
    notes
}
