//! A file of a container, which is mapped: one of this machine, or one that a server has.
//!
//! Of the latter there is a file without a name that is as long and has holes. Parts are fetched into it before anybody looks at
//! them: the header when it is opened, of the arrays what is wanted. So a list of what is in a file costs its header, and arrays
//! may be larger than memory.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use tilework::{Error, Result};
use tilework_copy::Mapped;

use super::{Container, Content, Format, Inside, Stored, Tensor, gguf, npz, safetensors};
use crate::source::{Array, failed, within};
use crate::{destination, npy, room};

/// The first bytes of a file, in which most headers are.
const START: u64 = 64 << 10;

/// What is fetched rather than asked for apart: less than a request waits for.
const NEAR: u64 = 256 << 10;

/// What has room for what is fetched.
const ROOM: &str = "TMPDIR with a folder on a disk that has it, an OUT on one, or fewer arrays (--only)";

/// A file that a server has. It is read in parts.
pub trait Far: Debug + Send + Sync {
    /// Its bytes.
    fn bytes(&self) -> u64;

    /// Which version of it this is, if the server has a word for that.
    fn version(&self) -> &str;

    /// Gives the bytes of these ranges, which are within, to `put`: part by part with the place of each, in any order, from several
    /// threads.
    ///
    /// # Errors
    /// Those of `put`, and what the server answers.
    fn read(&self, ranges: &[Range<u64>], put: &(dyn Fn(u64, &[u8]) -> Result<()> + Sync)) -> Result<()>;
}

/// What opens a file of a server; none where there is no such file.
type Open<'a> = &'a dyn Fn(&Path) -> Result<Option<Box<dyn Far>>>;

/// Where the files of a container are.
pub struct Files<'a>(Option<(Open<'a>, PathBuf)>);

impl<'a> Files<'a> {
    /// On this machine.
    pub fn here() -> Files<'static> {
        Files(None)
    }

    /// On a server. What is fetched stands in files without names in the folder `scratch`.
    pub fn far(open: Open<'a>, scratch: &Path) -> Files<'a> {
        Files(Some((open, scratch.to_owned())))
    }

    pub(crate) fn open(&self, path: &Path) -> Result<Held> {
        let Some((open, scratch)) = &self.0 else { return Held::open(path) };
        match open(path)? {
            Some(far) => Held::fetched(path, far, scratch),
            None => Err(Error::new(format!("{} is not there", path.display()))
                .rule("the server has nothing under this name")
                .accepts("the address of a file; names are case-sensitive")),
        }
    }

    /// Whether there is such a file; of a server that is found out when it is opened.
    pub(crate) fn may_have(&self, path: &Path) -> bool {
        self.0.is_some() || path.is_file()
    }
}

/// A mapped file.
pub(crate) struct Held {
    pub(crate) name: String,
    /// None for an empty file, which nobody maps.
    map: Option<Mapped>,
    /// Its length, when it was changed, and its version, by which a job knows its sources again.
    pub(crate) stamp: (u64, Option<SystemTime>, String),
    /// What it is fetched from, if a server has it.
    fetched: Option<Fetched>,
}

/// A file of a server, and what was fetched of it.
struct Fetched {
    far: Box<dyn Far>,
    /// The folder of the file without a name.
    folder: String,
    there: Mutex<There>,
}

/// The file that has holes, and what is in it.
struct There {
    file: File,
    /// Apart from each other, and in order.
    ranges: Vec<Range<u64>>,
}

impl There {
    /// What is missing of a range.
    fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let (mut missing, mut at) = (Vec::new(), range.start);
        for found in self.ranges.iter().filter(|found| found.end > range.start && found.start < range.end) {
            if found.start > at {
                missing.push(at..found.start);
            }
            at = found.end;
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }

    fn add(&mut self, range: Range<u64>) {
        let at = self.ranges.partition_point(|found| found.start < range.start);
        self.ranges.insert(at, range);
        self.ranges.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
    }
}

impl Fetched {
    /// Fetches what is missing of ranges, with `progress` in bytes.
    fn need(&self, ranges: &[Range<u64>], progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        // Whoever wants the same waits for it.
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<Range<u64>> = ranges.iter().flat_map(|range| there.missing(range)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let bytes = missing.iter().map(|range| range.end - range.start).sum();
        destination::fits(&there.file, bytes, &format!("what is fetched into {}", self.folder))
            .map_err(|error| error.accepts(ROOM))?;
        let file = Mutex::new(&there.file);
        self.far.read(&missing, &|at, bytes| {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let written = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes));
            written.map_err(|error| failed(&self.folder, &error))?;
            progress(bytes.len() as u64);
            Ok(())
        })?;
        missing.into_iter().for_each(|range| there.add(range));
        Ok(())
    }
}

impl Held {
    pub(crate) fn open(path: &Path) -> Result<Held> {
        let name = path.display().to_string();
        let fail = |error| failed(&name, &error);
        let found = std::fs::metadata(path).map_err(fail)?;
        if !found.is_file() {
            return Err(Error::new(format!("{name} is no file"))
                .rule("arrays are found by their places, so a file is mapped and not read from its beginning")
                .accepts("a file on a disk"));
        }
        let file = File::open(path).map_err(fail)?;
        let map = map(&file, found.len()).map_err(fail)?;
        Ok(Held { name, map, stamp: (found.len(), found.modified().ok(), String::new()), fetched: None })
    }

    /// A file of a server; nothing is fetched yet.
    fn fetched(path: &Path, far: Box<dyn Far>, scratch: &Path) -> Result<Held> {
        let (name, folder, len) = (path.display().to_string(), scratch.display().to_string(), far.bytes());
        let fail = |error: io::Error| failed(&folder, &error);
        destination::fits_with_holes(len, &name)?;
        let file = destination::scratch(scratch).map_err(fail)?;
        file.set_len(len).map_err(|error| {
            Error::new(format!("{name} has {len} bytes"))
                .rule(format!("a file with holes is as long in {folder}: {error}"))
                .accepts("TMPDIR with a folder on another disk, if the server is right")
        })?;
        let map = map(&file, len).map_err(fail)?;
        let stamp = (len, None, far.version().to_owned());
        let there = Mutex::new(There { file, ranges: Vec::new() });
        Ok(Held { name, map, stamp, fetched: Some(Fetched { far, folder, there }) })
    }

    /// Its length and version, if a server has it.
    pub(crate) fn version(&self) -> Option<(u64, &str)> {
        self.fetched.as_ref().map(|_| (self.stamp.0, self.stamp.2.as_str()))
    }

    /// All of it; of a file of a server what was not fetched is 0.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Fetches a part.
    fn need(&self, range: Range<u64>) -> Result<()> {
        self.need_parts(vec![range])
    }

    /// Fetches several parts, as far as they are within.
    fn need_parts(&self, mut ranges: Vec<Range<u64>>) -> Result<()> {
        let Some(fetched) = &self.fetched else { return Ok(()) };
        ranges.iter_mut().for_each(|range| range.end = range.end.min(self.stamp.0));
        ranges.retain(|range| range.start < range.end);
        ranges.sort_by_key(|range| range.start);
        fetched.need(&near(ranges), &|_| {})
    }

    pub(crate) fn need_all(&self) -> Result<()> {
        self.need(0..u64::MAX)
    }

    /// Its first bytes.
    pub(crate) fn start(&self) -> Result<&[u8]> {
        self.need(0..START)?;
        Ok(&self.bytes()[..self.bytes().len().min(START as usize)])
    }

    /// Fetches the header of this format, or the headers, where each array has one.
    pub(crate) fn need_header(&self, format: Format) -> Result<()> {
        if self.fetched.is_none() {
            return Ok(());
        }
        let start = self.start()?;
        match format {
            Format::Npy => self.need(0..npy::data_offset(start).unwrap_or(START)),
            Format::Safetensors => self.need(0..safetensors::header_end(start).unwrap_or(START)),
            Format::Gguf => {
                // It says how many pairs and tensors it has, and not where they end.
                let (mut end, len) = (START, self.stamp.0);
                while end < len && !gguf::has_header(&self.bytes()[..end as usize]) {
                    end = end.saturating_mul(4).min(len);
                    self.need(0..end)?;
                }
                Ok(())
            }
            Format::Npz => npz::STEPS.iter().try_for_each(|step| self.need_parts(step(self.bytes()))),
            Format::Zarr => Ok(()), // no file
        }
    }

    /// What a header says, or what is wrong with it.
    pub(crate) fn read(&self, read: impl FnOnce(&[u8]) -> Result<Inside>) -> Result<Inside> {
        let outcome = read(self.bytes());
        // First: of a file that was cut short a part was read as zeros.
        self.intact()?;
        outcome.map_err(|error| within(&self.name, &error))
    }

    /// The file as an array that is not read.
    pub(crate) fn unread(&self, name: &str, file: usize, why: Error) -> Tensor {
        let bytes = self.bytes().len() as u64;
        let stored = Stored::plain(file, 0, bytes);
        let content = Content::Unread { kind: "?".to_owned(), dims: None, why };
        Tensor { name: name.to_owned(), content, stored }
    }

    /// Whether what was read is what the file held.
    pub(crate) fn intact(&self) -> Result<()> {
        self.part(0..0).intact()
    }

    /// A part of it, which is within: it is fetched first.
    pub(crate) fn array(&self, range: Range<u64>) -> Result<Array<'_>> {
        self.need(range.clone())?;
        Ok(self.part(range.start as usize..range.end as usize))
    }

    fn part(&self, range: Range<usize>) -> Array<'_> {
        match &self.map {
            Some(map) => Array::mapped(&map[range], map, &self.name),
            None => Array::from(&[][..]),
        }
    }

    /// Gives back the memory that holds what was read.
    pub(crate) fn forget(&self) {
        self.map.iter().for_each(Mapped::forget);
    }
}

/// Those of these ranges, which are in order, that are near each other as one.
fn near(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut() {
            Some(before) if range.start <= before.end.saturating_add(NEAR) => {
                before.end = before.end.max(range.end);
            }
            _ => all.push(range),
        }
    }
    all
}

fn map(file: &File, len: u64) -> io::Result<Option<Mapped>> {
    match len {
        0 => Ok(None),
        _ => Mapped::read(file).map(Some),
    }
}

/// What is to be fetched of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetch {
    /// How many bytes.
    pub bytes: u64,
    /// Whether they will be in memory, as the folder they are fetched into is.
    pub in_memory: bool,
}

impl Fetch {
    /// These of several files together.
    pub fn all(each: impl Iterator<Item = Fetch>) -> Fetch {
        each.fold(Fetch::default(), |all, one| Fetch {
            bytes: all.bytes.saturating_add(one.bytes),
            in_memory: all.in_memory | one.in_memory,
        })
    }
}

impl Container {
    /// What is missing of these arrays; nothing of files of this machine.
    pub fn missing<'t>(&self, tensors: impl Iterator<Item = &'t Tensor>) -> Fetch {
        let mut all = Fetch::default();
        for (file, ranges) in self.ranges(tensors) {
            let Some(fetched) = &self.files[file].fetched else { continue };
            let there = fetched.there.lock().unwrap_or_else(PoisonError::into_inner);
            let missing = ranges.iter().flat_map(|range| there.missing(range));
            all.bytes = missing.map(|range| range.end - range.start).fold(all.bytes, u64::saturating_add);
            all.in_memory |= room::is_in_memory(Path::new(&fetched.folder));
        }
        all
    }

    /// Fetches what is missing of these arrays, in fewer requests than one after the other takes; `progress` is called with how
    /// many bytes are there.
    ///
    /// # Errors
    /// A folder without room, and what the server answers.
    pub fn fetch<'t>(
        &self,
        tensors: impl Iterator<Item = &'t Tensor>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let done = std::sync::atomic::AtomicU64::new(0);
        let add = |bytes: u64| {
            progress(done.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed) + bytes);
        };
        for (file, ranges) in self.ranges(tensors) {
            if let Some(fetched) = &self.files[file].fetched {
                fetched.need(&ranges, &add)?;
            }
        }
        Ok(())
    }

    /// Where arrays are, by the numbers of their files: those that are near each other as one range.
    fn ranges<'t>(&self, tensors: impl Iterator<Item = &'t Tensor>) -> Vec<(usize, Vec<Range<u64>>)> {
        let mut all: Vec<(usize, Range<u64>)> = tensors
            .filter(|tensor| self.files.get(tensor.stored.file).is_some_and(|held| held.fetched.is_some()))
            .map(|tensor| {
                let Stored { file, at, bytes, packed, .. } = &tensor.stored;
                (*file, *at..at + packed.as_ref().map_or(*bytes, |packed| packed.len))
            })
            .collect();
        all.sort_by_key(|(file, range)| (*file, range.start));
        let mut files: Vec<(usize, Vec<Range<u64>>)> = Vec::new();
        for (file, range) in all {
            match files.last_mut() {
                Some((last, ranges)) if *last == file => ranges.push(range),
                _ => files.push((file, vec![range])),
            }
        }
        files.into_iter().map(|(file, ranges)| (file, near(ranges))).collect()
    }
}
