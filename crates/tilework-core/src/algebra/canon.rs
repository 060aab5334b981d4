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
//! disappear. What is left to do is to keep quotients simple. With `reach` as in `parts.rs`:
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

use crate::order::InOrder;
use std::fmt;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::algebra::eval::Fast;
use crate::algebra::linear::{Linear, Quotient, Table, Term, rename, used};
use crate::arithmetic::gcd;
use crate::layout::Layout;
use crate::layout::parts::{Part, PartKind};

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
    parts: &'a [Part],
    table: Table<'a>,
    /// The form of each expression, once asked for.
    forms: Vec<Option<Linear>>,
    /// ⌊of / by⌋ of each Div and Mod expression, once asked for.
    halves: Vec<Option<Linear>>,
}

impl Normalizer<'_> {
    fn form(&mut self, id: usize) -> Linear {
        if let Some(form) = &self.forms[id] {
            return form.clone();
        }
        let part = self.parts[id];
        let form = match part.kind {
            _ if part.reach <= 1 && !matches!(part.kind, PartKind::Moved { .. }) => Linear::default(), // R1
            PartKind::Unit => Linear::default(),
            PartKind::Dim(dim) => Linear::term(Term::Dim(dim)),
            PartKind::Tiles { .. } => self.half(id),
            PartKind::Within { of, by, .. } => {
                let half = self.half(id);
                let mut form = self.form(of);
                form.add(&half, -i128::from(by));
                form
            }
            PartKind::Combined { major, minor, scale } => {
                let mut form = self.form(minor);
                let major = self.form(major);
                form.add(&major, i128::from(scale));
                form
            }
            PartKind::Moved { of, start, step } => {
                let mut form = Linear::constant(i128::from(start));
                let of = self.form(of);
                form.add(&of, i128::from(step));
                form
            }
        };
        self.forms[id] = Some(form.clone());
        form
    }

    /// ⌊of / by⌋ of a Div or Mod expression.
    fn half(&mut self, id: usize) -> Linear {
        if let Some(half) = &self.halves[id] {
            return half.clone();
        }
        let half = match self.parts[id].kind {
            PartKind::Tiles { of, by, .. } | PartKind::Within { of, by, .. } => self.quotient(of, by),
            _ => Linear::default(),
        };
        self.halves[id] = Some(half.clone());
        half
    }

    /// ⌊id / by⌋
    fn quotient(&mut self, id: usize, by: u64) -> Linear {
        let part = self.parts[id];
        if by >= part.reach {
            return Linear::default(); // R5
        }
        match part.kind {
            PartKind::Tiles { of, by: inner, .. } => match inner.checked_mul(by) {
                Some(by) => self.quotient(of, by), // R2
                None => Linear::default(),         // beyond every value
            },
            PartKind::Within { of, by: modulus, .. } if modulus.is_multiple_of(by) => {
                // R3, R4: ⌊(e − m·⌊e/m⌋) / t⌋ with t | m
                let mut quotient = self.quotient(of, by);
                let half = self.half(id);
                quotient.add(&half, -i128::from(modulus / by));
                quotient
            }
            PartKind::Combined { major, minor, scale } => {
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
        let parts = layout.index_parts();
        let none = || vec![None; parts.len()];
        let mut normalizer =
            Normalizer { parts, table: Table::new(layout.dims()), forms: none(), halves: none() };
        let mut form = Linear::constant(i128::from(layout.base()));
        if !layout.is_empty() {
            for axis in layout.axes() {
                let of = normalizer.form(axis.part);
                form.add(&of, i128::from(axis.stride));
            }
        }
        Canon::new(layout.rank(), normalizer.table.into_quotients(), form)
    }

    /// Keeps only the quotients that the form needs, numbered in the order of need.
    fn new(rank: usize, all: Vec<Quotient>, form: Linear) -> Canon {
        let needed = used(&all, form.terms.iter().map(|entry| entry.0));
        let mut names = vec![0; all.len()];
        let mut quotients = Vec::new();
        for (place, quotient) in all.into_iter().enumerate().filter(|&(place, _)| needed[place]) {
            names[place] = quotients.len();
            quotients.push(Quotient { of: rename(&quotient.of, &names), by: quotient.by });
        }
        let form = rename(&form, &names);
        let fast = Fast::new(rank, &quotients, &form);
        Canon { rank, quotients, form, fast }
    }

    /// Whether the forms are the same, in whatever order their quotients were found. Of plain ones that is whether the
    /// functions are.
    pub(crate) fn is_same(&self, other: &Canon) -> bool {
        let is_equal = self.form == other.form && self.quotients == other.quotients;
        let has_equal_cuts = || {
            self.form.constant == other.form.constant
                && self.is_plain()
                && other.is_plain()
                && (0..self.rank).all(|dim| self.cuts(dim) == other.cuts(dim))
        };
        self.rank == other.rank && (is_equal || has_equal_cuts())
    }

    /// Feeds a hasher with what forms that are the same have in common.
    pub(crate) fn hash(&self, hasher: &mut impl Hasher) {
        self.form.constant.hash(hasher);
        match self.is_plain() {
            true => (0..self.rank).for_each(|dim| self.cuts(dim).hash(hasher)),
            false => (&self.form, &self.quotients).hash(hasher),
        }
    }

    /// Number of dimensions of the index.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Whether every quotient is ⌊dimension / d⌋, so that equal functions have equal forms.
    pub fn is_plain(&self) -> bool {
        self.quotients.iter().all(|quotient| quotient.is_plain())
    }

    /// The stride of each dimension, if strides alone say the function.
    pub fn strides(&self) -> Option<Vec<i64>> {
        if !self.quotients.is_empty() {
            return None;
        }
        let mut strides = vec![0; self.rank];
        for &(term, coefficient) in &self.form.terms {
            if let Term::Dim(dim) = term {
                strides[dim] = i64::try_from(coefficient).ok()?;
            }
        }
        Some(strides)
    }

    /// Why strides alone cannot say the function.
    pub(crate) fn why_not_strided(&self) -> String {
        let plain = self.quotients.iter().filter_map(|quotient| Some((quotient.plain_dim()?, quotient.by)));
        match plain.min_by_key(|&(_, by)| by) {
            Some((dim, by)) => {
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
                Term::Dim(own) if own == dim => cuts[0].1 = coefficient,
                Term::Quotient(place) => {
                    let quotient = &self.quotients[place];
                    if quotient.plain_dim() == Some(dim) {
                        cuts.push((quotient.by, coefficient));
                    }
                }
                Term::Dim(_) => {}
            }
        }
        cuts.order();
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
pub fn letter(rank: usize, dim: usize) -> String {
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
