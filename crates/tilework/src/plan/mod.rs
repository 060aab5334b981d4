//! How to move an array from one layout to another: a few nests of loops, affine on both sides.
//!
//! A plan holds no data and touches none; `tilework-copy` runs it.

mod nest;

pub use nest::{Loop, Nest};

use crate::error::{Error, Result};
use crate::layout::Layout;

/// What a plan is asked for beyond moving the elements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlanOptions {
    /// The bits of the element that the destination's padding is filled with; without it, padding is left alone.
    pub fill: Option<u128>,
    /// Whether the two layouts may have elements of different widths, because elements are converted on the way.
    pub converts: bool,
}

/// How an array moves from one layout to another.
#[derive(Clone, Debug)]
pub struct Plan {
    from: Layout,
    to: Layout,
    options: PlanOptions,
    copies: Vec<Nest>,
    fills: Vec<Nest>,
    fills_first: bool,
}

impl Plan {
    /// Plans the move of every element from its place in `from` to its place in `to`.
    ///
    /// # Errors
    /// Layouts of different dimensions or (unless the options say that elements are converted) element bits, and a
    /// destination in which two elements share a place.
    pub fn new(from: &Layout, to: &Layout, options: &PlanOptions) -> Result<Plan> {
        if from.dims() != to.dims() {
            return Err(Error::new(format!("dimensions {:?} and {:?}", from.dims(), to.dims()))
                .rule("both layouts have the same dimensions"));
        }
        // The naive plan: every element is a start.
        let mut starts = smallvec::SmallVec::new();
        from.for_each_in_index_order(|index, offset| {
            if let Ok(place) = to.offset(index) {
                starts.push((offset, place));
            }
        });
        let whole = Nest {
            starts: smallvec::smallvec![(0, 0)],
            loops: smallvec::smallvec![Loop { extent: to.size(), from: 0, to: 1 }],
        };
        Ok(Plan {
            from: from.clone(),
            to: to.clone(),
            options: options.clone(),
            copies: vec![Nest { starts, loops: smallvec::SmallVec::new() }],
            fills: if options.fill.is_some() { vec![whole] } else { Vec::new() },
            fills_first: true,
        })
    }

    /// The layout of the source.
    pub fn from(&self) -> &Layout {
        &self.from
    }

    /// The layout of the destination.
    pub fn to(&self) -> &Layout {
        &self.to
    }

    /// What was asked for.
    pub fn options(&self) -> &PlanOptions {
        &self.options
    }

    /// What moves: together they write every element of the destination once.
    pub fn copies(&self) -> &[Nest] {
        &self.copies
    }

    /// What is filled, as nests that read one element: their `from` is 0 throughout. Empty unless a fill was asked for.
    pub fn fills(&self) -> &[Nest] {
        &self.fills
    }

    /// Whether the fills also cover places of elements, so that they must be done before the copies.
    pub fn fills_first(&self) -> bool {
        self.fills_first
    }
}
