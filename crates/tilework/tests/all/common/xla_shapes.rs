//! Shapes and layouts of the cases, from text.

use super::xla_reader;
pub(crate) use super::xla_reader::cases;
use tilework::xla::{ArrayShape, Layout, Shape};

/// The shape, or none for a text that is not a valid shape.
///
/// A shape without a layout has no text of its own; the cases mark it with ` (no layout)`, which the parser refuses.
pub(crate) fn try_shape(text: &str) -> Option<Shape> {
    match text.contains("(no layout)") {
        true => xla_reader::try_shape(text),
        false => Shape::parse(text).ok(),
    }
}

pub(crate) fn shape(text: &str) -> Shape {
    try_shape(text).unwrap_or_else(|| panic!("{text}"))
}

pub(crate) fn array(text: &str) -> ArrayShape {
    shape(text).as_array().unwrap_or_else(|| panic!("{text}")).clone()
}

pub(crate) fn layout(text: &str) -> Layout {
    Layout::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
