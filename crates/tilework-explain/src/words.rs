//! What the text of a shape means, part by part.

use tilework::xla::{ArrayShape, Dim, Layout as Written, PrimitiveType, Shape, Tile, dimension_letters};
use tilework::{Layout, Part, PartKind};

use crate::size::dimensions;

/// A part of the text, and what it means.
pub type Row = (String, String);

/// The most dimensions that are explained one by one.
const MOST: usize = 8;

/// What a shape is, in one phrase.
pub fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Array(_) => "an array".to_owned(),
        Shape::Buffer(_) => "a buffer that holds an array".to_owned(),
        Shape::Token => "a token: orders side effects, holds no data".to_owned(),
        Shape::Opaque => "an opaque value: data that XLA cannot see into".to_owned(),
        Shape::Tuple(elements) => match elements.len() {
            0 => "a tuple without elements".to_owned(),
            1 => "a tuple of 1 element".to_owned(),
            count => format!("a tuple of {count} elements"),
        },
    }
}

/// The formula of the offset, if it is short enough for people.
pub fn formula(layout: &Layout) -> Option<String> {
    let parts = layout.index_parts().len();
    let text = (parts <= 200).then(|| layout.canon().to_string())?;
    (text.chars().count() <= 2000).then_some(text)
}

/// What XLA's own `ArraySize` says, in bytes. XLA has no free strides and, today, no padded dimensions.
pub fn xla_size(array: &ArrayShape) -> Option<u64> {
    let known =
        array.layout().is_none_or(|written| written.strides().is_none() && written.padding().is_none());
    array.array_size_by_first_tile().ok().filter(|_| known)
}

/// Every part of an array's text.
pub fn rows(array: &ArrayShape, layout: Option<&Layout>) -> Vec<Row> {
    let mut rows = vec![element(array), dims(array.dims())];
    let Some(written) = array.layout() else { return rows };
    match written.strides() {
        None => rows.extend(order(array, written)),
        Some(free) => {
            rows.push((format!("strides({})", list(&free.strides)), steps(&free.strides)));
            if let Some(base) = free.base {
                rows.push((format!("base({base})"), format!("element (0, …, 0) is at {base}")));
            }
            if let Some(size) = free.size {
                rows.push((format!("size({size})"), format!("{size} elements are allocated")));
            }
        }
    }
    if let Some(padding) = written.padding() {
        let sizes: Vec<String> = padding.padded_dimensions.iter().take(MOST).map(u64::to_string).collect();
        let value = match padding.value.name() {
            "invalid" => "nothing is said about what the padding holds".to_owned(),
            "unknown" => "the padding may hold anything".to_owned(),
            "lowest" | "highest" => {
                format!("the padding holds the {} value of {}", padding.value.name(), array.element_type())
            }
            value => format!("the padding holds {value}"),
        };
        rows.push((
            format!("pad({})", list(&padding.padded_dimensions)),
            format!("allocated as {}; {value}", sizes.join(" × ")),
        ));
    }
    let parts = layout.map(Layout::index_parts);
    for (number, tile) in (1..).zip(written.tiles()) {
        rows.push((tile_text(number, tile), tile_words(number, tile, parts.as_deref())));
    }
    rows.extend(qualifiers(written));
    rows
}

fn element(array: &ArrayShape) -> Row {
    let kind = array.element_type();
    let bits = kind.bit_width().unwrap_or(0);
    let what = match kind {
        PrimitiveType::Pred => "true or false".to_owned(),
        PrimitiveType::Bf16 => "16-bit floating point, the upper half of an f32".to_owned(),
        _ => match kind.complex_component() {
            Some(component) => format!("{bits}-bit complex, two {component}"),
            None if kind.is_floating_point() => format!("{bits}-bit floating point"),
            None if kind.is_signed_integral() => format!("{bits}-bit signed integer"),
            None => format!("{bits}-bit unsigned integer"),
        },
    };
    let kept = array.element_size_in_bits();
    let kept = match kept % 8 {
        0 => format!("{} B each", kept / 8),
        _ => format!("{kept} bits each"),
    };
    (kind.name().to_owned(), format!("{what}, {kept}"))
}

/// The dimensions and their sizes.
pub fn dims(dims: &[Dim]) -> Row {
    let sizes: Vec<String> = dims
        .iter()
        .map(|dim| match dim {
            Dim::Static(size) => size.to_string(),
            Dim::Bounded(size) => format!("<={size}"),
            Dim::Unbounded => "?".to_owned(),
        })
        .collect();
    let label = format!("[{}]", sizes.join(","));
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
            let all: Vec<String> = dims
                .iter()
                .take(MOST)
                .enumerate()
                .map(|(number, dim)| format!("{} {}", named(number, dims.len(), number == 0), each(dim)))
                .collect();
            let more =
                if dims.len() > MOST { format!(", … ({} dimensions)", dims.len()) } else { String::new() };
            let is_static = dims.iter().all(|dim| matches!(dim, Dim::Static(_)));
            let comma = if is_static { ", " } else { "; " };
            format!("{}{more}", all.join(comma))
        }
    };
    (label, text)
}

/// `dimension 1 (x)`, or `1 (x)` after the first.
fn named(dim: usize, rank: usize, first: bool) -> String {
    let word = if first { "dimension " } else { "" };
    match dimension_letters(rank).and_then(|letters| letters.get(dim)) {
        Some(letter) => format!("{word}{dim} ({letter})"),
        None => format!("{word}{dim}"),
    }
}

fn order(array: &ArrayShape, written: &Written) -> Option<Row> {
    let order = written.minor_to_major();
    let rank = array.rank();
    let label = format!("{{{}}}", list(order));
    let (minor, rest) = order.split_first()?;
    if rest.is_empty() {
        return Some((label, "the order of one dimension".to_owned()));
    }
    let known = match (written.is_monotonic_with_dim0_major(), written.is_monotonic_with_dim0_minor()) {
        (true, _) => "row-major: ",
        (_, true) => "column-major: ",
        _ => "",
    };
    let mut rest: Vec<String> = rest.iter().map(|&dim| named(dim, rank, false)).collect();
    if rest.len() > MOST {
        rest.splice(MOST - 1..rest.len() - 1, ["…".to_owned()]);
    }
    Some((label, format!("{known}{} is the most minor, then {}", named(*minor, rank, true), rest.join(", "))))
}

fn tile_text(number: u32, tile: &Tile) -> String {
    format!("{}{tile}", if number == 1 { "T" } else { "" })
}

/// What a tile cuts, and into what. Without sizes there are no parts to say it of.
fn tile_words(number: u32, tile: &Tile, parts: Option<&[Part]>) -> String {
    let star = if tile.combines() { "; * combines a dimension with the next more minor one" } else { "" };
    let Some(parts) = parts else {
        return format!("tile {number}: the number of tiles is known at run time only{star}");
    };
    let mut cuts: Vec<String> = Vec::new();
    for part in parts {
        let PartKind::Tiles { of, by, tile } = part.kind else { continue };
        if tile == number {
            let (whole, count) = (parts[of].extent, part.extent);
            let tiles = if count == 1 { "tile" } else { "tiles" };
            let mut cut = format!("{} ({whole}) into {count} {tiles} of {by}", part_words(parts, of));
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
fn part_words(parts: &[Part], of: usize) -> String {
    let dims = dims_under(parts, of);
    let name = if dims.is_empty() { "a missing dimension".to_owned() } else { dimensions(&dims) };
    match parts[of].kind {
        PartKind::Tiles { tile, .. } if tile > 0 => format!("the number of tile {tile} in {name}"),
        PartKind::Within { tile, .. } if tile > 0 => format!("{name} within tile {tile}"),
        _ => name,
    }
}

/// The dimensions that a part is made of.
fn dims_under(parts: &[Part], of: usize) -> Vec<usize> {
    let mut seen = vec![false; parts.len()];
    seen[of] = true;
    let mut dims = Vec::new();
    for id in (0..=of).rev() {
        if !seen[id] {
            continue;
        }
        match parts[id].kind {
            PartKind::Unit => {}
            PartKind::Dim(dim) => dims.push(dim),
            PartKind::Tiles { of, .. } | PartKind::Within { of, .. } | PartKind::Moved { of, .. } => {
                seen[of] = true
            }
            PartKind::Combined { major, minor, .. } => (seen[major], seen[minor]) = (true, true),
        }
    }
    dims.sort_unstable();
    dims
}

/// The other words within the braces.
fn qualifiers(written: &Written) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let tail = written.tail_padding_alignment_in_elements();
    if tail != 1 {
        rows.push((format!("L({tail})"), format!("the end is padded to a multiple of {tail} elements")));
    }
    if let Some(kind) = written.index_primitive_type() {
        rows.push((format!("#({kind})"), "the type of the indices of sparse storage".to_owned()));
    }
    if let Some(kind) = written.pointer_primitive_type() {
        rows.push((format!("*({kind})"), "the type of the pointers of sparse storage".to_owned()));
    }
    let bits = written.element_size_in_bits();
    if bits != 0 {
        rows.push((format!("E({bits})"), format!("each element takes {bits} bits")));
    }
    let space = written.memory_space();
    if space != 0 {
        let known = match space {
            1 => ", the fast one by custom",
            5 => ", the host's by custom",
            _ => "",
        };
        rows.push((format!("S({space})"), format!("in memory space {space}{known}")));
    }
    for config in written.split_configs() {
        let indices = list(&config.split_indices);
        let text =
            format!("physical dimension {} (0 is the most major) is split at {indices}", config.dimension);
        rows.push((format!("SC({}:{indices})", config.dimension), text));
    }
    let prefix = written.dynamic_shape_metadata_prefix_bytes();
    if prefix != 0 {
        rows.push((
            format!("M({prefix})"),
            format!("{prefix} bytes before the data hold the sizes at run time"),
        ));
    }
    rows
}

fn list(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
}

/// `one step moves 5 elements along dimension 0, 0 (broadcast) along 1`
fn steps(strides: &[i64]) -> String {
    let mut steps: Vec<String> = Vec::new();
    for (dim, stride) in strides.iter().enumerate().take(MOST) {
        let elements = if stride.unsigned_abs() == 1 { " element" } else { " elements" };
        let (elements, dimension) = if dim == 0 { (elements, "dimension ") } else { ("", "") };
        let kind = match stride {
            0 => " (broadcast)",
            ..0 => " (backward)",
            _ => "",
        };
        steps.push(format!("{stride}{elements}{kind} along {dimension}{dim}"));
    }
    if strides.len() > MOST {
        steps.push("…".to_owned());
    }
    match steps.is_empty() {
        true => "a scalar has no steps".to_owned(),
        false => format!("one step moves {}", steps.join(", ")),
    }
}
