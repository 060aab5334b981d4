//! The sizes that TVM gives the array a map leads to: `IndexMap.map_shape`.
//!
//! TVM takes results apart into iterators, and where it can, pads dimensions to what divides them: `i % 4` has 4 values
//! whatever `i` is, and `2 * i` over 4 values has room for 8. Where it cannot, a result has the values that it takes. Which of
//! the two it is matters only where they differ. Then the map has to be so plain that TVM does take it apart: each result a
//! piece of one dimension, with pieces of a dimension that do not overlap.

use super::{IndexMap, print};
use crate::dialect::affine::{Expr, Op, bounds};
use crate::error::{Error, ErrorKind, Result};
use tilework_core::InOrder;

/// The sizes, from major to minor.
///
/// # Errors
/// A result that does not begin at 0, and sizes that depend on how TVM takes the map apart.
pub(super) fn shape(map: &IndexMap, dims: &[u64]) -> Result<Vec<u64>> {
    let refused = |number: usize, found: &str, rule: &str| {
        let result = print::text(&map.results[number], &map.names);
        Error::new(format!("result {number}, {result}, {found}"))
            .of_kind(ErrorKind::Unsupported)
            .field("index map")
            .rule(rule.to_owned())
            .accepts("quotients and remainders of the indices, as in i // 16, i % 16")
    };
    let is_empty = dims.contains(&0);
    let (mut sizes, mut differ) = (Vec::new(), None);
    for (number, result) in map.results.iter().enumerate() {
        if steps_back(result) {
            return Err(refused(number, "counts backward", "TVM finds iterators that count upward only"));
        }
        let (low, high) = bounds(result, dims);
        let (least, most) = taken(result, dims);
        if low != 0 && !is_empty {
            return Err(refused(
                number,
                &format!("begins at {low}"),
                "the array that a map leads to has indices from 0",
            ));
        }
        if (low, high) != (least, most) || step(result) != 1 || is_empty {
            differ = differ.or(Some(number));
        }
        let size = u64::try_from(high.max(0) + 1).ok().filter(|&size| size <= i64::MAX as u64);
        sizes.push(size.ok_or_else(|| refused(number, "is too large", "sizes fit 63 bits"))?);
    }
    let Some(number) = differ else { return Ok(sizes) };
    plain(map, dims).ok_or_else(|| {
        refused(
            number,
            "has a size that depends on how TVM takes the map apart",
            "its size is plain where each result is a piece of one index, and pieces do not overlap",
        )
    })
}

/// The least and the largest value that a result takes, by intervals.
fn taken(expr: &Expr, dims: &[u64]) -> (i128, i128) {
    let Expr::Op(op, parts) = expr else { return bounds(expr, dims) };
    let (low, high) = taken(&parts[0], dims);
    match (op, &parts[1]) {
        (Op::Add, right) => {
            let right = taken(right, dims);
            (low.saturating_add(right.0), high.saturating_add(right.1))
        }
        (Op::Mul, Expr::Const(by)) => {
            let ends = [low, high].map(|end| end.saturating_mul((*by).into()));
            (ends[0].min(ends[1]), ends[0].max(ends[1]))
        }
        (Op::FloorDiv, Expr::Const(by)) => (low.div_euclid((*by).into()), high.div_euclid((*by).into())),
        (Op::Mod, Expr::Const(by)) => {
            let by = i128::from(*by);
            match low.div_euclid(by) == high.div_euclid(by) {
                true => (low.rem_euclid(by), high.rem_euclid(by)),
                false => (0, by - 1),
            }
        }
        _ => bounds(expr, dims),
    }
}

/// Whether anything is multiplied by a negative number.
fn steps_back(expr: &Expr) -> bool {
    match expr {
        Expr::Op(op, parts) => {
            (*op == Op::Mul && matches!(parts[1], Expr::Const(..0))) || parts.iter().any(steps_back)
        }
        _ => false,
    }
}

/// What every value of a result is a multiple of; 1 for a constant.
fn step(expr: &Expr) -> u64 {
    fn of(expr: &Expr) -> u64 {
        match expr {
            Expr::Const(value) => value.unsigned_abs(),
            Expr::Op(Op::Add, parts) => crate::arithmetic::gcd(of(&parts[0]), of(&parts[1])),
            Expr::Op(Op::Mul, parts) => match parts[1] {
                Expr::Const(by) => by.unsigned_abs().saturating_mul(of(&parts[0])),
                _ => 1,
            },
            _ => 1,
        }
    }
    of(expr).max(1)
}

/// A piece of an index: `(index + shift) // low % (high / low)`.
#[derive(Clone, Copy)]
struct Piece {
    dim: usize,
    shift: u64,
    low: u64,
    high: Option<u64>,
}

/// The piece that an expression is.
fn piece(expr: &Expr) -> Option<Piece> {
    let (op, parts) = match expr {
        Expr::Dim(dim) => return Some(Piece { dim: *dim, shift: 0, low: 1, high: None }),
        Expr::Op(op, parts) => (*op, parts),
        _ => return None,
    };
    let of = piece(&parts[0])?;
    let Expr::Const(by) = parts[1] else { return None };
    let by = u64::try_from(by).ok().filter(|&by| by > 0)?;
    let cut = of.low.checked_mul(by)?;
    match op {
        Op::Add if of.low == 1 && of.high.is_none() && of.shift == 0 => Some(Piece { shift: by, ..of }),
        Op::FloorDiv if of.high.is_none_or(|high| high.is_multiple_of(cut)) => Some(Piece { low: cut, ..of }),
        Op::Mod if of.high.is_none_or(|high| high.is_multiple_of(cut)) => {
            Some(Piece { high: Some(cut), ..of })
        }
        _ => None,
    }
}

/// The sizes where each result is a piece of an index, times a number, and pieces of an index do not overlap.
fn plain(map: &IndexMap, dims: &[u64]) -> Option<Vec<u64>> {
    let mut pieces: Vec<Vec<Piece>> = vec![Vec::new(); dims.len()];
    let mut sizes = Vec::new();
    for result in &map.results {
        let (of, scale) = match result {
            Expr::Const(0) => {
                sizes.push(1);
                continue;
            }
            Expr::Op(Op::Mul, parts) => match parts[1] {
                Expr::Const(by) => (&parts[0], u64::try_from(by).ok()?),
                _ => return None,
            },
            other => (other, 1),
        };
        let found = piece(of)?;
        let values = match found.high {
            Some(high) => high / found.low,
            None if found.shift >= found.low => return None, // it begins above 0
            None => dims[found.dim].checked_add(found.shift)?.div_ceil(found.low),
        };
        sizes.push(values.checked_mul(scale)?);
        pieces[found.dim].push(found);
    }
    let is_apart = |pieces: &mut Vec<Piece>| {
        pieces.order_by_key(|piece| piece.low);
        pieces.windows(2).all(|pair| {
            let fits = pair[0].high.is_some_and(|high| pair[1].low.is_multiple_of(high));
            fits && pair[0].shift == pair[1].shift
        })
    };
    pieces.iter_mut().all(is_apart).then_some(sizes)
}
