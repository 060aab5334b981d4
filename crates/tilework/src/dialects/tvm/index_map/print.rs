//! Index maps as TVM prints them.

use std::fmt;

use super::IndexMap;
use crate::dialect::affine::{Expr, Op};

/// How tightly operators bind.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;

/// An expression, with these names for the indices.
pub(super) fn text(expr: &Expr, names: &[String]) -> String {
    let mut text = String::new();
    print(expr, names, 0, &mut text);
    text
}

/// With parentheses around what binds less than `least`.
fn print(expr: &Expr, names: &[String], least: u8, into: &mut String) {
    let (op, parts) = match expr {
        Expr::Dim(dim) => return into.push_str(names.get(*dim).map_or("?", String::as_str)),
        Expr::Const(value) => return into.push_str(&value.to_string()),
        Expr::Symbol(_) => return into.push('?'),
        Expr::Op(op, parts) => (*op, parts),
    };
    let (own, sign) = match op {
        Op::Add => (SUM, " + "),
        Op::Mul => (PRODUCT, " * "),
        Op::FloorDiv | Op::CeilDiv => (PRODUCT, " // "),
        Op::Mod => (PRODUCT, " % "),
    };
    if own < least {
        into.push('(');
    }
    print(&parts[0], names, own, into);
    match (op, &parts[1]) {
        (Op::Add, Expr::Const(value @ ..0)) => into.push_str(&format!(" - {}", value.unsigned_abs())),
        (_, right) => {
            into.push_str(sign);
            // Operators that bind alike go from the left.
            print(right, names, own + 1, into);
        }
    }
    if own < least {
        into.push(')');
    }
}

impl IndexMap {
    /// `lambda i, j: (i // 16, j)`, without the way back.
    pub(super) fn lambda(&self) -> String {
        let results: Vec<String> = self.results.iter().map(|result| text(result, &self.names)).collect();
        let comma = if results.len() == 1 { "," } else { "" };
        format!("lambda {}: ({}{comma})", self.names.join(", "), results.join(", "))
    }
}

impl fmt::Display for IndexMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inverse {
            None => f.write_str(&self.lambda()),
            Some(inverse) => {
                write!(f, "T.index_map({}, inverse_index_map={})", self.lambda(), inverse.lambda())
            }
        }
    }
}
