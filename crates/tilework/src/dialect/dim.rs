//! Sizes of dimensions, as far as a notation says them.

use std::fmt;

/// The size of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A size known beforehand.
    Static(u64),
    /// `<=n`: known at run time only, and at most this.
    Bounded(u64),
    /// `?`: known at run time only.
    Unbounded,
}

impl From<u64> for Dim {
    fn from(size: u64) -> Dim {
        Dim::Static(size)
    }
}

impl Dim {
    /// The size, or the bound of a bounded dimension.
    pub fn bound(self) -> Option<u64> {
        match self {
            Dim::Static(size) | Dim::Bounded(size) => Some(size),
            Dim::Unbounded => None,
        }
    }

    /// Whether the size is known at run time only.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, Dim::Static(_))
    }
}

/// `3`, `<=3` or `?`.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Static(size) => size.fmt(f),
            Dim::Bounded(size) => write!(f, "<={size}"),
            Dim::Unbounded => f.write_str("?"),
        }
    }
}
