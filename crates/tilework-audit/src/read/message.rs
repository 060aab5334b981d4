//! Out-of-memory messages, pasted from a log.
//!
//! ```text
//! Ran out of memory in memory space hbm. Used 17.60G of 16.00G hbm. Exceeded hbm capacity by 1.60G.
//!   Largest program allocations in hbm:
//!   1. Size: 512.00M
//!      Operator: op_type="OneHot" op_name="one_hot"
//!      Shape: f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)}
//!      Unpadded size: 40.50M
//!      Extra memory due to padding: 471.50M (12.6x expansion)
//!      XLA label: %fusion.1668 = f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)} fusion(…)
//! ```
//!
//! So says a TPU; of all others the list is
//!
//! ```text
//! Out of memory while trying to allocate 9031036208 bytes.
//! Peak buffers:
//!         Buffer 1:
//!                 Size: 1.52GiB
//!                 Operator: op_name="jit(f)/add" source_file="a.py" source_line=1446
//!                 XLA Label: fusion
//!                 Shape: f32[5120,1248,64]
//!         Buffer 2:
//!                 Size: 384.0KiB
//!                 Entry Parameter Subshape: f32[256,128,3]
//! ```
//!
//! Today's message (`E1000`) says only the sums. Logs put the time and more before each line, so the words are looked
//! for anywhere in it. They also repeat messages, which are counted once.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use crate::budget::CONCLUDING;
use crate::program::{Allocation, Class, Value};
use crate::read::Reading;
use crate::read::bytes::{after, end_of_shape, rounded_bytes, split};
use crate::texts::{NONE, Text};

/// The most buffers of one message.
const LIMIT: usize = 1 << 16;

/// Lists of the largest buffers.
const LISTS: [&[u8]; 2] = [b"Largest program allocations in ", b"Peak buffers:"];

/// What a message begins with.
const FIRST: [&[u8]; 12] = [
    b"Ran out of memory in memory space",
    b"Ran out of memory on ",
    b"HbmOom",
    b"VmemOom",
    b"Scoped allocation with size ",
    b"ut of memory while trying to allocate ",
    b"ut of memory allocating ",
    b"ailed to allocate request for ",
    b" would exceed memory (size=",
    b"exceeding available bytes: ",
    b"Attempting to allocate ",
    b"Attempting to reserve ",
];

/// What may stand alone of a message.
const PARTS: [&[u8]; 3] =
    [b"Total hbm usage >= ", b"unlikely to have enough memory", b"CompiledMemoryStats("];

/// What begins a message.
pub(crate) fn begins(line: &[u8]) -> bool {
    // Most lines of most texts have none of these, and are told by a few searches for rare words.
    static RARE: LazyLock<[Finder<'_>; 6]> =
        LazyLock::new(|| ["emory", "lloca", "Oom", "Peak b", "bm usage", "to reserve"].map(Finder::new));
    let has = |mark: &&[u8]| memmem::find(line, mark).is_some();
    RARE.iter().any(|rare| rare.find(line).is_some()) && [&FIRST[..], &LISTS, &PARTS].concat().iter().any(has)
}

/// The entry that is being read.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    size: Option<u64>,
    /// The buffer, once its shape was read.
    value: Option<usize>,
    /// The name that stands before the shape.
    name: Text,
    /// The operator that stands before the shape.
    source: u32,
    memory: i64,
    listed: bool,
}

impl Reading<'_> {
    /// Reads a line of a message, or all of it where an error is shown on one line with `\n` for the ends of its lines.
    pub(crate) fn message_lines(&mut self, entry: &mut Entry, line_number: u64, line: &[u8]) {
        let mut rest = line;
        // Names of operations may hold the same two signs.
        let is_whole = memmem::find(line, b"\\n").is_some() && begins(line);
        while let Some((line, more)) = split(rest, b"\\n").filter(|_| is_whole) {
            self.message_line(entry, line_number, line);
            rest = more;
        }
        self.message_line(entry, line_number, rest);
    }

    /// Reads a line of a message.
    fn message_line(&mut self, entry: &mut Entry, line_number: u64, line: &[u8]) {
        if self.begins_again(line) {
            self.programs.merge_message(&mut self.program);
            self.begin(|has| &mut has.message);
            *entry = Entry::default();
        }
        self.program.message.figures(line);
        if let Some(module) = after(line, b"HLO module: ") {
            let end = module.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(module.len());
            let name = &module[..end.min(1 << 10)];
            let name = self.store.texts.number(name.strip_suffix(b".").unwrap_or(name));
            self.program.name = name;
        }
        if let Some(memory) = after(line, LISTS[0]) {
            let spaces: [(&[u8], i64); 3] = [(b"vmem", 1), (b"smem", 2), (b"host", 5)];
            entry.memory =
                spaces.iter().find(|(name, _)| memory.starts_with(name)).map_or(0, |space| space.1);
            entry.listed = true;
        } else if memmem::find(line, LISTS[1]).is_some() {
            entry.listed = true;
        } else if let Some(size) = field(line, b"Size: ") {
            *entry =
                Entry { size: rounded_bytes(size), memory: entry.memory, listed: true, ..Entry::default() };
        } else if let Some(shape) =
            field(line, b"Shape: ").or_else(|| field(line, b"Entry Parameter Subshape: "))
        {
            self.entry(entry, line_number, shape);
        } else if let Some(operator) = field(line, b"Operator: ") {
            // This stands before the shape, and belongs to what the shape begins.
            let source = crate::read::metadata::Tables::default().source(operator, &mut self.store.texts);
            entry.source = self.store.sources.number(source);
        } else if let Some(label) = field(line, b"XLA label: ").or_else(|| field(line, b"XLA Label: ")) {
            let label = label.strip_prefix(b"%").unwrap_or(label);
            let name = split(label, b" = ").map_or(label, |(name, _)| name);
            entry.name = self.store.texts.number(if name.len() < 1 << 10 { name } else { b"" });
            if let Some(value) = entry.value.and_then(|value| self.program.values.get_mut(value)) {
                value.name = entry.name;
            }
        } else if !entry.listed {
            self.store.text_line(&mut self.program, line_number, line);
        }
    }

    /// Whether this is the first line of another message than the one that is being read.
    fn begins_again(&mut self, line: &[u8]) -> bool {
        let has = |mark: &&[u8]| memmem::find(line, mark).is_some();
        let program = &self.program;
        match LISTS.iter().any(has) {
            true => !program.values.is_empty(),
            // What is needed and the list of it may be told one after the other.
            false => FIRST.iter().any(has) && (!program.values.is_empty() || program.message.used.is_some()),
        }
    }

    fn entry(&mut self, entry: &mut Entry, line: u64, shape: &[u8]) {
        let shape = shape.trim_ascii();
        let shape = &shape[..end_of_shape(shape)];
        let source = std::mem::take(&mut entry.source);
        let Some(shape) = self.store.shapes.number(shape) else {
            return self.store.complaints.add(line, "a buffer with a shape that cannot be read");
        };
        let cost = self.store.shapes.known(shape).leaves;
        let Some(size) = entry.size.or(cost.map(|cost| cost.allocated)) else {
            return self.store.complaints.add(line, "a buffer without a size");
        };
        let (name, memory) = (entry.name, entry.memory);
        let (program, budget) = (&mut self.program, &self.store.budget);
        let is_held = program.values.len() < LIMIT
            && budget.for_one(&mut program.values)
            && budget.for_one(&mut program.allocations)
            && budget.take(CONCLUDING);
        if !is_held {
            program.overflowed = true;
            return;
        }
        entry.value = Some(program.values.len());
        let allocation = program.allocations.len() as u32;
        program.allocations.push(Allocation { size, space: memory, class: Class::Temporary });
        program.values.push(Value {
            name,
            index: NONE,
            shape,
            size,
            rounded: true,
            offset: 0,
            allocation,
            space: memory,
            line,
            source,
        });
    }
}

/// What stands behind a mark that is a word of its own.
fn field<'a>(line: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let found = memmem::find_iter(line, mark).find(|&at| at == 0 || line[at - 1].is_ascii_whitespace())?;
    Some(&line[found + mark.len()..])
}
