//! Affine maps: `affine_map<(d0, d1) -> (d0 floordiv 8, d1 mod 128)>`, read and printed.
//!
//! From the tightest: parentheses, unary minus, `* floordiv ceildiv mod`, `+ -`; operators of one kind from the left.

use std::fmt;

use super::lex::Reader;
use crate::dialect::affine::{Expr, Op, make};
use crate::error::{Error, Result, quoted};
use crate::spelling::nearest;

/// The most operators of a map, which keeps every walk over its expressions within any thread's stack.
const MAX_OPERATORS: usize = 256;

/// An affine map: from the index of a `memref` to that of the array that is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    pub(super) dims: usize,
    pub(super) symbols: usize,
    pub(super) results: Vec<Expr>,
}

/// MLIR's word for an operation.
fn word(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Mul => "*",
        Op::FloorDiv => "floordiv",
        Op::CeilDiv => "ceildiv",
        Op::Mod => "mod",
    }
}

/// The names of a map's dimensions and symbols, and how many operators were read.
struct Scope<'a> {
    dims: Vec<&'a str>,
    symbols: Vec<&'a str>,
    operators: usize,
}

impl AffineMap {
    /// What stands within `affine_map<…>`.
    pub(super) fn read(reader: &mut Reader) -> Result<AffineMap> {
        let mut scope = Scope { dims: Vec::new(), symbols: Vec::new(), operators: 0 };
        reader.expect("(", "`(` and the dimensions, as in (d0, d1)")?;
        names(reader, ")", &mut scope.dims, &[])?;
        if reader.eat("[") {
            names(reader, "]", &mut scope.symbols, &scope.dims)?;
        }
        reader.expect("->", "`->` and the results")?;
        reader.expect("(", "`(` and the results")?;
        let mut results = Vec::new();
        reader.items(")", |reader| {
            results.push(scope.sum(reader)?);
            Ok(())
        })?;
        Ok(AffineMap { dims: scope.dims.len(), symbols: scope.symbols.len(), results })
    }

    /// Number of dimensions of the index.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Number of results: the dimensions of the array that is stored.
    pub fn results(&self) -> usize {
        self.results.len()
    }
}

/// The names in the head of a map.
fn names<'a>(reader: &mut Reader<'a>, close: &str, into: &mut Vec<&'a str>, others: &[&str]) -> Result<()> {
    reader.items(close, |reader| {
        let at = reader.token();
        let name = reader.word();
        if name.is_empty() {
            return Err(reader.unexpected("a name such as d0"));
        }
        if into.contains(&name) || others.contains(&name) {
            return Err(Error::new(format!("redefinition of identifier {}", quoted(name)))
                .at(at)
                .rule("every dimension and symbol of a map has its own name")
                .accepts("another name"));
        }
        if into.len() == super::MAX_DIMS {
            return Err(Error::new(format!("over {} dimensions", super::MAX_DIMS)).at(at));
        }
        into.push(name);
        Ok(())
    })
}

impl Scope<'_> {
    fn sum(&mut self, reader: &mut Reader) -> Result<Expr> {
        let mut sum = self.product(reader)?;
        loop {
            let at = reader.token();
            let minus = reader.slice(at.clone()) == "-";
            if minus {
                reader.eat("-");
            } else if !reader.eat("+") {
                return Ok(sum);
            }
            let mut next = self.product(reader)?;
            if minus {
                next = self.op(Op::Mul, next, Expr::Const(-1), at.clone())?;
            }
            sum = self.op(Op::Add, sum, next, at)?;
        }
    }

    fn product(&mut self, reader: &mut Reader) -> Result<Expr> {
        let mut product = self.operand(reader)?;
        loop {
            let at = reader.token();
            let op = match reader.peek_word() {
                "floordiv" => Op::FloorDiv,
                "ceildiv" => Op::CeilDiv,
                "mod" => Op::Mod,
                "" if reader.peek() == b'*' => Op::Mul,
                "" => return Ok(product),
                word => {
                    let near = nearest(word, ["floordiv", "ceildiv", "mod"]);
                    let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
                    return Err(reader.unexpected(format!("`+`, `-`, `*`, floordiv, ceildiv or mod{near}")));
                }
            };
            if op == Op::Mul {
                reader.eat("*");
            } else {
                reader.word();
            }
            let right = reader.token();
            let next = self.operand(reader)?;
            let is_positive = !matches!(next, Expr::Const(i64::MIN..=0));
            if op == Op::Mul && !product.is_symbolic() && !next.is_symbolic() {
                return Err(Error::new("non-affine expression: a product of two dimensions")
                    .at(at)
                    .rule("at least one of the multiply operands has to be either a constant or symbolic")
                    .accepts("a constant on one side"));
            }
            if op != Op::Mul && (!next.is_symbolic() || !is_positive) {
                let word = word(op);
                return Err(Error::new(format!(
                    "{} on the right of {word}",
                    quoted(reader.slice(right.clone()))
                ))
                .at(right)
                .rule(format!(
                    "right operand of {word} has to be either a constant or symbolic, and positive"
                ))
                .accepts("a constant from 1 on"));
            }
            product = self.op(op, product, next, at)?;
        }
    }

    fn operand(&mut self, reader: &mut Reader) -> Result<Expr> {
        let accepts = "a dimension, a symbol, a constant or `(`";
        match reader.peek() {
            b'(' => {
                reader.eat("(");
                let inner = reader.nested(|reader| self.sum(reader))?;
                reader.expect(")", "an operator, or `)`")?;
                Ok(inner)
            }
            b'-' => {
                let at = reader.token();
                reader.eat("-");
                let inner = reader.nested(|reader| self.operand(reader))?;
                self.op(Op::Mul, inner, Expr::Const(-1), at)
            }
            b'0'..=b'9' => Ok(Expr::Const(reader.number(accepts)? as i64)),
            _ => {
                let at = reader.token();
                let word = reader.peek_word();
                let place = |names: &[&str]| names.iter().position(|name| *name == word);
                let found =
                    place(&self.dims).map(Expr::Dim).or_else(|| place(&self.symbols).map(Expr::Symbol));
                if let Some(found) = found {
                    reader.word();
                    return Ok(found);
                }
                if word.is_empty() {
                    return Err(reader.unexpected(accepts));
                }
                let names: Vec<&str> = self.dims.iter().chain(&self.symbols).copied().collect();
                Err(Error::new(format!("use of undeclared identifier {}", quoted(word))).at(at).accepts(
                    match names.as_slice() {
                        [] => "a constant: the map has no dimensions".to_owned(),
                        names => names[..names.len().min(16)].join(", "),
                    },
                ))
            }
        }
    }

    fn op(&mut self, op: Op, a: Expr, b: Expr, at: std::ops::Range<usize>) -> Result<Expr> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(Error::new(format!("over {MAX_OPERATORS} operators"))
                .at(at)
                .accepts("a shorter map"));
        }
        make(op, a, b).ok_or_else(|| {
            Error::new("a constant that does not fit 64 bits").at(at).accepts("smaller constants")
        })
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |letter: &str, count: usize| {
            (0..count).map(|number| format!("{letter}{number}")).collect::<Vec<_>>().join(", ")
        };
        write!(f, "affine_map<({})", list("d", self.dims))?;
        if self.symbols > 0 {
            write!(f, "[{}]", list("s", self.symbols))?;
        }
        let results: Vec<String> = self.results.iter().map(|result| Text(result).to_string()).collect();
        write!(f, " -> ({})>", results.join(", "))
    }
}

/// An expression as MLIR writes it.
pub(super) struct Text<'a>(pub(super) &'a Expr);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Dim(dim) => write!(f, "d{dim}"),
            Expr::Symbol(symbol) => write!(f, "s{symbol}"),
            Expr::Const(value) => write!(f, "{value}"),
            Expr::Op(Op::Add, parts) => {
                let [a, b] = &**parts;
                write!(f, "{}", Text(a))?;
                match b {
                    Expr::Const(value @ ..0) => write!(f, " - {}", value.unsigned_abs()),
                    Expr::Op(Op::Mul, parts) => match &**parts {
                        [of, Expr::Const(-1)] => write!(f, " - {}", Tight(of)),
                        [of, Expr::Const(by @ ..0)] if *by > i64::MIN => {
                            write!(f, " - {} * {}", Tight(of), -by)
                        }
                        _ => write!(f, " + {}", Text(b)),
                    },
                    Expr::Op(Op::Add, _) => write!(f, " + {}", Tight(b)),
                    _ => write!(f, " + {}", Text(b)),
                }
            }
            Expr::Op(Op::Mul, parts) if parts[1] == Expr::Const(-1) => write!(f, "-{}", Tight(&parts[0])),
            Expr::Op(op, parts) => write!(f, "{} {} {}", Tight(&parts[0]), word(*op), Tight(&parts[1])),
        }
    }
}

/// An operand, in parentheses where it is an operation.
struct Tight<'a>(&'a Expr);

impl fmt::Display for Tight<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Op(..) => write!(f, "({})", Text(self.0)),
            other => write!(f, "{}", Text(other)),
        }
    }
}
