//! Values as Python prints them: numbers, names, strings, tuples, lists, dicts, and what looks like a call.
//!
//! ```text
//! values := value { [","] value }                      commas are free outside brackets
//! value  := [key ("=" | ":")] (number | name | string | list | name list)
//! number := ["-"] (digits ["**" digits]) | "-(" … ")"
//! list   := "(" … ")" | "[" … "]" | "{" … "}"
//! ```

use std::ops::Range;

use crate::dialect::cursor::{Cursor, Tokens, stands_on};
use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// A value, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// `3`, `-1`, `-(2**63)`.
    Number(i128),
    /// `'float32'`
    Text(&'a str),
    /// `torch.float32`, `None`, and the class in `<class 'numpy.float32'>`.
    Name(&'a str),
    /// `(3, 5)`, `[3, 5]`
    List(Vec<Item<'a>>),
    /// `{'shape': (3, 5)}`
    Dict(Vec<Item<'a>>),
    /// `torch.Size([3, 5])`
    Call(&'a str, Vec<Item<'a>>),
    /// `float32[3,5]`
    Index(&'a str, Vec<Item<'a>>),
    /// What nobody looks at: the value of a key that the notation does not read, and `...`.
    Kept(&'a str),
}

/// A value with its key, if it has one: `shape=(3, 5)`, `'shape': (3, 5)`, `x.stride()=(5, 1)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    pub(crate) key: Option<Value<'a>>,
    pub(crate) value: Value<'a>,
}

/// All values of a text. `looks` says of which keys the values are read; others may be of any form.
pub(crate) fn values<'a>(text: &'a str, looks: fn(&str) -> bool) -> Result<Vec<Item<'a>>> {
    let mut reader = Reader::new(text, &TOKENS, looks);
    let mut items = Vec::new();
    while !reader.is_done() {
        items.push(reader.item()?);
        reader.eat(",");
    }
    Ok(items)
}

/// The attribute that a name is about: `x.shape` and `shape` are about `shape`, and `_tiling` about `tiling`.
pub(crate) fn attribute(name: &str) -> &str {
    let name = name.strip_suffix("()").unwrap_or(name);
    name.rsplit('.').next().unwrap_or(name).trim_start_matches('_')
}

impl Value<'_> {
    /// The attribute that this word is about, if it is a word: [`attribute`] of a name, a string, or a call of nothing.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) | Kind::Text(name) => Some(attribute(name)),
            Kind::Call(name, items) if items.is_empty() => Some(attribute(name)),
            _ => None,
        }
    }

    /// An error about this value.
    pub(crate) fn error(&self, found: impl Into<String>) -> Error {
        Error::new(found).at(self.span.clone())
    }

    /// The numbers of a tuple or a list, or of `torch.Size`. One number alone is a list of one.
    pub(crate) fn numbers(&self, accepts: &str) -> Result<Vec<(i128, Range<usize>)>> {
        let items = match &self.kind {
            Kind::List(items) => items,
            Kind::Call(_, items) => match &items[..] {
                [Item { key: None, value }] if matches!(value.kind, Kind::List(_)) => {
                    return value.numbers(accepts);
                }
                items => items,
            },
            Kind::Number(number) => return Ok(vec![(*number, self.span.clone())]),
            _ => return Err(self.error("this is no list of numbers").accepts(accepts)),
        };
        let number = |item: &Item| match item.value.kind {
            Kind::Number(number) if item.key.is_none() => Ok((number, item.value.span.clone())),
            _ => Err(item.value.error("this is no whole number").accepts(accepts)),
        };
        items.iter().map(number).collect()
    }

    /// The sizes of dimensions.
    pub(crate) fn sizes(&self) -> Result<Vec<u64>> {
        const ACCEPTS: &str = "sizes such as (3, 5)";
        let size = |(number, span): (i128, Range<usize>)| match u64::try_from(number) {
            Ok(size) if size <= i64::MAX as u64 => Ok(size),
            _ => Err(Error::new(format!("a size of {number}")).at(span).accepts("0 to 9223372036854775807")),
        };
        self.numbers(ACCEPTS)?.into_iter().map(size).collect()
    }

    /// The type of the elements: `float32`, `'float32'`, `torch.float32`, `dtype('<f4')`.
    pub(crate) fn element(&self) -> Result<Element> {
        let name = match &self.kind {
            Kind::Name(name) | Kind::Text(name) | Kind::Kept(name) => name,
            Kind::Call(_, items) => match &items[..] {
                [only] if only.key.is_none() => return only.value.element(),
                _ => return Err(self.error("this is no element type").accepts("dtype('float32')")),
            },
            _ => return Err(self.error("this is no element type").accepts("a name such as float32")),
        };
        element(name).ok_or_else(|| unknown_element(name).at(self.span.clone()))
    }
}

/// Who names elements in Python.
const SYSTEMS: [System; 6] =
    [System::Numpy, System::Torch, System::Jax, System::TorchShort, System::Xla, System::Npy];

/// The element that a library of Python calls this.
pub(crate) fn element(name: &str) -> Option<Element> {
    let element = Element::from_any_name(name)?;
    let is_python = || SYSTEMS.iter().any(|&system| element.name_in(system) == Some(name));
    (name.contains('.') || is_python()).then_some(element)
}

/// Whether this is meant as an element type, be it one or not: by its prefix, or the mark of an order of bytes.
pub(crate) fn is_type(name: &str) -> bool {
    const PREFIXES: [&str; 8] = ["torch.", "np.", "numpy.", "jnp.", "jax.numpy.", "ml_dtypes.", "<", ">"];
    element(name).is_some() || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// What is wrong with a name that is no element's.
fn unknown_element(name: &str) -> Error {
    let error = Error::new(format!("there is no element type {}", quoted(name)));
    let digits = name.trim_start_matches(['>', '<', '|', '=', 'i', 'f', 'u', 'c', 'b']);
    if name.starts_with('>') && !digits.is_empty() {
        return error.rule("bytes are in the order of the machine, the lowest first").accepts(match name {
            ">f4" => "<f4, or float32".to_owned(),
            _ => format!("<{}", &name[1..]),
        });
    }
    if let Some(count) = name.strip_prefix('i').filter(|count| ["1", "2", "4", "8"].contains(count)) {
        let bytes = count.parse::<u64>().unwrap_or(0);
        return error
            .rule(format!(
                "{name} has {} in JAX and PyTorch, and {} in NumPy",
                counted(bytes, "bit"),
                counted(bytes, "byte")
            ))
            .accepts(format!("int{count} or int{}", 8 * bytes));
    }
    let word = name.rsplit('.').next().unwrap_or(name);
    let meant = Element::nearest(word).and_then(|element| element.name_in(System::Numpy));
    let meant = meant.or_else(|| {
        let names = || Element::all().filter_map(|element| element.name_in(System::Numpy));
        crate::nearest(word, names())
    });
    match meant {
        Some(meant) => error.accepts(format!("a name such as float32; did you mean {meant}?")),
        None => error.accepts("a name of NumPy, PyTorch or JAX, such as float32"),
    }
}

/// Reads values one after the other.
pub(crate) struct Reader<'a> {
    cursor: Cursor<'a>,
    looks: fn(&str) -> bool,
}

stands_on!(Reader, cursor: Cursor);

pub(crate) const TOKENS: Tokens = Tokens {
    noun: "text",
    begins_word: in_name,
    in_word: in_name,
    digits_end: false,
    trim: str::trim_start,
    most_deep: 32,
};

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

impl<'a> Reader<'a> {
    /// `looks` says of which keys the values are read; others may be of any form.
    pub(crate) fn new(text: &'a str, tokens: &'static Tokens, looks: fn(&str) -> bool) -> Reader<'a> {
        Reader { cursor: Cursor::new(text, tokens), looks }
    }

    fn item(&mut self) -> Result<Item<'a>> {
        let Some(key) = self.key() else { return Ok(Item { key: None, value: self.value()? }) };
        let looks = match key.kind {
            Kind::Name(name) | Kind::Text(name) => (self.looks)(attribute(name)),
            _ => true,
        };
        let value = if looks { self.value()? } else { self.kept()? };
        Ok(Item { key: Some(key), value })
    }

    /// Passes a key and the mark behind it, if there is one here.
    fn key(&mut self) -> Option<Value<'a>> {
        let rest = self.rest();
        let quote = rest.starts_with(['\'', '"']);
        let (name, length) = if quote {
            let inner = &rest[1..1 + rest[1..].find(&rest[..1])?];
            (inner, inner.len() + 2)
        } else {
            let name = self.peek_word();
            (name, if rest[name.len()..].starts_with("()") { name.len() + 2 } else { name.len() })
        };
        let after = rest[length..].trim_start();
        if length == 0 || !after.starts_with(['=', ':']) {
            return None;
        }
        let span = self.here()..self.here() + length;
        self.pass(rest.len() - after.len() + 1);
        let kind = if quote { Kind::Text(name) } else { Kind::Name(name) };
        Some(Value { kind, span })
    }

    /// A value, whatever it is, up to the comma or the bracket after it.
    fn kept(&mut self) -> Result<Value<'a>> {
        let (start, rest) = (self.here(), self.rest());
        let mut open = 0_usize;
        let mut quote = None;
        let mut end = rest.len();
        for (place, byte) in rest.bytes().enumerate() {
            match byte {
                b'\'' | b'"' if quote.is_none() => quote = Some(byte),
                byte if quote == Some(byte) => quote = None,
                _ if quote.is_some() => {}
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' | b',' if open == 0 => {
                    end = place;
                    break;
                }
                b')' | b']' | b'}' => open -= 1,
                _ => {}
            }
        }
        if open > 0 || quote.is_some() {
            return Err(self.endless("this").accepts("a closing bracket"));
        }
        let text = rest[..end].trim_end();
        self.pass(text.len());
        Ok(Value { kind: Kind::Kept(text), span: self.since(start) })
    }

    /// What begins here goes on to the end of the text.
    fn endless(&self, what: &str) -> Error {
        let here = self.here();
        let error = Error::new(format!("{what} has no end")).of_kind(ErrorKind::Syntax);
        error.at(here..here + self.rest().len())
    }

    pub(crate) fn value(&mut self) -> Result<Value<'a>> {
        const ACCEPTS: &str = "a number, a name, or a list such as (3, 5)";
        let start = self.here();
        let rest = self.rest();
        let kind = match rest.as_bytes() {
            [b'0'..=b'9' | b'-', ..] => Kind::Number(self.number()?),
            [b'\'' | b'"', ..] => {
                let length = rest[1..].find(&rest[..1]).ok_or_else(|| self.endless("this string"))?;
                self.step(length + 2);
                Kind::Text(&rest[1..1 + length])
            }
            [b'(' | b'[', ..] => Kind::List(self.list()?),
            [b'{', ..] => Kind::Dict(self.list()?),
            [b'.', b'.', b'.', ..] => {
                self.step(3);
                Kind::Kept("...")
            }
            _ if rest.starts_with("<class '") => {
                let inner = &rest["<class '".len()..];
                let end = inner.find("'>").ok_or_else(|| self.unexpected("<class 'numpy.float32'>"))?;
                self.step("<class '".len() + end + "'>".len());
                Kind::Name(&inner[..end])
            }
            _ => {
                let mark = usize::from(rest.starts_with(['<', '>', '|']));
                let length = mark + rest[mark..].bytes().take_while(|&byte| in_name(byte)).count();
                if length == mark {
                    return Err(self.unexpected(ACCEPTS));
                }
                self.step(length);
                let name = &rest[..length];
                match self.peek() {
                    b'(' => Kind::Call(name, self.list()?),
                    b'[' => Kind::Index(name, self.list()?),
                    _ => Kind::Name(name),
                }
            }
        };
        let span = self.since(start);
        self.skip_blanks();
        Ok(Value { kind, span })
    }

    /// A list with its brackets, and no blanks behind them.
    fn list(&mut self) -> Result<Vec<Item<'a>>> {
        let close = match self.peek() {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        self.enter("brackets")?;
        self.pass(1);
        let items = self.items(close)?;
        self.leave();
        self.step(1);
        Ok(items)
    }

    /// What stands before a closing bracket.
    pub(crate) fn items(&mut self, close: u8) -> Result<Vec<Item<'a>>> {
        let mut items = Vec::new();
        while self.peek() != close {
            items.push(self.item()?);
            if self.peek() == b'@' {
                // As JAX prints sizes of an array that is sharded: `float32[64@x,300]`.
                return Err(self
                    .unexpected("the sizes of one shard, without the names of axes")
                    .rule("what follows @ is an axis of the mesh, over which the dimension is spread"));
            }
            if self.peek() != close {
                self.expect(",", &format!("a comma or {}", char::from(close)))?;
            }
        }
        Ok(items)
    }

    pub(crate) fn number(&mut self) -> Result<i128> {
        let start = self.here();
        let negative = self.peek() == b'-';
        if negative {
            self.step(1);
        }
        let value = if negative && self.eat("(") {
            let value = self.power(start)?;
            self.skip_blanks();
            if self.peek() != b')' {
                return Err(self.unexpected(")"));
            }
            self.step(1);
            value
        } else {
            self.power(start)?
        };
        Ok(if negative { -value } else { value })
    }

    /// Digits, or a power of two numbers.
    fn power(&mut self, start: usize) -> Result<i128> {
        let base = self.digits(start)?;
        if !self.rest().starts_with("**") {
            return Ok(base);
        }
        self.step(2);
        let exponent = self.digits(start)?;
        let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
        power.filter(|power| *power <= 1 << 64).ok_or_else(|| self.too_large(start))
    }

    fn digits(&mut self, start: usize) -> Result<i128> {
        let digits = self.peek_word();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected("a whole number"));
        }
        self.step(digits.len());
        digits.parse::<u64>().map(i128::from).map_err(|_| self.too_large(start))
    }

    fn too_large(&self, start: usize) -> Error {
        let at = self.since(start);
        Error::new(format!("{} does not fit 64 bits", quoted(self.slice(at.clone()))))
            .of_kind(ErrorKind::Overflow)
            .at(at)
            .accepts("a number below 2^64")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let looks = |key: &str| key != "sharding";
        match values(text, looks) {
            Ok(items) => items.iter().map(item).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    fn item(item: &Item) -> String {
        let key = match item.key.as_ref().map(|key| &key.kind) {
            Some(Kind::Name(key) | Kind::Text(key)) => format!("{}=", attribute(key)),
            _ => String::new(),
        };
        let list = |items: &[Item]| items.iter().map(self::item).collect::<Vec<_>>().join(",");
        key + &match &item.value.kind {
            Kind::Number(number) => number.to_string(),
            Kind::Text(text) => format!("'{text}'"),
            Kind::Name(name) => (*name).to_owned(),
            Kind::Kept(text) => format!("<{text}>"),
            Kind::List(items) => format!("({})", list(items)),
            Kind::Dict(items) => format!("{{{}}}", list(items)),
            Kind::Call(name, items) | Kind::Index(name, items) => format!("{name}({})", list(items)),
        }
    }

    #[test]
    fn what_python_prints_is_read() {
        for (text, expected) in [
            ("float32[3,5]", "float32(3,5)"),
            ("torch.Size([2, 3]) torch.float16", "torch.Size((2,3)) torch.float16"),
            ("shape=(3,), dtype='<f4'", "shape=(3) dtype='<f4'"),
            ("{'shape': (3, 5), 'data': (7, False)}", "{shape=(3,5),data=(7,False)}"),
            ("x.stride()=(5, 1) x.shape: ()", "stride=(5,1) shape=()"),
            ("f(sharding=A('x': 4, <d>), z=-(2**63))", "f(sharding=<A('x': 4, <d>)>,z=-9223372036854775808)"),
            ("<class 'numpy.float32'> <f4", "numpy.float32 <f4"),
            ("tensor(..., size=(2, 3))", "tensor(<...>,size=(2,3))"),
            ("-2**3 2**2", "-8 4"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_python_does_not_print_is_refused_where_it_goes_wrong() {
        for (text, at, found) in [
            ("(3 5)", 3, "unexpected `5`"),
            ("(3, 5", 5, "the text ends here"),
            ("(3,,5)", 3, "unexpected `,`"),
            ("3.5", 0, "unexpected `3.5`"),
            ("99999999999999999999", 0, "does not fit 64 bits"),
            ("2**999", 0, "does not fit 64 bits"),
            ("f(sharding=(", 11, "this has no end"),
            ("'abc", 0, "this string has no end"),
            ("é", 0, "unexpected `é`"),
            (&"(".repeat(1000), 32, "brackets nest too deep"),
        ] {
            let error = values(text, |key| key != "sharding").expect_err(text);
            assert!(error.found().contains(found), "{text}: {error}");
            assert_eq!(error.span().map(|span| span.start), Some(at), "{text}: {error}");
        }
    }
}
