//! Reading what TVM prints as Python: words, numbers and marks.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result, quoted};

/// How deep brackets nest: beyond what anything prints, and far below what a stack holds.
const MAX_DEPTH: usize = 32;

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    depth: usize,
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether this is a name, or several with dots between them.
pub(super) fn is_dotted(text: &str) -> bool {
    text.bytes().all(|byte| in_word(byte) || byte == b'.')
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        reader.skip_blanks();
        reader
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Passes these letters and the blanks behind them, if they are here.
    pub(super) fn eat(&mut self, letters: &str) -> bool {
        let found = self.rest().starts_with(letters);
        if found {
            self.at += letters.len();
            self.skip_blanks();
        }
        found
    }

    pub(super) fn expect(&mut self, letters: &str, accepts: &str) -> Result<()> {
        if self.eat(letters) { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    /// The letters and digits that begin here.
    pub(super) fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.bytes().take_while(|&byte| in_word(byte)).count()]
    }

    /// The same, passed with the blanks behind them, and where they are.
    pub(super) fn word(&mut self) -> (&'a str, Range<usize>) {
        let word = self.peek_word();
        let at = self.at..self.at + word.len();
        self.at += word.len();
        self.skip_blanks();
        (word, at)
    }

    /// A name and those before it with dots: `T.int64`. Only the last counts.
    pub(super) fn name(&mut self) -> (&'a str, Range<usize>) {
        let start = self.at;
        loop {
            let (word, at) = self.word();
            if word.is_empty() || !self.rest().starts_with('.') {
                return (word, start..at.end);
            }
            self.eat(".");
        }
    }

    /// Whether the text is at its end.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let rest = self.rest();
        let word = self.peek_word().len();
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        let found = match &rest[..length] {
            "" => "the text ends here".to_owned(),
            word => format!("unexpected {}", quoted(word)),
        };
        Error::new(found).of_kind(ErrorKind::Syntax).at(self.at..self.at + length).accepts(accepts)
    }

    /// A whole number, with a sign or without.
    pub(super) fn integer(&mut self, accepts: &str) -> Result<i64> {
        let is_negative = self.eat("-");
        let number = self.number(accepts)?;
        Ok(if is_negative { -number } else { number })
    }

    /// A number of 0 or more.
    pub(super) fn number(&mut self, accepts: &str) -> Result<i64> {
        let word = self.peek_word();
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected(accepts));
        }
        let (word, at) = self.word();
        word.parse().map_err(|_| {
            Error::new(format!("{word} does not fit 63 bits"))
                .of_kind(ErrorKind::Overflow)
                .at(at)
                .accepts("0 to 9223372036854775807")
        })
    }

    /// What stands within brackets that are just passed.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(Error::new("brackets nest too deep")
                .of_kind(ErrorKind::Limit)
                .at(self.at.saturating_sub(1)..self.at)
                .accepts(format!("at most {MAX_DEPTH} brackets within each other")));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Items up to the closing bracket, with commas between them.
    pub(super) fn items(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        while !self.eat(close) {
            self.nested(|reader| item(reader))?;
            if self.eat(close) {
                break;
            }
            self.expect(",", &format!("`,` or `{close}`"))?;
        }
        Ok(())
    }
}
