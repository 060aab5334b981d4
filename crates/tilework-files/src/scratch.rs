//! Folders for tests.

use std::path::PathBuf;
use std::{fs, io};

/// A folder of its own, taken away at its end.
pub(crate) struct Folder(pub PathBuf);

pub(crate) type Tested = std::result::Result<(), Box<dyn std::error::Error>>;

impl Folder {
    pub(crate) fn new(name: &str) -> io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("tilework-{name}-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }

    /// The names in it, hidden ones too, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
