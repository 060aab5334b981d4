//! `*live-range.txt`: when each buffer lives.
//!
//! ```text
//!   InstructionSequence:
//!     0:w2.1
//!   BufferLiveRange:
//!     copy-start{0}:1-7
//!   Live ranges at 5 (peak):
//!     fusion.5{}: 205520896 bytes (cumulative: 205520896 bytes)
//! ```
//!
//! The compiler's own bytes at the end count elements alone, without padding.

use memchr::memrchr;

use crate::program::Program;
use crate::read::assignment::name_and_index;
use crate::read::bytes::{number, number_after};
use crate::store::Store;

/// The most instructions whose order is kept, and the most buffers.
const LIMIT: usize = 1 << 22;

/// Which list of the file is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    #[default]
    None,
    Sequence,
    Ranges,
    Peak(u32),
}

impl Store {
    /// Reads a line of live ranges.
    pub(crate) fn live_line(
        &mut self,
        program: &mut Program,
        part: &mut Part,
        line_number: u64,
        line: &[u8],
    ) {
        let text = line.trim_ascii();
        match text {
            b"InstructionSequence:" => *part = Part::Sequence,
            b"BufferLiveRange:" => *part = Part::Ranges,
            _ if text.starts_with(b"Live ranges at ") => {
                *part = Part::Peak(number_after(text, b"Live ranges at ").unwrap_or(0) as u32);
            }
            _ if text.starts_with(b"Stack trace breakdown") => *part = Part::None,
            _ => {
                if self.live_entry(program, *part, text).is_none() && !text.is_empty() {
                    self.complaints.add(line_number, "a live range that is not whole");
                }
            }
        }
    }

    fn live_entry(&mut self, program: &mut Program, part: Part, text: &[u8]) -> Option<()> {
        match part {
            Part::None => {}
            Part::Sequence => {
                let colon = memchr::memchr(b':', text)?;
                let place = number(text)?;
                let name = self.texts.number(&text[colon + 1..]);
                let sequence = &mut program.sequence;
                let is_next = place == sequence.len() as u64 && sequence.len() < LIMIT;
                if is_next && self.budget.for_one(sequence) {
                    sequence.push(name);
                }
            }
            Part::Ranges => {
                let colon = memrchr(b':', text)?;
                let range = &text[colon + 1..];
                let start = u32::try_from(number(range)?).ok()?;
                let end = u32::try_from(number_after(range, b"-")?).ok()?;
                let (name, index) = name_and_index(&text[..colon]);
                let key = self.live_key(name, index);
                if program.lives.len() < LIMIT && self.budget.for_entry(&mut program.lives) {
                    program.lives.insert(key, (start, end));
                } else {
                    program.overflowed = true;
                }
            }
            Part::Peak(time) => {
                let bytes = number_after(text, b"cumulative: ")?;
                program.compilers_peak = Some((time, bytes));
            }
        }
        Some(())
    }

    /// What a value is looked up by.
    pub(crate) fn live_key(&self, name: &[u8], index: &[u8]) -> u64 {
        self.seed.of(name) ^ self.seed.of(index).rotate_left(32)
    }
}
