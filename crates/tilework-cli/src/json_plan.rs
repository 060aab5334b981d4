//! The objects of `plan --json`, and what `compare --json` tells of a plan.

use serde::Serialize;
use tilework::{Figures, Nest, Plan};

use crate::subject::Subject;

/// What a plan amounts to.
#[derive(Serialize)]
pub struct Moves {
    pub elements: u64,
    pub bytes_read: u128,
    pub bytes_written: u128,
    pub nests: usize,
    pub starts: u64,
    /// The kind of the nest that moves the most.
    pub kind: Option<String>,
    pub longest_run: u64,
    pub in_longest_runs: u64,
    pub filled: u64,
}

impl Moves {
    pub fn new(plan: &Plan) -> Moves {
        let Figures {
            elements,
            bytes_read,
            bytes_written,
            nests,
            starts,
            filled,
            longest_run,
            in_longest_runs,
            ..
        } = plan.figures();
        let kind = plan.main_kind().map(|kind| kind.to_string());
        Moves {
            elements,
            bytes_read,
            bytes_written,
            nests,
            starts,
            kind,
            longest_run,
            in_longest_runs,
            filled,
        }
    }
}

/// Answer of `plan`.
#[derive(Serialize)]
pub struct Planned<'a> {
    a: String,
    b: String,
    #[serde(flatten)]
    moves: Moves,
    fill: Option<String>,
    fills_first: bool,
    copies: Vec<NestObject<'a>>,
    fills: Vec<NestObject<'a>>,
}

#[derive(Serialize)]
struct NestObject<'a> {
    elements: u64,
    kind: String,
    run: u64,
    start_count: usize,
    starts: &'a [(u64, u64)],
    loops: Vec<LoopObject>,
}

#[derive(Serialize)]
struct LoopObject {
    extent: u64,
    from: i64,
    to: i64,
}

/// The most starts of a nest that are listed.
const MOST_STARTS: usize = 1024;

impl<'a> Planned<'a> {
    pub fn new(a: &Subject, b: &Subject, plan: &'a Plan) -> Planned<'a> {
        let object = |nest: &'a Nest| NestObject {
            elements: nest.elements(),
            kind: nest.kind().to_string(),
            run: nest.run(),
            start_count: nest.starts.len(),
            starts: &nest.starts[..nest.starts.len().min(MOST_STARTS)],
            loops: nest
                .loops
                .iter()
                .map(|each| LoopObject { extent: each.extent, from: each.from, to: each.to })
                .collect(),
        };
        Planned {
            a: a.to_string(),
            b: b.to_string(),
            moves: Moves::new(plan),
            fill: plan.options().fill.map(|fill| format!("{fill:#x}")),
            fills_first: plan.fills_first(),
            copies: plan.copies().iter().map(object).collect(),
            fills: plan.fills().iter().map(object).collect(),
        }
    }
}
