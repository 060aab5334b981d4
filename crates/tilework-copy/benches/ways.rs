//! Every way in which plans can be moved, beside a memory copy of the same bytes: whether the estimate picks the right one.
//!
//! ```text
//! cargo bench -p tilework-copy --bench ways -- FILE       lines with two layouts, each within single quotes
//! ```
//!
//! The first is what is chosen; then comes what is done where each of the ways is taken wherever it can be. For each: how fast it is beside the copy (above 1 is faster), and what it was thought to cost for each line that is read
//! or written.

use std::time::Instant;

use tilework::dialect;
use tilework_copy::Relayout;
use tilework_core::{Layout, Plan, PlanOptions};

fn layout(text: &str) -> Layout {
    let said = dialect::read_one(text.trim()).unwrap_or_else(|error| panic!("{text}: {error}"));
    said.layout().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn main() {
    let files = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    for line in files.flat_map(|file| {
        std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    }) {
        let quoted: Vec<&str> = line.split('\'').collect();
        let [_, from, _, to, ..] = quoted[..] else { continue };
        let plan = Plan::new(&layout(from), &layout(to), &PlanOptions::default()).unwrap();
        let source: Vec<u8> = (0..plan.from().bytes()).map(|k| ((k * 40503) >> 3) as u8).collect();
        let mut out = vec![1_u8; plan.to().bytes() as usize];
        let copied = source.len().min(out.len());
        let begin = Instant::now();
        let mut ways = Relayout::ways(&plan);
        let made = begin.elapsed().as_micros();
        let mut times = vec![f64::INFINITY; ways.len() + 1];
        let begin = Instant::now();
        let mut round = 0;
        while round < 7 || begin.elapsed().as_millis() < 150 && round < 200 {
            for k in 0..times.len() {
                let begin = Instant::now();
                let repeat = (100_000 / copied.max(1)).clamp(1, 50);
                for _ in 0..repeat {
                    if k == 0 {
                        out[..copied].copy_from_slice(&source[..copied]);
                    } else {
                        ways[k - 1].1.run(&source, &mut out).unwrap();
                    }
                    std::hint::black_box(&mut out);
                }
                times[k] = times[k].min(begin.elapsed().as_secs_f64() / repeat as f64);
            }
            round += 1;
        }
        println!("{line}  {:.2} MiB, {made} us to make all", copied as f64 / f64::from(1 << 20));
        let best = times[2..].iter().copied().fold(f64::INFINITY, f64::min);
        for (k, (tried, _)) in ways.drain(..).enumerate() {
            let ratio = times[0] / times[k + 1];
            let mark = if k > 0 && times[k + 1] == best { "*" } else { " " };
            let steps = tried.steps.join("\n                         ");
            println!("  {mark} {ratio:6.2}   cost {:7.2}   {steps}", tried.estimate);
        }
    }
}
