//! Reading marks, words and numbers out of XLA's text.
//!
//! There is no list of tokens: a [`Reader`] stands in front of the next token and passes it when asked, byte by
//! byte, so that a good text is read once and without allocating. Between any two tokens it skips what XLA skips:
//! blanks, `/* */` and `//` to the end of the line. Everything slow belongs to messages.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result, quoted};

/// A place in a text, and how the text is to be read.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    /// Where the next token starts.
    at: usize,
    /// Where the token before it ended.
    end: usize,
    /// Whether to refuse what today's XLA does not read: older forms and Tilework's own words.
    pub(crate) strict: bool,
    /// How many parentheses of shapes stand open.
    depth: usize,
}

/// How deep tuples may nest: far beyond any real program, far below what a stack holds.
const MAX_DEPTH: usize = 128;

/// What may stand in a word after its first letter, in XLA's lexer.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, strict: bool) -> Reader<'a> {
        let mut reader = Reader { text, at: 0, end: 0, strict, depth: 0 };
        reader.skip_space();
        reader
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The first byte of the next token, and 0 at the end of the text.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.byte(self.at)
    }

    /// Where the next token starts.
    pub(crate) fn here(&self) -> usize {
        self.at
    }

    /// Where the last token ended.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The text at a place.
    pub(crate) fn slice(&self, span: Range<usize>) -> &'a str {
        &self.text[span]
    }

    /// Passes this many bytes of a token, and the space behind it.
    #[inline]
    fn pass(&mut self, bytes: usize) {
        self.end = self.at + bytes;
        self.at = self.end;
        self.skip_space();
    }

    #[inline]
    fn skip_space(&mut self) {
        if let byte @ (1..=b' ' | b'/') = self.byte(self.at) {
            self.skip_more_space(byte);
        }
    }

    /// Stops in front of a comment that never ends, which no token starts with.
    #[cold]
    fn skip_more_space(&mut self, mut byte: u8) {
        let bytes = self.text.as_bytes();
        loop {
            match (byte, self.byte(self.at + 1)) {
                (b' ' | b'\t' | b'\n' | b'\r', _) => self.at += 1,
                (b'/', b'/') => {
                    let line = bytes[self.at..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    self.at = line.map_or(bytes.len(), |length| self.at + length);
                }
                (b'/', b'*') => match self.text[self.at + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return,
                },
                _ => return,
            }
            byte = self.byte(self.at);
        }
    }

    /// Passes this mark if it stands here.
    #[inline]
    pub(crate) fn eat(&mut self, mark: u8) -> bool {
        let found = self.peek() == mark;
        if found {
            self.pass(1);
        }
        found
    }

    /// Passes this mark, or says what is accepted here.
    #[inline]
    pub(crate) fn expect(&mut self, mark: u8, accepts: &str) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    /// Passes a mark of several bytes if it stands here.
    pub(crate) fn eat_mark(&mut self, mark: &str) -> bool {
        let found = self.text[self.at..].starts_with(mark);
        if found {
            self.pass(mark.len());
        }
        found
    }

    /// The word that stands here, empty if there is none, without passing it.
    #[inline]
    pub(crate) fn peek_word(&self) -> &'a str {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        if matches!(self.peek(), b'a'..=b'z' | b'A'..=b'Z' | b'_') {
            while end < bytes.len() && in_word(bytes[end]) {
                end += 1;
            }
        }
        &self.text[self.at..end]
    }

    /// Passes the word that stands here.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a str {
        let word = self.peek_word();
        if !word.is_empty() {
            self.pass(word.len());
        }
        word
    }

    /// Passes the token that stands here, whatever it is.
    pub(crate) fn skip_token(&mut self) {
        self.pass(self.token().len());
    }

    /// Passes everything up to a mark, the end of the text, or a comment that never ends.
    pub(crate) fn skip_to(&mut self, mark: u8) {
        while self.peek() != mark && !self.is_at_end() && self.slice(self.token()) != "/*" {
            self.skip_token();
        }
    }

    /// A reader that stands in front of an earlier token, for messages.
    pub(crate) fn back_to(&self, at: usize) -> Reader<'a> {
        Reader { at, end: at, ..self.clone() }
    }

    /// Passes the word that stands here if it is this one.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.pass(word.len());
        }
        found
    }

    /// Passes everything up to one of these bytes, as one token.
    pub(crate) fn until(&mut self, stop: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(stop).unwrap_or(rest.len());
        if length > 0 {
            self.pass(length);
        }
        &rest[..length]
    }

    /// A number from 0 to `i64::MAX`.
    #[inline]
    pub(crate) fn number(&mut self, accepts: &str) -> Result<u64> {
        let mut value: u64 = 0;
        let mut at = self.at;
        loop {
            let digit = self.byte(at).wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // The last value that can take any digit more and still fit 64 bits.
            if value > (u64::MAX - 9) / 10 {
                return Err(self.too_large());
            }
            value = value * 10 + u64::from(digit);
            at += 1;
        }
        if at == self.at || in_word(self.byte(at)) {
            return self.minus_zero().ok_or_else(|| self.not_a_number(accepts));
        }
        if value > i64::MAX as u64 {
            return Err(self.too_large());
        }
        self.pass(at - self.at);
        Ok(value)
    }

    /// `-0`, which XLA reads as 0, and which this passes.
    #[cold]
    #[inline(never)]
    fn minus_zero(&mut self) -> Option<u64> {
        let span = self.token();
        let zeros = self.slice(span.clone()).strip_prefix('-')?;
        if zeros.is_empty() || zeros.bytes().any(|digit| digit != b'0') {
            return None;
        }
        self.pass(span.len());
        Some(0)
    }

    /// A number with or without a minus sign.
    pub(crate) fn signed(&mut self, accepts: &str) -> Result<i64> {
        let digits = self.at + usize::from(self.peek() == b'-');
        let count = self.text.as_bytes()[digits..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = digits + count;
        if count == 0 || in_word(self.byte(end)) {
            return Err(self.not_a_number(accepts));
        }
        let value = self.text[self.at..end].parse().map_err(|_| self.too_large())?;
        self.pass(end - self.at);
        Ok(value)
    }

    /// Items separated by commas, up to a mark that `closes` accepts and that is left for the caller.
    #[inline]
    pub(crate) fn items(
        &mut self,
        closes: impl Fn(u8) -> bool,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if closes(self.peek()) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.eat(b',') {
                return Ok(());
            }
            if closes(self.peek()) {
                return Err(self.trailing_comma());
            }
        }
    }

    /// Reads something between parentheses, as long as there are not too many of them.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(Error::new(format!("shapes nest deeper than {MAX_DEPTH}"))
                .of_kind(ErrorKind::Limit)
                .at(self.token())
                .rule(format!("tuples nest at most {MAX_DEPTH} deep"))
                .accepts("an element type such as f32, or a shape that nests less"));
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// The place of the next token, for messages: a word, a number, a mark or a character. Empty at the end.
    pub(crate) fn token(&self) -> Range<usize> {
        let rest = &self.text[self.at..];
        let word = |skip: usize| skip + rest.bytes().skip(skip).take_while(|&byte| in_word(byte)).count();
        let length = match rest.as_bytes() {
            [] => return self.end..self.end,
            [b'+' | b'-', b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z', ..] => word(1),
            [b'<', b'=', ..] | [b'-', b'>', ..] | [b'/', b'*', ..] => 2,
            [first, ..] if in_word(*first) => word(0).max(1),
            _ => rest.chars().next().map_or(0, char::len_utf8),
        };
        self.at..self.at + length
    }

    /// The place of item `k` of the list that starts at `start`. Reads the list again: for messages.
    pub(crate) fn item(&self, start: usize, k: usize) -> Range<usize> {
        let mut again = self.back_to(start);
        again.skip_space();
        for _ in 0..k {
            while !again.eat(b',') && !again.is_at_end() {
                again.skip_token();
            }
        }
        again.token()
    }

    /// "Unexpected so-and-so": what stands here is not what the rules accept here.
    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let span = self.token();
        match self.slice(span.clone()) {
            "" => Error::new("the text ends here").of_kind(ErrorKind::Syntax).at(span).accepts(accepts),
            "/*" => Error::new("this comment never ends")
                .of_kind(ErrorKind::Syntax)
                .at(span)
                .accepts("*/ at its end"),
            token => Error::new(format!("unexpected {}", quoted(token)))
                .of_kind(ErrorKind::Syntax)
                .at(span)
                .accepts(accepts),
        }
    }

    #[cold]
    #[inline(never)]
    fn not_a_number(&self, accepts: &str) -> Error {
        let span = self.token();
        let token = self.slice(span.clone());
        let rule = "a number is written in decimal digits alone";
        match token.as_bytes() {
            [b'-', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                Error::new(format!("{} is below 0", quoted(token))).at(span).accepts(accepts)
            }
            [b'0'..=b'9', ..] | [b'+' | b'-', _, ..] => {
                Error::new(format!("{} is not a number", quoted(token)))
                    .of_kind(ErrorKind::Syntax)
                    .at(span)
                    .rule(rule)
                    .accepts(accepts)
            }
            _ => self.unexpected(accepts),
        }
    }

    #[cold]
    #[inline(never)]
    fn too_large(&self) -> Error {
        let span = self.token();
        Error::new(format!("{} does not fit 63 bits", quoted(self.slice(span.clone()))))
            .of_kind(ErrorKind::Overflow)
            .at(span)
            .rule("XLA would wrap it around to a negative number, or refuse it")
            .accepts("at most 9223372036854775807")
    }

    #[cold]
    #[inline(never)]
    fn trailing_comma(&self) -> Error {
        let next = self.slice(self.token());
        Error::new("a comma with nothing behind it")
            .of_kind(ErrorKind::Syntax)
            .at(self.end - 1..self.end)
            .rule("a comma stands between two items")
            .accepts(format!("one item more, or {next} without the comma"))
    }
}
