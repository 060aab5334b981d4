//! Files that hold arrays by name: safetensors (one file, or shards with an index), npz, GGUF, and npy as one array.
//!
//! A header is believed as far as it can be true: every array lies within its file, no two share a byte, and no name is
//! said twice. What a file says of a layout that its format has no word for stands in its metadata (`note.rs`).

mod array;
mod body;
mod compare;
mod data;
mod elsewhere;
mod folder;
mod folder_out;
mod frame;
mod gguf;
mod held;
pub(crate) mod json;
mod note;
mod npz;
mod pattern;
mod repack;
mod safetensors;
mod sharded;
mod write;
mod zip;
mod zip_out;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tilework::{Element, Error, Result};

pub use array::{Blocks, Content, Placed};
pub use body::{Body, body};
pub use compare::{Compared, Different, Place, Tolerance, compare};
pub use data::Data;
pub use elsewhere::{Begin, Elsewhere};
pub use held::{Far, Fetch, Files};
pub use note::as_noted;
pub use pattern::{Pattern, Rename};
pub use repack::Mix;
pub use safetensors::{Head, safetensors_head};
pub use sharded::{several, steps};
pub use write::{
    Change, How, Job, Moved, Target, WriteError, Written, write, write_elsewhere, write_unnamed,
};

use held::Held;

use crate::destination::unfinished;
use crate::source::within;

/// What a container is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One array as NumPy saves it, or a folder of them.
    Npy,
    /// A zip file of npy files.
    Npz,
    /// A header in JSON and the tensors behind it; or several such files with an index.
    Safetensors,
    /// The format of ggml and llama.cpp.
    Gguf,
    /// A folder of arrays in chunks, which the crate `tilework-stores` reads and writes.
    Zarr,
}

impl Format {
    /// Its name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Gguf => "GGUF",
            Format::Zarr => "Zarr",
        }
    }
}

/// The bytes of an array that are not in one place of a file: chunks, each of which may be compressed.
///
/// They are moved piece by piece, so no more than a few are in memory, and whatever is mapped is moved straight to where it belongs.
pub trait Pieces: std::fmt::Debug + Send + Sync {
    /// How many pieces there are.
    fn count(&self) -> u64;

    /// How many of them may be moved at a time within `memory` bytes, at least one.
    fn within(&self, memory: u64) -> u64;

    /// What the pieces are brought together as, where that is not the array itself: a note says how an array lies, and what is in
    /// pieces is the list of its places, or of its bytes.
    fn list(&self) -> Option<Result<(tilework::Layout, Element)>> {
        None
    }

    /// How devices held the array when it was saved, where the store says it.
    fn saved(&self) -> Option<&tilework::sharding::Named> {
        None
    }

    /// Moves the elements of some pieces to their places in `to`, a layout of the array's sizes in all of `bytes`, as elements of
    /// this type.
    ///
    /// # Errors
    /// What cannot be read, or is not as the store says.
    fn put(
        &self,
        pieces: std::ops::Range<u64>,
        to: (&tilework::Layout, Element),
        bytes: &mut [u8],
        pool: &dyn tilework_copy::Pool,
    ) -> Result<()>;
}

/// An array in pieces: its name, what it is, and its pieces; none for what is not read.
pub type Gathered = (String, Content, Option<Box<dyn Pieces>>);

/// An array in a container.
#[derive(Debug)]
pub struct Tensor {
    /// What it is called; no other has the same name.
    pub name: String,
    /// What it is.
    pub content: Content,
    pub(crate) stored: Stored,
}

/// Where the bytes of an array are.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The number of the file.
    pub(crate) file: usize,
    /// Bytes before it in the file.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    /// Where it is deflated.
    pub(crate) packed: Option<Packed>,
    /// The checksum of the unpacked bytes, and of as many before them.
    pub(crate) crc: Option<(u32, u64)>,
    /// Set when the checksum was right once.
    pub(crate) checked: OnceLock<()>,
    /// The bytes of numbers that are stored with the most significant byte first; 0 for others.
    pub(crate) reversed: usize,
}

impl Stored {
    /// The bytes of a file as they are.
    pub(crate) fn plain(file: usize, at: u64, bytes: u64) -> Stored {
        Stored { file, at, bytes, packed: None, crc: None, checked: OnceLock::new(), reversed: 0 }
    }
}

/// Deflated bytes.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    /// How many there are in the file, from where the array is stored.
    pub(crate) len: u64,
    /// Unpacked bytes before the array.
    pub(crate) skip: u64,
}

impl Tensor {
    /// The bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.stored.bytes
    }
}

/// A file, or several, that hold arrays by name.
pub struct Container {
    name: String,
    format: Format,
    files: Vec<Held>,
    tensors: Vec<Tensor>,
    metadata: Vec<(String, String)>,
    /// The same as bytes of the first file, for a copy in the same format.
    raw: Vec<std::ops::Range<usize>>,
    /// The keys of those that are lists, and text here only to be shown.
    lists: Vec<String>,
    /// Of arrays in pieces, those of each.
    pieces: Vec<Option<Box<dyn Pieces>>>,
    /// What the whole is called, where that is more than its format.
    kind: Option<&'static str>,
}

/// What a reader of a format finds in one file.
#[derive(Default)]
pub(crate) struct Inside {
    pub(crate) tensors: Vec<Tensor>,
    /// What else the file says, without our notes.
    pub(crate) metadata: Vec<(String, String)>,
    /// The same as the bytes of the file, where its values are more than texts.
    pub(crate) raw: Vec<std::ops::Range<usize>>,
    /// The keys of lists.
    pub(crate) lists: Vec<String>,
}

impl Container {
    /// Opens a file, an index of shards, or a folder that holds one of these.
    ///
    /// # Errors
    /// What is no container, a header that says what cannot be, and shards that are missing.
    pub fn open(path: &Path) -> Result<Container> {
        Container::open_as(path, None)
    }

    /// The same, where `known` is the type of arrays whose file says no more than how wide their elements are, as npy files
    /// do of bf16.
    ///
    /// # Errors
    /// As of [`Container::open`].
    pub fn open_as(path: &Path, known: Option<Element>) -> Result<Container> {
        let name = path.display().to_string();
        if let Some(begun) = unfinished(path).filter(|begun| begun.is_dir() && !path.exists()) {
            return Err(Error::new(format!("{name} is not there yet"))
                .rule(format!(
                    "a run that makes it goes on, or was stopped: {} has what is done",
                    begun.display()
                ))
                .accepts("its end, or the same command again, which goes on there"));
        }
        if is_store(path) {
            return Err(within(&name, &zarr()));
        }
        if path.is_dir() {
            return match &folder::files(path)?[..] {
                [] => Container::open_as(&sharded::in_folder(path)?, known),
                arrays => folder::open(path, arrays, known),
            };
        }
        Container::open_file(path, known, &Files::here())
    }

    /// Opens a file, or an index of shards, of a server. Its header is fetched, and of its arrays what is wanted later.
    ///
    /// # Errors
    /// As of [`Container::open`], and what the server answers.
    pub fn open_far(path: &Path, known: Option<Element>, files: &Files) -> Result<Container> {
        Container::open_file(path, known, files)
    }

    fn open_file(path: &Path, known: Option<Element>, files: &Files) -> Result<Container> {
        let name = path.display().to_string();
        if name.ends_with(sharded::ENDING) {
            return sharded::open(path, files);
        }
        let held = files.open(path)?;
        let start = held.start()?;
        let format = format_of(start, path).ok_or_else(|| {
            if let [0x80, 2..=5, ..] = start {
                return pickle(format!("{name} is a pickle"));
            }
            Error::new(format!("{name} is no file of named arrays"))
                .rule("a file is recognised by its first bytes, or by its name")
                .accepts("safetensors, an index of its shards, npz, GGUF, or npy")
        })?;
        held.need_header(format)?;
        let Inside { tensors, metadata, raw, lists } = held.read(|bytes| match format {
            Format::Safetensors => safetensors::read(bytes, 0),
            Format::Npz => npz::read(bytes, 0, known),
            Format::Npy => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
                npz::read_npy(bytes, 0, &stem, None, known)
            }
            Format::Gguf => gguf::read(bytes, 0),
            Format::Zarr => Err(zarr()),
        })?;
        Ok(Container {
            name,
            format,
            files: vec![held],
            tensors,
            metadata,
            raw,
            lists,
            pieces: Vec::new(),
            kind: None,
        })
    }

    /// Arrays in pieces, with what else the store says.
    pub fn gathered(name: String, arrays: Vec<Gathered>, metadata: Vec<(String, String)>) -> Container {
        let (mut tensors, mut pieces) = (Vec::with_capacity(arrays.len()), Vec::with_capacity(arrays.len()));
        for (file, (name, content, of_array)) in arrays.into_iter().enumerate() {
            let bytes = match &content {
                Content::Array(array) => array.layout.bytes(),
                Content::Blocks(blocks) => blocks.bytes(),
                Content::Unread { .. } => 0,
            };
            tensors.push(Tensor { name, content, stored: Stored::plain(file, 0, bytes) });
            pieces.push(of_array);
        }
        let (files, raw, lists) = (Vec::new(), Vec::new(), Vec::new());
        Container { name, format: Format::Zarr, files, tensors, metadata, raw, lists, pieces, kind: None }
    }

    /// What a file is by its first bytes or its name, or a folder by what is in it; none if it is no container.
    pub fn format_of(path: &Path) -> Option<Format> {
        if is_store(path) {
            return Some(Format::Zarr);
        }
        if path.is_dir() || path.to_string_lossy().ends_with(sharded::ENDING) {
            return Some(Format::Safetensors);
        }
        let mut bytes = Vec::new();
        let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
        let read = || File::open(path)?.take(16).read_to_end(&mut bytes);
        if !is_file || { read }().is_err() {
            return None;
        }
        format_of(&bytes, path)
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is written in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The same, called `kind`: what the arrays of the store are, such as a checkpoint of a library.
    #[must_use]
    pub fn of_kind(mut self, kind: &'static str) -> Container {
        self.kind = Some(kind);
        self
    }

    /// What it is, in a word: its format, or what is stored in that.
    pub fn kind(&self) -> &'static str {
        self.kind.unwrap_or(self.format.name())
    }

    /// How devices held an array when it was saved, where that is said.
    pub fn saved(&self, tensor: &Tensor) -> Option<&tilework::sharding::Named> {
        self.pieces(tensor)?.saved()
    }

    /// How many files it is.
    pub fn files(&self) -> usize {
        self.files.len().max(1)
    }

    /// The names of its files, none of a store in chunks; of one that a server has with its length and version.
    pub fn file_names(&self) -> impl Iterator<Item = (&str, Option<(u64, &str)>)> {
        self.files.iter().map(|held| (held.name.as_str(), held.version()))
    }

    /// The arrays, in the order of their names in the file.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The pieces of an array, where it is in pieces.
    fn pieces(&self, tensor: &Tensor) -> Option<&dyn Pieces> {
        self.pieces.get(tensor.stored.file)?.as_deref()
    }

    /// What else the file says, as names and texts, without notes on layouts.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }
}

impl Container {
    /// Gives back the memory that holds what was read of all files.
    fn forget(&self) {
        self.files.iter().for_each(Held::forget);
    }

    /// The metadata that is text, without what only stands for lists.
    pub fn texts(&self) -> Vec<(&str, &str)> {
        let is_text = |key: &str| !self.lists.iter().any(|list| list == key) && key != gguf::ALIGNMENT;
        self.metadata.iter().filter(|(key, _)| is_text(key)).map(|(key, value)| (&**key, &**value)).collect()
    }

    /// The metadata as the bytes of its pairs, of GGUF.
    fn raw(&self) -> impl Iterator<Item = Vec<u8>> {
        self.raw.iter().map(|range| self.files[0].bytes()[range.clone()].to_vec())
    }

    /// The keys of what else the file says and `format` has no place for.
    pub fn left_out(&self, format: Format) -> Vec<&str> {
        let kept: Vec<&str> = match format {
            Format::Gguf if self.format == Format::Gguf => return Vec::new(),
            Format::Safetensors | Format::Gguf | Format::Zarr => {
                self.texts().into_iter().map(|(key, _)| key).collect()
            }
            Format::Npy | Format::Npz => Vec::new(),
        };
        let keys = self.metadata.iter().map(|(key, _)| key.as_str());
        keys.filter(|key| !kept.contains(key) && *key != gguf::ALIGNMENT).collect()
    }
}

/// Why a pickle is not opened.
fn pickle(found: String) -> Error {
    Error::new(found)
        .rule("a pickle runs code when it is loaded, and is never loaded")
        .accepts("the same tensors as safetensors, which safetensors.torch.save_file writes")
}

/// Whether a folder is a store of arrays in chunks: the metadata of Zarr are in it, or those of a checkpoint of JAX (Orbax) or of a
/// database (OCDBT), which have Zarr arrays in them.
pub fn is_store(path: &Path) -> bool {
    const NAMES: [&str; 7] = [
        "zarr.json",
        ".zarray",
        ".zgroup",
        ".zmetadata",
        "manifest.ocdbt",
        "_METADATA",
        "_CHECKPOINT_METADATA",
    ];
    NAMES.iter().any(|name| path.join(name).is_file())
}

/// Why a store is not opened here.
pub(crate) fn zarr() -> Error {
    Error::new("a Zarr store").rule("stores are read and written by the crate tilework-stores")
}

/// The format of a file by its first bytes, or else by its name.
fn format_of(bytes: &[u8], path: &Path) -> Option<Format> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let named = |name: &str| ending.eq_ignore_ascii_case(name);
    match bytes {
        [b'G', b'G', b'U', b'F', ..] => Some(Format::Gguf),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Format::Npz),
        bytes if crate::npy::is_npy(bytes) => Some(Format::Npy),
        [_, _, _, _, _, 0, 0, 0, b'{', ..] => Some(Format::Safetensors),
        _ if named("safetensors") => Some(Format::Safetensors),
        _ if named("npz") => Some(Format::Npz),
        _ if named("npy") => Some(Format::Npy),
        _ if named("gguf") => Some(Format::Gguf),
        _ => None,
    }
}

/// Where the files of a container stand.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// Checks that arrays lie side by side or apart, and not one in the other.
///
/// # Errors
/// Two that share bytes.
pub(crate) fn apart(tensors: &[Tensor]) -> Result<()> {
    let mut sorted: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.stored.bytes > 0).collect();
    sorted.sort_by_key(|tensor| tensor.stored.at);
    for pair in sorted.windows(2) {
        let (a, b) = (&pair[0].stored, &pair[1].stored);
        if a.at + a.bytes > b.at {
            let (first, second) = (json::shown(&pair[0].name), json::shown(&pair[1].name));
            return Err(Error::new(format!(
                "tensor {first} ends at byte {} of the file, and {second} begins at byte {}",
                a.at + a.bytes,
                b.at
            ))
            .rule("no two tensors share bytes"));
        }
    }
    Ok(())
}
