//! The layouts inside a shape: whether they are there, clearing them, setting and copying them.

use crate::error::{Error, Result};
use crate::xla::value::layout::Layout;
use crate::xla::value::shape::{ArrayShape, Shape};

impl Shape {
    /// XLA's `LayoutUtil::HasLayout`: every array in the shape has a layout. Tokens and opaque values need none.
    pub fn has_layout(&self) -> bool {
        self.arrays().all(|array| array.layout().is_some())
    }

    /// XLA's `LayoutUtil::HasAnyLayout`: some shape that is not a tuple has a layout, or needs none.
    pub fn has_any_layout(&self) -> bool {
        self.leaves().any(|leaf| leaf.as_array().is_none_or(|array| array.layout().is_some()))
    }

    /// XLA's `LayoutUtil::HasCustomElementSizeInBits`: some layout in the shape has an `E(bits)`.
    pub fn has_custom_element_size_in_bits(&self) -> bool {
        self.arrays().any(|array| array.layout().is_some_and(|layout| layout.element_size_in_bits() != 0))
    }

    /// XLA's `LayoutUtil::MemorySpace`: `S` of the layout of an array, and 0 of anything else.
    pub fn memory_space(&self) -> u8 {
        self.as_array().and_then(ArrayShape::layout).map_or(0, Layout::memory_space)
    }

    /// XLA's `LayoutUtil::ClearLayout`: no array in the shape has a layout.
    #[must_use]
    pub fn without_layout(mut self) -> Shape {
        for array in self.arrays_mut() {
            array.change_layout(|_| None);
        }
        self
    }

    /// XLA's `LayoutUtil::ClearTiles`: no layout in the shape has tiles.
    #[must_use]
    pub fn without_tiles(mut self) -> Shape {
        for array in self.arrays_mut() {
            array.change_layout(|layout| layout.map(Layout::without_tiles));
        }
        self
    }

    /// XLA's `LayoutUtil::SetToDefaultLayout`: every array in the shape is row-major.
    #[must_use]
    pub fn with_default_layout(mut self) -> Shape {
        for array in self.arrays_mut() {
            let row_major = Layout::descending(array.rank());
            array.change_layout(|_| Some(row_major));
        }
        self
    }

    /// XLA's `LayoutUtil::CopyLayoutBetweenShapes`: gives every array the layout of its counterpart in `source`.
    ///
    /// An array whose counterpart has no layout loses its own. Sizes may differ, ranks may not. On an error nothing is
    /// changed.
    ///
    /// # Errors
    /// Tuples, arrays or the others at different places, tuples of different length, arrays of different rank, a
    /// layout that does not fit the sizes.
    pub fn copy_layout_from(&mut self, source: &Shape) -> Result<()> {
        let mut changes = Vec::new();
        let mut open = vec![(source, self)];
        while let Some((source, shape)) = open.pop() {
            match (source, shape) {
                (Shape::Tuple(sources), Shape::Tuple(shapes)) => {
                    let (from, to) = (sources.len(), shapes.len());
                    if from != to {
                        return Err(cannot_copy(format!("tuples of {from} and {to} elements")));
                    }
                    open.extend(sources.iter().zip(shapes));
                }
                (Shape::Array(from) | Shape::Buffer(from), Shape::Array(to) | Shape::Buffer(to)) => {
                    let changed = match from.layout() {
                        Some(layout) => to.clone().with_layout(layout.clone())?,
                        None => to.clone().without_layout(),
                    };
                    changes.push((to, changed));
                }
                (Shape::Token | Shape::Opaque, Shape::Token | Shape::Opaque) => {}
                (source, shape) => {
                    let (from, to) = (source.element_type(), shape.element_type());
                    return Err(cannot_copy(format!("shapes of type {from} and {to}")));
                }
            }
        }
        for (array, changed) in changes {
            *array = changed;
        }
        Ok(())
    }

    fn arrays(&self) -> impl Iterator<Item = &ArrayShape> {
        self.all_shapes().filter_map(Shape::as_array)
    }
}

fn cannot_copy(found: String) -> Error {
    Error::new(found).field("shape").rule("layouts are copied between shapes of the same structure and ranks")
}
