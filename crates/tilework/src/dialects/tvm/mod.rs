//! The TVM dialect: layout strings such as `NCHW16c`, alone or from one to another.

mod axes;
mod dialect;
mod read;
mod say;

pub use dialect::DIALECT;
