//! Moves arrays from one memory layout to another at the speed of a memory copy.
//!
//! ```
//! use tilework::{Layout, PlanOptions};
//! use tilework_copy::Relayout;
//!
//! let rows = Layout::row_major(&[2, 3], 8)?;
//! let columns = Layout::builder(&[2, 3], 8)?.minor_to_major(&[0, 1])?.build()?;
//! let relayout = Relayout::new(&rows, &columns, &PlanOptions::default())?;
//! let mut out = [0; 6];
//! relayout.run(b"abcdef", &mut out)?;
//! assert_eq!(&out, b"adbecf");
//! # Ok::<(), tilework::Error>(())
//! ```

mod buffer;
mod choose;
mod clip;
mod convert;
mod elements;
mod exec;
#[cfg(all(test, unix))]
mod guard_tests;
mod kernels;
mod map;
mod nest;
mod pool;
mod program;
mod relayout;
#[cfg(all(test, unix))]
mod share_tests;
mod step;
mod subbyte;
#[cfg(test)]
mod tests;

pub use buffer::Buffer;
pub use convert::{Conversion, Kind};
pub use map::{Mapped, MappedMut};
pub use pool::{Inline, Pool, Threads};
pub use relayout::{Element, Relayout};
