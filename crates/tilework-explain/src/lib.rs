//! What is said about how arrays lie in memory, in words and as objects, wherever it is said.
//!
//! The command line, a package for another language and a page in a browser say the same of a layout, because all of
//! them ask here. Of what [`tilework::dialect`] reads, in any notation, [`explain`] makes lines of text that fit a width,
//! and [`Shown`] an object that serializes. [`Translated`] says it in the other notations. [`Comparison`] and
//! [`explain_plan`] are about two layouts, [`Suggesting`] about those that an array could have, [`Blocked`] about the blocks
//! in which a kernel sees it. A [`Page`] puts other things into the same form.
//!
//! ```
//! use tilework::dialect;
//! use tilework_explain::{Look, Shown, explain};
//!
//! let said = dialect::read_one("f32[3,5]{1,0:T(2,2)}")?;
//! let lines = explain(&*said, 80, Look::default())?;
//! let text: Vec<String> = lines.iter().map(|line| line.render(Look::default())).collect();
//! assert_eq!(text[0], "f32[3,5]{1,0:T(2,2)}");
//! assert_eq!(text[3], "  [3,5]      dimension 0 (i) is 3, 1 (j) is 5");
//! assert_eq!(text[9], "  allocated  24   96 B, 1.60 × the elements");
//!
//! let shown = Shown::new(&*said)?;
//! assert_eq!(shown.layout().map(|layout| layout.allocated_bytes), Some(96));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! Nothing here knows files or a terminal, and all arithmetic on layouts is asked of [`tilework`]. The work grows with
//! what is said, never with the size of an array.
#![forbid(unsafe_code)]

mod audited;
mod blocked;
mod checked;
mod comparison;
mod explain;
mod figure;
pub mod link;
mod logged;
mod movement;
mod page;
mod planned;
mod shown;
mod sighted;
pub mod size;
mod suggested;
mod swizzled;
mod translated;

pub use audited::{
    AuditPage, AuditedObject, ChangeObject, FindingsObject, audit_html, audit_html_part, audit_sentence,
    audit_table, explain_audit, explain_audit_change, explain_what_if, space_name,
};
pub use blocked::{BlockSize, Blocked, Near, explain_block};
pub use checked::{Broken, Checked, Checking};
pub use comparison::{Answer, Compared, Comparison, Sense};
pub use explain::{explain, explain_layout};
pub use figure::{figure, figure_of_layout, figure_of_plan, figure_of_two};
pub use logged::{LoggedObject, have_logs_to_compare, log_sentence, log_table};
pub use movement::explain_plan;
pub use page::{NARROWEST, Page, Row, WIDEST};
pub use planned::{Moves, Planned};
pub use shown::{Cause, Function, Growing, Leaf, Shown, Total};
pub use sighted::{Sighted, explain_sightings};
pub use suggested::{Cost, FOOTPRINT_ONLY, Other, OtherArray, Suggested, Suggesting};
pub use tilework_picture::figure::{Options as FigureOptions, Theme, View as FigureView};
pub use tilework_picture::{Line, Look, Span, Style};
pub use translated::{Translated, Translation};
