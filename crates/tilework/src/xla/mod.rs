//! The XLA dialect: shapes, layouts and tiles as XLA writes them.

mod element;
mod equal;
mod first_tile;
mod index;
mod iterate;
mod layout;
mod layouts;
mod lex;
mod lower;
mod make;
mod parse;
mod parse_layout;
mod parse_rare;
mod places;
mod precision;
mod print;
mod program;
mod proto;
mod shape;
mod size;
mod suggest;
mod tuple;

pub use element::PrimitiveType;
pub use equal::{Equal, LayoutEqual};
pub use index::compare_indices;
pub use layout::{Layout, Padding, PaddingValue, SplitConfig, Strides, Tile, TileDim};
pub use program::ProgramShape;
pub use proto::OldProto;
pub use shape::{ArrayShape, Dim, Shape};
pub use size::byte_strides_is_major_to_minor;
pub use tuple::{ShapeIndex, Subshapes};
