//! Writing an array in its new layout: through a mapping, or chunk by chunk where there is none.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use tilework::{Error, Result};
use tilework_copy::{Mapped, MappedMut, Pool, Relayout};

use crate::destination::NewFile;

/// What is written at a time where a file cannot be mapped.
const CHUNK: usize = 8 << 20;

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
    pub source: &'a [u8],
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
    /// A source shorter than its layout, a full disk, and what else the system refuses. The file has no name yet.
    pub fn to_file(&self, file: &NewFile, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
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
        let total = self.relayout.plan().to().bytes();
        let pieces = usize::try_from(total / PIECE).unwrap_or(usize::MAX);
        let pool = Counted { pool: self.pool, pieces, done: AtomicUsize::new(0), total, progress };
        self.relayout.run_on(&pool, self.source, array)?;
        map.flush().map_err(|error| file.failed(&error))
    }

    /// Writes the head and the array in its new layout in order, and calls `progress` with the bytes done so far.
    ///
    /// # Errors
    /// A source shorter than its layout, and what the stream refuses.
    pub fn to_stream(
        &self,
        stream: &mut dyn Write,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), StreamError> {
        stream.write_all(self.head)?;
        self.relayout.stream(self.source, CHUNK, |offset, bytes| {
            stream.write_all(bytes)?;
            progress(offset + bytes.len() as u64);
            Ok::<(), StreamError>(())
        })?;
        Ok(stream.flush()?)
    }

    /// Reads the new file again and compares it with the source, element by element and place by place.
    ///
    /// # Errors
    /// The first difference, and a file that cannot be mapped.
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
        let plan = self.relayout.plan();
        crate::check::check(plan.from(), self.source, plan.to(), array, padding)
    }

    /// The length of the file.
    pub fn file_bytes(&self) -> u64 {
        self.relayout.plan().to().bytes() + self.head.len() as u64
    }
}

/// A pool that tells how far it is. It asks for more tasks than its threads run at a time, so that there is something to
/// tell between the first and the last.
struct Counted<'a> {
    pool: &'a dyn Pool,
    pieces: usize,
    done: AtomicUsize,
    total: u64,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Pool for Counted<'_> {
    fn width(&self) -> usize {
        self.pool.width().max(self.pieces)
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.done.store(0, Ordering::Relaxed);
        self.pool.run(tasks, &|number| {
            task(number);
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            let bytes = u128::from(self.total) * done as u128 / tasks as u128;
            (self.progress)(bytes as u64); // no more than the total
        });
    }
}
