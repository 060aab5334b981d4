//! What a pass costs, without looking at its tasks.
//!
//! Grids cut each dimension for itself, so whatever is counted over pairs of a task and a source piece is a product over the
//! dimensions: how many pairs there are, and how many elements are read.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tilework::Result;
use tilework_files::is_in_memory;

use super::{Hold, Pass};

/// Numbers that a price stands on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assumed {
    /// How many tasks run at a time, on all machines together.
    pub workers: u64,
    /// Bytes that one of them reads in a second.
    pub read: f64,
    /// Bytes that one of them writes in a second.
    pub write: f64,
    /// Seconds that a request waits.
    pub wait: f64,
    /// Requests that one of them has under way at a time.
    pub under_way: f64,
    /// Bytes that are read at least, wherever a part of a piece begins.
    pub least: u64,
}

impl Assumed {
    /// Files on a disk of this machine.
    pub fn disk(workers: u64) -> Assumed {
        Assumed { workers: workers.max(1), read: 1e9, write: 0.5e9, wait: 50e-6, under_way: 1.0, least: 4096 }
    }

    /// Files of this machine: on a disk, or in memory as those in `/dev/shm`. A target that is not there yet is where its folder is.
    pub fn files(workers: u64, from: &Path, to: &Path) -> Assumed {
        let (disk, memory) = (Assumed::disk(workers), Assumed::memory(workers));
        let of = |path| if is_in_memory(path) { memory } else { disk };
        let (of_from, of_to) = (of(from), of(to));
        Assumed { write: of_to.write, wait: of_from.wait.max(of_to.wait), ..of_from }
    }

    /// Files in memory.
    fn memory(workers: u64) -> Assumed {
        Assumed { read: 3e9, write: 1e9, wait: 20e-6, ..Assumed::disk(workers) }
    }

    /// Objects in a store that is reached over a network.
    pub fn objects(workers: u64) -> Assumed {
        Assumed { workers: workers.max(1), read: 200e6, write: 100e6, wait: 30e-3, under_way: 8.0, least: 1 }
    }
}

/// What a pass or a plan costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// How many tasks there are.
    pub tasks: u128,
    /// Bytes that are read from stores, as they are stored.
    pub read: u128,
    /// Bytes that are written.
    pub written: u128,
    /// Requests that read.
    pub gets: u128,
    /// Requests that write.
    pub puts: u128,
    /// Bytes of memory that a task holds at most.
    pub memory: u128,
    /// Seconds, by the numbers of [`Assumed`].
    pub seconds: f64,
}

impl Price {
    /// Adds a pass that comes behind the others.
    pub(super) fn add(&mut self, next: &Price) {
        self.tasks += next.tasks;
        self.read = self.read.saturating_add(next.read);
        self.written = self.written.saturating_add(next.written);
        self.gets = self.gets.saturating_add(next.gets);
        self.puts += next.puts;
        self.memory = self.memory.max(next.memory);
        self.seconds += next.seconds;
    }
}

/// What a pass costs.
pub(super) fn of(pass: &Pass, assumed: &Assumed) -> Result<Price> {
    let tasks = pass.tasks()?;
    let (from, to) = (&pass.from, &pass.to);
    let product = |counts: &mut dyn Iterator<Item = u128>| counts.fold(1, u128::saturating_mul);
    let pairs =
        product(&mut from.grid.cuts().iter().zip(tasks.cuts()).map(|(source, task)| source.pairs(task)));
    let elements: u128 = product(&mut from.grid.sizes().into_iter().map(u128::from));
    // Of the largest source piece, and of all that are read.
    let (whole, all): (u128, u128) = match from.hangs_over {
        true => (1, pairs),
        false => (
            product(&mut from.grid.cuts().iter().map(|cut| cut.largest().into())),
            product(
                &mut from
                    .grid
                    .cuts()
                    .iter()
                    .zip(tasks.cuts())
                    .map(|(source, task)| source.shared_elements(task)),
            ),
        ),
    };
    let read = match from.cost.partial {
        true => (from.elements_bytes() as f64 * waste(pass, assumed.least)) as u128,
        false => scaled(from.cost.bytes, all, whole),
    };
    let decoding = scaled(from.cost.coding, all, whole);
    let (whole, all) = match to.hangs_over {
        true => (1, u128::from(to.grid.count())),
        false => (product(&mut to.grid.cuts().iter().map(|cut| cut.largest().into())), elements),
    };
    let written = scaled(to.cost.bytes, all, whole);
    let coding = decoding.saturating_add(scaled(to.cost.coding, all, whole)) as f64 * 1e-9;
    let gets = pairs.saturating_mul(from.cost.requests.into());
    let puts = u128::from(to.grid.count()) * u128::from(to.cost.requests);
    let waits = (gets.saturating_add(puts)) as f64 * assumed.wait / assumed.under_way.max(1.0);
    let work = read as f64 / assumed.read + written as f64 / assumed.write + coding + waits;
    // As many tasks at a time as there are workers, and the last ones as long as any.
    let count = tasks.count().max(1);
    let rounds = count.div_ceil(assumed.workers.max(1));
    Ok(Price {
        tasks: tasks.count().into(),
        read,
        written,
        gets,
        puts,
        memory: pass.memory()?,
        seconds: work / count as f64 * rounds as f64,
    })
}

/// `bytes · all / whole`, rounded up.
fn scaled(bytes: u64, all: u128, whole: u128) -> u128 {
    let bytes = u128::from(bytes);
    match bytes.checked_mul(all) {
        Some(product) => product.div_ceil(whole.max(1)),
        None => (bytes as f64 * (all as f64 / whole.max(1) as f64)) as u128,
    }
}

/// How many times the bytes are read that are wanted, where parts of mapped pieces are shorter than what is read at least. Pieces
/// that are not held are gone through anew for each target piece.
fn waste(pass: &Pass, least: u64) -> f64 {
    let Some(order) = &pass.from.order else { return 1.0 };
    let bits = f64::from(pass.from.bits);
    let mut run = 1.0;
    for &dim in order {
        let source = &pass.from.grid.cuts()[dim];
        let together = if pass.hold == Hold::Targets { pass.block[dim] } else { 1 };
        let target = pass.to.grid.cuts()[dim].grouped(together);
        let shared = source.largest().min(target.largest());
        run *= shared as f64;
        if shared < source.largest() {
            break;
        }
    }
    (least as f64 * 8.0 / (run * bits).max(1.0)).clamp(1.0, least as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::plan::End;
    use crate::store::Cost;

    fn end(sizes: [u64; 2], pieces: [u64; 2], cost: Cost, hangs_over: bool) -> Result<End> {
        let order = Some(vec![1, 0]);
        Ok(End { grid: Grid::regular(&sizes, &pieces)?, cost, hangs_over, bits: 8, order })
    }

    /// 8 x 8 bytes in pairs of rows become pairs of columns.
    fn pass(block: u64) -> Result<Pass> {
        let cost = Cost { memory: 16, bytes: 16, requests: 1, partial: false, coding: 0 };
        let from = end([8, 8], [2, 8], cost, true)?;
        let to = end([8, 8], [8, 2], Cost { requests: 2, ..cost }, true)?;
        Ok(Pass { from, to, block: vec![1, block], hold: Hold::Sources })
    }

    const ASSUMED: Assumed =
        Assumed { workers: 3, read: 1000.0, write: 500.0, wait: 0.5, under_way: 4.0, least: 16 };

    #[test]
    fn a_price_is_what_one_counts_by_hand() -> Result<()> {
        // Two tasks read all four pieces each, and both run at a time.
        let two = of(&pass(2)?, &ASSUMED)?;
        assert_eq!((two.tasks, two.read, two.written, two.gets, two.puts), (2, 128, 64, 8, 8));
        assert_eq!(two.memory, 16 + 4 * 16);
        let near =
            |seconds: f64, wanted: f64| assert!((seconds - wanted).abs() < 1e-9, "{seconds}, not {wanted}");
        near(two.seconds, (0.128 + 0.128 + 16.0 * 0.5 / 4.0) / 2.0);
        let one = of(&pass(4)?, &ASSUMED)?;
        assert_eq!((one.tasks, one.read, one.gets), (1, 64, 4));
        near(one.seconds, 0.064 + 0.128 + 12.0 * 0.5 / 4.0);
        // Four tasks on three workers take as long as six.
        near(of(&pass(1)?, &ASSUMED)?.seconds, (0.256 + 0.128 + 24.0 * 0.5 / 4.0) / 4.0 * 2.0);
        near(of(&pass(2)?, &Assumed { workers: 1, ..ASSUMED })?.seconds, two.seconds * 2.0);
        // Less than one request at a time is one.
        near(of(&pass(2)?, &Assumed { under_way: 0.5, ..ASSUMED })?.seconds, (0.256 + 16.0 * 0.5) / 2.0);
        let mut both = one;
        both.add(&two);
        assert_eq!((both.tasks, both.read, both.written, both.gets, both.puts), (3, 192, 128, 12, 16));
        assert_eq!(both.memory, 80);
        both.add(&Price { memory: 79, ..Price::default() });
        assert_eq!(both.memory, 80);
        near(both.seconds, one.seconds + two.seconds);
        Ok(())
    }

    #[test]
    fn parts_of_mapped_pieces_cost_at_least_a_page_each() -> Result<()> {
        let cost = Cost { memory: 0, bytes: 16, requests: 1, partial: true, coding: 0 };
        let read =
            |pass: &Pass, least| Ok::<_, tilework::Error>(of(pass, &Assumed { least, ..ASSUMED })?.read);
        let columns = Pass { from: end([8, 8], [2, 8], cost, true)?, ..pass(2)? };
        // 2 of 16 bytes are wanted at a time, or 4 where both target pieces are held.
        assert_eq!(read(&columns, 16)?, 64 * 8);
        assert_eq!(read(&Pass { hold: Hold::Targets, ..columns.clone() }, 16)?, 64 * 4);
        assert_eq!(read(&columns, 1)?, 64);
        // Whole rows: two are side by side, and no more, as the piece ends there.
        let rows = Pass { to: end([8, 8], [4, 8], cost, true)?, block: vec![1, 1], ..columns.clone() };
        assert_eq!([read(&rows, 16)?, read(&rows, 64)?], [64, 64 * 4]);
        let unordered = |from: &End| End { order: None, ..from.clone() };
        assert_eq!(read(&Pass { from: unordered(&columns.from), ..columns.clone() }, 16)?, 64);
        // 9 elements of half a byte.
        let small = |pieces| Ok::<_, tilework::Error>(End { bits: 4, ..end([3, 3], pieces, cost, true)? });
        let odd = Pass { from: unordered(&small([3, 3])?), to: small([3, 1])?, ..columns };
        assert_eq!(read(&odd, 16)?, 5);
        Ok(())
    }

    #[test]
    fn prices_round_up_and_do_not_wrap() {
        assert_eq!((scaled(10, 7, 3), scaled(2, 3, 0)), (24, 6));
        assert_eq!(scaled(1 << 63, 1 << 100, 1 << 90), 1 << 73);
        assert_eq!(scaled(1 << 63, 1 << 66, 0), u128::MAX);
    }

    #[test]
    fn there_is_a_worker() {
        let disk = [0, 1, 5].map(|workers| Assumed::disk(workers).workers);
        let objects = [0, 1, 5].map(|workers| Assumed::objects(workers).workers);
        assert_eq!([disk, objects], [[1, 1, 5]; 2]);
        assert_eq!([Assumed::disk(1).least, Assumed::objects(1).least], [4096, 1]);
    }
}
