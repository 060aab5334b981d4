//! JSON as headers of weights hold it: names, texts, whole numbers, lists and objects.
//!
//! Read by hand for three reasons: an object that says a name twice is refused, where readers of JSON usually take the last
//! one; errors name the byte; and a value that nobody asked for is passed over without being kept.

use tilework::{Error, Result};

/// Objects and lists within each other.
const DEEPEST: usize = 32;

/// Reads values one after the other.
pub(crate) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Reader<'a> {
        Reader { text, at: 0, depth: 0 }
    }

    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn wanted(&mut self, what: &str) -> Error {
        let found = match self.peek() {
            None => "the end of the JSON text".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", byte as char),
            Some(byte) => format!("the byte 0x{byte:02x}"),
        };
        Error::new(format!("{found} at byte {} of the JSON text", self.at)).rule(format!("there is {what}"))
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(self.wanted(what)) }
    }

    /// Nothing but blanks is left.
    pub(crate) fn end(mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wanted("nothing behind the value but blanks")),
        }
    }

    /// Reads an object: `visit` gets each name and reads its value.
    pub(crate) fn object(
        &mut self,
        visit: &mut dyn FnMut(&mut Reader<'a>, String) -> Result<()>,
    ) -> Result<()> {
        self.expect(b'{', "an object in braces")?;
        self.deeper()?;
        let mut names = std::collections::HashSet::new();
        let mut goes_on = !self.take(b'}');
        while goes_on {
            self.peek();
            let start = self.at;
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(Error::new(format!("the name {} twice, again at byte {start}", shown(&name)))
                    .rule("an object says each name once"));
            }
            self.expect(b':', "a colon and a value")?;
            visit(self, name)?;
            goes_on = self.take(b',');
            if !goes_on {
                self.expect(b'}', "a comma or the closing brace")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a list: `visit` reads each value.
    pub(crate) fn list(&mut self, visit: &mut dyn FnMut(&mut Reader<'a>) -> Result<()>) -> Result<()> {
        self.expect(b'[', "a list in brackets")?;
        self.deeper()?;
        let mut goes_on = !self.take(b']');
        while goes_on {
            visit(self)?;
            goes_on = self.take(b',');
            if !goes_on {
                self.expect(b']', "a comma or the closing bracket")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::new(format!(
                "more than {DEEPEST} values within each other at byte {}",
                self.at
            ))
            .rule("nesting is limited"));
        }
        Ok(())
    }

    /// A list of whole numbers.
    pub(crate) fn numbers(&mut self) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        self.list(&mut |reader| {
            numbers.push(reader.number()?);
            Ok(())
        })?;
        Ok(numbers)
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&mut self) -> Result<u64> {
        self.peek();
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_whole = !matches!(rest.get(digits), Some(b'.' | b'e' | b'E'));
        let text = std::str::from_utf8(&rest[..digits]).unwrap_or_default();
        match text.parse() {
            Ok(number) if is_whole => {
                self.at += digits;
                Ok(number)
            }
            Err(_) if digits > 0 && is_whole => {
                Err(Error::new(format!("{digits} digits at byte {} of the JSON text", self.at))
                    .rule("a number fits 64 bits"))
            }
            _ => Err(self.wanted("a whole number that is not negative")),
        }
    }

    /// A text.
    pub(crate) fn string(&mut self) -> Result<String> {
        self.expect(b'"', "a text in quotes")?;
        let mut found = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain =
                rest.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count();
            let part = std::str::from_utf8(&rest[..plain]).map_err(|error| {
                Error::new(format!("byte {} of the JSON text is not UTF-8", self.at + error.valid_up_to()))
                    .rule("texts are UTF-8")
            })?;
            found.push_str(part);
            self.at += plain;
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(found);
                }
                Some(b'\\') => found.push(self.escape()?),
                Some(_) => return Err(self.wanted("no control character in a text")),
                None => return Err(self.wanted("a quote at the end of a text")),
            }
        }
    }

    /// The character of an escape; the reader is at its backslash.
    fn escape(&mut self) -> Result<char> {
        let found = self.text.get(self.at + 1).copied();
        let plain = match found {
            Some(byte @ (b'"' | b'\\' | b'/')) => Some(byte as char),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            _ => None,
        };
        if let Some(c) = plain {
            self.at += 2;
            return Ok(c);
        }
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 6).filter(|digits| digits.starts_with(b"\\u"))?;
            let digits = std::str::from_utf8(&digits[2..]).ok()?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
        };
        let units: Vec<u16> = unit(self.at).into_iter().chain(unit(self.at + 6)).collect();
        match char::decode_utf16(units.iter().copied()).next() {
            Some(Ok(c)) => {
                self.at += 6 * c.len_utf16();
                Ok(c)
            }
            _ => Err(self.wanted(r#"an escape such as \n or \u00e9"#)),
        }
    }

    /// Passes over a value of any kind.
    pub(crate) fn skip(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.object(&mut |reader, _| reader.skip()),
            Some(b'[') => self.list(&mut |reader| reader.skip()),
            Some(b'"') => self.string().map(drop),
            _ => {
                let rest = &self.text[self.at..];
                let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let word = &rest[..rest.iter().take_while(is_part).count()];
                let is_number = || {
                    let text = std::str::from_utf8(word).unwrap_or_default();
                    text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && text.parse::<f64>().is_ok()
                };
                if !matches!(word, b"true" | b"false" | b"null") && !is_number() {
                    return Err(self.wanted("a value"));
                }
                self.at += word.len();
                Ok(())
            }
        }
    }
}

/// A name as errors show it: in quotes, with nothing that a terminal obeys, and not for ever.
pub(crate) fn shown(name: &str) -> String {
    const LONGEST: usize = 80;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &name[..end]),
        None => format!("{name:?}"),
    }
}

/// A text in quotes, as JSON has it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{0}'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were() -> Result<()> {
        for text in ["", "plain", "a \"quoted\" \\ one", "line\nand\u{0}zero\u{7f}", "é😀"] {
            assert_eq!(Reader::new(quoted(text).as_bytes()).string()?, text);
        }
        assert_eq!(Reader::new(br#""\u00e9\ud83d\ude00\/\t""#).string()?, "é😀/\t");
        Ok(())
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        for (text, expected) in [
            ("", "the end of the JSON text at byte 0"),
            (r#"{"a": 1, "a": 2}"#, r#"the name "a" twice, again at byte 9"#),
            (r#"{"a" 1}"#, "`1` at byte 5"),
            (r#"{"a": 1]"#, "`]` at byte 7"),
            (r#"{"a": 1} x"#, "`x` at byte 9"),
            (r#"{"a": nul}"#, "`n` at byte 6"),
            (r#"{"a": 1,}"#, "`}` at byte 8"),
            (r#"{"a": [1,]}"#, "`]` at byte 9"),
            (r#"{"a": "\ud83d"}"#, r#"`\` at byte 7"#),
            (r#"{"a": "\u+123"}"#, r#"`\` at byte 7"#),
            ("{\"a\": \"\n\"}", "`\"` at byte 8"),
            ("{\"a\": \"\u{1}x", "byte 7"),
        ] {
            let mut reader = Reader::new(text.as_bytes());
            let read = reader.object(&mut |reader, _| reader.skip()).and_then(|()| reader.end());
            let error = read.expect_err(text).to_string();
            let is_found = error.contains(expected) || text.contains(char::is_control);
            assert!(is_found, "{text}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(Reader::new(deep.as_bytes()).skip().is_err());
        for number in ["-1", "1.5", "1e3", "18446744073709551616", "x"] {
            assert!(Reader::new(number.as_bytes()).number().is_err(), "{number}");
        }
        assert!(
            Reader::new(b"\"\xff\"").string().is_err_and(|error| error.to_string().contains("byte 1 of"))
        );
    }
}
