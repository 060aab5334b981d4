//! Lines of a message as they were before a terminal, a log or a mail changed them.
//!
//! A terminal cuts a line where its width ends, and a mailer at the last space before that; a log puts the time and more
//! before each line, a mail `> `, and colours are sequences of escapes. What is cut is put together again: a line that
//! begins nothing of its own goes on with the one before, if that one is as long as any. Whether there was a space between
//! them, the words say that come of it, or else the width.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::{memchr, memmem};

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
const STARTS: [&[u8]; 32] = [
    b"Total ",
    b"reserved ",
    b"program ",
    b"arguments ",
    b"Output size",
    b"Program ",
    b"global ",
    b"HLO temp ",
    b"scoped ",
    b"overlays ",
    b"stack ",
    b"Largest program allocations",
    b"Operator:",
    b"Shape:",
    b"Unpadded size:",
    b"Extra memory due to",
    b"XLA label:",
    b"XLA Label:",
    b"Allocation type:",
    b"====",
    b"Buffer ",
    b"Size:",
    b"Entry Parameter",
    b"Peak buffers:",
    b"BufferAssignment",
    b"parameter allocation:",
    b"constant allocation:",
    b"maybe_live_out allocation:",
    b"preallocated temp ",
    b"total ",
    b"RESOURCE_EXHAUSTED",
    b"See https",
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
        let is_start =
            STARTS.iter().any(|start| begins.starts_with(start)) || numbered_size(begins).is_some();
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

/// Whether one line goes on with another to say something that neither of them says; by the bytes at the cut, which is
/// seldom so, it is known whether to look.
pub(crate) fn may_be_cut(before: &[u8], behind: &[u8]) -> bool {
    static PAIRS: LazyLock<Vec<bool>> = LazyLock::new(|| {
        let mut pairs = vec![false; 1 << 16];
        for word in WORDS {
            for pair in word.windows(2) {
                pairs[usize::from(pair[0]) << 8 | usize::from(pair[1])] = true;
            }
            for three in word.windows(3).filter(|three| three[1] == b' ') {
                pairs[usize::from(three[0]) << 8 | usize::from(three[2])] = true;
            }
        }
        pairs
    });
    match (before.last(), behind.first()) {
        (Some(&last), Some(&first)) => PAIRS[usize::from(last) << 8 | usize::from(first)],
        _ => false,
    }
}

/// A line without sequences that a terminal obeys, also as logs write them out.
pub(crate) fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    const WRITTEN: [&[u8]; 7] = [b"\x1b", b"^[", b"\\x1b", b"\\033", b"\\u001b", b"#033", b"\\e"];
    let has = memchr(b'[', line).is_some() || memchr(0x1b, line).is_some();
    if !has || !WRITTEN.iter().any(|mark| memmem::find(line, mark).is_some()) {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    'bytes: while let Some((&byte, after)) = rest.split_first() {
        for mark in WRITTEN {
            let Some(sequence) = rest.strip_prefix(mark) else { continue };
            if let Some(length) = sequence_length(sequence) {
                rest = &sequence[length..];
                continue 'bytes;
            }
        }
        if byte != 0x1b {
            out.push(byte);
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// How long the sequence is behind an escape.
fn sequence_length(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'[' => {
            let parameters = text[1..].iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            let last = text.get(1 + parameters)?;
            (parameters <= 32 && matches!(last, 0x40..=0x7e)).then_some(parameters + 2)
        }
        b']' => {
            let end = text.iter().take(256).position(|&byte| byte == 0x07)?;
            Some(end + 1)
        }
        _ => None,
    }
}

/// What stands behind what mails and logs put before a line. Spaces that indent what is left are kept.
pub(crate) fn without_prefix(line: &[u8]) -> &[u8] {
    let mut rest = line;
    for _ in 0..16 {
        let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let text = &rest[spaces..];
        let Some(length) = prefix_length(text) else { break };
        rest = &text[length..];
        // One space belongs to it.
        rest = rest.strip_prefix(b" ").unwrap_or(rest);
    }
    rest
}

fn prefix_length(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let word = &text[..end];
    match text.first()? {
        b'>' | b'|' => Some(1),
        // `(EngineCore pid=106339)`, `[rank0]:`, `[core.py:1184]`
        b'(' => {
            let close = memchr(b')', &text[..text.len().min(64)])?;
            let inside = &text[1..close];
            let is_process =
                memmem::find(inside, b"pid=").is_some() || memmem::find(inside, b"ip=").is_some();
            is_process.then_some(close + 1)
        }
        b'[' => {
            let close = memchr(b']', &text[..text.len().min(64)])?;
            let length = close + 1 + usize::from(text.get(close + 1) == Some(&b':'));
            // `[64,512]{1,0}` is a piece of a shape.
            let is_named = text[1..close].iter().any(u8::is_ascii_alphabetic);
            (is_named && text.get(length).is_none_or(u8::is_ascii_whitespace)).then_some(length)
        }
        _ if [
            &b"ERROR"[..],
            b"WARNING",
            b"INFO",
            b"DEBUG",
            b"FATAL",
            b"CRITICAL",
            b"stderr",
            b"stdout",
            b"F",
        ]
        .iter()
        .any(|level| word.strip_suffix(b":").unwrap_or(word) == *level) =>
        {
            Some(end)
        }
        // `E1111 07:35:00.272763 140408571025152 error_handling.py:81]`
        b'E' | b'W' | b'I' | b'F' if is_time(&word[1..]) || is_date(&word[1..]) => {
            Some(memmem::find(&text[..text.len().min(160)], b"] ").map_or(end, |close| close + 1))
        }
        b'0'..=b'9' if is_time(word) => {
            // `2020-05-04 09:05:40.7 E 1578 xla_util.cc:76]`
            let close = memmem::find(&text[..text.len().min(96)], b"] ");
            let is_source = |close: usize| {
                let before = &text[..close];
                before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() > 0
                    && before.contains(&b':')
                    && !before.contains(&b'[')
                    && !before.contains(&b'{')
            };
            Some(close.filter(|&close| is_source(close)).map_or(end, |close| close + 1))
        }
        _ => None,
    }
}

/// `07:35:00.272763`, `2024-05-01T10:00:00Z`, `06-03`
fn is_time(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let marks = word.iter().filter(|byte| matches!(byte, b'-' | b':')).count();
    let known =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b',' | b'T' | b'Z' | b'+');
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'Z');
    word.iter().all(known) && digits >= 4 && marks >= 1 && ends(word.first()) && ends(word.last())
}

/// `1111` of `E1111`, the month and the day.
fn is_date(word: &[u8]) -> bool {
    word.len() == 4 && word.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        String::from_utf8(without_prefix(&plain(text.as_bytes())).to_vec()).expect("text")
    }

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

    #[test]
    fn what_logs_and_mails_put_before_a_line_is_taken_away() {
        for (line, said) in [
            ("E1111 07:35:00.272763 140408571025152 error_handling.py:81] Closing due", "Closing due"),
            ("2020-05-04 09:05:40.7 E 1578 xla_util.cc:76]   1. Size: 3.00G", "  1. Size: 3.00G"),
            (
                "(EngineCore pid=106339) ERROR 06-03 07:41:11 [core.py:1184]      Shape: f32[2]",
                "     Shape: f32[2]",
            ),
            ("> >      Shape: f32[2]", "     Shape: f32[2]"),
            ("[rank0]: RESOURCE_EXHAUSTED: E1000: x", "RESOURCE_EXHAUSTED: E1000: x"),
            ("2024-05-01T10:00:00.123Z stdout F   5. Size: 4.00M", "  5. Size: 4.00M"),
            ("\x1b[31m     Shape: f32[2]{0:T(128)}\x1b[0m", "     Shape: f32[2]{0:T(128)}"),
            ("     Shape: f32[2]{0:T(128)}^[[0m", "     Shape: f32[2]{0:T(128)}"),
            ("     Shape: f32[2]{0:T(128)}\\x1b[1;31m", "     Shape: f32[2]{0:T(128)}"),
            ("     XLA label: %a = f32[2]{0} b(%c)", "     XLA label: %a = f32[2]{0} b(%c)"),
            ("  10. Size: 256.00M", "  10. Size: 256.00M"),
            ("8,4]{0,2,1:T(4,128)} %x", "8,4]{0,2,1:T(4,128)} %x"),
            ("E1000: CompileTimeHbmOom: Ran", "E1000: CompileTimeHbmOom: Ran"),
        ] {
            assert_eq!(shown(line), said);
        }
    }
}
