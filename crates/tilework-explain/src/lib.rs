//! What is said about how arrays lie in memory, in words and as objects, wherever it is said.
//!
//! The command line, a package for another language and a page in a browser say the same of a layout, because all of
//! them ask here. A [`Subject`] is read from any notation; [`explain`] makes it lines of text that fit a width, and
//! [`Shown`] an object that serializes. [`Comparison`] and [`explain_plan`] are about two layouts, [`Suggesting`] about those that an array could have. A [`Page`] puts
//! other things into the same form.
//!
//! ```
//! use tilework_explain::{Look, Shown, Subject, explain};
//!
//! let read = Subject::read("f32[3,5]{1,0:T(2,2)}", false)?;
//! let lines = explain(&read[0], 80, Look::default())?;
//! let text: Vec<String> = lines.iter().map(|line| line.render(Look::default())).collect();
//! assert_eq!(text[0], "f32[3,5]{1,0:T(2,2)}");
//! assert_eq!(text[3], "  [3,5]      dimension 0 (y) is 3, 1 (x) is 5");
//! assert_eq!(text[9], "  allocated  24   96 B, 1.60 × the elements");
//!
//! let shown = Shown::new(&read[0])?;
//! assert_eq!(shown.array.and_then(|array| array.layout).map(|layout| layout.allocated_bytes), Some(96));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! Nothing here knows files or a terminal, and all arithmetic on layouts is asked of [`tilework`]. The work grows with
//! what is said, never with the size of an array.
#![forbid(unsafe_code)]

mod audited;
mod comparison;
mod desc_words;
mod explain;
mod movement;
mod page;
mod planned;
mod shown;
pub mod size;
mod subject;
mod suggested;
mod words;

pub use audited::{
    AuditedObject, ChangeObject, FindingsObject, audit_html, audit_html_part, audit_sentence, audit_table,
    explain_audit, explain_audit_change, explain_what_if, space_name,
};
pub use comparison::{Answer, Compared, Comparison, Sense};
pub use desc_words::needed_bytes;
pub use explain::{explain, explain_layout};
pub use movement::explain_plan;
pub use page::{NARROWEST, Page, WIDEST};
pub use planned::{Moves, Planned};
pub use shown::{Array, Cause, Described, Function, Growing, Leaf, Shown, TileSize, Total, kind};
pub use subject::Subject;
pub use suggested::{Cost, FOOTPRINT_ONLY, Other, OtherArray, Suggested, Suggesting};
pub use tilework_picture::{Line, Look, Span, Style};
pub use words::Row;
