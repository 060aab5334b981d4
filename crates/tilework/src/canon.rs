//! The canonical form of a layout's function.
//!
//! # The idea
//!
//! `e mod t` is `e − t·(e div t)`, so every remainder can be written with quotients, and a layout becomes a *linear*
//! form over quotients:
//!
//! ```text
//! offset(x) = base + Σ c · q(x)        q: a dimension, or ⌊ linear form / d ⌋
//! ```
//!
//! In this form most rewrite rules of the algebra need no code: like terms add up, and terms that add up to nothing
//! disappear. What is left to do is to keep quotients simple. With `reach` as in `expr.rs`:
//!
//! ```text
//! R1   a constant 0 and `e div 1` disappear                        by construction
//! R2   (e div a) div b = e div ab                                  `divide`
//! R3   ((e mod m) div d) mod r = (e mod dr) div d,  dr | m         `quotient` of Mod, then like terms
//! R4   (e mod ab) div a = (e div a) mod b                          `quotient` of Mod
//! R5   e div t = 0, e mod t = e,  if reach(e) ≤ t                  `quotient`
//! R6   merge(a, b; n) div t:  common factors of n and t leave      `quotient` of Merge
//! R7   neighbouring digits of one expression fuse                  like terms: the coefficient of the cut is 0
//! R8   a merge that is not divided dissolves                       like terms
//! R9   a stride of 0 disappears                                    like terms
//! R10  the halves of a split, merged, are the whole                like terms
//! R11  merges associate                                            like terms
//! R12  (start + step·e) div t:  multiples of t leave               `divide`
//! ```
//!
//! # When forms decide equality
//!
//! Call a form *plain* if every quotient is a dimension or ⌊dimension / d⌋ with 1 < d < size. **Two layouts with plain
//! forms are the same function exactly if the forms are the same.** Proof: a plain form separates into functions of one
//! dimension each, so take one dimension of size N. The step of ⌊x/d⌋ from x − 1 to x is 1 if d divides x, else 0. On
//! x = 1 … N−1 these steps, for d = 1 … N−1, are a triangular matrix with ones on its diagonal (d divides no x below
//! d, and divides x = d), so the quotients are linearly independent, and the coefficients are determined by the
//! function. ∎
//!
//! No divisibility between the cuts is asked for. What is not plain comes from tiles that do not divide each other
//! (`T(3,2)(2,1)`), from `*` over sizes with no common factor, and from slices that start inside a tile.
//! `compare.rs` says what is done with those.

use std::collections::HashMap;
use std::fmt;

use smallvec::SmallVec;

use crate::expr::{Expr, Id, Node};
use crate::layout::Layout;

/// The canonical form of a layout's function: a linear form over quotients.
///
/// `Display` writes it as a formula, with remainders where they read better:
///
/// ```
/// use tilework::Layout;
/// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
/// assert_eq!(layout.canon().to_string(), "12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2)");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Canon {
    rank: usize,
    /// Quotients in an order in which each uses only earlier ones; `Term::Quotient` points here.
    quotients: Vec<Quotient>,
    form: Linear,
    fast: Fast,
}

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
    Dim(u32),
    Quotient(u32),
}

impl Linear {
    fn constant(constant: i128) -> Linear {
        Linear { constant, terms: SmallVec::new() }
    }

    fn term(term: Term) -> Linear {
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

    /// The quotient that this form is, if it is exactly one.
    fn single_quotient(&self) -> Option<u32> {
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
    places: HashMap<Quotient, u32>,
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
                Term::Dim(dim) => (0, i128::from(self.dims[dim as usize].saturating_sub(1))),
                Term::Quotient(place) => self.ranges[place as usize],
            };
            let (a, b) = (low.saturating_mul(coefficient), high.saturating_mul(coefficient));
            range = (range.0.saturating_add(a.min(b)), range.1.saturating_add(a.max(b)));
        }
        range
    }

    /// ⌊form / by⌋ with everything that can leave the quotient taken out of it.
    fn divide(&mut self, form: &Linear, by: u64) -> Linear {
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
            let inner = &self.quotients[inner as usize];
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

    fn place(&mut self, quotient: Quotient) -> u32 {
        if let Some(&place) = self.places.get(&quotient) {
            return place;
        }
        let (low, high) = self.range(&quotient.of);
        let by = i128::from(quotient.by);
        self.ranges.push((low.div_euclid(by), high.div_euclid(by)));
        self.quotients.push(quotient.clone());
        let place = (self.quotients.len() - 1) as u32;
        self.places.insert(quotient, place);
        place
    }

    pub(crate) fn into_quotients(self) -> Vec<Quotient> {
        self.quotients
    }

    /// Takes over a form of another table.
    pub(crate) fn import(&mut self, canon: &Canon) -> Linear {
        let mut renamed: Vec<u32> = Vec::with_capacity(canon.quotients.len());
        for quotient in &canon.quotients {
            let of = rename(&quotient.of, &renamed);
            renamed.push(self.place(Quotient { of, by: quotient.by }));
        }
        rename(&canon.form, &renamed)
    }
}

fn rename(form: &Linear, names: &[u32]) -> Linear {
    let mut renamed = form.clone();
    for (term, _) in &mut renamed.terms {
        if let Term::Quotient(quotient) = term {
            *quotient = names[*quotient as usize];
        }
    }
    renamed.terms.sort_unstable();
    renamed
}

/// Turns expressions into linear forms over quotients.
struct Normalizer<'a> {
    nodes: &'a [Node],
    table: Table<'a>,
    /// The form of each expression, once asked for.
    forms: Vec<Option<Linear>>,
    /// ⌊of / by⌋ of each Div and Mod expression, once asked for.
    halves: Vec<Option<Linear>>,
}

impl Normalizer<'_> {
    fn form(&mut self, id: Id) -> Linear {
        if let Some(form) = &self.forms[id as usize] {
            return form.clone();
        }
        let node = self.nodes[id as usize];
        let form = match node.expr {
            _ if node.reach <= 1 && !matches!(node.expr, Expr::Shift { .. }) => Linear::default(), // R1
            Expr::Unit => Linear::default(),
            Expr::Dim(dim) => Linear::term(Term::Dim(dim)),
            Expr::Div { .. } => self.half(id),
            Expr::Mod { of, by, .. } => {
                let half = self.half(id);
                let mut form = self.form(of);
                form.add(&half, -i128::from(by));
                form
            }
            Expr::Merge { major, minor, scale } => {
                let mut form = self.form(minor);
                let major = self.form(major);
                form.add(&major, i128::from(scale));
                form
            }
            Expr::Shift { of, start, step } => {
                let mut form = Linear::constant(i128::from(start));
                let of = self.form(of);
                form.add(&of, i128::from(step));
                form
            }
        };
        self.forms[id as usize] = Some(form.clone());
        form
    }

    /// ⌊of / by⌋ of a Div or Mod expression.
    fn half(&mut self, id: Id) -> Linear {
        if let Some(half) = &self.halves[id as usize] {
            return half.clone();
        }
        let half = match self.nodes[id as usize].expr {
            Expr::Div { of, by, .. } | Expr::Mod { of, by, .. } => self.quotient(of, by),
            _ => Linear::default(),
        };
        self.halves[id as usize] = Some(half.clone());
        half
    }

    /// ⌊id / by⌋
    fn quotient(&mut self, id: Id, by: u64) -> Linear {
        let node = self.nodes[id as usize];
        if by >= node.reach {
            return Linear::default(); // R5
        }
        match node.expr {
            Expr::Div { of, by: inner, .. } => match inner.checked_mul(by) {
                Some(by) => self.quotient(of, by), // R2
                None => Linear::default(),         // beyond every value
            },
            Expr::Mod { of, by: modulus, .. } if modulus.is_multiple_of(by) => {
                // R3, R4: ⌊(e − m·⌊e/m⌋) / t⌋ with t | m
                let mut quotient = self.quotient(of, by);
                let half = self.half(id);
                quotient.add(&half, -i128::from(modulus / by));
                quotient
            }
            Expr::Merge { major, minor, scale } => {
                // R6: with g = gcd(n, t), ⌊(n·a + b)/t⌋ = ⌊(n/g·a + ⌊b/g⌋) / (t/g)⌋
                let common = gcd(scale, by);
                let mut form = self.quotient(minor, common);
                let major = self.form(major);
                form.add(&major, i128::from(scale / common));
                self.table.divide(&form, by / common)
            }
            _ => {
                let form = self.form(id);
                self.table.divide(&form, by)
            }
        }
    }
}

impl Canon {
    /// The form of a layout, over all its axes.
    pub(crate) fn of(layout: &Layout) -> Canon {
        let nodes = layout.nodes();
        let none = || vec![None; nodes.len()];
        let mut normalizer =
            Normalizer { nodes, table: Table::new(layout.dims()), forms: none(), halves: none() };
        let mut form = Linear::constant(i128::from(layout.base()));
        if !layout.is_empty() {
            for axis in layout.raw_axes() {
                let of = normalizer.form(axis.node);
                form.add(&of, i128::from(axis.stride));
            }
        }
        Canon::new(layout.rank(), normalizer.table.quotients, form)
    }

    /// Keeps only the quotients that the form needs, numbered in the order of need.
    fn new(rank: usize, all: Vec<Quotient>, form: Linear) -> Canon {
        let mut needed = vec![false; all.len()];
        let mark = |form: &Linear, needed: &mut Vec<bool>| {
            for &(term, _) in &form.terms {
                if let Term::Quotient(quotient) = term {
                    needed[quotient as usize] = true;
                }
            }
        };
        mark(&form, &mut needed);
        for place in (0..all.len()).rev().filter(|&place| place < all.len()) {
            if needed[place] {
                mark(&all[place].of, &mut needed);
            }
        }
        let mut names = vec![0; all.len()];
        let mut quotients = Vec::new();
        for (place, quotient) in all.into_iter().enumerate().filter(|&(place, _)| needed[place]) {
            names[place] = quotients.len() as u32;
            quotients.push(Quotient { of: rename(&quotient.of, &names), by: quotient.by });
        }
        let form = rename(&form, &names);
        let fast = Fast::new(rank, &quotients, &form);
        Canon { rank, quotients, form, fast }
    }

    /// Number of dimensions of the index.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Whether every quotient is ⌊dimension / d⌋, so that equal functions have equal forms.
    pub fn is_plain(&self) -> bool {
        self.quotients.iter().all(|quotient| quotient.is_plain())
    }

    /// Whether the function is a plain sum of strides, without any quotient.
    pub fn is_strided(&self) -> bool {
        self.quotients.is_empty()
    }

    /// The stride of each dimension, if strides alone say the function.
    pub fn strides(&self) -> Option<Vec<i64>> {
        if !self.is_strided() {
            return None;
        }
        let mut strides = vec![0; self.rank];
        for &(term, coefficient) in &self.form.terms {
            if let Term::Dim(dim) = term {
                strides[dim as usize] = i64::try_from(coefficient).ok()?;
            }
        }
        Some(strides)
    }

    /// Why strides alone cannot say the function.
    pub(crate) fn why_not_strided(&self) -> String {
        let plain =
            self.quotients.iter().filter(|quotient| quotient.is_plain()).min_by_key(|quotient| quotient.by);
        match plain.map(|quotient| (quotient.of.terms[0].0, quotient.by)) {
            Some((Term::Dim(dim), by)) => {
                format!("dimension {dim} changes its stride at every multiple of {by}")
            }
            _ if self.quotients.is_empty() => "a stride overflows 63 bits".to_owned(),
            _ => format!("the function has quotients in it: {self}"),
        }
    }

    pub(crate) fn quotients(&self) -> &[Quotient] {
        &self.quotients
    }

    pub(crate) fn form(&self) -> &Linear {
        &self.form
    }

    /// The offset of an index that is known to be within the dimensions.
    #[inline]
    pub(crate) fn eval(&self, index: &[u64]) -> u64 {
        self.fast.eval(index, &self.quotients)
    }
}

impl Quotient {
    pub(crate) fn is_plain(&self) -> bool {
        self.of.constant == 0 && matches!(self.of.terms.as_slice(), [(Term::Dim(_), 1)])
    }
}

/// The form made ready for evaluation.
///
/// Everything wraps around at 64 bits, which is harmless: the offset is below 2^63, so it is right modulo 2^64.
#[derive(Clone, Debug)]
struct Fast {
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
    fn new(rank: usize, quotients: &[Quotient], form: &Linear) -> Fast {
        let plain = quotients.iter().all(Quotient::is_plain);
        let mut fast = Fast {
            base: form.constant as u64,
            strides: SmallVec::from_elem(0, rank),
            cuts: SmallVec::new(),
            nested: vec![0; if plain { 0 } else { quotients.len() }],
        };
        for &(term, coefficient) in &form.terms {
            match term {
                Term::Dim(dim) => fast.strides[dim as usize] = coefficient as u64,
                Term::Quotient(place) if plain => {
                    let quotient = &quotients[place as usize];
                    if let [(Term::Dim(dim), 1)] = quotient.of.terms.as_slice() {
                        fast.cuts.push(Cut::new(*dim, quotient.by, coefficient as u64));
                    }
                }
                Term::Quotient(place) => fast.nested[place as usize] = coefficient as u64,
            }
        }
        fast
    }

    #[inline]
    fn eval(&self, index: &[u64], quotients: &[Quotient]) -> u64 {
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
        let mut values: SmallVec<[i128; 16]> = SmallVec::new();
        let mut sum = 0_u64;
        for (quotient, coefficient) in quotients.iter().zip(&self.nested) {
            let of = quotient.of.terms.iter().fold(quotient.of.constant, |sum, &(term, coefficient)| {
                let value = match term {
                    Term::Dim(dim) => i128::from(index[dim as usize]),
                    Term::Quotient(place) => values[place as usize],
                };
                sum.wrapping_add(coefficient.wrapping_mul(value))
            });
            let value = of.div_euclid(i128::from(quotient.by));
            values.push(value);
            sum = sum.wrapping_add(coefficient.wrapping_mul(value as u64));
        }
        sum
    }
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The customary letters of index positions: i, j, k, l, m, n up to six dimensions, else x0, x1, …
pub(crate) fn letter(rank: usize, dim: usize) -> String {
    match rank {
        0..=6 => ["i", "j", "k", "l", "m", "n"][dim].to_owned(),
        _ => format!("x{dim}"),
    }
}

impl fmt::Display for Canon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::formula::formula(self))
    }
}
