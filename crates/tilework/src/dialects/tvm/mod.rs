//! The TVM dialect: layout strings such as `NCHW16c`, alone or from one to another; index maps, and tile layouts.

mod axes;
mod dialect;
mod index_map;
mod read;
mod reader;
mod say;
mod tile;

pub use dialect::DIALECT;
