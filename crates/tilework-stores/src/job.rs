//! Jobs as data: what is to be done, in a file that other processes read and do a part of.
//!
//! A job has passes, a pass has tasks, and a task is a number. Whoever has the job opens it and runs the tasks of these numbers:
//! a thread, a process, or a worker of a cluster. A task that is run twice writes the same bytes twice. When all tasks of all
//! passes are done, one process [finishes](Opened::finish) the job, and what was written gets its name.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tilework::{Error, Result};
use tilework_copy::{Inline, Pool, Threads};

use crate::checkpoint::{self, Checkpoint, Reshard};
use crate::far::is_address;
use crate::grid::Grid;
use crate::plan::{Assumed, Between, End, Plan, Wanted};
use crate::run::{Done, Run};
use crate::stage::{self, Stage, apart};
use crate::stamp::Stamp;
use crate::store::{Read, Write};
use crate::zarr::{self, Compression, NewArray, Spec, is_store};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "lowercase")]
pub enum Job {
    /// A checkpoint for other devices.
    Reshard(Reshard),
    /// An array in other chunks.
    Rechunk(Rechunk),
}

/// An array in other chunks, as a new Zarr store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rechunk {
    /// The array: a Zarr store, an npy file, or another container of one array.
    pub from: PathBuf,
    /// The new store.
    pub to: PathBuf,
    /// The sizes of its chunks.
    pub chunks: Vec<u64>,
    /// The sizes of its shards, if it has some.
    pub shards: Option<Vec<u64>>,
    /// The dimensions in a chunk from major to minor; as they are without.
    pub order: Option<Vec<usize>>,
    /// What compresses a chunk: none, zstd:3, gzip:6; as it is without.
    pub compression: Option<String>,
    /// How it is done, once that is planned.
    pub plan: Option<Plan>,
}

/// Where an array is read.
enum Source {
    Zarr(Box<zarr::Array>),
    Other(Box<Checkpoint>),
}

impl Source {
    fn open(path: &Path) -> Result<Source> {
        if is_address(path) || is_store(path)? {
            return Ok(Source::Zarr(Box::new(zarr::open_array(path)?)));
        }
        let found = Checkpoint::open(path)?;
        match found.tensors().len() {
            1 => Ok(Source::Other(Box::new(found))),
            count => Err(Error::new(format!("{} has {count} arrays", found.name()))
                .rule("one array is cut into other chunks at a time")
                .accepts("a Zarr array, an npy file, or the path of an array in a Zarr store")),
        }
    }

    /// The files as they are now.
    fn stamp(&self) -> Result<Stamp> {
        match self {
            // What cannot be listed is not compared.
            Source::Zarr(array) => Ok(array.stamp()?.unwrap_or_default()),
            Source::Other(found) => found.stamp(),
        }
    }

    /// Calls `with` with the array.
    fn with<T>(&self, with: impl FnOnce(&dyn Read) -> Result<T>) -> Result<T> {
        match self {
            Source::Zarr(array) => with(&**array),
            Source::Other(found) => with(&found.parts(&found.tensors()[0])),
        }
    }
}

impl Rechunk {
    /// The new array.
    fn spec(&self, source: &Source) -> Result<Spec> {
        let compression = self.compression.as_deref().map(Compression::read).transpose()?;
        match source {
            Source::Zarr(array) => {
                let compression = compression.unwrap_or_else(|| array.compression());
                array.rechunked(&self.chunks, self.shards.as_deref(), self.order.as_deref(), compression)
            }
            Source::Other(_) => source.with(|array| {
                let (element, sizes) = (array.shards().element(), array.shards().grid().sizes());
                let chunks = tilework::zarr::Array::new(
                    element,
                    &sizes,
                    &self.chunks,
                    self.shards.as_deref(),
                    self.order.as_deref().filter(|order| !order.is_sorted()),
                )?;
                Ok(Spec {
                    compression: compression.unwrap_or_default(),
                    ..Spec::new(chunks, element, &sizes)
                })
            }),
        }
    }

    /// Where the array between is, if there is one.
    fn between(&self) -> PathBuf {
        stage::beside(&self.to, |name| format!(".{name}.tilework-between"))
    }

    /// Whether it reads or writes objects of a server.
    ///
    /// ```
    /// use tilework_stores::job::Rechunk;
    /// let far = |from: &str, to: &str| {
    ///     let text = format!(r#"{{"from": "{from}", "to": "{to}", "chunks": [1]}}"#);
    ///     serde_json::from_str(&text).map(|job: Rechunk| job.is_far())
    /// };
    /// assert!(far("s3://bucket/a", "b")? && far("a", "s3://bucket/b")? && !far("a", "b")?);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn is_far(&self) -> bool {
        is_address(&self.from) || is_address(&self.to)
    }

    /// Plans the job: with tasks that hold up to `memory` bytes.
    ///
    /// # Errors
    /// What is no array, chunks that are none of it, a target that exists, and memory in which no task fits.
    pub fn planned(&self, memory: u64, assumed: Assumed) -> Result<Rechunk> {
        apart(&self.from, &self.to)?;
        let source = Source::open(&self.from)?;
        let spec = self.spec(&source)?;
        let (shards, cost) = zarr::written(&spec, &self.to)?;
        let to = End::new(&shards, cost)?;
        let mut from = source.with(|array| End::new(array.shards(), array.cost()?))?;
        if !is_address(&self.from) && from.cost.coding > 0 {
            from.cost.bytes = source.stamp()?.share(from.cost.bytes, from.elements_bytes());
        }
        let wanted = Wanted { memory, assumed, between: Some(Between { mapped: !is_address(&self.to) }) };
        Ok(Rechunk { plan: Some(Plan::new(&from, &to, &wanted)?), ..self.clone() })
    }
}

/// A job as it is saved.
#[derive(Serialize, Deserialize)]
struct Saved<T> {
    #[serde(flatten)]
    job: T,
    /// The sources as they were then.
    source: Option<Stamp>,
}

/// A job whose sources are open.
pub struct Opened<'a> {
    kind: Kind<'a>,
    /// The sources as they were when they were opened.
    stamp: Stamp,
    window: u64,
}

enum Kind<'a> {
    Reshard(Box<checkpoint::Open<'a>>, Arc<Stage>),
    Rechunk(&'a Rechunk, &'a Plan, Box<Source>),
}

impl Job {
    /// Reads a job from a file that [`Job::to_json`] made, and how its sources were then.
    ///
    /// # Errors
    /// What is no job.
    pub fn from_json(text: &str) -> Result<(Job, Option<Stamp>)> {
        let saved: Saved<Job> = serde_json::from_str(text).map_err(|error| {
            Error::new(format!("this is no plan: {error}"))
                .rule("a plan is what --save-plan wrote, or tw.plan_tasks returned")
        })?;
        Ok((saved.job, saved.source))
    }

    /// The job as text, with what tells whether its sources have changed since.
    ///
    /// # Errors
    /// Paths that are not Unicode, and sources that cannot be read.
    pub fn to_json(&self) -> Result<String> {
        let stamp = match self {
            Job::Reshard(job) => job.open()?.from().stamp()?,
            Job::Rechunk(job) => Source::open(&job.from)?.stamp()?,
        };
        serde_json::to_string_pretty(&Saved { job: self, source: Some(stamp) })
            .map_err(|error| Error::new(format!("a plan as text: {error}")))
    }

    /// What is read.
    fn source(&self) -> &Path {
        match self {
            Job::Reshard(job) => &job.from,
            Job::Rechunk(job) => &job.from,
        }
    }

    /// Where the result will be.
    pub fn target(&self) -> &Path {
        match self {
            Job::Reshard(job) => &job.to,
            Job::Rechunk(job) => &job.to,
        }
    }

    /// Opens the sources, which are as they were if `before` says how. `window` is how many bytes of mapped files are moved before
    /// their memory is given back.
    ///
    /// # Errors
    /// Sources that cannot be read or have changed, and a target that exists.
    pub fn open(&self, before: Option<&Stamp>, window: u64) -> Result<Opened<'_>> {
        let same = |stamp: &Stamp| {
            let same = before.map_or(Ok(()), |before| stamp.same(before, self.source(), "was planned"));
            same.map_err(|error| error.accepts("a plan of the source as it is now"))
        };
        let (kind, stamp) = match self {
            Job::Reshard(job) => {
                let open = job.open()?;
                let stamp = open.from().stamp()?;
                same(&stamp)?;
                let stage = open.stage()?;
                (Kind::Reshard(Box::new(open), stage), stamp)
            }
            Job::Rechunk(job) => {
                let plan = job.plan.as_ref().ok_or_else(|| Error::new("a job that is not planned"))?;
                apart(&job.from, &job.to)?;
                let source = Source::open(&job.from)?;
                let stamp = source.stamp()?;
                same(&stamp)?;
                (Kind::Rechunk(job, plan, Box::new(source)), stamp)
            }
        };
        Ok(Opened { kind, stamp, window })
    }
}

impl Opened<'_> {
    /// How many tasks each pass has.
    ///
    /// # Errors
    /// A plan that was changed since it was made.
    pub fn passes(&self) -> Result<Vec<u64>> {
        match &self.kind {
            Kind::Reshard(open, _) => Ok(vec![open.devices()]),
            Kind::Rechunk(_, plan, _) => plan.passes.iter().map(|pass| Ok(pass.tasks()?.count())).collect(),
        }
    }

    /// Runs tasks of a pass on `threads` threads; what an earlier run has done stays. Calls `progress` with the numbers of tasks
    /// done.
    ///
    /// # Errors
    /// The first that a store or a task has.
    pub fn run(
        &self,
        pass: usize,
        tasks: Range<u64>,
        threads: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Done> {
        match &self.kind {
            Kind::Reshard(open, stage) => self.devices(open, stage, tasks, threads, progress),
            Kind::Rechunk(job, plan, source) => {
                let found = plan.passes.get(pass).ok_or_else(|| {
                    Error::new(format!("pass {} of {}", pass + 1, plan.passes.len()))
                        .rule("passes are counted from 1")
                })?;
                let is_last = pass + 1 == plan.passes.len();
                let between = self.between_spec(plan, source)?;
                if !is_last && self.found_between(job, &between)?.is_some() {
                    // An earlier run has ended this pass.
                    progress(tasks.end.saturating_sub(tasks.start));
                    let pieces = tasks.map(|task| Ok(found.pieces(&found.task(task)?).count() as u64));
                    return Ok(Done { written: 0, kept: pieces.sum::<Result<u64>>()? });
                }
                let to = match is_last {
                    true => self.last(job, source)?,
                    false => zarr::go_on(&job.between(), &between, (&job.from, &self.stamp))?,
                };
                let all: u128 = found.to.grid.sizes().iter().map(|&size| u128::from(size)).product();
                let count = u128::from(found.tasks()?.count());
                let run = |from: &dyn Read| {
                    let run = Run {
                        pass: found,
                        from,
                        to: &to,
                        resume: true,
                        window: self.window,
                        touched: AtomicU64::new(0),
                    };
                    // In tasks, about: what is done of the elements.
                    run.tasks(tasks.clone(), threads, &|done| {
                        progress((done.saturating_mul(count) / all.max(1)) as u64)
                    })
                };
                match pass {
                    0 => source.with(run),
                    _ => run(&self.read_between(job, &between)?),
                }
            }
        }
    }

    fn last(&self, job: &Rechunk, source: &Source) -> Result<NewArray> {
        zarr::go_on(&job.to, &job.spec(source)?, (&job.from, &self.stamp))
    }

    /// What the array between is: what nothing compresses, in chunks of the first pass's pieces.
    fn between_spec(&self, plan: &Plan, source: &Source) -> Result<Spec> {
        let element = source.with(|array| Ok(array.shards().element()))?;
        let mut spec = Spec::between(element, &plan.passes[0].to.grid)?;
        // When it has its name, nothing else says what it was made of.
        spec.attributes.insert(SOURCE.to_owned(), serde_json::json!(self.stamp));
        Ok(spec)
    }

    /// The array between, if it is complete.
    ///
    /// # Errors
    /// One of another plan, or of a source that has changed since.
    fn found_between(&self, job: &Rechunk, spec: &Spec) -> Result<Option<zarr::Array>> {
        let path = job.between();
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
    fn read_between(&self, job: &Rechunk, spec: &Spec) -> Result<zarr::Array> {
        if let Some(found) = self.found_between(job, spec)? {
            return Ok(found);
        }
        let path = job.between();
        let ended = zarr::go_on(&path, spec, (&job.from, &self.stamp))
            .and_then(|array| complete(&array, "the first pass"));
        match ended {
            Err(error) if !is_store(&path)? => Err(error),
            _ => zarr::open_array(&path), // or somebody else was faster
        }
    }

    /// Files of devices, each by one thread.
    fn devices(
        &self,
        open: &checkpoint::Open,
        stage: &Arc<Stage>,
        tasks: Range<u64>,
        threads: usize,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Done> {
        let count = usize::try_from(tasks.end.saturating_sub(tasks.start)).unwrap_or(usize::MAX);
        let at_a_time = count.min(threads).max(1);
        let within: &dyn Pool =
            if threads > at_a_time { &Threads::new(threads / at_a_time) } else { &Inline };
        let (next, stop) = (AtomicU64::new(tasks.start), AtomicBool::new(false));
        let all = Mutex::new((Done::default(), None));
        Threads::new(at_a_time).run(at_a_time, &|_| {
            while !stop.load(Ordering::Relaxed) {
                let device = next.fetch_add(1, Ordering::Relaxed);
                if device >= tasks.end {
                    return;
                }
                let outcome = open.task(device, stage, within, self.window);
                let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                match outcome {
                    Ok(true) => all.0.written += 1,
                    Ok(false) => all.0.kept += 1,
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        all.1.get_or_insert(error);
                    }
                }
                progress(all.0.written + all.0.kept);
            }
        });
        match all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            (done, None) => Ok(done),
            (_, Some(error)) => Err(error),
        }
    }

    /// Whether the sources are as they were when they were opened.
    fn unchanged(&self, now: &Stamp, source: &Path) -> Result<()> {
        let same = now.same(&self.stamp, source, "was read at first");
        same.map_err(|error| error.accepts("a source that nobody writes meanwhile"))
    }

    /// Gives what was written its name, when all of it is there and is what was written.
    ///
    /// # Errors
    /// The first piece that is missing, and sources that have changed meanwhile.
    pub fn finish(&self) -> Result<()> {
        match &self.kind {
            Kind::Reshard(open, _) => {
                self.unchanged(&open.from().stamp()?, Path::new(open.from().name()))?;
                open.finish()
            }
            Kind::Rechunk(job, _, source) => {
                self.unchanged(&source.stamp()?, &job.from)?;
                complete(&self.last(job, source)?, "the last pass")?;
                let between = job.between();
                if is_store(&between)? { stage::remove(&between) } else { Ok(()) }
            }
        }
    }
}

/// The attribute of an array between that says what it was made of.
const SOURCE: &str = "tilework.source";

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

/// Something that a task has not written yet.
pub(crate) fn missing(what: &str, pass: &str, number: u64, count: u64) -> Error {
    Error::new(format!("{what} is missing, {number} of {count} are there before it"))
        .rule(format!("all tasks of {pass} are done before what they wrote is used"))
        .accepts("the same command again for the tasks that are missing")
}
