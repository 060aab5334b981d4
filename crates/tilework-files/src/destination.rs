//! Where bytes go: a new file that takes its name when it is complete, or a stream.
//!
//! # How a file comes to its name
//!
//! 1. A file without a name is made in the folder where it will stand (`O_TMPFILE`, on Linux and most of its file systems).
//!    Whatever ends the process, and be it the power, the system takes such a file back. Elsewhere the file has a temporary
//!    name, `.tilework-…`, and is removed when the run fails; only a killed process leaves it.
//! 2. It is written, and then synchronised: everything stands on the disk before anything has the name.
//! 3. It gets a temporary name if it has none, and is renamed. Readers of the name see the old file or the new one.
//!
//! So an existing file is replaced as `cp` would, but never by half of another; and as the old file stays what it was for
//! everybody who has it open, a file can be converted to its own name.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tilework::{Error, Result};

use crate::source::failed;

/// Where the bytes of an array go.
pub enum Destination {
    /// A file that has no name yet.
    File(NewFile),
    /// A pipe or a device: bytes go there in order, and are gone.
    Stream(Box<dyn Write>),
}

/// A file that takes its name when it is complete.
pub struct NewFile {
    file: File,
    path: PathBuf,
    /// The temporary name, if it has one.
    temporary: Option<PathBuf>,
    /// Those of the file that it replaces.
    permissions: Option<Permissions>,
}

impl Destination {
    /// Makes a file that will have this name. What is no file and stands there already, such as a pipe, is written to.
    ///
    /// # Errors
    /// A folder, a folder that is not there or may not be written, and an existing file that may not be written.
    pub fn create(path: &Path) -> Result<Destination> {
        let name = path.display().to_string();
        let fail = |error: io::Error| failed(&name, &error);
        let folder = || Error::new(format!("{name} is a folder")).accepts("the name of a file");
        if path.file_name().is_none() || name.ends_with(std::path::is_separator) {
            return Err(folder());
        }
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                NewFile::create(path.to_owned(), None).map(Destination::File)
            }
            Err(error) => Err(fail(error)),
            Ok(old) if old.is_dir() => Err(folder()),
            Ok(old) if old.is_file() => {
                // A file that may not be written is not replaced either, although its folder would allow it.
                File::options().write(true).open(path).map_err(fail)?;
                // Behind a link it is the file that is replaced, not the link.
                let path = fs::canonicalize(path).map_err(fail)?;
                NewFile::create(path, Some(old.permissions())).map(Destination::File)
            }
            Ok(_) => {
                let device = File::options().write(true).open(path).map_err(fail)?;
                Ok(Destination::Stream(Box::new(device)))
            }
        }
    }
}

impl NewFile {
    fn create(path: PathBuf, permissions: Option<Permissions>) -> Result<NewFile> {
        match unnamed(&folder_of(&path)) {
            Some(file) => Ok(NewFile { file, path, temporary: None, permissions }),
            None => NewFile::named(path, permissions),
        }
    }

    /// With a temporary name, where no other way is.
    fn named(path: PathBuf, permissions: Option<Permissions>) -> Result<NewFile> {
        let temporary = temporary_name(&folder_of(&path));
        let file =
            File::options().read(true).write(true).create_new(true).open(&temporary).map_err(|error| {
                failed(&path.display().to_string(), &error)
                    .rule("a new file is made in the folder of its name")
                    .accepts("a folder that exists and may be written")
            })?;
        Ok(NewFile { file, path, temporary: Some(temporary), permissions })
    }

    /// The file, empty at first.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error of the system about this file.
    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        let named = failed(&self.path.display().to_string(), error);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => named
                .rule("the whole file has room before anything is written")
                .accepts("a disk with more room"),
            io::ErrorKind::FileTooLarge => {
                named.rule("files have a limit, of the file system or by ulimit -f")
            }
            _ => named,
        }
    }

    /// Gives the complete file its name, once all of it stands on the disk.
    ///
    /// # Errors
    /// What the system refuses; then no file has the name, or the old one.
    pub fn commit(mut self) -> Result<()> {
        let outcome = self.name();
        if outcome.is_ok() {
            self.temporary = None;
            // So that the name, too, survives a loss of power. Not every system can do that to a folder.
            if let Ok(folder) = File::open(folder_of(&self.path)) {
                let _ = folder.sync_all();
            }
        }
        outcome.map_err(|error| self.failed(&error))
    }

    fn name(&mut self) -> io::Result<()> {
        if let Some(permissions) = self.permissions.take() {
            self.file.set_permissions(permissions)?;
        }
        self.file.sync_all()?;
        let temporary = match &self.temporary {
            Some(temporary) => temporary,
            None => {
                let temporary = temporary_name(&folder_of(&self.path));
                link(&self.file, &temporary)?;
                self.temporary.insert(temporary)
            }
        };
        fs::rename(temporary, &self.path)
    }
}

/// A file that did not get its name leaves nothing.
impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A name that nobody else uses: with the number of the process and of the file in it.
fn temporary_name(folder: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!(".tilework-{}-{number}", std::process::id()))
}

/// The way to an open file by its number.
#[cfg(target_os = "linux")]
fn by_number(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file without a name, where the system can make one and name it later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let mode = Mode::from_raw_mode(0o666); // less what the umask takes away
    let file = File::from(open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok()?);
    fs::symlink_metadata(by_number(&file)).is_ok().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Names a file without a name.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, by_number(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own, taken away at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> io::Result<Folder> {
            let path = std::env::temp_dir().join(format!("tilework-{name}-{}", std::process::id()));
            fs::create_dir_all(&path)?;
            Ok(Folder(path))
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    type Tested = std::result::Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn a_file_has_its_name_when_it_is_complete_and_not_before() -> Tested {
        let folder = Folder::new("complete")?;
        for make in [NewFile::create, NewFile::named] {
            let path = folder.0.join("out");
            fs::write(&path, b"old")?;
            let new = make(path.clone(), None)?;
            new.file().write_all(b"newer")?;
            assert_eq!(fs::read(&path)?, b"old");
            new.commit()?;
            assert_eq!(fs::read(&path)?, b"newer");
            assert_eq!(folder.names(), ["out"]);
        }
        Ok(())
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() -> Tested {
        let folder = Folder::new("given-up")?;
        for make in [NewFile::create, NewFile::named] {
            let new = make(folder.0.join("out"), None)?;
            new.file().write_all(b"half")?;
            drop(new);
            assert!(folder.names().is_empty());
            // A name that cannot be had: it has become a folder meanwhile.
            let new = make(folder.0.join("taken"), None)?;
            fs::create_dir(folder.0.join("taken"))?;
            assert!(new.commit().is_err());
            assert_eq!(folder.names(), ["taken"]);
            fs::remove_dir(folder.0.join("taken"))?;
        }
        Ok(())
    }

    #[test]
    fn two_files_of_one_process_do_not_meet() -> Tested {
        let folder = Folder::new("two")?;
        let (a, b) = (NewFile::named(folder.0.join("a"), None)?, NewFile::named(folder.0.join("a"), None)?);
        a.file().write_all(b"a")?;
        b.file().write_all(b"b")?;
        b.commit()?;
        a.commit()?;
        assert_eq!(fs::read(folder.0.join("a"))?, b"a");
        Ok(())
    }
}
