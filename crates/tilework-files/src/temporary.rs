//! Temporary names: random, tried again when they are taken, and removed when nobody writes their files any more.
//!
//! # How a dead file is told from a live one
//!
//! Whoever writes a file holds a lock on it, from before it has a name where that can be, and the system takes the lock back
//! when the process ends, however it ends. So a file under such a name that nobody has locked was left behind, and the next
//! run that needs a temporary name in the folder removes it. A file is removed only if
//!
//! 1. its name is one of ours: `.tilework-` and 16 hexadecimal digits;
//! 2. it is a plain file of an owner that we could have left it with;
//! 3. we got the lock on it; and
//! 4. the name still belongs to the file that we locked.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// What temporary names begin with.
const PREFIX: &str = ".tilework-";

/// The hexadecimal digits behind it.
const DIGITS: usize = 16;

/// Names that are tried. Two random ones never meet in practice; a folder where all of these are taken is at fault itself.
const TRIES: usize = 64;

/// A temporary name, taken away again unless its file gets another.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Makes something under a name in this folder. `make` is called again, with another name, if one is taken.
    pub(crate) fn make<T>(
        folder: &Path,
        mut make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(Temporary, T)> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let path = folder.join(random_name());
            match make(&path) {
                Ok(made) => return Ok((Temporary(path), made)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Gives the file its final name, whatever has that name now.
    pub(crate) fn rename(self, name: &Path) -> io::Result<()> {
        fs::rename(&self.0, name)?;
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A name that nobody can guess: the keys of the standard library's hashes come from the system's random numbers.
fn random_name() -> String {
    let number = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{number:0DIGITS$x}")
}

fn is_temporary(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Marks a file as being written. Without locks in the file system there is no mark, and then nothing is ever removed.
///
/// # Errors
/// `AlreadyExists` where another process removes the file at this moment, because it saw the name before the lock.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let taken = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
        if taken || file.metadata()?.nlink() == 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
    }
    let _ = file;
    Ok(())
}

/// Removes what runs that were killed left in this folder, if it belongs to one of these owners.
#[cfg(unix)]
pub(crate) fn sweep(folder: &Path, owners: &[u32]) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let _ = remove_dead(&entry.path(), owners);
    }
}

/// Without locks nobody can tell.
#[cfg(not(unix))]
pub(crate) fn sweep(_: &Path, _: &[u32]) {}

#[cfg(unix)]
fn remove_dead(path: &Path, owners: &[u32]) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    use std::os::unix::fs::MetadataExt;
    // Nothing but a plain file is even opened: of a device that could have effects.
    let is_ours = |file: &fs::Metadata| file.is_file() && owners.contains(&file.uid());
    if !is_ours(&fs::symlink_metadata(path)?) {
        return Ok(());
    }
    // For writing, as network file systems lock nothing else.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    if is_ours(&found) && file.try_lock().is_ok() {
        let named = fs::symlink_metadata(path)?;
        if (named.dev(), named.ino()) == (found.dev(), found.ino()) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::{Folder, Tested};

    #[test]
    fn a_name_that_is_taken_is_not_the_last_one_tried() -> Tested {
        let folder = Folder::new("taken")?;
        let mut left = 5;
        let mut tried = Vec::new();
        let (temporary, _) = Temporary::make(&folder.0, |path| {
            tried.push(path.to_owned());
            left -= 1;
            if left > 0 {
                fs::write(path, b"somebody else's")?;
            }
            File::create_new(path)
        })?;
        tried.sort();
        tried.dedup();
        assert_eq!((tried.len(), folder.names().len()), (5, 5));
        drop(temporary);
        assert_eq!(folder.names().len(), 4, "only our own name is taken away");
        let mut tries = 0;
        let outcome = Temporary::make(&folder.0, |_| -> io::Result<()> {
            tries += 1;
            Err(io::ErrorKind::AlreadyExists.into())
        });
        assert!(outcome.is_err() && tries == TRIES);
        Ok(())
    }

    #[test]
    fn only_names_of_our_own_form_are_temporary() {
        assert!(is_temporary(OsStr::new(&random_name())));
        assert_ne!(random_name(), random_name());
        for other in [".tilework-", ".tilework-12", "tilework-0123456789abcdef", ".tilework-0123456789abcdeF"]
        {
            assert!(!is_temporary(OsStr::new(other)), "{other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_nobody_writes_is_removed_and_nothing_else() -> Tested {
        use std::os::unix::fs::{MetadataExt, symlink};
        let folder = Folder::new("sweep")?;
        let at = |name: &str| folder.0.join(name);
        let me = fs::metadata(&folder.0)?.uid();
        let (dead, live) = (".tilework-00000000deadbeef", ".tilework-0123456789abcdef");
        let (link, inner, mine) =
            (".tilework-1111111111111111", ".tilework-2222222222222222", ".tilework-mine");
        fs::write(at(dead), b"half")?;
        let written = File::create_new(at(live))?;
        lock(&written)?;
        fs::write(at(mine), b"not of our form")?;
        symlink(mine, at(link))?;
        fs::create_dir(at(inner))?;
        sweep(&folder.0, &[me.wrapping_add(1)]);
        assert_eq!(folder.names(), [dead, live, link, inner, mine], "files of others stay");
        sweep(&folder.0, &[me]);
        assert_eq!(folder.names(), [live, link, inner, mine]);
        drop(written);
        sweep(&folder.0, &[me]);
        assert_eq!(folder.names(), [link, inner, mine]);
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_before_its_lock_is_not_written() -> Tested {
        let folder = Folder::new("raced")?;
        let path = folder.0.join("a");
        let file = File::create_new(&path)?;
        fs::remove_file(&path)?;
        assert_eq!(lock(&file).expect_err("no name").kind(), io::ErrorKind::AlreadyExists);
        let file = File::create_new(&path)?;
        let other = File::open(&path)?;
        other.lock()?;
        assert_eq!(lock(&file).expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
        Ok(())
    }
}
