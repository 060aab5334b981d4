//! The XLA dialect: shapes, layouts and tiles as XLA writes them.

mod dialect;
pub mod proto;
mod say;
mod text;
mod utilities;
mod value;
mod words;

pub use dialect::DIALECT;
pub use proto::OldProto;
pub use utilities::align::{InsertedOrDeleted, common_factors};
pub use utilities::bitcast::{Bitcast, TransposeReshapeTranspose};
pub use utilities::equal::{Equal, LayoutEqual};
pub use utilities::index::compare_indices;
pub use utilities::size::byte_strides_is_major_to_minor;
pub use value::dims::dimension_letters;
pub use value::layout::{Layout, SplitConfig};
pub use value::padding::{Padding, PaddingValue, Strides};
pub use value::primitive::PrimitiveType;
pub use value::program::ProgramShape;
pub use value::shape::{ArrayShape, Dim, Shape};
pub use value::tile::{Tile, TileDim};
pub use value::tuple::{ShapeIndex, Subshapes};
