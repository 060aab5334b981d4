//! Sizes and waste, in words.

use tilework::{Growth, Layout, Level};

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

/// Bytes as people read them: exact, with the unit that suits.
pub fn bytes(bytes: u128) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 10 << 10 {
        return format!("{bytes} B");
    }
    let mut scale = 0;
    while scale + 1 < UNITS.len() && bytes >> (10 * (scale + 2)) > 0 {
        scale += 1;
    }
    let unit = 1_u128 << (10 * (scale + 1));
    match bytes % unit {
        0 => format!("{} {}", bytes / unit, UNITS[scale]),
        _ => format!("{:.2} {} ({bytes} B)", bytes as f64 / unit as f64, UNITS[scale]),
    }
}

/// How many times larger: `1.60`, or `32` where it is whole.
pub fn times(from: u128, to: u128) -> String {
    match (from, to) {
        (0, _) => "0".to_owned(),
        (from, to) if to % from == 0 => (to / from).to_string(),
        (from, to) => format!("{:.2}", to as f64 / from as f64),
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

/// `dimension 1`, or `dimensions 0 and 1 combined`.
pub fn dimensions(dims: &[usize]) -> String {
    match dims {
        [] => "no dimension".to_owned(),
        [dim] => format!("dimension {dim}"),
        [first @ .., last] => {
            let shown: Vec<String> = first.iter().take(8).map(usize::to_string).collect();
            let more = if first.len() > 8 { ", …" } else { "" };
            format!("dimensions {}{more} and {last} combined", shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_exact_in_every_unit() {
        assert_eq!(bytes(96), "96 B");
        assert_eq!(bytes(10 << 10), "10 KiB");
        assert_eq!(bytes(32 << 30), "32 GiB");
        assert_eq!(bytes(1_500_000), "1.43 MiB (1500000 B)");
        assert_eq!(bytes(u128::from(u64::MAX) * 4096), "65536.00 EiB (75557863725914323415040 B)");
    }

    #[test]
    fn factors_are_whole_where_they_are() {
        assert_eq!((times(4, 128), times(15, 24), times(0, 3)), ("32".into(), "1.60".into(), "0".into()));
    }
}
