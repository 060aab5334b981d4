//! What a map means as the layout of an array.
//!
//! The results are the index of a row-major array. Its sizes are what the notation says, or what the results can be: from 0
//! to their upper bounds, as when MLIR normalises a `memref`: see `bounds`.
//!
//! Every result becomes a linear form over *pieces* ⌊root / cut⌋, where a root is a dimension, or a sum of pieces that is
//! divided as a whole. Added up, they are one form. The cuts of a root make it digits, each of which has one coefficient:
//!
//! ```text
//! Σ c_j · ⌊x / d_j⌋  =  Σ digit_k · Σ_{j ≤ k} c_j · d_k / d_j        where each d divides the next
//! ```
//!
//! and digits with coefficients are what [`Terms`] takes. A digit that enters two sums which are divided is refused.

use std::collections::{BTreeMap, BTreeSet};
use tilework_core::InOrder;

use super::bounds::Bounds;
use super::{Expr, Op};
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::layout::terms::{Term, Terms};

/// A linear form: a constant, and coefficients of pieces: ⌊root / cut⌋.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Form {
    constant: i128,
    terms: BTreeMap<(usize, u64), i128>,
}

impl Form {
    fn constant(constant: i128) -> Form {
        Form { constant, terms: BTreeMap::new() }
    }

    fn piece(root: usize, cut: u64) -> Form {
        Form { constant: 0, terms: BTreeMap::from([((root, cut), 1)]) }
    }

    fn add(&mut self, other: &Form, factor: i128) -> Result<()> {
        let product =
            |a: i128| a.checked_mul(factor).filter(|value| value.abs() < 1 << 80).ok_or_else(too_large);
        self.constant += product(other.constant)?;
        for (&piece, &coefficient) in &other.terms {
            *self.terms.entry(piece).or_default() += product(coefficient)?;
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        let fits = |value: &i128| value.abs() < 1 << 80;
        if fits(&self.constant) && self.terms.values().all(fits) { Ok(()) } else { Err(too_large()) }
    }
}

fn too_large() -> Error {
    Error::new("the numbers of the map overflow 63 bits").field("layout").accepts("smaller constants")
}

fn refused(found: impl Into<String>, rule: &str) -> Error {
    Error::new(found).field("layout").rule(rule)
}

/// What is divided: a dimension or a sum.
struct Root {
    /// None for a dimension.
    sum: Option<Form>,
    /// The largest value.
    most: i128,
    /// What it is divided by, however little that does.
    cuts: BTreeSet<u64>,
}

struct Lowering {
    /// The dimensions, then sums, each after those whose pieces it is made of.
    roots: Vec<Root>,
    /// Whether a sum that is divided keeps its constant, so that other quotients of it have the same root.
    keeps_constants: bool,
}

/// The array that is laid out.
struct Whole<'a> {
    dims: &'a [u64],
    bits: u32,
    language: &'a Language<'a>,
}

/// How a notation writes its maps, for errors.
pub(crate) struct Language<'a> {
    /// What it calls a map: `affine map`.
    pub(crate) map: &'static str,
    /// An expression in its words.
    pub(crate) print: &'a dyn Fn(&Expr) -> String,
    /// Quotient and remainder of a dimension by one number, by numbers that divide each other, and a number in mixed radix.
    pub(crate) examples: [&'static str; 3],
}

/// What a map leads to.
pub(crate) struct Target<'a> {
    /// The index of a row-major array, without the dimensions within an element.
    pub(crate) results: &'a [Expr],
    /// How many dimensions the map is over. Those of the array beyond them are within an element.
    pub(crate) dims: usize,
    /// The sizes of the array that the results are the index of, where they are not what the results can be.
    pub(crate) sizes: Option<&'a [u64]>,
}

/// The layout of an array of these dimensions. Those beyond the map's are within an element, and row-major.
///
/// # Errors
/// A result below 0, a part of the index that is used twice, and numbers that do not fit.
pub(crate) fn lower(target: &Target, dims: &[u64], bits: u32, language: &Language) -> Result<Layout> {
    let error = match attempt(target, dims, bits, language, false) {
        Ok(layout) => return Ok(layout),
        Err(error) => error,
    };
    // As one root i + 5, its quotients by 4 and by 32 are digits of one number.
    attempt(target, dims, bits, language, true).map_err(|_| error)
}

/// The same with the constants of a sum that is divided taken out as far as they are multiples of the divisor, or kept.
fn attempt(
    target: &Target,
    dims: &[u64],
    bits: u32,
    language: &Language,
    keeps_constants: bool,
) -> Result<Layout> {
    let root = |&size: &u64| Root { sum: None, most: i128::from(size.max(1) - 1), cuts: BTreeSet::new() };
    let mut lowering = Lowering { roots: dims.iter().map(root).collect(), keeps_constants };
    let mut bounds = Bounds::new(dims);
    let is_empty = dims.contains(&0);
    let mut total = Form::default();
    let mut size = u64::from(!is_empty);
    let inner: Vec<Expr> = (target.dims..dims.len()).rev().map(Expr::Dim).collect();
    let count = target.results.len();
    for (number, result) in inner.iter().chain(target.results.iter().rev()).enumerate() {
        let (low, high) = bounds.of(result);
        // Of the results; there is none for what is within an element.
        let of_results = (count + inner.len() - 1).checked_sub(number).filter(|&number| number < count);
        if low < 0 && !is_empty {
            return Err(refused(
                format!(
                    "result {} of the {}, {}, is {low} at the least",
                    of_results.unwrap_or(0),
                    language.map,
                    (language.print)(result)
                ),
                "the results are an index, which counts from 0",
            )
            .accepts("a map whose results are 0 or more"));
        }
        let form = lowering.form(result, language)?;
        total.add(&form, size.into())?;
        let said = target.sizes.and_then(|sizes| sizes.get(of_results?));
        let extent = said.copied().or_else(|| u64::try_from(high.max(0).saturating_add(1)).ok());
        // Without elements there is nothing to allocate.
        size = match is_empty {
            true => 0,
            false => extent.and_then(|extent| size.checked_mul(extent)).ok_or_else(too_large)?,
        };
    }
    let whole = Whole { dims, bits, language };
    // With every cut that was written, padding has its tile. Where that is no plain tiling, only with those that count.
    match lowering.build(&whole, &total, size, true) {
        Ok(layout) if layout.is_compact() => Ok(layout),
        all => match (lowering.build(&whole, &total, size, false), all) {
            (Ok(layout), _) | (Err(_), Ok(layout)) => Ok(layout),
            (Err(error), Err(_)) => Err(error),
        },
    }
}

impl Lowering {
    fn form(&mut self, expr: &Expr, language: &Language) -> Result<Form> {
        let Expr::Op(op, parts) = expr else {
            return Ok(match expr {
                Expr::Dim(dim) => Form::piece(*dim, 1),
                Expr::Const(value) => Form::constant(i128::from(*value)),
                _ => Form::default(),
            });
        };
        let mut form = self.form(&parts[0], language)?;
        let by = match (op, &parts[1]) {
            (Op::Add, other) => {
                let other = self.form(other, language)?;
                form.add(&other, 1)?;
                return Ok(form);
            }
            (_, Expr::Const(by)) => *by,
            _ => {
                let found = format!("{} in an {}", (language.print)(expr), language.map);
                return Err(refused(found, "an operand is not known"));
            }
        };
        if *op == Op::Mul {
            let mut product = Form::default();
            product.add(&form, by.into())?;
            return Ok(product);
        }
        if *op == Op::CeilDiv {
            form.constant += i128::from(by) - 1;
        }
        let (quotient, rest) = self.divide(&form, by as u64)?;
        Ok(if *op == Op::Mod { rest } else { quotient })
    }

    /// ⌊form / by⌋ and the remainder.
    fn divide(&mut self, form: &Form, by: u64) -> Result<(Form, Form)> {
        let divisor = i128::from(by);
        let mut whole = Form::constant(form.constant.div_euclid(divisor));
        let mut rest = Form::constant(form.constant.rem_euclid(divisor));
        for (&piece, &coefficient) in &form.terms {
            match coefficient % divisor == 0 {
                true => whole.terms.insert(piece, coefficient / divisor),
                false => rest.terms.insert(piece, coefficient),
            };
        }
        let (low, high) = self.range(&rest);
        let is_sum = rest.constant != 0 || rest.terms.len() > 1;
        if rest.terms.is_empty() || (is_sum && low >= 0 && high < divisor) {
            return Ok((whole, rest));
        }
        if self.keeps_constants && whole.terms.is_empty() && form.constant > 0 {
            rest.constant = form.constant;
            whole.constant = 0;
        }
        if low < 0 {
            // As many times the divisor as it takes so that no value is below 0.
            let times = -low.div_euclid(divisor);
            rest.constant += times * divisor;
            whole.constant -= times;
        }
        let common = rest.terms.values().fold(by, |common, value| {
            crate::arithmetic::gcd(common, (value.unsigned_abs() % u128::from(by)) as u64)
        });
        let left = rest.constant.rem_euclid(common.into());
        let part = Form {
            constant: rest.constant / i128::from(common),
            terms: rest.terms.iter().map(|(&piece, value)| (piece, value / i128::from(common))).collect(),
        };
        let cut = by / common;
        let single = part
            .terms
            .iter()
            .next()
            .filter(|term| part.terms.len() == 1 && part.constant == 0 && *term.1 == 1);
        let (root, own) = match single.map(|(&piece, _)| piece) {
            Some(piece) => piece,
            None => (self.sum(part), 1),
        };
        let cut_at = cut.checked_mul(own).filter(|&cut| cut <= i64::MAX as u64).ok_or_else(too_large)?;
        self.roots[root].cuts.insert(cut_at);
        let quotient = Form::piece(root, cut_at);
        let mut remainder = Form::constant(left);
        remainder.add(&Form::piece(root, own), common.into())?;
        remainder.add(&quotient, -divisor)?;
        whole.add(&quotient, 1)?;
        Ok((whole, remainder))
    }

    fn range(&self, form: &Form) -> (i128, i128) {
        let (mut low, mut high) = (form.constant, form.constant);
        for (&(root, cut), &coefficient) in &form.terms {
            let most = coefficient.saturating_mul(self.roots[root].most / i128::from(cut));
            low = low.saturating_add(most.min(0));
            high = high.saturating_add(most.max(0));
        }
        (low, high)
    }

    /// The root that is this sum.
    fn sum(&mut self, form: Form) -> usize {
        let known = self.roots.iter().position(|root| root.sum.as_ref() == Some(&form));
        known.unwrap_or_else(|| {
            let most = self.range(&form).1;
            self.roots.push(Root { sum: Some(form), most, cuts: BTreeSet::new() });
            self.roots.len() - 1
        })
    }

    /// The layout of a form, with all cuts that were written or only with those that count.
    fn build(&self, whole: &Whole, total: &Form, size: u64, all: bool) -> Result<Layout> {
        let mut terms = Layout::terms(whole.dims, whole.bits)?;
        if size == 0 {
            return terms.build(None, Some(0));
        }
        // What the total needs, and what is needed for that.
        let mut forms = vec![total];
        for root in (0..self.roots.len()).rev() {
            let is_needed = |form: &&Form| form.terms.keys().any(|piece| piece.0 == root);
            if let Some(sum) = self.roots[root].sum.as_ref().filter(|_| forms.iter().any(is_needed)) {
                forms.push(sum);
            }
        }
        let mut digits: Vec<Vec<Digit>> = Vec::new();
        for (number, root) in self.roots.iter().enumerate() {
            let is_needed = forms.iter().any(|form| form.terms.keys().any(|piece| piece.0 == number));
            if !is_needed {
                digits.push(Vec::new());
                continue;
            }
            let used = forms.iter().flat_map(|form| form.terms.keys()).filter(|piece| piece.0 == number);
            let mut cuts: BTreeSet<u64> = used.map(|piece| piece.1).filter(|&cut| cut > 1).collect();
            match all {
                true => cuts.extend(&root.cuts),
                false => cuts.retain(|&cut| i128::from(cut) <= root.most),
            }
            let cuts = Vec::from_iter(cuts);
            if let Some(pair) = cuts.windows(2).find(|pair| !pair[1].is_multiple_of(pair[0])) {
                let name = root
                    .sum
                    .as_ref()
                    .map_or_else(|| (whole.language.print)(&Expr::Dim(number)), |_| "a sum".to_owned());
                return Err(refused(
                    format!("{name} is cut at multiples of {} and of {}", pair[0], pair[1]),
                    "cuts of one dimension divide each other",
                )
                .accepts(format!("divisors that divide each other, as in {}", whole.language.examples[1])));
            }
            let term = match &root.sum {
                None => terms.dim(number)?,
                Some(sum) => combine(&mut terms, sum, &mut digits, whole.language)?,
            };
            digits.push(split(&mut terms, term, &cuts)?);
        }
        for root in 0..digits.len() {
            for (term, coefficient) in take(&mut digits, total, root, whole.language)? {
                let stride = i64::try_from(coefficient).map_err(|_| too_large())?;
                terms.add(term, stride)?;
            }
        }
        let base = u64::try_from(total.constant).map_err(|_| too_large())?;
        terms.build(Some(base), Some(size))
    }
}

/// A digit of a root: what one step of it is worth, and its term until that is used.
struct Digit {
    weight: u64,
    term: Option<Term>,
}

/// Cuts a term into digits, the most minor first.
fn split(terms: &mut Terms, mut term: Term, cuts: &[u64]) -> Result<Vec<Digit>> {
    let mut digits = Vec::new();
    for &cut in cuts.iter().rev() {
        let (quotient, rest) = terms.split(term, cut)?;
        digits.push(Digit { weight: cut, term: Some(quotient) });
        term = rest;
    }
    digits.push(Digit { weight: 1, term: Some(term) });
    digits.reverse();
    Ok(digits)
}

/// The digits of a root that a form uses, with their coefficients.
fn take(
    digits: &mut [Vec<Digit>],
    form: &Form,
    root: usize,
    language: &Language,
) -> Result<Vec<(Term, i128)>> {
    let mut taken = Vec::new();
    for digit in &mut digits[root] {
        let pieces = form.terms.range((root, 1)..=(root, digit.weight));
        let coefficient = pieces.map(|(&(_, cut), value)| value * i128::from(digit.weight / cut)).sum();
        if coefficient == 0 {
            continue;
        }
        let Some(term) = digit.term.take() else {
            return Err(refused(
                "a dimension, or a part of it, is used twice",
                "every part of the index enters one sum that is divided, or the sum of the results",
            )
            .accepts(format!(
                "a map that uses a dimension by its quotient and its remainder, as in {}",
                language.examples[0]
            )));
        };
        taken.push((term, coefficient));
    }
    Ok(taken)
}

/// A sum of digits as one term: `start + step · (a number in mixed radix)`.
fn combine(terms: &mut Terms, sum: &Form, digits: &mut [Vec<Digit>], language: &Language) -> Result<Term> {
    let mut parts = Vec::new();
    for root in 0..digits.len() {
        parts.append(&mut take(digits, sum, root, language)?);
    }
    let no_radix = || {
        refused(
            "a sum of dimensions is divided, whose values meet or leave some out",
            &format!("a sum that is divided is a number in mixed radix, as {}", language.examples[2]),
        )
        .accepts("divided dimensions in place of the divided sum")
    };
    let mut start = sum.constant;
    parts.order_by_key(|(_, coefficient)| std::cmp::Reverse(coefficient.abs()));
    let step = parts.last().map_or(1, |(_, coefficient)| coefficient.abs());
    let mut whole: Option<Term> = None;
    let mut before = 0_i128;
    let count = parts.len();
    for (term, coefficient) in parts {
        let extent = terms.extent(&term);
        let mut term = term;
        let mut weight = coefficient;
        if coefficient < 0 {
            if count == 1 {
                return terms.shift(term, to_u64(start)?, to_i64(coefficient)?);
            }
            // Counted from its other end.
            start += coefficient * (i128::from(extent) - 1);
            weight = -coefficient;
            term = terms.shift(term, extent.max(1) - 1, -1)?;
        }
        whole = Some(match whole {
            None => term,
            Some(major) => {
                // The next more major digit counts in these.
                let room = before / weight;
                if before % weight != 0 || room < i128::from(extent) {
                    return Err(no_radix());
                }
                if room > i128::from(extent) {
                    term = terms.pad(term, to_u64(room)?).map_err(|_| no_radix())?;
                }
                terms.merge(major, term)?
            }
        });
        before = weight;
    }
    let whole = whole.ok_or_else(no_radix)?;
    match (start, step) {
        (0, 1) => Ok(whole),
        _ => terms.shift(whole, to_u64(start)?, to_i64(step)?),
    }
}

fn to_u64(value: i128) -> Result<u64> {
    u64::try_from(value).map_err(|_| too_large())
}

fn to_i64(value: i128) -> Result<i64> {
    i64::try_from(value).map_err(|_| too_large())
}
