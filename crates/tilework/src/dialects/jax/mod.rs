//! Layouts as JAX prints them: an order of the dimensions and tiles, as XLA has them, in the words of Python.

mod dialect;
mod read;
mod written;

pub use dialect::DIALECT;
