//! What PyTorch's profiler writes (`export_chrome_trace`): operators with sizes and strides, kernels with the operator that
//! started them, and lines of the program.
//!
//! ```text
//! {"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 1, "tid": 1, "ts": 100.5, "dur": 40.2, "args": {"External id": 7,
//!   "Input Dims": [[8,64,56,56],[8,64,56,56],[]], "Input Strides": [[200704,1,3584,64],[200704,3136,56,1],[]],
//!   "Input type": ["float","float","Scalar"]}}
//! {"ph": "X", "cat": "kernel", "name": "…nchwToNhwcKernel…", "dur": 12.1, "args": {"External id": 7}, …}
//! ```
//!
//! `aten::copy_` is what all of `contiguous`, `clone`, `to` and `reshape` come to. Where a trace has kernels, times are theirs; else
//! those of operators. An event stands within another one if it ran on the same thread meanwhile.

use std::cmp::Reverse;
use std::sync::LazyLock;
use tilework::InOrder;

use memchr::memmem::Finder;
use tilework::Layout;

use super::json::Record;
use super::logged::{LogKind, Role};
use super::strides::words;
use super::value::Value;
use super::{Array, ArrayId, Log, MoveKey, Step, StepId, by_x, bytes};
use crate::budget::Budget;
use crate::hash::Map;
use crate::read::Reading;
use crate::store::Store;
use crate::texts::{NONE, Text};

/// The most events that are kept.
const LIMIT: usize = 1 << 22;

/// No name of a kernel or of a place is shown longer.
const NAME: usize = 120;

/// Element types, as the profiler calls them, with the names of NumPy and their bits.
const TYPES: [(&str, &str, u32); 14] = [
    ("float", "float32", 32),
    ("double", "float64", 64),
    ("c10::Half", "float16", 16),
    ("c10::BFloat16", "bfloat16", 16),
    ("long int", "int64", 64),
    ("long", "int64", 64),
    ("int", "int32", 32),
    ("short", "int16", 16),
    ("signed char", "int8", 8),
    ("unsigned char", "uint8", 8),
    ("bool", "bool", 8),
    ("c10::Float8_e4m3fn", "float8_e4m3fn", 8),
    ("c10::Float8_e5m2", "float8_e5m2", 8),
    ("c10::complex<float>", "complex64", 64),
];

/// Operators that only pass on what they are given, or bring it into another form.
const PASSING: [&str; 9] = [
    "aten::contiguous",
    "aten::clone",
    "aten::to",
    "aten::_to_copy",
    "aten::reshape",
    "aten::copy_",
    "aten::flatten",
    "aten::type_as",
    "aten::_reshape_copy",
];

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Operator,
    /// One that only passes on.
    Passing,
    /// A function of the program.
    Place,
}

/// An event on a thread.
#[derive(Clone, Copy, Debug)]
struct Event {
    thread: u64,
    start: u64,
    length: u64,
    name: Text,
    what: What,
    /// From what to what, of a copy.
    moves: Option<(ArrayId, ArrayId)>,
    /// The time of its kernels.
    on_device: u64,
    kernels: u32,
    line: u64,
}

/// A trace that is being read.
#[derive(Debug, Default)]
pub(super) struct Trace {
    events: Vec<Event>,
    /// Operators by the number that kernels know them by.
    operators: Map<u64, u32>,
    /// Kernels: the operator's number, the name, the time and the line.
    kernels: Vec<(u64, Text, u64, u64)>,
    /// Steps that the program marked.
    steps: u64,
    overflowed: bool,
}

impl Reading<'_> {
    /// Reads an event.
    pub(super) fn trace_record(&mut self, trace: &mut Trace, record: &Record<'_>) {
        if !may_matter(record.text) {
            return;
        }
        // Of copies alone, it matters what they are given.
        static COPY: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"aten::copy_\""));
        let is_copy = COPY.find(record.text).is_some();
        let Some(event) = Value::with(record.text, if is_copy { |_| true } else { is_wanted }) else {
            return self.store.complaints.add(record.line, "an event of a trace that cannot be read");
        };
        let text = |key: &str| event.get(key).and_then(Value::text).unwrap_or("");
        let (category, name) = (text("cat"), text("name"));
        if text("ph") != "X" {
            return;
        }
        let nanoseconds = |key: &str| {
            let value = event.get(key).and_then(Value::number)? * 1e3;
            (0.0..9e18).contains(&value).then(|| value.round() as u64)
        };
        let Some(length) = nanoseconds("dur") else { return };
        let arguments = event.get("args");
        let id = arguments.and_then(|arguments| {
            arguments.get("External id").or_else(|| arguments.get("external id"))?.number()
        });
        let id = id.filter(|id| *id > 0.0).map(|id| id as u64);
        match category {
            "kernel" | "Kernel" => {
                let name = self.store.texts.number(shortened(name).as_bytes());
                if !self.room(&trace.kernels) || !self.store.budget.for_one(&mut trace.kernels) {
                    return trace.overflowed = true;
                }
                trace.kernels.push((id.unwrap_or(0), name, length, record.line));
            }
            "gpu_memcpy" | "gpu_memset" => {
                // Between host and device, nothing is brought into another form.
                let name = self.store.texts.number(name.as_bytes());
                if !self.room(&trace.kernels) || !self.store.budget.for_one(&mut trace.kernels) {
                    return trace.overflowed = true;
                }
                trace.kernels.push((id.unwrap_or(0), name, length, record.line));
            }
            "user_annotation" | "cpu_op" | "Operator" if name.starts_with("ProfilerStep#") => {
                trace.steps += 1
            }
            "cpu_op" | "Operator" | "python_function" => {
                let Some(start) = nanoseconds("ts") else { return };
                let what = match category {
                    "python_function" if is_of_libraries(name) => return,
                    "python_function" => What::Place,
                    _ if PASSING.contains(&name) => What::Passing,
                    _ => What::Operator,
                };
                let moves = (name == "aten::copy_").then(|| self.copied(arguments)).flatten();
                let thread = {
                    let number = |key: &str| match event.get(key) {
                        Some(Value::Number(number)) => number.to_bits(),
                        // The same in each run, as the order of threads is theirs.
                        Some(Value::Text(text)) => {
                            text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
                            })
                        }
                        _ => 0,
                    };
                    number("pid").rotate_left(17) ^ number("tid")
                };
                let name = self.store.texts.number(shortened(name).as_bytes());
                let budget = &self.store.budget;
                let fits = trace.events.len() < LIMIT
                    && budget.for_one(&mut trace.events)
                    && budget.for_entry(&mut trace.operators);
                if !fits {
                    return trace.overflowed = true;
                }
                if let (Some(id), false) = (id, what == What::Place) {
                    trace.operators.insert(id, trace.events.len() as u32);
                }
                let line = record.line;
                trace.events.push(Event {
                    thread,
                    start,
                    length,
                    name,
                    what,
                    moves,
                    on_device: 0,
                    kernels: 0,
                    line,
                });
            }
            _ => {}
        }
    }

    fn room<T>(&self, list: &[T]) -> bool {
        list.len() < LIMIT
    }

    /// From what to what an `aten::copy_` goes.
    fn copied(&mut self, arguments: Option<&Value<'_>>) -> Option<(ArrayId, ArrayId)> {
        let lists = ["Input Dims", "Input Strides", "Input type"]
            .map(|key| arguments.and_then(|arguments| arguments.get(key)).map_or(&[][..], Value::list));
        let log = self.logs.of(self.store, self.name, LogKind::PyTorch);
        let budget = self.store.budget.clone();
        let mut key = Vec::new();
        let mut array = |number: usize| {
            let [sizes, strides, kind] = lists.map(|list| list.get(number));
            key.clear();
            for part in [sizes, strides, kind] {
                part.unwrap_or(&Value::Other).key(&mut key);
            }
            let hash = self.store.seed.of(&key);
            log.array_said(&budget, hash, || {
                let (sizes, strides) = (sizes.and_then(Value::numbers), strides.and_then(Value::numbers));
                let kind = kind.and_then(Value::text).unwrap_or("");
                self.store.strided(sizes.as_deref(), strides.as_deref(), kind)
            })
        };
        let (to, from) = (array(0), array(1));
        from.zip(to)
    }

    /// Concludes from a trace when all of it was read.
    pub(super) fn trace_ends(&mut self, mut trace: Trace) {
        let log = self.logs.of(self.store, self.name, LogKind::PyTorch);
        log.overflowed |= trace.overflowed;
        log.times_told = trace.steps;
        let has_kernels = !trace.kernels.is_empty();
        for (id, name, nanoseconds, line) in std::mem::take(&mut trace.kernels) {
            let own = trace.operators.get(&id).copied();
            let operator = own.map_or(NONE, |own| trace.events[own as usize].name);
            self.store.ran(log, name, nanoseconds, line);
            match (own, self.store.changed(name)) {
                (_, Some((from, to))) => {
                    let budget = &self.store.budget;
                    let arrays = log.array(budget, from).zip(log.array(budget, to));
                    if let Some(moves) = arrays {
                        self.store.moved(log, moves, name, operator, NONE, Some(nanoseconds), line);
                    }
                }
                (Some(own), None) => {
                    let event = &mut trace.events[own as usize];
                    event.on_device = event.on_device.saturating_add(nanoseconds);
                    event.kernels += 1;
                }
                (None, None) => {}
            }
        }
        // What ran meanwhile on the same thread stands behind what it ran in.
        let mut events = std::mem::take(&mut trace.events);
        events.order_by_key(|event| (event.thread, event.start, Reverse(event.length)));
        let mut open: Vec<usize> = Vec::new();
        for at in 0..events.len() {
            let event = events[at];
            while let Some(&last) = open.last() {
                let outer = events[last];
                if outer.thread == event.thread && event.start < outer.start.saturating_add(outer.length) {
                    break;
                }
                open.pop();
            }
            let is_outermost = !open.iter().any(|&outer| events[outer].what != What::Place);
            if !has_kernels && is_outermost && event.what != What::Place {
                self.store.ran(log, event.name, event.length, event.line);
            }
            if let Some(moves) = event.moves {
                let near = |what: What| open.iter().rev().find(|&&outer| events[outer].what == what);
                let reader = near(What::Operator).map_or(NONE, |&outer| events[outer].name);
                let place = near(What::Place).map_or(NONE, |&outer| events[outer].name);
                // The outermost of those that only pass on says what the program asked for.
                let passing =
                    open.iter().rev().take_while(|&&outer| events[outer].what == What::Passing).last();
                let name = passing.map_or(event.name, |&outer| events[outer].name);
                let time = if has_kernels { event.on_device } else { event.length };
                // A copy without a kernel of its own happens on the host, or is a part of another.
                if !has_kernels || event.kernels > 0 {
                    self.store.moved(log, moves, name, reader, place, Some(time), event.line);
                }
            }
            // Events nest as deep as the stack of a program.
            if open.len() < 1 << 10 {
                open.push(at);
            }
        }
        let budget = &self.store.budget;
        budget.give_list(&events);
        budget.give_map(&trace.operators);
    }
}

impl Store {
    /// Notes that something ran.
    fn ran(&mut self, log: &mut Log, name: Text, nanoseconds: u64, line: u64) {
        let step = self.step_of(log, name, None);
        if let Some(step) = step {
            log.runs[step as usize].add(Some(nanoseconds), line, NONE);
        }
    }

    fn step_of(&self, log: &mut Log, name: Text, moves: Option<(ArrayId, ArrayId)>) -> Option<StepId> {
        let (from, to) = moves.map_or((u32::MAX, u32::MAX), |moves| moves);
        let mut key = [0; 12];
        for (place, number) in [name, from, to].into_iter().enumerate() {
            key[4 * place..][..4].copy_from_slice(&number.to_le_bytes());
        }
        let hash = self.seed.of(&key);
        log.known(hash).or_else(|| {
            log.step(
                &self.budget,
                hash,
                Step { operation: name, arrays: Box::default(), moves, name: NONE, way: None, loops: 0 },
            )
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn moved(
        &mut self,
        log: &mut Log,
        moves: (ArrayId, ArrayId),
        name: Text,
        after: Text,
        place: Text,
        nanoseconds: Option<u64>,
        line: u64,
    ) {
        let Some(step) = self.step_of(log, name, Some(moves)) else { return };
        let is_between = log.is_of_layout(moves.0, moves.1);
        let role = if is_between { Role::Between } else { Role::Unknown };
        let key = MoveKey { step, before: NONE, after, role, place };
        log.moved(&self.budget, key, nanoseconds, line, name);
    }

    /// What a kernel changes that does nothing else.
    fn changed(&mut self, name: Text) -> Option<(Array, Array)> {
        let name = self.texts.text(name);
        let pair = match () {
            () if name.contains("nchwToNhwc") => ("contiguous", "channels_last"),
            () if name.contains("nhwcToNchw") => ("channels_last", "contiguous"),
            () => return None,
        };
        let mut array = |format: &str| Array {
            format: self.texts.number(format.as_bytes()),
            element: NONE,
            sizes: NONE,
            bytes: None,
        };
        Some((array(pair.0), array(pair.1)))
    }

    /// An array of sizes and strides.
    fn strided(&mut self, sizes: Option<&[i64]>, strides: Option<&[i64]>, kind: &str) -> Array {
        let known = TYPES.iter().find(|(name, ..)| *name == kind);
        let sizes: Option<Vec<u64>> =
            sizes.and_then(|sizes| sizes.iter().map(|&size| u64::try_from(size).ok()).collect());
        let element = known.map_or(NONE, |(_, name, _)| self.texts.number(name.as_bytes()));
        let format = match (&sizes, strides) {
            (Some(sizes), Some(strides)) if sizes.len() == strides.len() && sizes.len() <= 16 => {
                words(sizes, strides)
            }
            _ => String::new(),
        };
        let layout =
            sizes.as_deref().zip(known).and_then(|(sizes, known)| Layout::row_major(sizes, known.2).ok());
        Array {
            format: self.texts.number(format.as_bytes()),
            element,
            sizes: sizes.map_or(NONE, |sizes| self.texts.number(by_x(&sizes).as_bytes())),
            bytes: layout.as_ref().and_then(bytes),
        }
    }
}

impl Trace {
    /// Gives back what it holds, as when its file was no trace after all.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.kernels.is_empty()
    }

    pub(super) fn given_back(self, budget: &Budget) {
        budget.give_list(&self.events);
        budget.give_list(&self.kernels);
        budget.give_map(&self.operators);
    }
}

/// Whether a member of an event is read, or of its arguments.
fn is_wanted(key: &str) -> bool {
    matches!(
        key,
        "ph" | "cat" | "name" | "pid" | "tid" | "ts" | "dur" | "args" | "External id" | "external id"
    )
}

/// Whether an event may be one of those that are read: it has their category. Most of a trace are others.
fn may_matter(text: &[u8]) -> bool {
    static KEY: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"cat\""));
    // The arguments of an event may have a category of their own; then there is another one.
    KEY.find_iter(text).any(|at| {
        let value = text[at + 5..].trim_ascii_start().strip_prefix(b":").unwrap_or(b"").trim_ascii_start();
        const CATEGORIES: [&[u8]; 7] = [
            b"\"cpu_op\"",
            b"\"kernel\"",
            b"\"gpu_mem",
            b"\"python_function\"",
            b"\"Operator\"",
            b"\"Kernel\"",
            b"\"user_annotation\"",
        ];
        CATEGORIES.iter().any(|category| value.starts_with(category))
    })
}

/// Whether a function is of Python or its libraries, and not of the program.
fn is_of_libraries(name: &str) -> bool {
    let file = name.split('(').next().unwrap_or("");
    !file.ends_with(".py")
        || ["torch/", "site-packages/", "dist-packages/", "lib/python", "<frozen", "threading.py", "runpy.py"]
            .iter()
            .any(|library| file.contains(library))
}

fn shortened(text: &str) -> &str {
    let end = text.char_indices().nth(NAME).map_or(text.len(), |(at, _)| at);
    &text[..end]
}
