//! cuBLASLt's orders among the notations.

use super::order::{Matrix, NAMES, Order};
use crate::dialect::named::{self, Before, Named, check_bits};
use crate::dialect::{Confidence, Dialect, Example, Fact, Found, Known, Part, Said};
use crate::element::Element;
use crate::error::{Error, Result, quoted};
use crate::layout::Layout;
use tilework_core::InOrder;

/// Orders of matrices and layouts of block scales.
pub static DIALECT: Dialect = Dialect {
    name: "cublaslt",
    title: "an order of cuBLASLt",
    recognise,
    read,
    say: Some(say),
    forms: &[],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "s8[32,64] COL32_2R_4R4",
        shows: "tiles for Ampere",
        offsets: &[(&[9, 5], 101)],
        size: 2048,
    },
    Example {
        text: "s8[16,64] COL4_4R2_8C",
        shows: "tiles for Turing",
        offsets: &[(&[3, 6], 150), (&[11, 38], 512 + 256 + 150)],
        size: 1024,
    },
    Example {
        text: "s8[5,70] CUBLASLT_ORDER_COL32 ld=192",
        shows: "32 columns at a time, with a leading dimension",
        offsets: &[(&[4, 69], 2 * 192 + 4 * 32 + 5)],
        size: 3 * 192,
    },
    Example { text: "f16[3,5] COL", shows: "column-major", offsets: &[(&[2, 3], 11)], size: 15 },
    Example {
        text: "f16[2,3,5] ROW ld=8 stride=32",
        shows: "two matrices",
        offsets: &[(&[1, 2, 3], 32 + 16 + 3)],
        size: 32 + 24,
    },
    Example {
        text: "f8e4m3fn[300,10] scales 128x4",
        shows: "block scales for NVFP4",
        offsets: &[(&[33, 2], 16 + 4 + 2), (&[129, 5], 3 * 512 + 512 + 16 + 1)],
        size: 3 * 3 * 512,
    },
    Example {
        text: "f8e4m3fn[12,6] scales 8x4",
        shows: "block scales for few rows",
        offsets: &[(&[9, 5], 64 + 32 + 4 + 1)],
        size: 128,
    },
];

/// Other names of the layouts of scales.
const SCALES: [(&str, Order); 8] = [
    ("SWIZZLED_128x4", Order::Scales128x4),
    ("SWIZZLED_8x4", Order::Scales8x4),
    ("SfLayout.layout_128x4", Order::Scales128x4),
    ("SfLayout.layout_8x4", Order::Scales8x4),
    ("layout_128x4", Order::Scales128x4),
    ("layout_8x4", Order::Scales8x4),
    ("CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3", Order::Scales128x4),
    ("CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0", Order::Scales128x4),
];

/// The order of this name.
fn order(word: &str) -> Option<Order> {
    let name = word.strip_prefix("CUBLASLT_ORDER_").unwrap_or(word);
    let all = NAMES.iter().chain(&SCALES);
    all.into_iter().find(|(other, _)| *other == name || *other == word).map(|(_, order)| *order)
}

/// The words of a text with their places; `scales 128x4` is one.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words: Vec<(usize, &str)> =
        text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word)).collect();
    if let [(start, "scales"), (at, tile), ..] = words[..] {
        words[0] = (start, &text[start..at + tile.len()]);
        words.remove(1);
    }
    words
}

/// `scales  128x4` with one blank.
fn name(word: &str) -> String {
    word.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn recognise(text: &str) -> Option<Confidence> {
    let words = words(text);
    let (_, first) = words.first()?;
    match order(&name(first)) {
        Some(_) => Some(Confidence::Certain),
        None => {
            let looks =
                ["CUBLASLT_ORDER", "COL4", "COL32", "scales "].iter().any(|begin| text.starts_with(begin));
            looks.then_some(Confidence::Likely)
        }
    }
}

fn read(text: &str, known: &Known) -> Result<Vec<Found>> {
    named::read(text, known, "s8[32,64] COL32_2R_4R4", body).map(named::found)
}

fn body(text: &str, before: Before) -> Result<Named> {
    let words = words(text);
    let names = || NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let Some((at, word)) = words.first() else {
        return Err(Error::new("no order").at(0..0).accepts(names().join(", ")));
    };
    let Some(order) = order(&name(word)) else {
        let near = crate::nearest(word, names()).map(|near| format!("; did you mean {near}?"));
        return Err(Error::new(format!("{} is no order of cuBLASLt", quoted(word)))
            .at(*at..at + word.len())
            .accepts(format!("{}{}", names().join(", "), near.unwrap_or_default())));
    };
    let mut matrix = Matrix { order, ld: None, stride: None };
    let mut places = vec![("order", *at..at + word.len())];
    for (at, word) in &words[1..] {
        let place = *at..at + word.len();
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let number = value.parse().ok().filter(|&number: &u64| {
            number <= i64::MAX as u64 && value.bytes().all(|byte| byte.is_ascii_digit())
        });
        let slot = match key {
            "ld" if !order.is_scales() => ("ld", &mut matrix.ld),
            "stride" => ("stride", &mut matrix.stride),
            "ld" => {
                return Err(Error::new("a leading dimension")
                    .at(place)
                    .rule("tiles of scales are dense")
                    .accepts("the end of the text"));
            }
            _ => {
                return Err(Error::new(format!("{} behind an order", quoted(word)))
                    .at(place)
                    .accepts("ld=…, stride=…, or the end of the text"));
            }
        };
        match (number, &slot.1) {
            (Some(number), None) => *slot.1 = Some(number),
            (Some(_), Some(_)) => {
                return Err(Error::new(format!("{key} a second time")).at(place).accepts("one of the two"));
            }
            (None, _) => {
                return Err(Error::new(format!("{} is no number of elements", quoted(value)))
                    .at(place)
                    .accepts(format!("a number, such as {key}=2048")));
            }
        }
        places.push((slot.0, place));
    }
    array(&matrix, before).map_err(|error| {
        let place = error.field_name().and_then(|field| places.iter().find(|(key, _)| *key == field));
        match place.map(|(_, place)| place.clone()) {
            Some(place) => error.at(place),
            None => error.at(0..text.len()),
        }
    })
}

/// A matrix in an order.
fn array(matrix: &Matrix, before: Before) -> Result<Named> {
    let Before { element, dims } = before;
    let layout = matrix.lower(dims, element)?;
    let order = matrix.order;
    let (rows, columns) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    let ld = matrix.leading(rows, columns)?;
    let mut parts = vec![Part::new("order", order.name(), order.meaning())];
    if let Some(ld) = matrix.ld {
        parts.push(Part::new(
            "leading dimension",
            format!("ld={ld}"),
            format!("{ld} elements from one column, row or group of them to the next"),
        ));
    }
    if let Some(stride) = matrix.stride {
        parts.push(Part::new(
            "batch stride",
            format!("stride={stride}"),
            format!("{stride} elements from one matrix to the next"),
        ));
    }
    let mut notes = Vec::new();
    if order.is_scales() {
        notes.push("rows and columns are those of the scales: one column for each block of 16 (NVFP4) or 32 elements (MXFP8)".to_owned());
    } else if matrix.ld.is_none() {
        notes.push(format!("the leading dimension is {ld}, the least there can be"));
    }
    let number = NAMES.iter().position(|(_, other)| *other == order).filter(|_| !order.is_scales());
    Ok(Named {
        notation: &DIALECT,
        element,
        text: matrix.text(),
        layout,
        parts,
        facts: vec![
            ("order", order.name().into()),
            ("enum_value", number.map_or(Fact::Null, Fact::from)),
            ("leading_dimension", if order.is_scales() { Fact::Null } else { ld.into() }),
            ("batch_stride", matrix.stride.into()),
        ],
        notes,
        minor_to_major: None,
    })
}

fn say(layout: &Layout, element: Element) -> Result<Said> {
    check_bits(layout, element, "cuBLASLt")?;
    let before = Before { element, dims: layout.dims() };
    // What the strides of the most significant digits could say.
    let digits = layout.to_digits();
    let top = |dim: Option<usize>| {
        let digits = digits.as_ref().ok()?.of_dims.get(dim?)?;
        digits.last().filter(|digit| digit.extent > 1).and_then(|digit| u64::try_from(digit.stride).ok())
    };
    let rank = layout.rank();
    let (row, column) = (top(rank.checked_sub(2)), top(rank.checked_sub(1)));
    let batch = if rank == 3 { top(Some(0)) } else { None };
    let mut candidates = Vec::new();
    for (_, order) in NAMES {
        // With one group, the leading dimension is all that there is.
        let all = if rank == 2 { Some(layout.size()) } else { None };
        let leading = if order == Order::Row { row } else { column };
        for ld in [None, leading, all].into_iter().filter(|ld| ld.is_none() || !order.is_scales()) {
            for stride in [None, batch] {
                candidates.push(Matrix { order, ld, stride });
            }
        }
    }
    candidates
        .order_by_key(|matrix| (matrix.ld.is_some(), matrix.stride.is_some(), matrix.order != Order::Row));
    named::say(
        layout,
        candidates.iter().map(|matrix| array(matrix, before)),
        "cuBLASLt has columns or rows that are ld apart, and tiles of 32 columns, for 2 dimensions or 3",
        "a matrix in one of its orders",
    )
}
