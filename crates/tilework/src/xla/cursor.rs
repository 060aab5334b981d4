//! The lexical level of XLA's text: a place in the text, and what can be read there.
//!
//! As XLA's lexer does, white space and comments (`/* */`, `// …`) are skipped between any two tokens. Nothing is
//! copied: a token is a range of bytes.

use std::ops::Range;

use crate::error::{Error, Result};

/// A place in a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Where the last token ended, before any white space after it.
    end: usize,
    /// Only today's XLA text: no words of Tilework's own, no older forms.
    pub(super) strict: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, strict: bool) -> Result<Cursor<'a>> {
        let mut cursor = Cursor { text, at: 0, end: 0, strict };
        cursor.skip()?;
        Ok(cursor)
    }

    /// The next byte, or 0 at the end. No token starts with a 0 byte, so the two cannot be mistaken.
    #[inline(always)]
    pub(super) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// The byte after the next one.
    #[inline(always)]
    pub(super) fn peek_second(&self) -> u8 {
        self.text.as_bytes().get(self.at + 1).copied().unwrap_or(0)
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Whether the rest of the text starts so.
    pub(super) fn starts_with(&self, word: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(word.as_bytes())
    }

    /// The place of the next token.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// The bytes from a place to the end of the last token.
    pub(super) fn since(&self, start: usize) -> Range<usize> {
        start..self.end.max(start)
    }

    /// Moves past a token of so many bytes, and past what may stand between tokens.
    #[inline(always)]
    pub(super) fn advance(&mut self, bytes: usize) -> Result<()> {
        self.at += bytes;
        self.end = self.at;
        match self.peek() {
            b' ' | b'\t' | b'\n' | b'\r' | b'/' => self.skip(),
            _ => Ok(()),
        }
    }

    /// Skips white space and comments.
    #[cold]
    fn skip(&mut self) -> Result<()> {
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let length = match rest {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
                [b'/', b'/', ..] => rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => match rest[2..].windows(2).position(|pair| pair == b"*/") {
                    Some(close) => close + 4,
                    None => {
                        return Err(Error::new("a comment that does not end")
                            .at(self.at..self.at + 2)
                            .accepts("*/ at its end"));
                    }
                },
                _ => return Ok(()),
            };
            self.at += length;
        }
    }

    /// Moves past this byte if it is next.
    #[inline(always)]
    pub(super) fn eat(&mut self, byte: u8) -> Result<bool> {
        if self.peek() != byte || self.is_done() {
            return Ok(false);
        }
        self.advance(1)?;
        Ok(true)
    }

    /// The next token as far as an error should show it, and in words.
    pub(super) fn next_token(&self) -> (Range<usize>, String) {
        let rest = &self.text[self.at..];
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = match rest.chars().next() {
            None => return (self.at..self.at, "the end of the text".to_owned()),
            Some(first) if word(first) || first == '-' => {
                let tail = rest[first.len_utf8()..].find(|c| !word(c));
                first.len_utf8() + tail.unwrap_or(rest.len() - first.len_utf8()).min(40)
            }
            Some(first) => first.len_utf8(),
        };
        let mut end = self.at + length;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        (self.at..end, format!("`{}`", self.text[self.at..end].escape_debug()))
    }

    /// An error about the next token.
    #[cold]
    pub(super) fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let (span, found) = self.next_token();
        Error::new(format!("found {found}")).at(span).accepts(accepts)
    }

    /// Moves past this byte, which must be next.
    #[inline(always)]
    pub(super) fn expect(&mut self, byte: u8, accepts: &str) -> Result<()> {
        match self.eat(byte)? {
            true => Ok(()),
            false => Err(self.unexpected(accepts)),
        }
    }

    /// A number of 0 or more, at most `i64::MAX`.
    #[inline(always)]
    pub(super) fn number(&mut self, accepts: &str) -> Result<u64> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let mut value = 0_u64;
        while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
        {
            value = match value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit))) {
                Some(value) if value <= i64::MAX as u64 => value,
                _ => return Err(self.too_large()),
            };
            at += 1;
        }
        let joined =
            bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
        if at == self.at || joined {
            return Err(self.no_number(accepts));
        }
        self.advance(at - self.at)?;
        Ok(value)
    }

    #[cold]
    fn too_large(&self) -> Error {
        let (span, _) = self.next_token();
        Error::new("a number above 9223372036854775807").at(span).rule("numbers fit 63 bits")
    }

    #[cold]
    fn no_number(&self, accepts: &str) -> Error {
        let error = self.unexpected(accepts);
        match self.peek() {
            b'-' => error.rule("the number cannot be negative"),
            _ => error,
        }
    }

    /// A number with a sign.
    pub(super) fn signed(&mut self, accepts: &str) -> Result<i64> {
        let start = self.at;
        if self.peek() != b'-' {
            return Ok(self.number(accepts)? as i64); // at most i64::MAX
        }
        self.at += 1; // the digits follow at once
        let value = self.number(accepts).map_err(|error| {
            let end = error.span().map_or(self.at, |span| span.end);
            error.at(start..end)
        })?;
        Ok(-(value as i64))
    }

    /// The word at this place: letters, digits and `_`, not starting with a digit; empty if there is none.
    #[inline(always)]
    pub(super) fn word(&self) -> &'a str {
        let bytes = &self.text.as_bytes()[self.at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = match bytes.first() {
            Some(first) if first.is_ascii_digit() => 0,
            _ => bytes.iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len()),
        };
        &self.text[self.at..self.at + length] // ASCII, so the end is a boundary
    }

    /// The text up to one of these bytes, without white space at its ends.
    pub(super) fn until(&mut self, stops: &[u8]) -> Result<&'a str> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| stops.contains(byte)).unwrap_or(rest.len());
        let text = &self.text[self.at..self.at + length]; // ends before an ASCII byte or at the end
        self.advance(length)?;
        Ok(text.trim())
    }
}
