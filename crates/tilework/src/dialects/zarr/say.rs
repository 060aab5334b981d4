//! Layouts as grids of chunks.

use std::sync::Arc;
use tilework_core::{Digit, InOrder};

use super::grid::Array;
use crate::dialect::Said;
use crate::dialect::blocked;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// The most combinations of sizes that are tried.
const TRIES: usize = 1 << 10;

/// The layout as chunks one after the other, in shards if need be.
///
/// # Errors
/// Chunks that are in another order, and padding in shards of several kinds.
pub(super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: String, rule: &str| {
        Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
    };
    if layout.bits() != 8 * element.bytes() {
        return Err(no(format!("elements of {} bits", layout.bits()), "Zarr gives an element whole bytes"));
    }
    let digits = layout.to_digits()?.of_dims;
    let nested = || whole(layout, element, &digits).map(|array| -> Said { Arc::new(array) });
    if let Some((dim, of_dim)) = digits.iter().enumerate().find(|(_, of_dim)| of_dim.len() > 3) {
        let rule = "a dimension is cut into shards of several kinds only where nothing is padded";
        return nested()
            .ok_or_else(|| no(format!("dimension {dim} is cut into {} digits", of_dim.len()), rule));
    }
    // What each dimension's chunks and shards may be, the largest chunks first; padding may hide among the digits.
    let mut chunks: Vec<Vec<u64>> = digits.iter().map(|of_dim| vec![of_dim[0].extent.max(1)]).collect();
    for way in blocked::ways(layout).unwrap_or_default() {
        for (dim, sizes) in chunks.iter_mut().enumerate() {
            sizes.extend([way.padded[dim], way.padded[dim] / way.count(dim).max(1)]);
        }
    }
    chunks.iter_mut().for_each(|sizes| {
        sizes.push(1);
        sizes.retain(|&size| size > 0);
        sizes.order_by(|a, b| b.cmp(a));
        sizes.dedup();
    });
    let is_sharded = digits.iter().any(|of_dim| of_dim.len() == 3);
    let options = chunks.into_iter().zip(&digits).map(|(sizes, of_dim)| match (is_sharded, &of_dim[..]) {
        (false, _) => sizes.into_iter().map(|chunk| (chunk, 0)).collect(),
        (true, [within, chunks, _]) => vec![(within.extent, within.extent * chunks.extent)],
        (true, _) => {
            let of_chunk = |&chunk: &u64| {
                sizes
                    .iter()
                    .filter(move |shard| shard.is_multiple_of(chunk))
                    .map(move |&shard| (chunk, shard))
            };
            sizes.iter().flat_map(of_chunk).collect()
        }
    });
    let options: Vec<Vec<(u64, u64)>> = options.collect();
    // The dimensions from major to minor, by the digits within a chunk; those of one element stay where they are.
    let mut sorted: Vec<usize> = (0..layout.rank()).collect();
    sorted.order_by_key(|&dim| std::cmp::Reverse(digits[dim][0].stride));
    let all = options.iter().try_fold(1_usize, |all, options| all.checked_mul(options.len()));
    for number in 0..all.unwrap_or(TRIES).min(TRIES) {
        let mut left = number;
        let sizes: Vec<(u64, u64)> = options
            .iter()
            .map(|options| {
                let size = options[left % options.len()];
                left /= options.len();
                size
            })
            .collect();
        for order in [None, Some(sorted.clone())] {
            let array = Array {
                element,
                dims: layout.dims().to_vec(),
                shards: is_sharded.then(|| sizes.iter().map(|size| size.1).collect()).into_iter().collect(),
                chunks: sizes.iter().map(|size| size.0).collect(),
                order,
            };
            if array.lower().is_ok_and(|own| own.same_buffer(layout).is_yes()) {
                return Ok(Arc::new(array));
            }
        }
    }
    nested().ok_or_else(|| {
        no(
            "places that are not chunks one after the other".to_owned(),
            "chunks of one size lie in row-major order of the grid, each whole",
        )
    })
}

/// The layout as chunks in shards of as many kinds as there are, if nothing is padded.
///
/// From major to minor, the digits are those of a grid as long as their dimensions are in order, and then those of the grid in one
/// of its cells. The last cell is a chunk, whose dimensions may be in any order.
fn whole(layout: &Layout, element: Element, digits: &[Vec<Digit>]) -> Option<Array> {
    if layout.is_empty() {
        return None;
    }
    let rank = layout.rank();
    let mut all: Vec<(usize, Digit)> = Vec::new();
    for (dim, of_dim) in digits.iter().enumerate() {
        all.extend(of_dim.iter().filter(|digit| digit.extent > 1).map(|digit| (dim, *digit)));
    }
    all.order_by_key(|(_, digit)| std::cmp::Reverse(digit.stride));
    // Where the digits of each grid begin.
    let is_new = |&at: &usize| at == 0 || all[at].0 <= all[at - 1].0;
    let grids: Vec<usize> = (0..all.len()).filter(is_new).collect();
    // The sizes of what the digits from here on are.
    let sizes = |at: usize| {
        let mut sizes = vec![1; rank];
        all[at..].iter().for_each(|(dim, digit)| sizes[*dim] *= digit.extent); // the array has as many elements
        sizes
    };
    // The chunk with the most digits first, as that is the fewest kinds of shards.
    (0..=grids.len()).find_map(|kinds| {
        let cells: Vec<usize> =
            grids[..kinds].iter().copied().chain([*grids.get(kinds).unwrap_or(&all.len())]).collect();
        let chunk = *cells.last()?;
        let mut order: Vec<usize> = all[chunk..].iter().map(|(dim, _)| *dim).collect();
        order.extend((0..rank).filter(|dim| all[chunk..].iter().all(|(other, _)| other != dim)));
        let array = Array {
            element,
            dims: layout.dims().to_vec(),
            shards: cells[..cells.len() - 1].iter().skip(1).map(|&at| sizes(at)).collect(),
            chunks: sizes(chunk),
            order: (!order.is_sorted()).then_some(order),
        };
        array.checked().ok().filter(|array| array.lower().is_ok_and(|own| own.same_buffer(layout).is_yes()))
    })
}
