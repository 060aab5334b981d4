//! Where bytes go: a new file that takes its name when it is complete, or a stream.
//!
//! # How a file comes to its name
//!
//! 1. A file without a name is made in the folder where it will stand (`O_TMPFILE`, on Linux and most of its file systems).
//!    Whatever ends the process, and be it the power, the system takes such a file back. Elsewhere the file has a temporary
//!    name, and is removed when the run fails. If the run is killed, the next one in the same folder removes it
//!    (`temporary.rs`).
//! 2. It is written. A file that will replace another gets as much of the other's owner, group and mode as is safe
//!    (`rights.rs`), and can be read by nobody else until then.
//! 3. It is synchronised: everything stands on the disk before anything has the name.
//! 4. It gets its name. If the name is taken, it gets a temporary one first, and is renamed: readers of the name see the old
//!    file or the new one. A run that is killed between the two leaves the temporary name, as in step 1.
//!
//! So an existing file is replaced, but never by half of another; and as the old file stays what it was for everybody who
//! has it open, a file can be converted to its own name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tilework::{Error, Result};

use crate::rights::Rights;
use crate::room::{self, Lack, lack, lack_of_limit};
use crate::source::failed;
use crate::temporary::{self, Temporary};

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
    temporary: Option<Temporary>,
    /// Those of the file that it replaces.
    old: Option<Rights>,
    /// Whether it is named before it stands on the disk.
    is_hasty: bool,
}

impl Destination {
    /// Makes a file that will have this name. What is no file and stands there already, such as a pipe, is written to.
    ///
    /// # Errors
    /// A folder, a folder that is not there or may not be written, an existing file that may not be written, and a link to
    /// nothing.
    pub fn create(path: &Path) -> Result<Destination> {
        let name = path.display().to_string();
        let fail = |error: io::Error| failed(&name, &error);
        let folder = || Error::new(format!("{name} is a folder")).accepts("the name of a file");
        if path.file_name().is_none() || name.ends_with(std::path::is_separator) {
            return Err(folder());
        }
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
                Ok(target) => {
                    let target = target.display();
                    Err(Error::new(format!("{name} is a link to {target}, which does not exist"))
                        .rule("a link is not replaced, and no file is made in a place that only a link names")
                        .accepts("the name of the file itself, or of a link to a file that exists"))
                }
                Err(_) => NewFile::create(path.to_owned(), None).map(Destination::File),
            },
            Err(error) => Err(fail(error)),
            Ok(old) if old.is_dir() => Err(folder()),
            Ok(old) if old.is_file() => {
                // A file that may not be written is not replaced either, although its folder would allow it.
                File::options().write(true).open(path).map_err(fail)?;
                // Behind a link it is the file that is replaced, not the link.
                let path = fs::canonicalize(path).map_err(fail)?;
                let old = Rights::of(&path).map_err(fail)?;
                NewFile::create(path, old).map(Destination::File)
            }
            Ok(_) => {
                let device = File::options().write(true).open(path).map_err(fail)?;
                Ok(Destination::Stream(Box::new(device)))
            }
        }
    }
}

impl NewFile {
    fn create(path: PathBuf, old: Option<Rights>) -> Result<NewFile> {
        match unnamed(&folder_of(&path), mode(old.as_ref())) {
            Some(file) => Ok(NewFile { file, path, temporary: None, old, is_hasty: false }),
            None => NewFile::named(path, old),
        }
    }

    /// With a temporary name, where no other way is.
    fn named(path: PathBuf, old: Option<Rights>) -> Result<NewFile> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode(old.as_ref()));
        let folder = folder_of(&path);
        temporary::sweep(&folder, &Rights::owners(old.as_ref()));
        let made = Temporary::make(&folder, |name| {
            let file = options.open(name)?;
            temporary::lock(&file).map(|()| file)
        });
        let (temporary, file) = made.map_err(|error| {
            failed(&path.display().to_string(), &error)
                .rule("a new file is made in the folder of its name")
                .accepts("a folder that exists and may be written")
        })?;
        Ok(NewFile { file, path, temporary: Some(temporary), old, is_hasty: false })
    }

    /// A file that never has a name, in this folder; messages call it `path`.
    ///
    /// # Errors
    /// A folder that is not there or may not be written.
    pub fn unnamed(folder: &Path, path: PathBuf) -> Result<NewFile> {
        let file = scratch(folder).map_err(|error| failed(&path.display().to_string(), &error))?;
        Ok(NewFile { file, path, temporary: None, old: None, is_hasty: false })
    }

    /// The file itself, which gets no name.
    pub fn into_file(self) -> File {
        self.file
    }

    /// The file, empty at first.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file can become so long, before any room is taken.
    ///
    /// # Errors
    /// A disk with less room, and a limit on the size of files.
    pub fn fits(&self, len: u64) -> Result<()> {
        fits(&self.file, len, &self.path.display().to_string())
    }

    /// An error of the system about this file.
    pub fn failed(&self, error: &io::Error) -> Error {
        let named = failed(&self.path.display().to_string(), error);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => named
                .rule("the whole file has room before anything is written")
                .accepts("a disk with more room"),
            io::ErrorKind::FileTooLarge => named.rule("file systems have a limit on the size of files"),
            _ => named,
        }
    }

    /// Gives the file its name without waiting for the disk. Of many files that belong together nobody reads one before all are
    /// there, and waiting once for all of them takes a thirtieth of the time.
    ///
    /// # Errors
    /// What the system refuses; then no file has the name, or the old one.
    pub fn commit_hastily(mut self) -> Result<()> {
        self.is_hasty = true;
        self.name().map_err(|error| self.failed(&error))
    }

    /// Gives the complete file its name, once all of it stands on the disk.
    ///
    /// # Errors
    /// What the system refuses; then no file has the name, or the old one.
    pub fn commit(mut self) -> Result<()> {
        self.name().map_err(|error| self.failed(&error))?;
        // So that the name, too, survives a loss of power. Not every system can do that to a folder.
        if let Ok(folder) = File::open(folder_of(&self.path)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    fn name(&mut self) -> io::Result<()> {
        // The rights that the old file has now count, not those that it had at the start.
        if !self.take_rights()? && self.temporary.is_none() {
            match link(&self.file, &self.path) {
                // Somebody else has made a file of this name meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.take_rights()?,
                outcome => return outcome,
            };
        }
        let temporary = match self.temporary.take() {
            Some(temporary) => temporary,
            None => {
                let folder = folder_of(&self.path);
                temporary::sweep(&folder, &Rights::owners(self.old.as_ref()));
                Temporary::make(&folder, |name| link(&self.file, name))?.0
            }
        };
        temporary.rename(&self.path)
    }

    /// Gives the file the rights of the one that it replaces, puts all of it on the disk, and says whether the name is taken.
    fn take_rights(&mut self) -> io::Result<bool> {
        let now = Rights::of(&self.path)?;
        let taken = now.is_some();
        self.old = now.or(self.old.take());
        if let Some(old) = &self.old {
            old.give(&self.file)?;
        }
        if !self.is_hasty {
            self.file.sync_all()?;
        }
        Ok(taken)
    }
}

/// Whether a file of this name can become so long, before any room is taken.
pub(crate) fn fits(file: &File, len: u64, name: &str) -> Result<()> {
    refused(lack(file, len), len, name)
}

/// Whether a file with holes can be so long, whatever room there is.
pub(crate) fn fits_with_holes(len: u64, name: &str) -> Result<()> {
    refused(lack_of_limit(len), len, name)
}

/// Whether a disk of this size can hold what takes `len` bytes at least in this folder, if all else on it went.
///
/// # Errors
/// A smaller disk.
pub fn fits_on_disk(folder: &Path, len: u128, name: &str) -> Result<()> {
    match room::whole(folder).filter(|&whole| len > u128::from(whole)) {
        None => Ok(()),
        Some(whole) => Err(Error::new(format!("{name} takes {len} bytes"))
            .rule(format!("the disk of {} has {whole} bytes in all", folder.display()))
            .accepts("a larger disk; or another array, if its sizes are wrong")),
    }
}

fn refused(lack: Option<Lack>, len: u64, name: &str) -> Result<()> {
    let Some(lack) = lack else { return Ok(()) };
    let error = Error::new(format!("{name} takes {len} bytes"));
    Err(match lack {
        Lack::Limit(limit) => error
            .rule(format!("files of this process have at most {limit} bytes (ulimit -f)"))
            .accepts("a higher limit, such as ulimit -f unlimited"),
        Lack::Free(free) => error
            .rule(format!("the whole file has room before anything is written; {free} bytes are free"))
            .accepts("a disk with more room"),
    })
}

/// A file for what is needed for a while, which goes when it is closed.
pub(crate) fn scratch(folder: &Path) -> io::Result<File> {
    if let Some(file) = unnamed(folder, 0o600) {
        return Ok(file);
    }
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    // Its name goes at once, where the system lets a file without a name be written.
    Ok(Temporary::make(folder, |name| options.open(name))?.1)
}

/// The mode of a file that is being written, less what the umask takes away: one that replaces another is nobody else's
/// business until it has the other's rights.
fn mode(old: Option<&Rights>) -> u32 {
    if old.is_some() { 0o600 } else { 0o666 }
}

/// The folder that a file is in, or will be.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Where a run that makes this folder keeps what is not complete: beside it, and there after a kill. None for a path without a name.
pub fn unfinished(out: &Path) -> Option<PathBuf> {
    let name = out.file_name()?.to_string_lossy();
    Some(folder_of(out).join(format!(".{name}.tilework-unfinished")))
}

/// The way to an open file by its number.
#[cfg(target_os = "linux")]
fn by_number(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file without a name, where the system can make one and name it later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path, mode: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let mode = Mode::from_raw_mode(mode);
    let file = File::from(open(folder, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode).ok()?);
    let _ = file.try_lock(); // before it has a name, so that nobody removes it as dead
    fs::symlink_metadata(by_number(&file)).is_ok().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: u32) -> Option<File> {
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
    use crate::scratch::{Folder, Tested};

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

    #[cfg(unix)]
    #[test]
    fn a_file_that_replaces_another_is_open_to_nobody_before_it_has_the_name() -> Tested {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = Folder::new("meanwhile")?;
        let path = folder.0.join("out");
        for make in [NewFile::create, NewFile::named] {
            fs::write(&path, b"old")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
            let new = make(path.clone(), Rights::of(&path)?)?;
            assert_eq!(new.file().metadata()?.mode() & 0o777, 0o600);
            // What the old file is at the end counts.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640))?;
            new.commit()?;
            assert_eq!(fs::metadata(&path)?.mode() & 0o777, 0o640);
            // The old file has gone meanwhile, and another has come.
            let new = make(path.clone(), Rights::of(&path)?)?;
            fs::remove_file(&path)?;
            new.commit()?;
            assert_eq!(fs::metadata(&path)?.mode() & 0o777, 0o640);
            fs::remove_file(&path)?;
            let new = make(path.clone(), None)?;
            fs::write(&path, b"another")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            new.commit()?;
            assert_eq!((fs::metadata(&path)?.mode() & 0o777, fs::read(&path)?), (0o600, vec![]));
            // A link that has come is no file.
            let new = make(path.clone(), None)?;
            fs::remove_file(&path)?;
            std::os::unix::fs::symlink("other", &path)?;
            assert!(new.commit().is_err());
            assert_eq!(
                (fs::read_link(&path)?, folder.names()),
                (PathBuf::from("other"), vec!["out".to_owned()])
            );
            fs::remove_file(&path)?;
        }
        Ok(())
    }

    /// Where the process of `a_killed_process_…` writes.
    const WHERE: &str = "TILEWORK_TEST_FOLDER";

    #[cfg(unix)]
    #[test]
    #[ignore = "waits to be killed"]
    fn writes_until_it_is_killed() -> Tested {
        let Some(folder) = std::env::var_os(WHERE) else { return Ok(()) };
        let path = PathBuf::from(folder).join("out");
        let old = Rights::of(&path)?;
        let new = NewFile::named(path, old)?;
        new.file().write_all(b"half")?;
        println!("\nready");
        io::copy(&mut io::stdin(), &mut io::sink())?; // no end
        unreachable!("nobody killed it");
    }

    #[cfg(unix)]
    #[test]
    fn a_killed_process_leaves_what_the_next_run_removes_and_a_live_one_keeps_it() -> Tested {
        use std::io::{BufRead, BufReader};
        use std::os::unix::fs::MetadataExt;
        use std::process::{Command, Stdio};
        let folder = Folder::new("killed")?;
        let path = folder.0.join("out");
        // `nohup` and a shell's `&` let their processes ignore the others.
        for signal in ["-TERM", "-KILL"] {
            fs::write(&path, b"old")?;
            let mut command = Command::new(std::env::current_exe()?);
            command.args([
                "--exact",
                "destination::tests::writes_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ]);
            command.env(WHERE, &folder.0).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn()?;
            let lines = BufReader::new(child.stdout.take().ok_or("a pipe")?).lines();
            assert!(lines.map_while(io::Result::ok).any(|line| line == "ready"));
            let names = folder.names();
            assert_eq!(names.len(), 2, "{names:?}");
            assert_eq!(fs::metadata(folder.0.join(&names[0]))?.mode() & 0o777, 0o600);
            NewFile::named(path.clone(), None)?.commit()?;
            assert_eq!(folder.names(), names, "a file that is being written stays");
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status()?.success());
            child.wait()?;
            assert_eq!(folder.names(), names);
            NewFile::named(path.clone(), None)?.commit()?;
            assert_eq!(folder.names(), ["out"]);
        }
        Ok(())
    }
}
