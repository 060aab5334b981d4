//! oneDNN's memory descriptors: format tags, blocked descriptors, and what verbose logs have of them.
//!
//! ```text
//! f32[1,17,2,2] nChw8c                          a tag or an alias, behind type and sizes
//! f32[3,5] AB2a2b                               what the grammar of tags has and oneDNN's enum has not
//! f32[3,5] ab strides 8x1                       strides of the outer digits, in elements
//! f32[3,5] aB4b strides 32x4 padded 4x8         places for more elements than there are
//! src:f32:p:blocked:aBcd8b::f0 1x17x2x2         a descriptor of a log, and its sizes
//! src_f32::blocked:aBcd8b:f0 1x17x2x2           the same in older logs
//! onednn_verbose,v1,primitive,exec,cpu,…        a line of a log: every array whose sizes it says
//! ```
//!
//! Facts from uxlfoundation/oneDNN 3f27bec21f: `include/oneapi/dnnl/dnnl_types.h`, `src/common/memory_desc.cpp`,
//! `memory_desc_wrapper.hpp` and `verbose.cpp`.

mod array;
mod dialect;
mod line;
mod log;
mod names;
mod problem;
mod read;
mod say;
mod tag;
mod words;

pub use dialect::DIALECT;

/// The most dimensions of an array: `DNNL_MAX_NDIMS`.
const MAX_DIMS: usize = 12;
