//! How tensors lie in memory.
#![forbid(unsafe_code)]

mod build;
mod canon;
mod compare;
mod error;
mod expr;
mod formula;
mod layout;
mod locate;
mod measure;
mod view;
mod walk;
pub mod xla;

pub use build::Builder;
pub use canon::Canon;
pub use compare::{TABLE_LIMIT, Verdict};
pub use error::{Error, Result};
pub use layout::{Layout, MAX_RANK, MAX_TILES};
pub use locate::{LOCATE_LIMIT, Level, Padding, Place};
pub use measure::Growth;
pub use walk::Run;
