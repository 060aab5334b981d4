//! How tensors lie in memory.
#![forbid(unsafe_code)]

mod error;
pub mod xla;

pub use error::{Error, Result};
