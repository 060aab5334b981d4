//! The XLA dialect: shapes, layouts and tiles as XLA writes them.

mod element;
mod layout;
mod lower;
mod shape;

pub use element::PrimitiveType;
pub use layout::{Layout, Padding, PaddingValue, SplitConfig, Strides, Tile, TileDim};
pub use shape::{ArrayShape, Dim, Shape};
