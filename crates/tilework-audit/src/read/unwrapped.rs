//! Lines of a message as they were before a terminal, a log or a mail changed them.
//!
//! A terminal cuts a line where its width ends, and a mailer at the last space before that; a log puts the time and more
//! before each line, a mail `> `, and colours are sequences of escapes. What is cut is put together again: a line that
//! begins nothing of its own goes on with the one before, if that one is as long as any. Whether there was a space between
//! them, the words say that come of it, or else the width.

use memchr::memmem;

use crate::read::prefix::{plain, without_prefix};

/// No line of a message is longer, put together.
const LONGEST: usize = 1 << 16;

/// As many bytes on either side of a cut are looked at.
const NEAR: usize = 40;

/// Words by which it is seen whether a line was cut with a space or without.
const WORDS: [&[u8]; 43] = [
    b"G of ",
    b"M of ",
    b"K of ",
    b". Used ",
    b"Exceeded vmem capacity by ",
    b"Compilation failure: ",
    b"RESOURCE_EXHAUSTED: ",
    b"Ran out of memory in memory space ",
    b"Ran out of memory on ",
    b"ut of memory while trying to allocate ",
    b" exceeded scoped ",
    b"Exceeded hbm capacity by ",
    b" capacity by ",
    b"llocation with size ",
    b" and limit ",
    b" vmem limit by ",
    b"HLO module: ",
    b"HLO temporaries (",
    b" exceeds available ",
    b"Attempting to allocate ",
    b"Attempting to reserve ",
    b"That was not possible. There are ",
    b" would exceed memory (size=",
    b"Total hbm usage >= ",
    b"Output size ",
    b"; shares ",
    b" with arguments",
    b"% utilization",
    b"% fragmentation (",
    b"Largest program allocations in ",
    b"Unpadded size: ",
    b"Extra memory due to padding: ",
    b"x expansion)",
    b"XLA label: ",
    b"Allocation type: ",
    b" op_name=\"",
    b" op_type=\"",
    b" metadata={",
    b" source_file=\"",
    b"register allocator spill slots",
    b" while allocating on stack for %",
    b" by rematerialization; only reduced to ",
    b"HLO temp ",
];

/// Words that are whole.
const SMALL: [&[u8]; 24] = [
    b"for",
    b"of",
    b"in",
    b"on",
    b"at",
    b"to",
    b"the",
    b"and",
    b"with",
    b"by",
    b"size",
    b"limit",
    b"space",
    b"memory",
    b"bytes",
    b"error",
    b"allocate",
    b"required",
    b"total",
    b"hbm",
    b"vmem",
    b"was",
    b"not",
    b"there",
];

/// What begins a message, so that a line with it goes on with none.
const FIRST: [&[u8]; 9] = [
    b"Ran out of memory",
    b"ut of memory while trying",
    b"HbmOom",
    b"VmemOom",
    b"OOM when allocating",
    b"Attempting to allocate",
    b"Attempting to reserve",
    b"an't reduce memory use",
    b"out of memory. Tried",
];

/// What begins a line of its own, behind spaces.
const STARTS: [&[u8]; 30] = [
    b"Total hbm usage",
    b"Program hbm requirement",
    b"Program vmem requirement",
    b"HBM capacity",
    b"Top-of-Memory",
    b"Currently allocated",
    b"heap allocations",
    b"Heap allocator",
    b"Persistent allocations",
    b"Max free chunk",
    b"Output size",
    b"Largest program allocations",
    b"Operator:",
    b"Shape:",
    b"Unpadded size:",
    b"Extra memory due to",
    b"XLA label:",
    b"XLA Label:",
    b"Allocation type:",
    b"====",
    b"Size:",
    b"Entry Parameter",
    b"Peak buffers:",
    b"BufferAssignment",
    b"parameter allocation:",
    b"constant allocation:",
    b"maybe_live_out allocation:",
    b"preallocated temp ",
    b"RESOURCE_EXHAUSTED",
    b"See https",
];

/// What begins a line of a table, where a number follows at a distance.
const ROWS: [&[u8]; 10] = [
    b"reserved",
    b"program",
    b"arguments",
    b"output",
    b"global",
    b"HLO temp",
    b"scoped",
    b"overlays",
    b"stack",
    b"Buffer",
];

/// Lines that come one after the other, of which some go on with the one before.
#[derive(Debug, Default)]
pub(crate) struct Unwrapped {
    line: Vec<u8>,
    number: u64,
    /// How long the last piece of the line was, and the longest of all.
    last: usize,
    widest: usize,
    /// How many pieces were as long.
    as_wide: u32,
}

impl Unwrapped {
    /// Takes a line as it is shown; the one before if that has ended, with its number.
    pub(crate) fn push(&mut self, number: u64, shown: &[u8]) -> Option<(u64, Vec<u8>)> {
        let text = plain(shown);
        let width = text.len();
        match width.cmp(&self.widest) {
            std::cmp::Ordering::Greater => (self.widest, self.as_wide) = (width, 1),
            std::cmp::Ordering::Equal => self.as_wide += 1,
            std::cmp::Ordering::Less => {}
        }
        let rest = without_prefix(&text);
        if self.goes_on(rest) {
            self.join(rest);
            self.last = width;
            return None;
        }
        let ended = self.end();
        (self.line, self.number, self.last) = (rest.to_vec(), number, width);
        ended
    }

    /// The line that was put together last.
    pub(crate) fn end(&mut self) -> Option<(u64, Vec<u8>)> {
        let line = std::mem::take(&mut self.line);
        (!line.is_empty()).then_some((self.number, line))
    }

    /// Takes a line that goes on with this one, whatever they say.
    pub(crate) fn begins_with(&mut self, number: u64, shown: &[u8]) {
        let text = plain(shown);
        (self.line, self.number) = (without_prefix(&text).to_vec(), number);
        (self.last, self.widest, self.as_wide) = (text.len(), text.len(), 1);
    }

    fn goes_on(&self, text: &[u8]) -> bool {
        let begins = text.trim_ascii();
        if self.line.is_empty() || begins.is_empty() || self.line.len() + text.len() > LONGEST {
            return false;
        }
        // The table and the list are lines of their own.
        let is_row = |row: &&[u8]| {
            let number = begins.strip_prefix(*row).map(<[u8]>::trim_ascii_start);
            number.is_some_and(|number| {
                number.starts_with(b"unknown") || number.first().is_some_and(u8::is_ascii_digit)
            })
        };
        let is_start = STARTS.iter().any(|start| begins.starts_with(start))
            || ROWS.iter().any(is_row)
            || numbered_size(begins).is_some();
        if is_start || FIRST.iter().any(|first| memmem::find(begins, first).is_some()) {
            return false;
        }
        let word = begins.iter().position(u8::is_ascii_whitespace).unwrap_or(begins.len());
        // Without the space that is at the cut, a word more would not have fitted.
        self.last + 1 + word > self.widest
    }

    fn join(&mut self, text: &[u8]) {
        let spaced = self.line.last().is_some_and(u8::is_ascii_whitespace)
            || text.first().is_some_and(u8::is_ascii_whitespace);
        if !spaced && self.has_space(text) {
            self.line.push(b' ');
        }
        self.line.extend_from_slice(text);
    }

    /// Whether a space was at the cut.
    fn has_space(&self, text: &[u8]) -> bool {
        let before = &self.line[self.line.len().saturating_sub(NEAR)..];
        let behind = &text[..text.len().min(NEAR)];
        let words = |between: &[u8]| {
            let joined = [before, between, behind].concat();
            let own = WORDS.iter().filter(|word| memmem::find(&joined, word).is_some()).count();
            // A size is whole where its unit is.
            own + usize::from(has_whole_size(before, between, behind))
        };
        let (without, with) = (words(b""), words(b" "));
        match without.cmp(&with) {
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Less => true,
            // A terminal keeps the space at a cut, so what ends with a word was cut at a space that is gone. Else several
            // lines are exactly as long where a terminal cuts them.
            std::cmp::Ordering::Equal => {
                let last = before.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
                let next = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
                let is_word = SMALL.contains(&last) || SMALL.contains(&next) || next.starts_with(b"%");
                is_word || !(self.last == self.widest && self.as_wide > 1)
            }
        }
    }
}

/// Whether a number at the cut has a unit of bytes behind it.
fn has_whole_size(before: &[u8], between: &[u8], behind: &[u8]) -> bool {
    let joined = [before, between, behind].concat();
    let start =
        before.iter().rposition(|byte| !(byte.is_ascii_digit() || *byte == b'.')).map_or(0, |at| at + 1);
    let digits = joined[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let unit = joined.get(start + digits);
    start < before.len() && start + digits >= before.len() && unit.is_some_and(|unit| b"BKMGT".contains(unit))
}

/// What stands behind the size of an entry such as `  12. Size: 3.00G`, if it is one.
pub(crate) fn numbered_size(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| line[digits..].strip_prefix(b". Size: "))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines put together.
    fn together(text: &str) -> Vec<String> {
        let mut lines = Unwrapped::default();
        let mut found: Vec<(u64, Vec<u8>)> = (1..)
            .zip(text.lines())
            .filter_map(|(number, line)| lines.push(number, line.as_bytes()))
            .collect();
        found.extend(lines.end());
        found.into_iter().map(|(_, line)| String::from_utf8(line).expect("text")).collect()
    }

    #[test]
    fn a_line_that_was_cut_is_one_again() {
        let text = "CompileTimeScopedVmemOom: Ran out of memory in memory space vmem ... for\n\
                    %flash_attention.1 = bf16[1,16,25344,80] ... Scoped allocation with size\n\
                    37.22M and limit 32.00M exceeded scoped vmem limit by 5.22M.";
        assert_eq!(together(text), [text.replace('\n', " ")]);
        let text = "Ran out of memory in memory space hbm. Used 41.74G of 16.00\nG hbm. Exceeded hbm capacity by 25.74G.\n\n\
                    Total hbm usage >= 41.74G:";
        let joined = "Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm. Exceeded hbm capacity by 25.74G.";
        assert_eq!(together(text), [joined, "Total hbm usage >= 41.74G:"]);
    }
}
