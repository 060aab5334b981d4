//! The same elements as another array, whose row-major order allocates less.

use std::ops::Range;

use tilework::Result;
use tilework::xla::{ArrayShape, Dim, Layout};

use crate::suggest::footprint::Footprint;
use crate::suggest::target::Target;

/// The most dimensions of an array in which neighbours are merged: of more, nobody would read what comes of it.
const MOST: usize = 16;

/// Another array of the same elements, in row-major order with the target's tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rearranged {
    /// How it comes from the given array.
    pub change: Change,
    /// The array with its layout, and what it allocates.
    pub footprint: Footprint,
}

/// How an array comes from the given one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Dimension k is dimension `[k]` of the given array: the memory is that of the smallest layout.
    Transposed(Vec<usize>),
    /// Neighbouring dimensions are one.
    Merged(Range<usize>),
}

/// Whether another array is worth the trouble: it allocates at most three quarters.
fn is_worth(bytes: u64, instead_of: u64) -> bool {
    u128::from(bytes) * 4 <= u128::from(instead_of) * 3
}

/// The arrays that are much smaller than the given one: the smallest layout as an array of its own, then what merging
/// neighbours saves, each much smaller than those that merge fewer.
pub(crate) fn rearranged(
    given: &Footprint,
    best: Option<&Footprint>,
    target: &Target,
) -> Result<Vec<Rearranged>> {
    let mut found = Vec::new();
    if let Some(best) = best.filter(|best| is_worth(best.bytes, given.bytes)) {
        found.extend(transposed(best)?);
    }
    let mut least = given.bytes;
    let dims = given.shape.dims();
    if dims.len() > MOST || !given.shape.is_static() || given.element_bytes == 0 {
        return Ok(found);
    }
    for count in 2..=dims.len() {
        let runs = (0..=dims.len() - count).map(|first| first..first + count);
        // What cannot be counted is larger than anything.
        let merged: Vec<Rearranged> = runs.filter_map(|run| merge(given, run, target).ok()).collect();
        let Some(smallest) = merged.into_iter().min_by_key(|merged| merged.footprint.bytes) else { continue };
        if is_worth(smallest.footprint.bytes, least) {
            least = smallest.footprint.bytes;
            found.push(smallest);
        }
    }
    Ok(found)
}

/// The array whose dimensions stand in the order of this layout: the same memory, row-major.
fn transposed(best: &Footprint) -> Result<Option<Rearranged>> {
    let Some(layout) = best.shape.layout() else { return Ok(None) };
    let order: Vec<usize> = layout.minor_to_major().iter().rev().copied().collect();
    if order.is_sorted() {
        return Ok(None);
    }
    let dims: Vec<Dim> = order.iter().map(|&dim| best.shape.dims()[dim]).collect();
    let row_major = row_major(layout, order.len())?.with_tiles(layout.tiles().to_vec())?;
    let shape = ArrayShape::new(best.shape.element_type(), dims)?.with_layout(row_major)?;
    Ok(Some(Rearranged { change: Change::Transposed(order), footprint: Footprint::new(shape)? }))
}

/// The array in which these neighbours are one dimension.
fn merge(given: &Footprint, run: Range<usize>, target: &Target) -> Result<Rearranged> {
    let mut sizes: Vec<u64> = given.shape.dims().iter().filter_map(|dim| dim.bound()).collect();
    let merged: u64 = sizes[run.clone()].iter().product();
    sizes.splice(run.clone(), [merged]);
    let shape = ArrayShape::new(given.shape.element_type(), sizes.iter().copied())?;
    let like = match given.shape.layout() {
        Some(layout) => row_major(layout, sizes.len())?,
        None => Layout::descending(sizes.len()),
    };
    let footprint = target.place(&shape.with_layout(like)?)?;
    Ok(Rearranged { change: Change::Merged(run), footprint })
}

/// Row-major order with the element bits and the memory space of a layout.
fn row_major(like: &Layout, rank: usize) -> Result<Layout> {
    Layout::descending(rank)
        .with_element_size_in_bits(like.element_size_in_bits())
        .with_memory_space(like.memory_space().into())?
        .with_tail_padding_alignment_in_elements(like.tail_padding_alignment_in_elements())?
        .with_dynamic_shape_metadata_prefix_bytes(like.dynamic_shape_metadata_prefix_bytes())
}
