//! The core of Tilework: layouts as functions, what can be asked of them, and plans of moves between two.
//!
//! Use the crate `tilework`, which has all of this and the notations besides. Apart, the core cannot know a notation, and
//! whoever works on a notation does not wait until the core is compiled again. What the documentation hides is for that crate
//! alone and may change at any time.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod algebra;
pub mod arithmetic;
#[doc(hidden)]
pub mod ask;
#[doc(hidden)]
pub mod element;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod few;
mod kept;
#[doc(hidden)]
pub mod layout;
mod order;
mod plan;
mod printable;
#[doc(hidden)]
pub mod spelling;

pub use algebra::canon::Canon;
#[doc(hidden)]
pub use algebra::canon::letter;
pub use ask::compare::TABLE_LIMIT;
pub use ask::digits::{Digit, Digits};
pub use ask::locate::{LOCATE_LIMIT, Level, Padding, Place};
pub use ask::measure::Growth;
pub use ask::verdict::{Difference, Verdict};
pub use ask::walk::Run;
pub use element::{Class, Element, FloatFormat, Nan, System};
pub use error::{Error, ErrorKind, Result};
pub use few::{Entries, Few};
pub use kept::Kept;
pub use layout::build::Builder;
pub use layout::parts::{Axis, Part, PartKind};
pub use layout::strided::Strided;
pub use layout::swizzle::Swizzle;
pub use layout::terms::{Term, Terms};
pub use layout::{Layout, MAX_RANK, MAX_TILES};
#[doc(hidden)]
pub use order::InOrder;
pub use plan::{Figures, Kind, Loop, NEST_LIMIT, Nest, Plan, PlanCache, PlanOptions, START_LIMIT};
pub use printable::printable;
pub use spelling::nearest;
