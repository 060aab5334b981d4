//! Layouts as index maps.

use std::sync::Arc;

use super::{IndexMap, MAX_DIMS, Mapped};
use crate::dialect::Said;
use crate::dialect::affine::{Expr, axes_of_dims, axes_of_parts, radix};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// The map that leads to this layout.
///
/// # Errors
/// Places that are not those of a row-major array that a map leads to.
pub(in super::super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: String, rule: &str| {
        Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
    };
    layout.require_no_swizzle()?;
    if layout.bits() != 8 * element.bytes() {
        return Err(no(format!("elements of {} bits", layout.bits()), "TVM gives an element whole bytes"));
    }
    if layout.rank() == 0 || layout.rank() > MAX_DIMS {
        let found = counted(layout.rank() as u64, "dimension");
        return Err(no(found, "an index map has 1 to 64 indices"));
    }
    let mut why = None;
    let identity = || Some((0..layout.rank()).map(Expr::Dim).collect::<Vec<_>>());
    let candidates = [
        identity(),
        axes_of_dims(layout).and_then(|axes| radix(layout.size(), axes)),
        axes_of_parts(layout).and_then(|axes| radix(layout.size(), axes)),
    ];
    for results in candidates.into_iter().flatten().filter(|results| !results.is_empty()) {
        let map = IndexMap { names: names(layout.rank()), results, inverse: None };
        match Mapped::new(element, layout.dims(), map).and_then(|mapped| Ok((mapped.lower()?, mapped))) {
            Ok((own, mapped)) if own.same_buffer(layout).is_yes() => return Ok(Arc::new(mapped)),
            Ok(_) => {}
            Err(error) => why = why.or(Some(error)),
        }
    }
    Err(match layout.is_broadcast() {
        true => no("elements that share a place".to_owned(), "an index map has a way back"),
        false => why.unwrap_or_else(|| {
            no(
                "places of no row-major array that a map leads to".to_owned(),
                "the results of a map are quotients and remainders, each as large as the stride of the one before it asks for",
            )
        }),
    })
}

/// Names as TVM's users write them, or numbered ones.
fn names(rank: usize) -> Vec<String> {
    match rank {
        ..=4 => ["i", "j", "k", "l"][..rank].iter().map(|&name| name.to_owned()).collect(),
        _ => (0..rank).map(|number| format!("i{number}")).collect(),
    }
}
