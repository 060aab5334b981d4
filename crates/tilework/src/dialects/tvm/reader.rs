//! Reading what TVM prints as Python: words, numbers and marks.

use std::ops::Range;

use crate::dialect::cursor::{Cursor, Tokens, stands_on};
use crate::error::Result;

pub(super) struct Reader<'a> {
    cursor: Cursor<'a>,
}

stands_on!(Reader, cursor: Cursor);

const TOKENS: Tokens = Tokens {
    noun: "text",
    begins_word: in_word,
    in_word,
    digits_end: false,
    trim: str::trim_start,
    most_deep: 32,
};

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether this is a name, or several with dots between them.
pub(super) fn is_dotted(text: &str) -> bool {
    text.bytes().all(|byte| in_word(byte) || byte == b'.')
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader { cursor: Cursor::new(text, &TOKENS) }
    }

    /// A name and those before it with dots: `T.int64`. Only the last counts.
    pub(super) fn name(&mut self) -> (&'a str, Range<usize>) {
        let start = self.here();
        loop {
            let (word, at) = self.placed_word();
            if word.is_empty() || !self.eat(".") {
                return (word, start..at.end);
            }
        }
    }

    /// What stands within brackets that are just passed.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter("brackets")?;
        let found = read(self);
        self.leave();
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
