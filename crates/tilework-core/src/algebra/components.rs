//! Which dimensions depend on one another, and after how many steps everything repeats.
//!
//! Forms over the same quotients (`linear.rs`) fall into *components* that share no dimension, so that each can be
//! looked at by itself; and a quotient repeats, up to a constant, with the product of its divisors, so that a table of
//! a component needs one *period* of each dimension, not all of it. Comparing and planning both rest on this.

use crate::algebra::linear::{Quotient, Term, used};
use crate::arithmetic::lcm;
use crate::order::InOrder;

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
            let mut joined =
                Component { dims: self.dims_of(term), terms: vec![term], plain: self.is_plain(term) };
            components.retain_mut(|component| {
                let shares = component.dims.iter().any(|dim| joined.dims.contains(dim));
                if shares {
                    joined.dims.append(&mut component.dims);
                    joined.terms.append(&mut component.terms);
                    joined.plain &= component.plain;
                }
                !shares
            });
            joined.dims.order();
            joined.dims.dedup();
            components.push(joined);
        }
        components
    }

    fn is_plain(&self, term: Term) -> bool {
        match term {
            Term::Dim(_) => true,
            Term::Quotient(place) => self.0[place].is_plain(),
        }
    }

    /// The dimensions that a term depends on, some of them more than once.
    fn dims_of(&self, term: Term) -> Vec<usize> {
        let used = used(&self.0, std::iter::once(term));
        let within =
            self.0.iter().zip(used).filter(|(_, used)| *used).flat_map(|(quotient, _)| &quotient.of.terms);
        let terms = within.map(|entry| entry.0).chain([term]);
        let dims = terms.filter_map(|term| if let Term::Dim(dim) = term { Some(dim) } else { None });
        dims.collect()
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
                    Term::Dim(dim) => present[dim] = true,
                    Term::Quotient(place) => {
                        for (dim, &period) in own[place].iter().enumerate() {
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
}
