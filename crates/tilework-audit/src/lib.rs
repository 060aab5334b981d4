//! What the layouts of a compiler cost, and which would be smaller.
//!
//! [`suggest`] answers for one array: it tries every order of the dimensions with the tiles that a [`Target`] usually
//! gives it, and ranks them by the bytes they allocate.
//!
//! ```
//! use tilework::xla::Shape;
//! use tilework_audit::{Target, suggest};
//!
//! let shape = Shape::parse("s32[8388608,8,4]{2,1,0:T(8,128)}")?;
//! let found = suggest(shape.as_array().unwrap(), &Target::from_name("tpu")?)?;
//! assert_eq!(found.given.bytes, 32 << 30);
//! let best = found.smaller().next().unwrap();
//! assert_eq!(best.shape.to_string(), "s32[8388608,8,4]{0,2,1:T(4,128)}");
//! assert_eq!(best.bytes, 1 << 30);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! These are footprints and nothing else: whether a program runs as fast, or at all, with another order is for its
//! compiler to say. How findings are shown is not known here.
#![forbid(unsafe_code)]

mod array;
mod reach;
mod suggest;
mod target;

pub use array::{Change, Rearranged};
pub use suggest::{Footprint, KEPT, ORDER_LIMIT, Suggestions, suggest};
pub use target::{Target, tiles_from_text};
