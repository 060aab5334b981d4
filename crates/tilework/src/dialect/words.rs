//! Words that every notation uses for the same thing: element types, sizes, orders and strides.

use crate::Element;
use crate::dialect::{Dim, Part};
use crate::layout::parts::{Part as Piece, PartKind, dims_under};
use tilework_core::letter;

/// The most of anything that is named one by one.
pub(crate) const MOST: usize = 8;

/// What elements of a type are, each taking `kept` bits in memory: `32-bit floating point, 4 B each`.
pub(crate) fn element(element: Element, kept: u32) -> String {
    let bits = element.bits();
    let what = match element {
        Element::Pred => "true or false".to_owned(),
        Element::Bf16 => "16-bit floating point, the upper half of an f32".to_owned(),
        _ => match element.complex_component() {
            Some(component) => format!("{bits}-bit complex, two {component}"),
            None if element.is_float() => format!("{bits}-bit floating point"),
            None if element.is_signed_integer() => format!("{bits}-bit signed integer"),
            None => format!("{bits}-bit unsigned integer"),
        },
    };
    match kept % 8 {
        0 => format!("{what}, {} B each", kept / 8),
        _ => format!("{what}, {kept} bits each"),
    }
}

/// The letter of a dimension in formulas and pictures, where it says more than the number of the dimension does.
pub(crate) fn letter_of(dim: usize, rank: usize) -> Option<String> {
    (matches!(rank, 2..=6) && dim < rank).then(|| letter(rank, dim))
}

/// The sizes as they are written, and what each is.
pub(crate) fn dims(dims: &[Dim]) -> Part {
    let label = format!("[{}]", list(dims));
    let each = |dim: &Dim| match dim {
        Dim::Static(size) => format!("is {size}"),
        Dim::Bounded(size) => format!("is at most {size}, known at run time"),
        Dim::Unbounded => "is known at run time only".to_owned(),
    };
    let text = match dims {
        [] => "a scalar: no dimensions, one element".to_owned(),
        [Dim::Static(size)] => format!("one dimension of {size}"),
        [dim] => format!("one dimension; it {}", each(dim)),
        dims => {
            let all = dims.iter().take(MOST).enumerate();
            let all: Vec<String> = all
                .map(|(number, dim)| format!("{} {}", named(number, dims.len(), number == 0), each(dim)))
                .collect();
            let more =
                if dims.len() > MOST { format!(", … ({} dimensions)", dims.len()) } else { String::new() };
            let comma = if dims.iter().any(|dim| dim.is_dynamic()) { "; " } else { ", " };
            format!("{}{more}", all.join(comma))
        }
    };
    Part::new("dimensions", label, text)
}

/// `dimension 1 (j)`, or `1 (j)` after the first.
pub(crate) fn named(dim: usize, rank: usize, first: bool) -> String {
    let word = if first { "dimension " } else { "" };
    match letter_of(dim, rank) {
        Some(letter) => format!("{word}{dim} ({letter})"),
        None => format!("{word}{dim}"),
    }
}

/// What an order of the dimensions says; the most minor comes first. None for a scalar.
pub(crate) fn order(minor_to_major: &[usize]) -> Option<String> {
    let rank = minor_to_major.len();
    let (minor, rest) = minor_to_major.split_first()?;
    if rest.is_empty() {
        return Some("the order of one dimension".to_owned());
    }
    let known = match minor_to_major.is_sorted() {
        true => "column-major: ",
        false if minor_to_major.iter().rev().is_sorted() => "row-major: ",
        false => "",
    };
    let mut rest: Vec<String> = rest.iter().map(|&dim| named(dim, rank, false)).collect();
    if rest.len() > MOST {
        rest.splice(MOST - 1..rest.len() - 1, ["…".to_owned()]);
    }
    Some(format!("{known}{} is the most minor, then {}", named(*minor, rank, true), rest.join(", ")))
}

/// What strides in elements say: `one step moves 5 elements along dimension 0, 0 (broadcast) along 1`
pub(crate) fn steps(strides: &[i64]) -> String {
    steps_in(strides, "element")
}

/// What strides in some unit say.
pub(crate) fn steps_in(strides: &[i64], unit: &str) -> String {
    let mut steps: Vec<String> = Vec::new();
    for (dim, stride) in strides.iter().enumerate().take(MOST) {
        let plural = if stride.unsigned_abs() == 1 { "" } else { "s" };
        let (units, dimension) =
            if dim == 0 { (format!(" {unit}{plural}"), "dimension ") } else { (String::new(), "") };
        let kind = match stride {
            0 => " (broadcast)",
            ..0 => " (backward)",
            _ => "",
        };
        steps.push(format!("{stride}{units}{kind} along {dimension}{dim}"));
    }
    if strides.len() > MOST {
        steps.push("…".to_owned());
    }
    match steps.is_empty() {
        true => "a scalar has no steps".to_owned(),
        false => format!("one step moves {}", steps.join(", ")),
    }
}

/// What the tile of this number cuts, and into what. `star` is what combines dimensions in it.
pub(crate) fn tile(number: u32, star: Option<&str>, pieces: Option<&[Piece]>) -> String {
    let star = star.map(|star| format!("; {star} combines a dimension with the next more minor one"));
    let star = star.unwrap_or_default();
    let Some(pieces) = pieces else {
        return format!("tile {number}: the number of tiles is known at run time only{star}");
    };
    let mut cuts: Vec<String> = Vec::new();
    for piece in pieces {
        let PartKind::Tiles { of, by, tile } = piece.kind else { continue };
        if tile == number {
            let (whole, count) = (pieces[of].extent, piece.extent);
            let tiles = if count == 1 { "tile" } else { "tiles" };
            let mut cut = format!("{} ({whole}) into {count} {tiles} of {by}", piece_words(pieces, of));
            if !whole.is_multiple_of(by) {
                cut.push_str(&format!(", padded to {}", u128::from(count) * u128::from(by)));
            }
            cuts.push(cut);
        }
    }
    if cuts.is_empty() {
        return format!("tile {number} cuts nothing{star}");
    }
    if cuts.len() > MOST {
        cuts.truncate(MOST);
        cuts.push("…".to_owned());
    }
    format!("tile {number} cuts {}{star}", cuts.join("; "))
}

/// A part of the index in words.
fn piece_words(pieces: &[Piece], of: usize) -> String {
    let dims = dims_under(pieces, of);
    let name = if dims.is_empty() { "a missing dimension".to_owned() } else { combined(&dims) };
    match pieces[of].kind {
        PartKind::Tiles { tile, .. } if tile > 0 => format!("the number of tile {tile} in {name}"),
        PartKind::Within { tile, .. } if tile > 0 => format!("{name} within tile {tile}"),
        _ => name,
    }
}

/// `dimension 1`, or `dimensions 0 and 1 combined`.
pub(crate) fn combined(dims: &[usize]) -> String {
    match dims {
        [] => "no dimension".to_owned(),
        [dim] => format!("dimension {dim}"),
        [first @ .., last] => {
            let shown = self::first(first, MOST);
            format!("dimensions {shown} and {last} combined")
        }
    }
}

/// `0, 1, 2, …`
pub(crate) fn first(items: &[impl ToString], most: usize) -> String {
    let shown: Vec<String> = items.iter().take(most).map(ToString::to_string).collect();
    format!("{}{}", shown.join(", "), if items.len() > most { ", …" } else { "" })
}

/// `0,1,2`
pub(crate) fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
}
