//! Writing new containers: one file, or shards in a folder.
//!
//! A file is laid out as a whole, its room is reserved, and each array is moved to its place in it, by the engine that moves
//! single arrays; then what is around the arrays is written, and the file gets its name (`destination.rs`).

use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::Crc;
use tilework::{Error, Layout, Result};
use tilework_copy::{Mapped, MappedMut, Pool, Relayout};

use super::array::{Blocks, Content, Placed};
use super::body::{Body, body};
use super::elsewhere::{Begin, send};
use super::frame::{Entry, Frame, differ};
use super::json::shown;
use super::repack::Repack;
use super::{Container, Format, Pieces, Tensor, folder_out};
use crate::check::{check_elements, check_padding};
use crate::destination::{Destination, NewFile, folder_of};
use crate::source::{Array, within};
use crate::window::pieces;
use crate::write::{Move, WINDOW, fill_all};

/// After as many bytes memory of what was read or written in order is given back.
const CHUNK: usize = 16 << 20;

/// An array of a new container.
pub struct Job<'a> {
    /// What it is to be called.
    pub name: String,
    /// The array of the old container.
    pub tensor: &'a Tensor,
    /// What becomes of it.
    pub change: Change,
}

/// What becomes of an array.
pub enum Change {
    /// Nothing.
    Keep,
    /// Another layout, or other elements.
    Move(Box<Moved>),
    /// Rows of quantised blocks mixed, or taken apart.
    Repack(Blocks),
}

/// An array that moves.
pub struct Moved {
    /// What the new array is.
    pub to: Placed,
    /// How it becomes that. What it is written to is `to`, or a part of it where the sizes grow.
    pub relayout: Relayout,
    /// The bits of an element of padding.
    pub fill: u128,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The format.
    pub format: Format,
    /// For a folder: files of no more than as many bytes of arrays, unless one array alone has more. Of npy files each is one.
    pub folder: Option<u64>,
    /// Store an array that lies in another order of its dimensions with its sizes in that order, and not as a list.
    pub transposed: bool,
}

/// How it is written.
pub struct How<'a> {
    /// The threads.
    pub pool: &'a dyn Pool,
    /// About how much memory may hold what is read and written; without it as much as the system likes.
    pub memory: Option<u64>,
    /// Whether what was written is read again and compared.
    pub check: bool,
    /// Called with the bytes done so far.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many files.
    pub files: usize,
    /// All their bytes.
    pub bytes: u64,
    /// The files that an earlier run had written, and whose checksums were right.
    pub resumed: usize,
}

/// Why nothing was written.
#[derive(Debug)]
pub enum WriteError {
    /// What was asked for cannot be done.
    Bad(Error),
    /// What was written is not what was to be written.
    Differs(Error),
}

impl From<Error> for WriteError {
    fn from(error: Error) -> WriteError {
        WriteError::Bad(error)
    }
}

impl Content {
    /// Whether a new file of this format has the array as a list of its places, as it has no word for the layout or the type.
    pub fn is_stored_as_list(&self, format: Format, transposed: bool) -> bool {
        let Content::Array(array) = self else { return false };
        let body = body(format, "", self, transposed);
        body.is_ok_and(|body| body.note.is_some() && body.dims.len() == 1 && array.layout.rank() != 1)
    }

    /// The bytes of an array in a new file of this format.
    ///
    /// # Errors
    /// What the format cannot hold.
    pub fn stored_bytes(&self, format: Format, name: &str) -> Result<u64> {
        Ok(body(format, name, self, false)?.bytes)
    }
}

impl<'a> Job<'a> {
    /// What the new array is.
    pub fn content(&self) -> Content {
        match &self.change {
            Change::Keep => self.tensor.content.clone(),
            Change::Move(moved) => Content::Array(moved.to.clone()),
            Change::Repack(blocks) => Content::Blocks(blocks.clone()),
        }
    }
}

/// A file of a new container, with the numbers of its jobs.
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) jobs: Vec<usize>,
    pub(crate) frame: Frame,
}

/// Writes arrays of `from` into a new container.
///
/// # Errors
/// Names that are the same, what the format cannot hold, an existing folder, sources that were cut short, a full disk. What has
/// the name is what had it before.
pub fn write(
    from: &Container,
    jobs: &[Job],
    target: &Target,
    out: &Path,
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let bodies = bodies(jobs, target)?;
    if let Some(limit) = target.folder {
        return folder_out::write((from, jobs, &bodies), (target.format, limit), out, how);
    }
    let frame = frame(from, jobs, &bodies, target)?;
    let Destination::File(file) = Destination::create(out)? else {
        return Err(Error::new(format!("{} is no file", out.display()))
            .rule("arrays are written to their places, and not one after the other")
            .accepts("the name of a file on a disk")
            .into());
    };
    let numbers: Vec<usize> = (0..jobs.len()).collect();
    write_file((from, jobs), (&numbers, &frame), &file, &folder_of(out), how, 0)?;
    file.commit()?;
    Ok(Written { files: 1, bytes: frame.bytes, resumed: 0 })
}

/// Writes arrays of `from` into one new file without a name, in the folder `scratch`: to be sent elsewhere, to `out`.
///
/// # Errors
/// Those of [`write()`] for one file.
pub fn write_unnamed(
    from: &Container,
    jobs: &[Job],
    target: &Target,
    (out, scratch): (&Path, &Path),
    how: &How,
) -> std::result::Result<(File, Written), WriteError> {
    let frame = frame(from, jobs, &bodies(jobs, target)?, target)?;
    let name = PathBuf::from(format!("{}, by way of {}", out.display(), scratch.display()));
    let file = NewFile::unnamed(scratch, name)?;
    let numbers: Vec<usize> = (0..jobs.len()).collect();
    write_file((from, jobs), (&numbers, &frame), &file, scratch, how, 0)?;
    Ok((file.into_file(), Written { files: 1, bytes: frame.bytes, resumed: 0 }))
}

/// Writes arrays of `from` into a new folder that is not on this machine, called `out`: each file is made in the folder `scratch`, and
/// then sent.
///
/// # Errors
/// Those of [`write()`] for a folder, and what the server answers.
pub fn write_elsewhere(
    from: &Container,
    jobs: &[Job],
    (target, limit): (&Target, u64),
    to: (&Path, &Path, Begin),
    how: &How,
) -> std::result::Result<Written, WriteError> {
    let bodies = bodies(jobs, target)?;
    send((from, jobs, &bodies), (target.format, limit), to, how)
}

/// What each array is in a file of this format.
fn bodies(jobs: &[Job], target: &Target) -> Result<Vec<Body>> {
    differ(jobs.iter().map(|job| job.name.as_str()))?;
    jobs.iter().map(|job| body(target.format, &job.name, &job.content(), target.transposed)).collect()
}

/// One file of all of them.
fn frame(from: &Container, jobs: &[Job], bodies: &[Body], target: &Target) -> Result<Frame> {
    let entries: Vec<Entry> =
        jobs.iter().zip(bodies).map(|(job, body)| Entry { name: &job.name, body }).collect();
    Frame::new(target.format, &entries, from)
}

/// Writes a file that has no name yet; `done` bytes were written before. Returns how many are then.
pub(crate) fn write_file(
    (from, jobs): (&Container, &[Job]),
    (numbers, frame): (&[usize], &Frame),
    file: &NewFile,
    scratch: &Path,
    how: &How,
    mut done: u64,
) -> std::result::Result<u64, WriteError> {
    file.fits(frame.bytes)?;
    let mut map = match frame.bytes {
        0 => return Ok(done), // nothing to map
        bytes => MappedMut::create(file.file(), bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::Unsupported => file
                .failed(&error)
                .rule("a file of many arrays is mapped, with all its room reserved")
                .accepts("a folder on a disk of this machine"),
            _ => file.failed(&error),
        })?,
    };
    for (&number, &place) in numbers.iter().zip(&frame.places) {
        let job = &jobs[number];
        let named = |error: Error| within(&shown(&job.name), &error);
        let mut region = Region { map: &mut map, start: place as usize, len: job.written() as usize };
        match from.pieces(job.tensor).filter(|pieces| pieces.list().is_none()) {
            Some(pieces) => put_pieces(job, pieces, &mut region, how, done).map_err(named)?,
            None => {
                let data = from.data(job.tensor, scratch)?;
                put(job, data.array(), &mut region, how, done).map_err(named)?;
                data.array().intact()?;
            }
        }
        done += job.written();
        (how.progress)(done);
        if how.check {
            let read = Mapped::read(file.file()).map_err(|error| file.failed(&error))?;
            let data = from.data(job.tensor, scratch)?;
            let checked = compare(job, data.array(), &read, place as usize, how).map_err(named);
            data.array().intact()?;
            checked.map_err(WriteError::Differs)?;
        }
        from.forget();
        map.forget();
    }
    let pieces = frame.pieces(&mut |at, head| {
        let (start, len) = (frame.places[at] as usize, jobs[numbers[at]].written() as usize);
        let mut sum = Crc::new();
        sum.update(head);
        for from in (0..len).step_by(CHUNK) {
            sum.update(&map[start + from..start + len.min(from + CHUNK)]);
            map.forget();
        }
        sum.sum()
    });
    for (place, bytes) in pieces {
        map[place as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    map.flush().map_err(|error| file.failed(&error))?;
    Ok(done)
}

impl Job<'_> {
    /// The bytes of the new array.
    pub(crate) fn written(&self) -> u64 {
        match &self.change {
            Change::Keep | Change::Repack(_) => self.tensor.bytes(),
            Change::Move(moved) => moved.to.layout.bytes(),
        }
    }
}

/// The part of a new file that is an array.
struct Region<'a> {
    map: &'a mut MappedMut,
    start: usize,
    len: usize,
}

impl Region<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }
}

/// Writes an array to its place.
fn put(job: &Job, source: Array, region: &mut Region, how: &How, done: u64) -> Result<()> {
    if let Change::Repack(to) = &job.change {
        let repack = repack(job, to)?;
        for range in groups(&repack, region.len) {
            repack.run(&source[range.clone()], &mut region.bytes()[range.clone()]);
            (how.progress)(done + range.end as u64);
            forget(&source, region, how);
        }
        return Ok(());
    }
    let Change::Move(moved) = &job.change else {
        for start in (0..region.len).step_by(CHUNK) {
            let end = region.len.min(start + CHUNK);
            region.bytes()[start..end].copy_from_slice(&source[start..end]);
            (how.progress)(done + end as u64);
            forget(&source, region, how);
        }
        return Ok(());
    };
    let relayout = &moved.relayout;
    let (read, written) = (relayout.plan().from().bytes(), moved.to.layout.bytes());
    let memory = how.memory.filter(|&memory| read + written > memory);
    let Some(memory) = memory else {
        let job = Move { relayout, source, head: b"", pool: how.pool };
        return job.run(region.bytes(), WINDOW, &|bytes| (how.progress)(done + bytes));
    };
    fill(moved, region);
    let total = relayout.plan().from().len().max(1);
    let mut moved = 0;
    pieces(relayout, memory / 8, &mut |piece| {
        piece.run_on(how.pool, &source, region.bytes())?;
        moved += piece.plan().from().len();
        (how.progress)(done + (u128::from(written) * u128::from(moved) / u128::from(total)) as u64);
        forget(&source, region, how);
        Ok(())
    })
}

/// Fills all of an array, in parts.
fn fill(moved: &Moved, region: &mut Region) {
    if moved.fill == 0 {
        return; // a new file is
    }
    // Eight elements are whole bytes, whatever their bits.
    let bits = moved.to.layout.bits();
    let step = CHUNK - CHUNK % bits as usize;
    for start in (0..region.len).step_by(step) {
        let end = region.len.min(start + step);
        fill_all(&mut region.bytes()[start..end], moved.fill, bits);
        region.map.forget();
    }
}

/// Writes an array that is in pieces to its place: each is moved straight there.
fn put_pieces(job: &Job, pieces: &dyn Pieces, region: &mut Region, how: &How, done: u64) -> Result<()> {
    let Content::Array(array) = &job.tensor.content else { return Ok(()) }; // refused before
    let to = match &job.change {
        Change::Move(moved) => {
            fill(moved, region);
            (moved.relayout.plan().to(), moved.to.element)
        }
        Change::Keep | Change::Repack(_) => (&array.layout, array.element),
    };
    let (count, step) = (pieces.count(), pieces.within(how.memory.unwrap_or(1 << 30) / 4));
    let mut start = 0;
    while start < count {
        let end = count.min(start.saturating_add(step));
        pieces.put(start..end, to, region.bytes(), how.pool)?;
        if how.memory.is_some() {
            region.map.forget();
        }
        let part = u128::from(region.len as u64) * u128::from(end) / u128::from(count);
        (how.progress)(done + part as u64);
        start = end;
    }
    Ok(())
}

/// The way from the blocks that are there to these.
fn repack<'a>(job: &'a Job, to: &'a Blocks) -> Result<Repack<'a>> {
    match &job.tensor.content {
        Content::Blocks(from) if from.block == to.block && from.dims == to.dims => Repack::new(from, to),
        other => {
            Err(Error::new(format!("{} as {to}", other.kind())).rule("blocks keep their type and sizes"))
        }
    }
}

/// Ranges of whole groups of rows, each of about as many bytes as are moved at a time.
fn groups(repack: &Repack, len: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
    let step = (CHUNK / repack.group().max(1)).max(1) * repack.group().max(1);
    (0..len).step_by(step).map(move |start| start..len.min(start + step))
}

/// Gives back the memory of what was read and written, where memory is bounded.
fn forget(source: &Array, region: &mut Region, how: &How) {
    if how.memory.is_some() {
        source.forget();
        region.map.forget();
    }
}

/// Compares an array of a file that was written with its source, every element and all padding.
fn compare(job: &Job, source: Array, file: &Mapped, start: usize, how: &How) -> Result<()> {
    let region = &file[start..start + job.written() as usize];
    let forget = || {
        source.forget();
        file.forget();
    };
    if let Change::Repack(to) = &job.change {
        let Content::Blocks(from) = &job.tensor.content else { return Ok(()) }; // refused when it was written
        let back = Repack::new(to, from)?;
        let mut bytes = Vec::new();
        for range in groups(&back, region.len()) {
            bytes.resize(range.len(), 0);
            back.run(&region[range.clone()], &mut bytes);
            if bytes != source[range.clone()] {
                return Err(Error::new(format!("blocks from byte {} on differ", range.start)));
            }
            forget();
        }
        return Ok(());
    }
    let Change::Move(moved) = &job.change else {
        for (number, (old, new)) in source.chunks(CHUNK).zip(region.chunks(CHUNK)).enumerate() {
            if old != new {
                let at = old.iter().zip(new).position(|(old, new)| old != new).unwrap_or(0);
                return Err(Error::new(format!("byte {} differs", number * CHUNK + at)));
            }
            forget();
        }
        return Ok(());
    };
    let (plan, conversion) = (moved.relayout.plan(), moved.relayout.conversion());
    let elements = |from: &Layout, to: &Layout| check_elements((from, &source), (to, region), conversion);
    match how.memory.filter(|&memory| plan.from().bytes() + plan.to().bytes() > memory) {
        None => elements(plan.from(), plan.to())?,
        Some(memory) => pieces(&moved.relayout, memory / 8, &mut |piece| {
            // An error of a part counts its elements from the part's first; one of the whole is for people.
            let checked = elements(piece.plan().from(), piece.plan().to());
            checked.or_else(|error| elements(plan.from(), plan.to()).and(Err(error)))?;
            forget();
            Ok(())
        })?,
    }
    check_padding((plan.to(), region), moved.fill, &mut |_| forget())
}
