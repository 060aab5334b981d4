//! The form of the code: which functions are called on what, with which arguments.

use std::ops::Range;

use super::MOST;
use crate::error::{Error, ErrorKind, Result, quoted};

/// Functions, each called on the array in its first argument.
const FUNCTIONS: [&str; 16] = [
    "pad",
    "reshape",
    "transpose",
    "permute",
    "permute_dims",
    "ravel",
    "flatten",
    "ascontiguousarray",
    "as_strided",
    "rearrange",
    "swapaxes",
    "moveaxis",
    "movedim",
    "expand_dims",
    "unsqueeze",
    "squeeze",
];

/// What stands before the name of a function.
const MODULES: [&str; 11] = [
    "np",
    "numpy",
    "np.lib.stride_tricks",
    "numpy.lib.stride_tricks",
    "stride_tricks",
    "torch",
    "torch.nn.functional",
    "F",
    "einops",
    "jnp",
    "jax.numpy",
];

/// Methods of arrays.
const METHODS: [&str; 14] = [
    "reshape",
    "view",
    "transpose",
    "permute",
    "swapaxes",
    "ravel",
    "flatten",
    "contiguous",
    "copy",
    "clone",
    "as_strided",
    "movedim",
    "unsqueeze",
    "squeeze",
];

/// How deep functions and lists nest.
const MAX_DEPTH: usize = 32;

/// An argument, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind<'a> {
    Number(i128),
    Text(&'a str),
    Name(&'a str),
    List(Vec<Value<'a>>),
}

/// A named argument.
type Keyed<'a> = (&'a str, Value<'a>);

/// A call. `[a:b]` is called `[`, with the numbers as arguments, and `.T` is called `T`.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// What stands before the name, unless it is a method.
    pub(super) module: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) args: Vec<Value<'a>>,
    pub(super) keyed: Vec<Keyed<'a>>,
    pub(super) span: Range<usize>,
}

/// All calls of a text, in the order in which they happen.
pub(super) fn calls(text: &str) -> Result<Vec<Call<'_>>> {
    let mut parser = Parser { text, at: 0, calls: Vec::new() };
    parser.skip_blanks();
    parser.chain(0)?;
    match parser.at == text.len() {
        true => Ok(parser.calls),
        false => Err(parser.unexpected("a call such as .reshape(2, 3), or the end of the text")),
    }
}

/// Whether a text begins as code does: with a function that is read here, or a method of some array.
pub(in super::super) fn is_code(text: &str) -> bool {
    let length = dotted(text);
    let (name, rest) = text.split_at(length);
    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
    match rest.trim_start().as_bytes().first() {
        // `x.T` alone, and what says of what.
        None | Some(b'#') => last == "T" && !before.is_empty(),
        _ if rest.starts_with(char::is_whitespace) => false,
        Some(b'(') => is_function(name) || !before.is_empty() && METHODS.contains(&last),
        // What is behind the brackets tells it from an element type with sizes.
        Some(b'[') => {
            let behind = rest.split_once("].").map_or("", |(_, behind)| behind);
            let method = &behind[..dotted(behind)];
            METHODS.contains(&method) && behind[method.len()..].starts_with('(')
        }
        _ => false,
    }
}

fn is_function(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((module, name)) => MODULES.contains(&module) && FUNCTIONS.contains(&name),
        // Other names are those of operations elsewhere too.
        None => matches!(name, "rearrange" | "as_strided"),
    }
}

/// The bytes of a name with dots with which a text begins.
fn dotted(text: &str) -> usize {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    text.bytes().take_while(in_name).count()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    calls: Vec<Call<'a>>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len();
            self.skip_blanks();
        }
        found
    }

    fn expect(&mut self, mark: &str, accepts: &str) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(accepts)) }
    }

    fn unexpected(&self, accepts: &str) -> Error {
        let word = dotted(self.rest());
        let length = if word > 0 { word } else { self.rest().chars().next().map_or(0, char::len_utf8) };
        let found = match &self.rest()[..length] {
            "" => "the code ends here".to_owned(),
            word => format!("unexpected {}", quoted(word)),
        };
        Error::new(found).of_kind(ErrorKind::Syntax).at(self.at..self.at + length).accepts(accepts)
    }

    /// A name with dots, which may be empty.
    fn name(&mut self) -> (&'a str, Range<usize>) {
        let (start, length) = (self.at, dotted(self.rest()));
        self.at += length;
        let name = &self.text[start..self.at];
        self.skip_blanks();
        (name, start..start + length)
    }

    fn push(&mut self, call: Call<'a>) -> Result<()> {
        if self.calls.len() == MOST {
            return Err(Error::new(format!("over {MOST} calls")).of_kind(ErrorKind::Limit).at(call.span));
        }
        self.calls.push(call);
        Ok(())
    }

    /// An array with everything that is called on it.
    fn chain(&mut self, depth: usize) -> Result<()> {
        if depth == MAX_DEPTH {
            return Err(Error::new("calls nest too deep")
                .of_kind(ErrorKind::Limit)
                .at(self.at..self.at)
                .accepts(format!("at most {MAX_DEPTH} calls within each other")));
        }
        let (name, span) = self.name();
        let is_start = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_start {
            self.at = span.start;
            return Err(self.unexpected("an array such as x, or a call such as np.pad(x, (0, 1))"));
        }
        if self.rest().starts_with('(') && is_function(name) {
            self.eat("(");
            self.chain(depth + 1)?;
            let (args, keyed) = match self.eat(",") {
                true => self.arguments()?,
                false => self.close().map(|()| (Vec::new(), Vec::new()))?,
            };
            let (module, name) = name.rsplit_once('.').unwrap_or(("", name));
            self.push(Call { module: Some(module), name, args, keyed, span })?;
        } else {
            let mut at = span.start;
            for (number, part) in name.split('.').enumerate() {
                // The first is the array; whatever stands between it and what is called belongs to its name.
                let own = at..at + part.len();
                at = own.end + 1;
                if number > 0 && part == "T" && own.end < span.end {
                    self.transposed(own)?;
                } else if number > 0 && at > span.end {
                    self.method(part, own)?;
                }
            }
        }
        loop {
            if self.eat(".") {
                let start = self.at;
                let length =
                    self.rest().bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
                self.at += length.count();
                let name = &self.text[start..self.at];
                self.skip_blanks();
                self.method(name, start..start + name.len())?;
            } else if self.rest().starts_with('[') {
                self.slice()?;
            } else {
                return Ok(());
            }
        }
    }

    /// `.T`, the transposed array.
    fn transposed(&mut self, span: Range<usize>) -> Result<()> {
        self.push(Call { module: None, name: "T", args: Vec::new(), keyed: Vec::new(), span })
    }

    /// What is called on the array before it.
    fn method(&mut self, name: &'a str, span: Range<usize>) -> Result<()> {
        if name == "T" && !self.rest().starts_with('(') {
            return self.transposed(span);
        }
        let call = Call { module: None, name, args: Vec::new(), keyed: Vec::new(), span: span.clone() };
        if !METHODS.contains(&name) {
            let near = crate::nearest(name, METHODS).map(|near| format!("; did you mean {near}?"));
            return Err(Error::new(format!("{} is not read", quoted(name)))
                .of_kind(ErrorKind::Unsupported)
                .at(span)
                .rule("a recipe pads, reshapes, transposes and flattens")
                .accepts(format!("reshape, transpose, permute, ravel{}", near.unwrap_or_default())));
        }
        self.expect("(", "`(` and the arguments")?;
        let (args, keyed) = self.arguments()?;
        self.push(Call { args, keyed, ..call })
    }

    /// `[2:]`, `[:15]`
    fn slice(&mut self) -> Result<()> {
        let start = self.at;
        self.eat("[");
        let mut args = Vec::new();
        let zero = |at: usize| Value { kind: Kind::Number(0), span: at..at };
        args.push(if self.rest().starts_with(':') { zero(self.at) } else { self.number()? });
        self.expect(":", "`:` between two places")?;
        if !self.rest().starts_with(']') {
            args.push(self.number()?);
        }
        self.expect("]", "`]`")?;
        let span = start..self.text[..self.at].trim_end().len();
        self.push(Call { module: None, name: "[", args, keyed: Vec::new(), span })
    }

    fn close(&mut self) -> Result<()> {
        self.expect(")", "a comma or )")
    }

    /// Arguments up to the closing bracket.
    fn arguments(&mut self) -> Result<(Vec<Value<'a>>, Vec<Keyed<'a>>)> {
        let (mut args, mut keyed) = (Vec::new(), Vec::new());
        while !self.eat(")") {
            let value = self.value(0)?;
            match value.kind {
                Kind::Name(name) if self.eat("=") => keyed.push((name, self.value(0)?)),
                _ => args.push(value),
            }
            if args.len() + keyed.len() > 2 * MOST {
                return Err(Error::new("too many arguments").of_kind(ErrorKind::Limit).at(self.at..self.at));
            }
            if !self.eat(",") {
                self.close()?;
                break;
            }
        }
        Ok((args, keyed))
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>> {
        const ACCEPTS: &str = "a number, or numbers such as (0, 1)";
        let start = self.at;
        let kind = match self.rest().as_bytes() {
            [b'0'..=b'9' | b'-', ..] => return self.number(),
            [quote @ (b'\'' | b'"'), ..] => {
                let inner = &self.rest()[1..];
                let Some(length) = inner.find(char::from(*quote)) else {
                    return Err(Error::new("this string has no end")
                        .of_kind(ErrorKind::Syntax)
                        .at(start..self.text.len()));
                };
                self.at += length + 2;
                Kind::Text(&inner[..length])
            }
            [open @ (b'(' | b'['), ..] => {
                if depth == MAX_DEPTH {
                    return Err(Error::new("lists nest too deep")
                        .of_kind(ErrorKind::Limit)
                        .at(start..start + 1));
                }
                let close = if *open == b'(' { ")" } else { "]" };
                self.at += 1;
                self.skip_blanks();
                let mut items = Vec::new();
                while !self.rest().starts_with(close) {
                    items.push(self.value(depth + 1)?);
                    if items.len() > 2 * MOST {
                        return Err(Error::new("a list that is too long")
                            .of_kind(ErrorKind::Limit)
                            .at(start..self.at));
                    }
                    if !self.eat(",") && !self.rest().starts_with(close) {
                        return Err(self.unexpected("a comma or a closing bracket"));
                    }
                }
                self.at += 1;
                Kind::List(items)
            }
            _ => match self.name() {
                ("", _) => return Err(self.unexpected(ACCEPTS)),
                (name, span) => return Ok(Value { kind: Kind::Name(name), span }),
            },
        };
        let span = start..self.at;
        self.skip_blanks();
        Ok(Value { kind, span })
    }

    fn number(&mut self) -> Result<Value<'a>> {
        let start = self.at;
        let sign = usize::from(self.rest().starts_with('-'));
        let digits = self.rest()[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (own, after) = self.rest().split_at(sign + digits);
        if digits == 0 || dotted(after) > 0 {
            return Err(self.unexpected("a whole number"));
        }
        self.at += own.len();
        let span = start..self.at;
        let number = own.parse::<i64>().map_err(|_| {
            Error::new(format!("{} does not fit 63 bits", quoted(own)))
                .of_kind(ErrorKind::Overflow)
                .at(span.clone())
        })?;
        self.skip_blanks();
        Ok(Value { kind: Kind::Number(number.into()), span })
    }
}
