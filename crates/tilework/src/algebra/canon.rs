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

use std::fmt;

use smallvec::SmallVec;

use crate::algebra::eval::Fast;
use crate::algebra::linear::{Linear, Quotient, Table, Term, gcd, rename};
use crate::layout::Layout;
use crate::layout::expr::{Expr, Id, Node};

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
        Canon::new(layout.rank(), normalizer.table.into_quotients(), form)
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

    /// The plain terms of one dimension by ascending cut: the coefficient of the dimension itself at cut 1, which always
    /// stands first, then that of ⌊dimension / cut⌋.
    pub(crate) fn cuts(&self, dim: usize) -> Cuts {
        let mut cuts = Cuts::from_slice(&[(1, 0)]);
        for &(term, coefficient) in &self.form.terms {
            match term {
                Term::Dim(own) if own as usize == dim => cuts[0].1 = coefficient,
                Term::Quotient(place) => {
                    let quotient = &self.quotients[place as usize];
                    if quotient.is_plain() && quotient.of.terms[0].0 == Term::Dim(dim as u32) {
                        cuts.push((quotient.by, coefficient));
                    }
                }
                Term::Dim(_) => {}
            }
        }
        cuts.sort_unstable();
        cuts
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

/// Cuts of a dimension and what the offset changes by at each multiple of them.
pub(crate) type Cuts = SmallVec<[(u64, i128); 4]>;

/// Whether each cut divides the next, so that they cut a dimension into digits.
pub(crate) fn divide_each_other(cuts: &[(u64, i128)]) -> bool {
    cuts.windows(2).all(|pair| pair[1].0.is_multiple_of(pair[0].0))
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
        f.write_str(&crate::algebra::formula::formula(self))
    }
}
