//! `bench`: how fast this machine moves an array from one layout to another.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::Serialize;
use tilework::dialect::Known;
use tilework::{Error, PlanOptions};
use tilework_copy::{Buffer, Pool, Relayout, Threads, Tried};
use tilework_explain::size;
use tilework_files::{available_memory, check_sample};

use crate::NO;
use crate::args::{Args, BenchArgs};
use crate::output::{Output, Stop};
use crate::side::Side;
use crate::subject::Bad;

/// Elements whose places are asked of both layouts after the first run.
const SAMPLE: u64 = 1 << 16;

/// Runs shorter than this are repeated until they are not, because clocks are coarse.
const SHORTEST: Duration = Duration::from_millis(1);

/// The fewest rounds of a measurement.
const ROUNDS: usize = 3;

/// Measures and says.
pub fn bench(bench: &BenchArgs, args: &Args, output: &mut Output) -> Result<(), Stop> {
    match run(bench, args) {
        Ok(measured) => measured.say(output),
        Err(Failure::Bad(bad)) => output.bad(&bad.error, &bad.text, None),
        Err(Failure::Wrong(error)) => {
            output.exit_with(NO);
            output.note(&format!("the relayout is wrong, so there are no figures: {error}"))
        }
    }
}

enum Failure {
    Bad(Bad),
    Wrong(Error),
}

impl From<Bad> for Failure {
    fn from(bad: Bad) -> Failure {
        Failure::Bad(bad)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Bad(Bad::new(error, ""))
    }
}

fn run(bench: &BenchArgs, args: &Args) -> Result<Measured, Failure> {
    let from = Side::read(&bench.from, Known::default(), args)?;
    let (to, conversion) = from.read_to(Some(&bench.to), bench.convert, args)?;
    // What is read and what is written differ where elements are converted.
    let payload = (from.layout.element_bytes() + to.layout.element_bytes()) / 2;
    if payload == 0 {
        return Err(Error::new(format!("{} has no elements", from.said))
            .accepts("an array with elements")
            .into());
    }
    fit_memory(u128::from(from.layout.bytes()) + u128::from(to.layout.bytes()))?;
    let relayout = match conversion {
        Some(conversion) => {
            Relayout::converting(&from.layout, &to.layout, conversion, &PlanOptions::default())?
        }
        None => Relayout::new(&from.layout, &to.layout, &PlanOptions::default())?,
    };
    let mut buffers = Buffers { from: buffer(from.layout.bytes())?, to: buffer(to.layout.bytes())? };
    scramble(&mut buffers.from);

    // The first run finds all pages in memory; it is not timed.
    let all = bench.threads.map_or_else(Threads::all, |threads| Threads::new(threads.into()));
    relayout.run_on(&all, &buffers.from, &mut buffers.to)?;
    let (old, new) = ((&from.layout, &buffers.from[..]), (&to.layout, &buffers.to[..]));
    check_sample(old, new, conversion, SAMPLE).map_err(Failure::Wrong)?;

    let mut widths = vec![1, all.width()];
    widths.dedup();
    let time = Duration::from_secs_f64(bench.seconds / widths.len() as f64);
    let measure = |width| buffers.measure(&relayout, &Threads::new(width), payload, time);
    let rows = widths.into_iter().map(measure).collect::<tilework::Result<Vec<Figures>>>()?;
    let widest = rows.last().map_or(1, |row| row.threads);
    let ways = if bench.explain { Some(relayout.explain(widest)) } else { None };
    Ok(Measured { from: from.said.to_string(), to: to.said.to_string(), payload, rows, ways })
}

/// Refuses what the memory does not hold, before it is asked for: the system would give it and end some process later.
fn fit_memory(need: u128) -> tilework::Result<()> {
    match available_memory() {
        Some(available) if need > u128::from(available) => {
            Err(Error::new(format!("both arrays together take {}", size::bytes(need)))
                .rule(format!("they fit the available memory, {}", size::bytes(available.into())))
                .accepts("smaller dimensions"))
        }
        _ => Ok(()),
    }
}

fn buffer(bytes: u64) -> tilework::Result<Buffer> {
    Buffer::new(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Bytes without a pattern, so that an element at a wrong place shows.
fn scramble(bytes: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in bytes.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let value = state.to_le_bytes();
        word.copy_from_slice(&value[..word.len()]);
    }
}

struct Buffers {
    from: Buffer,
    to: Buffer,
}

impl Buffers {
    /// Times a relayout and a copy in turn.
    fn measure(
        &mut self,
        relayout: &Relayout,
        pool: &Threads,
        payload: u128,
        time: Duration,
    ) -> tilework::Result<Figures> {
        let copied = (payload as usize).min(self.from.len()).min(self.to.len());
        let (mut relayouts, mut copies) = (Vec::new(), Vec::new());
        let start = Instant::now();
        let mut repeats = [1_u32; 2];
        while relayouts.len() < ROUNDS || start.elapsed() < time {
            let first = relayouts.is_empty();
            relayouts
                .push(timed(&mut repeats[0], first, || relayout.run_on(pool, &self.from, &mut self.to))?);
            copies.push(timed(&mut repeats[1], first, || {
                copy(pool, &self.from[..copied], &mut self.to[..copied]);
                Ok(())
            })?);
        }
        // A broadcast array has fewer bytes than elements; then the copy is that of a part.
        let part = copied as f64 / payload as f64;
        Ok(Figures {
            threads: pool.width(),
            rounds: relayouts.len(),
            relayout: median(relayouts),
            copy: median(copies) / part,
        })
    }
}

/// The seconds of one run: of as many together as the clock needs, which the first time finds out.
fn timed(
    repeats: &mut u32,
    first: bool,
    mut run: impl FnMut() -> tilework::Result<()>,
) -> tilework::Result<f64> {
    if first {
        let start = Instant::now();
        run()?;
        let once = start.elapsed().max(Duration::from_nanos(1));
        *repeats = SHORTEST.as_nanos().div_ceil(once.as_nanos()) as u32;
    }
    let start = Instant::now();
    for _ in 0..*repeats {
        run()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(*repeats))
}

/// A copy, each thread its part.
fn copy(pool: &dyn Pool, from: &[u8], to: &mut [u8]) {
    let part = from.len().div_ceil(pool.width()).next_multiple_of(4096);
    let parts: Vec<_> =
        to.chunks_mut(part).zip(from.chunks(part)).map(|part| Mutex::new(Some(part))).collect();
    if let [only] = parts.as_slice() {
        return take(only);
    }
    pool.run(parts.len(), &|number| take(&parts[number]));
}

/// Copies a part, which is there once.
fn take(part: &Mutex<Option<(&mut [u8], &[u8])>>) {
    let part = part.lock().ok().and_then(|mut part| part.take());
    if let Some((to, from)) = part {
        to.copy_from_slice(from);
    }
}

/// Of an even number the upper one.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(0.0)
}

/// What was measured.
struct Measured {
    from: String,
    to: String,
    payload: u128,
    rows: Vec<Figures>,
    /// What is done, if that was asked for.
    ways: Option<Vec<Tried>>,
}

/// The figures of a number of threads, in seconds.
struct Figures {
    threads: usize,
    rounds: usize,
    relayout: f64,
    copy: f64,
}

/// Answer of `bench`.
#[derive(Serialize)]
struct Benched<'a> {
    from: &'a str,
    to: &'a str,
    payload_bytes: u128,
    runs: Vec<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ways: Option<Vec<TriedWay<'a>>>,
}

/// What is done, or was tried.
#[derive(Serialize)]
struct TriedWay<'a> {
    steps: &'a [String],
    /// Lines of memory that are thought to be touched for each line that is read or written.
    estimate: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// The figures of a number of threads.
#[derive(Serialize)]
struct Run {
    threads: usize,
    rounds: usize,
    relayout_seconds: f64,
    relayout_gigabytes_per_second: f64,
    copy_seconds: f64,
    copy_gigabytes_per_second: f64,
    /// Above 1 the relayout is faster than the copy.
    ratio: f64,
}

impl Measured {
    fn say(&self, output: &mut Output) -> Result<(), Stop> {
        let rate = |seconds: f64| 2.0 * self.payload as f64 / seconds / 1e9;
        if output.json {
            let run = |row: &Figures| Run {
                threads: row.threads,
                rounds: row.rounds,
                relayout_seconds: row.relayout,
                relayout_gigabytes_per_second: rate(row.relayout),
                copy_seconds: row.copy,
                copy_gigabytes_per_second: rate(row.copy),
                ratio: row.copy / row.relayout,
            };
            fn way(tried: &Tried) -> TriedWay<'_> {
                TriedWay { steps: &tried.steps, estimate: tried.estimate, seconds: tried.seconds }
            }
            return output.object(&Benched {
                from: &self.from,
                to: &self.to,
                payload_bytes: self.payload,
                runs: self.rows.iter().map(run).collect(),
                ways: self.ways.as_ref().map(|ways| ways.iter().map(way).collect()),
            });
        }
        let mut page = output.new_page();
        let mut rows = vec![
            ("from".to_owned(), self.from.clone()),
            ("to".to_owned(), self.to.clone()),
            ("elements".to_owned(), size::bytes(self.payload)),
        ];
        for row in &self.rows {
            let threads =
                if row.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", row.threads) };
            let text = format!(
                "{}, {:.1} GB/s read and written; a copy {}, {:.1} GB/s; ratio {:.2}",
                seconds(row.relayout),
                rate(row.relayout),
                seconds(row.copy),
                rate(row.copy),
                row.copy / row.relayout
            );
            rows.push((threads, text));
        }
        page.rows(&rows);
        let ways = self.ways.as_deref().unwrap_or_default();
        let time = |way: &Tried| way.seconds.unwrap_or(f64::INFINITY);
        let best = ways.iter().map(time).fold(f64::INFINITY, f64::min);
        for way in ways {
            let mut head = match time(way) <= best {
                true => "What is done".to_owned(),
                false => "Tried as well".to_owned(),
            };
            if way.estimate > 0.0 {
                head.push_str(&format!(", thought to cost {:.2} times a copy", way.estimate));
            }
            if let Some(took) = way.seconds {
                head.push_str(&format!(", took {}", seconds(took)));
            }
            page.heading(&head);
            page.text(&way.steps.iter().map(|step| format!("  {step}")).collect::<Vec<_>>().join("\n"));
        }
        output.page(&page)
    }
}

/// A time in the unit that suits, with three digits.
fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_in_parts_is_whole() {
        for bytes in [1, 4095, 4096, 100_000] {
            for threads in 1..4 {
                let mut from = vec![0; bytes];
                scramble(&mut from);
                let mut to = vec![0; bytes];
                copy(&Threads::new(threads), &from, &mut to);
                assert!(from == to, "{bytes} bytes, {threads} threads");
            }
        }
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let said: Vec<String> = [2.5, 0.0123, 0.000_045_6, 0.1234].into_iter().map(seconds).collect();
        assert_eq!(said, ["2.50 s", "12.3 ms", "45.6 µs", "123 ms"]);
    }
}
