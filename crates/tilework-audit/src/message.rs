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
//! Today's message (`E1000`) says only the sums. Logs put the time and more before each line, so the words are looked
//! for anywhere in it.

use memchr::memmem;

use crate::audit::Audit;
use crate::bytes::{after, end_of_shape, rounded_bytes, split};
use crate::program::{Allocation, Value};
use crate::texts::NONE;

/// The most buffers of one message.
const LIMIT: usize = 1 << 16;

/// What begins a message.
pub(crate) fn begins(line: &[u8]) -> bool {
    // Most lines of most texts have none of these, and are told by one search for a rare word.
    let has = |mark: &[u8]| memmem::find(line, mark).is_some();
    has(b"Ran out of memory in memory space") || has(b"Largest program allocations in") || has(b"HbmOom")
}

/// The entry that is being read.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    size: Option<u64>,
    /// The buffer, once its shape was read.
    value: Option<usize>,
    memory: i64,
    listed: bool,
}

impl Audit {
    /// Reads a line of a message.
    pub(crate) fn message_line(&mut self, entry: &mut Entry, line_number: u64, line: &[u8]) {
        self.figures(line);
        if let Some(memory) = after(line, b"Largest program allocations in ") {
            entry.memory = if memory.starts_with(b"vmem") { 1 } else { 0 };
            entry.listed = true;
        } else if let Some(size) = after(line, b". Size: ") {
            *entry = Entry { size: rounded_bytes(size), memory: entry.memory, ..Entry::default() };
            entry.listed = true;
        } else if let Some(shape) = after(line, b" Shape: ") {
            self.entry(entry, line_number, shape);
        } else if let Some(operator) = after(line, b" Operator: ") {
            // This stands before the shape, and belongs to what the shape begins.
            let source = crate::metadata::Tables::default().source(operator, &mut self.texts);
            self.message_source = self.sources.number(source);
        } else if let Some(label) = after(line, b" XLA label: ") {
            let label = label.strip_prefix(b"%").unwrap_or(label);
            let name = split(label, b" = ").map(|(name, _)| name).filter(|name| name.len() < 1 << 10);
            let name = self.texts.number(name.unwrap_or(b""));
            if let Some(value) = entry.value
                && let Some(value) = self.program().values.get_mut(value)
            {
                value.name = name;
            }
        } else if !entry.listed {
            self.text_line(line_number, line);
        }
    }

    /// `Used 17.60G of 16.00G hbm`, or `HLO temporaries (32.88G) exceeds 15.75G`.
    fn figures(&mut self, line: &[u8]) {
        if let Some(rest) = after(line, b"Ran out of memory in memory space ") {
            let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let memory = String::from_utf8_lossy(&rest[..end.min(32)]).into_owned();
            self.program().message.memory = Some(memory);
        }
        let used = after(line, b"Used ").and_then(|rest| split(rest, b" of "));
        if let Some((used, capacity)) = used
            && let (Some(used), Some(capacity)) = (rounded_bytes(used), rounded_bytes(capacity))
        {
            let message = &mut self.program().message;
            (message.used, message.capacity) = (Some(used), Some(capacity));
        }
        if let Some((before, limit)) = split(line, b" exceeds ")
            && let Some(limit) = rounded_bytes(limit)
        {
            let used = memchr::memrchr(b'(', before).and_then(|open| rounded_bytes(&before[open + 1..]));
            let message = &mut self.program().message;
            message.capacity = message.capacity.or(Some(limit));
            message.used = message.used.or(used);
        }
    }

    fn entry(&mut self, entry: &mut Entry, line: u64, shape: &[u8]) {
        let shape = shape.trim_ascii();
        let shape = &shape[..end_of_shape(shape)];
        let Some(shape) = self.shapes.number(shape) else {
            return self.complaints.add(line, "a buffer with a shape that cannot be read");
        };
        let source = std::mem::take(&mut self.message_source);
        let cost = self.shapes.known(shape).leaves;
        let Some(size) = entry.size.or(cost.map(|cost| cost.allocated)) else {
            return self.complaints.add(line, "a buffer without a size");
        };
        let memory = entry.memory;
        let program = self.program();
        if program.values.len() >= LIMIT {
            program.overflowed = true;
            return;
        }
        entry.value = Some(program.values.len());
        let allocation = program.allocations.len() as u32;
        program.allocations.push(Allocation { size, space: memory, temporary: true });
        program.values.push(Value {
            name: NONE,
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
