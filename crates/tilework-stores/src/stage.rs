//! A new store: a folder beside its name, which gets the name when all is there; or objects, whose metadata come last
//! (`far/stage.rs`).
//!
//! Chunks are written in `.NAME.tilework-unfinished`, each whole or not at all. A journal there has the length and the checksum of each
//! that is complete, so a run that goes on where another was killed knows which are right. The disk is waited for once, before the
//! folder gets its name; until then nobody reads it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tilework::{Error, Result};
use tilework_copy::Mapped;
use tilework_files::{Destination, NewFile};

use crate::far::{self, Address, Scheme, Unfinished};
use crate::stamp::Stamp;
use crate::zarr::place::{Folder, Place};

/// The file with a line for each key that is complete: its length, its checksum, and the key.
const JOURNAL: &str = ".journal";

/// Bytes that are summed at a time.
const STEP: usize = 1 << 20;

/// The file that says what the folder is for.
const JOB: &str = ".job";

/// The file that a process locks which writes alone.
const LOCK: &str = ".lock";

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
    fn begun(&self, found: &str) -> Begun {
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

    fn is_of(&self, begun: Begun, place: &str) -> Result<()> {
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
enum Begun {
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
        let objects = |objects| Unfinished::of_job_alone(objects, job);
        Stage::made(out, || Beside::of_job_alone(out, job), objects)
    }

    fn made(
        out: &Path,
        folder: impl FnOnce() -> Result<Beside>,
        objects: impl FnOnce(far::Objects) -> Result<Unfinished>,
    ) -> Result<Stage> {
        Ok(Stage(match Address::of(out)? {
            None => Kind::Folder(folder()?),
            Some(address) if address.scheme != Scheme::S3 => {
                return Err(Error::new(format!("{address} as a place for a new store"))
                    .rule("a web server is read, and takes no objects")
                    .accepts(
                        "s3://BUCKET/NAME, with AWS_ENDPOINT_URL for a server other than AWS; or a folder",
                    ));
            }
            Some(address) if address.name().is_none() => {
                return Err(Error::new(format!("{address} has no name"))
                    .rule("a store is written under a name of its own")
                    .accepts(format!("{address}/NAME")));
            }
            Some(address) => Kind::Objects(objects(far::open(&address)?)?),
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

    /// A new file for a key, in a folder that is made if need be.
    ///
    /// # Errors
    /// What the system refuses, and a store of objects.
    pub fn file(&self, key: &str) -> Result<NewFile> {
        match &self.0 {
            Kind::Folder(beside) => beside.file(key),
            Kind::Objects(unfinished) => {
                Err(Error::new(format!("{} has no files", unfinished.place().name())))
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

/// A folder beside the name of a store.
#[derive(Debug)]
struct Beside {
    path: PathBuf,
    out: PathBuf,
    journal: Mutex<Option<File>>,
    /// What earlier runs have completed.
    complete: OnceLock<HashMap<String, (u64, u32)>>,
    /// Held as long as this process writes alone.
    lock: Option<File>,
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::new(format!("{}: {error}", path.display()))
}

impl Beside {
    /// The folder for a new store; with what is there already, where `goes_on`, and else empty.
    ///
    /// # Errors
    /// A store that exists, and a folder in which none is made.
    fn new(out: &Path, goes_on: bool) -> Result<Beside> {
        let name = out.file_name().ok_or_else(|| {
            Error::new(format!("{} has no name", out.display())).accepts("the name of a new folder")
        })?;
        is_free(out)?;
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let path = folder.join(format!(".{}.tilework-unfinished", name.to_string_lossy()));
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
    fn of_job(out: &Path, job: &Job) -> Result<Beside> {
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
    fn of_job_alone(out: &Path, job: &Job) -> Result<Beside> {
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
    fn file(&self, key: &str) -> Result<NewFile> {
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
    fn put(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let file = self.file(key)?;
        // A limit on the size of files would end the process.
        file.fits(bytes.len() as u64)?;
        file.file().write_all(bytes).map_err(|error| file.failed(&error))?;
        file.commit_hastily()
    }

    /// Notes that a key is complete.
    fn done(&self, key: &str, len: u64, sum: u32) -> Result<()> {
        let path = self.path.join(JOURNAL);
        let mut held = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match held.take() {
            Some(file) => file,
            None => File::options()
                .create(true)
                .append(true)
                .open(&path)
                .map_err(|error| failed(&path, &error))?,
        };
        // One call for a line: lines of several processes stand one after the other.
        let written = file.write_all(format!("{len} {sum:08x} {key}\n").as_bytes());
        *held = Some(file);
        written.map_err(|error| failed(&path, &error))
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
    fn stored_bytes(&self, without: &str) -> u64 {
        let journal = self.journal();
        let stays = journal.iter().filter(|(key, _)| !key.starts_with(without));
        stays.map(|(_, (len, _))| *len).fold(0, u64::saturating_add)
    }

    /// Removes all that stands under keys that begin with this folder.
    fn remove_all(&self, folder: &str) -> Result<()> {
        let path = self.path.join(folder);
        fs::remove_dir_all(&path).map_err(|error| failed(&path, &error))
    }

    /// Whether a key is there, with the length and the checksum of the journal.
    fn has(&self, key: &str) -> bool {
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
    fn finish(&self) -> Result<()> {
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

/// A store is written as a whole, and none is replaced.
fn is_free(out: &Path) -> Result<()> {
    match fs::read_dir(out).map(Iterator::count) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(out).is_err() => Ok(()),
        Err(error) => Err(failed(out, &error)),
        Ok(0) => Ok(()),
        Ok(_) => Err(Error::new(format!("{} exists, and is not empty", out.display()))
            .rule("a store is written as a whole, and none is replaced")
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

/// Whether neither of two paths is within the other.
///
/// # Errors
/// One that is.
pub(crate) fn apart(from: &Path, to: &Path) -> Result<()> {
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
        fs::canonicalize(path).ok().or_else(|| {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        })
    };
    match (real(from), real(to)) {
        (Some(a), Some(b)) if a.starts_with(&b) || (b.starts_with(&a) && a.is_dir()) => within(),
        _ => Ok(()),
    }
}
