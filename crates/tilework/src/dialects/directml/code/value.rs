//! Values in code: numbers, lists, names, and sums and products of them.

use std::rc::Rc;

use super::{It, Item, MOST, Placed, Reader, TOKENS, which, without_comments};
use crate::error::Result;

impl<'a> Reader<'a> {
    /// `product { ("+" | "-") product }`, and what binds looser.
    pub(super) fn value(&mut self) -> Result<Placed<'a>> {
        self.binary(0)
    }

    fn binary(&mut self, level: usize) -> Result<Placed<'a>> {
        const LEVELS: [&[&str]; 4] = [&["|"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];
        let Some(marks) = LEVELS.get(level) else { return self.unary() };
        let start = self.here();
        let mut left = self.binary(level + 1)?;
        loop {
            let rest = self.rest();
            let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) else { return Ok(left) };
            if ["||", "|=", "+=", "-=", "*=", "/=", "%=", "->", "++", "--"]
                .iter()
                .any(|other| rest.starts_with(other))
            {
                return Ok(left);
            }
            self.pass(mark.len());
            let right = self.binary(level + 1)?;
            let span = self.since(start);
            left = Placed { it: combined(mark, &left.it, &right.it, self.slice(span.clone())), span };
        }
    }

    fn unary(&mut self) -> Result<Placed<'a>> {
        let start = self.here();
        self.enter("brackets")?;
        let it = match self.peek() {
            b'-' => {
                self.pass(1);
                let value = self.unary()?.it;
                combined("-", &It::Number(0), &value, self.slice(self.since(start)))
            }
            b'&' => {
                self.pass(1);
                let value = self.unary()?;
                // `&sizes[0]` is the array.
                let text = self.slice(value.span);
                let array = text.strip_suffix(']').and_then(|text| text.trim_end().strip_suffix('0'));
                let array = array.and_then(|text| text.trim_end().strip_suffix('['));
                match array.map(str::trim_end) {
                    Some(name) => self.named_value(name),
                    None => value.it,
                }
            }
            b'{' => It::List(self.list(b'}')?),
            b'(' if self.passes_cast() => self.unary()?.it,
            b'(' => {
                self.pass(1);
                let value = self.value()?;
                self.expect(")", ")")?;
                value.it
            }
            b'0'..=b'9' => self.literal()?,
            _ => self.name()?,
        };
        let mut it = it;
        loop {
            if self.eat("[") {
                let index = self.value()?;
                self.expect("]", "]")?;
                it = match (&it, index.it) {
                    (It::List(items), It::Number(index)) => {
                        let item = usize::try_from(index).ok().and_then(|index| items.get(index));
                        item.map_or(It::Call(self.slice(self.since(start))), |item| item.value.it.clone())
                    }
                    _ => It::Call(self.slice(self.since(start))),
                };
            } else if self.peek() == b'.' || self.rest().starts_with("->") {
                let length = if self.peek() == b'.' { 1 } else { 2 };
                self.pass(length);
                let method = self.word();
                if self.peek() == b'(' {
                    self.list(b')')?;
                }
                it = match (method, &it) {
                    ("data" | "begin" | "cbegin", _) => it,
                    ("size", It::List(items)) => It::Number(items.len() as i128),
                    _ => It::Call(self.slice(self.since(start))),
                };
            } else {
                self.leave();
                return Ok(Placed { it, span: self.since(start) });
            }
        }
    }

    /// Passes `(UINT)`, `(const UINT*)` or `(UINT[])` before a value.
    fn passes_cast(&mut self) -> bool {
        let rest = self.rest();
        let Some(end) = rest.find(')') else { return false };
        let inside = rest[1..end].split('[').next().unwrap_or_default();
        let name = inside.trim_end_matches([' ', '*', '&']);
        let is_type = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte == b' ' || (TOKENS.in_word)(byte))
            && !self.values.contains_key(name);
        let behind = without_comments(&rest[end + 1..]);
        let is_cast = is_type
            && behind.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | '{' | '&'));
        if is_cast {
            self.pass(end + 1);
        }
        is_cast
    }

    /// `64`, `0x40`, `64u`, `1'000`.
    fn literal(&mut self) -> Result<It<'a>> {
        let rest = self.rest();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'\'').count();
        let text: String = rest[..length].chars().filter(|&c| c != '\'').collect();
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
        let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let number = number.map_err(|_| self.unexpected("a whole number"))?;
        self.pass(length);
        Ok(It::Number(i128::from(number)))
    }

    fn name(&mut self) -> Result<It<'a>> {
        let start = self.here();
        let word = self.word();
        if word.is_empty() {
            return Err(self.unexpected("a value"));
        }
        if self.peek() == b'<' && self.passes_template() {
            // `static_cast<UINT>`, `std::array<UINT, 4>`
        }
        let which = which(word);
        let own = word.rsplit(':').next().unwrap_or(word);
        let items = match self.peek() {
            b'(' => self.list(b')')?,
            b'{' => self.list(b'}')?,
            _ => return Ok(self.named_value(word)),
        };
        if let Some(which) = which {
            return Ok(It::Desc(which, items));
        }
        let is_type = matches!(own, "array" | "vector" | "initializer_list" | "Dimensions" | "span");
        Ok(match (own, &items[..]) {
            ("ARRAYSIZE" | "_countof" | "size" | "sizeof" | "ssize", [one]) => {
                let each = if own == "sizeof" { 4 } else { 1 }; // of numbers that are UINT
                match &one.value.it {
                    It::List(items) => It::Number(each * items.len() as i128),
                    It::Number(_) if own == "sizeof" => It::Number(each),
                    It::Name("UINT" | "uint32_t" | "float") if own == "sizeof" => It::Number(each),
                    _ => It::Call(self.slice(self.since(start))),
                }
            }
            (_, [one]) if one.field.is_none() && is_number_type(own) => one.value.it.clone(),
            (_, [Item { value: Placed { it: It::List(items), .. }, .. }]) if is_type => {
                It::List(items.clone())
            }
            _ if is_type => It::List(items),
            _ => It::Call(self.slice(self.since(start))),
        })
    }

    pub(super) fn named_value(&self, word: &'a str) -> It<'a> {
        match word {
            "nullptr" | "NULL" | "std::nullopt" | "dml::NullOpt" => It::Null,
            "DML_TENSOR_FLAG_NONE" => It::Number(0),
            "DML_TENSOR_FLAG_OWNED_BY_DML" => It::Number(1),
            _ => self.values.get(word).cloned().unwrap_or(It::Name(word)),
        }
    }

    fn passes_template(&mut self) -> bool {
        let rest = self.rest();
        let mut depth = 0_usize;
        for (at, byte) in rest.bytes().enumerate().take(256) {
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                b';' | b'{' | b'}' | b'"' => return false,
                _ => {}
            }
            if depth == 0 {
                self.pass(at + 1);
                return true;
            }
        }
        false
    }

    /// `{1, 2, 3}`, `{.Sizes = sizes}` and `(1, 2)`.
    pub(super) fn list(&mut self, close: u8) -> Result<Rc<Vec<Item<'a>>>> {
        self.enter("brackets")?;
        self.pass(1);
        let mut items = Vec::new();
        while self.peek() != close {
            let field = match self.eat(".") {
                true => Some(self.placed_word()),
                false => None,
            };
            if field.is_some() && self.peek() != b'{' {
                self.expect("=", "=")?;
            }
            let value = self.value()?;
            if items.len() < MOST {
                items.push(Item { field, value });
            }
            if !self.eat(",") && self.peek() != close {
                return Err(self.unexpected(", or a closing bracket"));
            }
        }
        self.leave();
        self.pass(1);
        Ok(Rc::new(items))
    }
}

/// Whether a call of this name gives back what it is given.
fn is_number_type(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "static_cast",
        "gsl::narrow_cast",
        "narrow_cast",
        "UINT",
        "UINT64",
        "uint32_t",
        "uint64_t",
        "size_t",
    ];
    NAMES.contains(&name)
}

/// Two numbers as one. `text` is what stands for both.
fn combined<'a>(mark: &str, left: &It<'a>, right: &It<'a>, text: &'a str) -> It<'a> {
    let (Some(left), Some(right)) = (left.number(), right.number()) else { return It::Call(text) };
    let shift = u32::try_from(right).ok().filter(|&right| right < 64);
    let number = match mark {
        "|" => Some(left | right),
        "<<" => shift.and_then(|shift| left.checked_mul(1 << shift)),
        ">>" => shift.map(|shift| left >> shift),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    number.map_or(It::Call(text), It::Number)
}
