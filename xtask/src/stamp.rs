//! Whether code that a program makes is as it was when it was last made.
//!
//! The programs that make it take minutes to compile. They give the same code for the same sources, so where neither the
//! sources nor the code have changed since, there is nothing to find out. The stamp is a checksum of both, kept beside
//! this program; `--check` of each chore runs the program all the same.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, shell};

/// Code that a program makes.
pub struct Made {
    /// The name of the stamp, and of the chore.
    pub name: &'static str,
    /// The program with its version, where that stands in no file.
    pub maker: &'static str,
    /// Files and folders: the sources, what is made of them, and the program if it is ours, with its Cargo.lock.
    pub files: &'static [&'static str],
}

impl Made {
    /// Whether nothing has changed since it was last made.
    pub fn is_current(&self) -> bool {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        self.checksum().is_ok_and(|checksum| stamp.trim() == format!("{checksum:016x}"))
    }

    /// Notes that it has just been made.
    pub fn note(&self) -> Outcome {
        let stamp = self.stamp();
        let write = || {
            let checksum = self.checksum()?;
            fs::create_dir_all(stamp.parent().unwrap_or(Path::new(".")))?;
            fs::write(&stamp, format!("{checksum:016x}\n"))
        };
        write().map_err(|error| format!("{}: {error}", stamp.display()))
    }

    fn stamp(&self) -> PathBuf {
        shell::root().join("xtask/stamps").join(self.name)
    }

    fn checksum(&self) -> std::io::Result<u64> {
        let mut sum = Checksum::new();
        sum.add(self.maker.as_bytes());
        for file in self.files {
            add(&shell::root().join(file), Path::new(file), &mut sum)?;
        }
        Ok(sum.0)
    }
}

/// A file, or all below a folder in the order of their names.
fn add(path: &Path, name: &Path, sum: &mut Checksum) -> std::io::Result<()> {
    if path.is_dir() {
        let mut names: Vec<_> = fs::read_dir(path)?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        return names.iter().try_for_each(|own| add(&path.join(own), &name.join(own), sum));
    }
    sum.add(name.to_string_lossy().replace('\\', "/").as_bytes());
    sum.add(&fs::read(path)?);
    Ok(())
}

/// FNV-1a, which finds accidents; nobody gains anything from deceiving it.
struct Checksum(u64);

impl Checksum {
    fn new() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes and their number, so that their borders count.
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_anywhere_changes_the_checksum() {
        let of = |parts: &[&str]| {
            let mut sum = Checksum::new();
            parts.iter().for_each(|part| sum.add(part.as_bytes()));
            sum.0
        };
        let sums = [of(&["ab", "c"]), of(&["a", "bc"]), of(&["abc"]), of(&["ab", "d"]), of(&["ab", "c", ""])];
        for (number, sum) in sums.iter().enumerate() {
            assert!(!sums[..number].contains(sum), "{number}");
        }
    }

    #[test]
    fn what_is_missing_is_not_current() {
        let made = Made { name: "none", maker: "nobody", files: &["no/such/file"] };
        assert!(!made.is_current());
        assert!(made.checksum().is_err());
    }
}
