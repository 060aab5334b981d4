//! `reshard`, `rechunk` and `run-tasks`: arrays in pieces become the same arrays in other pieces.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use tilework::dialect::Known;
use tilework::sharding::{Mesh, Sharding};
use tilework::words::short_bytes;
use tilework::zarr;
use tilework::{Element, Error, ErrorKind};
use tilework_stores::Stamp;
use tilework_stores::checkpoint::{Reshard, Rule, Written};
use tilework_stores::job::{Job, Rechunk};
use tilework_stores::plan::{Assumed, Plan, Price};
use tilework_stores::run::{Bounds, Done, share};

use crate::args::{Args, HowArgs, PlanOnlyArgs, RechunkArgs, ReshardArgs, RunTasksArgs};
use crate::output::{Output, Stop};
use crate::progress::Progress;
use crate::subject;

/// How many tasks wait for a server at a time, each with a request under way.
const FAR: usize = 16;

fn bounds(how: &HowArgs) -> tilework::Result<Bounds> {
    bounds_with(how, 1)
}

/// With so many threads at least, if nobody says how many.
fn bounds_with(how: &HowArgs, least: usize) -> tilework::Result<Bounds> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = how.threads.map_or(all.max(least), usize::from);
    Bounds::new(how.memory, threads).map_err(|error| error.field("--memory"))
}

/// The bounds for tasks that are planned: of a job that waits for a server as many at a time as have the memory that each needs.
fn bounds_of(job: &Job, how: &HowArgs) -> tilework::Result<Bounds> {
    let needed = match job {
        Job::Rechunk(job) if job.is_far() => job.plan.as_ref().map_or(0, |plan| plan.memory),
        _ => return bounds(how),
    };
    let mut several = [FAR, FAR / 2, FAR / 4].into_iter().filter_map(|least| bounds_with(how, least).ok());
    several.find(|found| found.memory >= needed).map_or_else(|| bounds(how), Ok)
}

pub fn reshard(asked: &ReshardArgs, output: &mut Output) -> Result<(), Stop> {
    let job = Reshard {
        from: asked.from.clone(),
        to: asked.to.clone(),
        mesh: asked.mesh.clone(),
        rules: asked.specs.iter().map(|spec| rule(spec)).collect(),
        only: asked.only.clone(),
        once: asked.once,
        orbax: asked.orbax,
    };
    // Texts are read here first, so that errors have a caret.
    let mesh = match asked.mesh.as_deref().map(Mesh::parse).transpose() {
        Ok(mesh) => mesh,
        Err(error) => return output.bad(&error, asked.mesh.as_deref().unwrap_or_default(), None),
    };
    for rule in &job.rules {
        if let Err(error) = Sharding::parse(&rule.sharding, mesh.as_ref()) {
            return output.bad(&error, &rule.sharding, None);
        }
    }
    let planned = || -> tilework::Result<Written> { Ok(job.open()?.written().clone()) };
    match planned().and_then(|written| Ok((written, bounds(&asked.how)?))) {
        Ok((written, bounds)) => {
            let said = Said::Reshard { job: &job, written };
            go(&Job::Reshard(job.clone()), &asked.plan, &bounds, said, output)
        }
        Err(error) => output.bad(&error, "", None),
    }
}

/// `PATTERN=SPEC` or `SPEC`. A spec of its own has = only within brackets or braces.
fn rule(text: &str) -> Rule {
    let is_name = |name: &str| !name.contains(['(', '{', '[']);
    match text.split_once('=').filter(|(name, _)| is_name(name)) {
        Some((names, sharding)) => Rule { names: Some(names.to_owned()), sharding: sharding.to_owned() },
        None => Rule { names: None, sharding: text.to_owned() },
    }
}

pub fn rechunk(asked: &RechunkArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    let lie = match &asked.order {
        None => Lie::default(),
        Some(text) => match lie(text, asked, args) {
            Ok(lie) => lie,
            Err(error) => return output.bad(&error, text, None),
        },
    };
    let planned = || -> tilework::Result<(Rechunk, Bounds)> {
        let job = Rechunk {
            from: asked.from.clone(),
            to: asked.to.clone(),
            shards: lie.tiles.as_ref().map(|_| asked.chunks.clone()).or_else(|| asked.shards.clone()),
            chunks: lie.tiles.unwrap_or_else(|| asked.chunks.clone()),
            order: lie.order,
            compression: asked.compress.clone(),
            plan: None,
        };
        if !job.is_far() {
            let bounds = bounds(&asked.how)?;
            let workers = asked.workers.unwrap_or(bounds.threads as u64);
            return Ok((job.planned(bounds.memory, Assumed::files(workers, &job.from, &job.to))?, bounds));
        }
        let plan = |least| {
            let bounds = bounds_with(&asked.how, least)?;
            let under_way = bounds.threads as f64;
            let assumed = Assumed { under_way, ..Assumed::objects(asked.workers.unwrap_or(1)) };
            Ok((job.planned(bounds.memory, assumed)?, bounds))
        };
        // Fewer requests at a time where each task then has the memory that it needs.
        let mut found: tilework::Result<(Rechunk, Bounds)> = plan(FAR);
        for least in [FAR / 2, FAR / 4, 1] {
            match &found {
                Err(error) if error.kind() == ErrorKind::Limit => found = plan(least),
                _ => break,
            }
        }
        found
    };
    match planned() {
        Ok((job, bounds)) => {
            let Some(plan) = &job.plan else { return Ok(()) }; // just made
            let price = match plan.price() {
                Ok(price) => price,
                Err(error) => return output.bad(&error, "", None),
            };
            go(
                &Job::Rechunk(job.clone()),
                &asked.plan,
                &bounds,
                Said::Rechunk { job: &job, plan, price },
                output,
            )
        }
        Err(error) => output.bad(&error, "", None),
    }
}

/// How the elements of a chunk lie.
#[derive(Default)]
struct Lie {
    /// The sizes of a tile: a chunk of tiles is a shard of chunks, and its places are the same.
    tiles: Option<Vec<u64>>,
    /// The dimensions from major to minor, in a tile if there are some.
    order: Option<Vec<usize>>,
}

/// Reads a layout for the sizes of a chunk: an order of dimensions, or tiles that Zarr has a word for.
fn lie(text: &str, asked: &RechunkArgs, args: &Args) -> tilework::Result<Lie> {
    let chunks = &asked.chunks;
    let known = Known::array(chunks, Element::U8);
    let said = subject::read_one(text, None, known, args).map_err(|bad| bad.error)?;
    let layout = said.layout()?;
    let fail = |rule: &str| {
        Error::new(format!("chunks that lie as {said}"))
            .rule(rule)
            .accepts("an order such as '{0,1}', or whole tiles such as '{1,0:T(8,128)}'")
    };
    if layout.dims() != chunks {
        return Err(fail(&format!("--to is a layout of a chunk, which --chunks says is {chunks:?}")));
    }
    if let Some(strides) = layout.to_strides().ok().filter(|_| layout.is_packed() == Some(true)) {
        let found = said.minor_to_major();
        let order = found.map(|minor| minor.iter().rev().copied().collect::<Vec<usize>>());
        let order = order.filter(|order| order.len() == chunks.len()).unwrap_or_else(|| {
            let mut order: Vec<usize> = (0..chunks.len()).collect();
            order.sort_by_key(|&dim| std::cmp::Reverse(strides.strides[dim]));
            order
        });
        return Ok(Lie { tiles: None, order: Some(order) });
    }
    let tiled = zarr::DIALECT.say.and_then(|say| say(&layout, Element::U8).ok());
    let tiled = tiled.as_ref().and_then(|tiled| tiled.get::<zarr::Array>());
    let tiled = tiled.filter(|tiled| tiled.shards().is_none()).ok_or_else(|| {
        fail("tiles of a chunk are chunks of a shard, which lie one behind the other, the last dimension first")
    })?;
    if asked.shards.is_some() {
        return Err(fail("a chunk of tiles is a shard of chunks, and there are no shards of shards"));
    }
    let order = tiled.order().map_or_else(|| (0..chunks.len()).collect(), <[usize]>::to_vec);
    Ok(Lie { tiles: Some(tiled.chunks().to_vec()), order: Some(order) })
}

/// Saves a plan, says it, or does it.
fn go(job: &Job, plan: &PlanOnlyArgs, bounds: &Bounds, said: Said, output: &mut Output) -> Result<(), Stop> {
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
    match all(job, None, bounds, said.bytes(), output.look.ascii) {
        Ok(done) => said.say(Some((done, start.elapsed().as_secs_f64())), None, output),
        Err(error) => output.bad(&error, "", None),
    }
}

/// Runs all passes.
fn all(
    job: &Job,
    before: Option<&Stamp>,
    bounds: &Bounds,
    bytes: u128,
    ascii: bool,
) -> tilework::Result<Done> {
    let open = job.open(before, bounds.window)?;
    let mut done = Done::default();
    let passes = open.passes()?;
    for (pass, &tasks) in passes.iter().enumerate() {
        let bytes = u64::try_from(bytes / passes.len() as u128).unwrap_or(u64::MAX);
        let progress = Progress::new(bytes, ascii);
        let scaled =
            |tasks_done: u64| (u128::from(bytes) * u128::from(tasks_done) / u128::from(tasks.max(1))) as u64;
        let found =
            open.run(pass, 0..tasks, bounds.threads, &|tasks_done| progress.update(scaled(tasks_done)));
        progress.finish();
        let found = found?;
        done.written += found.written;
        done.kept += found.kept;
    }
    open.finish()?;
    Ok(done)
}

pub fn run_tasks(asked: &RunTasksArgs, output: &mut Output) -> Result<(), Stop> {
    let run = || -> tilework::Result<(Done, Job)> {
        let text = std::fs::read_to_string(&asked.plan)
            .map_err(|error| Error::new(format!("{}: {error}", asked.plan.display())))?;
        let (job, before) = Job::from_json(&text)?;
        let bounds = bounds_of(&job, &asked.how)?;
        let open = job.open(before.as_ref(), bounds.window)?;
        let Some((part, parts)) = asked.part else {
            if asked.finish {
                open.finish()?;
                return Ok((Done::default(), job));
            }
            drop(open);
            return Ok((all(&job, before.as_ref(), &bounds, 0, output.look.ascii)?, job));
        };
        let pass = asked.pass.unwrap_or(1) - 1;
        let passes = open.passes()?;
        let tasks =
            usize::try_from(pass).ok().and_then(|pass| passes.get(pass).copied()).ok_or_else(|| {
                Error::new(format!("--pass {}", pass + 1)).accepts(format!("1 to {}", passes.len()))
            })?;
        let done = open.run(pass as usize, share(tasks, part - 1, parts), bounds.threads, &|_| {})?;
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

fn pieces(done: Done) -> String {
    match done.kept {
        0 => format!("{} written", done.written),
        kept => format!("{} written, {kept} there from an earlier run", done.written),
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

/// What is said of a job.
enum Said<'a> {
    Reshard { job: &'a Reshard, written: Written },
    Rechunk { job: &'a Rechunk, plan: &'a Plan, price: Price },
}

/// Answer of `reshard` and `rechunk`.
#[derive(Serialize)]
struct Answer<'a> {
    input: String,
    output: String,
    /// Whether it was done, or only planned.
    done: bool,
    /// How many tasks each pass has.
    tasks: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<&'a Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a Plan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'a Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

impl Said<'_> {
    /// Bytes that are written.
    fn bytes(&self) -> u128 {
        match self {
            Said::Reshard { written, .. } => written.bytes,
            Said::Rechunk { price, .. } => price.written,
        }
    }

    fn ends(&self) -> [&Path; 2] {
        match self {
            Said::Reshard { job, .. } => [&job.from, &job.to],
            Said::Rechunk { job, .. } => [&job.from, &job.to],
        }
    }

    fn say(&self, done: Option<(Done, f64)>, saved: Option<&Path>, output: &mut Output) -> Result<(), Stop> {
        let [input, target] = self.ends().map(|path| path.display().to_string());
        if output.json {
            let (price, plan, files) = match self {
                Said::Reshard { written, .. } => (None, None, Some(written)),
                Said::Rechunk { plan, price, .. } => (Some(price), Some(*plan), None),
            };
            return output.object(&Answer {
                input,
                output: target,
                done: done.is_some(),
                tasks: match self {
                    Said::Reshard { written, .. } => vec![written.files],
                    Said::Rechunk { plan, .. } => {
                        plan.passes.iter().map(|pass| pass.tasks().map_or(0, |tasks| tasks.count())).collect()
                    }
                },
                price,
                plan,
                files,
                written: done.map(|(done, _)| done.written),
                kept: done.map(|(done, _)| done.kept),
                seconds: done.map(|(_, seconds)| seconds),
            });
        }
        let mut rows = vec![("from".to_owned(), input), ("to".to_owned(), target)];
        let mut row = |name: &str, text: String| rows.push((name.to_owned(), text));
        match self {
            Said::Reshard { written, .. } => {
                let largest = short_bytes(written.largest.into());
                row(
                    "devices",
                    match written.chunks {
                        None => format!("{}, a file each of about {largest}", written.files),
                        Some(chunks) => {
                            format!("{}, with {chunks} chunks of up to {largest}", written.files)
                        }
                    },
                );
                row(
                    "reads",
                    format!("{} of elements, in {} parts", short_bytes(written.read), written.requests),
                );
                row("writes", short_bytes(written.bytes));
                if let Some((name, dim, size, parts)) = written.uneven.first() {
                    let more = written.uneven.len() - 1;
                    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                    row(
                        "uneven",
                        format!(
                            "{name}: dimension {dim} of size {size} in {parts} parts, rounded up as XLA does{more}"
                        ),
                    );
                }
                if !written.replicated.is_empty() {
                    let shown =
                        written.replicated.iter().take(3).cloned().collect::<Vec<String>>().join(", ");
                    let more = written.replicated.len().saturating_sub(3);
                    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                    row("replicated", format!("{shown}{more}: no --spec fits"));
                }
            }
            Said::Rechunk { plan, price, .. } => {
                for (number, pass) in plan.passes.iter().enumerate() {
                    let cost = plan.price_of(pass).unwrap_or_default();
                    let sizes: Vec<u64> = pass
                        .to
                        .grid
                        .cuts()
                        .iter()
                        .map(|cut| cut.regular().unwrap_or(cut.largest()))
                        .collect();
                    let name = if plan.passes.len() > 1 {
                        format!("pass {}", number + 1)
                    } else {
                        "plan".to_owned()
                    };
                    let count =
                        |count: u128, noun| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
                    let pieces = count(pass.to.grid.count().into(), "piece");
                    let (tasks, memory) = (count(cost.tasks, "task"), short_bytes(cost.memory));
                    row(&name, format!("{pieces} of {sizes:?} by {tasks} of up to {memory} of memory"));
                }
                row("reads", format!("{} in {} requests", short_bytes(price.read), price.gets));
                // What compresses makes less of it; how much, nobody knows before.
                let is_compressed = plan.passes.iter().any(|pass| pass.to.cost.coding > 0);
                let most = if is_compressed { "up to " } else { "" };
                row("writes", format!("{most}{} in {} requests", short_bytes(price.written), price.puts));
                let a = plan.assumed;
                if done.is_none() {
                    row(
                        "time",
                        format!(
                            "about {} with {} at a time, each reading {} GB/s and writing {} GB/s, {:.0} µs a request",
                            time(price.seconds),
                            a.workers,
                            a.read / 1e9,
                            a.write / 1e9,
                            a.wait * 1e6
                        ),
                    );
                }
            }
        }
        match (done, saved) {
            (Some((done, seconds)), _) => {
                row("pieces", pieces(done));
                if seconds >= 0.5 {
                    row("took", time(seconds));
                }
            }
            (None, Some(file)) => {
                row("plan saved", format!("{}; tilework run-tasks runs it", file.display()))
            }
            (None, None) => row("done", "nothing: this was --dry-run".to_owned()),
        }
        let mut page = output.new_page();
        page.rows(&rows);
        output.page(&page)
    }
}

/// Seconds in words.
fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds if seconds < 6000.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 2e5 => format!("{:.1} h", seconds / 3600.0),
        seconds => format!("{:.0} days", seconds / 86400.0),
    }
}
