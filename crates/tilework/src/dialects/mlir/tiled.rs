//! Layouts as memories of Mosaic: `memref<8x2048xbf16, #tpu.tiled<(8,128)(2,1),[16,1]>>`.
//!
//! The first tile is cut out of the last dimensions, and each dimension has one stride, counted in such tiles. So the buffer's
//! minor axes are within a first tile, and of each dimension at most one axis is before them. Within the tile the axes are in
//! an order that further tiles make, as in XLA.

use std::sync::Arc;
use tilework_core::InOrder;

use super::element::ElementType;
use super::value::{Arrangement, Kind, Type};
use crate::ask::axes::{Axes, Axis};
use crate::dialect::{Dim, Said};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// The memory that has this layout.
pub(super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let element = ElementType::of_layout(layout, element, "memref")?;
    let axes = Axes::of(layout)?;
    let dims = layout.dims().iter().map(|&size| Dim::Static(size)).collect();
    let plain = Type { kind: Kind::Memref, dims, element, arrangement: Arrangement::RowMajor, space: None };
    let says = |(arrangement, is_usual): (Arrangement, bool)| {
        let found = Type { arrangement, ..plain.clone() };
        let says = found.lower().is_ok_and(|own| own.same_buffer(layout).is_yes());
        says.then_some((found, is_usual))
    };
    let mut second = None;
    for split in (0..=axes.axes.len()).rev() {
        match arrangement(&axes, layout, split).and_then(says) {
            // No tiles are the simplest, and tiles one behind the other are what a compiler writes.
            Some((found, is_usual)) if is_usual || split == axes.axes.len() => return Ok(Arc::new(found)),
            Some((found, _)) => second = second.or(Some(found)),
            None => {}
        }
    }
    let second = second.or_else(|| says((strided(layout)?, false)).map(|(found, _)| found));
    // Dimensions of one element may be padded in ways that the axes do not tell apart.
    let second = second.or_else(|| says((tiled_as_xla(layout)?, false)).map(|(found, _)| found));
    second.map(|found| Arc::new(found) as Said).ok_or_else(|| {
        no("no tiles of the last dimensions say this layout").rule(
            "a memory of Mosaic has tiles of its last dimensions, each dimension with one stride in such tiles",
        )
    })
}

fn no(found: impl Into<String>) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout")
}

/// No tiles, and the strides of the elements.
fn strided(layout: &Layout) -> Option<Arrangement> {
    let strides = layout.to_strides().ok()?.strides.into_iter().zip(layout.dims());
    // What takes no step has some stride that is none of a broadcast.
    let strides = strides.map(|(stride, &size)| Some(if size > 1 { stride } else { 1 })).collect();
    Some(Arrangement::Tiled { dialect: "tpu", tiles: Vec::new(), strides })
}

/// The tiles of XLA that say it, one behind the other.
fn tiled_as_xla(layout: &Layout) -> Option<Arrangement> {
    let tiled = layout.to_tiled()?;
    let is_row_major = tiled.minor_to_major.iter().rev().is_sorted();
    let tiles = tiled.tiles.into_iter().map(|tile| tile.into_iter().collect::<Option<Vec<u64>>>());
    let tiles: Vec<_> = tiles.collect::<Option<_>>().filter(|_| is_row_major && tiled.align == 1)?;
    let first = layout.rank().checked_sub(tiles.first()?.len())?;
    let mut usual = 1_i64;
    let mut strides = vec![Some(0); layout.rank()];
    for (dim, stride) in strides.iter_mut().enumerate().rev() {
        *stride = Some(usual);
        let size = if dim < first { 1 } else { tiles[0][dim - first] };
        usual = usual.checked_mul(i64::try_from(layout.dims()[dim].div_ceil(size).max(1)).ok()?)?;
    }
    Some(Arrangement::Tiled { dialect: "tpu", tiles, strides })
}

/// Tiles that hold all axes but the first ones, as many as `split`; and whether they lie one behind the other.
fn arrangement(axes: &Axes, layout: &Layout, split: usize) -> Option<(Arrangement, bool)> {
    let (outer, inner) = axes.axes.split_at(split);
    let is_loose = |(place, axis): (usize, &Axis)| axis.digit.is_none() || place > 0 && axis.behind != 0;
    if inner.iter().enumerate().any(is_loose) {
        return None;
    }
    let mut area = 1_u64;
    let mut sizes = vec![1_u64; layout.rank()];
    // The digits within the tile with their strides, the most minor first.
    let mut digits: Vec<(usize, usize, u64)> = Vec::new();
    for axis in inner.iter().rev() {
        let (dim, place) = axis.digit?;
        digits.push((dim, place, area));
        sizes[dim] = sizes[dim].checked_mul(axis.room)?;
        area = area.checked_mul(axis.room)?;
    }
    if area == 0 {
        return None;
    }
    // The strides of the dimensions in tiles: those that lie one behind the other, or those that the axes have.
    let mut usual = 1_u64;
    let mut strides = vec![0; layout.rank()];
    for dim in (0..layout.rank()).rev() {
        strides[dim] = usual;
        usual = usual.checked_mul(layout.dims()[dim].div_ceil(sizes[dim]).max(1))?;
    }
    let expected = strides.clone();
    let mut seen = Vec::new();
    let mut stride = area.checked_add_signed(inner.first().map_or(0, |axis| axis.behind))?;
    for axis in outer.iter().rev() {
        let (dim, place) = axis.digit?;
        if place > 0 || seen.contains(&dim) || !stride.is_multiple_of(area) {
            return None;
        }
        seen.push(dim);
        if axis.extent > 1 {
            strides[dim] = stride / area;
        }
        stride = stride.checked_mul(axis.room)?.checked_add_signed(axis.behind)?;
    }
    let first = sizes.iter().position(|&size| size > 1).unwrap_or(layout.rank());
    let is_usual = strides == expected;
    let strides =
        strides.into_iter().map(|stride| i64::try_from(stride).ok().map(Some)).collect::<Option<_>>()?;
    let mut tiles = Vec::new();
    if first < layout.rank() {
        tiles.push(sizes[first..].to_vec());
        tiles.extend(further(&sizes[first..], first, &digits, layout.bits())?);
    }
    Some((Arrangement::Tiled { dialect: "tpu", tiles, strides }, is_usual))
}

/// The tiles that order the digits within the first one.
fn further(sizes: &[u64], first: usize, digits: &[(usize, usize, u64)], bits: u32) -> Option<Vec<Vec<u64>>> {
    let mut terms = Layout::terms(sizes, bits).ok()?;
    for dim in 0..sizes.len() {
        let mut own: Vec<_> = digits.iter().filter(|(of, ..)| *of == dim + first).collect();
        // The least significant first. The most significant is what is left of the dimension.
        own.order_by_key(|(_, place, _)| std::cmp::Reverse(*place));
        let mut rest = terms.dim(dim).ok()?;
        let mut extents = own.iter().map(|digit| extent(digits, sizes, digit));
        let mut own = own.iter().peekable();
        while let Some((_, _, stride)) = own.next() {
            let stride = i64::try_from(*stride).ok()?;
            let extent = extents.next()?;
            if own.peek().is_none() {
                terms.add(rest, stride).ok()?;
                break;
            }
            let (above, digit) = terms.split(rest, extent).ok()?;
            terms.add(digit, stride).ok()?;
            rest = above;
        }
    }
    let tiled = terms.build(None, None).ok()?.to_tiled()?;
    let is_row_major = tiled.minor_to_major.iter().rev().is_sorted();
    let tiles = tiled.tiles.into_iter().map(|tile| tile.into_iter().collect::<Option<Vec<u64>>>());
    tiles.collect::<Option<Vec<_>>>().filter(|_| is_row_major && tiled.align == 1)
}

/// How many values a digit has: up to the stride of the next one in the tile.
fn extent(digits: &[(usize, usize, u64)], sizes: &[u64], digit: &(usize, usize, u64)) -> u64 {
    let area: u64 = sizes.iter().product();
    let above = digits.iter().map(|&(.., stride)| stride).filter(|&stride| stride > digit.2).min();
    above.unwrap_or(area) / digit.2
}
