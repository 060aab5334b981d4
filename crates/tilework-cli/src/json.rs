//! The objects of `--json`, as documented in docs/json.md. Fields are only ever added.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use tilework::{Error, Place, printable};
use tilework_explain::Cause;

/// Writes an object on one line.
///
/// JSON lets most characters stand that a terminal obeys, and has an escape for each: it reads back as the same text.
pub fn write(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    Ok(object.serialize(&mut Serializer::with_formatter(out, Printable))?)
}

struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if matches!(printable(fragment), std::borrow::Cow::Borrowed(_)) {
            return out.write_all(fragment.as_bytes());
        }
        let mut buffer = [0; 4];
        for c in fragment.chars() {
            let text = c.encode_utf8(&mut buffer);
            match printable(text) == *text {
                true => out.write_all(text.as_bytes())?,
                false => {
                    c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?
                }
            }
        }
        Ok(())
    }
}

/// What was wrong.
#[derive(Serialize)]
pub struct Failure<'a> {
    error: Problem<'a>,
}

#[derive(Serialize)]
struct Problem<'a> {
    /// The file and the descriptor in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    found: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    rule: Option<&'a str>,
    accepted: Option<&'a str>,
    span: Option<[usize; 2]>,
    /// The text around the span.
    text: &'a str,
}

impl<'a> Failure<'a> {
    pub fn new(error: &'a Error, text: &'a str, line: Option<u64>) -> Failure<'a> {
        Failure {
            error: Problem {
                place: None,
                line,
                found: error.found(),
                field: error.field_name(),
                rule: error.broken_rule(),
                accepted: error.accepted(),
                span: error.span().map(|span| [span.start, span.end]),
                text,
            },
        }
    }
}

impl<'a> Failure<'a> {
    /// The same in a file.
    pub fn within(mut self, place: &'a str) -> Failure<'a> {
        self.error.place = Some(place);
        self
    }
}

/// Answer of `view`.
#[derive(Serialize)]
pub struct Viewed {
    /// "view" or "copy needed"
    pub answer: &'static str,
    pub from: String,
    /// The view, or what a copy would be packed as.
    pub to: String,
    /// The outer and the inner dimension that forbid the view.
    pub dimensions: Option<[usize; 2]>,
    pub stride: Option<u64>,
    pub wanted_stride: Option<u128>,
}

/// Answer of `parse`.
#[derive(Serialize)]
pub struct Parsed<'a> {
    pub text: &'a str,
    pub shape: String,
}

/// Answer of `index`.
#[derive(Serialize)]
pub struct Element<'a> {
    pub shape: &'a str,
    pub index: Vec<u64>,
    pub offset: u64,
}

/// Answer of `locate`: either an index or padding.
#[derive(Serialize)]
pub struct Located<'a> {
    shape: &'a str,
    offset: u64,
    index: Option<Vec<u64>>,
    padding: Option<Cause>,
}

impl<'a> Located<'a> {
    pub fn new(shape: &'a str, offset: u64, place: Place) -> Located<'a> {
        let (index, padding) = match place {
            Place::Element(index) => (Some(index), None),
            Place::Padding(padding) => (None, Some(Cause::from(&padding))),
        };
        Located { shape, offset, index, padding }
    }
}
