//! A place in a text, and what every reader of texts does there: pass marks, words and numbers, and say what is wrong.
//!
//! A notation says what its tokens are made of. What it alone reads is in a reader of its own, which derefs to its cursor.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result, quoted};

/// What the texts of a notation are made of.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// What messages call the text.
    pub(crate) noun: &'static str,
    /// The bytes with which a word begins. Digits are a number only if what they begin is no word.
    pub(crate) begins_word: fn(u8) -> bool,
    /// The bytes of a word.
    pub(crate) in_word: fn(u8) -> bool,
    /// Whether what follows digits is a token of its own, as in `8x16`.
    pub(crate) digits_end: bool,
    /// A text without the blanks before it.
    pub(crate) trim: fn(&str) -> &str,
    /// How deep brackets nest: beyond what anything prints, and far below what a stack holds.
    pub(crate) most_deep: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Where the last token ended, before the blanks behind it.
    end: usize,
    /// How many brackets stand open.
    depth: usize,
    tokens: &'static Tokens,
}

/// Lets a reader do whatever the cursor, or the reader, in its field does.
macro_rules! stands_on {
    ($reader:ident, $field:ident: $on:ident) => {
        impl<'a> std::ops::Deref for $reader<'a> {
            type Target = $on<'a>;

            fn deref(&self) -> &$on<'a> {
                &self.$field
            }
        }

        impl std::ops::DerefMut for $reader<'_> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.$field
            }
        }
    };
}
pub(crate) use stands_on;

impl<'a> Cursor<'a> {
    /// Stands before the first token.
    pub(crate) fn new(text: &'a str, tokens: &'static Tokens) -> Cursor<'a> {
        let mut cursor = Cursor { text, at: 0, end: 0, depth: 0, tokens };
        cursor.skip_blanks();
        cursor
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn slice(&self, span: Range<usize>) -> &'a str {
        &self.text[span]
    }

    /// Where the next token starts.
    pub(crate) fn here(&self) -> usize {
        self.at
    }

    /// From an earlier place to the end of the last token.
    pub(crate) fn since(&self, start: usize) -> Range<usize> {
        start..self.end.max(start)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    /// The first byte of the next token; 0 at the end.
    pub(crate) fn peek(&self) -> u8 {
        self.rest().bytes().next().unwrap_or(0)
    }

    pub(crate) fn is_at_digit(&self) -> bool {
        self.peek().is_ascii_digit()
    }

    /// Stands elsewhere, for what is read another way, and for messages.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
        self.end = self.end.min(at);
    }

    /// Passes bytes, and no blanks behind them.
    pub(crate) fn step(&mut self, bytes: usize) {
        self.at += bytes;
        self.end = self.at;
    }

    pub(crate) fn skip_blanks(&mut self) {
        self.at = self.text.len() - (self.tokens.trim)(self.rest()).len();
    }

    /// Passes a token of this many bytes, and the blanks behind it.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.step(bytes);
        self.skip_blanks();
    }

    /// Passes a mark, if it is here.
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

    /// The word that begins here, empty if there is none.
    pub(crate) fn peek_word(&self) -> &'a str {
        if (self.tokens.begins_word)(self.peek()) { self.run() } else { "" }
    }

    /// The same, passed.
    pub(crate) fn word(&mut self) -> &'a str {
        self.placed_word().0
    }

    /// The same, and where it is.
    pub(crate) fn placed_word(&mut self) -> (&'a str, Range<usize>) {
        let (word, start) = (self.peek_word(), self.at);
        if !word.is_empty() {
            self.pass(word.len());
        }
        (word, start..start + word.len())
    }

    /// The bytes of a word that stand here, be they one or not.
    fn run(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.bytes().take_while(|&byte| (self.tokens.in_word)(byte)).count()]
    }

    fn digits(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]
    }

    /// A number from 0 to `i64::MAX`.
    pub(crate) fn number(&mut self, accepts: &str) -> Result<u64> {
        let (digits, start) = (self.digits(), self.at);
        if digits.is_empty() || self.peek_word().len() > digits.len() {
            return Err(self.unexpected(accepts));
        }
        self.pass(digits.len());
        digits.parse().ok().filter(|&number| number <= i64::MAX as u64).ok_or_else(|| {
            Error::new(format!("{} does not fit 63 bits", quoted(digits)))
                .of_kind(ErrorKind::Overflow)
                .at(start..start + digits.len())
                .accepts("at most 9223372036854775807")
        })
    }

    /// A number with or without a minus sign.
    pub(crate) fn signed(&mut self, accepts: &str) -> Result<i64> {
        let negative = self.eat("-");
        let number = self.number(accepts)? as i64;
        Ok(if negative { -number } else { number })
    }

    /// One bracket deeper. `what` nests, in the words of a message.
    pub(crate) fn enter(&mut self, what: &str) -> Result<()> {
        let most = self.tokens.most_deep;
        if self.depth == most {
            return Err(Error::new(format!("{what} nest too deep"))
                .of_kind(ErrorKind::Limit)
                .at(self.token())
                .accepts(format!("at most {most} {what} within each other")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Out of the bracket again.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// That nothing follows.
    pub(crate) fn finish(&self, accepts: &str) -> Result<()> {
        if self.is_done() { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    /// Where the next token is; what is in no word is one character.
    pub(crate) fn token(&self) -> Range<usize> {
        let rest = self.rest();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = match rest.as_bytes() {
            [] => return self.end..self.end,
            [b'0'..=b'9', ..] if self.tokens.digits_end => self.digits().len(),
            [b'-', b'>', ..] => 2,
            [b'#' | b'!' | b'%', ..] => {
                1 + rest[1..].bytes().take_while(|&byte| (self.tokens.in_word)(byte)).count()
            }
            _ => self.run().len().max(first),
        };
        self.at..self.at + length
    }

    #[cold]
    pub(crate) fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let span = self.token();
        let found = match self.slice(span.clone()) {
            "" => format!("the {} ends here", self.tokens.noun),
            token => format!("unexpected {}", quoted(token)),
        };
        Error::new(found).of_kind(ErrorKind::Syntax).at(span).accepts(accepts)
    }
}
