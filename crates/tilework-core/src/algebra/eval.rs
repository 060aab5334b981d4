//! Evaluating a canonical form, fast.

use smallvec::SmallVec;

use crate::algebra::linear::{Linear, Quotient, Term, Values, evaluate};

/// The form made ready for evaluation.
///
/// Everything wraps around at 64 bits, which is harmless: the offset is below 2^63, so it is right modulo 2^64.
#[derive(Clone, Debug)]
pub(crate) struct Fast {
    base: u64,
    strides: SmallVec<[u64; 6]>,
    cuts: SmallVec<[Cut; 6]>,
    /// Coefficients of all quotients, when some quotient is not plain; they are then computed one after the other.
    nested: Vec<u64>,
}

/// `coefficient · ⌊index[dim] / divisor⌋`, the division done by a multiplication.
#[derive(Clone, Copy, Debug)]
struct Cut {
    dim: u32,
    shift: u32,
    magic: u64,
    coefficient: u64,
}

impl Cut {
    /// For x < 2^63: ⌊x/d⌋ = ⌊2x·m / 2^64⌋ >> s with s = ⌈log2 d⌉ and m = ⌊2^(63+s)/d⌋ + 1.
    ///
    /// The excess of m·d over 2^(63+s) is at most d ≤ 2^s, so the error x·excess/(d·2^(63+s)) is below 1/d.
    fn new(dim: u32, divisor: u64, coefficient: u64) -> Cut {
        let shift = 64 - (divisor - 1).leading_zeros(); // ⌈log2⌉, as 2 ≤ divisor < 2^63
        let magic = ((1_u128 << (63 + shift)) / u128::from(divisor) + 1) as u64; // 2^63 < m ≤ 2^64 − 1 as d is no 2^s·½
        Cut { dim, shift, magic, coefficient }
    }

    #[inline]
    fn eval(&self, x: u64) -> u64 {
        let high = ((u128::from(x << 1) * u128::from(self.magic)) >> 64) as u64;
        self.coefficient.wrapping_mul(high >> self.shift)
    }
}

impl Fast {
    pub(crate) fn new(rank: usize, quotients: &[Quotient], form: &Linear) -> Fast {
        let plain = quotients.iter().all(Quotient::is_plain);
        let mut fast = Fast {
            base: form.constant as u64,
            strides: SmallVec::from_elem(0, rank),
            cuts: SmallVec::new(),
            nested: vec![0; if plain { 0 } else { quotients.len() }],
        };
        for &(term, coefficient) in &form.terms {
            match term {
                Term::Dim(dim) => fast.strides[dim] = coefficient as u64,
                Term::Quotient(place) if plain => {
                    let quotient = &quotients[place];
                    if let Some(dim) = quotient.plain_dim() {
                        fast.cuts.push(Cut::new(dim as u32, quotient.by, coefficient as u64));
                    }
                }
                Term::Quotient(place) => fast.nested[place] = coefficient as u64,
            }
        }
        fast
    }

    #[inline]
    pub(crate) fn eval(&self, index: &[u64], quotients: &[Quotient]) -> u64 {
        let mut offset = self.base;
        for (stride, i) in self.strides.iter().zip(index) {
            offset = offset.wrapping_add(stride.wrapping_mul(*i));
        }
        for cut in &self.cuts {
            offset = offset.wrapping_add(cut.eval(index[cut.dim as usize]));
        }
        if !self.nested.is_empty() {
            offset = offset.wrapping_add(self.eval_nested(index, quotients));
        }
        offset
    }

    #[cold]
    fn eval_nested(&self, index: &[u64], quotients: &[Quotient]) -> u64 {
        let mut values = Values::new();
        evaluate(quotients, index, &mut values);
        let terms = values.iter().zip(&self.nested);
        terms.fold(0, |sum, (&value, coefficient)| sum.wrapping_add(coefficient.wrapping_mul(value as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::Cut;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dividing_by_multiplying_is_exact(x in 0..1_u64 << 63, by in 2..1_u64 << 63, small in 2..5000_u64) {
            for by in [by, small, by.next_power_of_two() >> 1, x.max(2), (x / 2).max(2)] {
                if by >= 2 {
                    for x in [x, x - x % by, (x - x % by).saturating_sub(1), (1 << 63) - 1] {
                        prop_assert_eq!(Cut::new(0, by, 1).eval(x), x / by);
                    }
                }
            }
        }
    }
}
