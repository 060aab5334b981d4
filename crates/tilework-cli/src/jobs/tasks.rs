//! `run-tasks`: a part of a plan, or all of it.

use serde::Serialize;
use tilework::{Error, ErrorKind};
use tilework_stores::job::Job;
use tilework_stores::run::{Bounds, Done, share};

use super::cluster::Cluster;
use super::said::pieces;
use super::{all, bounds, far_bounds};
use crate::args::{HowArgs, RunTasksArgs};
use crate::output::{Output, Stop};

/// The bounds for tasks that are planned: of a job that waits for a server as many at a time as have the memory that each needs.
fn bounds_of(job: &Job, how: &HowArgs) -> tilework::Result<Bounds> {
    let needed = match job {
        Job::Rechunk(job) if job.is_far() => job.plan.as_ref().map_or(0, |plan| plan.memory),
        _ => return bounds(how),
    };
    let has_room = |bounds: Bounds| match bounds.memory >= needed {
        true => Ok((bounds, 0.0)),
        false => Err(Error::new("less than a task was planned with").of_kind(ErrorKind::Limit)),
    };
    far_bounds(how, has_room).or_else(|_| bounds(how))
}

pub fn run_tasks(asked: &RunTasksArgs, output: &mut Output) -> Result<(), Stop> {
    let mut run = || -> tilework::Result<(Done, Job)> {
        let text = std::fs::read_to_string(&asked.plan)
            .map_err(|error| Error::new(format!("{}: {error}", asked.plan.display())))?;
        let (job, before) = Job::from_json(&text)?;
        let (how, cluster) = Cluster::of(&asked.how)?;
        let bounds = bounds_of(&job, &how)?;
        let open = job.open(before.as_ref(), bounds)?;
        let Some((part, parts)) = asked.part else {
            if asked.finish {
                open.finish()?;
                return Ok((Done::default(), job));
            }
            drop(open);
            return Ok((all(&job, before.as_ref(), (&bounds, cluster), 0, output)?, job));
        };
        let pass = asked.pass.unwrap_or(1) - 1;
        let passes = open.passes()?;
        let tasks =
            usize::try_from(pass).ok().and_then(|pass| passes.get(pass).copied()).ok_or_else(|| {
                Error::new(format!("--pass {}", pass + 1)).accepts(format!("1 to {}", passes.len()))
            })?;
        let done = open.run(pass as usize, share(tasks, part - 1, parts), &|_| {})?;
        drop(open);
        Ok((done, job))
    };
    match run() {
        Err(error) => output.bad(&error, "", None),
        Ok((done, job)) => {
            let is_whole = asked.part.is_none();
            if output.json {
                return output.object(&Ran {
                    output: &job.target().to_string_lossy(),
                    written: done.written,
                    kept: done.kept,
                    finished: is_whole,
                });
            }
            let mut page = output.new_page();
            let mut rows = vec![("to".to_owned(), job.target().display().to_string())];
            if !asked.finish {
                rows.push(("pieces".to_owned(), pieces(done)));
            }
            rows.push((
                "result".to_owned(),
                if is_whole { "complete" } else { "not complete yet; --finish when all parts are done" }
                    .to_owned(),
            ));
            page.rows(&rows);
            output.page(&page)
        }
    }
}

/// Answer of `run-tasks`.
#[derive(Serialize)]
struct Ran<'a> {
    output: &'a str,
    written: u64,
    kept: u64,
    finished: bool,
}
