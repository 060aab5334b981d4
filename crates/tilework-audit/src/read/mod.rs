//! Reading: which kind of text a line belongs to.

pub(crate) mod assignment;
pub(crate) mod bytes;
pub(crate) mod figures;
pub(crate) mod folder;
pub(crate) mod hlo;
pub(crate) mod instruction;
pub(crate) mod lines;
pub(crate) mod live;
pub(crate) mod meaning;
pub(crate) mod message;
pub(crate) mod metadata;
pub(crate) mod mlir;
pub(crate) mod numbers;
mod packed;
pub(crate) mod prefix;
mod reading;
pub(crate) mod recognise;
pub(crate) mod scan;
pub(crate) mod select;
#[cfg(feature = "proto")]
pub(crate) mod serial;
pub(crate) mod trips;
pub(crate) mod unwrapped;
pub(crate) mod usage;
pub(crate) mod utf16;
pub(crate) mod waiting;
mod whole;

use std::io::{self, BufRead};

use crate::audit::Audit;
use crate::log::triton::{self, Ttgir};
use crate::log::ttnn::{self, Ttnn};
use hlo::Hlo;
use lines::Lines;
use live::Part;
use message::Entry;
use prefix::plain;
pub(crate) use reading::Reading;
use select::{Beside, beside, group};

/// What is said of a compressed file that ends early.
const CUT: &str = "the file ends in the middle";

/// A longer line is not cut by a terminal.
const BEFORE: usize = 1 << 9;

/// The most programs that are told apart.
const PROGRAMS: usize = 1 << 14;

/// What the lines that come next are.
enum Section {
    /// Any text.
    Text,
    Assignment,
    /// Something of a known file that says nothing of interest.
    Skipped,
    Live(Part),
    Usage,
    Hlo(Box<Hlo>),
    Message(Entry),
    Triton(Box<Ttgir>),
    Ttnn(Box<Ttnn>),
    /// A module, for its estimates of time alone.
    Estimates,
    /// A module, for its arguments alone; and whether its first computation has begun.
    Whole(bool),
    /// Nothing that comes is wanted.
    Done,
}

/// What a line begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Assignment,
    AssignmentEnd,
    Live,
    Usage,
    Hlo,
    /// What PyTorch writes behind a module.
    HloEnd,
    /// A kernel of Triton.
    Triton,
    /// A program of TTNN.
    Ttnn,
}

impl Header {
    /// Tells by the first byte whether there is anything to compare.
    #[inline]
    fn of(line: &[u8]) -> Option<Header> {
        match line.first()? {
            b'B' if line.starts_with(b"BufferAssignment:") => Some(Header::Assignment),
            b'U' if line.starts_with(b"Used values:") => Some(Header::AssignmentEnd),
            b'H' if line.starts_with(b"HloLiveRange (max") => Some(Header::Live),
            b'H' if line.starts_with(b"HloModule ") => Some(Header::Hlo),
            b'M' if line.starts_with(b"Memory Space: ") => Some(Header::Usage),
            b'#' if line.starts_with(b"## END_GRAPH") => Some(Header::HloEnd),
            b'#' | b'm' if triton::begins(line) => Some(Header::Triton),
            b'#' | b'm' if ttnn::begins(line) => Some(Header::Ttnn),
            _ => None,
        }
    }
}

impl Audit {
    /// Reads a text to its end, whatever it is: a file of a dump, several of them one after the other, an out-of-memory
    /// message, or any text with shapes in it. What is compressed by gzip is read as what it holds, and UTF-16 behind a
    /// byte order mark as UTF-8. With the feature `proto`, also a serialised module (`HloProto` or `HloModuleProto`), which
    /// is held in memory as a whole.
    ///
    /// Files whose names differ only behind the name of the module are about one program. What cannot be read is counted
    /// (see [`Findings::unread`](crate::Findings::unread)) and never stops the reading.
    ///
    /// # Errors
    /// Those of `input`; and what would take more memory than there is for it (see [`Audit::with_memory`]), which is an
    /// error of the kind [`OutOfMemory`](io::ErrorKind::OutOfMemory). What was read before stays, and nothing more is read.
    pub fn read(&mut self, name: &str, mut input: impl BufRead) -> io::Result<()> {
        if self.store.budget.is_exceeded() {
            return Err(self.store.lack());
        }
        self.store.complaints.start(name);
        let group = group(name);
        let about = beside(name)
            .and_then(|(of, what)| Some((self.programs.take_with(&of, |program| program.has.module)?, what)));
        let (of, beside) = about.map_or((None, None), |(of, what)| (Some(of), Some(what)));
        let program = of.or_else(|| self.programs.take(group)).unwrap_or_else(|| self.store.program(group));
        let (store, programs, logs) = (&mut self.store, &mut self.programs, &mut self.logs);
        let mut reading = Reading { store, programs, logs, name, program, beside, bytes: 0 };
        let outcome = reading.read(&mut input);
        let Reading { program, bytes, .. } = reading;
        self.logs.end(&self.store.budget);
        self.programs.add(program);
        self.bytes += bytes;
        // The last line may have been too much.
        match outcome {
            Ok(()) if self.store.budget.is_exceeded() => Err(self.store.lack()),
            outcome => outcome,
        }
    }
}

impl Reading<'_> {
    fn read_lines(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        let mut lines = Lines::new(input);
        let mut section = Section::Text;
        // The line before, as a message may begin in it and go on in the next.
        let mut before: Vec<u8> = Vec::new();
        let outcome = loop {
            let number = lines.number + 1;
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => break Ok(()),
                // A compressed file that ends early has been read so far.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.store.complaints.add(number, CUT);
                    break Ok(());
                }
                Err(error) => break Err(error),
            };
            if line.cut {
                self.store.complaints.add(number, "a line so long that its end was skipped");
            }
            if self.store.budget.is_exceeded() {
                break Err(self.store.lack());
            }
            let text = line.text;
            self.bytes += text.len() as u64 + 1;
            let header = Header::of(text).filter(|header| match header {
                Header::Triton => !matches!(section, Section::Triton(_)),
                Header::Ttnn => !matches!(section, Section::Ttnn(_)),
                _ => true,
            });
            if let Some(header) = header {
                match &mut section {
                    Section::Triton(ttgir) => self.ttgir_ends(ttgir),
                    Section::Ttnn(ttnn) => self.ttnn_ends(ttnn),
                    Section::Message(entry) => {
                        self.message_ends(entry);
                        self.another();
                    }
                    Section::Hlo(hlo) => self.store.hlo_ends(&mut self.program, hlo),
                    _ => {}
                }
                section = self.section(header, text);
                if !matches!(header, Header::Usage | Header::Triton | Header::Ttnn) {
                    continue;
                }
            }
            if matches!(section, Section::Text | Section::Message(_))
                && (self.onednn_line(number, text) || self.tensorrt_line(number, text))
            {
                if let Section::Message(entry) = &mut section {
                    self.message_ends(entry);
                    self.another();
                    section = Section::Text;
                }
                continue;
            }
            let program = &mut self.program;
            match &mut section {
                Section::Hlo(hlo) => self.store.hlo_line(program, hlo, number, text),
                Section::Assignment => self.store.assignment_line(program, number, text),
                Section::Live(part) => self.store.live_line(program, part, number, text),
                Section::Usage => self.store.usage_line(program, number, text),
                Section::Skipped => {}
                Section::Estimates => self.store.cycles_line(program, text),
                Section::Whole(inside) => self.store.whole_line(program, inside, text),
                Section::Done => break Ok(()),
                Section::Triton(ttgir) => self.ttgir_line(ttgir, number, text),
                Section::Ttnn(ttnn) => self.ttnn_line(ttnn, number, text),
                Section::Message(entry) => self.message_lines(entry, number, text),
                Section::Text if message::begins(text) || message::begins_cut(&before, text) => {
                    self.begin(|has| &mut has.message);
                    let mut entry = Entry::default();
                    if message::begins_cut(&before, text) {
                        self.message_before(&mut entry, number - 1, &before);
                    }
                    self.message_lines(&mut entry, number, text);
                    section = Section::Message(entry);
                }
                Section::Text => {
                    program.has.text = true;
                    let text = plain(text);
                    self.store.text_line(program, number, &text);
                    before.clear();
                    before.extend_from_slice(if text.len() <= BEFORE { &text } else { b"" });
                }
            }
        };
        match &mut section {
            Section::Hlo(hlo) => {
                if outcome.is_ok() && hlo.is_open() {
                    self.store.complaints.add(lines.number, "the file ends within a computation");
                } else if outcome.is_ok() && !hlo.is_entered() {
                    self.store.complaints.add(lines.number, "the file ends before its ENTRY computation");
                }
                self.store.hlo_ends(&mut self.program, hlo);
            }
            Section::Message(entry) => self.message_ends(entry),
            Section::Triton(ttgir) => self.ttgir_ends(ttgir),
            Section::Ttnn(ttnn) => self.ttnn_ends(ttnn),
            _ => {}
        }
        outcome
    }

    fn section(&mut self, header: Header, line: &[u8]) -> Section {
        match header {
            // Nobody compiles more than `PROGRAMS`; a text that says so is not believed to its end.
            _ if self.programs.len() >= PROGRAMS => {
                self.program.overflowed = true;
                Section::Skipped
            }
            Header::Assignment => {
                self.begin(|has| &mut has.assignment);
                Section::Assignment
            }
            Header::AssignmentEnd => Section::Skipped,
            Header::HloEnd => Section::Text,
            Header::Triton => Section::Triton(Box::default()),
            Header::Ttnn => Section::Ttnn(Box::default()),
            Header::Live => {
                self.begin(|has| &mut has.lives);
                Section::Live(Part::None)
            }
            Header::Usage => {
                self.program.has.report = true;
                Section::Usage
            }
            Header::Hlo if self.beside == Some(Beside::Estimates) => Section::Estimates,
            Header::Hlo if self.beside == Some(Beside::Whole) => {
                match self.store.devices(&mut self.program, line) {
                    true => Section::Whole(false),
                    false => Section::Done,
                }
            }
            Header::Hlo => {
                self.begin(|has| &mut has.module);
                Section::Hlo(Box::new(self.store.hlo(&mut self.program, line)))
            }
        }
    }
}
