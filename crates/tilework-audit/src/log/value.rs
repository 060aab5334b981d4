//! One record of JSON as a value: small, and read as a whole.

use std::borrow::Cow;

/// How deep a record may nest, and how many values it may have.
const DEEPEST: u32 = 64;
const MOST: usize = 1 << 14;

/// A value of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// `null`, `true`, `false`, or what is no value.
    Other,
    Number(f64),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Reads a record; none if it is no JSON, nests too deep or has too many values.
    #[cfg(test)]
    pub(super) fn parse(text: &'a [u8]) -> Option<Value<'a>> {
        Value::with(text, |_| true)
    }

    /// Reads the members of objects whose keys are wanted, at any depth, and passes the others over.
    pub(super) fn with(text: &'a [u8], wanted: fn(&str) -> bool) -> Option<Value<'a>> {
        let plain = std::str::from_utf8(text).ok();
        let mut parser = Parser { text, plain, at: 0, left: MOST, wanted };
        let value = parser.value(0)?;
        parser.space();
        (parser.at == text.len()).then_some(value)
    }

    /// The member with this key, in whatever case.
    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        let Value::Object(members) = self else { return None };
        members.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Adds what it says to a key, which then is that of equal values alone.
    pub(super) fn key(&self, key: &mut Vec<u8>) {
        match self {
            Value::Other => key.push(b'o'),
            Value::Number(number) => {
                key.push(b'n');
                key.extend(number.to_bits().to_le_bytes());
            }
            Value::Text(text) => {
                key.push(b't');
                key.extend(text.len().to_le_bytes());
                key.extend(text.as_bytes());
            }
            Value::List(list) => {
                key.push(b'l');
                key.extend(list.len().to_le_bytes());
                list.iter().for_each(|value| value.key(key));
            }
            Value::Object(members) => {
                key.push(b'm');
                key.extend(members.len().to_le_bytes());
                for (name, value) in members {
                    key.extend(name.len().to_le_bytes());
                    key.extend(name.as_bytes());
                    value.key(key);
                }
            }
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The values of a list; none of anything else.
    pub(super) fn list(&self) -> &[Value<'a>] {
        match self {
            Value::List(list) => list,
            _ => &[],
        }
    }

    /// A list of whole numbers.
    pub(super) fn numbers(&self) -> Option<Vec<i64>> {
        let Value::List(list) = self else { return None };
        let whole = |value: &Value<'a>| {
            let number = value.number()?;
            (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
        };
        list.iter().map(whole).collect()
    }
}

struct Parser<'a> {
    text: &'a [u8],
    /// The same, if it is UTF-8 throughout.
    plain: Option<&'a str>,
    at: usize,
    left: usize,
    wanted: fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let is_there = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self, depth: u32) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.space();
        match self.text.get(self.at)? {
            _ if depth > DEEPEST => None,
            b'"' => self.string().map(Value::Text),
            b'[' => {
                self.at += 1;
                let mut list = Vec::new();
                if self.eat(b']') {
                    return Some(Value::List(list));
                }
                loop {
                    list.push(self.value(depth + 1)?);
                    if self.eat(b']') {
                        return Some(Value::List(list));
                    }
                    self.eat(b',').then_some(())?;
                }
            }
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                if self.eat(b'}') {
                    return Some(Value::Object(members));
                }
                loop {
                    self.space();
                    let key = self.string()?;
                    self.eat(b':').then_some(())?;
                    match (self.wanted)(&key) {
                        true => members.push((key, self.value(depth + 1)?)),
                        false => self.pass()?,
                    }
                    if self.eat(b'}') {
                        return Some(Value::Object(members));
                    }
                    self.eat(b',').then_some(())?;
                }
            }
            _ => {
                let word = self.word();
                match word {
                    // Most numbers are whole, and small enough to be exact.
                    [b'0'..=b'9', ..] if word.len() <= 15 && word.iter().all(u8::is_ascii_digit) => {
                        let number = word.iter().fold(0_u64, |sum, digit| 10 * sum + u64::from(digit - b'0'));
                        Some(Value::Number(number as f64))
                    }
                    // Python writes what JSON has not.
                    b"null" | b"true" | b"false" | b"NaN" | b"Infinity" | b"-Infinity" => Some(Value::Other),
                    _ => std::str::from_utf8(word).ok()?.parse().ok().map(Value::Number),
                }
            }
        }
    }

    /// What is neither a text nor in brackets.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let end =
            rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace());
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Passes a value over, whatever stands in its brackets.
    fn pass(&mut self) -> Option<()> {
        self.space();
        let mut depth = 0_u32;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.at = self.end_of_string()?.0 + 1;
                }
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                _ if depth == 0 => {
                    return (!self.word().is_empty()).then_some(());
                }
                _ => self.at += 1,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Where the text that begins here ends, at its quote, and whether it has escapes.
    fn end_of_string(&self) -> Option<(usize, bool)> {
        let (mut end, mut escapes) = (self.at + 1, false);
        loop {
            let found = memchr::memchr2(b'"', b'\\', self.text.get(end..)?)? + end;
            if self.text[found] == b'"' {
                return Some((found, escapes));
            }
            (end, escapes) = (found + 2, true);
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        (self.text.get(self.at) == Some(&b'"')).then_some(())?;
        let start = self.at + 1;
        let (end, escapes) = self.end_of_string()?;
        self.at = end + 1;
        let text = match self.plain {
            Some(plain) => Cow::Borrowed(plain.get(start..end)?),
            None => String::from_utf8_lossy(&self.text[start..end]),
        };
        Some(if escapes { unescaped(&text).into_owned().into() } else { text })
    }
}

/// A text without its escapes; what is no escape stays.
fn unescaped<'a>(text: &str) -> Cow<'a, str> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let unicode = || {
            let number = u32::from_str_radix(escape.get(1..5)?, 16).ok()?;
            char::from_u32(number).map(|letter| (letter, 5))
        };
        let (letter, used) = match escape.bytes().next() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'r') => ('\r', 1),
            Some(b'"') => ('"', 1),
            Some(b'/') => ('/', 1),
            Some(b'\\') => ('\\', 1),
            Some(b'u') => unicode().unwrap_or(('\u{fffd}', 1)),
            _ => ('\\', 0),
        };
        out.push(letter);
        rest = &escape[used..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_wanted_is_passed_over() {
        let text =
            br#"{"a": [1, {"x": "]}\""}], "b": {"x": {}, "a": 2}, "c": "\"", "d": -1e5, "e": [], "f": {}}"#;
        let only = Value::with(text, |key| matches!(key, "b" | "a")).expect("JSON");
        assert_eq!(only.get("c"), None);
        assert_eq!(only.get("b").and_then(|b| b.get("a")).and_then(Value::number), Some(2.0));
        assert_eq!(only.get("b").and_then(|b| b.get("x")), None);
        let none = Value::with(text, |_| false).expect("JSON");
        assert_eq!(none, Value::Object(Vec::new()));
        for cut in 0..text.len() {
            assert_eq!(Value::with(&text[..cut], |_| false), None, "{cut}");
        }
        // Texts that are no UTF-8 are read as far as they are.
        let wrong = Value::parse(b"[\"a\xff\", \"b\"]").expect("JSON");
        assert_eq!(wrong.list()[1].text(), Some("b"));
        assert_eq!(
            Value::parse(b"[123456789012345, 1234567890123456]").unwrap().list()[0].number(),
            Some(123_456_789_012_345.0)
        );
    }

    #[test]
    fn values_are_read_and_what_is_none_is_not() {
        let value =
            Value::parse(br#" {"A": [1, -2.5e1, true], "b": "x\n\u00e9\\", "c": null} "#).expect("JSON");
        assert_eq!(value.get("a").map(|list| list.list().len()), Some(3));
        assert_eq!(value.get("b").and_then(Value::text), Some("x\né\\"));
        assert_eq!(value.get("a").and_then(Value::numbers), None);
        assert_eq!(Value::parse(b"[1,2]").and_then(|list| list.numbers()), Some(vec![1, 2]));
        for wrong in ["", "{", "[1", "[1 2]", "{\"a\" 1}", "\"x", "1 2", "{a: 1}", "\"\\"] {
            assert_eq!(Value::parse(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(Value::parse(&[b'['; 1000]), None);
    }
}
