//! Where an instruction comes from: `metadata={op_name="jit(f)/add" stack_frame_id=3}`, and the tables of a module that
//! say which line of which file a stack frame is.
//!
//! ```text
//! FileNames
//! 1 "example/corpus.py"
//! FileLocations
//! 3 {file_name_id=1 function_name_id=2 line=13 end_line=13 column=6 end_column=94}
//! StackFrames
//! 3 {file_location_id=3 parent_frame_id=2}
//! ```

use crate::budget::Budget;
use crate::read::bytes::{number, number_after, quoted, split, unescaped};
use crate::sources::Source;
use crate::texts::{NONE, Text, Texts};

/// The most entries of one table.
const LIMIT: usize = 1 << 20;

/// The tables at the beginning of a module.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    budget: Budget,
    open: Table,
    files: Vec<Text>,
    /// The number of the file, and the line.
    locations: Vec<(u32, u32)>,
    /// The number of the location.
    frames: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    #[default]
    None,
    Files,
    Functions,
    Locations,
    Frames,
}

impl Tables {
    /// Those that are held within a budget; none so far.
    pub(crate) fn within(budget: &Budget) -> Tables {
        Tables { budget: budget.clone(), ..Tables::default() }
    }

    /// Gives back what they take.
    pub(crate) fn end(&self) {
        self.budget.give_list(&self.files);
        self.budget.give_list(&self.locations);
        self.budget.give_list(&self.frames);
    }

    /// Reads a line between the computations; false if it belongs to no table.
    pub(crate) fn line(&mut self, line: &[u8], texts: &mut Texts) -> bool {
        self.open = match line {
            b"FileNames" => Table::Files,
            b"FunctionNames" => Table::Functions,
            b"FileLocations" => Table::Locations,
            b"StackFrames" => Table::Frames,
            b"" => return true,
            _ => return self.entry(line, texts).is_some(),
        };
        true
    }

    fn entry(&mut self, line: &[u8], texts: &mut Texts) -> Option<()> {
        let place = number(line)? as usize;
        let (_, entry) = split(line, b" ")?;
        match self.open {
            Table::None => return None,
            Table::Files => {
                put(&self.budget, &mut self.files, place, texts.number(&unescaped(quoted(entry)?)));
            }
            Table::Functions => {}
            Table::Locations => {
                let file = number_after(entry, b"file_name_id=")? as u32;
                let line = number_after(entry, b" line=")? as u32;
                put(&self.budget, &mut self.locations, place, (file, line));
            }
            Table::Frames => {
                let location = number_after(entry, b"file_location_id=")? as u32;
                put(&self.budget, &mut self.frames, place, location);
            }
        }
        Some(())
    }

    /// The place that a stack frame stands for.
    fn place(&self, frame: u64) -> (Text, u32) {
        let location = usize::try_from(frame).ok().and_then(|frame| self.frames.get(frame));
        let location = location.and_then(|&location| self.locations.get(location as usize));
        let Some(&(file, line)) = location else { return (NONE, 0) };
        (self.files.get(file as usize).copied().unwrap_or(NONE), line)
    }

    /// Reads what stands in the braces of `metadata={…}`, and sees to it that the end is found whatever stands there.
    pub(crate) fn source(&self, mut text: &[u8], texts: &mut Texts) -> Source {
        let mut source = Source::default();
        while let Some(equals) = memchr::memchr2(b'=', b'}', text) {
            if text[equals] == b'}' {
                break;
            }
            let (key, value) = (text[..equals].trim_ascii(), &text[equals + 1..]);
            let quoted = quoted(value);
            let end = match quoted {
                Some(quoted) => quoted.len() + 2,
                None => memchr::memchr2(b' ', b'}', value).unwrap_or(value.len()),
            };
            let mut text_of = || texts.number(&unescaped(quoted.unwrap_or(&value[..end])));
            match key {
                b"op_name" => source.operation = text_of(),
                b"source_file" => source.file = text_of(),
                b"source_line" => source.line = number(value).unwrap_or(0) as u32,
                b"stack_frame_id" => {
                    let (file, line) = self.place(number(value).unwrap_or(0));
                    if file != NONE {
                        (source.file, source.line) = (file, line);
                    }
                }
                _ => {}
            }
            text = &value[end..];
        }
        source
    }
}

fn put<T: Clone + Default>(budget: &Budget, list: &mut Vec<T>, place: usize, value: T) {
    let more = (place + 1).saturating_sub(list.len());
    if place >= LIMIT || !budget.for_more(list, more) {
        return;
    }
    if more > 0 {
        list.resize(place + 1, T::default());
    }
    list[place] = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_frame_is_a_line_of_a_file() {
        let (mut tables, mut texts) = (Tables::default(), Texts::default());
        let lines = "FileNames\n1 \"example/corpus.py\"\n\nFunctionNames\n1 \"<module>\"\n\nFileLocations\n\
                     3 {file_name_id=1 function_name_id=2 line=13 end_line=14 column=6 end_column=94}\n\n\
                     StackFrames\n7 {file_location_id=3 parent_frame_id=2}\n";
        assert!(lines.lines().all(|line| tables.line(line.as_bytes(), &mut texts)));
        let source = tables.source(b"op_name=\"jit(f)/a b=c}\" stack_frame_id=7}, x={y=1}", &mut texts);
        assert_eq!(texts.text(source.operation), "jit(f)/a b=c}");
        assert_eq!((texts.text(source.file), source.line), ("example/corpus.py", 13));
        let quotes = br#"op_name="m[\'emb\']\303\251" stack_frame_id=7"#;
        let source = tables.source(quotes, &mut texts);
        assert_eq!(texts.text(source.operation), "m['emb']é");
        let older = b"op_type=\"add\" op_name=\"add\" source_file=\"a.py\" source_line=7";
        let source = tables.source(older, &mut texts);
        assert_eq!((texts.text(source.file), source.line), ("a.py", 7));
        assert!(!tables.line(b"%nothing", &mut texts));
        assert_eq!(tables.source(b"stack_frame_id=99999999999", &mut texts), Source::default());
    }
}
