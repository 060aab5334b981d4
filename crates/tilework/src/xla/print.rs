//! Shapes and layouts as XLA prints them, character for character, and Tilework's own words after XLA's.

use std::fmt::{self, Display, Formatter};

use super::layout::{Layout, Padding, PaddingValue, SplitConfig, Strides, Tile, TileDim};
use super::shape::{ArrayShape, Dim, Shape};

/// XLA's `HumanStringWithLayout`.
impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_shape(f, self, true)
    }
}

/// XLA's `HumanStringWithLayout`.
impl Display for ArrayShape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_array(f, self, true)
    }
}

impl Shape {
    /// XLA's `HumanString`: the shape without layouts.
    ///
    /// ```
    /// use tilework::xla::Shape;
    /// let shape = Shape::parse("(f32[2,3]{0,1}, token[])")?;
    /// assert_eq!(shape.human_string().to_string(), "(f32[2,3], token[])");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn human_string(&self) -> impl Display + '_ {
        fmt::from_fn(|f| write_shape(f, self, false))
    }
}

impl ArrayShape {
    /// XLA's `HumanString`: the shape without its layout.
    pub fn human_string(&self) -> impl Display + '_ {
        fmt::from_fn(|f| write_array(f, self, false))
    }
}

/// A tuple may be nested deeper than the stack allows when it was built by hand, so the open tuples are a list.
fn write_shape(f: &mut Formatter<'_>, shape: &Shape, layouts: bool) -> fmt::Result {
    let mut open: Vec<(usize, std::slice::Iter<'_, Shape>)> = Vec::new();
    let mut next = Some(shape);
    loop {
        match next {
            Some(Shape::Tuple(elements)) => {
                f.write_str("(")?;
                open.push((0, elements.iter()));
            }
            Some(Shape::Array(array)) => write_array(f, array, layouts)?,
            Some(Shape::Buffer(array)) => {
                f.write_str("b(")?;
                write_array(f, array, layouts)?;
                f.write_str(")")?;
            }
            Some(Shape::Token) => f.write_str("token[]")?,
            Some(Shape::Opaque) => f.write_str("opaque[]")?,
            None => {
                f.write_str(")")?;
                open.pop();
            }
        }
        let Some((count, elements)) = open.last_mut() else { return Ok(()) };
        next = elements.next();
        if next.is_some() {
            match *count {
                0 => {}
                count if count % 5 == 0 => write!(f, ", /*index={count}*/")?,
                _ => f.write_str(", ")?,
            }
            *count += 1;
        }
    }
}

fn write_array(f: &mut Formatter<'_>, array: &ArrayShape, layouts: bool) -> fmt::Result {
    write!(f, "{}[", array.element_type())?;
    write_list(f, array.dims())?;
    f.write_str("]")?;
    match array.layout() {
        // The layout of a scalar says something only if it says more than the order of no dimensions.
        Some(layout) if layouts && (array.rank() > 0 || !layout.is_plain()) => write!(f, "{layout}"),
        _ => Ok(()),
    }
}

fn write_list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (place, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if place > 0 { "," } else { "" })?;
    }
    Ok(())
}

impl Display for Dim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Static(size) => write!(f, "{size}"),
            Dim::Bounded(bound) => write!(f, "<={bound}"),
            Dim::Unbounded => f.write_str("?"),
        }
    }
}

impl Display for TileDim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TileDim::Size(size) => write!(f, "{size}"),
            TileDim::Combine => f.write_str("*"),
        }
    }
}

/// `(8,128)`
impl Display for Tile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, self.dims())?;
        f.write_str(")")
    }
}

/// `(0:10,20)`
impl Display for SplitConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}:", self.dimension)?;
        write_list(f, &self.split_indices)?;
        f.write_str(")")
    }
}

/// `pad(3,5)=zero`
impl Display for Padding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("pad(")?;
        write_list(f, &self.padded_dimensions)?;
        f.write_str(")")?;
        match self.value {
            PaddingValue::Invalid => Ok(()),
            value => write!(f, "={}", value.name()),
        }
    }
}

/// `strides(5,1),base(2),size(16)`
impl Display for Strides {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("strides(")?;
        write_list(f, &self.strides)?;
        f.write_str(")")?;
        if let Some(base) = self.base {
            write!(f, ",base({base})")?;
        }
        if let Some(size) = self.size {
            write!(f, ",size({size})")?;
        }
        Ok(())
    }
}

/// XLA's `Layout::ToString`, then Tilework's own words.
impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        match self.strides() {
            Some(strides) => write!(f, "{strides}")?,
            None => write_list(f, self.minor_to_major())?,
        }
        let says_more = match self.strides() {
            None => !self.is_plain(),
            Some(_) => self.has_qualifiers(),
        };
        if says_more {
            f.write_str(":")?;
            write_qualifiers(f, self)?;
        }
        f.write_str("}")
    }
}

fn write_qualifiers(f: &mut Formatter<'_>, layout: &Layout) -> fmt::Result {
    if !layout.tiles().is_empty() {
        f.write_str("T")?;
        layout.tiles().iter().try_for_each(|tile| write!(f, "{tile}"))?;
    }
    if layout.tail_padding_alignment_in_elements() != 1 {
        write!(f, "L({})", layout.tail_padding_alignment_in_elements())?;
    }
    if let Some(index) = layout.index_primitive_type() {
        write!(f, "#({index})")?;
    }
    if let Some(pointer) = layout.pointer_primitive_type() {
        write!(f, "*({pointer})")?;
    }
    if layout.element_size_in_bits() != 0 {
        write!(f, "E({})", layout.element_size_in_bits())?;
    }
    if layout.memory_space() != 0 {
        write!(f, "S({})", layout.memory_space())?;
    }
    if !layout.split_configs().is_empty() {
        f.write_str("SC")?;
        layout.split_configs().iter().try_for_each(|config| write!(f, "{config}"))?;
    }
    if let Some(shape) = layout.physical_shape() {
        write!(f, "P({shape})")?;
    }
    if layout.dynamic_shape_metadata_prefix_bytes() > 0 {
        write!(f, "M({})", layout.dynamic_shape_metadata_prefix_bytes())?;
    }
    match layout.padding() {
        Some(padding) => write!(f, "{padding}"),
        None => Ok(()),
    }
}
