//! The part of Python's literals that headers of `.npy` files are written in.

use tilework::{Error, Result};

/// A value of the dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Bool(bool),
    Number(u64),
    /// A tuple or list of numbers.
    Numbers(Vec<u64>),
    /// A list of something else, which is skipped: the fields of a structure.
    List,
}

impl Literal {
    /// What it is, for errors.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Literal::Text(_) => "a text",
            Literal::Bool(_) => "a truth value",
            Literal::Number(_) => "a number",
            Literal::Numbers(_) => "a tuple of numbers",
            Literal::List => "a list",
        }
    }
}

/// Reads `{'key': value, …}` and nothing behind it but blanks.
pub(crate) fn read_dictionary(text: &[u8]) -> Result<Vec<(String, Literal)>> {
    let mut reader = Reader { text, at: 0 };
    let mut entries = Vec::new();
    reader.expect(b'{', "a dictionary in braces")?;
    while !reader.take(b'}') {
        let key = reader.text()?;
        reader.expect(b':', "a colon and a value")?;
        entries.push((key, reader.value()?));
        if !reader.take(b',') {
            reader.expect(b'}', "a comma or the closing brace")?;
            break;
        }
    }
    match reader.peek() {
        None => Ok(entries),
        Some(_) => Err(reader.error("nothing behind the dictionary but blanks")),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, accepts: &str) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(self.error(accepts)) }
    }

    /// What stands here, and what would be accepted.
    fn error(&mut self, accepts: &str) -> Error {
        let found = match self.peek() {
            None => "the end of the header".to_owned(),
            Some(_) => {
                let rest = &self.text[self.at..];
                format!("found {}", String::from_utf8_lossy(&rest[..rest.len().min(20)]).escape_debug())
            }
        };
        Error::new(format!("byte {}: {found}", self.at))
            .rule("a header is a Python dictionary of three keys")
            .accepts(accepts)
    }

    /// A text in either kind of quotes. What stands behind a backslash is kept: no text that we know has one.
    fn text(&mut self) -> Result<String> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return Err(self.error("a text in quotes")) };
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|&byte| byte == quote) else {
            self.at = self.text.len();
            return Err(self.error("a closing quote"));
        };
        self.at += length + 2;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn value(&mut self) -> Result<Literal> {
        match self.peek() {
            Some(b'\'' | b'"') => self.text().map(Literal::Text),
            Some(b'0'..=b'9') => self.number().map(Literal::Number),
            Some(open @ (b'(' | b'[')) => self.sequence(if open == b'(' { b')' } else { b']' }),
            _ => {
                for (word, value) in [("True", true), ("False", false)] {
                    if self.text[self.at..].starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(Literal::Bool(value));
                    }
                }
                Err(self.error("a text, True, False, or a tuple of numbers"))
            }
        }
    }

    fn sequence(&mut self, close: u8) -> Result<Literal> {
        let open = self.at;
        self.at += 1;
        let mut numbers = Vec::new();
        while !self.take(close) {
            if matches!(self.peek(), Some(b'(' | b'[' | b'\'' | b'"')) {
                self.at = open;
                return self.skip_list();
            }
            numbers.push(self.number()?);
            if !self.take(b',') {
                self.expect(close, "a comma or the closing bracket")?;
                break;
            }
        }
        Ok(Literal::Numbers(numbers))
    }

    /// Goes behind a bracket and everything in it, without a stack: headers may nest as deep as they are long.
    fn skip_list(&mut self) -> Result<Literal> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return Err(self.error("closing brackets")),
                Some(b'\'' | b'"') => {
                    self.text()?;
                    continue;
                }
                Some(b'(' | b'[') => depth += 1,
                Some(b')' | b']') => depth -= 1,
                Some(_) => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(Literal::List);
            }
        }
    }

    /// Digits, and the `L` that Python 2 wrote behind long ones.
    fn number(&mut self) -> Result<u64> {
        self.peek();
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.error("a number of 0 or more"));
        }
        let mut value = 0_u64;
        for &digit in &self.text[self.at..self.at + digits] {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(u64::from(digit - b'0')))
                .ok_or_else(|| {
                    Error::new(format!("byte {}: a size of {digits} digits", self.at))
                        .rule("sizes fit 64 bits")
                })?;
        }
        self.at += digits;
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(value)
    }
}
