//! The rows of a block on one side, and where they are in a buffer.

use tilework_core::{InOrder, Loop};

use crate::kernels::vector::LINE;
use crate::subbyte::{BEFORE, BEHIND};

/// Bytes of a buffer at most.
pub(super) const ROOM: usize = 128 << 10;

/// And where rows have no buffer: so that there are not too many of them.
const MOST: usize = 1 << 20;

/// Bytes before the first row of a buffer, and behind the last.
pub(super) const FRONT: usize = LINE;
const BACK: usize = 2 * LINE;

const _: () = assert!(BEFORE <= FRONT && BEHIND <= BACK);

/// What a row costs beside its bytes, in lines that are touched.
const ROW: f64 = 4.0;

/// The rows of a block on one side.
#[derive(Debug)]
pub(super) struct Rows {
    /// Where each begins, or each group of rows that is exchanged: in cells from the block's place, and in bytes of the buffer.
    pub(super) at: Vec<(i64, usize)>,
    /// Cells of a row, which are its bytes in the buffer.
    pub(super) length: usize,
    /// Rows of a group, and from one to the next on either side.
    pub(super) group: usize,
    pub(super) apart: (i64, usize),
    /// Bytes of the buffer.
    pub(super) bytes: usize,
}

/// Which loops are what on one side.
pub(super) struct Order<'a> {
    /// The loops within a row.
    pub(super) within: &'a [usize],
    /// All loops in the order in which rows follow each other in the buffer.
    pub(super) across: &'a [usize],
    /// The loop over the rows of a group.
    pub(super) group: Option<usize>,
    /// Whether rows are put into a buffer, which must not be too large then.
    pub(super) buffered: bool,
}

impl Rows {
    /// The rows of some loops on one side; and in the buffer the first cell and the step of each loop.
    pub(super) fn new(
        loops: &[Loop],
        order: &Order,
        side: fn(&Loop) -> i64,
    ) -> Option<(Rows, u64, Vec<i64>)> {
        let reach = |k: &usize| (loops[*k].extent as i64 - 1) * side(&loops[*k]);
        let length = 1 + order.within.iter().map(|k| reach(k).unsigned_abs() as usize).sum::<usize>();
        let low: i64 = order.within.iter().map(|k| reach(k).min(0)).sum();
        // What precedes the first element in its byte is between two rows.
        let pitch = pitch(length + BEFORE);
        let mut steps: Vec<i64> = loops.iter().map(side).collect();
        let (mut at, mut count) = (vec![(low, FRONT)], 1);
        for &k in order.across.iter().filter(|k| !order.within.contains(k) && side(&loops[**k]) != 0) {
            let step = count * pitch;
            steps[k] = step as i64;
            count = count.saturating_mul(loops[k].extent as usize);
            if count.saturating_mul(pitch) > if order.buffered { ROOM } else { MOST } {
                return None;
            }
            if order.group != Some(k) {
                let turn = |turn: u64| (turn as i64 * side(&loops[k]), turn as usize * step);
                let turns = (0..loops[k].extent).map(turn);
                // In the order of the buffer: what is written behind a row is the beginning of one that is yet to come.
                let moved = |by: (i64, usize)| at.iter().map(move |at| (at.0 + by.0, at.1 + by.1));
                at = turns.flat_map(moved).collect();
            }
        }
        let (group, apart) = match order.group {
            Some(k) => (loops[k].extent as usize, (side(&loops[k]), steps[k] as usize)),
            None => (1, (0, 0)),
        };
        let bytes = if order.buffered { FRONT + count * pitch + BACK } else { 0 };
        (bytes <= ROOM).then_some((
            Rows { at, length, group, apart, bytes },
            FRONT as u64 + low.unsigned_abs(),
            steps,
        ))
    }

    /// What it costs to make all rows from those of the buffer or the other way round, in lines that are touched.
    pub(super) fn cost(&self) -> f64 {
        self.at.len() as f64 * (ROW + 1.5 * (self.group * self.length / LINE) as f64)
    }

    /// All rows as bytes from the block's place, where a byte holds `in_byte` cells.
    pub(super) fn spans(&self, in_byte: usize) -> impl Iterator<Item = (isize, usize)> {
        let rows = self
            .at
            .iter()
            .flat_map(move |&(at, _)| (0..self.group).map(move |k| at + k as i64 * self.apart.0));
        rows.map(move |at| {
            let (first, end) = (at.div_euclid(in_byte as i64), at + self.length as i64 - 1);
            (first as isize, (end.div_euclid(in_byte as i64) - first) as usize + 1)
        })
    }

    /// Lines of all rows where a byte holds so many cells.
    pub(super) fn lines(&self, in_byte: usize) -> usize {
        self.at.len() * self.group * (1 + self.length / (LINE * in_byte))
    }
}

/// Bytes from one row to the next where a row has so many: an odd number of lines, so that rows do not meet in one set of the cache; short
/// rows share lines.
pub(super) fn pitch(bytes: usize) -> usize {
    if bytes < LINE { bytes.next_multiple_of(16) } else { (bytes.div_ceil(LINE) | 1) * LINE }
}

/// All loops, from the smallest step on one side to the largest.
pub(super) fn by(loops: &[Loop], side: fn(&Loop) -> i64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..loops.len()).collect();
    order.order_by_key(|&k| side(&loops[k]).unsigned_abs());
    order
}
