//! What is said of a job: what it costs, what it did.

use std::path::Path;

use serde::Serialize;
use tilework::words::short_bytes;
use tilework_stores::checkpoint::{Reshard, Written};
use tilework_stores::job::Rechunk;
use tilework_stores::plan::{Plan, Price};
use tilework_stores::run::Done;

use crate::output::{Output, Stop};

pub(super) fn pieces(done: Done) -> String {
    match done.kept {
        0 => format!("{} written", done.written),
        kept => format!("{} written, {kept} there from an earlier run", done.written),
    }
}

/// What is said of a job.
pub(super) enum Said<'a> {
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
    pub(super) fn bytes(&self) -> u128 {
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

    pub(super) fn say(
        &self,
        done: Option<(Done, f64)>,
        saved: Option<&Path>,
        output: &mut Output,
    ) -> Result<(), Stop> {
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
        match self {
            Said::Reshard { written, .. } => checkpoint(written, &mut rows),
            Said::Rechunk { plan, price, .. } => array(plan, price, done.is_none(), &mut rows),
        }
        let mut row = |name: &str, text: String| rows.push((name.to_owned(), text));
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

/// What is read and written of a checkpoint.
fn checkpoint(written: &Written, rows: &mut Vec<(String, String)>) {
    let mut row = |name: &str, text: String| rows.push((name.to_owned(), text));
    let more = |more: usize| if more > 0 { format!(", and {more} more") } else { String::new() };
    let largest = short_bytes(written.largest.into());
    let devices = match written.chunks {
        None if written.files == 1 => format!("1, a file of about {largest}"),
        None => format!("{}, a file each of about {largest}", written.files),
        Some(chunks) => format!("{}, with {chunks} chunks of up to {largest}", written.files),
    };
    row("devices", devices);
    row("reads", format!("{} of elements, in {} parts", short_bytes(written.read), written.requests));
    row("writes", short_bytes(written.bytes));
    if let Some((name, dim, size, parts)) = written.uneven.first() {
        let more = more(written.uneven.len() - 1);
        let parts = format!("{name}: dimension {dim} of size {size} in {parts} parts");
        row("uneven", format!("{parts}, rounded up as XLA does{more}"));
    }
    if !written.replicated.is_empty() {
        let shown: Vec<&str> = written.replicated.iter().take(3).map(String::as_str).collect();
        let more = more(written.replicated.len() - shown.len());
        row("replicated", format!("{}{more}: no --spec fits", shown.join(", ")));
    }
}

/// What a plan for an array costs.
fn array(plan: &Plan, price: &Price, is_before: bool, rows: &mut Vec<(String, String)>) {
    let mut row = |name: &str, text: String| rows.push((name.to_owned(), text));
    let count = |count: u128, noun| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    for (number, pass) in plan.passes.iter().enumerate() {
        let cost = plan.price_of(pass).unwrap_or_default();
        let cuts = pass.to.grid.cuts().iter();
        let sizes: Vec<u64> = cuts.map(|cut| cut.regular().unwrap_or(cut.largest())).collect();
        let name = if plan.passes.len() > 1 { format!("pass {}", number + 1) } else { "plan".to_owned() };
        let pieces = count(pass.to.grid.count().into(), "piece");
        let (tasks, memory) = (count(cost.tasks, "task"), short_bytes(cost.memory));
        row(&name, format!("{pieces} of {sizes:?} by {tasks} of up to {memory} of memory"));
    }
    row("reads", format!("{} in {}", short_bytes(price.read), count(price.gets, "request")));
    // What compresses makes less of it; how much, nobody knows before.
    let is_compressed = plan.passes.iter().any(|pass| pass.to.cost.coding > 0);
    let most = if is_compressed { "up to " } else { "" };
    row("writes", format!("{most}{} in {}", short_bytes(price.written), count(price.puts, "request")));
    if is_before {
        let assumed = plan.assumed;
        let each = format!(
            "each reading {} GB/s and writing {} GB/s, {} a request",
            assumed.read / 1e9,
            assumed.write / 1e9,
            match assumed.wait {
                wait if wait < 1e-3 => format!("{:.0} µs", wait * 1e6),
                wait => time(wait),
            }
        );
        row("time", format!("about {} with {} at a time, {each}", time(price.seconds), assumed.workers));
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
