//! Reading a tensor by its words: `type = f32, ne = [5, 3], nb = [4, 20]`, or its line in a log.
//!
//! ```text
//! tensor := { item [","] }
//! item   := type | "type" sign type | "ne" sign list | "nb" sign list | "view_offs" sign NUMBER
//! sign   := "=" | ":"
//! list   := "[" NUMBER { [","] NUMBER } "]"                  or in ( ) or { }
//! ```

use std::ops::Range;

use super::line;
use super::tensor::Tensor;
use super::types::Type;
use crate::dialect::cursor::{Cursor, Tokens};
use crate::dialect::{Found, Known};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, quoted};

/// The words before a value.
const KEYS: [&str; 4] = ["type", "ne", "nb", "view_offs"];

const TOKENS: Tokens = Tokens {
    noun: "text",
    begins_word: in_word,
    in_word,
    digits_end: false,
    trim: str::trim_start,
    most_deep: 0,
};

/// Whether a text is a tensor by its words: it begins as one, and sizes or strides are in it.
pub(super) fn is_words(text: &str) -> bool {
    let first = &text[..text.bytes().take_while(|&byte| in_word(byte)).count()];
    let is_sign = || text[first.len()..].trim_start().starts_with(['=', ':']);
    if Type::of_name(first).is_none() && !(KEYS.contains(&first) && is_sign()) {
        return false;
    }
    let is_key = |key: &str| {
        text.match_indices(key).any(|(at, _)| {
            let before = text[..at].bytes().next_back();
            let rest = text[at + key.len()..].trim_start();
            let value = rest.strip_prefix(['=', ':']).map(str::trim_start);
            !before.is_some_and(in_word) && value.is_some_and(|value| value.starts_with(['[', '(', '{']))
        })
    };
    is_key("ne") || is_key("nb")
}

/// Reads a tensor. Its type is known from elsewhere if the text does not say it.
pub(super) fn read(text: &str, known: &Known) -> Result<Found> {
    if let Some(line) = line::read(text) {
        let (name, tensor) = line?;
        return Ok(Found { name, ..Found::unnamed(tensor) });
    }
    let mut cursor = Cursor::new(text, &TOKENS);
    let (mut kind, mut ne, mut nb, mut view_offs) = (None, None, None, None);
    while !cursor.is_done() {
        let (word, at) = cursor.placed_word();
        if word.is_empty() {
            return Err(cursor.unexpected("type = f32, ne = […] or nb = […]"));
        }
        let is_key = KEYS.contains(&word);
        if is_key && !cursor.eat("=") && !cursor.eat(":") {
            return Err(cursor.unexpected(format!("`=` behind {word}")));
        }
        match word {
            "type" => {
                let (word, at) = cursor.placed_word();
                if word.is_empty() {
                    return Err(cursor.unexpected("a type such as f32 or q4_0"));
                }
                once(&mut kind, Type::parse(word).map_err(|error| error.at(at.clone()))?, "type", at)?;
            }
            "ne" => once(&mut ne, list(&mut cursor)?, "ne", at)?,
            "nb" => once(&mut nb, list(&mut cursor)?, "nb", at)?,
            "view_offs" => once(&mut view_offs, placed_number(&mut cursor)?, "view_offs", at)?,
            _ => {
                let found = Type::parse(word).map_err(|error| {
                    let near = crate::nearest(word, KEYS).map(|near| format!("; did you mean {near}?"));
                    let accepts = error.accepted().unwrap_or_default().to_owned();
                    match near {
                        Some(near) => error.accepts(format!("{}{near}", KEYS.join(", "))).at(at.clone()),
                        None => error.accepts(accepts).at(at.clone()),
                    }
                })?;
                once(&mut kind, found, "type", at)?;
            }
        }
        cursor.eat(",");
    }
    let kind = match kind {
        Some((kind, _)) => kind,
        None => Type::Element(known.element.ok_or_else(|| {
            Error::new("a tensor without a type")
                .at(0..text.len())
                .rule("ggml says the type of a tensor")
                .accepts(format!("type = f32, {text}"))
        })?),
    };
    if let Type::Element(element) = kind {
        require(element).map_err(|error| error.at(0..text.len()))?;
    }
    let Some((ne, ne_at)) = ne else {
        return Err(Error::new("a tensor without sizes")
            .at(0..text.len())
            .rule("ne has the sizes, the most minor first")
            .accepts("such as ne = [5, 3] for an array of 3 × 5"));
    };
    let nb_at = nb.as_ref().map(|(_, at): &(_, Range<usize>)| at.clone());
    let offset_at = view_offs.as_ref().map(|(_, at): &(_, Range<usize>)| at.clone());
    let tensor =
        Tensor { kind, ne, nb: nb.map(|(nb, _)| nb), view_offs: view_offs.map(|(offset, _)| offset) };
    tensor.check().map_err(|error| {
        let at = if error.field_name() == Some("nb") { nb_at.clone() } else { None };
        error.at(at.unwrap_or_else(|| ne_at.clone()))
    })?;
    // What is wrong with strides is known without whoever asks for the layout.
    if let (Type::Element(_), Err(error)) = (kind, tensor.lower()) {
        let at = match error.field_name() {
            Some("nb") => nb_at,
            Some("view_offs") => offset_at,
            _ => None,
        };
        return Err(error.at(at.unwrap_or(0..text.len())));
    }
    Ok(Found::unnamed(tensor))
}

/// That ggml has this type of elements.
pub(super) fn require(element: Element) -> Result<()> {
    match super::types::name(element) {
        Some(_) => Ok(()),
        None => Err(Error::new(format!("elements of {element}"))
            .of_kind(ErrorKind::Unsupported)
            .field("element type")
            .rule("ggml has no such type")
            .accepts("f32, f16, bf16, f64, s8, s16, s32 or s64")),
    }
}

fn once<T>(into: &mut Option<(T, Range<usize>)>, value: T, what: &str, at: Range<usize>) -> Result<()> {
    if into.is_some() {
        return Err(Error::new(format!("{what} a second time")).at(at).accepts(format!("one {what}")));
    }
    *into = Some((value, at));
    Ok(())
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Numbers in brackets, with commas or blanks between them.
fn list(cursor: &mut Cursor) -> Result<Vec<u64>> {
    let close = match cursor.peek() {
        b'[' => "]",
        b'(' => ")",
        b'{' => "}",
        _ => return Err(cursor.unexpected("a list such as [5, 3]")),
    };
    cursor.pass(1);
    let mut numbers = Vec::new();
    while !cursor.eat(close) {
        if numbers.len() > 2 * super::MAX_DIMS {
            return Err(cursor.unexpected("1 to 4 numbers"));
        }
        numbers.push(placed_number(cursor)?);
        cursor.eat(",");
    }
    Ok(numbers)
}

fn placed_number(cursor: &mut Cursor) -> Result<u64> {
    match cursor.placed_word() {
        ("", _) => Err(cursor.unexpected("a number of 0 or more")),
        (word, at) => number(word).map_err(|error| error.at(at)),
    }
}

/// A number of a tensor. The error has no place.
pub(super) fn number(word: &str) -> Result<u64> {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(Error::new(format!("{} is no number", quoted(word))).accepts("a number of 0 or more"));
    }
    word.parse().ok().filter(|&number| number <= i64::MAX as u64).ok_or_else(|| {
        Error::new(format!("{word} does not fit 63 bits"))
            .of_kind(ErrorKind::Overflow)
            .accepts("0 to 9223372036854775807")
    })
}
