//! Which dimensions depend on one another, and after how many steps everything repeats.
//!
//! Forms over the same quotients (`linear.rs`) fall into *components* that share no dimension, so that each can be
//! looked at by itself; and a quotient repeats, up to a constant, with the product of its divisors, so that a table of
//! a component needs one *period* of each dimension, not all of it. Comparing and planning both rest on this.

use crate::algebra::linear::{Linear, Quotient, Term, gcd};

/// Dimensions that some forms couple, and the terms in which they appear.
pub(crate) struct Component {
    pub(crate) dims: Vec<usize>,
    pub(crate) terms: Vec<Term>,
    /// One dimension, in plain terms.
    pub(crate) plain: bool,
}

/// The quotients that some forms use, each after those it is made of.
pub(crate) struct Quotients(pub(crate) Vec<Quotient>);

impl Quotients {
    /// Groups terms so that groups share no dimension. Dimensions without a term are left out.
    pub(crate) fn components(&self, terms: impl Iterator<Item = Term>) -> Vec<Component> {
        let mut components: Vec<Component> = Vec::new();
        for term in terms {
            let mut dims = Vec::new();
            self.dims_of(term, &mut dims);
            let mut joined = Component { dims, terms: vec![term], plain: self.is_plain(term) };
            components.retain_mut(|component| {
                let shares = component.dims.iter().any(|dim| joined.dims.contains(dim));
                if shares {
                    joined.dims.append(&mut component.dims);
                    joined.terms.append(&mut component.terms);
                    joined.plain &= component.plain;
                }
                !shares
            });
            joined.dims.sort_unstable();
            joined.dims.dedup();
            components.push(joined);
        }
        components
    }

    fn is_plain(&self, term: Term) -> bool {
        match term {
            Term::Dim(_) => true,
            Term::Quotient(place) => self.0[place as usize].is_plain(),
        }
    }

    fn dims_of(&self, term: Term, dims: &mut Vec<usize>) {
        // A quotient uses earlier quotients only; marking them once keeps shared ones from being walked repeatedly.
        let mut marked = vec![false; self.0.len()];
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            match term {
                Term::Dim(dim) if !dims.contains(&(dim as usize)) => dims.push(dim as usize),
                Term::Dim(_) => {}
                Term::Quotient(place) if !marked[place as usize] => {
                    marked[place as usize] = true;
                    open.extend(self.0[place as usize].of.terms.iter().map(|entry| entry.0));
                }
                Term::Quotient(_) => {}
            }
        }
    }

    /// For each dimension a number after which every quotient repeats, up to a constant.
    ///
    /// When x moves by p and every part of a numerator moves by a whole number, moving by p·by moves the numerator by
    /// a multiple of `by` and the quotient by a whole number.
    pub(crate) fn periods(&self, rank: usize) -> Vec<u64> {
        let mut own: Vec<Vec<u64>> = Vec::with_capacity(self.0.len());
        let mut all = vec![1_u64; rank];
        for quotient in &self.0 {
            let mut periods = vec![1_u64; rank];
            let mut present = vec![false; rank];
            for &(term, _) in &quotient.of.terms {
                match term {
                    Term::Dim(dim) => present[dim as usize] = true,
                    Term::Quotient(place) => {
                        for (dim, &period) in own[place as usize].iter().enumerate() {
                            if period > 1 {
                                present[dim] = true;
                                periods[dim] = lcm(periods[dim], period);
                            }
                        }
                    }
                }
            }
            for dim in 0..rank {
                if present[dim] {
                    periods[dim] = periods[dim].saturating_mul(quotient.by);
                    all[dim] = lcm(all[dim], periods[dim]);
                }
            }
            own.push(periods);
        }
        all
    }

    /// The values of all quotients at an index, into `values`.
    pub(crate) fn evaluate(&self, index: &[u64], values: &mut Vec<i128>) {
        values.clear();
        for quotient in &self.0 {
            let value = value_of(&quotient.of, index, values).div_euclid(i128::from(quotient.by));
            values.push(value);
        }
    }

    /// Those that some terms use, each after those it is made of.
    pub(crate) fn used_by(&self, terms: &[Term]) -> Vec<usize> {
        let mut used = vec![false; self.0.len()];
        let mark = |terms: &mut dyn Iterator<Item = Term>, used: &mut Vec<bool>| {
            for term in terms {
                if let Term::Quotient(place) = term {
                    used[place as usize] = true;
                }
            }
        };
        mark(&mut terms.iter().copied(), &mut used);
        for place in (0..self.0.len()).rev() {
            if used[place] {
                mark(&mut self.0[place].of.terms.iter().map(|entry| entry.0), &mut used);
            }
        }
        (0..self.0.len()).filter(|&place| used[place]).collect()
    }
}

/// The value of a form at an index, given those of the quotients it uses.
pub(crate) fn value_of(form: &Linear, index: &[u64], quotients: &[i128]) -> i128 {
    form.terms.iter().fold(form.constant, |sum, &(term, coefficient)| {
        let value = match term {
            Term::Dim(dim) => i128::from(index[dim as usize]),
            Term::Quotient(place) => quotients[place as usize],
        };
        sum.wrapping_add(coefficient.wrapping_mul(value))
    })
}

/// The least common multiple, or the largest number where that overflows.
pub(crate) fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b)).saturating_mul(b)
}
