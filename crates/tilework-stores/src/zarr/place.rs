//! Where a store is: what stands under its keys.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilework::{Error, Result};
use tilework_copy::Mapped;

use super::json;
use crate::far::{self, Address, Far};
use crate::stamp::Stamp;
use crate::store::Held;

/// Where a path is: a folder of this machine, or an address such as `s3://bucket/a.zarr`.
///
/// # Errors
/// Addresses that are not read, and a build without those that are.
pub(crate) fn at(path: &Path) -> Result<Arc<dyn Place>> {
    Ok(match Address::of(path)? {
        None => Arc::new(Folder(path.to_owned())),
        Some(address) => Arc::new(far::open(&address)?),
    })
}

/// Which part of an object is wanted first. A place that is far away asks for it at once; one that maps files need not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// All of it, which has at most `most` bytes.
    Whole { most: u64 },
    /// This number of bytes from its start, or all where it has fewer.
    Start(u64),
    /// This number of bytes before its end, or all where it has fewer.
    End(u64),
}

/// Something that holds bytes under keys, such as a folder.
pub(crate) trait Place: Debug + Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> String;

    /// What stands under a key; none if nothing does.
    fn open(&self, key: &str) -> Result<Option<Object>>;

    /// The same, with the part that is wanted first.
    fn open_at(&self, key: &str, _: First) -> Result<Option<Object>> {
        self.open(key)
    }

    /// Whether something stands under a key.
    fn has(&self, key: &str) -> Result<bool> {
        Ok(self.open(key)?.is_some())
    }

    /// Whether every request waits for somebody far away, so that it is better to ask for much at a time, and several at once.
    fn is_far(&self) -> bool {
        false
    }

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
    /// What a server has.
    Far(Far),
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
            Object::Far(far) => far.len(),
            Object::Empty => 0,
            Object::Held(_, range) => range.len() as u64,
            Object::Within(_, range) => range.end - range.start,
        }
    }

    /// Several parts of it, which are within: those of a server that are near each other in one request.
    pub(crate) fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Held<'static>>> {
        match self {
            Object::Far(far) => far.parts(ranges),
            Object::Within(other, whole) => {
                let moved = ranges.iter().map(|range| whole.start + range.start..whole.start + range.end);
                other.parts(&moved.collect::<Vec<Range<u64>>>())
            }
            _ => ranges.iter().map(|range| self.part(range.clone())).collect(),
        }
    }

    /// The same, without the bytes that were read first.
    pub(crate) fn without_first(self) -> Object {
        match self {
            Object::Far(far) => Object::Far(far.without_first()),
            other => other,
        }
    }

    /// A part of it, which is within.
    pub(crate) fn part(&self, range: Range<u64>) -> Result<Held<'static>> {
        match self {
            Object::Mapped(map, name) => {
                // Both are within a mapping, so they fit.
                Held::mapped(Arc::clone(map), range.start as usize..range.end as usize, name.clone())
            }
            Object::Far(far) => far.part(range),
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

    fn has(&self, key: &str) -> Result<bool> {
        Ok(self.path(key).is_file())
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
