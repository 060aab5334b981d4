//! What the results of an affine map can be, as MLIR bounds them when it normalises a `memref`.
//!
//! MLIR flattens an expression over its dimensions and *quotients*: `e floordiv m` is a whole number q for which
//! 0 ≤ e − m·q ≤ m − 1, and `e mod m` is e − m·q. So quotients and remainders of one sum join: (d0 floordiv 4) · 4 + d0 mod 4
//! is d0. Then it takes the largest value over all numbers that obey these rules, be they the values of an index or not:
//! `d0 mod 8` counts as 8 values whatever d0 is, so tiles are padded.
//!
//! Here q is (e − r) / m, where r is anything from 0 to m − 1. That makes the expression a sum of dimensions and remainders,
//! and its bounds are those of the parts. They count fractions in. So each operation also has the bounds that follow from
//! its operands, rounded to whole numbers, and the tighter of both are taken. MLIR rounds while it eliminates one unknown
//! after the other, and of some results that have one remainder within another operation it so finds bounds that are tighter
//! or looser than these.

use std::collections::BTreeMap;

use super::{Expr, Op};

/// Whole multiples of variables, by their numbers, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Flat {
    constant: i128,
    terms: BTreeMap<usize, i128>,
}

impl Flat {
    fn of(variable: usize) -> Flat {
        Flat { constant: 0, terms: BTreeMap::from([(variable, 1)]) }
    }

    /// None where a number overflows.
    fn add(&mut self, other: &Flat, factor: i128) -> Option<()> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (&variable, &coefficient) in &other.terms {
            let sum = self.terms.entry(variable).or_default();
            *sum = sum.checked_add(coefficient.checked_mul(factor)?)?;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        Some(())
    }

    fn times(&self, factor: i128) -> Option<Flat> {
        let mut product = Flat::default();
        product.add(self, factor)?;
        Some(product)
    }

    /// The greatest number that divides `common` and all of this.
    fn common(&self, common: u128) -> u128 {
        self.terms
            .values()
            .chain([&self.constant])
            .fold(common, |common, value| gcd(common, value.unsigned_abs()))
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

enum Variable {
    /// From 0 to its largest value.
    Dim(i128),
    /// ⌊of / by⌋, of variables before it.
    Quotient { of: Flat, by: i128 },
}

/// The bounds of expressions over dimensions of known sizes.
pub(super) struct Bounds {
    variables: Vec<Variable>,
}

/// An expression's least and largest value, and its flat form where no number overflows.
struct Found {
    low: i128,
    high: i128,
    flat: Option<Flat>,
}

impl Bounds {
    pub(super) fn new(dims: &[u64]) -> Bounds {
        let variable = |&size: &u64| Variable::Dim(i128::from(size.max(1) - 1));
        Bounds { variables: dims.iter().map(variable).collect() }
    }

    /// The least and the largest value.
    pub(super) fn of(&mut self, expr: &Expr) -> (i128, i128) {
        let found = self.find(expr);
        (found.low, found.high)
    }

    fn find(&mut self, expr: &Expr) -> Found {
        let Expr::Op(op, parts) = expr else {
            return match expr {
                Expr::Dim(dim) => match self.variables[*dim] {
                    Variable::Dim(most) => Found { low: 0, high: most, flat: Some(Flat::of(*dim)) },
                    Variable::Quotient { .. } => Found { low: 0, high: 0, flat: None },
                },
                Expr::Const(value) => {
                    let constant = i128::from(*value);
                    let flat = Flat { constant, ..Flat::default() };
                    Found { low: constant, high: constant, flat: Some(flat) }
                }
                // The value of a symbol is not known: no such map is lowered.
                _ => Found { low: 0, high: 0, flat: None },
            };
        };
        let (a, b) = (self.find(&parts[0]), self.find(&parts[1]));
        let by = b.low;
        let (low, high, flat) = match op {
            Op::Add => {
                let sum = a.flat.zip(b.flat).and_then(|(mut sum, other)| sum.add(&other, 1).map(|()| sum));
                (a.low.saturating_add(b.low), a.high.saturating_add(b.high), sum)
            }
            Op::Mul => {
                // One side is a constant, which stands on the right.
                let (first, last) = (a.low.saturating_mul(by), a.high.saturating_mul(by));
                (first.min(last), first.max(last), a.flat.and_then(|flat| flat.times(by)))
            }
            Op::FloorDiv => {
                let flat = a.flat.and_then(|flat| self.quotient(flat, by));
                (a.low.div_euclid(by), a.high.div_euclid(by), flat)
            }
            Op::CeilDiv => {
                let flat = a.flat.and_then(|mut flat| {
                    flat.constant = flat.constant.checked_add(by - 1)?;
                    self.quotient(flat, by)
                });
                let up = |value: i128| -value.saturating_neg().div_euclid(by);
                (up(a.low), up(a.high), flat)
            }
            Op::Mod => {
                let flat = a.flat.and_then(|mut flat| {
                    let quotient = self.quotient(flat.clone(), by)?;
                    flat.add(&quotient, -by)?;
                    Some(flat)
                });
                (0, by - 1, flat)
            }
        };
        // Only where parts join can the flat form say more than the operands.
        let joined =
            flat.as_ref().filter(|_| matches!(op, Op::Add | Op::Mod)).and_then(|flat| self.range(flat));
        let (least, most) = joined.unwrap_or((low, high));
        Found { low: low.max(least), high: high.min(most), flat }
    }

    /// ⌊flat / by⌋: what `by` divides leaves, and the rest is a variable.
    fn quotient(&mut self, flat: Flat, by: i128) -> Option<Flat> {
        let mut whole = Flat { constant: flat.constant.div_euclid(by), ..Flat::default() };
        let mut rest = Flat { constant: flat.constant.rem_euclid(by), ..Flat::default() };
        for (variable, coefficient) in flat.terms {
            match coefficient % by == 0 {
                true => whole.terms.insert(variable, coefficient / by),
                false => rest.terms.insert(variable, coefficient),
            };
        }
        if rest.terms.is_empty() {
            return Some(whole);
        }
        // What all coefficients share, the remainder does too; it loses what is left of the constant.
        let constant = std::mem::take(&mut rest.constant);
        let common = i128::try_from(rest.common(by.unsigned_abs())).ok()?;
        let of = Flat {
            constant: constant / common,
            terms: rest.terms.iter().map(|(&variable, value)| (variable, value / common)).collect(),
        };
        let by = by / common;
        let known = self.variables.iter().position(
            |variable| matches!(variable, Variable::Quotient { of: own, by: cut } if *own == of && *cut == by),
        );
        let variable = known.unwrap_or(self.variables.len());
        if known.is_none() {
            self.variables.push(Variable::Quotient { of, by });
        }
        whole.add(&Flat::of(variable), 1)?;
        Some(whole)
    }

    /// The least and the largest value with (of − r) / by in place of every quotient. None where a number overflows.
    fn range(&self, flat: &Flat) -> Option<(i128, i128)> {
        let mut flat = flat.clone();
        // All of `flat`, `least` and `most` are divided by this.
        let mut divisor = 1_i128;
        let (mut least, mut most) = (0_i128, 0_i128);
        while let Some((variable, coefficient)) = flat.terms.pop_last() {
            let extent = match &self.variables[variable] {
                Variable::Dim(most) => coefficient.checked_mul(*most)?,
                Variable::Quotient { of, by } => {
                    let times =
                        by / i128::try_from(gcd(by.unsigned_abs(), coefficient.unsigned_abs())).ok()?;
                    divisor = divisor.checked_mul(times)?;
                    (least, most) = (least.checked_mul(times)?, most.checked_mul(times)?);
                    flat = flat.times(times)?;
                    let each = coefficient.checked_mul(times)? / by;
                    flat.add(of, each)?;
                    each.checked_neg()?.checked_mul(by - 1)?
                }
            };
            least = least.checked_add(extent.min(0))?;
            most = most.checked_add(extent.max(0))?;
        }
        let (least, most) = (least.checked_add(flat.constant)?, most.checked_add(flat.constant)?);
        Some((-least.checked_neg()?.div_euclid(divisor), most.div_euclid(divisor)))
    }
}

/// The least and the largest value of an expression over an index of these sizes. A remainder has all values below its
/// divisor.
pub(crate) fn bounds(expr: &Expr, dims: &[u64]) -> (i128, i128) {
    let Expr::Op(op, parts) = expr else {
        return match expr {
            Expr::Dim(dim) => (0, dims.get(*dim).map_or(0, |&size| i128::from(size.max(1) - 1))),
            Expr::Const(value) => (i128::from(*value), i128::from(*value)),
            _ => (0, 0),
        };
    };
    let ((low, high), right) = (bounds(&parts[0], dims), bounds(&parts[1], dims));
    match op {
        Op::Add => (low.saturating_add(right.0), high.saturating_add(right.1)),
        Op::Mul => {
            // One side is a constant.
            let products = [low, high].map(|a| [right.0, right.1].map(|b| a.saturating_mul(b)));
            let all = products.as_flattened().iter();
            (all.clone().copied().min().unwrap_or(0), all.copied().max().unwrap_or(0))
        }
        Op::FloorDiv => (low.div_euclid(right.0), high.div_euclid(right.0)),
        Op::CeilDiv => (-(-low).div_euclid(right.0), -(-high).div_euclid(right.0)),
        Op::Mod => (0, right.0 - 1),
    }
}
