//! `*memory-usage-report.txt`: the memory spaces by name, and how much is taken of each.
//!
//! ```text
//! Memory Space: vmem (color=1)
//! Total bytes: 51675136 (49.28MiB)
//!    49.00MiB( 99%);   49.00MiB;       294912;                2; bf16[32,224,224,3], f32[32,130]
//! ```
//!
//! Its shapes have no layouts, so nothing is concluded from them.

use crate::program::{Program, Space};
use crate::read::bytes::{number_after, split};
use crate::store::Store;

impl Store {
    /// Reads a line of a memory usage report.
    pub(crate) fn usage_line(&mut self, program: &mut Program, line_number: u64, line: &[u8]) {
        let text = line.trim_ascii();
        if let Some(rest) = text.strip_prefix(b"Memory Space: ") {
            let Some((name, color)) = split(rest, b" (color=") else {
                return self.complaints.add(line_number, "a memory space without a number");
            };
            let number = crate::read::bytes::number(color).unwrap_or(0) as i64;
            let name = self.texts.number(name);
            let spaces = &mut program.spaces;
            if spaces.len() < 64 {
                spaces.push(Space { number, name, bytes: 0 });
            }
        } else if text.starts_with(b"Total bytes: ")
            && let Some(bytes) = number_after(text, b"Total bytes: ")
            && let Some(space) = program.spaces.last_mut()
        {
            space.bytes = bytes;
        }
    }
}
