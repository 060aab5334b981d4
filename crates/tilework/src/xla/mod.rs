//! The XLA dialect: shapes, layouts and tiles as XLA writes them.

mod element;
mod layout;
mod lex;
mod parse;
mod parse_layout;
mod parse_rare;
mod print;
mod program;
mod shape;
mod suggest;

pub use element::PrimitiveType;
pub use layout::{Layout, Padding, PaddingValue, SplitConfig, Strides, Tile, TileDim};
pub use program::ProgramShape;
pub use shape::{ArrayShape, Dim, Shape};
