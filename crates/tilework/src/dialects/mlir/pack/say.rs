//! Layouts as packings: the axes of the buffer are the numbers of the tiles, and behind them the tiles.

use std::sync::Arc;

use super::super::element::ElementType;
use super::{Pack, Packing};
use crate::ask::axes::Axes;
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// The packing that stores an array in this layout.
pub(in super::super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let element = ElementType::of_layout(layout, element, "tensor")?;
    let axes = Axes::of(layout)?;
    let dims = layout.dims().to_vec();
    // As many axes as possible number tiles. A pack has at least one tile.
    let splits = (0..axes.axes.len()).rev();
    let mut packings = splits.filter_map(|split| packing(&axes, &dims, split));
    let packing = packings.find(|packing| {
        packing.lower(&dims, layout.bits()).is_ok_and(|packed| packed.same_buffer(layout).is_yes())
    });
    let packing = packing.ok_or_else(|| why(&axes))?;
    let pads = packing.is_padded(&dims);
    Ok(Arc::new(Pack {
        dialect: "linalg",
        is_unpack: false,
        names: ["%x", "%pad", "%dest"].map(str::to_owned),
        dims,
        element,
        packing,
        pads,
    }))
}

fn no(found: impl Into<String>) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout")
}

/// The packing whose first axes, as many as `split`, number the tiles, and whose others are the tiles.
fn packing(axes: &Axes, dims: &[u64], split: usize) -> Option<Packing> {
    let (outer, inner) = axes.axes.split_at(split);
    let mut packing = Packing::default();
    for axis in inner {
        let (dim, place) = axis.digit?;
        // The last digit of the dimension is the tile.
        let is_last = place + 1 == axes.of_dims[dim].len();
        if !is_last || packing.inner_dims_pos.contains(&dim) {
            return None;
        }
        packing.inner_dims_pos.push(dim);
        packing.inner_tiles.push(axis.room);
    }
    let mut order = Vec::new();
    for axis in outer {
        let (dim, place) = axis.digit?;
        if place > 0 || order.contains(&dim) {
            return None;
        }
        order.push(dim);
    }
    // A dimension of one tile may stand anywhere.
    for dim in 0..dims.len() {
        if !order.contains(&dim) {
            let at = order.iter().position(|&other| other > dim).unwrap_or(order.len());
            order.insert(at, dim);
        }
    }
    if !order.is_sorted() {
        packing.outer_dims_perm = order;
    }
    Some(packing)
}

/// Why no packing says these axes.
fn why(axes: &Axes) -> Error {
    let split = axes.of_dims.iter().position(|digits| digits.len() > 2);
    let loose = axes.axes.iter().any(|axis| axis.digit.is_none() || axis.behind != 0);
    no(match (split, axes.around) {
        _ if axes.axes.is_empty() => "a scalar has no dimension to pack".to_owned(),
        (Some(dim), _) => {
            format!(
                "dimension {dim} is split {} times, and a pack splits it once",
                axes.of_dims[dim].len() - 1
            )
        }
        (_, (0, ..0)) => {
            "the buffer ends before its last tile would, and a packed tensor ends with a whole tile"
                .to_owned()
        }
        (None, (0, 0)) if !loose => {
            "the tiles do not come behind what numbers them, or more than the last tile is padded".to_owned()
        }
        _ => "needs padding between elements or around them, and a pack pads whole tiles only".to_owned(),
    })
}
