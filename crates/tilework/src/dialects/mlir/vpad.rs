//! Mosaic's layouts of vectors: `#tpu.vpad<"32,{0,0},(8,128)">`.
//!
//! They say which registers, sublanes and lanes hold a vector. A register is no memory, so there is no layout; the text is
//! explained.

use std::fmt;

use super::lex::Reader;
use crate::dialect::{Described, Dialect, Fact, Facts, Part};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// A layout of vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VectorLayout {
    /// Bits of an element.
    bits: u64,
    /// Where the first element is within the first tile: its sublane and its lane; none where it is in all of them.
    offsets: [Option<u64>; 2],
    tile: [u64; 2],
    /// The dimensions of the tile that the vector has not: `-1`, `-2`, or both.
    implicit: &'static str,
}

/// Whether a text is a layout of vectors.
pub(super) fn is_vpad(text: &str) -> bool {
    text.strip_prefix("#tpu.vpad").is_some_and(|rest| rest.trim_start().starts_with('<'))
}

/// Reads a layout of vectors.
pub(super) fn read(text: &str) -> Result<VectorLayout> {
    let mut reader = Reader::new(text);
    reader.eat("#");
    reader.word();
    reader.expect("<", "`<` and a string")?;
    reader.expect("\"", "a string such as \"32,{0,0},(8,128)\"")?;
    if reader.peek_word() == "none" {
        return Err(Error::new("no layout")
            .of_kind(ErrorKind::Unsupported)
            .at(reader.token())
            .rule("what has no layout is in no vector register")
            .accepts("a layout such as \"32,{0,0},(8,128)\""));
    }
    let at = reader.token();
    let bits = reader.number("the bits of an element")?;
    if !matches!(bits, 1 | 2 | 4 | 8 | 16 | 32) {
        return Err(Error::new(format!("{bits} bits")).at(at).accepts("1, 2, 4, 8, 16 or 32"));
    }
    reader.expect(",", "`,` and the offsets")?;
    reader.expect("{", "`{` and the offsets, as in {0,0}")?;
    let first = offset(&mut reader)?;
    reader.expect(",", "`,` and the offset of lanes")?;
    let offsets = [first, offset(&mut reader)?];
    reader.expect("}", "`}`")?;
    reader.expect(",", "`,` and the tile")?;
    reader.expect("(", "`(` and the tile, as in (8,128)")?;
    let mut size = || {
        let at = reader.token();
        match reader.number("a size of the tile")? {
            0 => Err(Error::new("a tile of size 0").at(at).accepts("1 or more")),
            size => Ok(size),
        }
    };
    let rows = size()?;
    reader.expect(",", "`,` and the lanes of the tile")?;
    let tile = [rows, reader.number("the lanes of the tile")?];
    reader.expect(")", "`)`")?;
    let mut implicit = "";
    if reader.eat(",") {
        let at = reader.token();
        implicit = match reader.signed("-1, -2 or -2,-1")? {
            -1 => "-1",
            -2 if reader.eat(",") => {
                reader.expect("-", "-1")?;
                reader.expect("1", "1")?;
                "-2,-1"
            }
            -2 => "-2",
            other => {
                return Err(Error::new(format!("implicit dimension {other}"))
                    .at(at)
                    .accepts("-1, -2 or -2,-1"));
            }
        };
    }
    reader.expect("\"", "the end of the string")?;
    reader.expect(">", "`>`")?;
    match reader.token().is_empty() {
        true => Ok(VectorLayout { bits, offsets, tile, implicit }),
        false => Err(reader.unexpected("the end of the text")),
    }
}

/// A number, or `*` where the elements are in every place.
fn offset(reader: &mut Reader) -> Result<Option<u64>> {
    if reader.eat("*") { Ok(None) } else { reader.number("an offset, or *").map(Some) }
}

fn star(offset: Option<u64>) -> String {
    offset.map_or("*".to_owned(), |offset| offset.to_string())
}

impl fmt::Display for VectorLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sublane, lane] = self.offsets.map(star);
        let [rows, lanes] = self.tile;
        let implicit = if self.implicit.is_empty() { String::new() } else { format!(",{}", self.implicit) };
        write!(f, "#tpu.vpad<\"{},{{{sublane},{lane}}},({rows},{lanes}){implicit}\">", self.bits)
    }
}

impl Described for VectorLayout {
    fn dialect(&self) -> &'static Dialect {
        &super::DIALECT
    }

    fn kind(&self) -> &'static str {
        "registers"
    }

    fn element(&self) -> Option<Element> {
        None
    }

    fn phrase(&self) -> Option<String> {
        Some("How vector registers of a TPU hold a vector; it is no layout of memory.".to_owned())
    }

    fn layout(&self) -> Result<Layout> {
        Err(Error::new("a layout of vector registers")
            .of_kind(ErrorKind::Unsupported)
            .field("layout")
            .rule("a register is no memory: its elements have sublanes and lanes, and no offsets")
            .accepts("a memory, such as memref<8x256xf32, #tpu.tiled<(8,128),[2,1]>>"))
    }

    fn open(&self) -> Option<String> {
        Some(
            "This is how vector registers hold a vector. They are no memory, so there is no layout."
                .to_owned(),
        )
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let [rows, lanes] = self.tile;
        let at = |offset: Option<u64>, what: &str| match offset {
            None => format!("the same in every {what}"),
            Some(offset) => format!("{what} {offset}"),
        };
        let [sublane, lane] = self.offsets;
        let bits = match self.bits {
            32 => "32-bit elements, one to a lane and sublane".to_owned(),
            bits => format!("{bits}-bit elements, {} packed in the 32 bits of a lane and sublane", 32 / bits),
        };
        let mut parts = vec![
            Part::new(
                "kind",
                "#tpu.vpad",
                "how vector registers of a TPU hold a vector; no layout of memory",
            ),
            Part::new("element bits", self.bits.to_string(), bits),
            Part::new(
                "offsets",
                format!("{{{},{}}}", star(sublane), star(lane)),
                format!("the first element: {}, {}", at(sublane, "sublane"), at(lane, "lane")),
            ),
            Part::new(
                "tile",
                format!("({rows},{lanes})"),
                format!("{rows} × {lanes} elements of the last two dimensions are neighbours in a register"),
            ),
        ];
        let implicit = match self.implicit {
            "-1" => "the last dimension of the tile is missing in the vector, and 1",
            "-2" => "the last dimension but one of the tile is missing in the vector, and 1",
            "-2,-1" => "both dimensions of the tile are missing in the vector, and 1",
            _ => return parts,
        };
        parts.push(Part::new("implicit dimension", self.implicit, implicit));
        parts
    }

    fn facts(&self) -> Facts {
        Facts::about("registers")
            .with("element_bits", self.bits)
            .with("offsets", self.offsets.into_iter().collect::<Fact>())
            .with("tile", self.tile.into_iter().collect::<Fact>())
            .with("implicit", (!self.implicit.is_empty()).then_some(self.implicit))
    }
}
