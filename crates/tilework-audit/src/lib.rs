//! What the layouts of a compiler cost, and which would be smaller.
//!
//! [`Audit`] reads what XLA dumps (`XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_text"`): buffer assignments, live
//! ranges, memory usage reports, HLO modules; and out-of-memory messages, and any text with shapes in it. [`Findings`]
//! is what comes of it: what the memory is for, buffers by size and by wasted bytes, copies by bytes moved, sums.
//!
//! With the feature `proto` it reads serialised modules as well (`--xla_dump_hlo_as_proto`), which say the same.
//!
//! Texts are streamed, and what is kept of them is counted: beyond a budget, 2 GiB unless [`Audit::with_memory`] says
//! otherwise, a text is refused. Nothing that a text can say makes it panic or abort.
//!
//! [`suggest`] answers for one array: it tries every order of the dimensions with the tiles that a [`Target`] usually
//! gives it, and ranks them by the bytes they allocate.
//!
//! ```
//! use tilework::xla::Shape;
//! use tilework_audit::{Target, suggest};
//!
//! let shape = Shape::parse("s32[8388608,8,4]{2,1,0:T(8,128)}")?;
//! let found = suggest(shape.as_array().unwrap(), &Target::from_name("tpu")?)?;
//! assert_eq!(found.given.bytes, 32 << 30);
//! let best = found.smaller().next().unwrap();
//! assert_eq!(best.shape.to_string(), "s32[8388608,8,4]{0,2,1:T(4,128)}");
//! assert_eq!(best.bytes, 1 << 30);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! [`Block`] says whether a Pallas kernel on a TPU may see an array in blocks of some size, and what they take.
//!
//! These are footprints and nothing else: whether a program runs as fast, or at all, with another order is for its
//! compiler to say. How findings are shown is not known here.
#![forbid(unsafe_code)]

mod audit;
mod block;
mod budget;
mod calls;
mod find;
mod hash;
mod lists;
mod log;
mod program;
mod programs;
mod read;
#[cfg(feature = "proto")]
pub mod schema;
mod shapes;
mod sources;
mod store;
mod suggest;
mod texts;
mod unread;

pub use audit::{Assumed, Audit};
pub use block::{Block, BlockDim, BlockRule};
pub use find::findings::{
    Audited, Basis, Buffer, Contradiction, Donation, Findings, How, Keyed, Machine, Move, Moved, Peak, Place,
    Shared, SpaceSum, Sum,
};
pub use find::judged::{Advice, Asked, Donatable, Half, Kept, Reason, Replica, Why};
pub use find::suppose::Instead;
pub use log::logged::{
    BankConflict, Cycle, LogArray, LogKind, LogMove, Logged, PaddedArray, Pair, Remedy, Role, Saving, Way,
    Work,
};
pub use program::{Class, Limit, Message, Near, Need, Operation, Part};
pub use read::folder::Refused;
pub use read::select::{Selection, is_same_program};
pub use suggest::array::{Change, Rearranged};
pub use suggest::footprint::Footprint;
pub use suggest::target::{Device, Target, tiles_from_text};
pub use suggest::{KEPT, ORDER_LIMIT, Suggestions, suggest};
pub use unread::Unread;
