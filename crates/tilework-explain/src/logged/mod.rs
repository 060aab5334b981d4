//! What a log says of moves, as a page and as an object.

mod change;
mod html;
mod object;
mod report;
mod sentence;
mod table;

pub(crate) use change::changed_logs;
pub use change::have_logs_to_compare;
pub(crate) use html::log_section;
pub use object::LoggedObject;
pub(crate) use report::log;
pub use sentence::log_sentence;
pub(crate) use sentence::time;
pub use table::log_table;
