//! What tells whether a source has changed: the names, lengths and times of its files.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use tilework::{Error, Result};
use tilework_files::container::Container;

/// The files of a source as they were at a time. Asking the system for them reads none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    files: u64,
    bytes: u64,
    /// Of all names, lengths and times, in whatever order they are found.
    sum: u64,
}

impl Stamp {
    /// Adds a file: its name within the source, its length, and what changes when it is written again, such as a time.
    pub(crate) fn add(&mut self, name: &str, bytes: u64, tag: &str) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        // FNV-1a, which is the same on every machine and in every version.
        let text = format!("{name}\0{bytes}\0{tag}");
        let hash = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        self.sum = self.sum.wrapping_add(text.bytes().fold(0xcbf2_9ce4_8422_2325, hash));
    }

    /// What the files hold of so many bytes, if they are `all` bytes in memory.
    pub(crate) fn share(&self, bytes: u64, all: u128) -> u64 {
        let found = u128::from(bytes).saturating_mul(self.bytes.into()) / all.max(1);
        u64::try_from(found).map_or(bytes, |found| found.min(bytes))
    }

    /// Adds a file of this machine, as `name`. One that is gone counts as such.
    pub(crate) fn add_file(&mut self, path: &Path, name: &str) {
        let found = std::fs::metadata(path);
        let time =
            found.as_ref().ok().and_then(|found| found.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        let tag = time.map_or(String::new(), |time| time.as_nanos().to_string());
        self.add(name, found.map_or(0, |found| found.len()), &tag);
    }

    /// Adds the files of a container: those of this machine as they are now, those of a server as they were opened.
    pub(crate) fn add_container(&mut self, container: &Container) {
        for (name, of_server) in container.file_names() {
            let path = Path::new(name);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match of_server {
                Some((bytes, version)) => self.add(&name, bytes, version),
                None => self.add_file(path, &name),
            }
        }
    }

    /// Adds all files of a folder and of those in it. Links to folders are not followed: one could lead back here.
    ///
    /// # Errors
    /// A folder that cannot be listed.
    pub(crate) fn add_folder(&mut self, path: &Path, name: &str) -> Result<()> {
        let fail = |error: std::io::Error| Error::new(format!("{}: {error}", path.display()));
        for entry in std::fs::read_dir(path).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            match entry.file_type().map_err(fail)?.is_dir() {
                true => self.add_folder(&entry.path(), &name)?,
                false => self.add_file(&entry.path(), &name),
            }
        }
        Ok(())
    }

    /// Whether the source is the one that `was`, as in "the plan was made for".
    ///
    /// # Errors
    /// One that has changed, with what has.
    pub(crate) fn same(&self, before: &Stamp, source: &Path, was: &str) -> Result<()> {
        if self == before {
            return Ok(());
        }
        let what = match (self.files == before.files, self.bytes == before.bytes) {
            (false, _) => format!("{} files then, {} now", before.files, self.files),
            (true, false) => format!("{} bytes then, {} now", before.bytes, self.bytes),
            (true, true) => "a file has another time or name".to_owned(),
        };
        Err(Error::new(format!("{} is not what {was}: {what}", source.display()))
            .rule("all that is written comes from one state of the source"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_file_is_seen_and_the_order_is_none() {
        let of = |files: &[(&str, u64, &str)]| {
            let mut stamp = Stamp::default();
            files.iter().for_each(|(name, bytes, tag)| stamp.add(name, *bytes, tag));
            stamp
        };
        let before = of(&[("a", 1, "5"), ("b", 2, "6")]);
        assert_eq!(before, of(&[("b", 2, "6"), ("a", 1, "5")]));
        for (now, what) in [
            (of(&[("a", 1, "5")]), "2 files then, 1 now"),
            (of(&[("a", 1, "5"), ("b", 3, "6")]), "3 bytes then, 4 now"),
            (of(&[("a", 1, "5"), ("b", 2, "7")]), "another time"),
            (of(&[("a", 1, "5"), ("c", 2, "6")]), "another time or name"),
            (of(&[("a", 2, "5"), ("b", 1, "6")]), "another time"),
        ] {
            let error = now.same(&before, Path::new("src"), "was planned").expect_err(what).to_string();
            assert!(error.contains("src is not what was planned: ") && error.contains(what), "{error}");
        }
    }
}
