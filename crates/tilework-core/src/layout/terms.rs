//! Building layouts from any index expressions: [`Layout::terms`].
//!
//! A [`Term`] is an expression over the index with the values it takes: a dimension, a half of a split, a merge. It is
//! consumed by what is made of it, so no value enters the sum twice, and the way back from a place to the index stays
//! a walk over the expressions (see `locate.rs`). A term that is dropped is a broadcast.
//!
//! What is checked when the layout is built:
//!
//! ```text
//! C1   every element has an offset in 0..size         `Reached`, exact but for merges with holes and steps
//! C2   the allocated places reach less than 2^63      so that walks over them never wrap around
//! C3   size and bytes fit 63 bits                     `check_size`
//! ```

use std::collections::HashMap;

use crate::error::{Error, Result, counted};
use crate::layout::parts::{Axis, Part, PartKind, merge, push, split};
use crate::layout::view::MAX_DEPTH;
use crate::layout::{Layout, MAX_RANK, MAX_TILES, check_size};

/// The most expressions: as many as a layout of the most dimensions and tiles can have.
const MAX_NODES: usize = MAX_RANK + 4 * MAX_TILES * MAX_RANK;

/// An index expression on its way into a layout; see [`Layout::terms`].
#[derive(Debug, PartialEq, Eq)]
pub struct Term(usize);

/// Builds a layout from index expressions; see [`Layout::terms`].
#[derive(Clone, Debug)]
pub struct Terms {
    layout: Layout,
    /// Of each expression: what it has become part of, and how deep it is.
    made: Vec<Made>,
}

#[derive(Clone, Copy, Debug)]
struct Made {
    use_: Use,
    /// How many splits it is made by: the number of the tile that it belongs to.
    tile: u32,
    depth: u32,
}

/// What an expression has become part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Nothing yet. Dimensions that were never asked for too.
    None,
    /// Handed out as a term.
    Term,
    /// The sum, with this stride.
    Sum(i64),
    Split {
        by: u64,
        div: usize,
        rest: usize,
    },
    Merge,
    Shift {
        to: usize,
        start: u64,
        step: i64,
    },
}

impl Layout {
    /// Starts a layout from index expressions: `offset = base + Σ stride · term`.
    ///
    /// ```
    /// use tilework::Layout;
    /// // 3 × 5, row-major, in tiles of 2 × 2
    /// let mut terms = Layout::terms(&[3, 5], 32)?;
    /// let (i, j) = (terms.dim(0)?, terms.dim(1)?);
    /// let (tile_i, i) = terms.split(i, 2)?;
    /// let (tile_j, j) = terms.split(j, 2)?;
    /// for (term, stride) in [(tile_i, 12), (tile_j, 4), (i, 2), (j, 1)] {
    ///     terms.add(term, stride)?;
    /// }
    /// let layout = terms.build(None, None)?;
    /// assert_eq!((layout.offset(&[2, 3])?, layout.size()), (17, 24));
    /// assert_eq!(layout, Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// More than [`MAX_RANK`] dimensions, a size above `i64::MAX`, or elements of 0 bits.
    pub fn terms(dims: &[u64], bits: u32) -> Result<Terms> {
        let layout = Layout::of_dims(dims, bits)?;
        let made = vec![Made { use_: Use::None, tile: 0, depth: 1 }; dims.len()];
        Ok(Terms { layout, made })
    }
}

impl Terms {
    /// A dimension of the index.
    ///
    /// # Errors
    /// A dimension outside the rank, or one that was already taken.
    pub fn dim(&mut self, dim: usize) -> Result<Term> {
        self.layout.require_dim(dim)?;
        if self.made[dim].use_ != Use::None {
            return Err(Error::new(format!("dimension {dim} is taken twice"))
                .field("dimension")
                .rule("every value of the index enters the sum once")
                .accepts("a split of the dimension, whose halves have strides of their own"));
        }
        self.made[dim].use_ = Use::Term;
        Ok(Term(dim))
    }

    /// How many values places are allocated for.
    pub fn extent(&self, term: &Term) -> u64 {
        self.layout.index_parts().get(term.0).map_or(0, |part| part.extent)
    }

    /// Allocates a dimension at a larger size. Comes before anything is made of it.
    ///
    /// # Errors
    /// A term that is no dimension, or an extent below its size or above `i64::MAX`.
    pub fn pad(&mut self, term: Term, extent: u64) -> Result<Term> {
        self.require(&term)?;
        let part = &mut self.layout.inner().parts[term.0];
        if !matches!(part.kind, PartKind::Dim(_)) {
            return Err(Error::new("padding of what is no dimension")
                .field("extent")
                .rule("a dimension is padded before it is split or merged")
                .accepts("a dimension"));
        }
        if extent < part.extent || extent > i64::MAX as u64 {
            return Err(Error::new(format!("extent {} padded to {extent}", part.extent))
                .field("extent")
                .accepts(format!("{} to {}", part.extent, i64::MAX)));
        }
        part.extent = extent;
        Ok(term)
    }

    /// `term div by` and `term mod by`. Where `by` does not divide the extent, the last piece is padded.
    ///
    /// # Errors
    /// A split by 0, over 64 splits within one another, or too many expressions.
    pub fn split(&mut self, term: Term, by: u64) -> Result<(Term, Term)> {
        let made = self.require(&term)?;
        if by == 0 || by > i64::MAX as u64 {
            return Err(Error::new(format!("a split by {by}"))
                .field("split")
                .accepts(format!("1 to {}", i64::MAX)));
        }
        let tile = made.tile + u32::from(by > 1);
        if tile as usize > MAX_TILES {
            return Err(Error::new(format!("{tile} splits within one another"))
                .field("split")
                .accepts(format!("up to {MAX_TILES}")));
        }
        self.check_room(2, made.depth + 1)?;
        if by == 1 {
            let unit = push(&mut self.layout.inner().parts, Part::UNIT);
            self.made.push(Made { use_: Use::Term, tile: 0, depth: 1 });
            return Ok((term, Term(unit)));
        }
        let (div, rest) = split(&mut self.layout.inner().parts, term.0, by, tile);
        self.made[term.0].use_ = Use::Split { by, div, rest };
        self.made.extend([Made { use_: Use::Term, tile, depth: made.depth + 1 }; 2]);
        Ok((Term(div), Term(rest)))
    }

    /// `major · extent(minor) + minor`.
    ///
    /// # Errors
    /// Extents whose product overflows 63 bits, or too many expressions.
    pub fn merge(&mut self, major: Term, minor: Term) -> Result<Term> {
        let (a, b) = (self.require(&major)?, self.require(&minor)?);
        let depth = a.depth.max(b.depth) + 1;
        self.check_room(1, depth)?;
        let whole = merge(&mut self.layout.inner().parts, major.0, minor.0)?;
        self.made[major.0].use_ = Use::Merge;
        self.made[minor.0].use_ = Use::Merge;
        self.made.push(Made { use_: Use::Term, tile: a.tile.max(b.tile), depth });
        Ok(Term(whole))
    }

    /// `start + step · term`.
    ///
    /// # Errors
    /// A step of 0 (drop the term instead: it is a broadcast), values below 0 or above `i64::MAX`, or too many
    /// expressions.
    pub fn shift(&mut self, term: Term, start: u64, step: i64) -> Result<Term> {
        let made = self.require(&term)?;
        self.check_room(1, made.depth + 1)?;
        let Part { reach, extent, .. } = self.layout.index_parts()[term.0];
        // Values beyond the reach need no place, but those of a positive step get one, as everywhere.
        let end = |count: u64| i128::from(start) + i128::from(step) * (i128::from(count) - 1).max(0);
        let (reached, extended) =
            if step > 0 { (end(reach), end(extent)) } else { (start.into(), start.into()) };
        let fits = |last: i128| last < i128::from(i64::MAX);
        if step == 0 || !fits(reached) || !fits(extended) || end(reach) < 0 {
            return Err(Error::new(format!("{start} and steps of {step} for {}", counted(reach, "value")))
                .field("shift")
                .rule("every value is 0 or more, below 9223372036854775807, and different from the others")
                .accepts("another start, or another step"));
        }
        let (reached, extended) = (if reach == 0 { 0 } else { reached as u64 + 1 }, extended as u64 + 1);
        let extended = if extent == 0 { 0 } else { extended };
        let part =
            Part { kind: PartKind::Moved { of: term.0, start, step }, reach: reached, extent: extended };
        let to = push(&mut self.layout.inner().parts, part);
        self.made[term.0].use_ = Use::Shift { to, start, step };
        self.made.push(Made { use_: Use::Term, tile: made.tile, depth: made.depth + 1 });
        Ok(Term(to))
    }

    /// Adds `stride · term` to the offset. With a stride of 0 the term is dropped.
    ///
    /// # Errors
    /// A term of another layout.
    pub fn add(&mut self, term: Term, stride: i64) -> Result<()> {
        self.require(&term)?;
        self.made[term.0].use_ = if stride == 0 { Use::Term } else { Use::Sum(stride) };
        Ok(())
    }

    /// The layout. Without a base the least one is taken that keeps every allocated offset at 0 or above; without a size,
    /// the last allocated offset plus one. With them, the elements must lie within; what is allocated for padding may not.
    ///
    /// # Errors
    /// An element below offset 0 or beyond the size, or places that do not fit 63 bits.
    pub fn build(mut self, base: Option<u64>, size: Option<u64>) -> Result<Layout> {
        let bits = self.layout.bits();
        let rank = self.layout.rank();
        self.forget_padding_of_broadcasts();
        let layout = self.layout.inner();
        // What is allocated nothing comes from a dimension that is.
        let empty = layout.parts[..rank].iter().any(|part| part.extent == 0);
        let (mut below, mut above) = (0_i128, 0_i128);
        for (id, (part, made)) in (0..).zip(layout.parts.iter().zip(&self.made)) {
            let Use::Sum(stride) = made.use_ else { continue };
            if part.extent > 1 && !empty {
                let axis = Axis { part: id, extent: part.extent, stride };
                layout.axes.push(axis);
                let side = if stride < 0 { &mut below } else { &mut above };
                *side = side.saturating_add(axis.span());
            }
        }
        check_size(u64::try_from(below.saturating_add(above)).ok(), bits)?; // C2, and below and above fit as well
        let base = check_size(Some(base.unwrap_or(below as u64)), bits)?;
        let end = check_size(base.checked_add(above as u64), bits)?;
        let end = if empty { 0 } else { end + 1 };
        self.check_elements(base, size)?; // C1
        let layout = self.layout.inner();
        layout.size = check_size(Some(size.unwrap_or(end)), bits)?; // C3
        layout.tail = layout.size.saturating_sub(end);
        layout.base = base;
        layout.sort_axes();
        let mut filled = Some(u64::from(!empty));
        let is_radix = layout.axes.iter().rev().all(|axis| {
            let fits = filled == u64::try_from(axis.stride).ok();
            filled = filled.and_then(|filled| filled.checked_mul(axis.extent));
            fits
        });
        layout.compact = is_radix && base == 0 && filled == Some(layout.size - layout.tail);
        if !layout.compact && !self.layout.is_empty() {
            self.layout.dissolve_shifts();
        }
        Ok(self.layout)
    }

    /// Padding of what the sum does not use is nowhere.
    fn forget_padding_of_broadcasts(&mut self) {
        for (part, made) in self.layout.inner().parts.iter_mut().zip(&self.made) {
            if matches!(made.use_, Use::None | Use::Term) {
                part.extent = part.reach;
            }
        }
    }

    fn check_elements(&self, base: u64, size: Option<u64>) -> Result<()> {
        if self.layout.is_empty() {
            return Ok(());
        }
        let mut reached = Reached { terms: self, known: HashMap::new() };
        let (mut low, mut high) = (i128::from(base), i128::from(base));
        for (id, part) in (0..).zip(self.layout.index_parts()) {
            // What is merged from others has values of its own; whatever else is made of others is reached from them.
            if matches!(part.kind, PartKind::Unit | PartKind::Dim(_) | PartKind::Combined { .. }) {
                let (least, most) = reached.between(id, 0, part.reach - 1);
                (low, high) = (low + least, high + most);
            }
        }
        if low < 0 {
            return Err(Error::new(format!("the first element is at offset {low}"))
                .field("base")
                .rule("every element has an offset of 0 or more")
                .accepts(format!("a base of {} or more", i128::from(base) - low)));
        }
        match size {
            Some(size) if high >= i128::from(size) => {
                Err(Error::new(format!("size {size}, but the last element is at offset {high}"))
                    .field("size")
                    .rule("every offset is below the size")
                    .accepts(format!("{} or more", high + 1)))
            }
            _ => Ok(()),
        }
    }

    /// What is known of a term that is not consumed yet.
    fn require(&self, term: &Term) -> Result<Made> {
        let made = self.made.get(term.0).copied();
        made.filter(|made| made.use_ == Use::Term).ok_or_else(|| {
            Error::new("a term of another layout").field("term").accepts("a term that this builder made")
        })
    }

    fn check_room(&self, more: usize, depth: u32) -> Result<()> {
        if self.made.len() + more > MAX_NODES || depth as usize > MAX_DEPTH {
            return Err(Error::new(format!("{} expressions, {depth} deep", self.made.len() + more))
                .field("terms")
                .accepts(format!("up to {MAX_NODES} expressions, {MAX_DEPTH} within one another")));
        }
        Ok(())
    }
}

/// What ranges of an expression's values add to the offset: the least and the most.
struct Reached<'a> {
    terms: &'a Terms,
    known: HashMap<(usize, u64, u64), (i128, i128)>,
}

impl Reached<'_> {
    /// Over all values from `low` to `high`. A split falls into the first piece, the whole pieces, and the last one; of
    /// these the halves are independent. The values of a step are taken for everything between them.
    fn between(&mut self, id: usize, low: u64, high: u64) -> (i128, i128) {
        if let Some(&known) = self.known.get(&(id, low, high)) {
            return known;
        }
        let found = match self.terms.made[id].use_ {
            Use::None | Use::Term | Use::Merge => (0, 0),
            Use::Sum(stride) => {
                let [a, b] = [low, high].map(|value| i128::from(stride) * i128::from(value));
                (a.min(b), a.max(b))
            }
            Use::Shift { to, start, step } => {
                let [a, b] = [low, high].map(|value| {
                    (i128::from(start) + i128::from(step) * i128::from(value)) as u64 // within the checked values
                });
                self.between(to, a.min(b), a.max(b))
            }
            Use::Split { by, div, rest } => {
                let (first, last) = (low / by, high / by);
                let mut pieces =
                    vec![(first, first, low % by, if first == last { high % by } else { by - 1 })];
                if first < last {
                    pieces.push((last, last, 0, high % by));
                }
                if first + 1 < last {
                    pieces.push((first + 1, last - 1, 0, by - 1));
                }
                let sums = pieces.into_iter().map(|(from, to, start, end)| {
                    let (a, b) = (self.between(div, from, to), self.between(rest, start, end));
                    (a.0 + b.0, a.1 + b.1)
                });
                sums.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
            }
        };
        self.known.insert((id, low, high), found);
        found
    }
}
