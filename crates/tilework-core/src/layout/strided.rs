//! Layouts that strides alone can say.

use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;

/// A layout in strides alone: the offset of an element is `first + Σ strides[d]·index[d]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Strided {
    /// The offset of the first element, (0, …, 0); 0 if there are no elements.
    pub first: u64,
    /// The stride of each dimension, in elements.
    pub strides: Vec<i64>,
}

impl Layout {
    /// The offset of the first element and the strides, if they alone say this layout; what makes a copy necessary if
    /// not.
    ///
    /// ```
    /// use tilework::Layout;
    /// let view = Layout::row_major(&[10, 4], 32)?.slice(0, 1..8, 3)?.flip(1)?;
    /// let strided = view.to_strides()?;
    /// assert_eq!((strided.first, &strided.strides[..]), (7, &[12, -1][..]));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first dimension whose stride changes along it.
    pub fn to_strides(&self) -> Result<Strided> {
        self.require_no_swizzle()?;
        self.strides_before_swizzle()
    }

    /// The same for the places before they are exchanged.
    pub(crate) fn strides_before_swizzle(&self) -> Result<Strided> {
        let canon = self.canon();
        let Some(strides) = canon.strides().or_else(|| self.strides_in_disguise()) else {
            return Err(Error::new(canon.why_not_strided())
                .of_kind(ErrorKind::Unsupported)
                .field("strides")
                .rule("one stride for each dimension cannot say this; a copy is needed where only strides are known"));
        };
        let first = if self.is_empty() { 0 } else { canon.eval(&vec![0; self.rank()]) };
        Ok(Strided { first, strides })
    }

    /// The strides of a layout whose form has quotients that come to nothing together: only forms that are not plain can
    /// have such. The steps from the first element are the only strides there can be, and a comparison proves them.
    fn strides_in_disguise(&self) -> Option<Vec<i64>> {
        if self.canon().is_plain() || self.is_empty() {
            return None;
        }
        let mut index = vec![0; self.rank()];
        let first = self.canon().eval(&index);
        let mut strides = Vec::with_capacity(self.rank());
        for dim in 0..self.rank() {
            index[dim] = self.dims()[dim].min(2) - 1;
            strides.push((i128::from(self.canon().eval(&index)) - i128::from(first)) as i64); // both below 2^63
            index[dim] = 0;
        }
        let plain = Layout::strided(self.dims(), self.bits(), &strides, Some(first), None).ok()?;
        plain.same_before_swizzle(self).is_yes().then_some(strides)
    }
}
