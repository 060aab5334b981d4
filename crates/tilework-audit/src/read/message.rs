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
use tilework::xla::Shape;

use crate::budget::CONCLUDING;
use crate::find::entry::is_near;
use crate::program::{Allocation, Class, Value};
use crate::read::Reading;
use crate::read::bytes::{after, end_of_shape, rounded_bytes, split};
use crate::read::figures::tensor;
use crate::read::prefix::without_prefix;
use crate::read::unwrapped::{Unwrapped, numbered_size};
use crate::shapes::ShapeId;
use crate::texts::{NONE, Text};

/// The most buffers of one message.
const LIMIT: usize = 1 << 16;

/// Lists of the largest buffers.
const LISTS: [&[u8]; 2] = [b"Largest program allocations in ", b"Peak buffers:"];

/// What a message begins with.
const FIRST: [&[u8]; 19] = [
    b"Ran out of memory in memory space",
    b"Ran out of memory on ",
    b"HbmOom",
    b"VmemOom",
    b"Scoped allocation with size ",
    b"ut of memory while trying to allocate ",
    b"ut of memory allocating ",
    b"ran out of memory trying to allocate ",
    b"ailed to allocate request for ",
    b"ailed to allocate ",
    b"OOM when allocating tensor",
    b" would exceed memory (size=",
    b"exceeding available bytes: ",
    b"Attempting to allocate ",
    b"Attempting to reserve ",
    b"an't reduce memory use below ",
    b"out of memory. Tried to allocate ",
    b"Exceeded hbm capacity by ",
    b"Exceeded vmem capacity by ",
];

/// What may stand alone of a message.
const PARTS: [&[u8]; 5] = [
    b"Total hbm usage >= ",
    b"unlikely to have enough memory",
    b"CompiledMemoryStats(",
    b"XLA label: ",
    b"Extra memory due to padding: ",
];

/// What begins a message.
pub(crate) fn begins(line: &[u8]) -> bool {
    // Most lines of most texts have none of these: a few searches for rare words say so.
    static RARE: LazyLock<[Finder<'_>; 8]> = LazyLock::new(|| {
        ["emory", "lloca", "Oom", "Peak b", "bm usage", " capacity by", "XLA label", ". Size: "]
            .map(Finder::new)
    });
    // Preparing a search takes longer than searching a line, and each line of a module may speak of memory.
    static MARKS: LazyLock<Vec<Finder<'_>>> =
        LazyLock::new(|| FIRST.iter().chain(&LISTS).chain(&PARTS).map(Finder::new).collect());
    let has = |mark: &Finder<'_>| mark.find(line).is_some();
    RARE.iter().any(has) && (MARKS.iter().any(has) || is_size(line))
}

/// Whether this is the size of an entry of a list: `  12. Size: 3.00G`.
fn is_size(line: &[u8]) -> bool {
    let size = numbered_size(without_prefix(line));
    size.is_some_and(|size| size.first().is_some_and(u8::is_ascii_digit))
}

/// A mark, and how many bytes of it are before the cut.
type Cut = (&'static [u8], usize);

/// Whether a mark of a message was cut at the end of the line before.
pub(crate) fn begins_cut(before: &[u8], line: &[u8]) -> bool {
    // By the last byte of the line before, the marks that may go on in the next, and how much of them is there.
    static CUTS: LazyLock<Vec<Vec<Cut>>> = LazyLock::new(|| {
        let mut cuts = vec![Vec::new(); 256];
        for mark in FIRST.map(<[u8]>::trim_ascii) {
            for there in 1..mark.len() {
                cuts[usize::from(mark[there - 1])].push((mark, there));
            }
        }
        cuts
    });
    let Some(&last) = before.last() else { return false };
    let is_there = |&&(mark, there): &&Cut| before.ends_with(&mark[..there]);
    CUTS[usize::from(last)].iter().filter(is_there).any(|&(mark, there)| {
        let (rest, line) = (&mark[there..], without_prefix(line));
        line.starts_with(rest) || rest.strip_prefix(b" ").is_some_and(|rest| line.starts_with(rest))
    })
}

/// The message that is being read, and the entry of its list.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    lines: Unwrapped,
    size: Option<u64>,
    shape: Option<ShapeId>,
    /// The shape of the instruction that makes it, which stands in its label.
    made: Option<ShapeId>,
    name: Text,
    source: u32,
    class: Option<Class>,
    /// Where its first line stands; 0 if there is no entry.
    line: u64,
    memory: i64,
    listed: bool,
}

impl Reading<'_> {
    /// Begins a message that the line before, which was read as text, is a part of.
    pub(crate) fn message_before(&mut self, entry: &mut Entry, line_number: u64, before: &[u8]) {
        entry.lines.begins_with(line_number, before);
    }

    /// Reads a line of a message, or all of it where an error is shown on one line with `\n` for the ends of its lines.
    pub(crate) fn message_lines(&mut self, entry: &mut Entry, line_number: u64, line: &[u8]) {
        let mut rest = line;
        // Names of operations may hold the same two signs.
        let is_whole = memmem::find(line, b"\\n").is_some() && begins(line);
        while let Some((line, more)) = split(rest, b"\\n").filter(|_| is_whole) {
            self.message_piece(entry, line_number, line);
            rest = more;
        }
        self.message_piece(entry, line_number, rest);
    }

    fn message_piece(&mut self, entry: &mut Entry, line_number: u64, piece: &[u8]) {
        if let Some((number, line)) = entry.lines.push(line_number, piece) {
            self.message_line(entry, number, &line);
        }
    }

    /// Ends a message.
    pub(crate) fn message_ends(&mut self, entry: &mut Entry) {
        if let Some((number, line)) = entry.lines.end() {
            self.message_line(entry, number, &line);
        }
        self.entry_ends(entry);
        self.programs.merge_message(&mut self.program);
    }

    /// Reads a line of a message.
    fn message_line(&mut self, entry: &mut Entry, line_number: u64, line: &[u8]) {
        if FIRST.iter().chain(&LISTS).any(|mark| memmem::find(line, mark).is_some()) {
            self.entry_ends(entry);
        }
        if self.begins_again(line) {
            self.programs.merge_message(&mut self.program);
            self.begin(|has| &mut has.message);
            *entry = Entry { lines: std::mem::take(&mut entry.lines), ..Entry::default() };
        }
        self.program.message.figures(line);
        if let Some(tensor) = tensor(line) {
            entry.shape = self.store.shapes.number(tensor.text().as_bytes());
            entry.begins(line_number);
        }
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
            self.entry_ends(entry);
            (entry.size, entry.line, entry.listed) = (rounded_bytes(size), line_number, true);
        } else if let Some(shape) =
            field(line, b"Shape: ").or_else(|| field(line, b"Entry Parameter Subshape: "))
        {
            let shape = shape.trim_ascii();
            // The time of a log has colons, and a list that begins here has no size before.
            entry.shape = self.store.shapes.number(&shape[..end_of_shape(shape)]);
            if entry.shape.is_none() {
                self.store.complaints.add(line_number, "a buffer with a shape that cannot be read");
            }
            entry.begins(line_number);
        } else if let Some(operator) = field(line, b"Operator: ") {
            let source = crate::read::metadata::Tables::default().source(operator, &mut self.store.texts);
            entry.source = self.store.sources.number(source);
            entry.begins(line_number);
        } else if let Some(label) = field(line, b"XLA label: ").or_else(|| field(line, b"XLA Label: ")) {
            self.label(entry, label);
            entry.begins(line_number);
        } else if let Some(class) = field(line, b"Allocation type: ") {
            entry.class = entry.class.or_else(|| class_of(class));
        } else if !entry.listed {
            self.store.text_line(&mut self.program, line_number, line);
        }
    }

    /// `%fusion.1668 = f32[4,128]{1,0:T(8,128)} fusion(…)`, or what a kernel or the compiler takes it for.
    fn label(&mut self, entry: &mut Entry, label: &[u8]) {
        let label = label.strip_prefix(b"%").unwrap_or(label);
        let (name, made) = split(label, b" = ").unwrap_or((label.trim_ascii_end(), b""));
        entry.name = self.store.texts.number(if name.len() < 1 << 10 { name } else { b"" });
        entry.made = self.store.shapes.number(&made[..end_of_shape(made)]);
        if memmem::find(label, b"spill").is_some() {
            entry.class = Some(Class::Spilled);
        }
        if memmem::find(made, b"custom_call_target=\"tpu_custom_call\"").is_some() {
            self.program.message.kernel.get_or_insert_with(|| String::from_utf8_lossy(name).into_owned());
        }
        entry.listed = true;
    }

    /// Whether this is the first line of another message than the one that is being read.
    fn begins_again(&mut self, line: &[u8]) -> bool {
        let has = |mark: &&[u8]| memmem::find(line, mark).is_some();
        let program = &self.program;
        match LISTS.iter().any(has) {
            true => !program.values.is_empty(),
            // What is needed and the list of it may be told one after the other.
            false => {
                let begins = FIRST[..FIRST.len() - 2].iter().any(has);
                begins && (!program.values.is_empty() || program.message.used.is_some())
            }
        }
    }

    /// Notes the entry that was read, and makes room for the next.
    fn entry_ends(&mut self, entry: &mut Entry) {
        let Entry { size, shape, made, name, source, class, line, memory, .. } = *entry;
        (entry.size, entry.shape, entry.made, entry.name) = (None, None, None, NONE);
        (entry.source, entry.class, entry.line) = (0, None, 0);
        if line == 0 {
            return;
        }
        let cost = |shape: ShapeId| self.store.shapes.known(shape).leaves.map(|cost| cost.allocated);
        // What a label says its instruction makes is the buffer, if it is as large.
        let made = made.filter(|&made| {
            size.is_none_or(|size| cost(made).is_some_and(|allocated| is_near(size, allocated)))
        });
        let Some(size) = size.or_else(|| cost(shape.or(made)?)) else {
            // A part of an entry whose beginning is not there says nothing.
            return;
        };
        let Some(shape) = shape.or(made).or_else(|| self.store.shapes.number_of(&Shape::Opaque)) else {
            return;
        };
        let class = class.unwrap_or_default();
        let space = match (memory, class) {
            (0, Class::Scoped | Class::Spilled) => 1,
            (memory, _) => memory,
        };
        let (program, budget) = (&mut self.program, &self.store.budget);
        let is_held = program.values.len() < LIMIT
            && budget.for_one(&mut program.values)
            && budget.for_one(&mut program.allocations)
            && budget.take(CONCLUDING);
        if !is_held {
            program.overflowed = true;
            return;
        }
        let allocation = program.allocations.len() as u32;
        program.allocations.push(Allocation { size, space, class });
        program.values.push(Value {
            name,
            index: NONE,
            shape,
            size,
            rounded: true,
            offset: 0,
            allocation,
            space,
            line,
            source,
        });
    }
}

impl Entry {
    /// Notes that there is an entry, though its size was not read.
    fn begins(&mut self, line: u64) {
        self.listed = true;
        if self.line == 0 {
            self.line = line;
        }
    }
}

/// What a message says that memory is for.
fn class_of(text: &[u8]) -> Option<Class> {
    let kinds: [(&[u8], Class); 7] = [
        (b"scoped", Class::Scoped),
        (b"HLO temp", Class::Temporary),
        (b"stack", Class::Scoped),
        (b"argument", Class::Argument),
        (b"output", Class::Result),
        (b"constant", Class::Constant),
        (b"global", Class::Constant),
    ];
    kinds.into_iter().find(|(kind, _)| text.trim_ascii_start().starts_with(kind)).map(|(_, class)| class)
}

/// What stands behind a mark that is a word of its own.
fn field<'a>(line: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let found = memmem::find_iter(line, mark).find(|&at| at == 0 || line[at - 1].is_ascii_whitespace())?;
    Some(&line[found + mark.len()..])
}
