//! A new store among objects, which nobody can rename.
//!
//! Its pieces get their own keys at once, each whole or not at all. What says what they are, such as `zarr.json`, comes last: until then
//! nobody takes them for a store. Before the first piece a mark says whose they are, so a run that goes on where another was
//! killed takes what is there for its own: a store puts an object only when all of it has come, with the checksum that was signed.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::sync::{Mutex, OnceLock, PoisonError};

use tilework::{Error, Result};
use tilework_copy::{Pool, Threads};

use super::send::Progress;
use super::{AT_A_TIME, Objects};
use crate::stage::Job;
use crate::zarr::place::Place;

/// The key that says that a store is unfinished, and what is to be in it.
pub(crate) const MARK: &str = ".tilework-unfinished";

/// A store whose metadata are not there yet.
#[derive(Debug)]
pub(crate) struct Unfinished {
    objects: Objects,
    /// What earlier runs, and other processes, have put.
    complete: OnceLock<HashSet<String>>,
    /// Metadata, which are put last.
    metadata: Mutex<BTreeMap<String, Vec<u8>>>,
    /// What this process has put, and how many bytes that are.
    put: Mutex<BTreeMap<String, u64>>,
}

/// What an earlier run has left.
enum Left {
    /// Nothing.
    Nothing,
    /// What is to be in the store, as its mark says.
    Unfinished(Vec<u8>),
}

impl Unfinished {
    /// A new store. What an earlier run left unfinished goes.
    pub(crate) fn new(objects: Objects) -> Result<Unfinished> {
        match left(&objects)? {
            Left::Nothing => {}
            // The mark goes last, so what is left is unfinished however this ends.
            Left::Unfinished(_) => remove_all(&objects)?,
        }
        Unfinished::marked(objects, "")
    }

    /// A store of this job: new, or with what an earlier run of the same has left.
    ///
    /// # Errors
    /// What another job has left, or one that read another state of its sources.
    pub(crate) fn of_job(objects: Objects, job: &Job) -> Result<Unfinished> {
        match left(&objects)? {
            Left::Nothing => Unfinished::marked(objects, &job.text()),
            Left::Unfinished(found) => {
                job.goes_on(&String::from_utf8_lossy(&found), &objects.name())?;
                Ok(Unfinished::of(objects))
            }
        }
    }

    /// The same for a job, as its mark says it, that begins again where another was begun.
    pub(crate) fn of_job_alone(objects: Objects, job: &str) -> Result<Unfinished> {
        match left(&objects)? {
            Left::Unfinished(found) if found == job.as_bytes() => Ok(Unfinished::of(objects)),
            Left::Unfinished(_) => {
                remove_all(&objects)?;
                Unfinished::marked(objects, job)
            }
            Left::Nothing => Unfinished::marked(objects, job),
        }
    }

    fn of(objects: Objects) -> Unfinished {
        Unfinished { objects, complete: OnceLock::new(), metadata: Mutex::default(), put: Mutex::default() }
    }

    fn marked(objects: Objects, what: &str) -> Result<Unfinished> {
        objects.put(MARK, what.as_bytes().to_vec())?;
        Ok(Unfinished::of(objects))
    }

    /// What is there, to be read.
    pub(crate) fn place(&self) -> Objects {
        self.objects.clone()
    }

    /// Puts what says what all else is, when that is there.
    pub(crate) fn put_last(&self, key: &str, bytes: Vec<u8>) {
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), bytes);
    }

    /// Puts all of a file that nobody changes meanwhile.
    pub(crate) fn send(&self, key: &str, file: &File, progress: Progress) -> Result<()> {
        self.objects.send_file(key, file, progress)
    }

    /// Puts what stands under a key.
    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let len = bytes.len() as u64;
        self.objects.put(key, bytes)?;
        self.put.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), len);
        Ok(())
    }

    /// The bytes that this process has put under keys that begin otherwise.
    pub(crate) fn stored_bytes(&self, without: &str) -> u64 {
        let put = self.put.lock().unwrap_or_else(PoisonError::into_inner);
        put.iter().filter(|(key, _)| !key.starts_with(without)).map(|(_, len)| len).sum()
    }

    /// Removes all that stands under keys that begin with this folder, its metadata too.
    pub(crate) fn remove_all(&self, folder: &str) -> Result<()> {
        let is_within = |key: &str| key.starts_with(folder) && key[folder.len()..].starts_with('/');
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| !is_within(key));
        let keys = self.objects.list(usize::MAX)?;
        keys.iter().filter(|key| is_within(key)).try_for_each(|key| self.objects.remove(key))
    }

    /// Whether an earlier run, or another process, has put what stands under a key.
    pub(crate) fn has(&self, key: &str) -> Result<bool> {
        if let Some(complete) = self.complete.get() {
            return Ok(complete.contains(key));
        }
        let found: HashSet<String> = self.objects.list(usize::MAX)?.into_iter().collect();
        Ok(self.complete.get_or_init(|| found).contains(key))
    }

    /// Puts the metadata, those of the whole last, and takes the mark away.
    pub(crate) fn finish(&self) -> Result<()> {
        let metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<(&String, &Vec<u8>)> = metadata.iter().collect();
        all.sort_by_key(|(key, _)| std::cmp::Reverse(key.matches('/').count()));
        for (key, bytes) in all {
            self.objects.put(key, bytes.clone())?;
        }
        self.objects.remove(MARK)
    }
}

/// Removes all objects of a store: first what says that it is one, and its mark last.
pub(crate) fn remove_all(objects: &Objects) -> Result<()> {
    let keys = objects.list(usize::MAX)?;
    let pieces: Vec<&String> =
        keys.iter().filter(|key| !matches!(key.as_str(), "zarr.json" | MARK)).collect();
    objects.remove("zarr.json")?;
    let failed: OnceLock<Error> = OnceLock::new();
    Threads::new(AT_A_TIME).run(pieces.len(), &|piece| {
        if failed.get().is_none()
            && let Err(error) = objects.remove(pieces[piece])
        {
            let _ = failed.set(error); // or another was the first
        }
    });
    failed.into_inner().map_or(Ok(()), Err)?;
    objects.remove(MARK)
}

/// What is there before anything is written.
///
/// # Errors
/// A store, or other objects.
fn left(objects: &Objects) -> Result<Left> {
    // Another process may begin or go on meanwhile: it puts the mark before anything else, so that is asked for last.
    let keys = objects.list(1)?;
    let Some(key) = keys.first() else { return Ok(Left::Nothing) };
    match objects.text(MARK)? {
        Some(found) => Ok(Left::Unfinished(found)),
        None => Err(Error::new(format!("{} exists: it has {key}", objects.name()))
            .rule("a store is written as a whole, and none is replaced")
            .accepts("an address under which nothing is")),
    }
}
