//! One array of a container, written into a new store: as a plan from its pieces to the new ones, as any move between arrays in
//! pieces is.
//!
//! A file has an array as one piece, and a store in its chunks. An array that is stored as a list of its places is brought into
//! its new layout first, in a file without a name, window by window.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use tilework::{Element, Error, Layout, Result};
use tilework_copy::{Mapped, MappedMut};
use tilework_files::container::{Change, Container, Content, How, Job, Moved, WriteError};
use tilework_files::{Array as Bytes, scratch_file};

use super::new::{NewArray, Spec};
use super::open::NOTE;
use super::own::Own;
use super::read::Array;
use super::stored::Stored;
use crate::gather::{Gather, fill};
use crate::grid::Grid;
use crate::plan::{Assumed, Between, End, Pass, Plan, Wanted};
use crate::region::Region;
use crate::run::{Bounds, Done, Run};
use crate::shards::{Form, Shards};
use crate::stage::Stage;
use crate::store::{Cost, Held, Make, Read, Space, Write, room};
use crate::transfer::Transfers;

/// Where an array stands while it is between two passes. No array has such a path.
pub(super) const BETWEEN: &str = "__between";

/// An array that is written.
pub(super) struct One<'a> {
    pub(super) from: &'a Container,
    pub(super) own: &'a Own,
    pub(super) job: &'a Job<'a>,
    pub(super) stored: &'a Stored,
    pub(super) array: NewArray,
    pub(super) stage: &'a Arc<Stage>,
    pub(super) path: &'a str,
    /// A folder for files without names.
    pub(super) scratch: &'a Path,
    pub(super) how: &'a How<'a>,
    /// Bytes that were written before, and those of this array.
    pub(super) done: u64,
    pub(super) bytes: u64,
}

/// What a container has of an array: its chunks, and whether these are a list of places.
struct Chunks {
    array: Array,
    is_list: bool,
}

type Outcome<T> = std::result::Result<T, WriteError>;

impl One<'_> {
    /// Writes what an earlier run has not, and says how many pieces it had.
    pub(super) fn write(self) -> Outcome<u64> {
        let element = self.stored.spec.element;
        let list = || Layout::row_major(&self.stored.spec.dims, 8 * element.bytes());
        match (&self.job.change, self.chunks()?) {
            // Chunks become chunks, and a list of places the same list.
            (_, Some(chunks)) if !self.stored.is_list && !chunks.is_list => return self.run(&chunks.array),
            (Change::Keep, Some(chunks)) if self.stored.is_list && chunks.is_list => {
                return self.run(&chunks.array);
            }
            (Change::Move(moved), Some(chunks)) if !chunks.is_list => {
                let held = self.moved(moved, &chunks.array)?;
                return self.run(&Whole::new(scratch(&held), list()?, element)?);
            }
            _ => {}
        }
        let data = self.from.data(self.job.tensor, self.scratch)?;
        match (&self.job.change, &self.job.tensor.content) {
            (Change::Repack(blocks), _) => Err(Error::new(format!("{blocks} in a Zarr store"))
                .rule("blocks of quantised numbers are stored as they are, and not mixed on the way")
                .accepts("GGUF first, and that to Zarr")
                .into()),
            (Change::Keep, _) if self.stored.is_list => {
                self.run(&Whole::new(data.array(), list()?, element)?)
            }
            (Change::Keep, Content::Array(array)) => {
                self.run(&Whole::new(data.array(), array.layout.clone(), array.element)?)
            }
            (Change::Move(moved), Content::Array(array)) => {
                let whole = Whole::new(data.array(), moved.relayout.plan().from().clone(), array.element)?;
                if !self.stored.is_list {
                    return self.run(&whole);
                }
                let held = self.moved(moved, &whole)?;
                self.run(&Whole::new(scratch(&held), list()?, element)?)
            }
            _ => Err(Error::new("what is no array").into()),
        }
    }

    /// The array as a store has it.
    fn chunks(&self) -> Result<Option<Chunks>> {
        let found = self.own.array(self.job)?;
        Ok(found.map(|array| Chunks { is_list: array.attributes().contains_key(NOTE), array }))
    }

    /// All places of the new layout, one after the other.
    fn moved(&self, moved: &Moved, from: &dyn Read) -> Result<(Mapped, String)> {
        let to = moved.relayout.plan().to();
        let bytes = to.bytes().max(1);
        let file = scratch_file(self.scratch, bytes)?;
        let fail = |error| Error::new(format!("{}: {error}", self.scratch.display()));
        let mut held = MappedMut::create(&file, bytes).map_err(fail)?;
        if moved.fill != 0 {
            fill_all(&mut held, to, moved.fill)?;
        }
        let gather = Gather {
            from,
            transfers: &Transfers::of(moved.relayout.conversion()),
            pool: self.how.pool,
            window: self.bounds(self.how.pool.width())?.window,
            touched: &AtomicU64::new(0),
        };
        gather.run((&Region::whole(to.dims()), to), &mut held, &mut HashMap::new(), &|_| false)?;
        held.forget();
        drop(held);
        Ok((Mapped::read(&file).map_err(fail)?, format!("what was moved in {}", self.scratch.display())))
    }

    fn bounds(&self, threads: usize) -> Result<Bounds> {
        Bounds::new(self.how.memory.map(|memory| memory.max(Bounds::LEAST)), threads)
    }

    /// A plan for as many threads as have room for a task each.
    fn plan(&self, from: &End, to: &End, between: Option<Between>) -> Result<(Plan, Bounds)> {
        let mut threads = self.how.pool.width().max(1);
        loop {
            let bounds = self.bounds(threads)?;
            let wanted = Wanted { memory: bounds.memory, assumed: Assumed::disk(threads as u64), between };
            match Plan::new(from, to, &wanted) {
                Ok(plan) => return Ok((plan, bounds)),
                Err(_) if threads > 1 => threads /= 2,
                // Nobody said how much there may be.
                Err(_) if self.how.memory.is_none() => {
                    let wanted = Wanted { memory: u64::MAX, ..wanted };
                    return Ok((Plan::new(from, to, &wanted)?, bounds));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes the array from these pieces.
    fn run(&self, from: &dyn Read) -> Outcome<u64> {
        let fill = match &self.job.change {
            Change::Move(moved) if !self.stored.is_list => moved.fill,
            _ => 0,
        };
        let to = Filled { array: &self.array, shards: self.array.shards().clone().with_fill(fill) };
        let sizes = to.shards.grid().sizes();
        let (mut begin, end) = (End::new(from.shards(), from.cost()?)?, End::new(&to.shards, to.cost()?)?);
        let grows = begin.grid.sizes() != sizes;
        begin.grid = begin.grid.grown(&sizes)?;
        let between = Some(Between { mapped: true }).filter(|_| !grows);
        let (plan, bounds) = self.plan(&begin, &end, between)?;
        let half = self.bytes / 2;
        match &plan.passes[..] {
            [first, second] => {
                let count = to.shards.grid().count();
                if (0..count).try_fold(true, |all, piece| Ok::<bool, Error>(all && to.has(piece)?))? {
                    return Ok(count);
                }
                let path = if self.path.is_empty() { BETWEEN } else { &format!("{BETWEEN}/{}", self.path) };
                let spec = Spec::between(from.shards().element(), &first.to.grid)?;
                let middle = NewArray::new(Arc::clone(self.stage), path, spec.meta())?;
                let shards = middle.shards().clone();
                let middle = Filled { array: &middle, shards };
                let place = self.stage.place();
                let read = Array::new(place, path, spec.meta())?;
                self.pass(first, (from, &middle), (&read, &bounds), (self.done, half))?;
                let reader = self.reader()?;
                let halves = (self.done + half, self.bytes - half);
                let kept = self.pass(second, (&read, &to), (&reader, &bounds), halves)?;
                self.stage.remove_all(BETWEEN)?;
                Ok(kept)
            }
            passes => {
                let (reader, mut kept) = (self.reader()?, 0);
                for pass in passes {
                    kept = self.pass(pass, (from, &to), (&reader, &bounds), (self.done, self.bytes))?;
                }
                Ok(kept)
            }
        }
    }

    /// What is written, to be read again.
    fn reader(&self) -> Result<Array> {
        let place = self.stage.place();
        Array::new(place, self.path, self.stored.spec.meta())
    }

    /// Runs a pass and, if that is wanted, compares what it wrote. Progress goes from `start` as far as `bytes`.
    fn pass(
        &self,
        pass: &Pass,
        (from, to): (&dyn Read, &Filled),
        (reader, bounds): (&Array, &Bounds),
        (start, bytes): (u64, u64),
    ) -> Outcome<u64> {
        let all = Region::whole(&to.shards.grid().sizes()).len().max(1);
        let bytes_done = |elements: u128| (u128::from(bytes) * elements / all) as u64;
        let progress = |elements| (self.how.progress)(start + bytes_done(elements));
        let done = tasks(pass, (from, to), true, bounds, &progress)?;
        if self.how.check {
            let shards = reader.shards().clone().with_fill(to.shards.fill());
            let check = Check { reader, shards, differs: Mutex::default() };
            let end = End::new(&check.shards, check.cost()?)?;
            let plan = match self.plan(&pass.from, &end, None) {
                Ok((plan, _)) => plan,
                // A chunk that is written through a mapping is held to be compared.
                Err(_) => Plan::new(
                    &pass.from,
                    &end,
                    &Wanted { memory: u64::MAX, assumed: Assumed::disk(1), between: None },
                )?,
            };
            for pass in &plan.passes {
                let outcome = tasks(pass, (from, &check), false, bounds, &|_| {});
                if let Some(error) = check.differs.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    return Err(WriteError::Differs(error));
                }
                outcome?;
            }
        }
        Ok(done.kept)
    }
}

/// Runs all tasks of a pass.
fn tasks(
    pass: &Pass,
    (from, to): (&dyn Read, &dyn Write),
    resume: bool,
    bounds: &Bounds,
    progress: &(dyn Fn(u128) + Sync),
) -> Result<Done> {
    let (window, touched) = (bounds.window, AtomicU64::new(0));
    let tasks = 0..pass.tasks()?.count();
    Run { pass, from, to, resume, window, touched }.tasks(tasks, bounds.threads, progress)
}

/// The bytes of a file without a name.
fn scratch((held, name): &(Mapped, String)) -> Bytes<'_> {
    Bytes::mapped(held, held, name)
}

/// Writes an element to all places, a window at a time.
fn fill_all(held: &mut MappedMut, layout: &Layout, bits: u128) -> Result<()> {
    let step = layout.bits() as usize * (1 << 20); // whole elements
    for start in (0..held.len()).step_by(step) {
        let end = held.len().min(start + step);
        let places =
            Layout::row_major(&[8 * (end - start) as u64 / u64::from(layout.bits())], layout.bits())?;
        fill(&mut held[start..end], &places, bits)?;
        held.forget();
    }
    Ok(())
}

/// An array as one piece: its bytes in its layout.
struct Whole<'a> {
    shards: Shards,
    bytes: Bytes<'a>,
}

impl<'a> Whole<'a> {
    fn new(bytes: Bytes<'a>, layout: Layout, element: Element) -> Result<Whole<'a>> {
        let grid = Grid::one(layout.dims())?;
        let shards = Shards::new(element, grid, Form::sized(move |_| Ok(layout.clone())))?;
        Ok(Whole { shards, bytes })
    }
}

impl Read for Whole<'_> {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn get(&self, _: u64) -> Result<Held<'_>> {
        Ok(Held::borrowed(self.bytes))
    }

    fn cost(&self) -> Result<Cost> {
        let bytes = self.shards.largest()?.bytes();
        Ok(Cost { memory: 0, bytes, requests: 1, partial: true, coding: 0 })
    }
}

/// A new array whose padding has another element than its missing chunks.
struct Filled<'a> {
    array: &'a NewArray,
    shards: Shards,
}

impl Write for Filled<'_> {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn put(&self, piece: u64, make: Make) -> Result<()> {
        self.array.put(piece, make)
    }

    fn put_space(&self, piece: u64, make: &mut dyn FnMut(&mut dyn Space) -> Result<()>) -> Result<()> {
        self.array.put_space(piece, make)
    }

    fn put_made(&self, piece: u64, made: Vec<u8>) -> Result<()> {
        self.array.put_made(piece, made)
    }

    fn has(&self, piece: u64) -> Result<bool> {
        self.array.has(piece)
    }

    fn cost(&self) -> Result<Cost> {
        self.array.cost()
    }
}

/// Compares pieces with those that were written.
struct Check<'a> {
    reader: &'a Array,
    shards: Shards,
    differs: Mutex<Option<Error>>,
}

impl Write for Check<'_> {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn put(&self, piece: u64, make: Make) -> Result<()> {
        let mut wanted = room(self.shards.layout(piece)?.bytes())?;
        make(&mut wanted)?;
        let held = self.reader.get(piece)?;
        if held.bytes() == Some(&wanted) {
            held.forget();
            return held.intact();
        }
        let start = self.shards.grid().region(piece)?.start;
        let error = Error::new(format!("elements from {start:?} on differ in what was written"));
        self.differs.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.clone());
        Err(error)
    }

    fn has(&self, _: u64) -> Result<bool> {
        Ok(false)
    }

    fn cost(&self) -> Result<Cost> {
        let cost = self.reader.cost()?;
        Ok(Cost { memory: cost.memory + cost.bytes, ..cost })
    }
}
