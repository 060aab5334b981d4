//! The XLA dialect: shapes, layouts and tiles as XLA writes them.

mod align;
mod bitcast;
mod dims;
mod dynamic;
mod element;
mod equal;
mod first_tile;
mod index;
mod iterate;
mod layout;
mod layouts;
mod make;
mod precision;
mod proto;
mod shape;
mod size;
mod surgery;
mod tuple;
mod validate;

pub use align::{InsertedOrDeleted, common_factors};
pub use bitcast::{Bitcast, TransposeReshapeTranspose};
pub use dims::dimension_letters;
pub use element::PrimitiveType;
pub use equal::{Equal, LayoutEqual};
pub use index::compare_indices;
pub use layout::{Layout, Padding, PaddingValue, SplitConfig, Strides, Tile, TileDim};
pub use proto::{OldProto, program_shape_from_proto, program_shape_to_proto};
pub use shape::{ArrayShape, Dim, Shape};
pub use size::byte_strides_is_major_to_minor;
pub use tuple::{ShapeIndex, Subshapes};
