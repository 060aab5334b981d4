//! What an audit found, as a page, as an object and as a table.

mod buffers;
mod change;
mod html;
mod moved;
mod moves;
mod object;
mod pictures;
mod report;
mod sentence;
mod table;
mod tile_picture;

pub use change::{ChangeObject, explain_audit_change, explain_what_if};
pub use html::{AuditPage, audit_html, audit_html_part};
pub(crate) use html::{array_html, table};
pub use object::{AuditedObject, FindingsObject};
pub use report::explain_audit;
pub(crate) use sentence::percent;
pub use sentence::{audit_sentence, space_name};
pub use table::audit_table;
pub(crate) use table::escaped_cell;
