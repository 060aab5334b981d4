//! JSON that may be as long as a day of profiling: one record after the other, each small.
//!
//! What compilers and profilers write is a list of records, or an object with such a list in it. So a file is cut into
//! records, in bounded memory, without regard to what stands in them; a record is read by itself.

use std::io::{self, BufRead};

/// The longest record that is read.
const LONGEST: usize = 1 << 20;

/// The longest key of the outermost object.
const LONGEST_KEY: usize = 256;

/// Where the next record is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// Between the members of the outermost object.
    Object,
    /// In a list, which may be the outermost value.
    List {
        outermost: bool,
    },
    End,
}

/// A reader of records.
pub(super) struct Records<R> {
    input: R,
    place: Place,
    /// The key of the list.
    key: Vec<u8>,
    record: Vec<u8>,
    /// The line that is read, counted from 1, and bytes so far.
    line: u64,
    pub(super) bytes: u64,
    /// Whether the file ends in the middle, or is none of JSON from somewhere on.
    pub(super) is_cut: bool,
}

/// A value of the outermost list or object, or of a list that is a member of that.
pub(super) struct Record<'a> {
    /// The member that it is of; empty in an outermost list.
    pub(super) key: &'a [u8],
    pub(super) text: &'a [u8],
    pub(super) line: u64,
    /// Whether it was longer than what is read.
    pub(super) is_long: bool,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(input: R) -> Records<R> {
        let (key, record) = (Vec::new(), Vec::new());
        Records { input, place: Place::Start, key, record, line: 1, bytes: 0, is_cut: false }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A compressed file that ends early.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn pass(&mut self, byte: u8) {
        self.input.consume(1);
        self.bytes += 1;
        self.line += u64::from(byte == b'\n');
    }

    /// The next byte that is no space.
    fn token(&mut self) -> io::Result<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() && byte != b',' {
                return Ok(Some(byte));
            }
            self.pass(byte);
        }
        Ok(None)
    }

    /// The next record; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        loop {
            let Some(byte) = self.token()? else {
                self.is_cut |= self.place != Place::End;
                return Ok(None);
            };
            match (self.place, byte) {
                (Place::Start, b'[') => {
                    self.pass(byte);
                    self.place = Place::List { outermost: true };
                }
                (Place::Start, b'{') => {
                    self.pass(byte);
                    self.place = Place::Object;
                }
                (Place::List { outermost: true }, b']') | (Place::Object, b'}') => {
                    self.pass(byte);
                    self.place = Place::End;
                }
                (Place::List { .. }, b']') => {
                    self.pass(byte);
                    self.place = Place::Object;
                }
                (Place::List { .. }, byte) if byte != b'}' && byte != b':' => return self.value().map(Some),
                (Place::Object, b'"') => {
                    let is_long = self.read_value()?;
                    self.key.clear();
                    let key = self.record.trim_ascii();
                    let key = key.strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\"")).unwrap_or(b"");
                    self.key.extend_from_slice(&key[..key.len().min(LONGEST_KEY)]);
                    let colon = self.token()?;
                    if is_long || colon != Some(b':') {
                        return self.wrong();
                    }
                    self.pass(b':');
                    match self.token()? {
                        Some(b'[') => {
                            self.pass(b'[');
                            self.place = Place::List { outermost: false };
                        }
                        Some(byte) if !matches!(byte, b'}' | b']' | b':') => return self.value().map(Some),
                        _ => return self.wrong(),
                    }
                }
                // What follows the outermost value is not looked at.
                (Place::End, _) => return Ok(None),
                _ => return self.wrong(),
            }
        }
    }

    fn wrong(&mut self) -> io::Result<Option<Record<'_>>> {
        self.is_cut = true;
        self.place = Place::End;
        Ok(None)
    }

    fn value(&mut self) -> io::Result<Record<'_>> {
        let line = self.line;
        let is_long = self.read_value()?;
        Ok(Record { key: &self.key, text: &self.record, line, is_long })
    }

    /// Reads a value to its end; true if it is too long to be kept.
    fn read_value(&mut self) -> io::Result<bool> {
        self.record.clear();
        self.record.shrink_to(1 << 16);
        let (mut depth, mut in_text, mut escaped, mut is_long) = (0_u32, false, false, false);
        loop {
            if self.peek()?.is_none() {
                self.is_cut = true;
                return Ok(is_long);
            }
            let bytes = self.input.fill_buf()?;
            let (mut ends, mut at) = (None, 0);
            while let Some(&byte) = bytes.get(at) {
                if in_text {
                    if escaped {
                        (escaped, at) = (false, at + 1);
                        continue;
                    }
                    let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else { break };
                    at += found + 1;
                    escaped = bytes[at - 1] == b'\\';
                    in_text = escaped;
                    if !in_text && depth == 0 {
                        ends = Some(at);
                        break;
                    }
                    continue;
                }
                match byte {
                    b'"' => in_text = true,
                    b'{' | b'[' => depth += 1,
                    // The end of what the value stands in.
                    b'}' | b']' | b',' if depth == 0 => {
                        ends = Some(at);
                        break;
                    }
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            ends = Some(at + 1);
                            break;
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            let used = ends.unwrap_or(bytes.len());
            let lines = memchr::memchr_iter(b'\n', &bytes[..used]).count() as u64;
            let room = LONGEST - self.record.len();
            is_long |= used > room;
            self.record.extend_from_slice(&bytes[..used.min(room)]);
            self.input.consume(used);
            self.bytes += used as u64;
            self.line += lines;
            if ends.is_some() {
                return Ok(is_long);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, capacity: usize) -> (Vec<(String, String, u64)>, bool) {
        let mut records = Records::new(io::BufReader::with_capacity(capacity, text.as_bytes()));
        let mut found = Vec::new();
        while let Some(record) = records.next().expect("memory is read") {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
            found.push((text(record.key), text(record.text), record.line));
        }
        (found, records.is_cut)
    }

    #[test]
    fn records_are_the_same_whatever_the_buffer_holds() {
        let text = "{\"a\": 1,\n \"b\\\"\": [{\"x\": \"}]\\\"\"}, 2, [3, [4]]],\n\"c\": {\"d\": []}, \"e\": [] }\n tail";
        let expected: Vec<(String, String, u64)> = [
            ("a", "1", 1),
            ("b\\\"", "{\"x\": \"}]\\\"\"}", 2),
            ("b\\\"", "2", 2),
            ("b\\\"", "[3, [4]]", 2),
            ("c", "{\"d\": []}", 3),
        ]
        .map(|(key, text, line)| (key.to_owned(), text.to_owned(), line))
        .to_vec();
        for capacity in 1..40 {
            assert_eq!(records(text, capacity), (expected.clone(), false), "{capacity}");
        }
        assert_eq!(records("[1,\n\"two\"]", 3).0.len(), 2);
        for cut in 1..text.len() - 7 {
            assert!(records(&text[..cut], 5).1, "{cut}");
        }
    }
}
