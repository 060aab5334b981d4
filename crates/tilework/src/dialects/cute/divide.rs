//! Division: a layout cut into tiles, and the tiles counted.

use super::composed::{Composed, Function};
use super::composition::check_rank;
use super::layout::Layout;
use super::tiler::Tiler;
use super::tuple::{IntTuple, not_congruent};
use crate::error::Result;

impl Layout {
    /// Splits the layout in two modes: the coordinates that the tiler picks, and where such tiles begin. With a tiler for
    /// each mode, each of the modes.
    ///
    /// ```
    /// use tilework::cute::{Layout, Tiler};
    /// let divide = |layout: &str, tiler: &str| Layout::parse(layout)?.logical_divide(&Tiler::parse(tiler)?);
    /// assert_eq!(divide("(4,2,3):(2,1,8)", "4:2")?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// assert_eq!(divide("(6,8):(8,1)", "(3,4)")?.to_string(), "((3,2),(4,2)):((8,24),(1,4))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A tiler of more modes than the layout, one that overlaps itself, what cannot be composed (see [`Layout::compose`]),
    /// and something that is known at run time only.
    pub fn logical_divide(&self, tiler: &Tiler) -> Result<Layout> {
        by(self, tiler, false, &divide)
    }

    /// Like [`Layout::logical_divide`], with all tiles in the first mode and all that counts tiles in the second.
    ///
    /// ```
    /// use tilework::cute::{Layout, Tiler};
    /// let tiled = Layout::parse("(6,8):(8,1)")?.zipped_divide(&Tiler::parse("(3,4)")?)?;
    /// assert_eq!(tiled.to_string(), "((3,4),(2,2)):((8,1),(24,4))");
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Layout::logical_divide`].
    pub fn zipped_divide(&self, tiler: &Tiler) -> Result<Layout> {
        by(self, tiler, true, &divide)
    }

    /// Like [`Layout::zipped_divide`], with the modes that count tiles beside the first: `((3,4),2,2)`.
    ///
    /// # Errors
    /// See [`Layout::logical_divide`].
    pub fn tiled_divide(&self, tiler: &Tiler) -> Result<Layout> {
        self.zipped_divide(tiler)?.unpack(false)
    }

    /// Like [`Layout::zipped_divide`], with every mode beside the others: `(3,4,2,2)`.
    ///
    /// # Errors
    /// See [`Layout::logical_divide`].
    pub fn flat_divide(&self, tiler: &Tiler) -> Result<Layout> {
        self.zipped_divide(tiler)?.unpack(true)
    }

    /// The modes of the second mode side by side with the first, and those of the first as well if asked for.
    pub(super) fn unpack(&self, first: bool) -> Result<Layout> {
        let mut modes = Vec::new();
        for (number, mode) in self.top_modes().enumerate() {
            match number > 0 || first {
                true => modes.extend(mode.top_modes()),
                false => modes.push(mode),
            }
        }
        Layout::join(modes)
    }
}

impl Composed {
    /// Whether the function after the layout is a swizzle, which has the offsets of the layout in another order.
    pub(super) fn is_swizzle(&self) -> bool {
        matches!(self.function(), Function::Swizzle(_))
    }
}

fn divide(layout: &Layout, tile: &Layout) -> Result<Layout> {
    let rest = tile.complement_over(layout.shape())?;
    layout.compose(&Layout::join_all([tile.clone(), rest])?)
}

impl Layout {
    /// Modes side by side, also those that are `()`.
    pub(super) fn join_all(layouts: impl IntoIterator<Item = Layout>) -> Result<Layout> {
        let parts = layouts.into_iter().map(|layout| (layout.shape().clone(), layout.stride().clone()));
        let (shapes, strides): (Vec<IntTuple>, Vec<IntTuple>) = parts.unzip();
        Layout::new(IntTuple::Tuple(shapes), IntTuple::Tuple(strides))
    }
}

/// An operation of two layouts, mode by mode where the tiler is a tuple. `zip` gathers the first halves and the second.
pub(super) fn by(
    layout: &Layout,
    tiler: &Tiler,
    zip: bool,
    operation: &dyn Fn(&Layout, &Layout) -> Result<Layout>,
) -> Result<Layout> {
    match tiler {
        Tiler::Any => Ok(layout.clone()),
        Tiler::Layout(tile) => operation(layout, tile),
        Tiler::Tuple(tilers) => {
            check_rank(layout, tilers)?;
            let (mut tiles, mut rests) = (Vec::new(), Vec::new());
            for (number, mode) in layout.top_modes().enumerate() {
                match tilers.get(number) {
                    None if zip => rests.push(mode),
                    None => tiles.push(mode),
                    Some(tiler) => {
                        let made = by(&mode, tiler, zip, operation)?;
                        match zip {
                            false => tiles.push(made),
                            true if made.rank() == 2 => {
                                tiles.push(made.mode(0)?);
                                rests.push(made.mode(1)?);
                            }
                            true => return Err(not_congruent(made.shape(), &IntTuple::flat(&[1, 1]))),
                        }
                    }
                }
            }
            match zip {
                false => Layout::join(tiles),
                true => Layout::join([Layout::join(tiles)?, Layout::join(rests)?]),
            }
        }
    }
}
