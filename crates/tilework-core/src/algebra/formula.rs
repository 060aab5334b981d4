//! Canonical forms as formulas for people: `12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2)`.
//!
//! The same for one element has its index where the letters are, and what each term comes to.

use crate::algebra::canon::{Canon, divide_each_other, letter};
use crate::algebra::linear::{Linear, Quotient, Term, Values, evaluate};

/// The most terms of a formula in which every quotient is written out where it is used.
const TERM_LIMIT: u64 = 100;

/// The whole function, without the `offset =`.
///
/// Quotients of quotients are written out as long as that is readable. Where each tile divides none before it, the
/// terms double from tile to tile; such quotients get names and stand behind the formula, each once.
pub(crate) fn formula(canon: &Canon) -> String {
    let mut writer = Writer::new(canon, None);
    let (constant, parts) = writer.parts();
    let mut text = join(constant, &parts);
    if writer.named {
        let nested = canon.quotients().iter().enumerate().filter(|(_, quotient)| !quotient.is_plain());
        for (number, (place, quotient)) in nested.enumerate() {
            text.push_str(if number == 0 { ", where " } else { ", " });
            text.push_str(&format!("q{place} = {}", writer.quotient(quotient)));
        }
    }
    text
}

/// The same with the numbers of one index in it, and then with what each term comes to: `12·⌊2/2⌋ + 4·⌊3/2⌋` and `12 + 4`.
/// Quotients that the formula has names for are numbers at once.
pub(crate) fn formula_at(canon: &Canon, index: &[u64]) -> [String; 2] {
    let (constant, parts) = Writer::new(canon, Some(index)).parts();
    let sums: Vec<Part> =
        parts.iter().map(|part| Part { coefficient: part.value, text: String::new(), value: 0 }).collect();
    [join(constant, &parts), join(constant, &sums)]
}

/// A term of the formula.
struct Part {
    coefficient: i128,
    /// What the coefficient is multiplied with; nothing where it stands alone.
    text: String,
    /// What the two come to, where the index is known.
    value: i128,
}

/// What the letters and quotients of a formula are called: themselves, or numbers.
struct Writer<'a> {
    canon: &'a Canon,
    index: Option<&'a [u64]>,
    /// The quotients of the index; none without one.
    values: Values,
    /// Whether quotients of quotients have names.
    named: bool,
}

impl Writer<'_> {
    fn new<'a>(canon: &'a Canon, index: Option<&'a [u64]>) -> Writer<'a> {
        let mut values = Values::new();
        if let Some(index) = index {
            evaluate(canon.quotients(), index, &mut values);
        }
        Writer { canon, index, values, named: false }
    }

    /// The constant, and the terms: the digits of each dimension, and what is left.
    fn parts(&mut self) -> (i128, Vec<Part>) {
        let mut parts = Vec::new();
        let mut rest = self.canon.form().clone();
        for dim in 0..self.canon.rank() {
            parts.extend(self.digits(dim, &mut rest));
        }
        self.named = terms_written_out(self.canon, &rest) > TERM_LIMIT;
        for &(term, coefficient) in &rest.terms {
            let value = coefficient * self.value(term);
            parts.push(Part { coefficient, text: self.term(term), value });
        }
        (rest.constant, parts)
    }

    /// The number of a term; 0 where no index is known.
    fn value(&self, term: Term) -> i128 {
        match term {
            Term::Dim(dim) => self.index.and_then(|index| index.get(dim)).map_or(0, |&at| i128::from(at)),
            Term::Quotient(place) => self.values.get(place).copied().unwrap_or(0),
        }
    }

    fn name(&self, dim: usize) -> String {
        match self.index {
            Some(_) => self.value(Term::Dim(dim)).to_string(),
            None => letter(self.canon.rank(), dim),
        }
    }

    /// The part of one dimension as digits, taken out of `rest`, if its cuts divide each other.
    ///
    /// Coefficients c0, c1, … of ⌊x/D0⌋, ⌊x/D1⌋, … with 1 = D0 | D1 | … are digits with strides s0 = c0 and
    /// s(k) = c(k) + s(k−1)·D(k)/D(k−1): the remainder below each cut is what the next coefficient takes back.
    fn digits(&self, dim: usize, rest: &mut Linear) -> Vec<Part> {
        let cuts = self.canon.cuts(dim);
        if !divide_each_other(&cuts) {
            return Vec::new();
        }
        rest.terms.retain(|(term, _)| match *term {
            Term::Dim(own) => own != dim,
            Term::Quotient(place) => self.canon.quotients()[place].plain_dim() != Some(dim),
        });
        let (name, at) = (self.name(dim), self.value(Term::Dim(dim)));
        let mut stride = 0;
        let mut digits = Vec::new();
        for (level, &(cut, coefficient)) in cuts.iter().enumerate() {
            stride = match level {
                0 => coefficient,
                _ => coefficient + stride * i128::from(cut / cuts[level - 1].0),
            };
            let quotient = if cut == 1 { name.clone() } else { format!("⌊{name}/{cut}⌋") };
            let (text, digit) = match cuts.get(level + 1).map(|next| next.0) {
                None => (quotient, at / i128::from(cut)),
                Some(high) => {
                    let among = high / cut;
                    (format!("({quotient} mod {among})"), at / i128::from(cut) % i128::from(among))
                }
            };
            if stride != 0 {
                digits.push(Part { coefficient: stride, text, value: stride * digit });
            }
        }
        digits.reverse();
        digits
    }

    fn term(&self, term: Term) -> String {
        match term {
            Term::Dim(dim) => self.name(dim),
            Term::Quotient(place) => match &self.canon.quotients()[place] {
                quotient if self.named && !quotient.is_plain() => match self.index {
                    Some(_) => self.value(term).to_string(),
                    None => format!("q{place}"),
                },
                quotient => self.quotient(quotient),
            },
        }
    }

    fn quotient(&self, quotient: &Quotient) -> String {
        let parts: Vec<Part> = quotient
            .of
            .terms
            .iter()
            .map(|&(term, coefficient)| Part { coefficient, text: self.term(term), value: 0 })
            .collect();
        let inner = join(quotient.of.constant, &parts);
        match parts.len() {
            1 if quotient.of.constant == 0 => format!("⌊{inner}/{}⌋", quotient.by),
            _ => format!("⌊({inner})/{}⌋", quotient.by),
        }
    }
}

/// How many terms the form has with every quotient written out.
fn terms_written_out(canon: &Canon, form: &Linear) -> u64 {
    let mut terms: Vec<u64> = Vec::with_capacity(canon.quotients().len());
    let count = |form: &Linear, terms: &[u64]| {
        form.terms.iter().fold(1_u64, |sum, &(term, _)| match term {
            Term::Dim(_) => sum.saturating_add(1),
            Term::Quotient(place) => sum.saturating_add(terms[place]),
        })
    };
    for quotient in canon.quotients() {
        terms.push(count(&quotient.of, &terms));
    }
    count(form, &terms)
}

/// `3 + 2·a − b`; the constant 0 only when it stands alone.
fn join(constant: i128, parts: &[Part]) -> String {
    let mut text = String::new();
    if constant != 0 || parts.is_empty() {
        text.push_str(&constant.to_string().replace('-', "−"));
    }
    for Part { coefficient, text: name, .. } in parts {
        text.push_str(match (text.is_empty(), *coefficient < 0) {
            (true, true) => "−",
            (true, false) => "",
            (false, true) => " − ",
            (false, false) => " + ",
        });
        match (coefficient.unsigned_abs(), name.is_empty()) {
            (1, false) => {}
            (size, true) => text.push_str(&size.to_string()),
            (size, false) => text.push_str(&format!("{size}·")),
        }
        text.push_str(name);
    }
    text
}
