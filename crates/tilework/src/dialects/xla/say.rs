//! A layout in XLA's words: an order of the dimensions, tiles, or free strides.

use std::sync::Arc;

use crate::ask::tiles::Tiled;
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::layout::strided::Strided;
use crate::xla::value::layout::Layout as Written;
use crate::xla::value::padding::Strides;
use crate::xla::value::shape::{ArrayShape, Shape};
use crate::xla::value::tile::{Tile, TileDim};

/// The layout as a shape, for the list of notations.
pub(crate) fn say(layout: &Layout, element: Element) -> Result<Said> {
    ArrayShape::saying(layout, element).map(|array| Arc::new(Shape::Array(array)) as Said)
}

impl ArrayShape {
    /// The shape whose text says this layout: in XLA's words if it can be said so, and else with free strides.
    ///
    /// ```
    /// use tilework::{Element, xla::{ArrayShape, Shape}};
    /// let text = "bf16[64,300]{1,0:T(8,128)(2,1)}";
    /// let layout = Shape::parse(text)?.as_array().unwrap().lower()?;
    /// assert_eq!(ArrayShape::saying(&layout, Element::Bf16)?.to_string(), text);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A layout that neither an order with tiles nor strides can say.
    pub fn saying(layout: &Layout, element: Element) -> Result<ArrayShape> {
        let said = by_order(layout, element).or_else(|| by_strides(layout, element));
        said.ok_or_else(|| {
            let why = layout.to_strides().err();
            let why = why.map_or_else(String::new, |error| format!(": {}", error.found()));
            Error::new(format!("an XLA shape cannot say this layout{why}"))
                .field("layout")
                .rule("a shape has an order of its dimensions with tiles, or one stride for each dimension")
        })
    }

    /// Whether this lowers to the same function with the same sizes.
    fn says(&self, layout: &Layout) -> bool {
        self.lower().is_ok_and(|said| {
            (said.bits(), said.size()) == (layout.bits(), layout.size())
                && said.same_function(layout).is_yes()
        })
    }
}

/// The shape with this layout, if it says what it should. Elements of another width than the type's have a word for it.
fn checked(layout: &Layout, element: Element, written: Written) -> Option<ArrayShape> {
    let bare = ArrayShape::new(element, layout.dims().iter().copied()).ok()?;
    let plain = bare.clone().with_layout(written.clone()).ok();
    plain.filter(|array| array.says(layout)).or_else(|| {
        let narrow = bare.with_layout(written.with_element_size_in_bits(layout.bits())).ok();
        narrow.filter(|array| array.says(layout))
    })
}

/// An order, with tiles if need be.
fn by_order(layout: &Layout, element: Element) -> Option<ArrayShape> {
    let Tiled { minor_to_major, tiles, align } = layout.to_tiled()?;
    let size = |size: Option<u64>| size.map_or(TileDim::Combine, TileDim::Size);
    let tiles = tiles.into_iter().map(|tile| Tile::from_dims(tile.into_iter().map(size).collect::<Vec<_>>()));
    let written =
        Written::new(minor_to_major).ok()?.with_tiles(tiles.collect::<Result<Vec<_>>>().ok()?).ok()?;
    checked(layout, element, written.with_tail_padding_alignment_in_elements(align).ok()?)
}

/// Free strides, with a base and a size where they are not the least.
fn by_strides(layout: &Layout, element: Element) -> Option<ArrayShape> {
    let Strided { first, strides, .. } = layout.to_strides().ok()?;
    let free = |base, size| Written::strided(Strides { strides: strides.clone(), base, size });
    let (base, size) = (Some(first), Some(layout.size()));
    let candidates = [free(None, None), free(base, None), free(None, size), free(base, size)];
    candidates.into_iter().flatten().find_map(|written| checked(layout, element, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_found_again() -> Result<()> {
        for text in [
            "f32[3,5]{1,0:T(2,2)}",
            "f32[3,5]{0,1:T(2,2)}",
            "bf16[4,8]{1,0:T(2,4)(2,1)}",
            "bf16[64,300]{1,0:T(8,128)(2,1)}",
            "f32[3,100]{1,0:T(8,128)}",
            "f32[2,3,100]{2,0,1:T(8,128)}",
            "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
            "s8[5000]{0:T(1024)(128)(4,1)}",
            "f32[100]{0:T(8,128)}",
            "f32[1,1,300]{2,1,0:T(8,128)}",
            "f32[4,3,5,700]{0,2,1,3:T(8,128)}",
            "f32[8,8]{1,0:T(2,4)(2,1,1,1)}",
            "f32[7]{0:L(16)}",
            "pred[]",
            "f32[3,5]{strides(7,-1),base(4)}",
        ] {
            let shape = Shape::parse(text)?;
            let array = shape.as_array().ok_or_else(|| Error::new("no array"))?;
            let said = ArrayShape::saying(&array.lower()?, array.element_type())?;
            assert_eq!(said.lower()?, array.lower()?, "{text} became {said}");
            assert!(said.to_string() == text || text.contains("base"), "{text} became {said}");
        }
        Ok(())
    }
}
