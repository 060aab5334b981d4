//! Tenstorrent's tiles among the notations.

use crate::dialect::blocked::large;
use crate::dialect::digits::{self, Cut};
use crate::dialect::named::{self, Before, Named, check_bits, packed_bits};
use crate::dialect::{Confidence, Dialect, Example, Fact, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::layout::Layout;
use crate::words::bytes;

/// Tiles of Tenstorrent's processors.
pub static DIALECT: Dialect = Dialect {
    name: "tenstorrent",
    title: "a layout of Tenstorrent",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "bf16[64,64] tt_tile",
        shows: "tiles of four faces",
        offsets: &[(&[17, 3], 531), (&[3, 17], 256 + 48 + 1), (&[33, 33], 3 * 1024 + 16 + 1)],
        size: 4096,
    },
    Example {
        text: "f32[2,5,40] ttnn.TILE_LAYOUT",
        shows: "each matrix is padded",
        offsets: &[(&[1, 4, 33], 2048 + 1024 + 64 + 1)],
        size: 2 * 2048,
    },
    Example {
        text: "bf16[20,40] tt_tile 4x32",
        shows: "a tile with faces of 4 × 16",
        offsets: &[(&[5, 33], 2 * 128 + 128 + 16 + 1), (&[1, 17], 64 + 16 + 1)],
        size: 5 * 2 * 128,
    },
    Example {
        text: "bf16[32,32] tt_tile transposed",
        shows: "transposed faces and tiles",
        offsets: &[(&[17, 3], 256 + 48 + 1), (&[3, 17], 512 + 16 + 3)],
        size: 1024,
    },
    Example {
        text: "u32[32,40] TILED_SWIZZLED",
        shows: "tiles without faces",
        offsets: &[(&[17, 3], 547)],
        size: 2048,
    },
    Example {
        text: "bf16[100] tt_tile",
        shows: "one dimension",
        offsets: &[(&[99], 3 * 1024 + 3), (&[16], 256)],
        size: 4096,
    },
    Example { text: "f32[3,5] tt_row_major", shows: "no tiles", offsets: &[(&[2, 3], 13)], size: 15 },
];

/// How elements are arranged within a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Faces in rows, rows within faces: `TILED_NFACES`.
    Faces,
    /// Faces in columns, columns within faces.
    Transposed,
    /// Rows: `TILED_SWIZZLED`.
    Rows,
}

/// A layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    RowMajor,
    Tile { height: u64, width: u64, within: Within },
}

/// The heights and widths of tiles.
const HEIGHTS: [u64; 6] = [32, 16, 8, 4, 2, 1];
const WIDTHS: [u64; 2] = [32, 16];

/// Rows and columns of a face, in tiles that are high enough.
const FACE: u64 = 16;

/// Words for a layout, with what they mean.
const WORDS: [(&str, Format); 12] = [
    ("tt_tile", TILE),
    ("TILED_NFACES", TILE),
    ("TILE_LAYOUT", TILE),
    ("ttnn.TILE_LAYOUT", TILE),
    ("Layout.TILE", TILE),
    ("Layout::TILE", TILE),
    ("TILED_SWIZZLED", Format::Tile { height: 32, width: 32, within: Within::Rows }),
    ("tt_row_major", Format::RowMajor),
    ("LIN_ROW_MAJOR", Format::RowMajor),
    ("ROW_MAJOR_LAYOUT", Format::RowMajor),
    ("ttnn.ROW_MAJOR_LAYOUT", Format::RowMajor),
    ("Layout::ROW_MAJOR", Format::RowMajor),
];

const TILE: Format = Format::Tile { height: 32, width: 32, within: Within::Faces };

fn format(word: &str) -> Option<Format> {
    WORDS.iter().find(|(other, _)| *other == word).map(|(_, format)| *format)
}

fn recognise(text: &str) -> Option<Confidence> {
    let first = text.split_whitespace().next()?;
    match format(first) {
        Some(_) => Some(Confidence::Certain),
        None => ["tt_", "ttnn.", "TILED_"]
            .iter()
            .any(|begin| first.starts_with(begin))
            .then_some(Confidence::Likely),
    }
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    named::read(text, known, "bf16[64,64] tt_tile", body).map(named::found)
}

fn body(text: &str, before: Before) -> Result<Named> {
    let mut words =
        text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word));
    let (at, word) = words.next().unwrap_or((0, ""));
    let Some(mut found) = format(word) else {
        let names = WORDS.iter().map(|(name, _)| *name);
        let near = crate::nearest(word, names).map(|near| format!("; did you mean {near}?"));
        return Err(Error::new(format!("{} is no layout of Tenstorrent", quoted(word)))
            .at(at..at + word.len())
            .accepts(format!("tt_tile, tt_row_major, TILED_SWIZZLED{}", near.unwrap_or_default())));
    };
    for (at, word) in words {
        let place = at..at + word.len();
        if matches!(word, "bfloat8_b" | "bfloat4_b" | "bfp8_b" | "bfp4_b") {
            return Err(Error::new(format!("elements of {word}"))
                .of_kind(ErrorKind::Unsupported)
                .at(place)
                .rule("16 numbers share an exponent, which is apart from them, so an element has no place of its own")
                .accepts("elements of bf16 or f32"));
        }
        let Format::Tile { height, width, within } = &mut found else {
            return Err(Error::new(format!("{} behind a layout without tiles", quoted(word)))
                .at(place)
                .accepts("the end of the text"));
        };
        let shape = word
            .split_once('x')
            .and_then(|(rows, columns)| Some((rows.parse().ok()?, columns.parse().ok()?)));
        match (word, shape) {
            ("transposed", _) if *within == Within::Faces => *within = Within::Transposed,
            (_, Some((rows, columns))) if HEIGHTS.contains(&rows) && WIDTHS.contains(&columns) => {
                (*height, *width) = (rows, columns)
            }
            (_, Some(_)) => {
                return Err(Error::new(format!("a tile of {word}"))
                    .at(place)
                    .rule("tiles are 1, 2, 4, 8, 16 or 32 high and 16 or 32 wide")
                    .accepts("32x32, 16x32, or one of these"));
            }
            _ => {
                return Err(Error::new(format!("{} behind tiles", quoted(word)))
                    .at(place)
                    .accepts("a shape such as 16x32, transposed, or the end of the text"));
            }
        }
    }
    if let Format::Tile { height: ..16, within: Within::Transposed, .. } = found {
        return Err(Error::new("a transposed tile of fewer than 16 rows")
            .at(0..text.len())
            .rule("tiles are transposed whole faces at a time")
            .accepts("a tile of 16 or 32 rows"));
    }
    array(found, before)
}

impl Format {
    fn text(self) -> String {
        match self {
            Format::RowMajor => "tt_row_major".to_owned(),
            Format::Tile { height, width, within } => {
                let name = if within == Within::Rows { "TILED_SWIZZLED" } else { "tt_tile" };
                let shape =
                    if (height, width) == (32, 32) { String::new() } else { format!(" {height}x{width}") };
                let transposed = if within == Within::Transposed { " transposed" } else { "" };
                format!("{name}{shape}{transposed}")
            }
        }
    }

    fn meaning(self) -> String {
        let Format::Tile { height, width, within } = self else {
            return "row-major, without tiles".to_owned();
        };
        let tiles = format!("the last two dimensions in tiles of {height} × {width}, row-major");
        let faces = format!("{} × {FACE}", height.min(FACE));
        match within {
            Within::Faces => format!("{tiles}; in a tile faces of {faces}, row-major, and rows within them"),
            Within::Transposed => {
                format!("{tiles}; in a tile faces of {faces}, column-major, and columns within them")
            }
            Within::Rows => format!("{tiles}; in a tile rows, without faces"),
        }
    }

    /// The layout.
    fn lower(self, dims: &[u64], element: Element) -> Result<Layout> {
        let bits = packed_bits(element);
        let Format::Tile { height, width, within } = self else { return Layout::row_major(dims, bits) };
        // What is missing of two dimensions has size 1.
        let (rows, columns) = match *dims {
            [] => (1, 1),
            [columns] => (1, columns),
            [.., rows, columns] => (rows, columns),
        };
        let (face, area) = (height.min(FACE), height * width);
        let (faces_down, faces_across) = (height / face, width / FACE);
        let (down, across) = match within {
            Within::Faces => (
                vec![(face, FACE), (faces_down, face * FACE * faces_across)],
                vec![(FACE, 1), (faces_across, face * FACE)],
            ),
            Within::Transposed => (
                vec![(face, 1), (faces_down, face * FACE)],
                vec![(FACE, face), (faces_across, face * FACE * faces_down)],
            ),
            Within::Rows => (vec![(height, width)], vec![(width, 1)]),
        };
        let tiles = |tiles: u64, of: u64| tiles.div_ceil(of);
        let row = tiles(columns, width).checked_mul(area).ok_or_else(large)?;
        let mut stride = tiles(rows, height).checked_mul(row).ok_or_else(large)?;
        let cut = |digits: &Vec<(u64, u64)>, outer: u64| Cut { digits: digits.clone(), outer };
        let mut cuts: Vec<Cut> = Vec::new();
        for (dim, &size) in dims.iter().enumerate().rev() {
            match dims.len() - dim {
                1 => cuts.push(cut(&across, area)),
                2 => cuts.push(cut(&down, row)),
                _ => {
                    cuts.push(cut(&Vec::new(), stride));
                    stride = stride.checked_mul(size.max(1)).ok_or_else(large)?;
                }
            }
        }
        cuts.reverse();
        digits::layout(dims, bits, &cuts, stride)
    }
}

/// An array in a layout.
fn array(format: Format, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let layout = format.lower(dims, element)?;
    let text = format.text();
    let mut notes = Vec::new();
    let (mut tile, mut face) = (Fact::Null, Fact::Null);
    if let Format::Tile { height, width, .. } = format {
        tile = [height, width].into_iter().collect();
        face = [height.min(FACE), FACE].into_iter().collect();
        if dims.len() < 2 && height > 1 && !layout.is_empty() {
            notes.push(one_row(&layout, height, width));
        }
        if height < FACE {
            notes.push(format!("tt-metal has tiles of {height} rows on the host alone"));
        }
    }
    Ok(Named {
        notation: &DIALECT,
        element,
        parts: vec![Part::new("layout", &text, format.meaning())],
        text,
        layout,
        facts: vec![("tile", tile), ("face", face)],
        notes,
        minor_to_major: None,
    })
}

/// What tiles cost an array of fewer than two dimensions, and what costs less: tt-metal pads the missing dimension, which
/// counts as 1, to the height of a tile (`TensorLayout::compute_padded_shape`).
fn one_row(layout: &Layout, height: u64, width: u64) -> String {
    let count = layout.dims().first().copied().unwrap_or(1);
    let own = bytes(layout.bytes().into());
    let packed = layout.element_bytes();
    let mut note = format!(
        "an array of fewer than two dimensions is one row, [1,{count}], and is padded to the {height} rows of a tile: {own} \
         for {} of elements. Row-major order (ttnn.ROW_MAJOR_LAYOUT) takes {}",
        bytes(packed),
        bytes(packed)
    );
    // A matrix of whole tiles, if there is one; else at least fewer of them.
    let tiles = count.div_ceil(height * width);
    let least = u128::from(tiles * height * width) * u128::from(layout.bits()) / 8;
    if least < u128::from(layout.bytes()) {
        let rows = match count.is_multiple_of(height * width) {
            true => format!("reshaped to [{height},{}] it fills its tiles,", count / height),
            false => "reshaped so that the last two dimensions fill tiles it takes".to_owned(),
        };
        note.push_str(&format!("; {rows} {}", bytes(least)));
    }
    note
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    check_bits(layout, element, "Tenstorrent")?;
    let before = Before { element, dims: layout.dims() };
    let mut formats = vec![Format::RowMajor];
    for within in [Within::Faces, Within::Rows, Within::Transposed] {
        for height in HEIGHTS.into_iter().filter(|&height| within != Within::Transposed || height >= FACE) {
            formats.extend(WIDTHS.map(|width| Format::Tile { height, width, within }));
        }
    }
    named::say(
        layout,
        formats.into_iter().map(|format| array(format, before)),
        "Tenstorrent has row-major order, and tiles of the last two dimensions with faces or rows in them",
        "one of these",
    )
}
