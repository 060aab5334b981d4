//! The three ways to write a message, and the one place that knows the protobuf library.
//!
//! What a message means is read from its bytes alone, by the readers beside this file. Text format and JSON are other
//! spellings of the same fields, so here they become bytes and come from bytes, with the code of the schemas.

use std::ops::Range;

use buffa::text::{ParseError, ParseErrorKind, TextEncoder, TextFormat};
use buffa::{DecodeOptions, Message};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::MAX_NESTING;
use crate::error::{Error, Result};

/// How a message is written down.
///
/// | | `f32[3]` as a `ShapeProto` |
/// |---|---|
/// | `Binary` | `10 0b 1a 01 03 2a 06 0a 01 00 80 01 01 32 01 00` |
/// | `Text` | `element_type: F32` `dimensions: 3` …, which XLA's `.pbtxt` and `.txtpb` files hold |
/// | `Json` | `{"elementType":"F32","dimensions":["3"],…}`: numbers of 64 bits are strings, as protobuf has them |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The wire format.
    Binary,
    /// Text format, a field a line. A message's lists come after its single fields, where protobuf's own writers go by
    /// the numbers; readers take any order.
    Text,
    /// JSON, on one line.
    Json,
}

/// The most bytes of one message in any notation, so that no input can ask for much memory: some hundreds of megabytes
/// at the worst, which takes a message that is nothing but empty shapes.
pub const MAX_BYTES: usize = 4 << 20;

/// Every level of shapes may have a layout with a physical shape in between.
const MAX_MESSAGES_DEEP: u32 = 2 * MAX_NESTING as u32 + 4;

/// The bytes of the message that stands in `input`. Bytes stay as they are, whatever is in them besides the schema.
pub(super) fn to_bytes<M>(format: Format, input: &[u8]) -> Result<Vec<u8>>
where
    M: Message + TextFormat + DeserializeOwned,
{
    check_length(input.len())?;
    let message: M = match format {
        Format::Binary => {
            decode::<M>(input)?;
            return Ok(input.to_vec());
        }
        Format::Text => {
            let text = utf8(input)?;
            buffa::text::decode_from_str(text).map_err(|error| text_error(&error, text))?
        }
        Format::Json => {
            let text = utf8(input)?;
            serde_json::from_str(text).map_err(|error| json_error(&error, text))?
        }
    };
    let bytes = message.try_encode_to_vec().map_err(|error| Error::new(error.to_string()))?;
    check_length(bytes.len())?;
    Ok(bytes)
}

/// The bytes of a message in another notation.
pub(super) fn from_bytes<M>(format: Format, bytes: &[u8]) -> Result<Vec<u8>>
where
    M: Message + TextFormat + Serialize + DeserializeOwned,
{
    check_length(bytes.len())?;
    if format == Format::Binary {
        return Ok(bytes.to_vec());
    }
    let message: M = decode(bytes)?;
    if format == Format::Text {
        let mut text = String::new();
        let mut encoder = TextEncoder::new_pretty(&mut text).emit_unknown(true);
        message.encode_text(&mut encoder).map_err(|_| Error::new("the text could not be written"))?;
        if !text.is_empty() {
            text.push('\n');
        }
        return Ok(text.into_bytes());
    }
    let json = serde_json::to_vec(&message).map_err(|error| Error::new(error.to_string()))?;
    // Reading it again finds what JSON cannot say, however deep inside it is.
    match serde_json::from_slice::<M>(&json) {
        Ok(again) if again.encode_to_vec() == message.encode_to_vec() => Ok(json),
        Ok(_) => Err(Error::new("fields that the schema does not know")
            .rule("JSON writes fields by their names, and these have none")
            .accepts("binary, which keeps them, or text format, which shows their numbers")),
        Err(_) => Err(Error::new("shapes too deep inside each other for JSON")
            .rule("readers of JSON stop at 128 brackets")
            .accepts("binary")),
    }
}

fn decode<M: Message>(bytes: &[u8]) -> Result<M> {
    let options = DecodeOptions::new().with_recursion_limit(MAX_MESSAGES_DEEP);
    options.decode_from_slice(bytes).map_err(|error| {
        Error::new(error.to_string()).at(0..bytes.len()).rule("the bytes are not a message of this schema")
    })
}

fn check_length(bytes: usize) -> Result<()> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(Error::new(format!("a message of {bytes} bytes"))
        .rule("messages are limited so that memory is")
        .accepts(format!("up to {MAX_BYTES} bytes")))
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Error::new("bytes that are not text").at(at..at + 1).accepts("UTF-8, or the binary format")
    })
}

fn text_error(error: &ParseError, text: &str) -> Error {
    let at = place(text, error.line as usize, error.col as usize);
    let word: String =
        text[at.start..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').take(40).collect();
    let (span, said) = match error.kind {
        ParseErrorKind::UnknownField | ParseErrorKind::UnknownEnumValue if !word.is_empty() => {
            (at.start..at.start + word.len(), format!("{} {word}", error.kind))
        }
        _ => (at, error.kind.to_string()),
    };
    Error::new(said)
        .at(span)
        .rule("text format gives every field and every name of a value as the schema has them")
        .accepts("such as element_type: F32 dimensions: 3 layout { minor_to_major: 0 }")
}

fn json_error(error: &serde_json::Error, text: &str) -> Error {
    let said = error.to_string();
    // The place stands at the end of what it says, and is drawn instead.
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    // It counts bytes of the line, and the one that it read last.
    let line =
        text.split('\n').take(error.line().saturating_sub(1)).map(|line| line.len() + 1).sum::<usize>();
    let at = (line + error.column().saturating_sub(1)).min(text.len());
    let end = text[..].ceil_char_boundary(at + 1).min(text.len());
    Error::new(said).at(at..end.max(at)).rule("JSON gives every field by its name in the schema")
}

/// The character in this line and column, counted from 1.
fn place(text: &str, line: usize, column: usize) -> Range<usize> {
    let start = text.split('\n').take(line.saturating_sub(1)).map(|line| line.len() + 1).sum::<usize>();
    let rest = text.get(start..).unwrap_or("");
    let mut characters = rest.char_indices().skip(column.saturating_sub(1));
    match characters.next() {
        Some((at, character)) => start + at..start + at + character.len_utf8(),
        None => text.len()..text.len(),
    }
}
