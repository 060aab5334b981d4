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

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use proptest::prelude::*;

    const DIMS: [u64; 3] = [5, 1, 4];

    fn op(op: Op, a: &Expr, b: &Expr) -> Expr {
        make(op, a.clone(), b.clone()).unwrap()
    }

    fn by(kind: Op, a: &Expr, number: i64) -> Expr {
        op(kind, a, &Expr::Const(number))
    }

    fn value(expr: &Expr, index: &[i128]) -> i128 {
        let Expr::Op(op, parts) = expr else {
            return match expr {
                Expr::Dim(dim) => index[*dim],
                Expr::Const(value) => i128::from(*value),
                _ => unreachable!("no symbols"),
            };
        };
        let (a, b) = (value(&parts[0], index), value(&parts[1], index));
        match op {
            Op::Add => a + b,
            Op::Mul => a * b,
            Op::FloorDiv => a.div_euclid(b),
            Op::CeilDiv => a.div_euclid(b) + i128::from(a.rem_euclid(b) > 0),
            Op::Mod => a.rem_euclid(b),
        }
    }

    /// The least and the largest value over all indices.
    fn taken(expr: &Expr) -> (i128, i128) {
        let [a, b, c] = DIMS.map(|size| 0..i128::from(size));
        let indices =
            a.flat_map(|a| b.clone().flat_map(move |b| [[a, b, 0], [a, b, 1], [a, b, 2], [a, b, 3]]));
        assert_eq!(c.end, 4);
        let values: Vec<i128> = indices.map(|index| value(expr, &index)).collect();
        (*values.iter().min().unwrap(), *values.iter().max().unwrap())
    }

    /// An operation on the number of an expression and a constant, or on two expressions.
    type Step = (u8, usize, usize, i64);

    /// Builds expressions from the dimensions, each from those before it; the last is meant.
    fn built(steps: &[Step], kinds: &[Op]) -> Expr {
        let mut all: Vec<Expr> = (0..3).map(Expr::Dim).collect();
        for &(kind, a, b, number) in steps {
            let (a, b) = (&all[a % all.len()], &all[b % all.len()]);
            all.push(match kinds[usize::from(kind) % kinds.len()] {
                Op::Add if number % 3 == 0 => by(Op::Add, a, number),
                Op::Add => op(Op::Add, a, b),
                Op::Mul => by(Op::Mul, a, number),
                kind => by(kind, a, number.abs().max(1)),
            });
        }
        all.pop().unwrap()
    }

    proptest! {
        #[test]
        fn every_value_is_within_the_bounds(
            steps in prop::collection::vec((0..5_u8, 0..9_usize, 0..9_usize, -6..7_i64), 1..8),
        ) {
            let expr = built(&steps, &[Op::Add, Op::Mul, Op::FloorDiv, Op::CeilDiv, Op::Mod]);
            let (least, most) = taken(&expr);
            for (low, high) in [bounds(&expr, &DIMS), Bounds::new(&DIMS).of(&expr)] {
                prop_assert!(low <= least && most <= high, "{least} to {most}, not {low} to {high}: {expr:?}");
            }
        }

        #[test]
        fn bounds_are_reached_where_each_dimension_is_used_once(
            of_each in prop::collection::vec(prop::collection::vec((0..4_u8, -6..7_i64), 0..4), 3),
            (kind, number) in (0..4_u8, -6..7_i64),
        ) {
            let changed = |expr: Expr, kind: u8, number: i64| match kind {
                0 => by(Op::Add, &expr, number),
                1 => by(Op::Mul, &expr, number),
                2 => by(Op::FloorDiv, &expr, number.abs().max(1)),
                _ => by(Op::CeilDiv, &expr, number.abs().max(1)),
            };
            let parts: Vec<Expr> = (0..3)
                .zip(&of_each)
                .map(|(dim, steps)| {
                    steps.iter().fold(Expr::Dim(dim), |expr, &(kind, number)| changed(expr, kind, number))
                })
                .collect();
            let sum = op(Op::Add, &op(Op::Add, &parts[0], &parts[1]), &parts[2]);
            let expr = changed(sum, kind, number);
            prop_assert_eq!(bounds(&expr, &DIMS), taken(&expr), "{:?}", expr);
            prop_assert_eq!(Bounds::new(&DIMS).of(&expr), taken(&expr), "{:?}", expr);
        }
    }

    #[test]
    fn quotients_and_remainders_of_one_sum_join() {
        let of = |expr: &Expr, dims: &[u64]| Bounds::new(dims).of(expr);
        let d0 = Expr::Dim(0);
        let whole = |kind: Op, a: &Expr, number: i64| by(Op::Mul, &by(kind, a, number), number);
        let less = |a: &Expr, b: &Expr| op(Op::Add, a, &by(Op::Mul, b, -1));
        // The quotient and the remainder are the dimension again.
        let again = op(Op::Add, &whole(Op::FloorDiv, &d0, 4), &by(Op::Mod, &d0, 4));
        assert_eq!(of(&again, &[10]), (0, 9));
        // Rounding down and up takes less than the divisor.
        assert_eq!(of(&less(&whole(Op::FloorDiv, &d0, 4), &d0), &[10]), (-3, 0));
        assert_eq!(of(&less(&whole(Op::CeilDiv, &d0, 4), &d0), &[10]), (0, 3));
        // 6·⌊(d0 + 1)/3⌋ − 2·d0 is 2 − 2·r.
        let third = by(Op::FloorDiv, &by(Op::Add, &d0, 1), 3);
        assert_eq!(of(&less(&by(Op::Mul, &third, 6), &by(Op::Mul, &d0, 2)), &[10]), (-2, 2));
        // Divisors that divide the factors of quotients do not multiply: three of 2^60 would not fit.
        let dims = [9; 3];
        let sums = (0..3).map(|dim| whole(Op::CeilDiv, &Expr::Dim(dim), 1 << 60));
        let sum = sums.reduce(|a, b| op(Op::Add, &a, &b)).unwrap();
        let rest = (0..3).fold(sum, |sum, dim| less(&sum, &Expr::Dim(dim)));
        assert_eq!(of(&rest, &dims), (0, 3 * ((1 << 60) - 1)));
    }
}
