//! The nests of a plan, in bytes and ready to be looked at.

use smallvec::SmallVec;

/// One loop: how often, and what a turn moves on either side, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) extent: usize,
    pub(crate) from: isize,
    pub(crate) to: isize,
}

pub(crate) type Turns = SmallVec<[Turn; 8]>;

/// A nest in bytes.
///
/// Of a nest that comes from a plan: every place it names is within the layouts' bytes, and no two turns write the same
/// byte.
#[derive(Clone, Debug)]
pub(crate) struct ByteNest {
    /// Offsets of the first element in the source and the destination, one pair for each repetition.
    pub(crate) starts: SmallVec<[(isize, isize); 1]>,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub(crate) size: usize,
    /// From the largest step in the destination to the smallest.
    pub(crate) turns: Turns,
}

impl ByteNest {
    /// A nest over elements of whole bytes. Elements of other widths than a register's become runs of narrower ones.
    pub(crate) fn new(nest: &tilework::Nest, bytes: usize) -> ByteNest {
        let size = match bytes {
            1 | 2 | 4 | 8 | 16 => bytes,
            // The largest power of two that divides it.
            _ => (1 << bytes.trailing_zeros()).min(16),
        };
        let width = bytes as isize;
        let mut turns: Turns = nest
            .loops
            .iter()
            .map(|l| Turn {
                extent: l.extent as usize,
                from: l.from as isize * width,
                to: l.to as isize * width,
            })
            .collect();
        if size != bytes {
            turns.push(Turn { extent: bytes / size, from: size as isize, to: size as isize });
        }
        let starts = nest.starts.iter().map(|&(from, to)| (from as isize * width, to as isize * width));
        let mut nest = ByteNest { starts: starts.collect(), size, turns };
        nest.tidy();
        nest
    }

    /// Every loop walks the destination forward, none has a single turn, and neighbours that continue each other are
    /// one.
    pub(crate) fn tidy(&mut self) {
        let mut back = (0, 0);
        for turn in self.turns.iter_mut().filter(|turn| turn.to < 0) {
            let steps = turn.extent as isize - 1;
            back = (back.0 + steps * turn.from, back.1 + steps * turn.to);
            *turn = Turn { from: -turn.from, to: -turn.to, ..*turn };
        }
        for start in &mut self.starts {
            *start = (start.0 + back.0, start.1 + back.1);
        }
        self.turns.retain(|turn| turn.extent > 1);
        self.turns
            .sort_by_key(|turn| (std::cmp::Reverse(turn.to), std::cmp::Reverse(turn.from.unsigned_abs())));
        let mut k = 0;
        while k + 1 < self.turns.len() {
            let (outer, inner) = (self.turns[k], self.turns[k + 1]);
            // One step beyond the last turn may be beyond all places.
            let goes_on = |outer: isize, inner_step: isize| {
                inner_step.checked_mul(inner.extent as isize) == Some(outer)
            };
            if goes_on(outer.from, inner.from) && goes_on(outer.to, inner.to) {
                self.turns[k + 1].extent *= outer.extent;
                self.turns.remove(k);
                k = k.saturating_sub(1);
            } else {
                k += 1;
            }
        }
    }

    /// Takes the run out: how many bytes lie next to each other on both sides.
    pub(crate) fn take_run(&mut self) -> usize {
        let size = self.size as isize;
        match self.turns.iter().position(|turn| turn.from == size && turn.to == size) {
            Some(place) => self.turns.remove(place).extent * self.size,
            None => self.size,
        }
    }
}
