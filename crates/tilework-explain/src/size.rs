//! Sizes and waste, in words.

use tilework::{Growth, Layout, Level};

pub use tilework::words::{bytes, dimensions, times};

/// Bytes with the unit that suits, on the same line: not exact.
pub(crate) fn short(bytes: u128) -> String {
    tilework::words::short_bytes(bytes).replace(' ', "\u{a0}")
}

/// What a layout costs.
pub struct Sizes {
    /// Places without an element; none if not decided.
    pub padding: Option<u64>,
    /// The bytes of the padding, rounded up.
    pub waste_bytes: Option<u128>,
    /// Whether there are as many places as elements, each with its own; none if not decided.
    pub packed: Option<bool>,
    /// The causes of padding.
    pub growths: Vec<Growth>,
}

impl Sizes {
    /// Asks the layout.
    pub fn new(layout: &Layout) -> Sizes {
        let padding = layout.padding();
        let bytes = |padding: u64| (u128::from(padding) * u128::from(layout.bits())).div_ceil(8);
        Sizes {
            padding,
            waste_bytes: padding.map(bytes),
            packed: layout.is_packed(),
            growths: layout.growths(),
        }
    }
}

/// A cause of padding in words: "dimension 2 is 4, tiled to 128: 32 times".
pub fn cause(growth: &Growth) -> String {
    let (from, to) = (growth.from, growth.to);
    let times = times(from.into(), to.into());
    let dims = dimensions(&growth.cause.dims);
    let is = if growth.cause.dims.len() == 1 { "is" } else { "are" };
    match growth.cause.level {
        Level::Tile(_) if growth.cause.dims.is_empty() => {
            format!("a missing dimension is 1, tiled to {to}: {times} times")
        }
        Level::Tile(1) => format!("{dims} {is} {from}, tiled to {to}: {times} times"),
        Level::Tile(tile) => format!("{dims}: tile {tile} cuts {from} and makes it {to}: {times} times"),
        Level::PaddedDimensions => format!("{dims} {is} {from}, padded to {to}: {times} times"),
        Level::Stride if growth.cause.dims.is_empty() => {
            let before = to - from;
            format!("{before} {} before the first element", if before == 1 { "place" } else { "places" })
        }
        Level::Stride => {
            let places = if from == 1 { "place" } else { "places" };
            format!("{dims} fills {from} {places} of a stride of {to}: {times} times")
        }
        Level::Tail => format!("the end: {from} places, padded to {to}: {times} times"),
        Level::View => format!("{dims}: a view of {from} of {to}"),
        level => format!("{dims}: {from} made {to} by {level}: {times} times"),
    }
}
