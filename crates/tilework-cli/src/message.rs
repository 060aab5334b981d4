//! Shapes in protobuf messages, read and written.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tilework::xla::Shape;
use tilework::xla::proto::{Format, MAX_BYTES, Message};
use tilework::{Error, Result};

use crate::args::{Args, MessageArgs, ProtoFormat, ShapeMessage};
use crate::file;
use crate::input::Given;
use crate::output::{Output, Stop};

/// Calls `answer` with the shape of each message, and reports those that have none.
pub fn subjects(
    given: &[OsString],
    format: ProtoFormat,
    (which, args): (&MessageArgs, &Args),
    output: &mut Output,
    mut answer: impl FnMut(&Given, &mut Output) -> std::result::Result<(), Stop>,
) -> std::result::Result<(), Stop> {
    let stdin = [OsString::from("-")];
    for source in if given.is_empty() { &stdin } else { given } {
        let name = source.to_string_lossy();
        let place = match name.as_ref() {
            "-" => "standard input",
            name => name.strip_prefix('@').unwrap_or("argument"),
        };
        let bytes = match bytes(source, format) {
            Ok(bytes) => bytes,
            Err(error) => {
                output.bad_in(place, &error, "")?;
                continue;
            }
        };
        match shape(&bytes, format, which.message, args) {
            Ok(shape) => {
                let text = shape.to_string();
                answer(&Given { text: &text, name: None, said: Arc::new(shape), line: None }, output)?;
            }
            Err(error) => {
                let (error, text) = match format {
                    ProtoFormat::Binary => in_digits(error, &bytes),
                    _ => (error, String::from_utf8_lossy(&bytes).into_owned()),
                };
                output.bad_in(place, &error, &text)?;
            }
        }
    }
    Ok(())
}

fn shape(bytes: &[u8], format: ProtoFormat, message: ShapeMessage, args: &Args) -> Result<Shape> {
    if args.strict_xla && message.old().is_some() {
        return Err(Error::new("a message of TensorFlow 1.x")
            .rule("--strict-xla reads nothing but what XLA writes today")
            .accepts("--message shape"));
    }
    Message::read(message.kind(), format.into(), bytes)?.shape()
}

/// All bytes of a message: those of a file, of standard input, or of the argument itself.
fn bytes(source: &OsString, format: ProtoFormat) -> Result<Vec<u8>> {
    let given = source.as_encoded_bytes();
    if given == b"-" {
        return file::all(&mut io::stdin().lock(), MAX_BYTES as u64);
    }
    if given.first() == Some(&b'@') {
        let path = source.to_string_lossy();
        return file::read(Path::new(&path[1..]), MAX_BYTES as u64);
    }
    match format {
        ProtoFormat::Binary => Err(Error::new("a message in the wire format as an argument")
            .rule("arguments are texts")
            .accepts("@FILE, or standard input")),
        _ => Ok(given.to_vec()),
    }
}

/// Bytes as hexadecimal digits, and the error at its place in them.
fn in_digits(error: Error, bytes: &[u8]) -> (Error, String) {
    let Some(span) = error.span() else { return (error, String::new()) };
    let mut digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if digits.is_empty() {
        digits.push(String::new());
    }
    let mut moved = Error::new(format!("byte {}: {}", span.start, error.found()));
    if let Some(rule) = error.broken_rule() {
        moved = moved.rule(rule);
    }
    if let Some(accepted) = error.accepted() {
        moved = moved.accepts(accepted);
    }
    (moved.at(3 * span.start..(3 * span.end).saturating_sub(1).max(3 * span.start)), digits.join(" "))
}

/// Writes the shape as a message.
pub fn write(
    given: &Given,
    which: ShapeMessage,
    format: ProtoFormat,
    output: &mut Output,
) -> std::result::Result<(), Stop> {
    let format = Format::from(format);
    let bytes = match written(given, which, format) {
        Ok(bytes) => bytes,
        Err(error) => return output.bad(&error.or_at(0..given.text.len()), given.text, given.line),
    };
    let is_first = output.is_first();
    match format {
        Format::Binary if is_first => output.bytes(&bytes),
        Format::Binary => {
            let error = Error::new("a second message in the wire format")
                .at(0..given.text.len())
                .rule("a message does not say where it ends")
                .accepts("one shape at a time, or --format text or json");
            output.bad(&error, given.text, given.line)
        }
        Format::Text | Format::Json => {
            // An empty line stands between messages of several lines.
            if format == Format::Text && !is_first {
                output.text("")?;
            }
            String::from_utf8_lossy(&bytes).trim_end().lines().try_for_each(|line| output.text(line))
        }
    }
}

fn written(given: &Given, which: ShapeMessage, format: Format) -> Result<Vec<u8>> {
    let shape: &Shape = given.said.get().ok_or_else(|| {
        Error::new(given.said.dialect().title)
            .rule("only shapes as XLA writes them have a message")
            .accepts("--format xla")
    })?;
    let message = match which.old() {
        None => Message::of_shape(shape),
        Some(version) => Message::of_old_shape(shape, version),
    };
    message?.write(format)
}
