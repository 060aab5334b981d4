//! What a log says of moves, as a page and as an object.

mod html;
mod object;
mod report;
mod sentence;

pub(crate) use html::log_section;
pub use object::LoggedObject;
pub(crate) use report::log;
pub use sentence::log_sentence;
