//! Layouts as tensors of ggml: sizes and strides in bytes, the most minor dimension first.

use std::sync::Arc;

use super::MAX_DIMS;
use super::read::require;
use super::tensor::Tensor;
use super::types::Type;
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// The tensor that has this layout.
///
/// # Errors
/// Elements that ggml does not have, other than 1 to 4 dimensions, what strides cannot say, backward strides, and places
/// behind the last element.
pub(super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    require(element)?;
    if layout.bits() != 8 * element.bytes() {
        return Err(no(format!("elements of {} bits", layout.bits()), "ggml gives an element whole bytes"));
    }
    if layout.rank() == 0 || layout.rank() > MAX_DIMS {
        return Err(no(counted(layout.rank() as u64, "dimension"), "a tensor of ggml has 1 to 4 dimensions"));
    }
    let strided = layout.to_strides()?;
    let bytes = u64::from(element.bytes());
    let plain = Tensor {
        kind: Type::Element(element),
        ne: layout.dims().iter().rev().copied().collect(),
        nb: None,
        view_offs: None,
    };
    let large = || no("strides in bytes that overflow 63 bits".to_owned(), "strides of ggml count bytes");
    let mut nb: Vec<u64> = Vec::new();
    for (dim, &size) in plain.ne.iter().enumerate() {
        let stride = strided.strides[layout.rank() - 1 - dim];
        let stride = match u64::try_from(stride) {
            // What one element alone has for a stride is what ggml computes for a tensor without gaps.
            _ if size <= 1 || layout.is_empty() => match nb.last() {
                None => bytes,
                Some(&before) => before.saturating_mul(plain.ne[dim - 1]).min(i64::MAX as u64),
            },
            Ok(stride) => {
                stride.checked_mul(bytes).filter(|&stride| stride <= i64::MAX as u64).ok_or_else(large)?
            }
            Err(_) => {
                let dim = layout.rank() - 1 - dim;
                return Err(no(
                    format!("dimension {dim} runs backward"),
                    "strides of ggml are sizes, without a sign",
                ));
            }
        };
        nb.push(stride);
    }
    let offset =
        strided.first.checked_mul(bytes).filter(|&offset| offset <= i64::MAX as u64).ok_or_else(large)?;
    let tensor = Tensor { nb: Some(nb), view_offs: (offset > 0).then_some(offset), ..plain };
    let own = tensor.lower()?;
    match own.same_buffer(layout).is_yes() {
        true => Ok(Arc::new(tensor)),
        false => Err(match layout.size().checked_sub(own.size()) {
            Some(behind @ 1..) => no(
                format!("{} behind the last element", counted(behind, "place")),
                "a tensor of ggml ends with its last element",
            ),
            _ => no("places that strides do not reach".to_owned(), "a tensor of ggml is sizes and strides"),
        }),
    }
}

fn no(found: String, rule: &str) -> Error {
    Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
}
