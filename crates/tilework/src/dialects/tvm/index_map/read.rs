//! Reading index maps.
//!
//! ```text
//! map     := lambda | [names "."] ("index_map" | "IndexMap.from_func") "(" lambda {"," key "=" value} ")"
//! lambda  := "lambda" name {"," name} ":" ( "(" sum {"," sum} [","] ")" | "[" … "]" | sum )
//! sum     := product {("+" | "-") product}
//! product := operand {("*" | "//" | "%") operand}
//! operand := name | NUMBER | "-" operand | "(" sum ")" | "T.int64" "(" NUMBER ")" | "floordiv" "(" sum "," sum ")"
//! ```

use std::ops::Range;

use super::super::reader::{Reader, is_dotted};
use super::{IndexMap, MAX_DIMS, Mapped};
use crate::dialect::affine::{Expr, Op, make};
use crate::dialect::{Known, sized};
use crate::error::{Error, ErrorKind, Result, counted, quoted};

/// The most operators of a map, which keeps every walk over its expressions within any thread's stack.
const MAX_OPERATORS: usize = 256;

/// Whether a text is an index map, without what may stand before it.
pub(in super::super) fn is_map(text: &str) -> bool {
    let head = text.split('(').next().unwrap_or("").trim_end();
    let rest = text.strip_prefix("lambda");
    rest.is_some_and(|rest| rest.starts_with(char::is_whitespace) && rest.contains(':'))
        || (is_dotted(head)
            && (head.rsplit('.').next() == Some("index_map") || head.ends_with("IndexMap.from_func")))
}

/// Reads a map; type and sizes are known, or stand before it.
pub(in super::super) fn read(text: &str, known: &Known) -> Result<Mapped> {
    let (own, rest) = match sized::prefix(text) {
        Some((array, rest)) => (Some(array), rest),
        None => (None, 0),
    };
    let body = &text[rest..];
    let map = map(body).map_err(|error| error.moved(rest))?;
    let (dims, element) = match (&own, known.dims, known.element) {
        (Some(array), _, _) => (&array.dims[..], array.element),
        (None, Some(dims), Some(element)) => (dims, element),
        _ => {
            return Err(Error::new("an index map alone")
                .at(0..text.len())
                .rule("type and sizes stand before it")
                .accepts(format!("such as f32[64,64] {}", map.lambda())));
        }
    };
    let whole = rest..text.len();
    let mapped = Mapped::new(element, dims, map).map_err(|error| error.at(whole.clone()))?;
    mapped.lower().map_err(|error| error.at(whole))?;
    Ok(mapped)
}

fn map(text: &str) -> Result<IndexMap> {
    let mut reader = Reader::new(text);
    if reader.peek_word() == "lambda" {
        let map = lambda(&mut reader)?;
        return reader.finish("the end of the text").map(|()| map);
    }
    reader.name();
    reader.expect("(", "`(` and a lambda")?;
    let mut map = lambda(&mut reader)?;
    while reader.eat(",") {
        let (key, at) = reader.placed_word();
        if key.is_empty() {
            break; // a comma before the bracket
        }
        reader.expect("=", &format!("`=` behind {}", quoted(key)))?;
        match key {
            "inverse_index_map" => map.inverse = Some(Box::new(lambda(&mut reader)?)),
            // The type of the indices, which moves nothing.
            "index_dtype" => {
                let quote = if reader.eat("'") { "'" } else { "\"" };
                reader.eat(quote);
                reader.word();
                reader.expect(quote, "a type in quotes, such as 'int64'")?;
            }
            _ => {
                return Err(Error::new(format!("the argument {}", quoted(key)))
                    .at(at)
                    .accepts("inverse_index_map, index_dtype or `)`"));
            }
        }
    }
    reader.expect(")", "`)`")?;
    reader.finish("the end of the text").map(|()| map)
}

fn lambda<'a>(reader: &mut Reader<'a>) -> Result<IndexMap> {
    if reader.peek_word() != "lambda" {
        return Err(reader.unexpected("lambda and the indices"));
    }
    reader.word();
    let mut scope = Scope { names: Vec::new(), operators: 0 };
    loop {
        if reader.rest().starts_with('*') {
            return Err(reader
                .unexpected("a name for each index, as in lambda i, j: …")
                .of_kind(ErrorKind::Unsupported)
                .rule("how many indices *args has is not in the text"));
        }
        let (name, at) = reader.placed_word();
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(Error::new("no name of an index").at(at).accepts("a name such as i"));
        }
        if scope.names.contains(&name) || name == "lambda" {
            return Err(Error::new(format!("the index {} a second time", quoted(name)))
                .at(at)
                .accepts("another name"));
        }
        if scope.names.len() == MAX_DIMS {
            return Err(Error::new(format!("over {MAX_DIMS} indices")).at(at));
        }
        scope.names.push(name);
        if !reader.eat(",") {
            break;
        }
    }
    reader.expect(":", "`:` and the results")?;
    let mut results = Vec::new();
    match list(reader.rest()) {
        Some(close) => {
            reader.pass(1);
            reader.items(close, |reader| {
                results.push(scope.sum(reader)?);
                Ok(())
            })?;
        }
        None => results.push(scope.sum(reader)?),
    }
    if results.is_empty() || results.len() > MAX_DIMS {
        return Err(Error::new(counted(results.len() as u64, "result"))
            .at(reader.since(0))
            .accepts(format!("1 to {MAX_DIMS}")));
    }
    Ok(IndexMap { names: scope.names.iter().map(|&name| name.to_owned()).collect(), results, inverse: None })
}

/// The bracket that closes what begins here, where that is all of the results: nothing is done with what is in it.
fn list(rest: &str) -> Option<&'static str> {
    let close = match rest.as_bytes().first()? {
        b'(' => ")",
        b'[' => "]",
        _ => return None,
    };
    let mut open = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' | b'[' => open += 1,
            b')' | b']' => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            let behind = rest[at + 1..].trim_start();
            return (behind.is_empty() || behind.starts_with([',', ')'])).then_some(close);
        }
    }
    // Whatever is missing is said where it is missing.
    Some(close)
}

/// The names of the indices, and how many operators were read.
struct Scope<'a> {
    names: Vec<&'a str>,
    operators: usize,
}

impl<'a> Scope<'a> {
    fn sum(&mut self, reader: &mut Reader<'a>) -> Result<Expr> {
        let mut sum = self.product(reader)?;
        loop {
            let at = reader.token();
            let minus = reader.eat("-");
            if !minus && !reader.eat("+") {
                return Ok(sum);
            }
            let mut next = self.product(reader)?;
            if minus {
                next = self.op(Op::Mul, next, Expr::Const(-1), &at)?;
            }
            sum = self.op(Op::Add, sum, next, &at)?;
        }
    }

    fn product(&mut self, reader: &mut Reader<'a>) -> Result<Expr> {
        let mut product = self.operand(reader)?;
        loop {
            let at = reader.token();
            let op = match reader.rest().as_bytes() {
                [b'/', b'/', ..] => Op::FloorDiv,
                [b'%', ..] => Op::Mod,
                [b'*', b'*', ..] => return Err(reader.unexpected("`+`, `-`, `*`, `//` or `%`")),
                [b'*', ..] => Op::Mul,
                [b'/', ..] => return Err(rounding(&at)),
                [b'<' | b'>' | b'&' | b'|' | b'^', ..] => {
                    return Err(reader.unexpected("`+`, `-`, `*`, `//` or `%`").rule(
                        "a map is read that is made of sums, products with numbers, quotients and remainders",
                    ));
                }
                _ => return Ok(product),
            };
            reader.pass(if op == Op::FloorDiv { 2 } else { 1 });
            let start = reader.here();
            let next = self.operand(reader)?;
            product = self.checked(op, product, next, reader.since(start))?;
        }
    }

    /// A product, quotient or remainder. `right` is where its second part is.
    fn checked(&mut self, op: Op, a: Expr, b: Expr, right: Range<usize>) -> Result<Expr> {
        match (op, &b) {
            (Op::Mul, _) if !a.is_symbolic() && !b.is_symbolic() => {
                Err(Error::new("a product of two indices")
                    .at(right)
                    .rule(
                        "a map is read that is made of sums, products with numbers, quotients and remainders",
                    )
                    .accepts("a number on one side"))
            }
            (Op::FloorDiv | Op::Mod, Expr::Const(1..)) | (Op::Mul, _) => self.op(op, a, b, &right),
            _ => Err(Error::new("a division by what is no number above 0")
                .at(right)
                .rule("a divisor is a number of 1 or more")
                .accepts("a number of 1 or more")),
        }
    }

    fn operand(&mut self, reader: &mut Reader<'a>) -> Result<Expr> {
        const ACCEPTS: &str = "an index, a number or `(`";
        let at = reader.token();
        if reader.eat("(") {
            let inner = reader.nested(|reader| self.sum(reader))?;
            reader.expect(")", "an operator, or `)`")?;
            return Ok(inner);
        }
        if reader.eat("-") {
            let inner = reader.nested(|reader| self.operand(reader))?;
            return self.op(Op::Mul, inner, Expr::Const(-1), &at);
        }
        if reader.is_at_digit() {
            return reader.signed(ACCEPTS).map(Expr::Const);
        }
        let (name, at) = reader.name();
        if name.is_empty() {
            return Err(reader.unexpected(ACCEPTS));
        }
        if let Some(dim) = self.names.iter().position(|own| *own == name) {
            return Ok(Expr::Dim(dim));
        }
        let op = match name {
            "AXIS_SEPARATOR" => {
                return Err(Error::new("an axis separator")
                    .of_kind(ErrorKind::Unsupported)
                    .at(at)
                    .rule("it makes a buffer of several physical dimensions, which has no single offset")
                    .accepts("a map without it"));
            }
            "truncdiv" | "truncmod" | "Div" => return Err(rounding(&at)),
            "floordiv" | "indexdiv" => Some(Op::FloorDiv),
            "floormod" | "indexmod" => Some(Op::Mod),
            "int32" | "int64" | "const" => None,
            _ => {
                let names = self.names[..self.names.len().min(16)].join(", ");
                return Err(Error::new(format!("no index {}", quoted(name))).at(at).accepts(names));
            }
        };
        reader.expect("(", &format!("`(` behind {name}"))?;
        let (inner, start) = reader.nested(|reader| {
            let inner = self.sum(reader)?;
            if op.is_some() {
                reader.expect(",", "`,` and the divisor")?;
            }
            Ok((inner, reader.here()))
        })?;
        let Some(op) = op else {
            // The type of a number, which is written behind it or before it.
            if reader.eat(",") {
                let quote = if reader.eat("'") { "'" } else { "\"" };
                reader.eat(quote);
                reader.word();
                reader.expect(quote, "a type in quotes, such as 'int64'")?;
            }
            reader.expect(")", "`)`")?;
            return Ok(inner);
        };
        let divisor = reader.nested(|reader| self.sum(reader))?;
        let right = reader.since(start);
        reader.expect(")", "`)`")?;
        self.checked(op, inner, divisor, right)
    }

    fn op(&mut self, op: Op, a: Expr, b: Expr, at: &Range<usize>) -> Result<Expr> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(Error::new(format!("over {MAX_OPERATORS} operators"))
                .of_kind(ErrorKind::Limit)
                .at(at.clone())
                .accepts("a shorter map"));
        }
        make(op, a, b).ok_or_else(|| {
            Error::new("a number that does not fit 64 bits").at(at.clone()).accepts("smaller numbers")
        })
    }
}

fn rounding(at: &Range<usize>) -> Error {
    Error::new("a division that rounds toward 0")
        .of_kind(ErrorKind::Unsupported)
        .at(at.clone())
        .rule("an index map divides by // and %, which round down")
        .accepts("//, % or floordiv")
}
