//! How to move an array from one layout to another: a few nests of loops, affine on both sides.
//!
//! A plan holds no data and touches none; `tilework-copy` runs it.
//!
//! # How a plan is made
//!
//! 1. Both canonical forms are cut where either changes its stride (`refine.rs`): along one dimension by the multiples
//!    of its tiles (`line.rs`), in coupled dimensions by a table of one period (`table.rs`). Between cuts both layouts
//!    are affine, so each combination of pieces is a nest of loops.
//! 2. Each nest is brought into its simplest form: forward in the destination, by descending stride, neighbours that
//!    continue each other fused (`tidy.rs`).
//! 3. If padding is to be filled, the places without element are enumerated in the same way (`fill.rs`).
//!
//! 4. Where a layout has a swizzle, the nests are split until it exchanges whole nests (`exchange.rs`).
//!
//! Nothing in this depends on how many elements there are.

mod cache;
mod distinct;
mod exchange;
mod figures;
mod fill;
mod group;
mod kind;
mod line;
mod nest;
mod print;
mod refine;
mod table;
mod tidy;

pub use cache::PlanCache;
pub use figures::Figures;
pub use kind::Kind;
pub use nest::{Loop, Nest};
pub use refine::{NEST_LIMIT, START_LIMIT};

use crate::error::{Error, ErrorKind, Result, counted};
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
///
/// ```
/// use tilework::{Loop, Plan, PlanOptions, xla::Shape};
/// let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
/// let plan = Plan::new(&layout("f32[3,5]{1,0:T(2,2)}")?, &layout("f32[3,5]")?, &PlanOptions::default())?;
/// // The whole tiles, the right edge, the bottom edge and the corner.
/// let starts: Vec<(u64, u64)> = plan.copies().iter().map(|nest| nest.starts[0]).collect();
/// assert_eq!(starts, [(0, 0), (8, 4), (12, 10), (20, 14)]);
/// assert_eq!(plan.copies()[1].loops[..], [Loop { extent: 2, from: 2, to: 5 }]);
/// # Ok::<(), tilework::Error>(())
/// ```
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
    /// Layouts of different dimensions or (unless the options say that elements are converted) element bits; a
    /// destination in which two elements share a place; a fill that is wider than an element; and layouts that have no
    /// common refinement within [`NEST_LIMIT`] nests, [`START_LIMIT`] starts and tables of
    /// [`TABLE_LIMIT`](crate::TABLE_LIMIT) entries.
    pub fn new(from: &Layout, to: &Layout, options: &PlanOptions) -> Result<Plan> {
        check(from, to, options)?;
        let copies = exchange::copies(refine::copies(from, to)?, [from, to].map(Layout::swizzle))?;
        let (fills, fills_first) = match options.fill {
            Some(_) => fill::fills(to),
            None => (Vec::new(), false),
        };
        // What fills the whole buffer fills it in any order.
        let fills = if fills_first { fills } else { exchange::copies(fills, [None, to.swizzle()])? };
        Ok(Plan { from: from.clone(), to: to.clone(), options: options.clone(), copies, fills, fills_first })
    }

    /// The layout of the source.
    #[inline]
    pub fn from(&self) -> &Layout {
        &self.from
    }

    /// The layout of the destination.
    #[inline]
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

/// The conditions of a plan that do not need it.
fn check(from: &Layout, to: &Layout, options: &PlanOptions) -> Result<()> {
    if from.rank() != to.rank() {
        let [a, b] = [from, to].map(|layout| counted(layout.rank() as u64, "dimension"));
        return Err(Error::new(format!("{a} in the source, {b} in the destination"))
            .of_kind(ErrorKind::Mismatch)
            .field("dimensions")
            .rule("both layouts have the same dimensions")
            .accepts(format!("a destination of sizes {:?}", from.dims())));
    }
    if let Some(dim) = (0..from.rank()).find(|&dim| from.dims()[dim] != to.dims()[dim]) {
        let (a, b) = (from.dims()[dim], to.dims()[dim]);
        return Err(Error::new(format!("dimension {dim} is {a} in the source, {b} in the destination"))
            .of_kind(ErrorKind::Mismatch)
            .field("dimensions")
            .rule("both layouts have the same dimensions")
            .accepts(format!("a destination of sizes {:?}", from.dims())));
    }
    if from.bits() != to.bits() && !options.converts {
        return Err(Error::new(format!(
            "elements of {} in the source, {} in the destination",
            counted(u64::from(from.bits()), "bit"),
            counted(u64::from(to.bits()), "bit")
        ))
        .field("element bits")
        .rule("elements are moved as they are, unless a conversion is asked for")
        .accepts(format!("a destination of {}", counted(u64::from(from.bits()), "bit"))));
    }
    if let Some(fill) = options.fill
        && to.bits() < 128
        && fill >> to.bits() != 0
    {
        return Err(Error::new(format!(
            "fill {fill:#x} for elements of {}",
            counted(u64::from(to.bits()), "bit")
        ))
        .field("fill")
        .rule("a fill is the bits of one element of the destination")
        .accepts(format!("0x0 to {:#x}", (1_u128 << to.bits()) - 1)));
    }
    distinct::check(to)
}
