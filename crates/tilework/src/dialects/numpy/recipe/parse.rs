//! The form of the code: which functions are called on what, with which arguments.

use std::ops::Range;

use super::MOST;
use crate::dialect::cursor::{Tokens, stands_on};
use crate::dialect::python::{Item, Kind, Reader, TOKENS, Value};
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
    const CODE: Tokens = Tokens { noun: "code", ..TOKENS };
    let mut parser = Parser { reader: Reader::new(text, &CODE, |_| true), calls: Vec::new() };
    parser.chain()?;
    parser.finish("a call such as .reshape(2, 3), or the end of the text")?;
    Ok(parser.calls)
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
    reader: Reader<'a>,
    calls: Vec<Call<'a>>,
}

stands_on!(Parser, reader: Reader);

impl<'a> Parser<'a> {
    fn push(&mut self, call: Call<'a>) -> Result<()> {
        if self.calls.len() == MOST {
            return Err(Error::new(format!("over {MOST} calls")).of_kind(ErrorKind::Limit).at(call.span));
        }
        self.calls.push(call);
        Ok(())
    }

    /// An array with everything that is called on it.
    fn chain(&mut self) -> Result<()> {
        self.enter("calls")?;
        if !(self.peek().is_ascii_alphabetic() || self.peek() == b'_') {
            return Err(self.unexpected("an array such as x, or a call such as np.pad(x, (0, 1))"));
        }
        let (name, span) = self.placed_word();
        if is_function(name) && self.eat("(") {
            self.chain()?;
            let (args, keyed) = match self.eat(",") {
                true => self.arguments()?,
                false => self.expect(")", "a comma or )").map(|()| (Vec::new(), Vec::new()))?,
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
                let (start, rest) = (self.here(), self.rest());
                let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let name = &rest[..rest.bytes().take_while(in_name).count()];
                self.pass(name.len());
                self.method(name, start..start + name.len())?;
            } else if self.peek() == b'[' {
                self.part()?;
            } else {
                self.leave();
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
        if name == "T" && self.peek() != b'(' {
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

    /// `[2:]`, `[:15]`, `[..., :4]`, `[:, :4]`: arguments are what stands before the last comma, as names, and the places.
    fn part(&mut self) -> Result<()> {
        let start = self.here();
        self.eat("[");
        let mut args = Vec::new();
        for mark in ["...", ":"] {
            while self.rest().strip_prefix(mark).is_some_and(|rest| rest.trim_start().starts_with(',')) {
                let at = self.here();
                self.pass(mark.len());
                args.push(Value { kind: Kind::Name(mark), span: at..at + mark.len() });
                self.expect(",", "a comma")?;
                self.skip_blanks();
            }
        }
        if self.peek() == b':' {
            args.push(Value { kind: Kind::Number(0), span: self.here()..self.here() });
        } else {
            args.push(self.place()?);
        }
        self.expect(":", "`:` between two places")?;
        if self.peek() != b']' {
            args.push(self.place()?);
        }
        self.expect("]", "`]`")?;
        let span = self.since(start);
        self.push(Call { module: None, name: "[", args, keyed: Vec::new(), span })
    }

    fn place(&mut self) -> Result<Value<'a>> {
        let start = self.here();
        let kind = Kind::Number(self.number()?);
        let span = self.since(start);
        self.skip_blanks();
        Ok(Value { kind, span })
    }

    /// Arguments up to the closing bracket, and the bracket.
    fn arguments(&mut self) -> Result<(Vec<Value<'a>>, Vec<Keyed<'a>>)> {
        let (start, mut args, mut keyed) = (self.here(), Vec::new(), Vec::new());
        for Item { key, value } in self.items(b')')? {
            if !matches!(value.kind, Kind::Number(_) | Kind::Text(_) | Kind::Name(_) | Kind::List(_)) {
                return Err(value
                    .error(format!("unexpected {}", quoted(self.slice(value.span.clone()))))
                    .of_kind(ErrorKind::Syntax)
                    .accepts("a number, or numbers such as (0, 1)"));
            }
            let Some(key) = key else {
                args.push(value);
                continue;
            };
            let mark = self.slice(key.span.end..value.span.start).trim();
            match key.kind {
                Kind::Name(name) if mark == "=" && !name.starts_with(|c: char| c.is_ascii_digit()) => {
                    keyed.push((name, value));
                }
                _ => {
                    return Err(key
                        .error("no name of an argument")
                        .of_kind(ErrorKind::Syntax)
                        .accepts("a name and `=`, such as mode='constant'"));
                }
            }
        }
        self.expect(")", "a comma or )")?;
        match args.len() + keyed.len() > 2 * MOST {
            true => Err(Error::new("too many arguments").of_kind(ErrorKind::Limit).at(self.since(start))),
            false => Ok((args, keyed)),
        }
    }
}
