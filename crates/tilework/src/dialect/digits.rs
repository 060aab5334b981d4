//! Layouts from digits: each dimension is cut into digits with a stride of their own, in any order.

use crate::error::Result;
use crate::layout::Layout;

/// A dimension in digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut {
    /// Values and stride of each digit, the least significant first.
    pub(crate) digits: Vec<(u64, u64)>,
    /// The stride of what the digits leave.
    pub(crate) outer: u64,
}

/// The layout with this many allocated elements. Dimensions are padded up to whole digits.
///
/// # Errors
/// Those of [`Layout::terms`].
pub(crate) fn layout(dims: &[u64], bits: u32, cuts: &[Cut], size: u64) -> Result<Layout> {
    let mut terms = Layout::terms(dims, bits)?;
    let empty = dims.contains(&0);
    for (dim, cut) in cuts.iter().enumerate() {
        let mut rest = terms.dim(dim)?;
        for &(values, stride) in &cut.digits {
            let (more, digit) = terms.split(rest, values)?;
            terms.add(digit, signed(stride)?)?;
            rest = more;
        }
        let stride = if terms.extent(&rest) > 1 { cut.outer } else { 0 };
        terms.add(rest, signed(stride)?)?;
    }
    terms.build(Some(0), Some(if empty { 0 } else { size }))
}

fn signed(stride: u64) -> Result<i64> {
    i64::try_from(stride).map_err(|_| super::blocked::large())
}
