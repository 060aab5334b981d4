//! Writing an array in its new layout: through a mapping, or chunk by chunk where there is none.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use tilework::{Error, Result};
use tilework_copy::{Mapped, MappedMut, Pool, Relayout};

use crate::destination::NewFile;
use crate::source::Array;
use crate::window::windows;

/// What is written at a time where a file cannot be mapped.
const CHUNK: usize = 8 << 20;

/// Files of more than a few such windows are written one window after the other.
pub(crate) const WINDOW: u64 = 256 << 20;

/// After so much of a mapped file it is told how far it is.
const PIECE: u64 = 16 << 20;

/// What ends the writing of a stream.
#[derive(Debug)]
pub enum StreamError {
    /// The data are not what the layouts say.
    Data(Error),
    /// The system does not take the bytes.
    Io(io::Error),
}

impl From<Error> for StreamError {
    fn from(error: Error) -> StreamError {
        StreamError::Data(error)
    }
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> StreamError {
        StreamError::Io(error)
    }
}

/// What moves: the bytes of an array, how, and what stands before it in the file.
pub struct Move<'a> {
    /// The plan.
    pub relayout: &'a Relayout,
    /// The array in its old layout.
    pub source: Array<'a>,
    /// What the file begins with.
    pub head: &'a [u8],
    /// The threads.
    pub pool: &'a dyn Pool,
}

impl Move<'_> {
    /// Writes the head and the array in its new layout into a new file, and calls `progress` with the bytes done so far.
    /// Padding is 0 unless the plan fills it, because a new file is.
    ///
    /// The file's room is reserved first, and then it is mapped: memory holds no more of it than the system likes to cache.
    /// Where the file system can do neither, the array is written chunk by chunk.
    ///
    /// # Errors
    /// A source shorter than its layout or cut short meanwhile, a full disk, and what else the system refuses. The file has
    /// no name yet.
    pub fn to_file(&self, file: &NewFile, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        file.fits(self.file_bytes())?;
        let mut map = match MappedMut::create(file.file(), self.file_bytes()) {
            Ok(map) => map,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                return self.to_stream(&mut file.file(), progress).map_err(|error| match error {
                    StreamError::Data(error) => error,
                    StreamError::Io(error) => file.failed(&error),
                });
            }
            Err(error) => return Err(file.failed(&error)),
        };
        let (head, array) = map.split_at_mut(self.head.len());
        head.copy_from_slice(self.head);
        self.run(array, WINDOW, progress)?;
        self.source.intact()?;
        map.flush().map_err(|error| file.failed(&error))
    }

    /// Runs the relayout: at once if it is small, and else window by window.
    pub(crate) fn run(&self, array: &mut [u8], window: u64, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let total = array.len() as u64;
        let counted = |done: u64, bytes: u64| Counted {
            pool: self.pool,
            pieces: usize::try_from(bytes / PIECE).unwrap_or(usize::MAX),
            tasks: AtomicUsize::new(0),
            done,
            bytes,
            progress,
        };
        let plan = self.relayout.plan();
        if total <= 4 * window {
            return self.relayout.run_on(&counted(0, total), &self.source, array);
        }
        if let Some(fill) = plan.options().fill.filter(|&fill| fill != 0) {
            fill_all(array, fill, plan.to().bits());
        }
        let windows = windows(self.relayout, window)?;
        let each = total / windows.len().max(1) as u64;
        for (number, window) in windows.iter().enumerate() {
            window.run_on(&counted(number as u64 * each, each), &self.source, array)?;
        }
        Ok(())
    }

    /// Writes the head and the array in its new layout in order, and calls `progress` with the bytes done so far.
    ///
    /// # Errors
    /// A source shorter than its layout or cut short meanwhile, and what the stream refuses.
    pub fn to_stream(
        &self,
        stream: &mut dyn Write,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), StreamError> {
        stream.write_all(self.head)?;
        let written = self.relayout.stream(&self.source, CHUNK, |offset, bytes| {
            stream.write_all(bytes)?;
            progress(offset + bytes.len() as u64);
            Ok::<(), StreamError>(())
        });
        // First: bytes that are missing can be the reason why the stream refuses them.
        self.source.intact()?;
        written?;
        Ok(stream.flush()?)
    }

    /// Reads the new file again and compares it with the source, element by element and place by place.
    ///
    /// # Errors
    /// The first difference, a file that cannot be mapped, and a source that was cut short meanwhile.
    pub fn check(&self, file: &NewFile, padding: u128) -> Result<()> {
        let map = Mapped::read(file.file()).map_err(|error| file.failed(&error))?;
        let want = self.file_bytes();
        let Some((head, array)) = map.split_at_checked(self.head.len()).filter(|_| map.len() as u64 == want)
        else {
            return Err(
                Error::new(format!("the file has {} bytes", map.len())).rule(format!("{want} were written"))
            );
        };
        if head != self.head {
            return Err(Error::new("the header is not the one that was written"));
        }
        let (plan, conversion) = (self.relayout.plan(), self.relayout.conversion());
        let checked =
            crate::check::check((plan.from(), &self.source), (plan.to(), array), conversion, padding);
        self.source.intact()?;
        checked
    }

    /// The length of the file.
    pub fn file_bytes(&self) -> u64 {
        self.relayout.plan().to().bytes() + self.head.len() as u64
    }
}

/// Fills all places with an element of `bits` bits.
pub(crate) fn fill_all(array: &mut [u8], fill: u128, bits: u32) {
    // Eight elements are whole bytes, whatever the bits.
    let mut pattern = vec![0_u8; bits as usize];
    for bit in 0..8 * bits {
        let value = fill.checked_shr(bit % bits).unwrap_or(0) & 1;
        pattern[(bit / 8) as usize] |= (value as u8) << (bit % 8);
    }
    for part in array.chunks_mut(pattern.len().max(1)) {
        part.copy_from_slice(&pattern[..part.len()]);
    }
}

/// A pool that tells how far it is. It asks for more tasks than its threads run at a time, so that there is something to
/// tell between the first and the last.
struct Counted<'a> {
    pool: &'a dyn Pool,
    pieces: usize,
    tasks: AtomicUsize,
    /// What was done before.
    done: u64,
    /// What is done here.
    bytes: u64,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Pool for Counted<'_> {
    fn width(&self) -> usize {
        self.pool.width().max(self.pieces)
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.tasks.store(0, Ordering::Relaxed);
        self.pool.run(tasks, &|number| {
            task(number);
            let done = self.tasks.fetch_add(1, Ordering::Relaxed) + 1;
            let bytes = u128::from(self.bytes) * done as u128 / tasks as u128;
            (self.progress)(self.done + bytes as u64); // no more than the total
        });
    }
}

#[cfg(test)]
mod tests {
    use tilework::{Layout, PlanOptions};
    use tilework_copy::Inline;

    use super::*;

    #[test]
    fn a_file_in_windows_is_the_file_at_once_and_progress_only_grows() -> Result<()> {
        let from = Layout::row_major(&[61, 47], 16)?;
        let to =
            Layout::builder(&[61, 47], 16)?.minor_to_major(&[0, 1])?.tile(&[Some(5), Some(4)])?.build()?;
        let source: Vec<u8> = (0..from.bytes()).map(|at| (at * 31 % 251) as u8).collect();
        for fill in [None, Some(0), Some(0x7fc0)] {
            let relayout = Relayout::new(&from, &to, &PlanOptions { fill, ..PlanOptions::default() })?;
            let job = Move { relayout: &relayout, source: source[..].into(), head: b"", pool: &Inline };
            let (mut whole, mut parts) = (vec![0; to.bytes() as usize], vec![0; to.bytes() as usize]);
            relayout.run(&source, &mut whole)?;
            let told = std::sync::Mutex::new(vec![0]);
            job.run(&mut parts, 300, &|done| {
                if let Ok(mut told) = told.lock() {
                    told.push(done);
                }
            })?;
            assert!(whole == parts, "{fill:?}");
            let told = told.into_inner().unwrap_or_default();
            assert!(told.is_sorted() && told.last() <= Some(&to.bytes()), "{told:?}");
        }
        Ok(())
    }

    #[test]
    fn a_fill_of_any_width_is_element_after_element() {
        let filled = |fill, bits, bytes| {
            let mut array = vec![0; bytes];
            fill_all(&mut array, fill, bits);
            array
        };
        assert_eq!(filled(0x0201, 16, 5), [1, 2, 1, 2, 1]);
        assert_eq!(filled(0xa, 4, 3), [0xaa; 3]);
        assert_eq!(filled(0b000001, 6, 3), [0b01000001, 0b00010000, 0b00000100]);
    }
}
