//! Where a store is: what stands under its keys.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tilework::{Error, Result};
use tilework_copy::Mapped;

use super::json;
use crate::stamp::Stamp;
use crate::store::Held;

/// Something that holds bytes under keys, such as a folder.
pub(crate) trait Place: Debug + Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> String;

    /// What stands under a key; none if nothing does.
    fn open(&self, key: &str) -> Result<Option<Object>>;

    /// The names of the folders under a key; none where nobody can list them.
    fn folders(&self, key: &str) -> Result<Option<Vec<String>>>;

    /// The names, lengths and times of all that stands under a key; none where nobody can list them.
    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        let _ = key;
        Ok(None)
    }

    /// All of what stands under the key of metadata.
    fn text(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let Some(object) = self.open(key)? else { return Ok(None) };
        if object.len() > json::LONGEST {
            return Err(Error::new(format!("{}/{key} has {} bytes", self.name(), object.len()))
                .rule("metadata are held in memory")
                .accepts(format!("up to {} bytes", json::LONGEST)));
        }
        let held = object.part(0..object.len())?;
        let bytes = held.bytes().unwrap_or_default().to_vec();
        held.intact()?;
        Ok(Some(bytes))
    }
}

/// What stands under a key, read in parts.
#[derive(Debug)]
pub(crate) enum Object {
    /// A mapped file, and its name.
    Mapped(Arc<Mapped>, String),
    /// Nothing, which nobody maps.
    Empty,
    /// Bytes in memory that others share, and a part of them.
    Held(Arc<Vec<u8>>, Range<usize>),
    /// A part of another.
    Within(Arc<Object>, Range<u64>),
}

impl Object {
    /// Its bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Object::Mapped(map, _) => map.len() as u64,
            Object::Empty => 0,
            Object::Held(_, range) => range.len() as u64,
            Object::Within(_, range) => range.end - range.start,
        }
    }

    /// A part of it, which is within.
    pub(crate) fn part(&self, range: Range<u64>) -> Result<Held<'static>> {
        match self {
            Object::Mapped(map, name) => {
                // Both are within a mapping, so they fit.
                Held::mapped(Arc::clone(map), range.start as usize..range.end as usize, name.clone())
            }
            Object::Empty => Ok(Held::owned(Vec::new())),
            Object::Held(bytes, whole) => {
                let bytes = &bytes[whole.clone()];
                Ok(Held::owned(bytes[range.start as usize..range.end as usize].to_vec()))
            }
            Object::Within(other, whole) => other.part(whole.start + range.start..whole.start + range.end),
        }
    }
}

/// A folder of this machine.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// The file of a key. Keys are made of names that were checked, so it is within the folder.
    fn path(&self, key: &str) -> PathBuf {
        self.0.join(key)
    }
}

impl Place for Folder {
    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn open(&self, key: &str) -> Result<Option<Object>> {
        let path = self.path(key);
        let name = path.display().to_string();
        let fail = |error: io::Error| Error::new(format!("{name}: {error}"));
        let file = match File::open(&path) {
            Ok(file) => file,
            // A file stands where a folder of the key would.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(fail(error)),
        };
        let found = file.metadata().map_err(fail)?;
        if !found.is_file() {
            return Err(Error::new(format!("{name} is no file")).rule("every key of a store is a file"));
        }
        Ok(Some(match found.len() {
            0 => Object::Empty,
            _ => Object::Mapped(Arc::new(Mapped::read(&file).map_err(fail)?), name),
        }))
    }

    fn folders(&self, key: &str) -> Result<Option<Vec<String>>> {
        let path = self.path(key);
        let fail = |error: io::Error| Error::new(format!("{}: {error}", path.display()));
        let mut found = Vec::new();
        for entry in fs::read_dir(&path).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            // Links to folders are not followed: one could lead back here.
            if entry.file_type().map_err(fail)?.is_dir() {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        found.sort();
        Ok(Some(found))
    }

    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        let mut stamp = Stamp::default();
        stamp.add_folder(&self.path(key), "")?;
        Ok(Some(stamp))
    }
}
