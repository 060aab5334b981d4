//! The passes of an array in other chunks: from the source to the target, or to an array between and from there.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use tilework::{Error, Result};

use super::missing;
use super::rechunk::{Rechunk, Source};
use crate::grid::Grid;
use crate::plan::{Pass, Plan};
use crate::run::{Done, Run};
use crate::shards::Shards;
use crate::stage;
use crate::stamp::Stamp;
use crate::store::{Cost, Held, Read, Write};
use crate::zarr::{self, NewArray, Spec, is_store};

/// The attribute of an array between that says what it was made of.
const SOURCE: &str = "tilework.source";

/// A planned job whose source is open.
pub(super) struct Passes<'a> {
    pub(super) job: &'a Rechunk,
    pub(super) plan: &'a Plan,
    pub(super) source: Source,
    /// The source as it was when it was opened.
    pub(super) stamp: Stamp,
    /// How many bytes of mapped files are moved before their memory is given back.
    pub(super) window: u64,
}

impl Passes<'_> {
    /// How many tasks each has.
    pub(super) fn counts(&self) -> Result<Vec<u64>> {
        self.plan.passes.iter().map(|pass| Ok(pass.tasks()?.count())).collect()
    }

    /// Runs tasks of a pass.
    pub(super) fn run(
        &self,
        number: usize,
        tasks: Range<u64>,
        threads: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Done> {
        let passes = &self.plan.passes;
        let pass = passes.get(number).ok_or_else(|| {
            Error::new(format!("pass {} of {}", number + 1, passes.len())).rule("passes are counted from 1")
        })?;
        let is_last = number + 1 == passes.len();
        let between = self.between_spec()?;
        if !is_last && self.found_between(&between)?.is_some() {
            // An earlier run has ended this pass.
            progress(tasks.end.saturating_sub(tasks.start));
            let pieces = tasks.map(|task| Ok(pass.pieces(&pass.task(task)?).count() as u64));
            return Ok(Done { written: 0, kept: pieces.sum::<Result<u64>>()? });
        }
        let to = match is_last {
            true => self.last()?,
            false => self.first(&between)?,
        };
        let run = |from: &dyn Read| self.tasks(pass, (from, &to), tasks.clone(), threads, progress);
        match number {
            0 => self.source.with(run),
            _ => run(&Whole { array: self.read_between(&between)?, path: self.job.between() }),
        }
    }

    fn tasks(
        &self,
        pass: &Pass,
        (from, to): (&dyn Read, &NewArray),
        tasks: Range<u64>,
        threads: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Done> {
        let all: u128 = pass.to.grid.sizes().iter().map(|&size| u128::from(size)).product();
        let count = u128::from(pass.tasks()?.count());
        let run = Run { pass, from, to, resume: true, window: self.window, touched: AtomicU64::new(0) };
        // In tasks, about: what is done of the elements.
        run.tasks(tasks, threads, &|done| progress((done.saturating_mul(count) / all.max(1)) as u64))
    }

    /// The array between, to be written.
    fn first(&self, spec: &Spec) -> Result<NewArray> {
        zarr::go_on(&self.job.between(), spec, self.job, &self.stamp)
    }

    /// The target.
    fn last(&self) -> Result<NewArray> {
        zarr::go_on(&self.job.to, &self.job.spec(&self.source)?, self.job, &self.stamp)
    }

    /// What the array between is: what nothing compresses, in chunks of the first pass's pieces.
    fn between_spec(&self) -> Result<Spec> {
        let element = self.source.with(|array| Ok(array.shards().element()))?;
        let mut spec = Spec::between(element, &self.plan.passes[0].to.grid)?;
        // When it has its name, nothing else says what it was made of.
        let source = serde_json::json!({ "stamp": self.stamp, "only": self.job.only });
        spec.attributes.insert(SOURCE.to_owned(), source);
        Ok(spec)
    }

    /// The array between, if it is complete.
    ///
    /// # Errors
    /// One of another plan, or of a source that has changed since.
    fn found_between(&self, spec: &Spec) -> Result<Option<zarr::Array>> {
        let path = self.job.between();
        if !is_store(&path)? {
            return Ok(None);
        }
        let found = zarr::open_array(&path)?;
        // Of the same cuts, and so of the same sizes.
        let is_same = found.shards().grid().cuts() == Grid::regular(&spec.dims, spec.array.chunks())?.cuts()
            && found.shards().element() == spec.element
            && found.attributes().get(SOURCE) == spec.attributes.get(SOURCE);
        match is_same {
            true => Ok(Some(found)),
            false => Err(Error::new(format!("{} is of another plan, or of another source", path.display()))
                .rule("the second pass reads what the first pass of the same plan wrote")
                .accepts(format!("remove {} to begin again", path.display()))),
        }
    }

    /// The array between, to be read: the first to come gives it its name, when all of it is there.
    fn read_between(&self, spec: &Spec) -> Result<zarr::Array> {
        if let Some(found) = self.found_between(spec)? {
            return Ok(found);
        }
        let path = self.job.between();
        let ended = self.first(spec).and_then(|array| complete(&array, "the first pass"));
        match ended {
            Err(error) if !is_store(&path)? => Err(error),
            _ => zarr::open_array(&path), // or somebody else was faster
        }
    }

    /// Gives the target its name, and removes the array between.
    pub(super) fn finish(&self) -> Result<()> {
        complete(&self.last()?, "the last pass")?;
        let between = self.job.between();
        if is_store(&between)? { stage::remove(&between) } else { Ok(()) }
    }
}

/// An array between: every piece was written, so one that is gone is no fill.
struct Whole {
    array: zarr::Array,
    path: PathBuf,
}

impl Whole {
    fn is_there<'a>(&self, piece: u64, held: Held<'a>) -> Result<Held<'a>> {
        match held.bytes() {
            Some(_) => Ok(held),
            None => Err(Error::new(format!("piece {piece} of {} is missing", self.path.display()))
                .rule("the second pass reads all that the first has written")
                .accepts(format!("remove {} to begin again", self.path.display()))),
        }
    }
}

impl Read for Whole {
    fn shards(&self) -> &Shards {
        self.array.shards()
    }

    fn get(&self, piece: u64) -> Result<Held<'_>> {
        self.is_there(piece, self.array.get(piece)?)
    }

    fn get_all(&self, pieces: &[u64]) -> Result<Vec<Held<'_>>> {
        let all = pieces.iter().zip(self.array.get_all(pieces)?);
        all.map(|(&piece, held)| self.is_there(piece, held)).collect()
    }

    fn is_far(&self) -> bool {
        self.array.is_far()
    }

    fn cost(&self) -> Result<Cost> {
        self.array.cost()
    }
}

/// Gives an array its name, when all of its pieces are there.
fn complete(array: &NewArray, pass: &str) -> Result<()> {
    let count = Write::shards(array).grid().count();
    for piece in 0..count {
        if !array.has(piece)? {
            return Err(missing(&format!("piece {piece}"), pass, piece, count));
        }
    }
    array.finish()
}
