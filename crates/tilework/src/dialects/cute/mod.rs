//! The CuTe dialect: layouts `shape:stride`, swizzles and composed layouts, and their algebra.
mod coalesce;
mod complement;
mod composed;
mod composition;
mod count;
mod dialect;
mod divide;
mod engine;
mod inverse;
mod layout;
mod lex;
mod lower;
mod modes;
mod operations;
mod print;
mod product;
mod read;
mod recast;
mod say;
mod swizzle;
mod tensor;
mod tiler;
mod tuple;
mod words;

pub use composed::{Composed, Function};
pub use dialect::DIALECT;
pub use engine::{Engine, Pointer};
pub use layout::Layout;
#[doc(hidden)]
pub use operations::operation;
pub use print::Spelling;
pub use swizzle::Swizzle;
pub use tensor::Tensor;
pub use tiler::Tiler;
pub use tuple::{Basis, Dynamic, IntTuple, Leaf};
