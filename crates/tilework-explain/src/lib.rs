//! What is said about how arrays lie in memory, in words and as objects, wherever it is said.
#![forbid(unsafe_code)]

mod comparison;
mod desc_words;
mod explain;
mod movement;
mod page;
mod planned;
mod shown;
pub mod size;
mod subject;
mod words;

pub use comparison::{Answer, Compared, Comparison, Sense};
pub use desc_words::needed_bytes;
pub use explain::explain;
pub use movement::explain_plan;
pub use page::Page;
pub use planned::{Moves, Planned};
pub use shown::{Array, Cause, Described, Function, Growing, Leaf, Shown, TileSize, Total};
pub use subject::Subject;
pub use words::Row;
