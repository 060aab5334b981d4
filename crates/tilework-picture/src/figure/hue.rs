//! What colour an element has, so that it is found again.

use tilework_core::Layout;

use super::Options;
use super::paint::{Colour, TILES};
use crate::grid::shown_dims;
use crate::tiles::{Tiles, tile_levels};

/// The colour of an element, by its offset and its index.
pub(crate) type Hue<'a> = dyn Fn(Option<u64>, &[u64]) -> Colour + 'a;

/// Elements of one tile have one colour. Where there are no tiles, what a swizzle keeps together has one, so that one sees
/// where it went; and else a row of the picture.
pub(crate) fn of(layout: &Layout, options: &Options) -> Box<Hue<'static>> {
    if tile_levels(layout) > 0 {
        let tiles = Tiles::new(layout);
        return Box::new(move |_, index| {
            tiles.kind(&tiles.of(index), TILES).map_or(Colour::Plain, Colour::Tile)
        });
    }
    if let Some(swizzle) = layout.swizzle().cloned() {
        return Box::new(move |offset, _| {
            let before = offset.map_or(0, |offset| swizzle.invert(offset));
            Colour::Step((before / swizzle.run() % 8) as u8)
        });
    }
    let (row_dim, _) = shown_dims(layout, &options.slice);
    Box::new(move |_, index| {
        row_dim.and_then(|dim| index.get(dim)).map_or(Colour::Plain, |&row| Colour::Tile(row))
    })
}
