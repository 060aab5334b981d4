//! What the layouts of a compiler cost, and which would be smaller.
//!
//! [`Audit`] reads what XLA dumps (`XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text"`): buffer assignments, live
//! ranges, memory usage reports, HLO modules; and out-of-memory messages, and any text with shapes in it. [`Findings`]
//! is what comes of it: buffers by wasted bytes, copies that change a layout by bytes moved, sums.
//!
//! Texts are streamed. The memory that is taken is bounded by the number of different shapes and of buffers, and within
//! limits for hostile texts; nothing that a text can say makes it panic.
#![forbid(unsafe_code)]

mod assignment;
mod audit;
mod bytes;
mod findings;
mod hash;
mod hlo;
mod lines;
mod live;
mod message;
mod metadata;
mod moves;
mod peak;
mod program;
mod scan;
mod select;
mod shapes;
mod sums;
mod texts;
mod unread;
mod usage;

pub use audit::Audit;
pub use findings::{
    Audited, Basis, Buffer, Contradiction, Findings, How, Move, Moved, Peak, Place, Shared, SpaceSum, Sum,
};
pub use program::{Message, Operation};
pub use select::{Selection, is_known};
pub use sums::Keyed;
pub use unread::Unread;
