//! What is said of stores of chunks by a build without them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilework::{Element, Result};
use tilework_files::container::{Container, Content, Elsewhere, Format, How, Job, WriteError, Written};

use crate::lacks;

/// Whether a path is an address of a store, such as `s3://bucket/a.zarr`.
pub fn is_address(path: &Path) -> bool {
    path.to_string_lossy().contains("://")
}

pub fn open(path: &Path, known: Option<Element>, _: &Path) -> Result<Container> {
    if is_address(path) {
        return Err(lacks("files and stores that a server has", "objects"));
    }
    match Container::format_of(path) {
        Some(Format::Zarr) => Err(lacks("Zarr stores", "stores")),
        _ => Container::open_as(path, known),
    }
}

/// A file on a server, which nobody writes.
pub enum NewObject {}

impl NewObject {
    pub fn of(path: &Path) -> Result<Option<NewObject>> {
        if is_address(path) { Err(lacks("files and stores that a server has", "objects")) } else { Ok(None) }
    }

    pub fn send(&self, _: &File, _: Arc<dyn Fn(u64) + Send + Sync>) -> Result<()> {
        match *self {}
    }
}

/// There is no store that something could be within.
pub fn apart(_: &Path, _: &Path) -> Result<()> {
    Ok(())
}

/// A folder on a server, which nobody writes.
pub fn new_folder(_: &Path, _: &str) -> Result<Box<dyn Elsewhere>> {
    Err(lacks("files and stores that a server has", "objects"))
}

/// Nothing is fetched.
pub fn scratch_of(_: &Path) -> PathBuf {
    std::env::temp_dir()
}

pub fn write(
    _: &Container,
    _: &[Job],
    _: Option<&str>,
    out: &Path,
    _: &How,
) -> std::result::Result<Written, WriteError> {
    NewObject::of(out)?;
    Err(lacks("Zarr stores", "stores").into())
}

pub fn is_stored_as_list(content: &Content, format: Format, transposed: bool) -> bool {
    content.is_stored_as_list(format, transposed)
}
