//! Are two layouts the same? Four questions, each with its own answer.
//!
//! Every answer is exact. Where both canonical forms are plain they decide by themselves (`canon.rs` proves it).
//! Otherwise the difference of the two forms is looked at: it falls into components that share no dimension, and each
//! component is tabulated. A table need not be as large as the dimensions: a quotient repeats, up to a constant, with
//! the product of its divisors, so one period and one step beyond it decide for dimensions of any size. Beyond
//! [`TABLE_LIMIT`] entries the answer is [`Verdict::NotDecided`].

use crate::algebra::canon::Canon;
use crate::algebra::components::{Component, Quotients};
use crate::algebra::linear::{Linear, Table, Term, Values, evaluate};
use crate::algebra::pieces::{Pieces, may_be_exchanged, pieces};
use crate::arithmetic::next_permutation;
use crate::ask::exchange;
use crate::ask::verdict::{Difference, Verdict};
use crate::layout::Layout;
use crate::layout::view::common_factors;

/// The most entries of a table that a comparison computes before it says that the question is not decided.
pub const TABLE_LIMIT: u64 = 1 << 22;

/// The work that one comparison may spend on tables, in terms added up: under a second. An entry costs as many as its
/// quotients have.
pub(crate) const WORK_LIMIT: u64 = 1 << 29;

impl Layout {
    /// Sense 1, the same function: the same dimensions, and every index has the same offset in both.
    ///
    /// ```
    /// use tilework::Layout;
    /// let tiled = Layout::builder(&[16, 128], 32)?.tile(&[Some(8), Some(128)])?.build()?;
    /// assert!(tiled.same_function(&Layout::row_major(&[16, 128], 32)?).is_yes());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn same_function(&self, other: &Layout) -> Verdict {
        self.same_function_within(other, &mut WORK_LIMIT.clone())
    }

    fn same_function_within(&self, other: &Layout, work: &mut u64) -> Verdict {
        if self.dims() != other.dims() {
            return Verdict::No(Difference::Dims([self, other].map(|layout| layout.dims().to_vec())));
        }
        if self.is_empty() {
            return Verdict::Yes;
        }
        match self.swizzle() == other.swizzle() {
            true => Gap::new(self, other).is_zero(work),
            false => exchange::same(self, other, work),
        }
    }

    /// The same of the places before they are exchanged.
    pub(crate) fn same_before_swizzle(&self, other: &Layout) -> Verdict {
        Gap::new(self, other).is_zero(&mut WORK_LIMIT.clone())
    }

    /// Sense 2, the same buffer: the same function, the same allocated size and the same element bits.
    ///
    /// Layouts with the same function can differ in their trailing padding.
    pub fn same_buffer(&self, other: &Layout) -> Verdict {
        match self.other_buffer(other) {
            Some(difference) => Verdict::No(difference),
            None => self.same_function(other),
        }
    }

    /// Sense 3, a reshape-bitcast: the buffer of one, read as the other, holds the same elements in row-major index
    /// order, whatever the dimensions.
    ///
    /// ```
    /// use tilework::Layout;
    /// let tiled = |dims: &[u64]| Layout::builder(dims, 32)?.tile(&[Some(8), Some(128)])?.build();
    /// assert!(tiled(&[16, 128])?.reshape_bitcast(&Layout::row_major(&[2048], 32)?).is_yes());
    /// assert!(tiled(&[8, 256])?.reshape_bitcast(&Layout::row_major(&[2048], 32)?).is_no());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn reshape_bitcast(&self, other: &Layout) -> Verdict {
        self.reshape_bitcast_within(other, &mut WORK_LIMIT.clone())
    }

    fn reshape_bitcast_within(&self, other: &Layout, work: &mut u64) -> Verdict {
        if let Some(verdict) = self.bitcast_by_counts(other) {
            return verdict;
        }
        if self.dims() == other.dims() {
            return self.same_function_within(other, work);
        }
        let cuts = common_factors(self.dims(), other.dims());
        // Sizes of 1 say nothing, and with theirs both sides together can have more dimensions than a layout may.
        let shared: Vec<u64> = cuts
            .windows(2)
            .map(|cut| self.dims()[cut[0].0..cut[1].0].iter().product())
            .filter(|&size| size != 1)
            .collect();
        match (self.reshape(&shared), other.reshape(&shared)) {
            (Ok(a), Ok(b)) => a.same_function_within(&b, work),
            (Err(error), _) | (_, Err(error)) => Verdict::NotDecided(error.to_string()),
        }
    }

    /// Sense 4, a transpose-bitcast: after some permutation and reshape of the dimensions, sense 3 holds. XLA's
    /// `bitcast` may do that.
    ///
    /// ```
    /// use tilework::Layout;
    /// let rows = Layout::row_major(&[2, 3], 32)?;
    /// let columns = Layout::builder(&[3, 2], 32)?.minor_to_major(&[0, 1])?.build()?;
    /// assert!(rows.reshape_bitcast(&columns).is_no());
    /// assert!(rows.transpose_bitcast(&columns).is_yes());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn transpose_bitcast(&self, other: &Layout) -> Verdict {
        if let Some(verdict) = self.bitcast_by_counts(other) {
            return verdict;
        }
        if let (true, Some(a), Some(b)) = (self.swizzle() == other.swizzle(), pieces(self), pieces(other)) {
            return match a == b {
                true => Verdict::Yes,
                false if may_be_exchanged(&a, &b) => Verdict::NotDecided(format!(
                    "the places overlap, and {} may be {} cut otherwise",
                    Pieces(&a),
                    Pieces(&b)
                )),
                false => Verdict::No(Difference::Pieces([a, b].map(|all| Pieces(&all).to_string()))),
            };
        }
        // Not plain: any order of the dimensions may do it.
        let work = &mut WORK_LIMIT.clone();
        let mut undecided = None;
        let mut order: Vec<usize> = (0..self.rank()).collect();
        if self.rank() <= 6 {
            loop {
                let verdict = match self.permute(&order) {
                    Ok(view) => view.reshape_bitcast_within(other, work),
                    Err(_) => break,
                };
                match verdict {
                    Verdict::Yes => return Verdict::Yes,
                    Verdict::NotDecided(why) => undecided = Some(why),
                    Verdict::No(_) => {}
                }
                if !next_permutation(&mut order) {
                    break;
                }
            }
        }
        match self.first_place_taken_otherwise(other) {
            Some(place) => Verdict::No(Difference::Place(place)),
            None => Verdict::NotDecided(undecided.unwrap_or_else(|| {
                "tiles that do not divide each other cannot be cut into pieces to compare".to_owned()
            })),
        }
    }

    /// What sizes and counts alone say about a bitcast of either kind.
    fn bitcast_by_counts(&self, other: &Layout) -> Option<Verdict> {
        if let Some(difference) = self.other_buffer(other) {
            return Some(Verdict::No(difference));
        }
        if self.len() != other.len() {
            return Some(Verdict::No(Difference::Len([self.len(), other.len()])));
        }
        self.is_empty().then_some(Verdict::Yes)
    }

    /// What makes two buffers different before any index is looked at.
    fn other_buffer(&self, other: &Layout) -> Option<Difference> {
        if self.bits() != other.bits() {
            return Some(Difference::Bits([self.bits(), other.bits()]));
        }
        if self.size() != other.size() {
            return Some(Difference::Size([self.size(), other.size()]));
        }
        None
    }

    /// A place with another number of elements here than there, in layouts small enough to look.
    fn first_place_taken_otherwise(&self, other: &Layout) -> Option<u64> {
        let few = TABLE_LIMIT / 16;
        if self.len() <= few {
            let (a, b) = (self.sorted_offsets(), other.sorted_offsets());
            return a.iter().zip(&b).find(|(a, b)| a != b).map(|(a, b)| *a.min(b));
        }
        // In a compact layout a place is found by division; elsewhere each could take a search.
        if !self.is_compact() || !other.is_compact() || !self.hides_no_part() || !other.hides_no_part() {
            return None;
        }
        let taken = |layout: &Layout, place| matches!(layout.locate(place), Ok(crate::Place::Element(_)));
        (0..self.size().min(few)).find(|&place| taken(self, place) != taken(other, place))
    }
}

/// The difference of two layouts' functions over the same dimensions, in one table of quotients.
struct Gap<'a> {
    dims: &'a [u64],
    quotients: Quotients,
    form: Linear,
    layouts: [&'a Layout; 2],
}

impl<'a> Gap<'a> {
    fn new(a: &'a Layout, b: &'a Layout) -> Gap<'a> {
        let mut table = Table::new(a.dims());
        let mut import = |canon: &Canon| table.import(canon.quotients(), canon.form());
        let mut form = import(a.canon());
        let other = import(b.canon());
        form.add(&other, -1);
        Gap { dims: a.dims(), quotients: Quotients(table.into_quotients()), form, layouts: [a, b] }
    }

    fn is_zero(&self, work: &mut u64) -> Verdict {
        let origin = vec![0; self.dims.len()];
        if self.form.terms.is_empty() && self.form.constant == 0 {
            return Verdict::Yes;
        }
        if self.value(&origin) != 0 {
            return self.witness(&origin);
        }
        let mut verdict = Verdict::Yes;
        for component in self.quotients.components(self.form.terms.iter().map(|entry| entry.0)) {
            match self.component_is_zero(&component, work) {
                Verdict::Yes => {}
                Verdict::No(why) => return Verdict::No(why),
                undecided => verdict = undecided,
            }
        }
        verdict
    }

    fn component_is_zero(&self, component: &Component, work: &mut u64) -> Verdict {
        let mut index = vec![0; self.dims.len()];
        if component.plain {
            // Plain terms of one dimension are independent, so some index shows the difference: the least cut, where
            // the first coefficient that is not 0 meets its first step.
            let dim = component.dims[0];
            let first = self.form.terms.iter().filter_map(|&(term, _)| match term {
                Term::Dim(own) => (own == dim).then_some(1),
                Term::Quotient(place) => {
                    let quotient = &self.quotients.0[place];
                    (quotient.plain_dim() == Some(dim)).then_some(quotient.by)
                }
            });
            index[dim] = first.min().unwrap_or(0);
            return self.witness(&index);
        }
        let periods = self.quotients.periods(self.dims.len());
        let spans: Vec<u64> =
            component.dims.iter().map(|&dim| self.dims[dim].min(periods[dim].saturating_add(1))).collect();
        let entries = spans.iter().try_fold(1_u64, |entries, &span| entries.checked_mul(span));
        let affordable = entries.filter(|&entries| entries <= TABLE_LIMIT).and_then(|entries| {
            let left = work.checked_sub(entries.checked_mul(self.terms())?)?;
            Some((entries, left))
        });
        let Some((entries, left)) = affordable else { return self.probe(component, &spans, work) };
        *work = left;
        for mut entry in 0..entries {
            for (&dim, &span) in component.dims.iter().zip(&spans) {
                (index[dim], entry) = (entry % span, entry / span);
            }
            if self.value(&index) != 0 {
                return self.witness(&index);
            }
        }
        Verdict::Yes
    }

    /// Looks for a difference where a table would be too large: near the corners and cuts, where layouts differ.
    fn probe(&self, component: &Component, spans: &[u64], work: &mut u64) -> Verdict {
        let mut index = vec![0; self.dims.len()];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..1 << 12 {
            let Some(left) = work.checked_sub(self.terms()) else { break };
            *work = left;
            for (&dim, &span) in component.dims.iter().zip(spans) {
                // xorshift: any spread will do, and the answer must not depend on the run
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                index[dim] = (state >> 8) % span.min(1 << (8 + state % 56));
            }
            if self.value(&index) != 0 {
                return self.witness(&index);
            }
        }
        Verdict::NotDecided(format!(
            "dimensions {:?} are coupled, and their table would have over {TABLE_LIMIT} entries or take too long",
            component.dims
        ))
    }

    /// What a value costs, in terms. A division is worth several.
    fn terms(&self) -> u64 {
        let terms: usize = self.quotients.0.iter().map(|quotient| quotient.of.terms.len() + 8).sum();
        (terms + self.form.terms.len() + 8) as u64
    }

    fn value(&self, index: &[u64]) -> i128 {
        let mut values = Values::new();
        evaluate(&self.quotients.0, index, &mut values);
        self.form.value(index, &values)
    }

    fn witness(&self, index: &[u64]) -> Verdict {
        let offsets = self.layouts.map(|layout| layout.place(index));
        Verdict::No(Difference::Element { index: index.to_vec(), offsets })
    }
}
