//! The Zarr dialect: grids of chunks, with shards and transposed chunks.

mod dialect;
mod grid;
mod read;
mod say;

pub use dialect::DIALECT;
pub use grid::Array;
