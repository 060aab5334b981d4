//! A new store in a folder beside its name, which gets the name when all is there.
//!
//! Chunks are written in `.NAME.tilework-unfinished`, each whole or not at all. A journal there has the length and the checksum of each
//! that is complete, so a run that goes on where another was killed knows which are right. The disk is waited for once, before the
//! folder gets its name; until then nobody reads it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use tilework::{Error, Result};
use tilework_copy::Mapped;
use tilework_files::{Destination, NewFile, unfinished};

use crate::stage::{Begun, Job};

/// The file with a line for each key that is complete: its length, its checksum, and the key.
const JOURNAL: &str = ".journal";

/// Bytes that are summed at a time.
const STEP: usize = 1 << 20;

/// The file that says what the folder is for.
const JOB: &str = ".job";

/// The file that a process locks which writes alone.
const LOCK: &str = ".lock";

/// A folder beside the name of a store.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) path: PathBuf,
    out: PathBuf,
    journal: Mutex<Option<File>>,
    /// What earlier runs have completed.
    complete: OnceLock<HashMap<String, (u64, u32)>>,
    /// Held as long as this process writes alone.
    lock: Option<File>,
}

pub(crate) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::new(format!("{}: {error}", path.display()))
}

impl Beside {
    /// The folder for a new store; with what is there already, where `goes_on`, and else empty.
    ///
    /// # Errors
    /// A store that exists, and a folder in which none is made.
    pub(crate) fn new(out: &Path, goes_on: bool) -> Result<Beside> {
        let path = unfinished(out).ok_or_else(|| {
            Error::new(format!("{} has no name", out.display())).accepts("the name of a new folder")
        })?;
        is_free(out)?;
        let (journal, complete) = (Mutex::default(), OnceLock::new());
        let stage = Beside { path, out: out.to_owned(), journal, complete, lock: None };
        if !goes_on && fs::symlink_metadata(&stage.path).is_ok() {
            stage.remove()?;
        }
        match fs::create_dir(&stage.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && goes_on => Ok(stage),
            Err(error) => Err(failed(&stage.path, &error)
                .rule("a new store is made beside its name")
                .accepts("a folder in one that exists and may be written")),
            Ok(()) => Ok(stage),
        }
    }

    /// The folder for what this job writes: new, or with what an earlier run of the same job has left. Several processes may do
    /// parts of one job at once.
    ///
    /// # Errors
    /// Those of [`Beside::new`], and a folder that another job has left, or one that read another state of its sources.
    pub(crate) fn of_job(out: &Path, job: &Job) -> Result<Beside> {
        let stage = Beside::new(out, true)?;
        let begun = stage.begun(job);
        let is_new = matches!(begun, Begun::New);
        job.is_of(begun, &stage.path.display().to_string())?;
        if is_new {
            stage.put(JOB, job.text().as_bytes())?;
        }
        Ok(stage)
    }

    /// The same for a job that begins again where another was begun, and that one process does at a time.
    ///
    /// # Errors
    /// Those of [`Stage::new`], and another process that does it.
    pub(crate) fn of_job_alone(out: &Path, job: &Job) -> Result<Beside> {
        let mut stage = Beside::new(out, true)?;
        stage.lock = Some(stage.locked()?);
        if !matches!(stage.begun(job), Begun::New | Begun::Same) {
            stage.clear()?;
        }
        stage.put(JOB, job.text().as_bytes())?;
        Ok(stage)
    }

    /// What was begun here.
    fn begun(&self, job: &Job) -> Begun {
        match fs::read_to_string(self.path.join(JOB)) {
            Ok(found) => job.begun(&found),
            // Written first, so without it nothing is there, unless it was not for a job.
            Err(_) if self.path.join(JOURNAL).exists() => Begun::Other,
            Err(_) => Begun::New,
        }
    }

    /// The lock of a process that writes here alone. Systems without locks have nobody to wait for.
    fn locked(&self) -> Result<File> {
        let path = self.path.join(LOCK);
        let fail = |error: io::Error| failed(&path, &error);
        let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(fail)?;
        match lock.try_lock() {
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(lock),
            Err(fs::TryLockError::WouldBlock) => {
                Err(Error::new(format!("another run writes {}", self.out.display()))
                    .rule(format!("one run at a time writes in {}", self.path.display())))
            }
        }
    }

    /// Removes all that is there but the lock.
    fn clear(&self) -> Result<()> {
        let fail = |error: io::Error| failed(&self.path, &error);
        for entry in fs::read_dir(&self.path).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            match entry.file_type().map_err(fail)?.is_dir() {
                true => fs::remove_dir_all(entry.path()).map_err(fail)?,
                false if entry.file_name() == LOCK => {}
                false => fs::remove_file(entry.path()).map_err(fail)?,
            }
        }
        Ok(())
    }

    fn remove(&self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|error| failed(&self.path, &error))
    }

    /// A new file for a key, in a folder that is made if need be.
    pub(crate) fn file(&self, key: &str) -> Result<NewFile> {
        let path = self.path.join(key);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        }
        match Destination::create(&path)? {
            Destination::File(file) => Ok(file),
            Destination::Stream(_) => Err(Error::new(format!("{} is no file", path.display()))),
        }
    }

    /// Writes all of what stands under a key.
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let file = self.file(key)?;
        // A limit on the size of files would end the process.
        file.fits(bytes.len() as u64)?;
        file.file().write_all(bytes).map_err(|error| file.failed(&error))?;
        file.commit_hastily()
    }

    /// Notes that a key is complete.
    pub(crate) fn done(&self, key: &str, len: u64, sum: u32) -> Result<()> {
        let path = self.path.join(JOURNAL);
        let mut held = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match held.take() {
            Some(file) => file,
            None => self.journal_to_write().map_err(|error| failed(&path, &error))?,
        };
        // One call for a line: lines of several processes stand one after the other.
        let written = file.write_all(format!("{len} {sum:08x} {key}\n").as_bytes());
        *held = Some(file);
        written.map_err(|error| failed(&path, &error))
    }

    /// The journal, with a line that was cut short, as on a full disk, apart from the next.
    fn journal_to_write(&self) -> io::Result<File> {
        let mut file = File::options().create(true).append(true).open(self.path.join(JOURNAL))?;
        if file.metadata()?.len() > 0 {
            file.write_all(b"\n")?;
        }
        Ok(file)
    }

    /// What the journal has: of each key the length and the checksum.
    fn journal(&self) -> HashMap<String, (u64, u32)> {
        let text = fs::read_to_string(self.path.join(JOURNAL)).unwrap_or_default();
        let line = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (len, sum) = (words.next()?.parse().ok()?, u32::from_str_radix(words.next()?, 16).ok()?);
            Some((words.next()?.to_owned(), (len, sum)))
        };
        text.lines().filter_map(line).collect()
    }

    /// The bytes under all keys that are complete and begin otherwise.
    pub(crate) fn stored_bytes(&self, without: &str) -> u64 {
        let journal = self.journal();
        let stays = journal.iter().filter(|(key, _)| !key.starts_with(without));
        stays.map(|(_, (len, _))| *len).fold(0, u64::saturating_add)
    }

    /// Removes all that stands under keys that begin with this folder.
    pub(crate) fn remove_all(&self, folder: &str) -> Result<()> {
        let path = self.path.join(folder);
        fs::remove_dir_all(&path).map_err(|error| failed(&path, &error))
    }

    /// Whether a key is there, with the length and the checksum of the journal.
    pub(crate) fn has(&self, key: &str) -> bool {
        let complete = self.complete.get_or_init(|| self.journal());
        let Some(&(len, sum)) = complete.get(key) else { return false };
        let Ok(file) = File::open(self.path.join(key)) else { return false };
        match file.metadata() {
            Ok(found) if found.is_file() && found.len() == len => {}
            _ => return false,
        }
        if len == 0 {
            return sum == 0;
        }
        Mapped::read(&file).is_ok_and(|map| {
            let mut found = crc32fast::Hasher::new();
            for part in map.chunks(STEP) {
                found.update(part);
                map.forget();
            }
            found.finalize() == sum && map.intact().is_ok()
        })
    }

    /// Waits until all stands on the disk, and gives the folder its name.
    ///
    /// # Errors
    /// What the system refuses, and a store that somebody else has written meanwhile.
    pub(crate) fn finish(&self) -> Result<()> {
        let fail = |error: io::Error| {
            failed(&self.out, &error).rule(format!("all chunks are complete in {}", self.path.display()))
        };
        is_free(&self.out)?;
        for name in [JOURNAL, JOB, LOCK] {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
                _ => {}
            }
        }
        sync_all(&self.path).map_err(fail)?;
        fs::rename(&self.path, &self.out).map_err(fail)?;
        if let Some(folder) = self.out.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all(); // not every system can do that to a folder
        }
        Ok(())
    }
}

/// A store is written as a whole, and none is replaced.
fn is_free(out: &Path) -> Result<()> {
    match fs::read_dir(out).map(Iterator::count) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(out).is_err() => Ok(()),
        Err(error) => Err(failed(out, &error)),
        Ok(0) => Ok(()),
        Ok(_) => Err(Error::new(format!("{} exists, and is not empty", out.display()))
            .rule("a store or a checkpoint is written as a whole, and none is replaced")
            .accepts("the name of a folder that does not exist")),
    }
}

/// Waits until all files of a folder stand on the disk.
#[cfg(target_os = "linux")]
fn sync_all(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(path)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_all(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => sync_all(&entry.path())?,
            false => File::options().write(true).open(entry.path())?.sync_all()?,
        }
    }
    Ok(())
}
