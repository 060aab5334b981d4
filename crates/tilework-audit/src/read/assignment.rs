//! `*buffer-assignment.txt`: every buffer with its exact size, place and layout.
//!
//! ```text
//! allocation 9: size 51675136, color 1, page 0, preallocated-temp:
//!  value: <34 copy-start{0} @1> (size=294912,offset=0): bf16[3,3,64,130]{3,2,1,0:T(8,128)(2,1)S(1)}
//! ```

use memchr::memmem;

use crate::budget::CONCLUDING;
use crate::program::{Allocation, Class, Program, Value};
use crate::read::bytes::{number, number_after, split};
use crate::store::Store;

/// The most buffers of one program, and the most allocations.
const LIMIT: usize = 1 << 22;

impl Store {
    /// Reads a line of a buffer assignment.
    pub(crate) fn assignment_line(&mut self, program: &mut Program, number: u64, line: &[u8]) {
        let text = line.trim_ascii_start();
        if let Some(value) = text.strip_prefix(b"value: ") {
            if self.value(program, number, value).is_none() {
                self.complaints.add(number, "a buffer that is not whole or has an unknown shape");
            }
        } else if let Some(allocation) = text.strip_prefix(b"allocation ") {
            let Some(size) = number_after(allocation, b"size ") else {
                return self.complaints.add(number, "an allocation without a size");
            };
            let space = number_after(allocation, b"color ").map_or(0, |color| color as i64);
            let has = |mark: &[u8]| memmem::find(allocation, mark).is_some();
            let class = match (has(b", parameter "), has(b"maybe-live-out")) {
                _ if has(b"preallocated-temp") => Class::Temporary,
                (true, true) => Class::Alias,
                (true, false) => Class::Argument,
                (false, true) => Class::Result,
                _ if has(b", constant") => Class::Constant,
                _ => Class::Local,
            };
            if program.allocations.len() >= LIMIT || !self.budget.for_one(&mut program.allocations) {
                return program.overflowed = true;
            }
            program.allocations.push(Allocation { size, space, class });
        } else if !text.is_empty() && !text.starts_with(b"Total bytes used:") {
            self.complaints.add(number, "a line that is no part of a buffer assignment");
        }
    }

    fn value(&mut self, program: &mut Program, line: u64, text: &[u8]) -> Option<()> {
        let (name, rest) = split(text.strip_prefix(b"<")?, b"> (size=")?;
        let size = number(rest)?;
        let offset = number_after(rest, b"offset=")?;
        let (_, shape) = split(rest, b"): ")?;
        let shape = self.shapes.number(shape.trim_ascii_end())?;
        // `33 copy-start{0} @1`: the value's number, the instruction with an index, the memory space
        let (_, name) = split(name, b" ")?;
        let (name, _) = split(name, b" @").unwrap_or((name, b""));
        let (name, index) = name_and_index(name);
        let (name, index) = (self.texts.number(name), self.texts.number(index));
        let budget = &self.budget;
        let allocation = program.allocations.len().checked_sub(1)?;
        let space = program.allocations[allocation].space;
        if program.values.len() >= LIMIT || !budget.for_one(&mut program.values) || !budget.take(CONCLUDING) {
            program.overflowed = true;
            return Some(());
        }
        let allocation = allocation as u32;
        program.values.push(Value {
            name,
            index,
            shape,
            size,
            rounded: false,
            offset,
            allocation,
            space,
            line,
            source: 0,
        });
        Some(())
    }
}

/// `copy-start` and `{0}` of `copy-start{0}`; the index of a name without one is `{}`.
///
/// What follows the index, as in `while.6{2} (phi)`, only says why it is there.
pub(crate) fn name_and_index(name: &[u8]) -> (&[u8], &[u8]) {
    let Some(open) = memchr::memchr(b'{', name) else {
        return (name.strip_suffix(b" (phi)").unwrap_or(name), b"{}");
    };
    let (name, index) = name.split_at(open);
    (name, memchr::memrchr(b'}', index).map_or(index, |close| &index[..=close]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_in_every_file_of_a_dump() {
        let parts = |name: &'static str| name_and_index(name.as_bytes());
        assert_eq!(parts("copy.10"), (&b"copy.10"[..], &b"{}"[..]));
        assert_eq!(parts("slice-start.4{0}"), (&b"slice-start.4"[..], &b"{0}"[..]));
        assert_eq!(parts("while.6{2,1} (phi)"), (&b"while.6"[..], &b"{2,1}"[..]));
        assert_eq!(parts("x (phi)"), (&b"x"[..], &b"{}"[..]));
        assert_eq!(parts("open{1"), (&b"open"[..], &b"{1"[..]));
    }
}
