//! What a path or an address names: a store, or files of arrays. Every command asks here.

use std::path::{Path, PathBuf};

use tilework::{Element, Error, Result};
use tilework_files::container::{self, Container, Files, Format};
use tilework_files::folder_of;

use crate::far::{Address, Folder, is_address};
use crate::zarr;

/// What a file of an index is called.
const INDEX: &str = ".safetensors.index.json";

/// How many names of a folder are shown that is none of these.
const SHOWN: usize = 5;

/// What a folder has that is a checkpoint of JAX.
const STEP: &str = "/_CHECKPOINT_METADATA";

/// The ends of the names of files that hold arrays; the first that a folder has is what the folder is.
const ENDS: [&str; 5] = [INDEX, ".safetensors", ".npz", ".gguf", ".npy"];

/// What is at an address.
pub(crate) enum At {
    /// A store of arrays in chunks.
    Store,
    /// A file, or files of a folder that are parts of one checkpoint.
    Files(Vec<PathBuf>),
}

/// Opens what holds arrays by name: a store, a file, an index of shards, or a folder with one of these in it; of this machine, or
/// of a server. `known` is the type of arrays that do not know theirs.
///
/// Of a file that a server has the header is read, and what is wanted of its arrays is fetched into a file without a name in the
/// folder `scratch`.
///
/// # Errors
/// What is none of these, headers that say what cannot be, and what a server answers.
pub fn open(path: &Path, known: Option<Element>, scratch: &Path) -> Result<Container> {
    if !is_address(path) {
        return match Container::format_of(path) {
            Some(Format::Zarr) => zarr::open(path),
            _ => Container::open_as(path, known),
        };
    }
    match at(path)? {
        At::Store => zarr::open(path),
        At::Files(files) => match &files[..] {
            [file] => open_file(file, known, scratch),
            files => Err(container::several(&path.display().to_string(), files.len(), &files[0])),
        },
    }
}

/// Opens a file of a server.
pub(crate) fn open_file(path: &Path, known: Option<Element>, scratch: &Path) -> Result<Container> {
    let folder = Address::of(path)?.map(|address| Folder::of(&address)).transpose()?.flatten();
    match folder {
        Some(folder) => Container::open_far(path, known, &Files::far(&|path| folder.file(path), scratch)),
        None => Err(nothing(path)),
    }
}

/// The folder for what is needed for a while: that of a new file, which has to have room, or that of the system.
pub fn scratch_of(out: &Path) -> PathBuf {
    if is_address(out) { std::env::temp_dir() } else { folder_of(out) }
}

/// Whether a store is at a path or an address.
pub(crate) fn is_store(path: &Path) -> Result<bool> {
    match is_address(path) {
        true => Ok(matches!(at(path)?, At::Store)),
        false => Ok(container::is_store(path)),
    }
}

/// What is at an address.
///
/// # Errors
/// A server that does not answer, and an address under which nothing is that is read.
pub(crate) fn at(path: &Path) -> Result<At> {
    let Some(address) = Address::of(path)? else { return Err(nothing(path)) };
    let is_file = || -> Result<bool> {
        match Folder::of(&address)? {
            Some(folder) => Ok(folder.file(path)?.is_some()),
            None => Ok(false),
        }
    };
    // Each question is a request, so what the name promises is asked for first.
    let is_named = ENDS.iter().any(|end| address.name().is_some_and(|name| name.ends_with(end)));
    if is_named && is_file()? {
        return Ok(At::Files(vec![path.to_owned()]));
    }
    if zarr::is_store(path)? {
        return Ok(At::Store);
    }
    if !is_named && is_file()? {
        return Ok(At::Files(vec![path.to_owned()]));
    }
    let names = Folder::new(address.clone())?.names()?;
    let is_step = |name: &&str| name.ends_with(STEP) && name.matches('/').count() == 1;
    let steps: Vec<PathBuf> = (names.iter().map(String::as_str).filter(is_step))
        .map(|name| PathBuf::from(format!("{address}/{}", &name[..name.len() - STEP.len()])))
        .collect();
    if let Some(error) = container::steps(&address.to_string(), steps.iter()) {
        return Err(error);
    }
    for end in ENDS {
        let found: Vec<PathBuf> = names
            .iter()
            .filter(|name| name.ends_with(end) && !name.starts_with('.') && !name.contains('/'))
            .map(|name| PathBuf::from(format!("{address}/{name}")))
            .collect();
        if !found.is_empty() {
            return Ok(At::Files(found));
        }
    }
    // They are in order, so names that begin with the same folder are neighbours.
    let mut inner: Vec<&str> = names.iter().filter_map(|name| name.split('/').next()).collect();
    inner.dedup();
    Err(match inner.first() {
        None => nothing(path),
        Some(first) => {
            let more = if inner.len() > SHOWN { ", …" } else { "" };
            let found = format!(
                "{address} is no file, store or checkpoint: it has {}",
                inner[..inner.len().min(SHOWN)].join(", ")
            );
            Error::new(found + more)
                .rule("a folder is read where it has arrays itself, and not those of folders in it")
                .accepts(format!("one of these, such as {address}/{first}"))
        }
    })
}

fn nothing(path: &Path) -> Error {
    Error::new(format!("{} is no Zarr store, and no file of arrays", path.display()))
        .rule("a store is found by its zarr.json, .zarray or .zgroup, a checkpoint of JAX by its _METADATA, and a file by its whole address")
        .accepts("such as s3://BUCKET/model.safetensors, an index of shards, .npz, .npy, .gguf, or a folder of a bucket that has one of these")
}
