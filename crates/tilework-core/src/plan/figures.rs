//! What a plan amounts to: elements, bytes, runs.

use super::Plan;
use super::kind::Kind;
use super::nest::Nest;
use crate::arithmetic::bytes;

/// What a plan amounts to, in numbers. Bytes are rounded up where elements are smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Elements that are moved.
    pub elements: u64,
    /// Bytes read from the source: an element that is broadcast counts each time.
    pub bytes_read: u128,
    /// Bytes written to the destination, padding included.
    pub bytes_written: u128,
    /// Nests of loops that move elements.
    pub nests: usize,
    /// Starts of all these nests.
    pub starts: u64,
    /// Places filled. If the fills come first, these are all places of the destination.
    pub filled: u64,
    /// Runs of elements that are neighbours on both sides, as the loops move them: what a transfer that knows nothing but
    /// contiguous pieces would have to send.
    pub runs: u64,
    /// The longest of these runs, in elements.
    pub longest_run: u64,
    /// Elements that are moved in the nests of the longest run.
    pub in_longest_runs: u64,
}

impl Plan {
    /// The kind of the nest that moves the most elements; none if nothing moves.
    pub fn main_kind(&self) -> Option<Kind> {
        self.copies.iter().rev().max_by_key(|nest| nest.elements()).map(Nest::kind)
    }

    /// What the plan amounts to.
    ///
    /// ```
    /// use tilework::{Layout, Plan, PlanOptions};
    /// let tiled = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// let options = PlanOptions { fill: Some(0), converts: false };
    /// let figures = Plan::new(&Layout::row_major(&[3, 5], 32)?, &tiled, &options)?.figures();
    /// assert_eq!((figures.elements, figures.bytes_read, figures.bytes_written), (15, 60, 96));
    /// assert_eq!((figures.nests, figures.filled), (4, 9));
    /// assert_eq!((figures.runs, figures.longest_run), (9, 2));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn figures(&self) -> Figures {
        let elements = |nests: &[Nest]| nests.iter().map(Nest::elements).sum::<u64>();
        let (moved, filled) = (elements(&self.copies), elements(&self.fills));
        let longest_run = self.copies.iter().map(Nest::run).max().unwrap_or(0);
        let longest = self.copies.iter().filter(|nest| nest.run() == longest_run);
        Figures {
            elements: moved,
            bytes_read: bytes(moved.into(), self.from.bits()),
            bytes_written: bytes(u128::from(moved) + u128::from(filled), self.to.bits()),
            nests: self.copies.len(),
            starts: self.copies.iter().map(|nest| nest.starts.len() as u64).sum(),
            filled,
            runs: self.copies.iter().map(|nest| nest.elements() / nest.run().max(1)).sum(),
            longest_run,
            in_longest_runs: longest.map(Nest::elements).sum(),
        }
    }
}
