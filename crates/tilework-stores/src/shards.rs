//! An array in pieces, and how each of them lies.

use std::fmt;
use std::sync::Arc;

use tilework::{Element, Error, ErrorKind, Layout, Result};

use crate::grid::Grid;
use crate::region::Region;

/// How the elements of a piece lie in its bytes.
#[derive(Clone)]
pub struct Form(Lie);

#[derive(Clone)]
enum Lie {
    Whole(Layout),
    Sized(Arc<OfSizes>),
}

/// The layout of a piece of these sizes.
type OfSizes = dyn Fn(&[u64]) -> Result<Layout> + Send + Sync;

impl Form {
    /// All pieces have this layout, also one that hangs over the end of the array: then some of its places hold no element.
    pub fn whole(layout: Layout) -> Form {
        Form(Lie::Whole(layout))
    }

    /// Each piece has a layout for its own sizes, and none hangs over.
    pub fn sized(layout: impl Fn(&[u64]) -> Result<Layout> + Send + Sync + 'static) -> Form {
        Form(Lie::Sized(Arc::new(layout)))
    }

    /// Row-major, each piece for its own sizes.
    pub fn rows(bits: u32) -> Form {
        Form::sized(move |sizes| Layout::row_major(sizes, bits))
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Lie::Whole(layout) => write!(f, "Whole({layout:?})"),
            Lie::Sized(_) => f.write_str("Sized"),
        }
    }
}

/// An array in pieces: its elements, its grid, how a piece lies, and what is in places that were never written.
#[derive(Clone, Debug)]
pub struct Shards {
    element: Element,
    grid: Grid,
    form: Form,
    fill: u128,
}

impl Shards {
    /// An array in pieces that lie as `form` says. Its fill is 0.
    ///
    /// # Errors
    /// A layout of other sizes than the pieces of the grid, or with elements of another width.
    pub fn new(element: Element, grid: Grid, form: Form) -> Result<Shards> {
        if let Lie::Whole(layout) = &form.0 {
            let pieces: Option<Vec<u64>> = grid.cuts().iter().map(|cut| cut.regular()).collect();
            if pieces.as_deref() != Some(layout.dims()) {
                let found = match pieces {
                    Some(pieces) => format!("a layout of {:?} for pieces of {pieces:?}", layout.dims()),
                    None => format!("a layout of {:?} for pieces of several sizes", layout.dims()),
                };
                return Err(Error::new(found)
                    .of_kind(ErrorKind::Mismatch)
                    .field("layout")
                    .rule("where all pieces have one layout, it has the sizes of a piece"));
            }
        }
        Ok(Shards { element, grid, form, fill: 0 })
    }

    /// The same with this element, as bits, in padding and in pieces that are missing.
    #[must_use]
    pub fn with_fill(mut self, fill: u128) -> Shards {
        self.fill = fill;
        self
    }

    /// The type of the elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// How the array is cut.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The bits of the element in padding and in pieces that are missing.
    pub fn fill(&self) -> u128 {
        self.fill
    }

    /// The layout of the bytes of a piece.
    ///
    /// # Errors
    /// A number that no piece has, and what its form refuses of its sizes.
    pub fn layout(&self, piece: u64) -> Result<Layout> {
        self.layout_of(&self.grid.region(piece)?)
    }

    /// The same for the region of a piece.
    pub(crate) fn layout_of(&self, region: &Region) -> Result<Layout> {
        match &self.form.0 {
            Lie::Whole(layout) => Ok(layout.clone()),
            Lie::Sized(layout) => layout(&region.size),
        }
    }

    /// The layout of the largest piece.
    ///
    /// # Errors
    /// What the form refuses of its sizes.
    pub fn largest(&self) -> Result<Layout> {
        match &self.form.0 {
            Lie::Whole(layout) => Ok(layout.clone()),
            Lie::Sized(layout) => {
                layout(&self.grid.cuts().iter().map(|cut| cut.largest()).collect::<Vec<u64>>())
            }
        }
    }

    /// Whether the last pieces are as large as all others, and hang over the end of the array.
    pub fn hangs_over(&self) -> bool {
        matches!(self.form.0, Lie::Whole(_))
    }

    /// The bytes of all elements, without padding.
    pub fn element_bytes(&self) -> u128 {
        let elements: u128 = self.grid.sizes().iter().map(|&size| u128::from(size)).product();
        elements.saturating_mul(self.element.bits().into()).div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_bytes_are_rounded_up_at_the_end_and_nothing_written_is_zero() -> Result<()> {
        let shards = Shards::new(Element::U4, Grid::regular(&[3, 5], &[2, 5])?, Form::rows(4))?;
        assert_eq!((shards.element_bytes(), shards.fill(), shards.hangs_over()), (8, 0, false));
        assert!(format!("{shards:?}").contains("form: Sized, fill: 0"), "{shards:?}");
        Ok(())
    }
}
