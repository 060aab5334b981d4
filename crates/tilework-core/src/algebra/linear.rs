//! Linear forms over quotients: the arithmetic of `canon.rs`, whose rules are cited here by number.

use crate::order::InOrder;
use std::collections::HashMap;

use smallvec::SmallVec;

use crate::arithmetic::gcd;

/// ⌊of / by⌋
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Quotient {
    pub(crate) of: Linear,
    pub(crate) by: u64,
}

/// A linear form: a constant and terms in ascending order, none with coefficient 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Linear {
    pub(crate) constant: i128,
    pub(crate) terms: SmallVec<[(Term, i128); 4]>,
}

/// What a linear form multiplies by a coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Term {
    Dim(usize),
    Quotient(usize),
}

impl Linear {
    pub(crate) fn constant(constant: i128) -> Linear {
        Linear { constant, terms: SmallVec::new() }
    }

    pub(crate) fn term(term: Term) -> Linear {
        Linear { constant: 0, terms: SmallVec::from_slice(&[(term, 1)]) }
    }

    /// Adds `factor · other`. Like terms add up: this is where R7 to R11 happen.
    pub(crate) fn add(&mut self, other: &Linear, factor: i128) {
        self.constant += other.constant * factor;
        for &(term, coefficient) in &other.terms {
            match self.terms.binary_search_by_key(&term, |entry| entry.0) {
                Ok(found) => {
                    self.terms[found].1 += coefficient * factor;
                    if self.terms[found].1 == 0 {
                        self.terms.remove(found);
                    }
                }
                Err(place) if coefficient * factor != 0 => {
                    self.terms.insert(place, (term, coefficient * factor));
                }
                Err(_) => {}
            }
        }
    }

    /// What multiplies a term; 0 if it does not appear.
    pub(crate) fn coefficient(&self, term: Term) -> i128 {
        let found = self.terms.binary_search_by_key(&term, |entry| entry.0);
        found.map_or(0, |found| self.terms[found].1)
    }

    /// The value at an index, given those of the quotients it uses.
    #[inline]
    pub(crate) fn value(&self, index: &[u64], quotients: &[i128]) -> i128 {
        self.terms.iter().fold(self.constant, |sum, &(term, coefficient)| {
            let value = match term {
                Term::Dim(dim) => i128::from(index[dim]),
                Term::Quotient(place) => quotients[place],
            };
            sum.wrapping_add(coefficient.wrapping_mul(value))
        })
    }

    /// The quotient that this form is, if it is exactly one.
    fn single_quotient(&self) -> Option<usize> {
        match self.terms.as_slice() {
            [(Term::Quotient(quotient), 1)] => Some(*quotient),
            _ => None,
        }
    }
}

/// The quotients met so far, each once.
pub(crate) struct Table<'a> {
    dims: &'a [u64],
    quotients: Vec<Quotient>,
    /// Bounds of each quotient, both included.
    ranges: Vec<(i128, i128)>,
    places: HashMap<Quotient, usize>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(dims: &'a [u64]) -> Table<'a> {
        Table { dims, quotients: Vec::new(), ranges: Vec::new(), places: HashMap::new() }
    }

    /// Bounds of a form over all indices, both included.
    fn range(&self, form: &Linear) -> (i128, i128) {
        let mut range = (form.constant, form.constant);
        for &(term, coefficient) in &form.terms {
            let (low, high) = match term {
                Term::Dim(dim) => (0, i128::from(self.dims[dim].saturating_sub(1))),
                Term::Quotient(place) => self.ranges[place],
            };
            let (a, b) = (low.saturating_mul(coefficient), high.saturating_mul(coefficient));
            range = (range.0.saturating_add(a.min(b)), range.1.saturating_add(a.max(b)));
        }
        range
    }

    /// ⌊form / by⌋ with everything that can leave the quotient taken out of it.
    pub(crate) fn divide(&mut self, form: &Linear, by: u64) -> Linear {
        if by == 1 {
            return form.clone();
        }
        let divisor = i128::from(by);
        let mut whole = Linear::constant(form.constant.div_euclid(divisor));
        let mut rest = Linear::constant(form.constant.rem_euclid(divisor));
        for &(term, coefficient) in &form.terms {
            // Truncating keeps small coefficients as they are, also negative ones, so that remainders stay readable.
            let (out, stays) = (coefficient / divisor, coefficient % divisor);
            if out != 0 {
                whole.terms.push((term, out));
            }
            if stays != 0 {
                rest.terms.push((term, stays));
            }
        }
        if rest.terms.is_empty() {
            return whole;
        }
        let (low, high) = self.range(&rest);
        if low.div_euclid(divisor) == high.div_euclid(divisor) {
            whole.constant += low.div_euclid(divisor); // R5
            return whole;
        }
        let common = rest.terms.iter().fold(by, |common, &(_, c)| gcd(common, c.unsigned_abs() as u64));
        if common > 1 {
            for (_, coefficient) in &mut rest.terms {
                *coefficient /= i128::from(common);
            }
            rest.constant = rest.constant.div_euclid(i128::from(common));
            let inner = self.divide(&rest, by / common);
            whole.add(&inner, 1);
            return whole;
        }
        // R2: ⌊(⌊u/d⌋ + k) / t⌋ = ⌊(u + k·d) / (d·t)⌋
        let mut quotient = Quotient { of: rest, by };
        while let Some(inner) = quotient.of.single_quotient() {
            let inner = &self.quotients[inner];
            let Some(by) = inner.by.checked_mul(quotient.by).filter(|&by| by <= i64::MAX as u64) else {
                break;
            };
            let mut of = inner.of.clone();
            of.constant += quotient.of.constant * i128::from(inner.by);
            quotient = Quotient { of, by };
        }
        whole.add(&Linear::term(Term::Quotient(self.place(quotient))), 1);
        whole
    }

    fn place(&mut self, quotient: Quotient) -> usize {
        if let Some(&place) = self.places.get(&quotient) {
            return place;
        }
        let (low, high) = self.range(&quotient.of);
        let by = i128::from(quotient.by);
        self.ranges.push((low.div_euclid(by), high.div_euclid(by)));
        self.quotients.push(quotient.clone());
        let place = self.quotients.len() - 1;
        self.places.insert(quotient, place);
        place
    }

    pub(crate) fn into_quotients(self) -> Vec<Quotient> {
        self.quotients
    }

    /// Takes over a form with the quotients it uses.
    pub(crate) fn import(&mut self, quotients: &[Quotient], form: &Linear) -> Linear {
        let mut renamed: Vec<usize> = Vec::with_capacity(quotients.len());
        for quotient in quotients {
            let of = rename(&quotient.of, &renamed);
            renamed.push(self.place(Quotient { of, by: quotient.by }));
        }
        rename(form, &renamed)
    }
}

pub(crate) fn rename(form: &Linear, names: &[usize]) -> Linear {
    let mut renamed = form.clone();
    for (term, _) in &mut renamed.terms {
        if let Term::Quotient(quotient) = term {
            *quotient = names[*quotient];
        }
    }
    renamed.terms.order();
    renamed
}

impl Quotient {
    /// The dimension, if this is ⌊dimension / by⌋.
    #[inline]
    pub(crate) fn plain_dim(&self) -> Option<usize> {
        match self.of.terms.as_slice() {
            &[(Term::Dim(dim), 1)] if self.of.constant == 0 => Some(dim),
            _ => None,
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.plain_dim().is_some()
    }

    /// The value at an index, given those of the quotients it uses.
    #[inline]
    pub(crate) fn value(&self, index: &[u64], quotients: &[i128]) -> i128 {
        self.of.value(index, quotients).div_euclid(i128::from(self.by))
    }
}

/// Values of quotients.
pub(crate) type Values = SmallVec<[i128; 16]>;

/// The values of all quotients at an index, each using earlier ones only, into `values`.
#[inline]
pub(crate) fn evaluate(quotients: &[Quotient], index: &[u64], values: &mut Values) {
    for quotient in quotients {
        values.push(quotient.value(index, values));
    }
}

/// Which quotients some terms use, by themselves or within others.
pub(crate) fn used(quotients: &[Quotient], terms: impl Iterator<Item = Term>) -> Vec<bool> {
    let mut used = vec![false; quotients.len()];
    let mut open: Vec<Term> = terms.collect();
    while let Some(term) = open.pop() {
        if let Term::Quotient(place) = term
            && !std::mem::replace(&mut used[place], true)
        {
            open.extend(quotients[place].of.terms.iter().map(|entry| entry.0));
        }
    }
    used
}
