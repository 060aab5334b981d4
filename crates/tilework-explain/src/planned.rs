//! The objects of `plan --json`, and what `compare --json` tells of a plan.

use serde::Serialize;
use tilework::{Figures, Nest, Plan};

/// What a plan amounts to.
#[derive(Serialize)]
pub struct Moves {
    /// Elements that are moved.
    pub elements: u64,
    /// An element that is broadcast counts each time.
    pub bytes_read: u128,
    /// Padding that is filled included.
    pub bytes_written: u128,
    /// Nests of loops that move elements.
    pub nests: usize,
    /// Starts of all these nests.
    pub starts: u64,
    /// The kind of the nest that moves the most.
    pub kind: Option<String>,
    /// Runs of elements that are neighbours on both sides.
    pub runs: u64,
    /// The longest run of elements that are neighbours on both sides.
    pub longest_run: u64,
    /// Elements that are moved in the nests of the longest run.
    pub in_longest_runs: u64,
    /// Places filled.
    pub filled: u64,
}

impl Moves {
    /// Counts what a plan does.
    pub fn new(plan: &Plan) -> Moves {
        let Figures {
            elements,
            bytes_read,
            bytes_written,
            nests,
            starts,
            filled,
            runs,
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
            runs,
            longest_run,
            in_longest_runs,
            filled,
        }
    }
}

/// A plan, as `tilework plan --json` prints it.
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
    /// All of a plan from `a` to `b`, which are its texts.
    pub fn new(a: String, b: String, plan: &'a Plan) -> Planned<'a> {
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
            a,
            b,
            moves: Moves::new(plan),
            fill: plan.options().fill.map(|fill| format!("{fill:#x}")),
            fills_first: plan.fills_first(),
            copies: plan.copies().iter().map(object).collect(),
            fills: plan.fills().iter().map(object).collect(),
        }
    }
}
