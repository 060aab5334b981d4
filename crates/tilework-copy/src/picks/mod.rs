//! A block as a list of picks: for each 64 bytes of the destination, from where in the source each byte comes.
//!
//! Where the loops that make up lines have odd extents, run backward, leave gaps or are many and short, there is no map over
//! bits ([`crate::net`]), and no loop along which a kernel could run. But a block of a few KiB is small enough to be written
//! down: its destination is cut into *windows* of a line, and each window is put together from *picks*: a line's worth of the
//! source, at any address, and a permutation that brings the bytes that are wanted to their places. The list is made once, and
//! serves all places to which the loops around the block lead.
//!
//! ```text
//! window     a line of the destination, or what there is of one: bytes between its elements are not touched
//! pick       where 64 bytes of the source begin, and a pattern: which of them go where
//! pattern    for each byte of the window, the number of a byte, or that it comes from another pick; many picks share one
//! ```
//!
//! If windows draw from many lines each (in a transposed block it is one line for each element), there are two passes: the
//! first brings what a few windows want of some lines together, the second takes it apart.

mod block;
mod making;
mod run;
mod table;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use block::{Picks, picks};
pub(crate) use run::run;
