//! An array seen in a buffer: `as_strided`.

use std::fmt;

use super::super::array::Library;
use super::{list, plain, tuple};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Strides over a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct View {
    pub(super) library: Library,
    pub(super) element: Element,
    pub(super) dims: Vec<u64>,
    /// In elements.
    pub(super) strides: Vec<i64>,
    /// Where element (0, …, 0) is.
    pub(super) first: u64,
    /// The elements of the buffer; none where nothing says them.
    pub(super) size: Option<u64>,
}

impl View {
    /// The layout.
    ///
    /// # Errors
    /// Elements outside the buffer.
    pub(super) fn lower(&self) -> Result<Layout> {
        let bits = 8 * self.element.bytes();
        Layout::strided(&self.dims, bits, &self.strides, Some(self.first), self.size)
    }

    /// The code without the remark.
    pub(super) fn code(&self) -> String {
        match self.library {
            Library::Numpy => {
                let itemsize = i128::from(self.element.bytes());
                let strides = self.strides.iter().map(|&stride| i128::from(stride) * itemsize);
                let from = if self.first == 0 { String::new() } else { format!("[{}:]", self.first) };
                let sizes = [tuple(&self.dims), tuple(strides)];
                format!("np.lib.stride_tricks.as_strided(buffer{from}, {})", list(&sizes))
            }
            Library::Torch => {
                let sizes = [tuple(&self.dims), tuple(&self.strides)];
                let from = if self.first == 0 { String::new() } else { format!(", {}", self.first) };
                format!("torch.as_strided(buffer, {}{from})", list(&sizes))
            }
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remark = |size| plain(self.library, self.element, &[size]);
        // Where nothing says how long the buffer is, it ends with the last element.
        let size = self.size.or_else(|| self.lower().ok().map(|layout| layout.size()));
        write!(f, "{}  # buffer: {}", self.code(), remark(size.unwrap_or(0)))
    }
}
