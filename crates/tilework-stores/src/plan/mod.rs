//! Plans: an array in pieces becomes the same array in other pieces.
//!
//! # Tasks
//!
//! A task writes a block of target pieces that stand side by side, and nobody else writes them. It reads each source piece that
//! has elements of the block once. It either makes one target piece after the other, and holds a source piece as long as a piece
//! of the block still needs it; or it goes from one source piece to the next, and holds the whole block ([`Hold`]). Larger blocks
//! read less and hold more. Tasks are computed from their number: a plan of 10^9 takes as much memory as one of two.
//!
//! # Passes
//!
//! Where blocks within the memory read too much, an intermediate array is written first, and the target is made of that one. Its
//! pieces are parts of what a block of source pieces and a block of target pieces share, as in Rechunker's algorithm. What is
//! better is decided by the time that the numbers of [`Assumed`] give.

mod choose;
mod price;

use serde::{Deserialize, Serialize};
use tilework::{Error, Result};

pub use price::{Assumed, Price};

use crate::grid::Grid;
use crate::region::Region;
use crate::shards::Shards;
use crate::store::Cost;

/// What a plan knows of a store: the grid and what its pieces take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How the array is cut.
    pub grid: Grid,
    /// What a piece of the largest size takes.
    pub cost: Cost,
    /// Whether the last pieces are as large as all others.
    pub hangs_over: bool,
    /// Bits of an element.
    pub bits: u32,
    /// The dimensions from the most minor to the most major in a piece, if its elements are side by side in some order.
    pub order: Option<Vec<usize>>,
}

impl End {
    /// What a plan knows of these shards, of a store whose pieces take `cost`.
    ///
    /// # Errors
    /// Sizes that no layout has.
    pub fn new(shards: &Shards, cost: Cost) -> Result<End> {
        let layout = shards.largest()?;
        let order = layout.to_strides().ok().map(|strided| {
            let mut order: Vec<usize> = (0..layout.rank()).collect();
            order.sort_by_key(|&dim| (strided.strides[dim].unsigned_abs(), std::cmp::Reverse(dim)));
            order
        });
        Ok(End {
            grid: shards.grid().clone(),
            cost,
            hangs_over: shards.hangs_over(),
            bits: layout.bits(),
            order: order.filter(|_| u128::from(layout.size()) == u128::from(layout.len())),
        })
    }
}

impl End {
    /// Bytes of all elements.
    pub(crate) fn elements_bytes(&self) -> u128 {
        let elements = self.grid.sizes().into_iter().map(u128::from).fold(1, u128::saturating_mul);
        elements.saturating_mul(self.bits.into()).div_ceil(8)
    }
}

/// Which side of a task is in memory, while it goes through the pieces of the other one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// The source pieces that a target piece of the block still needs. Target pieces may be larger than memory.
    #[default]
    Sources,
    /// All target pieces of the block. Of a mapped source, what they need is side by side.
    Targets,
}

/// One pass: every piece of an array, from the pieces of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// What is read.
    pub from: End,
    /// What is written.
    pub to: End,
    /// How many target pieces a task writes, along each dimension.
    pub block: Vec<u64>,
    /// What a task holds.
    #[serde(default)]
    pub hold: Hold,
}

/// What a task writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// All of its elements.
    pub region: Region,
    /// The number of the task.
    pub number: u64,
}

/// A plan: one pass, or two with an array between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The passes, in their order: the next begins when all tasks of the one before are done.
    pub passes: Vec<Pass>,
    /// Bytes of memory that a task may hold.
    pub memory: u64,
    /// What the price stands on.
    pub assumed: Assumed,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Bytes of memory that a task may hold.
    pub memory: u64,
    /// What the choice stands on.
    pub assumed: Assumed,
    /// What a store for an array between takes for each byte of a piece; none where there is no place for one.
    pub between: Option<Between>,
}

/// How an array between is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// Whether its pieces are mapped files, which hold no memory and of which parts are read.
    pub mapped: bool,
}

impl Pass {
    /// The blocks, as a grid: each of its pieces is a task.
    ///
    /// # Errors
    /// A block without pieces, or with another number of dimensions.
    pub fn tasks(&self) -> Result<Grid> {
        if self.block.len() != self.to.grid.cuts().len() || self.block.contains(&0) {
            return Err(Error::new(format!("blocks of {:?} pieces", self.block))
                .field("block")
                .accepts(format!("{} numbers of 1 or more", self.to.grid.cuts().len())));
        }
        self.to.grid.grouped(&self.block)
    }

    /// A task by its number.
    ///
    /// # Errors
    /// A number that no task has.
    pub fn task(&self, number: u64) -> Result<Task> {
        Ok(Task { region: self.tasks()?.region(number)?, number })
    }

    /// The target pieces that a task writes.
    pub fn pieces(&self, task: &Task) -> impl Iterator<Item = u64> + use<> {
        self.to.grid.touching(&task.region)
    }

    /// The last target piece of a task that needs a source piece.
    pub(crate) fn last_use(&self, task: &Task, source: &Region) -> Option<u64> {
        let shared = source.shared(&task.region)?;
        let last = shared.start.iter().zip(&shared.size).map(|(start, size)| start + size - 1).collect();
        self.to.grid.touching(&Region { start: last, size: vec![1; shared.size.len()] }).next()
    }

    /// Bytes of memory that a task holds at most: a target piece and the source pieces that it still needs, or the target pieces
    /// of its block and a source piece.
    pub fn memory(&self) -> Result<u128> {
        let (from, to) = (&self.from.cost, &self.to.cost);
        let pieces =
            |counts: &mut dyn Iterator<Item = u64>| counts.map(u128::from).fold(1, u128::saturating_mul);
        let (sources, targets) = match self.hold {
            Hold::Sources if self.block.iter().all(|&pieces| pieces == 1) => (1, 0),
            Hold::Sources => {
                let tasks = self.tasks()?;
                let dims = self.from.grid.cuts().iter().zip(tasks.cuts());
                (pieces(&mut dims.map(|(source, task)| source.most_touched(task))), 0)
            }
            // One of them is encoded at a time.
            Hold::Targets => {
                let dims = self.block.iter().zip(self.to.grid.cuts());
                (1, pieces(&mut dims.map(|(&block, cut)| block.min(cut.count()))).saturating_sub(1))
            }
        };
        let one = match self.hold {
            Hold::Sources => to.memory,
            // Also of pieces that could be mapped.
            Hold::Targets => to.memory.max(to.bytes),
        };
        let held = targets.saturating_mul(to.bytes.into());
        Ok(held.saturating_add(one.into()).saturating_add(sources.saturating_mul(from.memory.into())))
    }
}

impl Plan {
    /// The plan from one array in pieces to another.
    ///
    /// # Errors
    /// Arrays of other sizes; and pieces that no task can hold within the memory.
    pub fn new(from: &End, to: &End, wanted: &Wanted) -> Result<Plan> {
        let (a, b) = (from.grid.sizes(), to.grid.sizes());
        if a != b {
            return Err(Error::new(format!("an array of {b:?} from one of {a:?}"))
                .field("sizes")
                .rule("the elements stay the same, so both arrays have the same sizes"));
        }
        choose::plan(from, to, wanted)
    }

    /// What the plan costs.
    ///
    /// # Errors
    /// None that [`Plan::new`] had not.
    pub fn price(&self) -> Result<Price> {
        let mut total = Price::default();
        for pass in &self.passes {
            total.add(&price::of(pass, &self.assumed)?);
        }
        Ok(total)
    }

    /// What one of its passes costs.
    ///
    /// # Errors
    /// None that [`Plan::new`] had not.
    pub fn price_of(&self, pass: &Pass) -> Result<Price> {
        price::of(pass, &self.assumed)
    }
}

#[cfg(test)]
mod tests {
    use tilework::{Element, Layout};

    use super::*;
    use crate::shards::Form;

    fn end(pieces: [u64; 2], cost: Cost) -> Result<End> {
        let layout = Layout::row_major(&pieces, 8)?;
        End::new(&Shards::new(Element::U8, Grid::regular(&[8, 8], &pieces)?, Form::whole(layout))?, cost)
    }

    #[test]
    fn an_order_is_said_of_elements_that_are_side_by_side() -> Result<()> {
        let order = |layout: Layout| -> Result<Option<Vec<usize>>> {
            let grid = Grid::regular(&[4, 6, 8], layout.dims())?;
            Ok(End::new(
                &Shards::new(Element::U8, grid, Form::whole(layout))?,
                Cost { memory: 0, bytes: 0, requests: 1, partial: false, coding: 0 },
            )?
            .order)
        };
        let built = |order: &[usize]| Layout::builder(&[2, 3, 4], 8)?.minor_to_major(order)?.build();
        assert_eq!(order(Layout::row_major(&[2, 3, 4], 8)?)?, Some(vec![2, 1, 0]));
        assert_eq!(order(built(&[0, 1, 2])?)?, Some(vec![0, 1, 2]));
        assert_eq!(order(built(&[1, 0, 2])?)?, Some(vec![1, 0, 2]));
        let tiled = Layout::builder(&[2, 3, 4], 8)?.tile(&[Some(2), Some(2)])?.build()?;
        let padded = Layout::strided(&[2, 3, 4], 8, &[16, 5, 1], None, None)?;
        assert_eq!((order(tiled)?, order(padded)?), (None, None));
        Ok(())
    }

    #[test]
    fn memory_is_that_of_what_a_task_holds() -> Result<()> {
        let cost = |memory| Cost { memory, bytes: 16, requests: 1, partial: false, coding: 0 };
        let pass = |to, block: &[u64], hold| -> Result<Pass> {
            let (from, to) = (end([2, 8], cost(100))?, end([8, 2], cost(to))?);
            Ok(Pass { from, to, block: block.to_vec(), hold })
        };
        for (to, block, hold, memory) in [
            // A target piece and a source piece at a time.
            (7, [1, 1], Hold::Sources, 7 + 100),
            // A source piece is kept for the next target piece.
            (7, [1, 2], Hold::Sources, 7 + 4 * 100),
            // One that is being written takes what its bytes take, and the others too.
            (7, [1, 2], Hold::Targets, 16 + 16 + 100),
            (20, [1, 2], Hold::Targets, 16 + 20 + 100),
            (7, [1, 1], Hold::Targets, 16 + 100),
            // There are no more than four.
            (7, [5, 9], Hold::Targets, 3 * 16 + 16 + 100),
        ] {
            assert_eq!(pass(to, &block, hold)?.memory()?, memory, "{block:?} {hold:?}");
        }
        for block in [&[1, 0][..], &[1], &[], &[1, 1, 1]] {
            assert!(pass(7, block, Hold::Sources)?.tasks().is_err(), "{block:?}");
        }
        Ok(())
    }
}
