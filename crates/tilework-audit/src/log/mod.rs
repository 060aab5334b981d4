//! Logs of other compilers and libraries: operations in the order in which they ran, and which of them only move elements.
//!
//! Each kind of log has a reader that puts lines or records into a [`Log`]. What comes of it, [`Logged`](logged::Logged),
//! is the same for all: what the moves cost by pair of formats and one by one, what would save most, and padding.

pub(crate) mod cycle;
mod find;
mod json;
pub(crate) mod kinds;
mod links;
pub(crate) mod logged;
pub(crate) mod neighbours;
pub(crate) mod onednn;
pub(crate) mod onnx;
mod pytorch;
mod records;
mod savings;
mod strides;
mod tensorrt;
pub(crate) mod triton;
pub(crate) mod ttnn;
mod value;
mod ways;

use std::fmt::Write;

use tilework::Layout;

use crate::budget::{Budget, CONCLUDING, PIECE};
use crate::hash::Map;
use crate::store::Store;
use crate::texts::{NONE, Text};
use links::Link;
use logged::{LogKind, Role, Way, Work};
use neighbours::Neighbours;
use savings::Saved;

/// The most different operations of a log, and the most different arrays.
const LIMIT: usize = 1 << 20;

/// The longest sequence in which repetition is looked for.
const SEQUENCE: usize = 1 << 20;

/// The number of an array of a log.
pub(crate) type ArrayId = u32;

/// The number of an operation of a log.
pub(crate) type StepId = u32;

/// An array as a log says it: alike ones are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Array {
    /// The format in the notation's own words, without element type and sizes.
    pub(crate) format: Text,
    /// The element type; the empty text if it is not said.
    pub(crate) element: Text,
    /// `1x64x56x56`; the empty text if they are not said.
    pub(crate) sizes: Text,
    /// Bytes of the elements, and with the padding; none if they are not known.
    pub(crate) bytes: Option<(u64, u64)>,
}

impl Array {
    /// Whether two descriptions may be of one array. What one of them does not say may be anything.
    pub(crate) fn may_be(&self, other: &Array) -> bool {
        let agree = |a: Text, b: Text| a == b || a == NONE || b == NONE;
        self.format == other.format && agree(self.element, other.element) && agree(self.sizes, other.sizes)
    }

    /// Bytes of elements, and of padding.
    pub(crate) fn data_and_waste(&self) -> (u64, u64) {
        self.bytes.map_or((0, 0), |(data, allocated)| (data, allocated.saturating_sub(data)))
    }
}

/// An operation: alike ones are one.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// What it is called: `convolution`.
    pub(crate) operation: Text,
    /// The arrays that it reads and writes, with what each is to it.
    pub(crate) arrays: Box<[(Part, ArrayId)]>,
    /// From what to what, if it does nothing but move.
    pub(crate) moves: Option<(ArrayId, ArrayId)>,
    /// The name of this one, if it has one.
    pub(crate) name: Text,
    /// How a move goes, where that is known.
    pub(crate) way: Option<Way>,
    /// How many loops it is in.
    pub(crate) loops: u32,
}

/// An access of shared memory that takes longer than it could.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) step: StepId,
    pub(crate) from: ArrayId,
    pub(crate) to: ArrayId,
    pub(crate) vector: u64,
    pub(crate) ways: u64,
    pub(crate) loops: u32,
    pub(crate) line: u64,
}

/// What an array is to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Input,
    /// What does not change from one run to the next.
    Weights,
    Output,
    Other,
}

/// Moves that are alike, and stand between the same operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MoveKey {
    pub(crate) step: StepId,
    /// The operation that makes what is moved, and the one that reads it; the empty text if that is not known.
    pub(crate) before: Text,
    pub(crate) after: Text,
    pub(crate) role: Role,
    /// The line of the program; the empty text if that is not known.
    pub(crate) place: Text,
}

/// Runs together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs {
    pub(crate) count: u64,
    /// How many say their time.
    pub(crate) timed: u64,
    pub(crate) nanoseconds: u64,
    /// The line of the first, and its name if it has one.
    pub(crate) line: u64,
    pub(crate) name: Text,
}

impl Runs {
    pub(crate) fn add(&mut self, nanoseconds: Option<u64>, line: u64, name: Text) {
        if self.count == 0 || line < self.line {
            (self.line, self.name) = (line, name);
        }
        self.count += 1;
        self.timed += u64::from(nanoseconds.is_some());
        self.nanoseconds = self.nanoseconds.saturating_add(nanoseconds.unwrap_or(0));
    }

    pub(crate) fn work(&self) -> Work {
        Work { count: self.count, timed: self.timed, nanoseconds: self.nanoseconds, ..Work::default() }
    }
}

/// Everything that was read of one log.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// The file.
    pub(crate) name: String,
    pub(crate) kind: LogKind,
    /// What wrote it.
    pub(crate) writer: Text,
    pub(crate) arrays: Vec<Array>,
    numbers: Map<Array, ArrayId>,
    pub(crate) steps: Vec<Step>,
    /// By the hash of the text that says it.
    known: Map<u64, StepId>,
    /// How often each operation ran.
    pub(crate) runs: Vec<Runs>,
    pub(crate) moves: Map<MoveKey, Runs>,
    /// Moves whose result is moved at once to where it was, or on: the first and the second of the two.
    pub(crate) chains: Map<(StepId, StepId), Runs>,
    /// All operations in their order.
    pub(crate) sequence: Vec<StepId>,
    pub(crate) neighbours: Neighbours,
    /// Arrays by the hash of the text that says them.
    said: Map<u64, ArrayId>,
    /// Which arrays with names operations make and read.
    links: Vec<Link>,
    pub(crate) conflicts: Vec<Conflict>,
    /// Where operations come from.
    pub(crate) places: Map<StepId, Text>,
    /// How often the program says that it repeats itself; 0 if it does not.
    pub(crate) times_told: u64,
    /// What was spent on making operations ready.
    pub(crate) created: Runs,
    /// Moves that move nothing, and are not counted as such.
    pub(crate) idle: u64,
    /// Dimensions whose sizes are not said, and count as 1.
    pub(crate) open: Vec<Text>,
    /// What would save the most, where the reader has found it.
    pub(crate) found: Vec<Saved>,
    pub(crate) overflowed: bool,
}

/// All logs that were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logs {
    list: Vec<Log>,
    /// How long layers take that a profile names.
    times: Map<Text, u64>,
}

impl Logs {
    /// The log of this kind in this file.
    pub(crate) fn of(&mut self, store: &Store, name: &str, kind: LogKind) -> &mut Log {
        let is_it = |log: &Log| log.kind == kind && log.name == name;
        let place = self.list.iter().rposition(is_it).unwrap_or_else(|| {
            let _ = store.budget.take(2 * size_of::<Log>() + name.len() + PIECE);
            self.list.push(Log::new(name, kind));
            self.list.len() - 1
        });
        &mut self.list[place]
    }

    /// Ends all of them, as the file ends that they are in.
    pub(crate) fn end(&mut self, budget: &Budget) {
        for log in &mut self.list {
            log.ends(budget);
            log.join(budget);
            log.layers_took(&self.times);
        }
    }

    /// All but the profiles of engines whose layers are there with their formats.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Log> {
        let is_told =
            |kind| self.list.iter().any(|log| log.kind == kind && log.runs.iter().any(|runs| runs.timed > 0));
        let has_layers = is_told(LogKind::TensorRt);
        self.list.iter().filter(move |log| log.kind != LogKind::TensorRtProfile || !has_layers)
    }
}

impl Log {
    fn new(name: &str, kind: LogKind) -> Log {
        Log {
            name: name.to_owned(),
            kind,
            writer: NONE,
            arrays: Vec::new(),
            numbers: Map::default(),
            steps: Vec::new(),
            known: Map::default(),
            runs: Vec::new(),
            moves: Map::default(),
            chains: Map::default(),
            sequence: Vec::new(),
            neighbours: Neighbours::default(),
            said: Map::default(),
            links: Vec::new(),
            conflicts: Vec::new(),
            places: Map::default(),
            times_told: 0,
            created: Runs::default(),
            idle: 0,
            open: Vec::new(),
            found: Vec::new(),
            overflowed: false,
        }
    }

    /// Forgets what was read, as what follows says it anew.
    fn forget(&mut self) {
        let overflowed = self.overflowed;
        *self = Log { overflowed, ..Log::new(&self.name, self.kind) };
    }

    /// The number of an array; none if there is no room for more.
    pub(crate) fn array(&mut self, budget: &Budget, array: Array) -> Option<ArrayId> {
        if let Some(&number) = self.numbers.get(&array) {
            return Some(number);
        }
        let fits = self.arrays.len() < LIMIT
            && budget.for_one(&mut self.arrays)
            && budget.for_entry(&mut self.numbers)
            && budget.take(CONCLUDING);
        if !fits {
            self.overflowed = true;
            return None;
        }
        let number = self.arrays.len() as ArrayId;
        self.arrays.push(array);
        self.numbers.insert(array, number);
        Some(number)
    }

    /// The array that a text with this hash says, which is read only once; none if there is no room for more.
    fn array_said(&mut self, budget: &Budget, hash: u64, read: impl FnOnce() -> Array) -> Option<ArrayId> {
        if let Some(&array) = self.said.get(&hash) {
            return Some(array);
        }
        let array = self.array(budget, read())?;
        if budget.for_entry(&mut self.said) {
            self.said.insert(hash, array);
        }
        Some(array)
    }

    /// The operation that a text with this hash says, if it was read before.
    #[inline]
    pub(crate) fn known(&self, hash: u64) -> Option<StepId> {
        self.known.get(&hash).copied()
    }

    /// Notes an operation, and that a text with this hash says it; none if there is no room for more.
    pub(crate) fn step(&mut self, budget: &Budget, hash: u64, step: Step) -> Option<StepId> {
        let fits = self.steps.len() < LIMIT
            && budget.for_one(&mut self.steps)
            && budget.for_one(&mut self.runs)
            && budget.for_entry(&mut self.known)
            && budget.take(size_of_val(&*step.arrays) + PIECE);
        if !fits {
            self.overflowed = true;
            return None;
        }
        let number = self.steps.len() as StepId;
        self.steps.push(step);
        self.runs.push(Runs::default());
        self.known.insert(hash, number);
        Some(number)
    }

    /// Notes that an operation ran, in the order of the log.
    pub(crate) fn ran(&mut self, budget: &Budget, step: StepId, nanoseconds: Option<u64>, line: u64) {
        self.runs[step as usize].add(nanoseconds, line, NONE);
        if self.sequence.len() < SEQUENCE {
            // What is looked for in it takes two numbers of each.
            if !budget.for_one(&mut self.sequence) || !budget.take(2 * size_of::<StepId>()) {
                return;
            }
            self.sequence.push(step);
        }
        self.neighbour(budget, step, nanoseconds, line);
    }

    /// Adds runs of a move between two operations.
    pub(crate) fn moved(
        &mut self,
        budget: &Budget,
        key: MoveKey,
        nanoseconds: Option<u64>,
        line: u64,
        name: Text,
    ) {
        if !self.moves.contains_key(&key) {
            let fits =
                self.moves.len() < LIMIT && budget.for_entry(&mut self.moves) && budget.take(CONCLUDING);
            if !fits {
                self.overflowed = true;
                return;
            }
        }
        self.moves.entry(key).or_default().add(nanoseconds, line, name);
    }

    /// Adds a move that another one follows.
    pub(crate) fn chained(
        &mut self,
        budget: &Budget,
        steps: (StepId, StepId),
        nanoseconds: Option<u64>,
        line: u64,
    ) {
        if !self.chains.contains_key(&steps) {
            let fits =
                self.chains.len() < LIMIT && budget.for_entry(&mut self.chains) && budget.take(CONCLUDING);
            if !fits {
                self.overflowed = true;
                return;
            }
        }
        self.chains.entry(steps).or_default().add(nanoseconds, line, NONE);
    }

    pub(crate) fn array_of(&self, array: ArrayId) -> &Array {
        &self.arrays[array as usize]
    }
}

/// Bytes of the elements of a layout, and of all its places.
pub(crate) fn bytes(layout: &Layout) -> Option<(u64, u64)> {
    Some((u64::try_from(layout.element_bytes()).ok()?, layout.bytes()))
}

/// `1x64x56x56`
pub(crate) fn by_x(sizes: &[u64]) -> String {
    let mut text = String::new();
    for (place, size) in sizes.iter().enumerate() {
        let _ = write!(text, "{}{size}", if place == 0 { "" } else { "x" });
    }
    text
}
