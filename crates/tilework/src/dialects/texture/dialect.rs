//! Rows of textures among the notations.

use crate::dialect::blocked::{Blocked, large};
use crate::dialect::named::{self, Before, Named, check_bits, packed_bits};
use crate::dialect::{Confidence, Dialect, Example, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::layout::Layout;
use crate::words::bytes;

/// Rows of textures in buffers.
pub static DIALECT: Dialect = Dialect {
    name: "texture",
    title: "rows of a texture in a buffer",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "u8[4,4,4] bytesPerRow=256",
        shows: "rows of four texels",
        offsets: &[(&[3, 3, 3], 768 + 15)],
        size: 784,
    },
    Example {
        text: "u32[4,4] RowPitch=256",
        shows: "as Direct3D has it",
        offsets: &[(&[3, 3], 3 * 64 + 3)],
        size: 196,
    },
    Example {
        text: "f32[3,10,10] bytesPerRow=256 rowsPerImage=16",
        shows: "images with rows between them",
        offsets: &[(&[2, 9, 9], 2 * 1024 + 9 * 64 + 9)],
        size: 2 * 1024 + 9 * 64 + 10,
    },
];

/// What a row is a multiple of, in bytes.
const ALIGNMENT: u64 = 256;

/// The words of WebGPU, and those of Direct3D 12.
const KEYS: [(&str, &str); 4] = [
    ("bytesPerRow", "bytesPerRow"),
    ("rowsPerImage", "rowsPerImage"),
    ("RowPitch", "bytesPerRow"),
    ("bytes_per_row", "bytesPerRow"),
];

/// How rows and images are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pitch {
    /// In bytes.
    row: u64,
    /// In rows.
    image: Option<u64>,
}

fn recognise(text: &str) -> Option<Confidence> {
    KEYS.iter()
        .any(|(key, _)| text.strip_prefix(key).is_some_and(|rest| rest.starts_with(['=', ':', ' '])))
        .then_some(Confidence::Certain)
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    named::read(text, known, "u8[4,4,4] bytesPerRow=256", body).map(named::found)
}

fn body(text: &str, before: Before) -> Result<Named> {
    let (mut row, mut image) = (None, None);
    let mut places = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', ',', '\t']).len();
        let rest = &text[at..];
        if rest.is_empty() {
            break;
        }
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_').count();
        let key = KEYS.iter().find(|(key, _)| *key == &rest[..length]).map(|(_, key)| *key);
        let value = rest[length..].trim_start_matches([' ', '=', ':']);
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        let end = text.len() - value.len() + digits;
        let number =
            value[..digits].parse().ok().filter(|&number: &u64| number > 0 && number <= i64::MAX as u64);
        let (Some(key), Some(number)) = (key, number) else {
            let word = rest.split(char::is_whitespace).next().unwrap_or(rest);
            return Err(Error::new(format!("{} in rows of a texture", quoted(word)))
                .at(at..at + word.len())
                .accepts("bytesPerRow=256, rowsPerImage=16, or the end of the text"));
        };
        let slot = if key == "bytesPerRow" { &mut row } else { &mut image };
        if slot.replace(number).is_some() {
            return Err(Error::new(format!("{key} a second time")).at(at..end).accepts("one of the two"));
        }
        places.push((key, at..end));
        at = end;
    }
    let Some(row) = row else {
        return Err(Error::new("no bytesPerRow").at(0..text.len()).accepts("bytesPerRow=256"));
    };
    array(Pitch { row, image }, before).map_err(|error| {
        let place = error.field_name().and_then(|field| places.iter().find(|(key, _)| *key == field));
        match place.map(|(_, place)| place.clone()) {
            Some(place) => error.at(place),
            None => error.at(0..text.len()),
        }
    })
}

/// An array in rows.
fn array(pitch: Pitch, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let bits = u64::from(packed_bits(element));
    let images = usize::from(pitch.image.is_some());
    if dims.len() < images + 2 {
        return Err(Error::new(counted(dims.len() as u64, "dimension"))
            .of_kind(ErrorKind::Mismatch)
            .rule("a texture has rows and columns; with rowsPerImage there are images before them")
            .accepts(format!("{} dimensions or more", images + 2)));
    }
    if !pitch.row.is_multiple_of(ALIGNMENT) {
        return Err(Error::new(format!("rows of {}", counted(pitch.row, "byte")))
            .field("bytesPerRow")
            .rule(format!("WebGPU and Direct3D 12 copy rows of a multiple of {ALIGNMENT} bytes"))
            .accepts(format!(
                "{} or {}",
                pitch.row / ALIGNMENT * ALIGNMENT,
                (pitch.row / ALIGNMENT + 1).saturating_mul(ALIGNMENT)
            )));
    }
    let within: u64 = dims[images + 1..]
        .iter()
        .try_fold(1_u64, |product, &size| product.checked_mul(size))
        .ok_or_else(large)?;
    let row_bits = pitch.row.checked_mul(8).ok_or_else(large)?;
    if !row_bits.is_multiple_of(bits) {
        return Err(Error::new(format!(
            "rows of {} for elements of {}",
            counted(pitch.row, "byte"),
            counted(bits, "bit")
        ))
        .of_kind(ErrorKind::Unsupported)
        .field("bytesPerRow")
        .rule("a row has whole elements here")
        .accepts("channels as a dimension of their own"));
    }
    let stride = row_bits / bits;
    if within > stride {
        return Err(Error::new(format!(
            "rows of {}, but a row takes {}",
            counted(pitch.row, "byte"),
            bytes(u128::from(within) * u128::from(bits) / 8)
        ))
        .field("bytesPerRow")
        .rule("rows do not overlap")
        .accepts("more bytes"));
    }
    let rows = dims[images];
    if let Some(image) = pitch.image.filter(|&image| image < rows) {
        return Err(Error::new(format!("images of {}, but there are {rows}", counted(image, "row")))
            .field("rowsPerImage")
            .rule("images do not overlap")
            .accepts(format!("{rows} or more")));
    }
    let order: Vec<usize> = (0..dims.len()).collect();
    let mut blocked = Blocked::packed(dims, bits as u32, &order, &[], None)?;
    blocked.strides[images] = stride;
    let mut last = rows
        .saturating_sub(1)
        .checked_mul(stride)
        .and_then(|last| last.checked_add(within))
        .ok_or_else(large)?;
    if let Some(image) = pitch.image {
        let image = image.checked_mul(stride).ok_or_else(large)?;
        blocked.strides[0] = image;
        last = dims[0]
            .saturating_sub(1)
            .checked_mul(image)
            .and_then(|before| before.checked_add(last))
            .ok_or_else(large)?;
    }
    let layout = blocked.lower_to(if dims.contains(&0) { 0 } else { last })?;
    let text = match pitch.image {
        None => format!("bytesPerRow={}", pitch.row),
        Some(image) => format!("bytesPerRow={} rowsPerImage={image}", pitch.row),
    };
    let used = bytes((u128::from(within) * u128::from(bits)).div_ceil(8));
    let mut parts = vec![Part::new(
        "rows",
        format!("bytesPerRow={}", pitch.row),
        format!(
            "rows (dimension {images}) are {} bytes apart and have {used}; the last ends there",
            pitch.row
        ),
    )];
    if let Some(image) = pitch.image {
        parts.push(Part::new(
            "images",
            format!("rowsPerImage={image}"),
            format!("images (dimension 0) are {image} rows apart"),
        ));
    }
    Ok(Named {
        notation: &DIALECT,
        element,
        text,
        layout,
        parts,
        facts: vec![("bytes_per_row", pitch.row.into()), ("rows_per_image", pitch.image.into())],
        notes: Vec::new(),
        minor_to_major: Some(order.into_iter().rev().collect()),
    })
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    check_bits(layout, element, "a texture")?;
    let before = Before { element, dims: layout.dims() };
    let bits = u64::from(layout.bits());
    let strides = layout.to_strides().map(|strided| strided.strides).unwrap_or_default();
    let stride = |dim: usize| {
        strides.get(dim).and_then(|&stride| u64::try_from(stride).ok()).filter(|&stride| stride > 0)
    };
    let row = |dim: usize| {
        // A single row may be in rows of any length.
        let within = layout.dims()[dim + 1..].iter().try_fold(bits, |bits, &size| bits.checked_mul(size))?;
        let own = if layout.dims()[dim] > 1 { stride(dim)?.checked_mul(bits)? } else { within };
        if layout.dims()[dim] > 1 {
            Some(own / 8)
        } else {
            own.div_ceil(8).checked_next_multiple_of(ALIGNMENT)
        }
    };
    let mut pitches = Vec::new();
    if layout.rank() >= 2 {
        pitches.extend(row(0).map(|row| Pitch { row, image: None }));
    }
    if layout.rank() >= 3
        && let Some(row) = row(1)
    {
        let rows = layout.dims()[1];
        let image = stride(0).map_or(rows, |image| image.saturating_mul(bits) / 8 / row.max(1));
        pitches.push(Pitch { row, image: Some(image.max(rows).max(1)) });
    }
    named::say(
        layout,
        pitches.into_iter().filter(|pitch| pitch.row > 0).map(|pitch| array(pitch, before)),
        "rows of a texture are a multiple of 256 bytes apart, the last ends with its last element, and what is in them is row-major",
        "such rows",
    )
}
