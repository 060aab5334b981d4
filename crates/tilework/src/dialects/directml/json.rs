//! A small reader of JSON that knows where everything stands.
//!
//! A message about a descriptor must point at the number that is wrong, and a key that stands twice must be named, not
//! overwritten. General readers give neither the place of a value nor both values of a key, so this one is written for
//! it: a value knows its bytes, an object keeps its members in order, a number stays exact (no floating point), and text
//! without escapes is not copied. JSON as RFC 8259 has it, with a limit on depth; a byte order mark is passed over.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};

/// How deep arrays and objects may nest.
const MAX_DEPTH: usize = 128;

/// A value, and the bytes it stands at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind<'a> {
    Null,
    Bool,
    Integer(i128),
    /// A number with a fraction or exponent, or a longer integer than anything here counts.
    Other,
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Vec<Member<'a>>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) at: Range<usize>,
    pub(crate) value: Value<'a>,
}

/// The one value that a text is.
///
/// # Errors
/// What is not JSON, or nests too deep.
pub(crate) fn parse(text: &str) -> Result<Value<'_>> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at: start };
    reader.space();
    let value = reader.value(0)?;
    if reader.at < text.len() {
        return Err(reader.error("more text after the value").accepts("the end of the text"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn error(&self, found: &str) -> Error {
        let next = self.text[self.at..].chars().next();
        Error::new(found).at(self.at..self.at + next.map_or(0, char::len_utf8)).rule("the text is JSON")
    }

    /// What stands here, in words.
    fn here(&self) -> String {
        match self.text[self.at..].chars().next() {
            None => "the end of the text".to_owned(),
            Some('/') => "a comment, which JSON does not have".to_owned(),
            Some(character) => format!("{character:?}"),
        }
    }

    /// A value and the space behind it.
    fn value(&mut self, depth: usize) -> Result<Value<'a>> {
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(self.error("too many brackets in brackets").accepts(format!("up to {MAX_DEPTH}")));
        }
        let kind = match self.peek() {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => Kind::String(self.string()?),
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word("true", Kind::Bool)?,
            b'f' => self.word("false", Kind::Bool)?,
            b'n' => self.word("null", Kind::Null)?,
            _ => {
                return Err(self
                    .error(&self.here())
                    .accepts("a value: {, [, \", a number, true, false or null"));
            }
        };
        let span = start..self.at;
        self.space();
        Ok(Value { kind, span })
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.error(&self.here()).accepts(word));
        }
        self.at += word.len();
        Ok(kind)
    }

    /// Passes a byte of punctuation and the space behind it.
    fn passes(&mut self, byte: u8) -> bool {
        let is = self.peek() == byte;
        if is {
            self.at += 1;
            self.space();
        }
        is
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>> {
        let mut values = Vec::new();
        self.passes(b'[');
        while self.peek() != b']' || !values.is_empty() {
            values.push(self.value(depth + 1)?);
            if !self.passes(b',') {
                break;
            }
        }
        self.close(b']', "]")?;
        Ok(Kind::Array(values))
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>> {
        let mut members = Vec::new();
        self.passes(b'{');
        while self.peek() != b'}' || !members.is_empty() {
            let start = self.at;
            if self.peek() != b'"' {
                return Err(self.error(&self.here()).accepts("a key in quotation marks"));
            }
            let key = self.string()?;
            let at = start..self.at;
            self.space();
            if !self.passes(b':') {
                return Err(self.error(&self.here()).accepts(":"));
            }
            members.push(Member { key, at, value: self.value(depth + 1)? });
            if !self.passes(b',') {
                break;
            }
        }
        self.close(b'}', "}")?;
        Ok(Kind::Object(members))
    }

    /// Passes a closing bracket, but not the space behind it, which belongs to no value.
    fn close(&mut self, byte: u8, mark: &str) -> Result<()> {
        if self.peek() != byte {
            return Err(self.error(&self.here()).accepts(format!(", or {mark}")));
        }
        self.at += 1;
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Kind<'a>> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        let zero = self.peek() == b'0';
        let digits = self.digits();
        if digits == 0 || (zero && digits > 1) {
            self.at = start;
            return Err(self.error("not a number").accepts("a number without leading zeros"));
        }
        let mut whole = true;
        if self.peek() == b'.' {
            self.at += 1;
            whole = false;
            if self.digits() == 0 {
                return Err(self.error(&self.here()).accepts("a digit"));
            }
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            whole = false;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            if self.digits() == 0 {
                return Err(self.error(&self.here()).accepts("a digit"));
            }
        }
        let integer = if whole { self.text[start..self.at].parse().ok() } else { None };
        Ok(integer.map_or(Kind::Other, Kind::Integer))
    }

    /// A string. It is copied only if it has escapes.
    fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let mut copied: Option<String> = None;
        let mut start = self.at;
        loop {
            match self.peek() {
                b'"' => break,
                b'\\' => {
                    let text = copied.get_or_insert_default();
                    text.push_str(&self.text[start..self.at]);
                    let character = self.escape()?;
                    copied.get_or_insert_default().push(character);
                    start = self.at;
                }
                0..=0x1f => {
                    let found = if self.at == self.text.len() {
                        self.here()
                    } else {
                        "a control character".to_owned()
                    };
                    return Err(self.error(&found).accepts("a character, or the closing quotation mark"));
                }
                _ => self.at += 1,
            }
        }
        let rest = &self.text[start..self.at];
        self.at += 1;
        Ok(match copied {
            None => Cow::Borrowed(rest),
            Some(text) => Cow::Owned(text + rest),
        })
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 1;
        let byte = self.peek();
        self.at += 1;
        let character = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(start),
            _ => return Err(self.no_escape(start)),
        };
        Ok(character)
    }

    fn unicode(&mut self, start: usize) -> Result<char> {
        let Some(first) = self.hex() else { return Err(self.no_escape(start)) };
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or_else(|| self.no_escape(start));
        }
        let second = self.text[self.at..].starts_with("\\u").then(|| {
            self.at += 2;
            self.hex()
        });
        let low = second.flatten().filter(|low| (0xdc00..0xe000).contains(low));
        let code = low.map(|low| 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00));
        code.and_then(char::from_u32).ok_or_else(|| self.no_escape(start))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(digits)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn no_escape(&mut self, start: usize) -> Error {
        self.at = start;
        self.error("not an escape").accepts(r#"\" \\ \/ \b \f \n \r \t or \u with four digits"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same value as a general reader sees it; numbers that are not whole are null.
    fn plain(value: &Value<'_>) -> serde_json::Value {
        match &value.kind {
            Kind::Null | Kind::Bool | Kind::Other => serde_json::Value::Null,
            Kind::Integer(number) => i64::try_from(*number).map_or(serde_json::Value::Null, Into::into),
            Kind::String(text) => serde_json::Value::String(text.to_string()),
            Kind::Array(values) => values.iter().map(plain).collect(),
            Kind::Object(members) => serde_json::Value::Object(
                members.iter().map(|m| (m.key.to_string(), plain(&m.value))).collect(),
            ),
        }
    }

    #[test]
    fn a_value_knows_where_it_stands() {
        let text = r#" {"Sizes": [1, 22 ], "a\n\ud83d\ude00": "x"} "#;
        let value = parse(text).unwrap();
        let Kind::Object(members) = &value.kind else { panic!() };
        assert_eq!(&text[members[0].at.clone()], "\"Sizes\"");
        let Kind::Array(sizes) = &members[0].value.kind else { panic!() };
        assert_eq!(&text[sizes[1].span.clone()], "22");
        assert_eq!(&text[members[0].value.span.clone()], "[1, 22 ]");
        assert_eq!(members[1].key, "a\n😀");
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_goes_wrong() {
        for (text, place) in [
            ("", 0),
            ("{", 1),
            ("[1,", 3),
            ("[1 2]", 3),
            ("[1,]", 3),
            ("{\"a\" 1}", 5),
            ("{\"a\":1,}", 7),
            ("01", 0),
            ("-", 0),
            ("1.", 2),
            ("1e", 2),
            ("tru", 0),
            ("\"a", 2),
            ("\"\\x\"", 1),
            ("\"\\ud800\"", 1),
            ("1 1", 2),
            ("// x", 0),
            ("{a:1}", 1),
            ("\"\n\"", 1),
            ("\"\\u12é\"", 1),
            ("[\0]", 1),
            ("é", 0),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.span().map(|span| span.start), Some(place), "{text:?}: {error}");
            let _ = error.report(text).to_string();
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_a_general_reader_reads_it(text in r#"[\[\]{}:,"\\ a0-9.eE+\-ntrufalse]{0,24}"#) {
            let own = parse(&text);
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(_) => prop_assert!(own.is_ok(), "{text}"),
                // serde_json also refuses numbers beyond f64, which are whole values here.
                Err(error) => prop_assert!(own.is_err() || error.to_string().contains("range"), "{text}: {error}"),
            }
        }

        #[test]
        fn values_are_those_of_a_general_reader(
            texts in proptest::collection::vec(".{0,8}", 0..4), numbers in proptest::collection::vec(any::<i64>(), 0..4)
        ) {
            let value = serde_json::json!({ "texts": texts, "numbers": [numbers, null] });
            prop_assert_eq!(plain(&parse(&value.to_string()).unwrap()), value.clone());
            prop_assert_eq!(plain(&parse(&serde_json::to_string_pretty(&value).unwrap()).unwrap()), value);
        }
    }
}
