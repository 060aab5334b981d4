//! Tilers: what layouts are divided by and composed with, mode by mode.

use super::layout::Layout;
use super::tuple::{IntTuple, Leaf};
use crate::error::{Error, Result};

/// A layout, or one for each mode: `[4:1;(2,2):(1,8);_]`. A shape such as `(3,4)` is short for `[3:1;4:1]`.
///
/// ```
/// use tilework::cute::Tiler;
/// assert_eq!(Tiler::parse("(3,(4,1))")?.to_string(), "[3:1;[4:1;1:0]]");
/// assert_eq!(Tiler::parse("[ (3):(1) ; _ ]")?.to_string(), "[(3):(1);_]");
/// assert_eq!(Tiler::parse("(3,4):(4,1)")?.to_string(), "(3,4):(4,1)");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tiler {
    /// `_`: the mode as it is.
    Any,
    /// One layout, for all modes together.
    Layout(Layout),
    /// A tiler for each of the first modes.
    Tuple(Vec<Tiler>),
}

impl From<Layout> for Tiler {
    fn from(layout: Layout) -> Tiler {
        Tiler::Layout(layout)
    }
}

impl Tiler {
    /// The tiler that a shape is short for.
    ///
    /// # Errors
    /// Values that are no sizes.
    pub fn of_shape(shape: &IntTuple) -> Result<Tiler> {
        match shape {
            IntTuple::Leaf(Leaf::Any) => Ok(Tiler::Any),
            IntTuple::Leaf(_) => Ok(Tiler::Layout(Layout::compact(shape.clone())?)),
            IntTuple::Tuple(modes) => {
                Ok(Tiler::Tuple(modes.iter().map(Tiler::of_shape).collect::<Result<_>>()?))
            }
        }
    }

    /// The shapes of its layouts, nested as it is.
    ///
    /// # Errors
    /// A `_`, which has no shape.
    pub fn shape(&self) -> Result<IntTuple> {
        self.parts(Layout::shape)
    }

    /// The strides of its layouts, nested as it is.
    ///
    /// # Errors
    /// A `_`, which has no strides.
    pub fn stride(&self) -> Result<IntTuple> {
        self.parts(Layout::stride)
    }

    fn parts(&self, part: fn(&Layout) -> &IntTuple) -> Result<IntTuple> {
        match self {
            Tiler::Any => Err(Error::new("_ has no shape").field("tiler").accepts("a layout for every mode")),
            Tiler::Layout(layout) => Ok(part(layout).clone()),
            Tiler::Tuple(modes) => modes.iter().map(|mode| mode.parts(part)).collect(),
        }
    }
}
