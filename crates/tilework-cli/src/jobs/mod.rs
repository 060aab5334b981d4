//! `reshard`, `rechunk` and `run-tasks`: arrays in pieces become the same arrays in other pieces.

mod cluster;
mod rechunk;
mod reshard;
mod said;
mod tasks;

use std::time::Instant;

use tilework::{Error, ErrorKind};
use tilework_stores::job::Job;
use tilework_stores::run::{Bounds, Done};
use tilework_stores::{Stamp, scratch_of};

use crate::args::{HowArgs, PlanOnlyArgs};
use crate::fetch::fetch_with;
use crate::output::{Output, Stop};
use crate::progress::Progress;

use cluster::Cluster;
pub use rechunk::rechunk;
pub use reshard::reshard;
use said::Said;
pub use tasks::run_tasks;

/// How many tasks wait for a server at a time, each with a request under way.
const FAR: usize = 16;

fn bounds(how: &HowArgs) -> tilework::Result<Bounds> {
    bounds_with(how, 1)
}

/// With `least` threads at least, if nobody says how many.
fn bounds_with(how: &HowArgs, least: usize) -> tilework::Result<Bounds> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = how.threads.map_or(all.max(least), usize::from);
    Bounds::new(how.memory, threads).map_err(|error| error.field("--memory"))
}

/// What fits the bounds of as many tasks as wait for a server at a time; of fewer, where the memory of each is too small for that, or
/// where that takes fewer seconds: a task with more memory reads less. `fit` says how many.
fn far_bounds<T>(how: &HowArgs, fit: impl Fn(Bounds) -> tilework::Result<(T, f64)>) -> tilework::Result<T> {
    let mut best: Option<(T, f64)> = None;
    let mut failed = None;
    for least in [FAR, FAR / 2, FAR / 4, 1] {
        match bounds_with(how, least).and_then(&fit) {
            Ok(found) if best.as_ref().is_none_or(|best| found.1 < best.1) => best = Some(found),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Limit => failed = Some(error),
            Err(error) => return Err(error),
        }
    }
    match (best, failed) {
        (Some((found, _)), _) => Ok(found),
        (None, failed) => Err(failed.unwrap_or_else(|| Error::new("no bounds for tasks"))), // there was one
    }
}

/// Saves a plan, says it, or does it.
fn go(
    job: &Job,
    plan: &PlanOnlyArgs,
    workers: (&Bounds, Option<Cluster>),
    said: Said,
    output: &mut Output,
) -> Result<(), Stop> {
    if let Some(file) = &plan.save_plan {
        let written = job.to_json().and_then(|text| {
            std::fs::write(file, text + "\n")
                .map_err(|error| Error::new(format!("{}: {error}", file.display())))
        });
        if let Err(error) = written {
            return output.bad(&error, "", None);
        }
        return said.say(None, Some(file), output);
    }
    if plan.dry_run {
        return said.say(None, None, output);
    }
    let start = Instant::now();
    match all(job, None, workers, said.bytes(), output) {
        Ok(done) => said.say(Some((done, start.elapsed().as_secs_f64())), None, output),
        Err(error) => output.bad(&error, "", None),
    }
}

/// Runs all passes, on threads or on a cluster.
fn all(
    job: &Job,
    before: Option<&Stamp>,
    (bounds, cluster): (&Bounds, Option<Cluster>),
    bytes: u128,
    output: &mut Output,
) -> tilework::Result<Done> {
    let ascii = output.look.ascii;
    let open = job.open(before, *bounds)?;
    let passes = open.passes()?;
    let bytes = u64::try_from(bytes / passes.len().max(1) as u128).unwrap_or(u64::MAX);
    let scaled = |done: u64, of: u64| (u128::from(bytes) * u128::from(done) / u128::from(of.max(1))) as u64;
    if let Some(mut cluster) = cluster {
        drop(open);
        let mut shown = (0, Progress::new(bytes, ascii));
        let done = cluster.run(job, &passes, &mut |pass, done, of| {
            if pass != shown.0 {
                std::mem::replace(&mut shown, (pass, Progress::new(bytes, ascii))).1.finish();
            }
            shown.1.update(scaled(done, of));
        });
        shown.1.finish();
        let done = done?;
        job.open(before, *bounds)?.finish()?;
        return Ok(done);
    }
    let source = job.source().to_string_lossy();
    let scratch = scratch_of(job.target());
    fetch_with(open.missing(), (&source, &scratch), output, |progress| open.fetch(progress))?;
    let mut done = Done::default();
    for (pass, &tasks) in passes.iter().enumerate() {
        let progress = Progress::new(bytes, ascii);
        let found = open.run(pass, 0..tasks, &|done| progress.update(scaled(done, tasks)));
        progress.finish();
        let found = found?;
        done.written += found.written;
        done.kept += found.kept;
    }
    open.finish()?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_tasks_at_a_time_as_are_fastest_and_have_the_memory() {
        let how = HowArgs { memory: Some(1 << 30), threads: None, scheduler: None };
        let least = std::thread::available_parallelism().map_or(1, usize::from);
        let of = |seconds: fn(usize) -> tilework::Result<f64>| {
            far_bounds(&how, |bounds| Ok((bounds.threads, seconds(bounds.threads)?)))
        };
        let lacks = || Error::new("memory").of_kind(ErrorKind::Limit);
        assert_eq!(of(|_| Ok(1.0)).ok(), Some(FAR.max(least)));
        assert_eq!(of(|threads| Ok(threads as f64)).ok(), Some(least));
        if least < FAR / 4 {
            assert_eq!(of(|threads| Ok(if threads == FAR / 4 { 1.0 } else { 2.0 })).ok(), Some(FAR / 4));
            let few = |threads| {
                if threads > FAR / 4 { Err(Error::new("").of_kind(ErrorKind::Limit)) } else { Ok(1.0) }
            };
            assert_eq!(of(few).ok(), Some(FAR / 4));
        }
        assert!(far_bounds(&how, |_| Err::<((), f64), Error>(lacks())).is_err());
        assert!(far_bounds(&how, |_| Err::<((), f64), Error>(Error::new("another"))).is_err());
    }
}
