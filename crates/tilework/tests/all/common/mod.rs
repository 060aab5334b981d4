//! What several tests share.

mod naive;
pub mod xla_reader;
pub mod xla_shapes;

pub use naive::*;
