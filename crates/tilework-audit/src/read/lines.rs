//! Lines of a file, one after the other, in bounded memory.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

/// The longest line of which everything is read. What stands behind it in a longer one, such as the rest of a constant,
/// is skipped.
pub(crate) const LONGEST: usize = 1 << 22;

/// A reader by lines that copies none of them but those at the border of its buffer.
pub(crate) struct Lines<R> {
    input: R,
    /// Bytes of the buffer that belong to the line that was given last.
    used: usize,
    /// A line of which the buffer held only parts.
    held: Vec<u8>,
    /// The number of the line that was given last, counted from 1.
    pub(crate) number: u64,
}

/// A line without its end.
pub(crate) struct Line<'a> {
    pub(crate) text: &'a [u8],
    /// Whether it was longer.
    pub(crate) cut: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, used: 0, held: Vec::new(), number: 0 }
    }

    /// The next line; none at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.input.consume(std::mem::take(&mut self.used));
        let end = memchr(b'\n', fill(&mut self.input)?);
        let Some(end) = end else { return self.next_in_parts() };
        self.number += 1;
        self.used = end + 1;
        let text = without_return(&fill(&mut self.input)?[..end]);
        Ok(Some(Line { text: &text[..text.len().min(LONGEST)], cut: text.len() > LONGEST }))
    }

    /// A line that the buffer does not hold as a whole.
    #[cold]
    fn next_in_parts(&mut self) -> io::Result<Option<Line<'_>>> {
        self.held.clear();
        self.held.shrink_to(1 << 16);
        let (mut any, mut cut) = (false, false);
        loop {
            let chunk = fill(&mut self.input)?;
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let room = LONGEST - self.held.len();
            cut |= part.len() > room;
            self.held.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.number += u64::from(any);
        Ok(any.then_some(Line { text: without_return(&self.held), cut }))
    }
}

/// What is in the buffer, filled if it is empty.
#[inline]
fn fill(input: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    input.fill_buf() // filled, so this reads nothing
}

#[inline]
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], capacity: usize) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::new(io::BufReader::with_capacity(capacity, text));
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("memory is read") {
            found.push((line.text.to_vec(), line.cut));
        }
        assert_eq!(lines.number, found.len() as u64);
        found
    }

    #[test]
    fn lines_are_the_same_whatever_the_buffer_holds() {
        let text = b"one\n\ntwo and more\r\n\xff\xfe\nlast";
        let expected: Vec<&[u8]> = vec![b"one", b"", b"two and more", b"\xff\xfe", b"last"];
        for capacity in 1..40 {
            let found = lines(text, capacity);
            assert_eq!(found.iter().map(|line| &line.0[..]).collect::<Vec<_>>(), expected, "{capacity}");
            assert!(found.iter().all(|line| !line.1));
        }
        assert_eq!(lines(b"", 8), []);
        assert_eq!(lines(b"a\n", 8), [(b"a".to_vec(), false)]);
    }

    #[test]
    fn a_gigantic_line_is_cut_and_the_next_one_is_whole() {
        let text = [vec![b'x'; LONGEST + 5], b"\nnext\n".to_vec()].concat();
        for capacity in [777, 1 << 23] {
            let found = lines(&text, capacity);
            assert_eq!((found[0].0.len(), found[0].1), (LONGEST, true));
            assert_eq!(found[1], (b"next".to_vec(), false));
        }
    }
}
