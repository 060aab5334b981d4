//! Marks, words, numbers and nested tuples in a text of CuTe.
//!
//! Blanks may stand between any two marks, and a trailing comma before a closing parenthesis.

use std::ops::Range;

use super::layout::{Layout, check_size, check_strides};
use super::swizzle::Swizzle;
use super::tiler::Tiler;
use super::tuple::{Basis, Dynamic, IntTuple, Leaf, MAX_DEPTH, MAX_LEAVES};
use crate::error::{Error, ErrorKind, Result, quoted};

/// A place in a text.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the last mark ended.
    end: usize,
    depth: usize,
    /// How many values were read.
    leaves: usize,
}

/// A tuple, and where each of its values is.
pub(super) struct Placed {
    pub(super) tuple: IntTuple,
    pub(super) span: Range<usize>,
    leaves: Vec<Range<usize>>,
}

impl Placed {
    /// Checks every value by itself, so that an error knows its place.
    pub(super) fn check(&self, check: fn(&Leaf) -> Result<()>) -> Result<()> {
        let mut places = self.leaves.iter();
        for leaf in self.tuple.leaves() {
            let place = places.next().cloned().unwrap_or(self.span.clone());
            check(leaf).map_err(|error| error.at(place))?;
        }
        Ok(())
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        let mut reader = Reader { text, at: 0, end: 0, depth: 0, leaves: 0 };
        reader.skip_blanks();
        reader
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn here(&self) -> usize {
        self.at
    }

    pub(super) fn since(&self, start: usize) -> Range<usize> {
        start..self.end.max(start)
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn pass(&mut self, bytes: usize) {
        self.at += bytes;
        self.end = self.at;
        self.skip_blanks();
    }

    /// Passes these letters and the blanks behind them, if they are here.
    pub(super) fn eat(&mut self, letters: &str) -> bool {
        let found = self.rest().starts_with(letters);
        if found {
            self.pass(letters.len());
        }
        found
    }

    pub(super) fn expect(&mut self, letters: &str, accepts: &str) -> Result<()> {
        if self.eat(letters) { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    pub(super) fn peek(&self) -> u8 {
        self.rest().bytes().next().unwrap_or(0)
    }

    /// The letters, digits and `_` that stand here.
    pub(super) fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        let is_word = rest.starts_with(|c: char| c.is_ascii_alphabetic());
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        if is_word { &rest[..end.unwrap_or(rest.len())] } else { "" }
    }

    pub(super) fn word(&mut self) -> &'a str {
        let word = self.peek_word();
        if !word.is_empty() {
            self.pass(word.len());
        }
        word
    }

    /// Everything up to one of these marks, which stays.
    pub(super) fn up_to(&mut self, marks: &[char]) -> &'a str {
        let rest = self.rest();
        let text = &rest[..rest.find(marks).unwrap_or(rest.len())];
        self.pass(text.len());
        text.trim_end()
    }

    /// Passes all that is left.
    pub(super) fn pass_all(&mut self) {
        self.pass(self.rest().len());
    }

    #[cold]
    pub(super) fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let rest = self.rest();
        let word = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        let (found, span) = match &rest[..length] {
            "" => ("the text ends here".to_owned(), self.end..self.end),
            word => (format!("unexpected {}", quoted(word)), self.at..self.at + length),
        };
        Error::new(found).of_kind(ErrorKind::Syntax).at(span).accepts(accepts)
    }

    /// A number with or without a sign, and with or without C++'s `_` before it.
    pub(super) fn integer(&mut self, accepts: &str) -> Result<i64> {
        let start = self.at;
        let rest = self.rest();
        let mark = usize::from(rest.starts_with('_'));
        let sign = usize::from(rest[mark..].starts_with('-'));
        let digits = rest[mark + sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.unexpected(accepts));
        }
        let length = mark + sign + digits;
        let value = rest[mark..length].parse::<i64>().ok().filter(|&value| value > i64::MIN);
        self.pass(length);
        value.ok_or_else(|| {
            Error::new(format!("{} does not fit 63 bits", quoted(&rest[..length])))
                .of_kind(ErrorKind::Overflow)
                .at(start..start + length)
                .accepts("at most 9223372036854775807")
        })
    }

    /// A number of a mode, or of bits.
    fn small(&mut self, accepts: &str) -> Result<u32> {
        let start = self.at;
        let value = self.integer(accepts)?;
        u32::try_from(value).map_err(|_| {
            let found = format!("{} is no such number", quoted(&value.to_string()));
            Error::new(found).at(self.since(start)).accepts(accepts)
        })
    }

    /// `4`, `_4`, `?`, `_`, `3@1`, `E<0,1>`, or a tuple of such.
    pub(super) fn tuple(&mut self) -> Result<Placed> {
        let start = self.at;
        let mut leaves = Vec::new();
        let tuple = self.nested(&mut leaves)?;
        Ok(Placed { tuple, span: self.since(start), leaves })
    }

    fn nested(&mut self, leaves: &mut Vec<Range<usize>>) -> Result<IntTuple> {
        let start = self.at;
        if !self.eat("(") {
            let leaf = self.leaf()?;
            leaves.push(self.since(start));
            self.leaves += 1;
            if self.leaves > MAX_LEAVES {
                return Err(Error::new(format!("over {MAX_LEAVES} values"))
                    .of_kind(ErrorKind::Limit)
                    .at(self.since(start))
                    .accepts("a smaller layout"));
            }
            return Ok(IntTuple::Leaf(leaf));
        }
        if self.depth == MAX_DEPTH {
            return Err(Error::new("tuples nest too deep")
                .of_kind(ErrorKind::Limit)
                .at(self.since(start))
                .accepts(format!("at most {MAX_DEPTH} within each other")));
        }
        self.depth += 1;
        let mut modes = Vec::new();
        while !self.eat(")") {
            modes.push(self.nested(leaves)?);
            if !self.eat(",") {
                self.expect(")", "a comma or )")?;
                break;
            }
        }
        self.depth -= 1;
        Ok(IntTuple::Tuple(modes))
    }

    fn leaf(&mut self) -> Result<Leaf> {
        const ACCEPTS: &str = "a number, ?, or a tuple such as (4,8)";
        if self.peek_word() == "E" {
            return self.unit_basis();
        }
        let next = self.rest().as_bytes().get(1).copied().unwrap_or(0);
        if self.peek() == b'_' && !(next.is_ascii_digit() || next == b'-') {
            self.eat("_");
            return Ok(Leaf::Any);
        }
        let value = if self.eat("?") { Err(self.dynamic()?) } else { Ok(self.integer(ACCEPTS)?) };
        if self.peek() == b'/' {
            return Err(self.unexpected("a whole number: a ratio is no value of a basis"));
        }
        let mut modes = Vec::new();
        while self.eat("@") {
            modes.push(self.small("the number of a mode")?);
        }
        modes.reverse();
        Ok(match (value, modes.is_empty()) {
            (Ok(value), true) => Leaf::Int(value),
            (Err(dynamic), true) => Leaf::Dynamic(dynamic),
            (value, false) => Leaf::Basis(Basis { value: value.ok(), modes }),
        })
    }

    /// `E<0,1>`, which is `1@1@0`.
    fn unit_basis(&mut self) -> Result<Leaf> {
        self.word();
        self.expect("<", "`<` and the modes, as in E<0,1>")?;
        let mut modes = vec![self.small("the number of a mode")?];
        while self.eat(",") {
            modes.push(self.small("the number of a mode")?);
        }
        self.expect(">", "`,` or `>`")?;
        Ok(Leaf::Basis(Basis { value: Some(1), modes }))
    }

    /// What follows `?`: nothing, or `{i64 div=8}`.
    fn dynamic(&mut self) -> Result<Dynamic> {
        let mut dynamic = Dynamic { bits: 32, divisor: 1 };
        if !self.eat("{") {
            return Ok(dynamic);
        }
        while !self.eat("}") {
            let start = self.at;
            let word = self.word();
            match word {
                "i1" | "i8" | "i16" | "i32" | "i64" => dynamic.bits = word[1..].parse().unwrap_or(32),
                "div" => {
                    self.expect("=", "`=` and a number, as in div=8")?;
                    let at = self.at;
                    dynamic.divisor =
                        u64::try_from(self.integer("a number")?).ok().filter(|&by| by > 0).ok_or_else(
                            || Error::new("a divisor below 1").at(self.since(at)).accepts("1 or more"),
                        )?;
                }
                _ => {
                    self.at = start;
                    return Err(self.unexpected("i1, i8, i16, i32, i64, div=8 or }"));
                }
            }
        }
        Ok(dynamic)
    }

    /// `S<3,4,3>` or `Sw<3,4,3>`, if a swizzle stands here.
    pub(super) fn swizzle(&mut self) -> Option<Result<Swizzle>> {
        let after = self.rest().strip_prefix("Sw").or_else(|| self.rest().strip_prefix('S'))?;
        if !after.trim_start().starts_with('<') {
            return None;
        }
        let start = self.at;
        self.pass(self.rest().len() - after.len());
        self.eat("<");
        Some(self.swizzle_numbers(start))
    }

    fn swizzle_numbers(&mut self, start: usize) -> Result<Swizzle> {
        const ACCEPTS: &str = "B, M and S, as in S<3,4,3>";
        let mut numbers = [0; 3];
        for (place, number) in numbers.iter_mut().enumerate() {
            if place > 0 {
                self.expect(",", ACCEPTS)?;
            }
            *number = self.integer(ACCEPTS)?;
        }
        self.expect(">", "`>`")?;
        let [bits, base, shift] = numbers;
        Swizzle::new(bits, base, shift).map_err(|error| error.at(self.since(start)))
    }

    /// What follows the shape of a layout: `:` and strides, or nothing, which means compact ones.
    pub(super) fn layout(&mut self, shape: Placed) -> Result<Layout> {
        shape.check(check_size)?;
        if !self.eat(":") {
            return Layout::compact(shape.tuple).map_err(|error| error.at(shape.span));
        }
        let stride = self.tuple()?;
        check_strides(&stride.tuple).map_err(|error| error.at(stride.span.clone()))?;
        Layout::new(shape.tuple, stride.tuple).map_err(|error| error.at(stride.span))
    }

    /// A tiler: a shape, a layout, `_`, or `[…;…]`. Within brackets a shape is a compact layout, before them one for each mode.
    pub(super) fn tiler(&mut self) -> Result<Tiler> {
        let start = self.at;
        if !self.eat("[") {
            let shape = self.tuple()?;
            return match (self.peek(), &shape.tuple) {
                (_, IntTuple::Leaf(Leaf::Any)) => Ok(Tiler::Any),
                (mark, _) if mark == b':' || self.depth > 0 => self.layout(shape).map(Tiler::Layout),
                _ => Tiler::of_shape(&shape.tuple).map_err(|error| error.at(shape.span)),
            };
        }
        if self.depth == MAX_DEPTH {
            return Err(Error::new("tilers nest too deep").of_kind(ErrorKind::Limit).at(self.since(start)));
        }
        self.depth += 1;
        let mut modes = Vec::new();
        while !self.eat("]") {
            modes.push(self.tiler()?);
            if !self.eat(";") {
                self.expect("]", "`;` or ]")?;
                break;
            }
        }
        self.depth -= 1;
        Ok(Tiler::Tuple(modes))
    }

    /// All of the text was read.
    pub(super) fn finish<T>(&self, value: T) -> Result<T> {
        match self.rest().is_empty() {
            true => Ok(value),
            false => Err(self.unexpected("the end of the text")),
        }
    }
}
