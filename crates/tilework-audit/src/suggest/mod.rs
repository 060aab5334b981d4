//! Every order of the dimensions with the tiles of a target, by what they allocate.
//!
//! Orders are not tried one by one. Tiles cut a few of the most minor dimensions only, two on most machines; all others
//! multiply. So two orders allocate the same if
//!
//! 1. the same sizes stand, in the same order, at the most minor dimensions that tiles reach (see [`reach`]).
//!
//! An array of fewer than 2^63 bytes has at most 20 different sizes above 1, since 21! is more, and so there are few
//! such rows of sizes, whatever the number of dimensions. Of the orders that share one, the one is told that
//!
//! 2. turns the fewest pairs of dimensions round, counted against the order that is given: each size is taken from the
//!    most minor dimension that has it, and the dimensions that remain keep their order.
//!
//! The size is the core's, of an array in which the dimensions that remain are one.

pub(crate) mod array;
pub(crate) mod footprint;
mod reach;
pub(crate) mod target;

use tilework::InOrder;
use tilework::xla::{ArrayShape, Dim, Layout, Tile};
use tilework::{Error, Result};

use array::{Rearranged, rearranged};
use footprint::Footprint;
use target::{Target, has_no_tiles};

/// The most layouts that [`Suggestions`] keeps.
pub const KEPT: usize = 100;

/// The most rows of sizes that are tried: more than any array has for tiles of up to three sizes.
pub const ORDER_LIMIT: usize = 20_000;

/// What [`suggest`] found.
#[derive(Clone, Debug)]
pub struct Suggestions {
    /// The array as it is given; if its layout has no tiles, as the target lays out its order.
    pub given: Footprint,
    /// Whether the layout of [`Suggestions::given`] is the target's, because none with tiles was given.
    pub is_assumed: bool,
    /// Other layouts, the smallest first; larger ones than the given one too. Of equally large ones, those come first
    /// that turn the fewest pairs of dimensions round. At most [`KEPT`].
    pub layouts: Vec<Footprint>,
    /// How many layouts are smaller than the given one; those that allocate the same by rule count once.
    pub smaller: usize,
    /// Other arrays of the same elements, in row-major order; each allocates at most three quarters of the given one.
    pub arrays: Vec<Rearranged>,
}

impl Suggestions {
    /// The layouts that allocate less than the given one, the smallest first.
    pub fn smaller(&self) -> impl Iterator<Item = &Footprint> {
        self.layouts.iter().filter(|layout| layout.bytes < self.given.bytes)
    }
}

/// Ranks every order of the dimensions of an array, with the tiles of a target, by the bytes they allocate.
///
/// Of an array in row-major order the first layout, or the given one if none is smaller, is what XLA's compiler for TPUs
/// chooses for a parameter by itself: it was for each of 530 random arrays (see `tests/target.rs`).
///
/// A bounded dimension counts with its bound. The alternatives keep `E`, `L`, `S` and `M` of the given layout.
///
/// # Errors
/// An array with an unbounded dimension, with more bytes than 63 bits can count, with elements that the target has no
/// usual tiles for, or with too many orders: more than [`ORDER_LIMIT`].
pub fn suggest(array: &ArrayShape, target: &Target) -> Result<Suggestions> {
    let whole = array.lower()?;
    let sizes: Vec<u64> = whole.dims().to_vec();
    let is_assumed = has_no_tiles(array);
    let given = match is_assumed {
        true => target.place(array)?,
        false => {
            Footprint { bytes: whole.bytes(), element_bytes: whole.element_bytes(), shape: array.clone() }
        }
    };
    let like = given.shape.layout().cloned().unwrap_or_else(|| Layout::descending(array.rank()));
    let asked = Asked { array: &given.shape, like, sizes, target };
    let mut found = Vec::new();
    let mut refused = None;
    // Without elements nothing is allocated, in whatever order.
    if !whole.is_empty() {
        for minor in asked.minors()? {
            match asked.try_minor(&minor) {
                Ok(tried) => found.extend(tried),
                Err(error) => refused = Some(error),
            }
        }
    }
    if let (true, Some(error)) = (found.is_empty(), refused) {
        return Err(error);
    }
    found.order_by(|a, b| a.rank().cmp(&b.rank()));
    let is_given = |candidate: &Candidate| {
        candidate.order == asked.like.minor_to_major()
            && candidate.tiles == asked.like.tiles()
            && is_ordered(&given)
    };
    found.retain(|candidate| !is_given(candidate));
    let smaller = found.iter().filter(|candidate| candidate.bytes < given.bytes).count();
    let layouts: Vec<Footprint> =
        found.into_iter().take(KEPT).map(|candidate| asked.finish(candidate)).collect::<Result<_>>()?;
    let best = layouts.first().filter(|best| best.bytes < given.bytes);
    let arrays = rearranged(&given, best, target)?;
    Ok(Suggestions { is_assumed, smaller, arrays, layouts, given })
}

/// Whether the order and the tiles say where the elements are, and nothing else does.
fn is_ordered(given: &Footprint) -> bool {
    given.shape.layout().is_some_and(|layout| layout.strides().is_none() && layout.padding().is_none())
}

/// One order with one list of tiles.
struct Candidate {
    bytes: u64,
    /// Pairs of dimensions that stand the other way round than they are given.
    turned: usize,
    order: Vec<usize>,
    tiles: Vec<Tile>,
}

impl Candidate {
    /// What candidates are sorted by. Lists of tiles stay in the order of the target, since sorting is stable.
    fn rank(&self) -> (u64, usize, &[usize]) {
        (self.bytes, self.turned, &self.order)
    }
}

/// What is asked, with what every candidate needs.
struct Asked<'a> {
    array: &'a ArrayShape,
    /// The layout that is given or assumed.
    like: Layout,
    sizes: Vec<u64>,
    target: &'a Target,
}

impl Asked<'_> {
    /// For each row of sizes by rule 1, the dimensions of rule 2: the most minor one first.
    fn minors(&self) -> Result<Vec<Vec<usize>>> {
        // Two dimensions at least, where there are two: the target looks at their sizes.
        let reach = self.target.reach(self.sizes.len()).max(self.sizes.len().min(2));
        let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..reach {
            let mut longer = Vec::new();
            for row in &rows {
                let mut seen: Vec<u64> = Vec::new();
                for &dim in self.like.minor_to_major() {
                    if row.contains(&dim) || seen.contains(&self.sizes[dim]) {
                        continue;
                    }
                    seen.push(self.sizes[dim]);
                    longer.push([&row[..], &[dim]].concat());
                }
                if longer.len() > ORDER_LIMIT {
                    return Err(Error::new(format!("more than {ORDER_LIMIT} orders of {reach} dimensions"))
                        .field("tiles")
                        .rule("a tile that cuts many dimensions makes every order of them another size")
                        .accepts("tiles of up to 3 sizes"));
                }
            }
            rows = longer;
        }
        Ok(rows)
    }

    /// The order with these dimensions most minor, with each list of tiles that the target has for it.
    fn try_minor(&self, minor: &[usize]) -> Result<Vec<Candidate>> {
        let sizes: Vec<u64> = minor.iter().map(|&dim| self.sizes[dim]).collect();
        let bits = self.array.element_size_in_bits();
        let given = self.like.minor_to_major();
        let rest: Vec<usize> = given.iter().copied().filter(|dim| !minor.contains(dim)).collect();
        let order = [minor, &rest].concat();
        let mut found = Vec::new();
        for tiles in self.target.tiles(bits, &sizes)? {
            let bytes = self.footprint(&sizes, &rest, &tiles)?;
            found.push(Candidate { bytes, turned: turned(given, minor), order: order.clone(), tiles });
        }
        Ok(found)
    }

    /// The bytes that the core counts, with all dimensions beyond the most minor ones in one.
    fn footprint(&self, minor: &[u64], rest: &[usize], tiles: &[Tile]) -> Result<u64> {
        let mut dims: Vec<Dim> = minor.iter().rev().map(|&size| Dim::Static(size)).collect();
        if !rest.is_empty() {
            // The product is at most that of all sizes, whose bytes 63 bits can count.
            dims.insert(0, Dim::Static(rest.iter().map(|&dim| self.sizes[dim]).product()));
        }
        let order = (0..dims.len()).rev().collect();
        let layout = self.layout(order, tiles.to_vec())?;
        Ok(ArrayShape::new(self.array.element_type(), dims)?.with_layout(layout)?.lower()?.bytes())
    }

    /// The given layout's `E`, `L`, `S` and `M`, with another order and other tiles.
    fn layout(&self, order: Vec<usize>, tiles: Vec<Tile>) -> Result<Layout> {
        Layout::new(order)?
            .with_tiles(tiles)?
            .with_element_size_in_bits(self.like.element_size_in_bits())
            .with_memory_space(self.like.memory_space().into())?
            .with_tail_padding_alignment_in_elements(self.like.tail_padding_alignment_in_elements())?
            .with_dynamic_shape_metadata_prefix_bytes(self.like.dynamic_shape_metadata_prefix_bytes())
    }

    fn finish(&self, candidate: Candidate) -> Result<Footprint> {
        let layout = self.layout(candidate.order, candidate.tiles)?;
        Footprint::new(self.array.clone().with_layout(layout)?)
    }
}

/// How many pairs of dimensions stand the other way round than in `given` once `minor` are the most minor ones.
fn turned(given: &[usize], minor: &[usize]) -> usize {
    let mut order: Vec<usize> = given.to_vec();
    let mut turned = 0;
    for (place, dim) in minor.iter().enumerate() {
        // Each dimension passes those that stand between its place and where it comes from.
        let from = order.iter().position(|other| other == dim).unwrap_or(place);
        turned += from.saturating_sub(place);
        order.remove(from);
        order.insert(place, *dim);
    }
    turned
}
