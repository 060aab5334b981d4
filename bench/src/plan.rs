//! `Plan::new`: how long planning takes, and that it does not grow with the array.

use std::hint::black_box;

use tilework::{Layout, Plan, PlanCache, PlanOptions};

use crate::rounds::{Failure, Figure, Rounds};
use crate::{HUGE, Setting, TYPICAL};

/// Plans of the small pairs made in one call.
const BATCH: usize = 16;

/// From, to: what tiles, packed rows, tiles that do not divide each other, transposes and reversals ask of a planner.
const PAIRS: [[&str; 2]; 10] = [
    ["f32[3,5]{1,0:T(2,2)}", "f32[3,5]"],
    ["f32[20,300]{1,0:T(8,128)}", "f32[20,300]"],
    ["bf16[64,300]{1,0:T(8,128)(2,1)}", "bf16[64,300]{1,0:T(8,128)}"],
    ["f32[8,6]{1,0:T(2,3)}", "f32[8,6]{1,0:T(2,2)}"],
    ["f32[2,4,6]", "f32[2,4,6]{0,2,1}"],
    ["f32[10]{0:T(3)}", "f32[10]{strides(-1)}"],
    [TYPICAL, "bf16[4,20,1000,30]"],
    [HUGE, "bf16[4,20000000,1000000,30]"],
    ["f32[1000,1000]{1,0:T(8,128)}", "f32[1000,1000]{0,1:T(8,128)}"],
    ["f32[40000104,40000104]{1,0:T(8,128)}", "f32[40000104,40000104]{0,1:T(8,128)}"],
];

pub fn run(_: &Setting) -> Result<(), Failure> {
    let mut cases = Vec::new();
    for [from, to] in PAIRS {
        let (from, to) = (crate::lower(from)?, crate::lower(to)?);
        let plan = |fill| {
            Plan::new(&from, &to, &PlanOptions { fill, converts: false }).map_err(|error| error.to_string())
        };
        let (copies, fills) = (plan(None)?.copies().len(), plan(Some(0))?.fills().len());
        cases.push((from, to, copies, fills));
    }
    let cache = PlanCache::new(64);
    let cache = &cache;
    let figures = cases.iter().flat_map(|(from, to, ..)| {
        let none = PlanOptions::default();
        let filled = PlanOptions { fill: Some(0), converts: false };
        let kept = none.clone();
        [
            repeat(from, to, move |from, to| drop(black_box(Plan::new(from, to, &none)))),
            repeat(from, to, move |from, to| drop(black_box(Plan::new(from, to, &filled)))),
            repeat(from, to, move |from, to| drop(black_box(cache.plan(from, to, &kept)))),
        ]
    });
    let rounds = Rounds::measure(figures)?;
    println!("| from | to | nests | plan, µs | fills | plan with fills, µs | from the cache, µs |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    for (row, ([from, to], (_, _, copies, fills))) in PAIRS.iter().zip(&cases).enumerate() {
        let [plain, filled, kept] = [0, 1, 2].map(|column| rounds.figure(3 * row + column) / 1000.0);
        println!("| `{from}` | `{to}` | {copies} | {plain:.2} | {fills} | {filled:.2} | {kept:.2} |");
    }
    let growth = [rounds.ratio(21, 18), rounds.ratio(27, 24)];
    println!("\nThe same with 10^9 times the elements: {:.2} and {:.2} times as long.", growth[0], growth[1]);
    Ok(())
}

fn repeat<'a>(from: &'a Layout, to: &'a Layout, work: impl Fn(&Layout, &Layout) + 'a) -> Figure<'a> {
    Figure::new(BATCH, move || {
        for _ in 0..BATCH {
            work(black_box(from), black_box(to));
        }
    })
}
