//! Values as Python prints them: numbers, names, strings, tuples, lists, dicts, and what looks like a call.
//!
//! ```text
//! values := value { [","] value }                      commas are free outside brackets
//! value  := [key ("=" | ":")] (number | name | string | list | name list)
//! number := ["-"] (digits ["**" digits]) | "-(" … ")"
//! list   := "(" … ")" | "[" … "]" | "{" … "}"
//! ```

use std::ops::Range;

use crate::element::{Element, System};
use crate::error::{Error, ErrorKind, Result, quoted};

/// How deep brackets nest: beyond what anything prints, and far below what a stack holds.
const MAX_DEPTH: usize = 32;

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
    let mut reader = Reader { text, at: 0, depth: 0, looks };
    let mut items = Vec::new();
    reader.skip_blanks();
    while reader.at < text.len() {
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
        let bits = count.parse::<u32>().map_or(0, |count| 8 * count);
        return error
            .rule(format!("{name} has {count} bits in JAX and PyTorch, and {count} bytes in NumPy"))
            .accepts(format!("int{count} or int{bits}"));
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

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    looks: fn(&str) -> bool,
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Passes these letters and the blanks behind them, if they are here.
    fn eat(&mut self, letters: &str) -> bool {
        let found = self.rest().starts_with(letters);
        if found {
            self.at += letters.len();
            self.skip_blanks();
        }
        found
    }

    fn expect(&mut self, letters: &str, accepts: &str) -> Result<()> {
        if self.eat(letters) { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    fn unexpected(&self, accepts: impl Into<String>) -> Error {
        let rest = self.rest();
        let word = rest.bytes().take_while(|&byte| in_name(byte)).count();
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        let found = match &rest[..length] {
            "" => "the text ends here".to_owned(),
            word => format!("unexpected {}", quoted(word)),
        };
        Error::new(found).of_kind(ErrorKind::Syntax).at(self.at..self.at + length).accepts(accepts)
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
            let length = rest.bytes().take_while(|&byte| in_name(byte)).count();
            (&rest[..length], if rest[length..].starts_with("()") { length + 2 } else { length })
        };
        let after = rest[length..].trim_start();
        if length == 0 || !after.starts_with(['=', ':']) {
            return None;
        }
        let span = self.at..self.at + length;
        self.at = self.text.len() - after.len() + 1;
        self.skip_blanks();
        let kind = if quote { Kind::Text(name) } else { Kind::Name(name) };
        Some(Value { kind, span })
    }

    /// A value, whatever it is, up to the comma or the bracket after it.
    fn kept(&mut self) -> Result<Value<'a>> {
        let start = self.at;
        let mut open = 0_usize;
        let mut quote = None;
        for (place, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'\'' | b'"' if quote.is_none() => quote = Some(byte),
                byte if quote == Some(byte) => quote = None,
                _ if quote.is_some() => {}
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' | b',' if open == 0 => return Ok(self.keep(start, place)),
                b')' | b']' | b'}' => open -= 1,
                _ => {}
            }
        }
        match open > 0 || quote.is_some() {
            true => Err(Error::new("this has no end")
                .of_kind(ErrorKind::Syntax)
                .at(start..self.text.len())
                .accepts("a closing bracket")),
            false => Ok(self.keep(start, self.text.len() - start)),
        }
    }

    fn keep(&mut self, start: usize, length: usize) -> Value<'a> {
        let text = self.text[start..start + length].trim_end();
        self.at = start + length;
        Value { kind: Kind::Kept(text), span: start..start + text.len() }
    }

    fn value(&mut self) -> Result<Value<'a>> {
        const ACCEPTS: &str = "a number, a name, or a list such as (3, 5)";
        let start = self.at;
        let rest = self.rest();
        let kind = match rest.as_bytes() {
            [b'0'..=b'9' | b'-', ..] => Kind::Number(self.number()?),
            [b'\'' | b'"', ..] => {
                let Some(length) = rest[1..].find(&rest[..1]) else {
                    return Err(Error::new("this string has no end")
                        .of_kind(ErrorKind::Syntax)
                        .at(start..self.text.len()));
                };
                self.at += length + 2;
                Kind::Text(&rest[1..1 + length])
            }
            [b'(' | b'[', ..] => Kind::List(self.list()?),
            [b'{', ..] => Kind::Dict(self.list()?),
            [b'.', b'.', b'.', ..] => {
                self.at += 3;
                Kind::Kept("...")
            }
            _ if rest.starts_with("<class '") => {
                let inner = &rest["<class '".len()..];
                let end = inner.find("'>").ok_or_else(|| self.unexpected("<class 'numpy.float32'>"))?;
                self.at += "<class '".len() + end + "'>".len();
                Kind::Name(&inner[..end])
            }
            _ => {
                let mark = usize::from(rest.starts_with(['<', '>', '|']));
                let length = mark + rest[mark..].bytes().take_while(|&byte| in_name(byte)).count();
                if length == mark {
                    return Err(self.unexpected(ACCEPTS));
                }
                self.at += length;
                let name = &rest[..length];
                match rest.as_bytes().get(length) {
                    Some(b'(') => Kind::Call(name, self.list()?),
                    Some(b'[') => Kind::Index(name, self.list()?),
                    _ => Kind::Name(name),
                }
            }
        };
        let span = start..self.text[..self.at].trim_end().len().max(start);
        self.skip_blanks();
        Ok(Value { kind, span })
    }

    /// A list, up to its closing bracket.
    fn list(&mut self) -> Result<Vec<Item<'a>>> {
        let open = self.at;
        let close = match self.rest().as_bytes()[0] {
            b'(' => ")",
            b'[' => "]",
            _ => "}",
        };
        if self.depth == MAX_DEPTH {
            return Err(Error::new("brackets nest too deep")
                .of_kind(ErrorKind::Limit)
                .at(open..open + 1)
                .accepts(format!("at most {MAX_DEPTH} brackets within each other")));
        }
        self.at += 1;
        self.skip_blanks();
        self.depth += 1;
        let mut items = Vec::new();
        let closed = loop {
            if self.rest().starts_with(close) {
                break self.at;
            }
            items.push(self.item()?);
            if self.rest().starts_with(close) {
                break self.at;
            }
            if self.rest().starts_with('@') {
                // As JAX prints sizes of an array that is sharded: `float32[64@x,300]`.
                return Err(self
                    .unexpected("the sizes of one shard, without the names of axes")
                    .rule("what follows @ is an axis of the mesh, over which the dimension is spread"));
            }
            self.expect(",", &format!("a comma or {close}"))?;
        };
        self.depth -= 1;
        self.at = closed + 1;
        Ok(items)
    }

    fn number(&mut self) -> Result<i128> {
        let start = self.at;
        let negative = self.rest().starts_with('-');
        self.at += usize::from(negative);
        let value = if negative && self.eat("(") {
            let value = self.power(start)?;
            self.skip_blanks();
            if !self.rest().starts_with(')') {
                return Err(self.unexpected(")"));
            }
            self.at += 1;
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
        self.at += 2;
        let exponent = self.digits(start)?;
        let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
        power.filter(|power| *power <= 1 << 64).ok_or_else(|| self.too_large(start))
    }

    fn digits(&mut self, start: usize) -> Result<i128> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let ends = rest.as_bytes().get(length).is_none_or(|&byte| !in_name(byte));
        if length == 0 || !ends {
            return Err(self.unexpected("a whole number"));
        }
        self.at += length;
        let number = rest[..length].parse::<u64>();
        number.map(i128::from).map_err(|_| self.too_large(start))
    }

    fn too_large(&self, start: usize) -> Error {
        let end = self.at.max(start);
        Error::new(format!("{} does not fit 64 bits", quoted(&self.text[start..end])))
            .of_kind(ErrorKind::Overflow)
            .at(start..end)
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
            (&"(".repeat(1000), MAX_DEPTH, "brackets nest too deep"),
        ] {
            let error = values(text, |key| key != "sharding").expect_err(text);
            assert!(error.found().contains(found), "{text}: {error}");
            assert_eq!(error.span().map(|span| span.start), Some(at), "{text}: {error}");
        }
    }
}
