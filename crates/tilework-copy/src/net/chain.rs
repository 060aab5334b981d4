//! Loops that go on where another ends: what lies in a row on one side, and where it is on the other.

use super::network::{Side, forward};
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn, Turns};

/// Loops that go on where the one before ends, on a side; while they are collected.
#[derive(Debug)]
pub(super) struct Growing<'a> {
    side: Side,
    turns: Turns,
    /// Bytes that lie in a row.
    pub(super) bytes: usize,
    /// Steps of lines that a network has by itself, and that may be next to each other as well.
    own: &'a [isize],
}

impl<'a> Growing<'a> {
    /// Begins with `bytes` bytes.
    pub(super) fn new(side: Side, bytes: usize, own: &'a [isize]) -> Growing<'a> {
        Growing { side, turns: Turns::new(), bytes, own }
    }

    /// Whether it is for squares, which have no lines of their own.
    pub(super) fn is_square(&self) -> bool {
        self.own.is_empty()
    }

    /// Takes loops out of a nest until `wanted` bytes lie in a row, or no loop goes on.
    pub(super) fn grow(&mut self, nest: &mut ByteNest, wanted: usize) {
        while self.bytes < wanted {
            if self.own.contains(&(self.bytes as isize)) {
                self.bytes *= 2;
                continue;
            }
            let goes_on = |turn: &Turn| self.side.step(turn).unsigned_abs() == self.bytes;
            let Some(place) = nest.turns.iter().position(goes_on) else { return };
            forward(nest, place, self.side);
            let turn = nest.turns.remove(place);
            self.bytes = self.bytes.saturating_mul(turn.extent);
            self.turns.push(turn);
        }
    }

    /// Pieces of about `wanted` bytes, the last of them of no fewer than `least`. Of the loops, the last is cut.
    pub(super) fn cut(mut self, wanted: usize, least: usize) -> (Chain, Turn, usize) {
        let mut last = Turn { extent: 1, from: 0, to: 0 };
        let (mut bytes, mut piece) = (self.bytes, 1);
        // Lines of the network may go on behind the last loop; then it is taken whole.
        if let Some(turn) = self.turns.pop() {
            let step = self.side.step(&turn).unsigned_abs();
            let pieces = step.saturating_mul(turn.extent).div_ceil(wanted).min(turn.extent);
            piece = turn.extent.div_ceil(pieces);
            // Whole lines, if a piece is one or more: what is left over costs as much as a line.
            let lines = LINE >> step.trailing_zeros().min(LINE.trailing_zeros());
            let more = if lines <= 2 * piece { lines } else { 1 };
            piece = piece.next_multiple_of(more).min(turn.extent);
            while ((turn.extent - 1) % piece + 1) * step < least && piece < turn.extent {
                piece = (piece + more).min(turn.extent);
            }
            if step.saturating_mul(turn.extent) < self.bytes || piece == turn.extent {
                self.turns.push(turn);
                piece = 1;
            } else {
                (last, bytes) = (turn, step);
            }
        }
        let (mut from, mut to) = (vec![0], vec![0]);
        for turn in &self.turns {
            for k in 0..(turn.extent - 1) * from.len() {
                from.push(from[k] + turn.from);
                to.push(to[k] + turn.to);
            }
        }
        let each = from.len();
        for k in 0..(piece - 1) * each {
            from.push(from[k] + last.from);
            to.push(to[k] + last.to);
        }
        (Chain { from, to, each, bytes }, last, piece)
    }
}

/// Places that lie in a row on one side.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) from: Vec<isize>,
    pub(crate) to: Vec<isize>,
    /// How many of them come with each of a unit's rows or columns, and how many bytes in a row.
    pub(crate) each: usize,
    pub(crate) bytes: usize,
}
