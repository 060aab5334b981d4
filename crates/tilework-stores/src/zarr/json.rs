//! Metadata as JSON, and what is wrong with it, by the names of its parts.

use serde_json::{Map, Value};
use tilework::{Error, ErrorKind, Result};

/// The longest metadata that are read: consolidated ones have those of all arrays.
pub(crate) const LONGEST: u64 = 256 << 20;

/// Reads a text. Python writes numbers that JSON has not as bare words, `NaN` and `-Infinity`; they are read as texts.
///
/// # Errors
/// What is no JSON, with its line.
pub(crate) fn read(bytes: &[u8]) -> Result<Value> {
    let fail = |error: serde_json::Error| {
        Error::new(format!("metadata that are no JSON: {error}")).of_kind(ErrorKind::Syntax)
    };
    serde_json::from_slice(bytes).or_else(|error| match with_quotes(bytes) {
        Some(quoted) => serde_json::from_slice(&quoted).map_err(fail),
        None => Err(fail(error)),
    })
}

/// The text with quotes around the bare words, if it has some.
fn with_quotes(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let (mut at, mut in_text, mut found) = (0, false, false);
    while let Some(&byte) = bytes.get(at) {
        let word = [&b"NaN"[..], b"-Infinity", b"Infinity"]
            .into_iter()
            .find(|word| !in_text && bytes[at..].starts_with(word));
        if let Some(word) = word {
            out.push(b'"');
            out.extend(word);
            out.push(b'"');
            found = true;
            at += word.len();
            continue;
        }
        out.push(byte);
        at += 1;
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => {
                out.extend(bytes.get(at));
                at += 1;
            }
            _ => {}
        }
    }
    found.then_some(out)
}

/// An object of JSON, and the name of what it is in for messages.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a> {
    map: &'a Map<String, Value>,
    field: &'a str,
}

impl<'a> Object<'a> {
    pub(crate) fn new(value: &'a Value, field: &'a str) -> Result<Object<'a>> {
        match value {
            Value::Object(map) => Ok(Object { map, field }),
            other => Err(wrong(field, other, "an object such as {\"name\": …}")),
        }
    }

    pub(crate) fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// A value; null is none.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A value that has to be there.
    pub(crate) fn need(&self, key: &str, accepts: &str) -> Result<&'a Value> {
        self.get(key).ok_or_else(|| {
            Error::new(format!("no {key:?}")).field(self.field).accepts(format!("{key:?}: {accepts}"))
        })
    }

    /// A text that has to be there.
    pub(crate) fn text(&self, key: &'a str, accepts: &str) -> Result<&'a str> {
        let value = self.need(key, accepts)?;
        value.as_str().ok_or_else(|| wrong(key, value, accepts))
    }

    /// Sizes that have to be there.
    pub(crate) fn sizes(&self, key: &'a str) -> Result<Vec<u64>> {
        let accepts = "a list of whole numbers such as [32, 32]";
        let value = self.need(key, accepts)?;
        sizes(value).ok_or_else(|| wrong(key, value, accepts))
    }
}

/// Whole numbers that are not negative.
pub(crate) fn sizes(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

/// A value of another kind than is wanted.
pub(crate) fn wrong(field: &str, value: &Value, accepts: &str) -> Error {
    Error::new(shown(value)).field(field).accepts(accepts)
}

/// A value as errors show it, which is not for ever.
pub(crate) fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// An error of what may well be right and is not read here.
pub(crate) fn unread(found: String, field: &str) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_words_of_python_are_read_and_others_are_not() -> Result<()> {
        let read = read(br#"{"a": NaN, "b": [-Infinity, Infinity], "NaN \" NaN": "is NaN"}"#)?;
        assert_eq!(
            read,
            serde_json::json!({"a": "NaN", "b": ["-Infinity", "Infinity"], "NaN \" NaN": "is NaN"})
        );
        for wrong in ["{\"a\": nan}", "", "{\"a\": 1} x", "{\"a\": \"\\", "[NaNNaN]"] {
            let error = super::read(wrong.as_bytes()).expect_err(wrong).to_string();
            assert!(error.contains("line 1"), "{error}");
        }
        assert!(super::read("[".repeat(100_000).as_bytes()).is_err());
        Ok(())
    }
}
