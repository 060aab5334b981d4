//! Where bytes come from: a mapped file, or a stream that is read as far as it is wanted.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use tilework::{Error, Result};
use tilework_copy::Mapped;

use crate::element::reverse;
use crate::memory::available_memory;
use crate::npy;

/// The bytes of a file, or of a stream as far as they were read.
///
/// Files are mapped: they may be larger than memory, and nothing is read that is not used. Pipes, devices and standard
/// input are read into memory, and never further than an array and one byte.
pub struct Source {
    name: String,
    bytes: Bytes,
    rest: Option<Box<dyn Read>>,
}

enum Bytes {
    Mapped(Mapped),
    Read(Vec<u8>),
}

/// Which part of a source is the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Bytes before it.
    pub skip: u64,
    /// Whether bytes may stand behind it.
    pub trailing: bool,
}

/// The bytes of an array in a source.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    bytes: &'a [u8],
    /// The file that they are mapped from, and its name.
    file: Option<(&'a Mapped, &'a str)>,
}

impl<'a> Array<'a> {
    /// Bytes of a mapped file of this name.
    pub fn mapped(bytes: &'a [u8], map: &'a Mapped, name: &'a str) -> Array<'a> {
        Array { bytes, file: Some((map, name)) }
    }

    /// Gives back the memory that holds what was read of the file they are mapped from.
    pub fn forget(&self) {
        if let Some((map, _)) = self.file {
            map.forget();
        }
    }

    /// Whether what was read of them so far is what the file held.
    ///
    /// # Errors
    /// A file that somebody cut short meanwhile, or whose disk could not be read: some of the bytes were read as 0.
    pub fn intact(&self) -> Result<()> {
        let Some((map, name)) = self.file else { return Ok(()) };
        map.intact().map_err(|error| {
            failed(name, &error)
                .rule("what is read of a file is what it holds")
                .accepts("a file that nobody cuts short while it is read")
        })
    }
}

/// Memory, which nobody else can take away.
impl<'a> From<&'a [u8]> for Array<'a> {
    fn from(bytes: &'a [u8]) -> Array<'a> {
        Array { bytes, file: None }
    }
}

impl Deref for Array<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    /// A file that is not there or may not be read, and a folder.
    pub fn open(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let fail = |error: io::Error| failed(&name, &error);
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(Error::new(format!("{name} is a folder")).accepts("a file"));
        }
        // Some files of the system say that they are empty and are not.
        if metadata.is_file()
            && metadata.len() > 0
            && let Ok(map) = Mapped::read(&file)
        {
            return Ok(Source { name, bytes: Bytes::Mapped(map), rest: None });
        }
        Ok(Source::stream(name, file))
    }

    /// What a stream gives, such as standard input.
    pub fn stream(name: impl Into<String>, stream: impl Read + 'static) -> Source {
        Source { name: name.into(), bytes: Bytes::Read(Vec::new()), rest: Some(Box::new(stream)) }
    }

    /// The name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes: all of the header if they begin an `.npy` file, and else at least 12, or all if there are fewer.
    ///
    /// # Errors
    /// A stream that cannot be read, and a header whose length is none.
    pub fn head(&mut self) -> Result<&[u8]> {
        self.read_to(12)?;
        if npy::is_npy(self.bytes()) {
            let start = npy::data_offset(self.bytes()).map_err(|error| self.within(&error))?;
            self.read_to(start)?;
        }
        Ok(self.bytes())
    }

    /// The bytes of an array of this size.
    ///
    /// # Errors
    /// Fewer bytes, and more where none may stand behind the array; a stream that cannot be read.
    pub fn array(&mut self, size: u64, part: Part) -> Result<Array<'_>> {
        let end = part.skip.saturating_add(size);
        self.read_to(end.saturating_add(u64::from(!part.trailing)))?;
        let (have, before) = (self.bytes().len() as u64, part.skip);
        let before = if before > 0 { format!(" after {before} bytes") } else { String::new() };
        if have < end {
            let found = have.saturating_sub(part.skip);
            return Err(Error::new(format!("{} has {found} bytes{before}", self.name))
                .rule(format!("the layout of the source has {size} bytes"))
                .accepts("a file that holds them all, or another --from"));
        }
        if have > end && !part.trailing {
            let more = if self.rest.is_some() { "more than " } else { "" };
            let found = if self.rest.is_some() { size } else { have - part.skip };
            return Err(Error::new(format!("{} has {more}{found} bytes{before}", self.name))
                .rule(format!("the layout of the source has {size} bytes"))
                .accepts("--skip BYTES for a header before the array, --trailing for bytes behind it"));
        }
        // Both ends are within a slice, so they fit.
        let bytes = &self.bytes()[part.skip as usize..end as usize];
        let file = match &self.bytes {
            Bytes::Mapped(map) => Some((map, self.name.as_str())),
            Bytes::Read(_) => None,
        };
        Ok(Array { bytes, file })
    }

    /// Reverses the bytes of each number of an array, which are `width` bytes each: the array is held in memory then.
    ///
    /// # Errors
    /// As for [`Source::array`], and an array that no memory holds.
    pub fn reverse(&mut self, size: u64, part: Part, width: usize) -> Result<()> {
        let name = self.name.clone();
        let array = self.array(size, part)?;
        let mut numbers = match (array.file, available_memory()) {
            (Some(_), Some(available)) if size > available => {
                return Err(Error::new(format!("{name} has {size} bytes, the most significant of each number first"))
                    .rule(format!("such an array is held in memory, and {available} bytes are available"))
                    .accepts("an array with the least significant byte first, as array.astype(array.dtype.newbyteorder('<'))"));
            }
            _ => array.to_vec(),
        };
        array.intact()?;
        reverse(&mut numbers, width);
        let start = part.skip as usize; // it is within a slice, so it fits
        let mut bytes = self.bytes()[..start].to_vec();
        bytes.append(&mut numbers);
        (self.bytes, self.rest) = (Bytes::Read(bytes), None);
        Ok(())
    }

    /// All bytes that are there so far.
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }

    /// Reads on until there are `end` bytes, or no more.
    fn read_to(&mut self, end: u64) -> Result<()> {
        let (Bytes::Read(bytes), Some(rest)) = (&mut self.bytes, &mut self.rest) else { return Ok(()) };
        let missing = end.saturating_sub(bytes.len() as u64);
        if missing == 0 {
            return Ok(());
        }
        // A stream is held in memory, and an endless one would take all of it.
        if let Some(available) = available_memory().filter(|&available| missing > available) {
            return Err(Error::new(format!("{} is to give {end} bytes", self.name))
                .rule(format!("a stream is held in memory, and {available} bytes are available"))
                .accepts("a file, which is mapped"));
        }
        let found = rest.take(missing).read_to_end(bytes).map_err(|error| failed(&self.name, &error))?;
        if (found as u64) < missing {
            self.rest = None;
        }
        Ok(())
    }

    /// The error, with the name of the file before it.
    pub fn within(&self, error: &Error) -> Error {
        within(&self.name, error)
    }
}

/// The error, with the name of what it is about before it.
pub(crate) fn within(name: &str, error: &Error) -> Error {
    let field = error.field_name().map(|field| format!("{field}: ")).unwrap_or_default();
    let mut named = Error::new(format!("{name}: {field}{}", error.found()));
    if let Some(rule) = error.broken_rule() {
        named = named.rule(rule);
    }
    if let Some(accepts) = error.accepted() {
        named = named.accepts(accepts);
    }
    named
}

/// An error of the system about a file.
pub(crate) fn failed(name: &str, error: &io::Error) -> Error {
    Error::new(format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(bytes: &'static [u8]) -> Source {
        Source::stream("pipe", bytes)
    }

    #[test]
    fn a_stream_is_read_as_far_as_the_array_and_one_byte() -> Result<()> {
        let part = Part::default();
        assert_eq!(*source(b"abcdef").array(6, part)?, *b"abcdef");
        let mut endless = Source::stream("zeros", io::repeat(0));
        let error = endless.array(1000, part).err().expect("it never ends").to_string();
        assert!(
            error.starts_with("zeros has more than 1000 bytes; the layout of the source has 1000"),
            "{error}"
        );
        assert_eq!(endless.array(1000, Part { skip: 24, trailing: true })?.len(), 1000);
        Ok(())
    }

    #[test]
    fn both_numbers_stand_in_the_error() {
        let error = source(b"abcdef").array(7, Part::default()).err().expect("short").to_string();
        assert!(error.starts_with("pipe has 6 bytes; the layout of the source has 7 bytes"), "{error}");
        let part = Part { skip: 4, trailing: false };
        let error = source(b"abcdef").array(7, part).err().expect("short").to_string();
        assert!(error.starts_with("pipe has 2 bytes after 4 bytes; "), "{error}");
        let part = Part { skip: u64::MAX, trailing: false };
        assert!(source(b"abcdef").array(7, part).is_err());
    }

    #[test]
    fn numbers_are_reversed_and_nothing_else() -> Result<()> {
        let part = Part { skip: 2, trailing: true };
        let mut source = source(b"xyabcdefgh!");
        source.reverse(8, part, 4)?;
        assert_eq!(*source.array(8, part)?, *b"dcbahgfe");
        assert_eq!(source.head()?, b"xydcbahgfe");
        let short = self::source(b"xyabc").reverse(8, part, 4);
        assert!(short.is_err_and(|error| error.to_string().starts_with("pipe has 3 bytes after 2 bytes")));
        Ok(())
    }

    #[test]
    fn a_stream_that_no_memory_holds_is_not_read() {
        let mut endless = Source::stream("zeros", io::repeat(0));
        let error = endless.array(1 << 60, Part::default()).err().expect("too large").to_string();
        if cfg!(target_os = "linux") {
            assert!(error.contains("a stream is held in memory"), "{error}");
        }
    }

    #[test]
    fn the_head_of_a_stream_is_its_whole_header() -> Result<()> {
        let header =
            npy::Header { descr: "<f4".into(), fortran_order: false, shape: vec![3], data_offset: 0 };
        let bytes = [header.bytes()?, b"0123456789ab".to_vec()].concat();
        let mut source = Source::stream("pipe", io::Cursor::new(bytes));
        let start = npy::Header::read(source.head()?)?.data_offset;
        assert_eq!(*source.array(12, Part { skip: start, trailing: false })?, *b"0123456789ab");
        assert_eq!(self::source(b"short").head()?, b"short");
        Ok(())
    }
}
