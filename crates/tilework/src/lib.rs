//! How tensors lie in memory.
#![forbid(unsafe_code)]

mod canon;
mod error;
mod expr;
mod formula;
mod layout;
mod locate;
mod view;
pub mod xla;

pub use canon::Canon;
pub use error::{Error, Result};
pub use layout::{Builder, Layout, MAX_RANK, MAX_TILES};
pub use locate::{LOCATE_LIMIT, Level, Padding, Place};
