//! Running the tasks of a pass, on threads of this process.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tilework::{Error, ErrorKind, Layout, Result};
use tilework_copy::{Inline, Pool, Threads};
use tilework_files::available_memory;

use crate::gather::{Gather, fill};
use crate::plan::{Hold, Pass, Task};
use crate::region::Region;
use crate::shards::Shards;
use crate::store::{Held, Read, Space, Write, room};
use crate::transfer::Transfers;

/// A pass with its stores.
pub struct Run<'a> {
    /// What is done.
    pub pass: &'a Pass,
    /// What is read.
    pub from: &'a dyn Read,
    /// What is written.
    pub to: &'a dyn Write,
    /// Whether pieces that are there and are what an earlier run wrote are left alone.
    pub resume: bool,
    /// How many bytes of mapped files are in memory before they are given back.
    pub window: u64,
    /// How many are; 0 at first.
    pub touched: AtomicU64,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Pieces that were written.
    pub written: u64,
    /// Pieces that an earlier run had written.
    pub kept: u64,
}

/// How much memory a run holds, on how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many threads work.
    pub threads: usize,
    /// Bytes of memory that a task may hold.
    pub memory: u64,
    /// Bytes of mapped files that are in memory before they are given back.
    pub window: u64,
}

/// What a process holds besides the pieces.
const BASE: u64 = 16 << 20;

impl Bounds {
    /// The least memory that a run is held to.
    pub const LEAST: u64 = 2 * BASE;

    /// Tasks on `threads` threads that hold up to `memory` bytes together; half of what is available where nobody says how much.
    ///
    /// # Errors
    /// Less than [`Bounds::LEAST`].
    pub fn new(memory: Option<u64>, threads: usize) -> Result<Bounds> {
        let memory = memory.or_else(|| Some(available_memory()? / 2)).unwrap_or(1 << 30);
        if memory < Bounds::LEAST {
            return Err(Error::new(format!("{memory} bytes of memory"))
                .of_kind(ErrorKind::Limit)
                .rule(format!("the program itself holds about {BASE} bytes"))
                .accepts(format!("{} bytes or more, such as 32MiB", Bounds::LEAST)));
        }
        let each = (memory - BASE) / threads.max(1) as u64;
        // Of what a thread has, five eighths are for pieces, and a quarter for what is mapped on both sides.
        Ok(Bounds { threads, memory: each / 8 * 5, window: (each / 8).clamp(64 << 10, 64 << 20) })
    }

    /// The bytes that all threads together may hold, and what of that is kept for files that are written.
    pub(crate) fn for_chunks(&self) -> u64 {
        let all = (self.memory / 5).saturating_mul(8).saturating_mul(self.threads.max(1) as u64);
        all - all / 8
    }

    /// The memory in which as many bytes are [for chunks](Bounds::for_chunks).
    pub(crate) fn enough(bytes: u64) -> u64 {
        (bytes / 7 + 1).saturating_mul(8).saturating_add(BASE)
    }
}

/// The numbers of the tasks of one of `parts` parts of a pass.
///
/// ```
/// use tilework_stores::run::share;
/// assert_eq!([share(10, 0, 3), share(10, 1, 3), share(10, 2, 3)], [0..3, 3..6, 6..10]);
/// ```
pub fn share(tasks: u64, part: u64, parts: u64) -> Range<u64> {
    let parts = u128::from(parts.max(1));
    let at = |part: u64| (u128::from(tasks) * u128::from(part) / parts).min(tasks.into()) as u64;
    at(part)..at(part.saturating_add(1))
}

impl Run<'_> {
    /// Whether the pass is one of these arrays: a plan is data, which somebody may have changed.
    fn is_of_these(&self) -> Result<()> {
        let Pass { from, to, .. } = self.pass;
        let stores = [(self.from.shards(), from, "read"), (self.to.shards(), to, "written")];
        // Of what is read, a pass may have more: what is padded.
        let read = self.from.shards().grid().grown(&from.grid.sizes());
        let fits = [read.is_ok_and(|grid| grid == from.grid), self.to.shards().grid() == &to.grid];
        if let Some(((shards, end, verb), _)) = stores.into_iter().zip(fits).find(|(_, fits)| !fits) {
            return Err(Error::new(format!(
                "a pass of an array of {:?} in {} pieces, where one of {:?} in {} is {verb}",
                end.grid.sizes(),
                end.grid.count(),
                shards.grid().sizes(),
                shards.grid().count()
            ))
            .of_kind(ErrorKind::Mismatch)
            .rule("a plan is run for the arrays that it was made for")
            .accepts("a plan of these"));
        }
        if from.grid.sizes() != to.grid.sizes() {
            return Err(Error::new(format!("a pass from {:?} to {:?}", from.grid.sizes(), to.grid.sizes()))
                .of_kind(ErrorKind::Mismatch)
                .rule("the elements stay the same, so both arrays have the same sizes"));
        }
        Ok(())
    }

    /// Runs these tasks on `threads` threads, and calls `progress` with the elements done so far.
    ///
    /// # Errors
    /// A pass of other arrays than these, and the first that a store or a task has; tasks that are not begun then are not.
    pub fn tasks(&self, tasks: Range<u64>, threads: usize, progress: &(dyn Fn(u128) + Sync)) -> Result<Done> {
        self.is_of_these()?;
        let transfers = Transfers::new(self.from.shards().element(), self.to.shards().element())?;
        let count = tasks.end.saturating_sub(tasks.start);
        // With fewer tasks than threads the others help within a task.
        let at_a_time = usize::try_from(count).unwrap_or(usize::MAX).min(threads).max(1);
        let within: &dyn Pool = &Threads::new(threads / at_a_time);
        let (next, stop) = (AtomicU64::new(tasks.start), AtomicBool::new(false));
        let all = Mutex::new((Done::default(), 0_u128, None));
        Threads::new(at_a_time).run(at_a_time, &|_| {
            while !stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= tasks.end {
                    return;
                }
                let pool = if threads > at_a_time { within } else { &Inline };
                let outcome =
                    self.pass.task(number).and_then(|task| Ok((self.task(&task, &transfers, pool)?, task)));
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Ok((done, task)) => {
                        all.0.written += done.written;
                        all.0.kept += done.kept;
                        all.1 += task.region.len();
                        progress(all.1);
                    }
                    Err(error) => {
                        all.2.get_or_insert(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        });
        match all.into_inner().unwrap_or_else(PoisonError::into_inner) {
            (done, _, None) => Ok(done),
            (_, _, Some(error)) => Err(error),
        }
    }

    /// Runs one task. Done twice, it writes the same.
    ///
    /// # Errors
    /// Those of the stores, and a source that is not what it says.
    pub fn task(&self, task: &Task, transfers: &Transfers, pool: &dyn Pool) -> Result<Done> {
        let (mut done, mut wanted) = (Done::default(), Vec::new());
        for piece in self.pass.pieces(task) {
            match self.resume && self.to.has(piece)? {
                true => done.kept += 1,
                false => wanted.push(piece),
            }
        }
        done.written = wanted.len() as u64;
        let gather = Gather { from: self.from, transfers, pool, window: self.window, touched: &self.touched };
        match self.pass.hold {
            Hold::Sources => self.hold_sources(task, &wanted, &gather)?,
            // What is mapped is given back band by band.
            Hold::Targets => self.hold_targets(&wanted, &Gather { window: u64::MAX, ..gather })?,
        }
        Ok(done)
    }

    /// Makes one target piece after the other.
    fn hold_sources(&self, task: &Task, wanted: &[u64], gather: &Gather) -> Result<()> {
        let to = self.to.shards();
        // Source pieces that another piece of the block needs.
        let mut kept: HashMap<u64, Held> = HashMap::new();
        for &piece in wanted {
            // A source piece goes when no later piece of the block needs it.
            let is_needed =
                |source: &Region| self.pass.last_use(task, source).is_some_and(|last| last > piece);
            self.to.put_space(piece, &mut |space| {
                let region = to.grid().region(piece)?;
                let layout = to.layout_of(&region)?;
                padded((self.from.shards(), to), &region, &layout, space)?;
                gather.run((&region, &layout), space, &mut kept, &is_needed)
            })?;
        }
        Ok(())
    }

    /// Makes all target pieces at a time, from one source piece after the other.
    fn hold_targets(&self, wanted: &[u64], gather: &Gather) -> Result<()> {
        let (from, to) = (self.from.shards(), self.to.shards());
        let mut made = Vec::new();
        let mut sources = BTreeSet::new();
        for &piece in wanted {
            let region = to.grid().region(piece)?;
            let layout = to.layout_of(&region)?;
            let mut bytes = room(layout.bytes())?;
            padded((from, to), &region, &layout, &mut &mut bytes[..])?;
            sources.extend(from.grid().touching(&region));
            made.push((piece, region, layout, bytes));
        }
        for source in sources {
            let (held, whole) = (self.from.get(source)?, from.grid().region(source)?);
            let layout = from.layout_of(&whole)?;
            let most = if held.is_mapped() { self.window } else { u64::MAX };
            bands(&whole, &layout, most, &mut |band| {
                for (_, region, layout, bytes) in &mut made {
                    let Some(shared) = band.shared(region) else { continue };
                    gather.part((&whole, &held), &shared, (region, layout), &mut &mut bytes[..])?;
                }
                held.forget();
                Ok(())
            })?;
        }
        made.into_iter().try_for_each(|(piece, _, _, bytes)| self.to.put_made(piece, bytes))
    }
}

/// Cuts the region of a piece in bands of up to this number of bytes, as they lie one behind the other in the piece.
fn bands(
    region: &Region,
    layout: &Layout,
    most: u64,
    take: &mut dyn FnMut(&Region) -> Result<()>,
) -> Result<()> {
    let bytes = region.len().saturating_mul(layout.bits().into()).div_ceil(8);
    let strides = layout.to_strides().map(|strided| strided.strides);
    let stride = |dim: usize| strides.as_ref().map_or(0, |strides| strides[dim].unsigned_abs());
    // Of equal strides the first: what strides do not say is cut along its first dimension.
    let long =
        (0..region.size.len()).rev().filter(|&dim| region.size[dim] > 1).max_by_key(|&dim| stride(dim));
    let Some(dim) = long.filter(|_| bytes > most.into()) else { return take(region) };
    let half = region.size[dim] / 2;
    let (mut before, mut behind) = (region.clone(), region.clone());
    before.size[dim] = half;
    behind.start[dim] += half;
    behind.size[dim] -= half;
    bands(&before, layout, most, take)?;
    bands(&behind, layout, most, take)
}

/// Writes the fill where a piece has no elements, or the source has none.
fn padded(
    (from, to): (&Shards, &Shards),
    region: &Region,
    layout: &Layout,
    space: &mut dyn Space,
) -> Result<()> {
    let all = Region::whole(&from.grid().sizes());
    let elements = region.shared(&all).map_or(0, |shared| shared.len());
    match to.fill() != 0 && u128::from(layout.size()) != elements {
        true => fill(space.bytes(), layout, to.fill()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_all_of_a_piece_one_behind_the_other() -> Result<()> {
        let region = Region { start: vec![7, 100, 3], size: vec![5, 6, 1] };
        let row_major = Layout::row_major(&region.size, 32)?;
        let column_major = Layout::builder(&region.size, 32)?.minor_to_major(&[0, 1, 2])?.build()?;
        let tiled = Layout::builder(&region.size, 32)?.tile(&[Some(2), Some(4), Some(1)])?.build()?;
        for (layout, is_strided) in [(row_major, true), (column_major, true), (tiled, false)] {
            for most in [0, 4, 20, 24, 50, 119, 120, u64::MAX] {
                let mut places = Vec::new();
                bands(&region, &layout, most, &mut |band| {
                    assert!(band.len() * 4 <= most.max(4).into(), "{band:?} in {most} bytes");
                    let first = places.len();
                    Layout::row_major(&band.size, 8)?.for_each_in_index_order(|index, _| {
                        let dims = index.iter().zip(&band.start).zip(&region.start);
                        let index: Vec<u64> = dims.map(|((at, start), whole)| at + start - whole).collect();
                        places.push(layout.offset(&index).expect("within"));
                    });
                    places[first..].sort_unstable();
                    Ok(())
                })?;
                assert!(!is_strided || places.is_sorted(), "{layout:?} in {most} bytes: {places:?}");
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), 30);
            }
        }
        Ok(())
    }
}
