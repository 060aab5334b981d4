//! Ascend's formats among the notations.

use crate::dialect::blocked::{Block, Blocked};
use crate::dialect::named::{self, Before, Named, check_bits, packed_bits};
use crate::dialect::{Confidence, Dialect, Example, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::layout::Layout;

/// Formats of Ascend's processors.
pub static DIALECT: Dialect = Dialect {
    name: "ascend",
    title: "a format of Ascend",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f16[32,48] FRACTAL_NZ",
        shows: "blocks of 16 × 16",
        offsets: &[(&[17, 20], 788)],
        size: 1536,
    },
    Example {
        text: "s8[2,20,40] FRACTAL_NZ",
        shows: "many matrices of one byte",
        offsets: &[(&[1, 17, 33], 2 * 32 * 32 + 32 * 32 + 16 * 32 + 32 + 1)],
        size: 2 * 2 * 32 * 32,
    },
    Example {
        text: "f16[1,17,2,2] NC1HWC0",
        shows: "channels in blocks",
        offsets: &[(&[0, 9, 1, 0], 2 * 16 + 9), (&[0, 16, 0, 1], 64 + 16)],
        size: 128,
    },
    Example {
        text: "f16[20,17,3,3] FRACTAL_Z",
        shows: "weights",
        offsets: &[(&[17, 16, 1, 2], (9 + 5) * 512 + 256 + 16)],
        size: 2 * 9 * 2 * 256,
    },
    Example {
        text: "f16[1,17,2,3,4] NDC1HWC0",
        shows: "with depth",
        offsets: &[(&[0, 16, 1, 2, 3], ((2 + 1) * 12 + 11) * 16)],
        size: 2 * 2 * 12 * 16,
    },
    Example {
        text: "f32[16,8,2,3,3] FRACTAL_Z_3D C0=8",
        shows: "weights with depth, and a C0",
        offsets: &[(&[3, 5, 1, 2, 0], (9 + 6) * 128 + 3 * 8 + 5)],
        size: 18 * 128,
    },
];

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Nc1hwc0,
    Ndc1hwc0,
    FractalZ,
    FractalZ3d,
    FractalNz,
}

/// Names, with the number in `aclFormat`.
const NAMES: [(&str, Format, u8); 5] = [
    ("NC1HWC0", Format::Nc1hwc0, 3),
    ("FRACTAL_Z", Format::FractalZ, 4),
    ("FRACTAL_NZ", Format::FractalNz, 29),
    ("NDC1HWC0", Format::Ndc1hwc0, 32),
    ("FRACTAL_Z_3D", Format::FractalZ3d, 33),
];

/// Rows of a block.
const ROWS: u64 = 16;

/// The format of this name, also with what `aclFormat` has before it.
fn format(word: &str) -> Option<Format> {
    let name = word.strip_prefix("ACL_FORMAT_").or_else(|| word.strip_prefix("FORMAT_")).unwrap_or(word);
    let name = if word == "ACL_FRACTAL_Z_3D" { "FRACTAL_Z_3D" } else { name };
    NAMES.iter().find(|(other, ..)| *other == name).map(|(_, format, _)| *format)
}

impl Format {
    fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format, _)| *format == self).map_or("", |(name, ..)| name)
    }

    /// The sizes that it is for.
    fn sizes(self) -> (&'static str, Option<usize>) {
        match self {
            Format::Nc1hwc0 | Format::FractalZ => ("[N,C,H,W]", Some(4)),
            Format::Ndc1hwc0 | Format::FractalZ3d => ("[N,C,D,H,W]", Some(5)),
            Format::FractalNz => ("[…,R,K]", None),
        }
    }

    /// The outer digits from major to minor, and the inner blocks.
    fn arrangement(self, rank: usize, c0: u64) -> (Vec<usize>, Vec<Block>) {
        let block = |dim: usize, size: u64| Block { dim, size };
        match self {
            Format::Nc1hwc0 => (vec![0, 1, 2, 3], vec![block(1, c0)]),
            Format::Ndc1hwc0 => (vec![0, 2, 1, 3, 4], vec![block(1, c0)]),
            Format::FractalZ => (vec![1, 2, 3, 0], vec![block(0, ROWS), block(1, c0)]),
            Format::FractalZ3d => (vec![2, 1, 3, 4, 0], vec![block(0, ROWS), block(1, c0)]),
            Format::FractalNz => {
                let order = (0..rank - 2).chain([rank - 1, rank - 2]);
                (order.collect(), vec![block(rank - 2, ROWS), block(rank - 1, c0)])
            }
        }
    }

    fn meaning(self, c0: u64) -> String {
        match self {
            Format::Nc1hwc0 => format!("[N][C1][H][W][C0]: channels in blocks of {c0}"),
            Format::Ndc1hwc0 => format!("[N][D][C1][H][W][C0]: channels in blocks of {c0}"),
            Format::FractalZ => format!("[C1][H][W][N1][N0][C0]: weights in blocks of {ROWS} × {c0}"),
            Format::FractalZ3d => format!("[D][C1][H][W][N1][N0][C0]: weights in blocks of {ROWS} × {c0}"),
            Format::FractalNz => {
                format!(
                    "[…][K1][R1][R0][K0]: blocks of {ROWS} rows and {c0} columns, one column of blocks after the other"
                )
            }
        }
    }
}

/// The block of channels or columns that elements of this type have everywhere: 32 bytes.
fn own_c0(element: Element) -> Option<u64> {
    match packed_bits(element) {
        4 => Some(64),
        8 => Some(32),
        16 => Some(16),
        _ => None,
    }
}

fn recognise(text: &str) -> Option<Confidence> {
    let first = text.split_whitespace().next()?;
    match format(first) {
        Some(_) => Some(Confidence::Certain),
        None => {
            let looks =
                ["FRACTAL_", "ACL_F", "NC1HWC", "NDC1HWC"].iter().any(|begin| first.starts_with(begin));
            looks.then_some(Confidence::Likely)
        }
    }
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    named::read(text, known, "f16[32,48] FRACTAL_NZ", body).map(named::found)
}

fn body(text: &str, before: Before) -> Result<Named> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let names = NAMES.iter().map(|(name, ..)| *name);
    let Some(found) = format(word) else {
        let rule = match word {
            "FRACTAL_ZN_LSTM"
            | "FRACTAL_ZN_RNN"
            | "FRACTAL_Z_C04"
            | "NC1HWC0_C04"
            | "FRACTAL_Z_3D_TRANSPOSE"
            | "C1HWNCoC0" => Some("this format of Ascend is not known here"),
            _ => None,
        };
        let near = crate::nearest(word, names.clone()).map(|near| format!("; did you mean {near}?"));
        let accepts = format!("{}{}", names.collect::<Vec<_>>().join(", "), near.unwrap_or_default());
        let error =
            Error::new(format!("{} is no format of Ascend", quoted(word))).at(0..word.len()).accepts(accepts);
        return Err(match rule {
            Some(rule) => error.of_kind(ErrorKind::Unsupported).rule(rule),
            None => error,
        });
    };
    let rest = rest.trim();
    let c0 = match rest.strip_prefix("C0=") {
        _ if rest.is_empty() => None,
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.parse().ok().filter(|c0| (1..=1 << 20).contains(c0))
        }
        _ => None,
    };
    let at = text.len() - rest.len()..text.len();
    if c0.is_none() && !rest.is_empty() {
        return Err(Error::new(format!("{} behind the format", quoted(rest)))
            .at(at)
            .accepts("C0=16, or the end of the text"));
    }
    array(found, c0, before)
}

/// An array in a format.
fn array(format: Format, said: Option<u64>, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let name = format.name();
    let (sizes, rank) = format.sizes();
    if rank.map_or(dims.len() < 2, |rank| dims.len() != rank) {
        return Err(Error::new(format!("{name} of {}", counted(dims.len() as u64, "dimension")))
            .of_kind(ErrorKind::Mismatch)
            .field("format")
            .rule(format!("it is a format of {sizes}"))
            .accepts(format!("sizes {sizes}")));
    }
    let Some(c0) = said.or_else(|| own_c0(element)) else {
        return Err(Error::new(format!("no C0 for elements of {element}"))
            .of_kind(ErrorKind::Unsupported)
            .field("format")
            .rule("it is 32 bytes for elements of up to two bytes; for wider ones it depends on the chip and its settings")
            .accepts(format!("{name} C0=8 or {name} C0=16")));
    };
    let (order, inner) = format.arrangement(dims.len(), c0);
    let blocked = Blocked::packed(dims, packed_bits(element), &order, &inner, None)?;
    let layout = blocked.lower_to(blocked.size()?)?;
    let said = said.filter(|&c0| own_c0(element) != Some(c0));
    let text = said.map_or(name.to_owned(), |c0| format!("{name} C0={c0}"));
    let mut parts = vec![Part::new("format", name, format.meaning(c0))];
    if let Some(c0) = said {
        parts.push(Part::new("C0", format!("C0={c0}"), format!("{c0} elements are neighbours")));
    }
    let mut notes = Vec::new();
    if blocked.padded != blocked.dims {
        notes.push("the converters fill the padding of blocks with zeros".to_owned());
    }
    if matches!(format, Format::FractalZ | Format::FractalZ3d) {
        notes.push("weights of grouped convolutions are arranged in another way".to_owned());
    }
    let number = NAMES.iter().find(|(_, other, _)| *other == format).map(|(.., number)| *number);
    Ok(Named {
        notation: &DIALECT,
        element,
        text,
        layout,
        parts,
        facts: vec![
            ("acl_format", number.into()),
            ("c0", c0.into()),
            ("padded_dimensions", blocked.padded.iter().copied().collect()),
        ],
        notes,
        minor_to_major: Some(order.into_iter().rev().collect()),
    })
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    check_bits(layout, element, "Ascend")?;
    let before = Before { element, dims: layout.dims() };
    let sizes: Vec<Option<u64>> = match own_c0(element) {
        Some(_) => vec![None],
        None => vec![Some(8), Some(16), Some(32)],
    };
    let each = NAMES.iter().flat_map(|(_, format, _)| sizes.iter().map(move |c0| (*format, *c0)));
    named::say(
        layout,
        each.map(|(format, c0)| array(format, c0, before)),
        "Ascend has blocks of C0 channels, and blocks of 16 rows and C0 columns or channels",
        "an array in one of its formats",
    )
}
