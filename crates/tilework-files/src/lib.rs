//! Arrays in files: `.npy` and raw, moved from one memory layout to another and written safely.
//!
//! Files are mapped, not read, so that they may be larger than memory. What is written has no name until it is complete.
#![forbid(unsafe_code)]

mod element;
mod literal;
pub mod npy;

pub use element::{descr_of, element_of};
