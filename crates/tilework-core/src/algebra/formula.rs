//! Canonical forms as formulas for people: `12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2)`.

use crate::algebra::canon::{Canon, divide_each_other, letter};
use crate::algebra::linear::{Linear, Quotient, Term};

/// The most terms of a formula in which every quotient is written out where it is used.
const TERM_LIMIT: u64 = 100;

/// The whole function, without the `offset =`.
///
/// Quotients of quotients are written out as long as that is readable. Where each tile divides none before it, the
/// terms double from tile to tile; such quotients get names and stand behind the formula, each once.
pub(crate) fn formula(canon: &Canon) -> String {
    let mut parts = Vec::new();
    let mut rest = canon.form().clone();
    for dim in 0..canon.rank() {
        parts.extend(digits_of(canon, dim, &mut rest));
    }
    let named = terms_written_out(canon, &rest) > TERM_LIMIT;
    for &(term, coefficient) in &rest.terms {
        parts.push((coefficient, text_of(canon, term, named)));
    }
    let mut text = join(rest.constant, &parts);
    if named {
        let nested = canon.quotients().iter().enumerate().filter(|(_, quotient)| !quotient.is_plain());
        for (number, (place, quotient)) in nested.enumerate() {
            text.push_str(if number == 0 { ", where " } else { ", " });
            text.push_str(&format!("q{place} = {}", quotient_text(canon, quotient, named)));
        }
    }
    text
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

/// The part of one dimension as digits, taken out of `rest`, if its cuts divide each other.
///
/// Coefficients c0, c1, … of ⌊x/D0⌋, ⌊x/D1⌋, … with 1 = D0 | D1 | … are digits with strides s0 = c0 and
/// s(k) = c(k) + s(k−1)·D(k)/D(k−1): the remainder below each cut is what the next coefficient takes back.
fn digits_of(canon: &Canon, dim: usize, rest: &mut Linear) -> Vec<(i128, String)> {
    let cuts = canon.cuts(dim);
    if !divide_each_other(&cuts) {
        return Vec::new();
    }
    rest.terms.retain(|(term, _)| match *term {
        Term::Dim(own) => own != dim,
        Term::Quotient(place) => canon.quotients()[place].plain_dim() != Some(dim),
    });
    let name = letter(canon.rank(), dim);
    let mut stride = 0;
    let mut digits = Vec::new();
    for (level, &(cut, coefficient)) in cuts.iter().enumerate() {
        stride = match level {
            0 => coefficient,
            _ => coefficient + stride * i128::from(cut / cuts[level - 1].0),
        };
        let high = cuts.get(level + 1).map(|next| next.0);
        let quotient = if cut == 1 { name.clone() } else { format!("⌊{name}/{cut}⌋") };
        let text = match high {
            None => quotient,
            Some(high) => format!("({quotient} mod {})", high / cut),
        };
        if stride != 0 {
            digits.push((stride, text));
        }
    }
    digits.reverse();
    digits
}

fn text_of(canon: &Canon, term: Term, named: bool) -> String {
    match term {
        Term::Dim(dim) => letter(canon.rank(), dim),
        Term::Quotient(place) => match &canon.quotients()[place] {
            quotient if named && !quotient.is_plain() => format!("q{place}"),
            quotient => quotient_text(canon, quotient, named),
        },
    }
}

fn quotient_text(canon: &Canon, quotient: &Quotient, named: bool) -> String {
    let parts: Vec<_> = quotient.of.terms.iter().map(|&(term, c)| (c, text_of(canon, term, named))).collect();
    let inner = join(quotient.of.constant, &parts);
    match parts.len() {
        1 if quotient.of.constant == 0 => format!("⌊{inner}/{}⌋", quotient.by),
        _ => format!("⌊({inner})/{}⌋", quotient.by),
    }
}

/// `3 + 2·a − b`; the constant 0 only when it stands alone.
fn join(constant: i128, parts: &[(i128, String)]) -> String {
    let mut text = String::new();
    if constant != 0 || parts.is_empty() {
        text.push_str(&constant.to_string().replace('-', "−"));
    }
    for (coefficient, name) in parts {
        text.push_str(match (text.is_empty(), *coefficient < 0) {
            (true, true) => "−",
            (true, false) => "",
            (false, true) => " − ",
            (false, false) => " + ",
        });
        if coefficient.unsigned_abs() != 1 {
            text.push_str(&format!("{}·", coefficient.unsigned_abs()));
        }
        text.push_str(name);
    }
    text
}
