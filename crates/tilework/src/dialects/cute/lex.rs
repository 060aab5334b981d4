//! Marks, words, numbers and nested tuples in a text of CuTe.
//!
//! Blanks may stand between any two marks, and a trailing comma before a closing parenthesis.

use std::ops::Range;

use super::layout::{Layout, check_size, check_strides};
use super::swizzle::Swizzle;
use super::tiler::Tiler;
use super::tuple::{Basis, Dynamic, IntTuple, Leaf, MAX_DEPTH, MAX_LEAVES};
use crate::dialect::cursor::{Cursor, Tokens, stands_on};
use crate::error::{Error, ErrorKind, Result, quoted};

/// A place in a text.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    cursor: Cursor<'a>,
    /// How many values were read.
    leaves: usize,
}

stands_on!(Reader, cursor: Cursor);

const TOKENS: Tokens = Tokens {
    noun: "text",
    begins_word: |byte| byte.is_ascii_alphabetic(),
    in_word: |byte| byte.is_ascii_alphanumeric() || byte == b'_',
    digits_end: false,
    trim: str::trim_start,
    most_deep: MAX_DEPTH,
};

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
        Reader { cursor: Cursor::new(text, &TOKENS), leaves: 0 }
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
        let rest = self.rest();
        self.pass(rest.len());
    }

    /// A number with or without a sign, and with or without C++'s `_` before it.
    pub(super) fn integer(&mut self, accepts: &str) -> Result<i64> {
        let (start, rest) = (self.here(), self.rest());
        let mark = usize::from(rest.starts_with('_'));
        let sign = usize::from(rest[mark..].starts_with('-'));
        if !rest[mark + sign..].starts_with(|first: char| first.is_ascii_digit()) {
            return Err(self.unexpected(accepts));
        }
        self.step(mark + sign);
        let number = self.number(accepts).map_err(|error| error.at(self.since(start)))? as i64;
        Ok(if sign > 0 { -number } else { number })
    }

    /// A number of a mode, or of bits.
    fn small(&mut self, accepts: &str) -> Result<u32> {
        let start = self.here();
        let value = self.integer(accepts)?;
        u32::try_from(value).map_err(|_| {
            let found = format!("{} is no such number", quoted(&value.to_string()));
            Error::new(found).at(self.since(start)).accepts(accepts)
        })
    }

    /// `4`, `_4`, `?`, `_`, `3@1`, `E<0,1>`, or a tuple of such.
    pub(super) fn tuple(&mut self) -> Result<Placed> {
        let start = self.here();
        let mut leaves = Vec::new();
        let tuple = self.nested(&mut leaves)?;
        Ok(Placed { tuple, span: self.since(start), leaves })
    }

    fn nested(&mut self, leaves: &mut Vec<Range<usize>>) -> Result<IntTuple> {
        let start = self.here();
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
        self.enter("tuples")?;
        let mut modes = Vec::new();
        while !self.eat(")") {
            modes.push(self.nested(leaves)?);
            if !self.eat(",") {
                self.expect(")", "a comma or )")?;
                break;
            }
        }
        self.leave();
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
            let start = self.here();
            let word = self.word();
            match word {
                "i1" | "i8" | "i16" | "i32" | "i64" => dynamic.bits = word[1..].parse().unwrap_or(32),
                "div" => {
                    self.expect("=", "`=` and a number, as in div=8")?;
                    let at = self.here();
                    dynamic.divisor =
                        u64::try_from(self.integer("a number")?).ok().filter(|&by| by > 0).ok_or_else(
                            || Error::new("a divisor below 1").at(self.since(at)).accepts("1 or more"),
                        )?;
                }
                _ => {
                    self.go(start);
                    return Err(self.unexpected("i1, i8, i16, i32, i64, div=8 or }"));
                }
            }
        }
        Ok(dynamic)
    }

    /// `S<3,4,3>` or `Sw<3,4,3>`, if a swizzle stands here.
    pub(super) fn swizzle(&mut self) -> Option<Result<Swizzle>> {
        let rest = self.rest();
        let after = rest.strip_prefix("Sw").or_else(|| rest.strip_prefix('S'))?;
        if !after.trim_start().starts_with('<') {
            return None;
        }
        let start = self.here();
        self.pass(rest.len() - after.len());
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
        if !self.eat("[") {
            let shape = self.tuple()?;
            return match (self.peek(), &shape.tuple) {
                (_, IntTuple::Leaf(Leaf::Any)) => Ok(Tiler::Any),
                (mark, _) if mark == b':' || self.depth() > 0 => self.layout(shape).map(Tiler::Layout),
                _ => Tiler::of_shape(&shape.tuple).map_err(|error| error.at(shape.span)),
            };
        }
        self.enter("tilers")?;
        let mut modes = Vec::new();
        while !self.eat("]") {
            modes.push(self.tiler()?);
            if !self.eat(";") {
                self.expect("]", "`;` or ]")?;
                break;
            }
        }
        self.leave();
        Ok(Tiler::Tuple(modes))
    }
}
