//! Writing shapes and layouts exactly as XLA writes them, with Tilework's own words behind XLA's.
//!
//! | part | written when |
//! |---|---|
//! | `{..}` after an array | it has a layout; of a scalar, only if the layout is not `{}` |
//! | `T(..)` | there are tiles |
//! | `L(n)` | n is not 1 |
//! | `#(type)`, `*(type)`, `P(shape)` | set |
//! | `E(n)`, `S(n)`, `M(n)` | n is not 0 |
//! | `SC(..)` | there are split configurations |
//! | `pad(..)=word` | the older padding is set; the word is left out for the value `invalid` |
//!
//! A tuple announces every fifth element with a comment: `, /*index=5*/`.

use std::fmt::{self, Display, Formatter, Write};

use crate::xla::value::layout::{Layout, SplitConfig};
use crate::xla::value::padding::PaddingValue;
use crate::xla::value::shape::{ArrayShape, Shape};
use crate::xla::value::tile::{Tile, TileDim};

impl Display for Shape {
    /// XLA's `HumanStringWithLayout`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_shape(f, self, true)
    }
}

impl Display for ArrayShape {
    /// XLA's `HumanStringWithLayout`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_array(f, self, true)
    }
}

impl Shape {
    /// The shape without its layouts: XLA's `HumanString`.
    ///
    /// ```
    /// let shape = tilework::xla::Shape::parse("(f32[3,5]{0,1:T(2,2)}, token[])")?;
    /// assert_eq!(shape.human_string().to_string(), "(f32[3,5], token[])");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn human_string(&self) -> impl Display + '_ {
        HumanString(|f: &mut Formatter<'_>| write_shape(f, self, false))
    }
}

impl ArrayShape {
    /// The shape without its layout: XLA's `HumanString`.
    pub fn human_string(&self) -> impl Display + '_ {
        HumanString(|f: &mut Formatter<'_>| write_array(f, self, false))
    }
}

/// Displays what its function writes.
struct HumanString<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> fmt::Result> Display for HumanString<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

fn write_shape(f: &mut Formatter<'_>, shape: &Shape, layouts: bool) -> fmt::Result {
    match shape {
        Shape::Array(array) => write_array(f, array, layouts),
        Shape::Buffer(array) => {
            f.write_str("b(")?;
            write_array(f, array, layouts)?;
            f.write_char(')')
        }
        Shape::Token => f.write_str("token[]"),
        Shape::Opaque => f.write_str("opaque[]"),
        Shape::Tuple(elements) => {
            f.write_char('(')?;
            for (number, element) in elements.iter().enumerate() {
                match number {
                    0 => {}
                    _ if number % 5 == 0 => write!(f, ", /*index={number}*/")?,
                    _ => f.write_str(", ")?,
                }
                write_shape(f, element, layouts)?;
            }
            f.write_char(')')
        }
    }
}

fn write_array(f: &mut Formatter<'_>, array: &ArrayShape, layouts: bool) -> fmt::Result {
    f.write_str(array.element_type().name())?;
    f.write_char('[')?;
    write_list(f, array.dims())?;
    f.write_char(']')?;
    match array.layout() {
        Some(layout) if layouts && !(array.rank() == 0 && layout.is_plain()) => layout.fmt(f),
        _ => Ok(()),
    }
}

fn write_list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            f.write_char(',')?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl Display for TileDim {
    /// The size, or `*`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TileDim::Size(size) => write!(f, "{size}"),
            TileDim::Combine => f.write_char('*'),
        }
    }
}

impl Display for Tile {
    /// XLA's `Tile::ToString`: `(8,128)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        write_list(f, self.dims())?;
        f.write_char(')')
    }
}

impl Display for SplitConfig {
    /// `(dimension:indices)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}:", self.dimension)?;
        write_list(f, &self.split_indices)?;
        f.write_char(')')
    }
}

impl Display for Layout {
    /// XLA's `Layout::ToString`, and Tilework's own words where XLA has none.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        match self.strides() {
            None => write_list(f, self.minor_to_major())?,
            Some(free) => {
                f.write_str("strides(")?;
                write_list(f, &free.strides)?;
                f.write_char(')')?;
                for (word, value) in [("base", free.base), ("size", free.size)] {
                    if let Some(value) = value {
                        write!(f, ",{word}({value})")?;
                    }
                }
            }
        }
        write_qualifiers(&mut Qualifiers { f, any: false }, self)?;
        f.write_char('}')
    }
}

/// Writes the colon in front of the first qualifier.
struct Qualifiers<'a, 'f> {
    f: &'a mut Formatter<'f>,
    any: bool,
}

impl Qualifiers<'_, '_> {
    fn write(&mut self, qualifier: fmt::Arguments<'_>) -> fmt::Result {
        if !std::mem::replace(&mut self.any, true) {
            self.f.write_char(':')?;
        }
        self.f.write_fmt(qualifier)
    }
}

/// The order is XLA's and fixed; the reader refuses any other.
fn write_qualifiers(out: &mut Qualifiers<'_, '_>, layout: &Layout) -> fmt::Result {
    for (number, tile) in layout.tiles().iter().enumerate() {
        out.write(format_args!("{}{tile}", if number == 0 { "T" } else { "" }))?;
    }
    if layout.tail_padding_alignment_in_elements() != 1 {
        out.write(format_args!("L({})", layout.tail_padding_alignment_in_elements()))?;
    }
    for (mark, kind) in [('#', layout.index_primitive_type()), ('*', layout.pointer_primitive_type())] {
        if let Some(kind) = kind {
            out.write(format_args!("{mark}({kind})"))?;
        }
    }
    if layout.element_size_in_bits() != 0 {
        out.write(format_args!("E({})", layout.element_size_in_bits()))?;
    }
    if layout.memory_space() != 0 {
        out.write(format_args!("S({})", layout.memory_space()))?;
    }
    for (number, config) in layout.split_configs().iter().enumerate() {
        out.write(format_args!("{}{config}", if number == 0 { "SC" } else { "" }))?;
    }
    if let Some(shape) = layout.physical_shape() {
        out.write(format_args!("P({shape})"))?;
    }
    if layout.dynamic_shape_metadata_prefix_bytes() != 0 {
        out.write(format_args!("M({})", layout.dynamic_shape_metadata_prefix_bytes()))?;
    }
    if let Some(padding) = layout.padding() {
        out.write(format_args!("pad("))?;
        write_list(out.f, &padding.padded_dimensions)?;
        out.f.write_char(')')?;
        if padding.value != PaddingValue::Invalid {
            write!(out.f, "={}", padding.value.name())?;
        }
    }
    Ok(())
}
