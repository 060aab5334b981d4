//! Layouts as layout strings.

use std::sync::Arc;
use tilework_core::InOrder;

use super::axes::{Axes, Digit, MAX_DIMS};
use super::read::Array;
use crate::dialect::Said;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result, counted};
use crate::layout::Layout;

/// The layout as axes and factors.
///
/// # Errors
/// Padding, gaps, and dimensions in more than two digits.
pub(super) fn say(layout: &Layout, element: Element) -> Result<Said> {
    let no = |found: String, rule: &str| {
        Error::new(found).of_kind(ErrorKind::Unsupported).field("layout").rule(rule)
    };
    if layout.bits() != 8 * element.bytes() {
        return Err(no(format!("elements of {} bits", layout.bits()), "TVM gives an element whole bytes"));
    }
    if layout.rank() == 0 || layout.rank() > MAX_DIMS {
        let found = counted(layout.rank() as u64, "dimension");
        return Err(no(found, "an axis is one of 26 letters"));
    }
    let digits = layout.to_digits()?;
    let mut strides: Vec<(i64, Digit)> = Vec::new();
    for (dim, of_dim) in digits.of_dims.iter().enumerate() {
        match of_dim[..] {
            [whole] => {
                if whole.extent > 1 {
                    strides.push((whole.stride, Digit { dim, factor: None }));
                }
            }
            [within, blocks] => {
                let (size, factor) = (layout.dims()[dim], within.extent);
                if !size.is_multiple_of(factor) {
                    let rule = "TVM pads nothing, so a factor divides its axis";
                    return Err(no(
                        format!(
                            "dimension {dim} is {size}, in blocks of {factor}: padding inside the layout"
                        ),
                        rule,
                    ));
                }
                strides.push((within.stride, Digit { dim, factor: Some(factor) }));
                strides.push((blocks.stride, Digit { dim, factor: None }));
            }
            _ => {
                let rule = "a layout of TVM has up to one factor for each axis";
                return Err(no(format!("dimension {dim} is cut into {} digits", of_dim.len()), rule));
            }
        }
    }
    strides.order_by_key(|&(stride, _)| std::cmp::Reverse(stride));
    let mut digits: Vec<Digit> = strides.into_iter().map(|(_, digit)| digit).collect();
    // A dimension of one element can stand anywhere, so it stands behind the dimension before it.
    for dim in 0..layout.rank() {
        if !digits.iter().any(|digit| digit.dim == dim) {
            let before = digits.iter().position(|digit| digit.factor.is_none() && digit.dim + 1 == dim);
            digits.insert(before.map_or(0, |before| before + 1), Digit { dim, factor: None });
        }
    }
    let array = Array { element, dims: layout.dims().to_vec(), axes: Axes::of(layout.rank(), digits) };
    match array.lower()?.same_buffer(layout).is_yes() {
        true => Ok(Arc::new(array)),
        false => Err(no(
            "places that the axes do not fill one after the other".to_owned(),
            "an array of TVM has no padding, no gaps and no strides of its own",
        )),
    }
}
