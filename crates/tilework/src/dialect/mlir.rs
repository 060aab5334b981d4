//! Marks, words and numbers of MLIR's text, for every notation that is written in it.

use crate::dialect::cursor::{Cursor, Tokens, stands_on};
use crate::error::{Error, Result};

/// A place in a text. Between two tokens, blanks and `//` comments are skipped.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    cursor: Cursor<'a>,
}

stands_on!(Reader, cursor: Cursor);

const TOKENS: Tokens = Tokens {
    noun: "text",
    begins_word: |byte| byte.is_ascii_alphabetic() || byte == b'_',
    in_word: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'),
    digits_end: true,
    trim: |mut text| loop {
        text = text.trim_start_matches([' ', '\t', '\n', '\r']);
        let Some(comment) = text.strip_prefix("//") else { return text };
        text = &comment[comment.find('\n').unwrap_or(comment.len())..];
    },
    most_deep: 64,
};

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Reader<'a> {
        Reader { cursor: Cursor::new(text, &TOKENS) }
    }

    /// A reader that stands in front of an earlier token, for messages.
    pub(crate) fn back_to(&self, at: usize) -> Reader<'a> {
        let mut earlier = self.clone();
        earlier.go(at);
        earlier
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

    /// `?` or a number.
    pub(crate) fn known(&mut self, accepts: &str) -> Result<Option<i64>> {
        if self.eat("?") { Ok(None) } else { self.signed(accepts).map(Some) }
    }

    /// Passes what is left of a line.
    pub(crate) fn line(&mut self) {
        let rest = self.rest();
        self.pass(rest.find('\n').unwrap_or(rest.len()));
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
        self.enter("parentheses")?;
        let value = inner(self);
        self.leave();
        value
    }

    /// Passes an attribute or type of any dialect, as one text: up to a `,` or a closing bracket that is not its own.
    pub(crate) fn any(&mut self, accepts: &str) -> Result<&'a str> {
        let bytes = self.rest().as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut at = 0;
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
                b'>' if at > 0 && bytes[at - 1] == b'-' => {} // an arrow
                b'>' | b']' | b')' | b'}' if open.last() == Some(&byte) => {
                    open.pop();
                }
                b',' if !open.is_empty() => {}
                b'>' | b']' | b')' | b'}' | b',' => break,
                _ => {}
            }
            at += 1;
        }
        let start = self.here();
        let text = self.rest().get(..at).unwrap_or("").trim_end();
        if let Some(close) = open.pop().filter(|_| at >= bytes.len()) {
            let end = start + bytes.len();
            return Err(Error::new("the text ends here")
                .at(end..end)
                .accepts(format!("`{}`", close as char)));
        }
        if text.is_empty() || !open.is_empty() {
            return Err(self.back_to(start + at.min(bytes.len())).unexpected(accepts));
        }
        if text.ends_with('-') {
            // With the bracket behind it, it would be an arrow.
            let end = start + text.len();
            return Err(Error::new("a - at the end of an attribute").at(end - 1..end).accepts(accepts));
        }
        self.pass(text.len());
        Ok(text)
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
