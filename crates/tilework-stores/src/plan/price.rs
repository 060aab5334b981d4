//! What a pass costs, without looking at its tasks.
//!
//! Grids cut each dimension for itself, so whatever is counted over pairs of a task and a source piece is a product over the
//! dimensions: how many pairs there are, and how many elements are read.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tilework::Result;

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

/// Whether files below a path are kept in memory.
#[cfg(target_os = "linux")]
fn is_in_memory(path: &Path) -> bool {
    const OF_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6]; // tmpfs, ramfs
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    // The type of the field differs between machines; the numbers do not.
    rustix::fs::statfs(there).is_ok_and(|disk| OF_MEMORY.contains(&(disk.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &Path) -> bool {
    false
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
