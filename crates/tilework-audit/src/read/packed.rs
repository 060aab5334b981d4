//! What a file is before its lines: compressed, marked, in UTF-16, JSON, serialised, or a text.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;

use super::recognise::Serialised;
use super::utf16::{Order, Utf16};
use super::{CUT, Reading, recognise};
use crate::log::{kinds, onnx};

/// No message of protobuf is as long.
#[cfg(feature = "proto")]
const LONGEST: u64 = 1 << 31;

/// What the first bytes say of all.
#[derive(Clone, Copy)]
enum Start {
    Gzip,
    /// Text behind a mark of three bytes that says it is UTF-8.
    Mark,
    Utf16(Order),
    Text,
}

impl Start {
    /// As many bytes are looked at.
    const BYTES: usize = 3;

    fn of(bytes: &[u8]) -> Start {
        match bytes {
            [0x1f, 0x8b, ..] => Start::Gzip,
            [0xef, 0xbb, 0xbf, ..] => Start::Mark,
            [0xff, 0xfe, ..] => Start::Utf16(Order::Little),
            [0xfe, 0xff, ..] => Start::Utf16(Order::Big),
            _ => Start::Text,
        }
    }
}

impl Reading<'_> {
    pub(super) fn read(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        // A pipe may give one byte at a time.
        if input.fill_buf()?.len() >= Start::BYTES {
            return self.read_packed(input);
        }
        let mut start = Vec::new();
        read_up_to(input, Start::BYTES, &mut start)?;
        self.read_packed(&mut io::Cursor::new(start).chain(input))
    }

    fn read_packed(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        match Start::of(input.fill_buf()?) {
            Start::Gzip => {
                let unpacked = MultiGzDecoder::new(input);
                self.read_unpacked(&mut io::BufReader::with_capacity(1 << 17, unpacked))
            }
            _ => self.read_unpacked(input),
        }
    }

    fn read_unpacked(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        let start = match input.fill_buf() {
            Ok(text) => Start::of(text),
            // A decoder tells it once, and of nothing that it gives afterwards anything is known.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.store.complaints.add(1, CUT);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        match start {
            Start::Mark => {
                input.consume(3);
                self.read_lines(input)
            }
            Start::Utf16(order) => {
                input.consume(2);
                self.read_lines(&mut Utf16::new(input, order))
            }
            Start::Gzip | Start::Text => self.read_plain(input),
        }
    }

    /// Reads a text or a serialised module, whichever it is.
    fn read_plain(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        match input.fill_buf() {
            Ok([b'{' | b'[', ..]) => return self.read_records(input),
            Ok([first, ..]) if kinds::may_not_be_read(*first) => {
                let mut start = Vec::new();
                read_up_to(input, kinds::MARK, &mut start)?;
                if let Some(reason) = kinds::not_read(&start) {
                    self.store.complaints.add_at(0, reason);
                    return Ok(());
                }
                let input = &mut io::Cursor::new(start.clone()).chain(input);
                return if onnx::begins(&start) { self.onnx(input) } else { self.read_text(input) };
            }
            _ => {}
        }
        self.read_text(input)
    }

    /// Reads a text or a serialised module, and no JSON.
    fn read_text(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        // No text but one that begins with an empty line is looked at more closely.
        if !matches!(input.fill_buf(), Ok([0x0a | 0x12, ..])) {
            return self.read_lines(input);
        }
        let mut start = Vec::new();
        let whole = read_up_to(input, recognise::START, &mut start)?;
        match recognise::serialised(&start) {
            Some(kind) => self.read_serialised(kind, start, input),
            None => {
                if !whole {
                    self.store.complaints.add(memchr::memchr_iter(b'\n', &start).count() as u64, CUT);
                }
                self.read_lines(&mut io::Cursor::new(start).chain(input))
            }
        }
    }

    /// Reads JSON of a kind that is known, or any other text.
    fn read_records(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        let mut start = Vec::new();
        let whole = read_up_to(input, kinds::START, &mut start)?;
        let kind = kinds::json(&start);
        if !whole {
            self.store.complaints.add(memchr::memchr_iter(b'\n', &start).count() as u64, CUT);
        }
        let input = &mut io::Cursor::new(start).chain(input);
        match kind {
            Some(kind) => self.json(kind, input),
            None => self.read_lines(input),
        }
    }

    /// Reads a serialised module, of which the start has been read.
    #[cfg(feature = "proto")]
    fn read_serialised(
        &mut self,
        kind: Serialised,
        start: Vec<u8>,
        input: &mut dyn BufRead,
    ) -> io::Result<()> {
        let mut bytes = start;
        let whole = self.read_within(&mut input.take(LONGEST), &mut bytes);
        self.bytes += bytes.len() as u64;
        let whole = match whole {
            Ok(whole) => whole,
            Err(error) => {
                self.store.budget.give_list(&bytes);
                return Err(error);
            }
        };
        if bytes.len() as u64 >= LONGEST {
            self.store.complaints.add_at(0, "a serialised module of 2 GiB or more, which none can have");
            self.store.budget.give_list(&bytes);
            return Ok(());
        }
        if !whole {
            self.store.complaints.add_at(bytes.len(), CUT);
        }
        self.serialised(kind, &bytes);
        self.store.budget.give_list(&bytes);
        Ok(())
    }

    /// Reads until there is no more, within the budget; false if a compressed file ends in the middle.
    #[cfg(feature = "proto")]
    fn read_within(&mut self, input: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<bool> {
        const PIECE: usize = 1 << 16;
        // What was read to recognise it is held already.
        let mut start = std::mem::take(bytes);
        if !self.store.budget.for_bytes(bytes, start.len()) {
            return Err(self.store.lack());
        }
        bytes.append(&mut start);
        loop {
            if !self.store.budget.for_bytes(bytes, PIECE) {
                return Err(self.store.lack());
            }
            let before = bytes.len();
            let is_whole = read_up_to(input, PIECE, bytes)?;
            if !is_whole || bytes.len() - before < PIECE {
                return Ok(is_whole);
            }
        }
    }

    /// Says what was found.
    #[cfg(not(feature = "proto"))]
    fn read_serialised(&mut self, kind: Serialised, _: Vec<u8>, _: &mut dyn BufRead) -> io::Result<()> {
        let reason = match kind {
            Serialised::Hlo => {
                "a serialised HloProto, which this build cannot read: it lacks the feature `proto`"
            }
            Serialised::Module => {
                "a serialised HloModuleProto, which this build cannot read: it lacks the feature `proto`"
            }
        };
        self.store.complaints.add_at(0, reason);
        Ok(())
    }
}

/// Reads that many bytes, or until there is no more; false if a compressed file ends in the middle.
fn read_up_to(input: &mut dyn BufRead, most: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    match input.take(most as u64).read_to_end(bytes) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
