//! A new store: a folder beside its name, which gets the name when all is there (`beside.rs`); or objects, whose metadata come last
//! (`far/stage.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilework::{Error, Result};
use tilework_files::{NewFile, folder_of};

use crate::beside::{Beside, failed};
use crate::far::{self, Address, Unfinished};
use crate::stamp::Stamp;
use crate::zarr::place::{Folder, Place};

/// What a store is made for.
pub(crate) struct Job<'a> {
    /// What is read, for messages.
    pub(crate) source: &'a Path,
    /// As it is now.
    pub(crate) stamp: &'a Stamp,
    /// What is made of it.
    pub(crate) what: &'a str,
}

impl Job<'_> {
    /// What says of an unfinished store what it is for.
    pub(crate) fn text(&self) -> String {
        // Three numbers are always JSON.
        let stamp = serde_json::to_string(self.stamp).unwrap_or_default();
        format!("{stamp}\n{}", self.what)
    }

    /// What was begun, by such a text.
    pub(crate) fn begun(&self, found: &str) -> Begun {
        match found.split_once('\n') {
            _ if found == self.text() => Begun::Same,
            Some((stamp, what)) if what == self.what => {
                serde_json::from_str(stamp).map_or(Begun::Other, Begun::Changed)
            }
            _ => Begun::Other,
        }
    }

    /// Whether what is there may be gone on with; `place` is where it is.
    ///
    /// # Errors
    /// What another job has left, or one that read another state of its sources.
    pub(crate) fn goes_on(&self, found: &str, place: &str) -> Result<()> {
        self.is_of(self.begun(found), place)
    }

    pub(crate) fn is_of(&self, begun: Begun, place: &str) -> Result<()> {
        let again = |error: Error| error.accepts(format!("remove {place} to begin again"));
        match begun {
            Begun::New | Begun::Same => Ok(()),
            Begun::Changed(before) => {
                let was = format!("the unfinished run in {place} read");
                self.stamp.same(&before, self.source, &was).map_err(again)
            }
            Begun::Other => Err(again(
                Error::new(format!("{place} is of another job"))
                    .rule("what was begun is gone on with by the same command"),
            )),
        }
    }
}

/// What was begun in a folder.
pub(crate) enum Begun {
    New,
    Same,
    /// The same, of sources as they were then.
    Changed(Stamp),
    Other,
}

/// Where a store is written until it is complete.
#[derive(Debug)]
pub struct Stage(Kind);

#[derive(Debug)]
enum Kind {
    Folder(Beside),
    Objects(Unfinished),
}

impl Stage {
    /// A new store. What an earlier run left unfinished goes.
    ///
    /// # Errors
    /// A store that exists, and a folder in which none is made.
    pub fn new(out: &Path) -> Result<Stage> {
        Stage::made(out, || Beside::new(out, false), Unfinished::new)
    }

    /// What this job writes: new, or with what an earlier run of the same job has left. Several processes may do parts of one job
    /// at once.
    ///
    /// # Errors
    /// Those of [`Stage::new`], and what another job has left, or one that read another state of its sources.
    pub(crate) fn of_job(out: &Path, job: &Job) -> Result<Stage> {
        Stage::made(out, || Beside::of_job(out, job), |objects| Unfinished::of_job(objects, job))
    }

    /// The same for a job that begins again where another was begun, and that one process does at a time.
    ///
    /// # Errors
    /// Those of [`Stage::new`], and another process that does it, as far as files can be locked.
    pub(crate) fn of_job_alone(out: &Path, job: &Job) -> Result<Stage> {
        let objects = |objects| Unfinished::of_job_alone(objects, &job.text());
        Stage::made(out, || Beside::of_job_alone(out, job), objects)
    }

    fn made(
        out: &Path,
        folder: impl FnOnce() -> Result<Beside>,
        objects: impl FnOnce(far::Objects) -> Result<Unfinished>,
    ) -> Result<Stage> {
        Ok(Stage(match Address::of(out)? {
            None => Kind::Folder(folder()?),
            Some(address) => {
                address.to_write()?;
                Kind::Objects(objects(far::open(&address)?)?)
            }
        }))
    }

    /// What is there, to be read.
    pub(crate) fn place(&self) -> Arc<dyn Place> {
        match &self.0 {
            Kind::Folder(beside) => Arc::new(Folder(beside.path.clone())),
            Kind::Objects(unfinished) => Arc::new(unfinished.place()),
        }
    }

    /// Whether what is written are files, which can be mapped.
    pub fn has_files(&self) -> bool {
        matches!(self.0, Kind::Folder(_))
    }

    /// A new file for a key, in a folder that is made if need be; of objects one without a name in the folder of the system for what is
    /// needed for a while.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn file(&self, key: &str) -> Result<NewFile> {
        match &self.0 {
            Kind::Folder(beside) => beside.file(key),
            Kind::Objects(unfinished) => {
                let (scratch, place) = (std::env::temp_dir(), unfinished.place().name());
                let name = format!("{place}/{key}, by way of {}", scratch.display());
                NewFile::unnamed(&scratch, name.into())
            }
        }
    }

    /// Puts a file that is complete under its key, and notes that it is.
    ///
    /// # Errors
    /// What the system refuses, and what the server answers.
    pub(crate) fn keep(&self, key: &str, file: NewFile, (len, sum): (u64, u32)) -> Result<()> {
        match &self.0 {
            Kind::Folder(beside) => {
                file.commit_hastily()?;
                beside.done(key, len, sum)
            }
            Kind::Objects(unfinished) => unfinished.send(key, &file.into_file(), Arc::new(|_| {})),
        }
    }

    /// Writes what says what all else is: of objects when that is there.
    pub(crate) fn put_last(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        match &self.0 {
            Kind::Folder(beside) => beside.put(key, &bytes),
            Kind::Objects(unfinished) => {
                unfinished.put_last(key, bytes);
                Ok(())
            }
        }
    }

    /// Writes all of what stands under a key.
    pub fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        match &self.0 {
            Kind::Folder(beside) => beside.put(key, &bytes),
            Kind::Objects(unfinished) => unfinished.put(key, bytes),
        }
    }

    /// Notes that a key is complete.
    pub fn done(&self, key: &str, len: u64, sum: u32) -> Result<()> {
        match &self.0 {
            Kind::Folder(beside) => beside.done(key, len, sum),
            Kind::Objects(_) => Ok(()), // an object is there whole or not at all
        }
    }

    /// Whether a key is there, as an earlier run has written it.
    ///
    /// # Errors
    /// Objects that cannot be listed.
    pub fn has(&self, key: &str) -> Result<bool> {
        match &self.0 {
            Kind::Folder(beside) => Ok(beside.has(key)),
            Kind::Objects(unfinished) => unfinished.has(key),
        }
    }

    /// The bytes under all keys that are complete and begin otherwise; of objects those that this process has put.
    pub(crate) fn stored_bytes(&self, without: &str) -> u64 {
        match &self.0 {
            Kind::Folder(beside) => beside.stored_bytes(without),
            Kind::Objects(unfinished) => unfinished.stored_bytes(without),
        }
    }

    /// Removes all that stands under keys that begin with this folder.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn remove_all(&self, folder: &str) -> Result<()> {
        match &self.0 {
            Kind::Folder(beside) => beside.remove_all(folder),
            Kind::Objects(unfinished) => unfinished.remove_all(folder),
        }
    }

    /// Makes it a store, when all is there.
    ///
    /// # Errors
    /// What the system refuses, and a store that somebody else has written meanwhile.
    pub fn finish(&self) -> Result<()> {
        match &self.0 {
            Kind::Folder(beside) => beside.finish(),
            Kind::Objects(unfinished) => unfinished.finish(),
        }
    }
}

/// The path of another store beside this one.
pub(crate) fn beside(path: &Path, name: impl FnOnce(&str) -> String) -> PathBuf {
    match Address::of(path) {
        Ok(Some(address)) => {
            let other = address.beside(&name(address.name().unwrap_or_default()));
            other.map_or_else(|| path.to_owned(), |other| other.to_string().into())
        }
        _ => path.with_file_name(name(&path.file_name().unwrap_or_default().to_string_lossy())),
    }
}

/// Removes a store.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match Address::of(path)? {
        Some(address) => far::remove_all(&far::open(&address)?),
        None => fs::remove_dir_all(path).map_err(|error| failed(path, &error)),
    }
}

/// Whether neither of two paths is within the other.
///
/// # Errors
/// One that is.
pub fn apart(from: &Path, to: &Path) -> Result<()> {
    let within = || {
        Err(Error::new(format!("{} within {}, or the other way round", to.display(), from.display()))
            .rule("what is written is apart from what is read")
            .accepts("the name of a folder elsewhere"))
    };
    match (Address::of(from)?, Address::of(to)?) {
        (None, None) => {}
        (Some(a), Some(b)) if !a.is_apart(&b) => return within(),
        _ => return Ok(()),
    }
    // What does not exist yet stands in a folder that does.
    let real = |path: &Path| {
        fs::canonicalize(path)
            .ok()
            .or_else(|| Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?)))
    };
    match (real(from), real(to)) {
        (Some(a), Some(b)) if a.starts_with(&b) || (b.starts_with(&a) && a.is_dir()) => within(),
        _ => Ok(()),
    }
}
