//! Layouts as grids of chunks.

use std::sync::Arc;
use tilework_core::InOrder;

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
/// Dimensions in more than three digits, and chunks that are in another order.
pub(super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: String, rule: &str| {
        Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
    };
    if layout.bits() != 8 * element.bytes() {
        return Err(no(format!("elements of {} bits", layout.bits()), "Zarr gives an element whole bytes"));
    }
    let digits = layout.to_digits()?.of_dims;
    if let Some((dim, of_dim)) = digits.iter().enumerate().find(|(_, of_dim)| of_dim.len() > 3) {
        let rule = "a dimension of Zarr is cut twice at most, into shards and chunks";
        return Err(no(format!("dimension {dim} is cut into {} digits", of_dim.len()), rule));
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
    Err(no(
        "places that are not chunks one after the other".to_owned(),
        "chunks of one size lie in row-major order of the grid, each whole",
    ))
}
