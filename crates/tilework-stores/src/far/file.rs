//! Files that a server has: single objects, which are fetched in parts.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use tilework::{Error, Result};
use tilework_copy::{Pool, Threads};
use tilework_files::container;

use super::stage::MARK;
use super::{AT_A_TIME, Address, Far, Objects, Scheme, open};
use crate::zarr::place::{Object, Place};

/// The bytes of one request: as many are in memory for each that is under way.
const PART: u64 = 2 << 20;

/// The most names of a folder that are looked at.
const NAMES: usize = 10_000;

/// The files of a folder on a server.
pub(crate) struct Folder {
    objects: Objects,
    address: Address,
}

impl Folder {
    /// The folder of this address.
    pub(crate) fn new(address: Address) -> Result<Folder> {
        Ok(Folder { objects: open(&address)?, address })
    }

    /// The folder that this file is in; none for a bucket alone.
    pub(crate) fn of(file: &Address) -> Result<Option<Folder>> {
        file.folder().map(Folder::new).transpose()
    }

    /// A file of it; none where it has no such file.
    pub(crate) fn file(&self, path: &Path) -> Result<Option<Box<dyn container::Far>>> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        Ok(match self.objects.open(name)? {
            Some(Object::Far(far)) => Some(Box::new(far)),
            _ => None,
        })
    }

    /// The names of all files in it and below it, in order; none where nobody can list them.
    ///
    /// # Errors
    /// A server that does not answer, and files that a run has not written all of.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        if self.address.scheme != Scheme::S3 {
            return Ok(Vec::new());
        }
        let mut names = self.objects.list(NAMES)?;
        if names.iter().any(|name| name == MARK) {
            return Err(Error::new(format!("{} is not there yet", self.address))
                .rule("a run that makes it goes on, or was stopped: its mark is there")
                .accepts("its end, or the same command again, which goes on there"));
        }
        names.sort();
        Ok(names)
    }
}

impl container::Far for Far {
    fn bytes(&self) -> u64 {
        self.len
    }

    fn version(&self) -> &str {
        self.version.as_deref().unwrap_or_default()
    }

    fn read(&self, ranges: &[Range<u64>], put: &(dyn Fn(u64, &[u8]) -> Result<()> + Sync)) -> Result<()> {
        // One file at a time has requests under way: they are what takes memory.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        // How many parts there are up to the end of each range.
        let mut parts = 0;
        let ends: Vec<usize> = ranges
            .iter()
            .map(|range| {
                let count = (range.end - range.start).div_ceil(PART);
                parts += usize::try_from(count).unwrap_or(usize::MAX - parts).min(usize::MAX - parts);
                parts
            })
            .collect();
        let failed: OnceLock<Error> = OnceLock::new();
        let part = |number: usize| -> Result<()> {
            let at = ends.partition_point(|&end| end <= number);
            let (range, before) = (&ranges[at], if at == 0 { 0 } else { ends[at - 1] });
            let start = range.start + (number - before) as u64 * PART;
            put(start, &self.span(&(start..range.end.min(start + PART)))?)
        };
        Threads::new(AT_A_TIME.min(parts).max(1)).run(parts, &|number| {
            if failed.get().is_none()
                && let Err(error) = part(number)
            {
                let _ = failed.set(error); // or another was the first
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }
}
