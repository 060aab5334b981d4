//! Marks, words and numbers of MLIR's text, for every notation that is written in it.

use std::ops::Range;

use crate::error::{Error, Result, quoted};

/// A place in a text. Between two tokens, blanks and `//` comments are skipped.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the last token ended.
    end: usize,
    /// How many parentheses of an expression stand open.
    depth: usize,
}

/// How deep parentheses may nest: far beyond any map, far below what a stack holds.
const MAX_DEPTH: usize = 64;

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Reader<'a> {
        let mut reader = Reader { text, at: 0, end: 0, depth: 0 };
        reader.skip_space();
        reader
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The first byte of the next token; 0 at the end.
    pub(crate) fn peek(&self) -> u8 {
        self.rest().bytes().next().unwrap_or(0)
    }

    /// Where the next token starts.
    pub(crate) fn here(&self) -> usize {
        self.at
    }

    /// A reader that stands in front of an earlier token, for messages.
    pub(crate) fn back_to(&self, at: usize) -> Reader<'a> {
        Reader { at, ..self.clone() }
    }

    /// From an earlier place to the end of the last token.
    pub(crate) fn since(&self, start: usize) -> Range<usize> {
        start..self.end.max(start)
    }

    pub(crate) fn slice(&self, span: Range<usize>) -> &'a str {
        &self.text[span]
    }

    fn pass(&mut self, bytes: usize) {
        self.at += bytes;
        self.end = self.at;
        self.skip_space();
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            match self.rest().strip_prefix("//") {
                Some(comment) => self.at += 2 + comment.find('\n').unwrap_or(comment.len()),
                None => return,
            }
        }
    }

    pub(crate) fn eat(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        if found {
            self.pass(mark.len());
        }
        found
    }

    pub(crate) fn expect(&mut self, mark: &str, accepts: &str) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    /// The word that stands here, empty if there is none, without passing it.
    pub(crate) fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        let is_word = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')));
        if is_word { &rest[..end.unwrap_or(rest.len())] } else { "" }
    }

    pub(crate) fn word(&mut self) -> &'a str {
        let word = self.peek_word();
        if !word.is_empty() {
            self.pass(word.len());
        }
        word
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.pass(word.len());
        }
        found
    }

    /// The name of a value, such as `%arg0` or `%0#1`.
    pub(crate) fn value(&mut self) -> Result<&'a str> {
        let rest = self.rest();
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-' | '#');
        let length =
            rest.strip_prefix('%').map_or(0, |name| name.find(|c| !in_name(c)).unwrap_or(name.len()));
        if length == 0 {
            return Err(self.unexpected("a value such as %x"));
        }
        self.pass(1 + length);
        Ok(&rest[..1 + length])
    }

    /// A number from 0 to `i64::MAX`. What follows its digits is the next token: `8x` is a number and an x.
    pub(crate) fn number(&mut self, accepts: &str) -> Result<u64> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.unexpected(accepts));
        }
        let value = self.rest()[..digits].parse::<i64>().map_err(|_| {
            Error::new(format!("{} does not fit 63 bits", quoted(&self.rest()[..digits])))
                .at(self.at..self.at + digits)
                .accepts("at most 9223372036854775807")
        })?;
        self.pass(digits);
        Ok(value as u64)
    }

    /// A number with or without a minus sign.
    pub(crate) fn signed(&mut self, accepts: &str) -> Result<i64> {
        let negative = self.eat("-");
        let value = self.number(accepts)? as i64;
        Ok(if negative { -value } else { value })
    }

    /// `?` or a number.
    pub(crate) fn known(&mut self, accepts: &str) -> Result<Option<i64>> {
        if self.eat("?") { Ok(None) } else { self.signed(accepts).map(Some) }
    }

    /// Passes what is left of a line.
    pub(crate) fn line(&mut self) {
        self.pass(self.rest().find('\n').unwrap_or(self.rest().len()));
    }

    /// Items between commas, up to a mark that is passed too.
    pub(crate) fn items(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            self.expect(",", &format!("`,` and one more, or `{close}`"))?;
        }
    }

    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(Error::new(format!("over {MAX_DEPTH} parentheses within one another"))
                .at(self.token())
                .accepts("an expression that nests less"));
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    /// Passes an attribute or type of any dialect, as one text: up to a `,` or a closing bracket that is not its own.
    pub(crate) fn any(&mut self, accepts: &str) -> Result<&'a str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at += 1;
                    while bytes.get(at).is_some_and(|&byte| byte != b'"') {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b'<' => open.push(b'>'),
                b'[' => open.push(b']'),
                b'(' => open.push(b')'),
                b'{' => open.push(b'}'),
                b'>' if at > start && bytes[at - 1] == b'-' => {} // an arrow
                b'>' | b']' | b')' | b'}' if open.last() == Some(&byte) => {
                    open.pop();
                }
                b',' if !open.is_empty() => {}
                b'>' | b']' | b')' | b'}' | b',' => break,
                _ => {}
            }
            at += 1;
        }
        let text = self.text.get(start..at).unwrap_or("").trim_end();
        if let Some(close) = open.pop().filter(|_| at >= bytes.len()) {
            return Err(Error::new("the text ends here")
                .at(bytes.len()..bytes.len())
                .accepts(format!("`{}`", close as char)));
        }
        if text.is_empty() || !open.is_empty() {
            self.at = at.min(bytes.len());
            return Err(self.unexpected(accepts));
        }
        if text.ends_with('-') {
            // With the bracket behind it, it would be an arrow.
            let end = start + text.len();
            return Err(Error::new("a - at the end of an attribute").at(end - 1..end).accepts(accepts));
        }
        self.pass(text.len());
        Ok(text)
    }

    /// The place of the next token, for messages.
    pub(crate) fn token(&self) -> Range<usize> {
        let rest = self.rest();
        let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = match rest.as_bytes() {
            [] => return self.end.min(self.text.len())..self.end.min(self.text.len()),
            [b'0'..=b'9', ..] => rest.bytes().take_while(u8::is_ascii_digit).count(),
            [b'-', b'>', ..] => 2,
            [b'#' | b'!' | b'%', ..] => 1 + rest[1..].find(|c| !in_word(c)).unwrap_or(rest.len() - 1),
            _ => rest.find(|c| !in_word(c)).unwrap_or(rest.len()).max(first),
        };
        self.at..self.at + length
    }

    #[cold]
    pub(crate) fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let span = self.token();
        match self.slice(span.clone()) {
            "" => Error::new("the text ends here").at(span).accepts(accepts),
            token => Error::new(format!("unexpected {}", quoted(token))).at(span).accepts(accepts),
        }
    }
}

/// What follows the first comma within `tensor<…>`: its encoding, if the text is such a type.
pub(crate) fn tensor_encoding(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("tensor")?.trim_start().strip_prefix('<')?;
    let mut depth = 0_usize;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' | b'{' => depth += 1,
            b'>' | b']' | b')' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(inner[at + 1..].trim_start()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_of_a_tensor_follows_its_first_comma() {
        assert_eq!(
            tensor_encoding("tensor <2x!quant.uniform<i8:f32, 0.5>, #a.b<c, d>>"),
            Some("#a.b<c, d>>")
        );
        assert_eq!(tensor_encoding("tensor<2xf32,"), Some(""));
        for text in ["tensor<2xf32>", "tensor", "memref<2xf32, 3>", "tensor<2xf32>, #a"] {
            assert_eq!(tensor_encoding(text), None, "{text}");
        }
    }
}
