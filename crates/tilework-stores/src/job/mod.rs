//! Jobs as data: what is to be done, in a file that other processes read and do a part of.
//!
//! A job has passes, a pass has tasks, and a task is a number. Whoever has the job opens it and runs the tasks of these numbers:
//! a thread, a process, or a worker of a cluster. A task that is run twice writes the same bytes twice. When all tasks of all
//! passes are done, one process [finishes](Opened::finish) the job, and what was written gets its name.

mod passes;
mod rechunk;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tilework::{Error, Result};
use tilework_files::container::Fetch;

use crate::checkpoint::{self, Checkpoint, Reshard};
use crate::far::is_address;
use crate::run::{Bounds, Done};
use crate::stage::{Stage, apart};
use crate::stamp::Stamp;

use passes::Passes;
pub use rechunk::Rechunk;
use rechunk::Source;
pub(crate) use rechunk::one;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "lowercase")]
pub enum Job {
    /// A checkpoint for other devices.
    Reshard(Reshard),
    /// An array in other chunks.
    Rechunk(Rechunk),
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
    bounds: Bounds,
}

enum Kind<'a> {
    Reshard(Box<checkpoint::Open<'a>>, Arc<Stage>),
    Rechunk(Passes<'a>),
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

    /// The job as text, with what tells whether its sources have changed since. Its paths are absolute, as whoever does the tasks may
    /// have another working folder.
    ///
    /// # Errors
    /// Paths that are not Unicode, and sources that cannot be read.
    pub fn to_json(&self) -> Result<String> {
        let mut job = self.clone();
        let (from, to) = match &mut job {
            Job::Reshard(job) => (&mut job.from, &mut job.to),
            Job::Rechunk(job) => (&mut job.from, &mut job.to),
        };
        for path in [from, to] {
            if !is_address(path) {
                *path = std::path::absolute(&*path)
                    .map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
            }
        }
        let stamp = match &job {
            Job::Reshard(job) => job.open()?.from().stamp()?,
            Job::Rechunk(job) => Source::open(job)?.stamp()?,
        };
        serde_json::to_string_pretty(&Saved { job, source: Some(stamp) })
            .map_err(|error| Error::new(format!("a plan as text: {error}")))
    }

    /// What is read.
    pub fn source(&self) -> &Path {
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

    /// Opens the sources, which are as they were if `before` says how, for tasks within these bounds.
    ///
    /// # Errors
    /// Sources that cannot be read or have changed, a target that exists, and memory in which no task of a checkpoint fits.
    pub fn open(&self, before: Option<&Stamp>, bounds: Bounds) -> Result<Opened<'_>> {
        let same = |stamp: &Stamp| {
            let same = before.map_or(Ok(()), |before| stamp.same(before, self.source(), "was planned"));
            same.map_err(|error| error.accepts("a plan of the source as it is now"))
        };
        let (kind, stamp) = match self {
            Job::Reshard(job) => {
                let open = job.open()?;
                open.at_a_time(&bounds)?;
                let stamp = open.from().stamp()?;
                same(&stamp)?;
                let stage = open.stage()?;
                (Kind::Reshard(Box::new(open), stage), stamp)
            }
            Job::Rechunk(job) => {
                let plan = job.plan.as_ref().ok_or_else(|| Error::new("a job that is not planned"))?;
                apart(&job.from, &job.to)?;
                let source = Source::open(job)?;
                let stamp = source.stamp()?;
                same(&stamp)?;
                let passes = Passes { job, plan, source, stamp: stamp.clone(), window: bounds.window };
                (Kind::Rechunk(passes), stamp)
            }
        };
        Ok(Opened { kind, stamp, bounds })
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
            Kind::Rechunk(passes) => passes.counts(),
        }
    }

    /// What of files that a server has is not fetched yet. Tasks fetch what they need, each when it needs it; whoever does all of
    /// them on one machine had better do it at once.
    pub fn missing(&self) -> Fetch {
        self.of_checkpoint().map_or_else(Fetch::default, |(checkpoint, numbers)| checkpoint.missing(&numbers))
    }

    /// Fetches these; `progress` is called with how many bytes are there.
    ///
    /// # Errors
    /// A folder without room, and what the server answers.
    pub fn fetch(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        self.of_checkpoint().map_or(Ok(()), |(checkpoint, numbers)| checkpoint.fetch(&numbers, progress))
    }

    /// The checkpoint that is read, and the numbers of its tensors that are.
    fn of_checkpoint(&self) -> Option<(&Checkpoint, Vec<usize>)> {
        match &self.kind {
            Kind::Reshard(open, _) => Some((open.from(), open.numbers())),
            Kind::Rechunk(Passes { source: Source::Other(found, number), .. }) => {
                Some((found, vec![*number]))
            }
            Kind::Rechunk(_) => None,
        }
    }

    /// Runs tasks of a pass; what an earlier run has done stays. Calls `progress` with the numbers of tasks done.
    ///
    /// # Errors
    /// The first that a store or a task has.
    pub fn run(&self, pass: usize, tasks: Range<u64>, progress: &(dyn Fn(u64) + Sync)) -> Result<Done> {
        match &self.kind {
            Kind::Reshard(open, stage) => open.run(stage, tasks, &self.bounds, progress),
            Kind::Rechunk(passes) => passes.run(pass, tasks, self.bounds.threads, progress),
        }
    }

    /// Gives what was written its name, when all of it is there and is what was written.
    ///
    /// # Errors
    /// The first piece that is missing, and sources that have changed meanwhile.
    pub fn finish(&self) -> Result<()> {
        let unchanged = |now: &Stamp, source: &Path| {
            let same = now.same(&self.stamp, source, "was read at first");
            same.map_err(|error| error.accepts("a source that nobody writes meanwhile"))
        };
        match &self.kind {
            Kind::Reshard(open, _) => {
                unchanged(&open.from().stamp()?, Path::new(open.from().name()))?;
                open.finish()
            }
            Kind::Rechunk(passes) => {
                unchanged(&passes.source.stamp()?, &passes.job.from)?;
                passes.finish()
            }
        }
    }
}

/// Something that a task has not written yet.
pub(crate) fn missing(what: &str, pass: &str, number: u64, count: u64) -> Error {
    Error::new(format!("{what} is missing, {number} of {count} are there before it"))
        .rule(format!("all tasks of {pass} are done before what they wrote is used"))
        .accepts("the same command again for the tasks that are missing")
}
