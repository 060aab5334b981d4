//! A nest as a network of lines: which bits of an index lie within a line, on either side, and how they get from the one
//! to the other.
//!
//! Kernels that know one unit loop on each side move few bytes a call where unit loops are short: in tiles of tiles, with
//! many small dimensions. The network takes several loops at a time. Cut in halves, quarters and so on, the loop that moves
//! one element, the loop that goes on where it ends, and so on, give the bits of a line's 64 places. Let S be those of a line
//! of the source, and D those of one of the destination:
//!
//! ```text
//! in both     they stay in a register, where they may change places
//! in D only   k of them: as so many bits of the number of a source line, of which 2^k are read
//! in S only   as many: of the number of a destination line, of which 2^k are written
//! ```
//!
//! Each of k stages brings one bit from the number of a line into the lines, and another out. So every line is read once and
//! written once and whole, whatever the layouts are, and powers of two in their pitches do little harm. For k = 5 and 6 there
//! are two passes, by way of 4 KiB in the nearest cache. A loop that runs backward on one side is a bit that is turned over.
//!
//! Loops whose extents do not divide:
//!
//! * A few turns too many are a nest of their own, for the kernels of unit loops.
//! * Where the loops that go on are different ones on both sides, any extents do: what lies in a row on one side is a list of
//!   places on the other, and *squares* of a line by a line are transposed; the last one overlaps the one before.
//!
//! Around that are *blocks*, in which the loops go on that make up the lines, in the destination (its rows) and in the source
//! (its columns), so that memory is read and written in long pieces; and while a block is moved, the next one is fetched. What
//! is written past the cache are whole lines: straight from the registers where the destination's lines are whole, and else
//! from a buffer, while the next block goes into another.
//!
//! The same with lines of 32 bytes and of 16, two calls in a register, serves shorter registers and layouts that have no more in a row:
//! the longer ones where a stage or none is enough, since their permutes take twice as long. Past the cache
//! such registers move squares of whole lines too, as rows that are put together in the nearest cache.

mod blocks;
mod chain;
mod network;
mod run;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use blocks::{Blocks, blocks, fetching, squares};
pub(crate) use run::run;
