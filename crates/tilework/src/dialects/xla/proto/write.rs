//! Shapes and layouts as messages.

use super::wire::{put_int, put_ints, put_message};
use super::{MAX_NESTING, OldProto};
use crate::error::{Error, Result};
use crate::xla::value::layout::Layout;
use crate::xla::value::primitive::PrimitiveType;
use crate::xla::value::shape::{ArrayShape, Dim, Shape};
use crate::xla::value::tile::{Tile, TileDim};

/// Today's messages or the older ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Today,
    Old(OldProto),
}

impl Age {
    pub(super) fn is_old(self) -> bool {
        self != Age::Today
    }
}

/// The number XLA writes for `?` and for `*`.
pub(super) const UNBOUNDED_OR_COMBINE: i64 = i64::MIN;

/// The last type that TensorFlow 1.x had: `c128`.
pub(super) const LAST_OLD_TYPE: i32 = 18;

pub(super) fn shape(shape: &Shape, age: Age, depth: usize) -> Result<Vec<u8>> {
    if depth > MAX_NESTING {
        return Err(Error::new(format!("more than {MAX_NESTING} shapes inside each other"))
            .field("tuple_shapes")
            .rule("readers of the message stop at a depth like this"));
    }
    let mut out = Vec::new();
    match shape {
        Shape::Array(array) => write_array(&mut out, array, age, depth)?,
        Shape::Tuple(elements) => {
            put_int(&mut out, 2, i64::from(shape.element_type().number()));
            for element in elements {
                put_message(&mut out, 4, &self::shape(element, age, depth + 1)?);
            }
        }
        Shape::Buffer(array) => {
            if age.is_old() {
                return Err(unknown_to_old("a buffer", "element_type"));
            }
            put_int(&mut out, 2, i64::from(PrimitiveType::Buffer.number()));
            let mut held = Vec::new();
            write_array(&mut held, array, age, depth + 1)?;
            put_message(&mut out, 4, &held);
        }
        Shape::Token | Shape::Opaque => put_int(&mut out, 2, i64::from(shape.element_type().number())),
    }
    Ok(out)
}

fn write_array(out: &mut Vec<u8>, array: &ArrayShape, age: Age, depth: usize) -> Result<()> {
    let element = PrimitiveType::from(array.element_type());
    if age.is_old() && element.number() > LAST_OLD_TYPE {
        return Err(unknown_to_old(&format!("element type {element}"), "element_type"));
    }
    if age.is_old() && !array.is_static() {
        return Err(unknown_to_old("a dynamic dimension", "dimensions"));
    }
    put_int(out, 2, i64::from(element.number()));
    // Condition of the cast: sizes and bounds have 63 bits.
    put_ints(
        out,
        3,
        array.dims().iter().map(|dim| dim.bound().map_or(UNBOUNDED_OR_COMBINE, |size| size as i64)),
    );
    if let Some(layout) = array.layout() {
        put_message(out, 5, &self::layout(layout, age, depth)?);
    }
    if age == Age::Today {
        put_ints(out, 6, array.dims().iter().map(|dim: &Dim| i64::from(dim.is_dynamic())));
    }
    Ok(())
}

pub(super) fn layout(layout: &Layout, age: Age, depth: usize) -> Result<Vec<u8>> {
    if layout.strides().is_some() {
        return Err(Error::new("free strides")
            .field("strides")
            .rule("XLA's messages have no field for strides(..)")
            .accepts("a layout with minor_to_major"));
    }
    let mut out = Vec::new();
    put_ints(&mut out, 1, layout.minor_to_major().iter().map(|&dim| dim as i64));
    match age {
        Age::Today => write_fields_of_today(&mut out, layout, depth)?,
        Age::Old(version) => write_old_fields(&mut out, layout, version)?,
    }
    Ok(out)
}

// Condition of the casts below: the setters of a layout keep every number within 63 bits.
fn write_fields_of_today(out: &mut Vec<u8>, layout: &Layout, depth: usize) -> Result<()> {
    if layout.padding().is_some() {
        return Err(Error::new("padded dimensions")
            .field("padded_dimensions")
            .rule("today's LayoutProto has no field for pad(..)")
            .accepts("the older message, or a layout with tiles"));
    }
    for tile in layout.tiles() {
        put_message(out, 6, &self::tile(tile));
    }
    put_int(out, 7, i64::from(layout.element_size_in_bits()));
    put_int(out, 8, i64::from(layout.memory_space()));
    if let Some(physical) = layout.physical_shape() {
        put_message(out, 10, &shape(physical, Age::Today, depth + 1)?);
    }
    let number = |element| i64::from(PrimitiveType::from(element).number());
    put_int(out, 11, layout.index_primitive_type().map_or(0, number));
    put_int(out, 12, layout.pointer_primitive_type().map_or(0, number));
    put_int(out, 15, layout.dynamic_shape_metadata_prefix_bytes() as i64);
    put_int(out, 16, layout.tail_padding_alignment_in_elements() as i64);
    for config in layout.split_configs() {
        let mut message = Vec::new();
        put_int(&mut message, 1, config.dimension as i64);
        if let Some(index) = config.split_indices.iter().find(|&&index| index > i64::MAX as u64) {
            return Err(
                Error::new(format!("split index {index} is above {}", i64::MAX)).field("split_configs")
            );
        }
        put_ints(&mut message, 2, config.split_indices.iter().map(|&index| index as i64));
        put_message(out, 17, &message);
    }
    Ok(())
}

pub(super) fn tile(tile: &Tile) -> Vec<u8> {
    let mut out = Vec::new();
    put_ints(
        &mut out,
        1,
        tile.dims().iter().map(|dim| match dim {
            TileDim::Size(size) => *size as i64,
            TileDim::Combine => UNBOUNDED_OR_COMBINE,
        }),
    );
    out
}

fn write_old_fields(out: &mut Vec<u8>, layout: &Layout, version: OldProto) -> Result<()> {
    let without_padding = layout.clone().with_padding(None)?;
    if let Ok(order) = Layout::new(layout.minor_to_major().iter().copied())
        && order != without_padding
    {
        return Err(unknown_to_old("more than an order and padding", "layout"));
    }
    if let Some(padding) = layout.padding() {
        put_ints(out, 2, padding.padded_dimensions.iter().map(|&size| size as i64));
        put_int(out, 3, i64::from(padding.value.number()));
    }
    if version == OldProto::V2018 {
        put_int(out, 4, super::read_layout::DENSE_FORMAT);
    }
    Ok(())
}

fn unknown_to_old(found: &str, field: &str) -> Error {
    Error::new(found)
        .field(field)
        .rule("the older message has no field for it")
        .accepts("types up to c128, static sizes, minor_to_major and pad(..)")
}
