//! The interface of Tilework for C and C++. `include/tilework.h` is made from this crate, and is what to read.
//!
//! Three things hold everywhere:
//!
//! * A function that can fail returns an error object, or null. Nothing is kept aside for a later call, so threads
//!   and fibers need no care.
//! * What C hands over is checked as far as it can be: null and misaligned pointers, lengths, UTF-8, overlap.
//! * No panic leaves: `border.rs` turns it into an error.
#![warn(unsafe_op_in_unsafe_fn)]

mod border;
mod error;
mod layout;
mod options;
mod pool;
mod relayout;
mod version;

pub use error::{Error, tilework_error_free, tilework_error_message};
pub use layout::{
    Layout, tilework_layout_bytes, tilework_layout_dims, tilework_layout_element_bits,
    tilework_layout_elements, tilework_layout_free, tilework_layout_offset, tilework_layout_parse,
    tilework_layout_size, tilework_layout_text,
};
pub use pool::Pool;
pub use relayout::{
    Relayout, tilework_relayout_describe, tilework_relayout_free, tilework_relayout_new,
    tilework_relayout_run, tilework_relayout_run_on,
};
pub use version::{TILEWORK_VERSION, tilework_version};
