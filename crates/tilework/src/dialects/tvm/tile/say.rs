//! Layouts as tile layouts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Exchange, Iter, MAX_ITERS, MEMORY, TileLayout, Tiled};
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// The tile layout that has these places, with a swizzle behind it where they are exchanged.
///
/// # Errors
/// Arrays without elements, padding, and dimensions that are combined before they are cut.
pub(in super::super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: String, rule: &str| {
        Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
    };
    if layout.bits() != 8 * element.bytes() {
        return Err(no(format!("elements of {} bits", layout.bits()), "TVM gives an element whole bytes"));
    }
    if layout.is_empty() || layout.rank() == 0 {
        let found = if layout.is_empty() { "an array without elements" } else { "0 dimensions" };
        return Err(no(
            found.to_owned(),
            "an extent of a tile layout is 1 or more, and there is one at least",
        ));
    }
    let exchange = exchange(layout)?;
    let digits = layout.digits_before_swizzle()?;
    let mut shard: Vec<Iter> = Vec::new();
    for (dim, (of_dim, &size)) in digits.of_dims.iter().zip(layout.dims()).enumerate() {
        let values = of_dim.iter().try_fold(1_u64, |values, digit| values.checked_mul(digit.extent));
        if values != Some(size) {
            return Err(no(
                format!("dimension {dim} is {size}, and its digits are not full: padding inside the layout"),
                "a tile layout pads nothing, so its extents divide the dimensions",
            ));
        }
        let iter = |digit: &crate::Digit| Iter {
            extent: digit.extent,
            stride: digit.stride,
            axis: MEMORY.to_owned(),
        };
        shard.extend(of_dim.iter().rev().map(iter).filter(|iter| iter.extent > 1 || of_dim.len() == 1));
    }
    if shard.len() > MAX_ITERS {
        return Err(no(counted(shard.len() as u64, "digit"), "a tile layout with fewer digits is read back"));
    }
    let mut offset = BTreeMap::new();
    if digits.first > 0 {
        offset.insert(MEMORY.to_owned(), digits.first as i64); // below 2^63, as every place
    }
    let tile = TileLayout { shard, replica: Vec::new(), offset, exchange };
    let tiled = Tiled { element, dims: layout.dims().to_vec(), layout: tile };
    let own = tiled.lower()?;
    match own.same_buffer(layout).is_yes() {
        true => Ok(Arc::new(tiled)),
        false => Err(match layout.size().checked_sub(own.size()) {
            Some(behind @ 1..) => no(
                format!("{} behind the last element", counted(behind, "place")),
                "a tile layout ends with it",
            ),
            _ => no("places that no digits reach".to_owned(), "a tile layout is digits with a stride each"),
        }),
    }
}

/// The swizzle, as TVM has it.
fn exchange(layout: &Layout) -> Result<Option<Exchange>> {
    let Some(swizzle) = layout.swizzle() else { return Ok(None) };
    let (swizzle_len, per_element, shift) = swizzle.shifts().ok_or_else(|| {
        Error::new(format!("places are exchanged by {swizzle}"))
            .of_kind(ErrorKind::Unsupported)
            .field("layout")
            .rule("a ComposeLayout flips neighbouring bits by as many others, in their order")
    })?;
    let (atom_len, inner) = (shift.unsigned_abs(), shift > 0);
    Ok(Some(Exchange { per_element, swizzle_len, atom_len, inner }))
}
