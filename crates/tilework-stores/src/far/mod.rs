//! Stores that are reached over a network.
//!
//! A [`Server`] answers single requests, each tried once. [`Objects`] are what a store makes of it, whichever server it is: a request
//! that fails and may not the next time is repeated, ranges that are near each other are one request, and nothing that a server
//! says of lengths is believed: an answer has the bytes that were asked for, or is an error. `server` and
//! `bounded.rs` are the only files that know HTTP, and are compiled with the feature `objects` alone.

mod address;
#[cfg(feature = "objects")]
mod bounded;
mod file;
mod folder;
#[cfg(feature = "objects")]
mod profile;
mod send;
#[cfg(feature = "objects")]
mod server;
mod stage;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tilework::{Error, Result};

use crate::stamp::Stamp;
use crate::store::Held;
use crate::zarr::place::{First, Object, Place};

pub use address::is_address;
pub(crate) use address::{Address, Scheme};
pub(crate) use file::Folder;
pub use folder::new_folder;
pub use send::Object as NewObject;
pub(crate) use stage::{Unfinished, remove_all};

/// How often a request is tried.
const TRIES: u32 = 4;

/// How many requests wait for a server at a time.
pub(crate) const AT_A_TIME: usize = 16;

/// How long it waits before it tries a request again the first time.
const WAIT: Duration = Duration::from_millis(200);

/// What is not read between two ranges in one request: less than a request waits for.
const NEAR: u64 = 256 << 10;

/// Metadata are held in memory.
const METADATA: u64 = crate::zarr::LONGEST;

/// What holds objects under keys. Every request is tried once.
pub(crate) trait Server: Debug + Send + Sync {
    /// The address of the store, for messages.
    fn name(&self) -> String;

    /// A part of an object; none where there is no object. No more than `most` bytes are read.
    fn get(&self, key: &str, part: &Part, most: u64) -> Answer<Option<Got>>;

    /// How many bytes an object has, and which version it is; none where there is none.
    fn head(&self, key: &str) -> Answer<Option<(u64, Option<String>)>>;

    /// The names of what keys have before their next slash, of those that begin with `key` and a slash; none where nobody can list.
    fn folders(&self, key: &str) -> Answer<Option<Vec<String>>>;

    /// The first `most` keys of the store.
    fn list(&self, most: usize) -> Answer<Vec<String>>;

    /// Puts an object, which is there whole or not at all.
    fn put(&self, key: &str, body: &Arc<dyn Body>) -> Answer<()>;

    /// Removes an object; one that is not there is removed.
    fn remove(&self, key: &str) -> Answer<()>;
}

/// What an object is to be.
#[cfg_attr(not(feature = "objects"), allow(dead_code, reason = "nothing else sends"))]
pub(crate) trait Body: Send + Sync {
    /// All its bytes.
    fn all(&self) -> &[u8];

    /// Called with how many of them the server has.
    fn sent(&self, _: u64) {}
}

impl Body for Vec<u8> {
    fn all(&self) -> &[u8] {
        self
    }
}

/// What is asked for of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All.
    Whole,
    /// These bytes, of this version of it.
    Bytes(Range<u64>, Option<String>),
    /// This number of bytes at its start, or all.
    Start(u64),
    /// This number of bytes at its end, or all.
    End(u64),
}

/// What a server sent.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) bytes: Vec<u8>,
    /// Which bytes of the object they are said to be.
    pub(crate) start: u64,
    /// How many bytes the object is said to have.
    pub(crate) len: u64,
    /// Which version it is, if the server has a word for it.
    pub(crate) version: Option<String>,
}

/// What a server answers to one request.
pub(crate) type Answer<T> = std::result::Result<T, Failure>;

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// Whether it may go well when it is tried again.
    pub(crate) again: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, again: false }
    }
}

/// Opens what an address names.
///
/// # Errors
/// A build without a network, no credentials, and settings that are none.
pub(crate) fn open(address: &Address) -> Result<Objects> {
    #[cfg(test)]
    if let Some(server) = tests::server(address) {
        return Ok(Objects { server, wait: Duration::ZERO });
    }
    Ok(Objects { server: server(address)?, wait: WAIT })
}

#[cfg(feature = "objects")]
fn server(address: &Address) -> Result<Arc<dyn Server>> {
    Ok(Arc::new(server::Remote::new(address)?))
}

#[cfg(not(feature = "objects"))]
fn server(address: &Address) -> Result<Arc<dyn Server>> {
    Err(Error::new(format!("{address} is on a server, and servers are not in this build"))
        .rule("it was compiled without the feature `objects`, which takes minutes")
        .accepts(
            "`cargo run --release --features full,objects`, a program from `cargo xtask dist`, or the package for Python",
        ))
}

/// The objects of a store.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    server: Arc<dyn Server>,
    /// How long it waits before a request is tried again; twice as long each time.
    wait: Duration,
}

/// Bytes that several parts share.
struct Slice(Arc<Vec<u8>>, Range<usize>);

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        &self.0[self.1.clone()]
    }
}

impl Objects {
    /// The error, with the name of what it is about before it.
    fn about(&self, key: &str, found: impl std::fmt::Display) -> Error {
        Error::new(format!("{}/{key}: {found}", self.server.name()))
    }

    /// Tries a request until it goes well, or will not.
    fn tried<T>(&self, request: impl Fn() -> Answer<T>) -> Result<T> {
        let mut wait = self.wait;
        for _ in 1..TRIES {
            match request() {
                Ok(found) => return Ok(found),
                Err(Failure { error, again: false }) => return Err(error),
                Err(_) => thread::sleep(wait),
            }
            wait *= 2;
        }
        request().map_err(|failure| failure.error)
    }

    /// A part of an object, as many bytes as were asked for.
    fn get(&self, key: &str, part: &Part, most: u64) -> Result<Option<Got>> {
        self.tried(|| {
            let Some(got) = self.server.get(key, part, most)? else { return Ok(None) };
            let wanted = match part {
                Part::Whole => 0..got.len,
                Part::Bytes(range, _) => range.clone(),
                Part::Start(bytes) => 0..got.len.min(*bytes),
                Part::End(bytes) => got.len - got.len.min(*bytes)..got.len,
            };
            // Bytes that another request asked for are as wrong as too few.
            if got.start != wanted.start || got.bytes.len() as u64 != wanted.end - wanted.start {
                let error = self
                    .about(
                        key,
                        format!("the server sent {} bytes from byte {} on", got.bytes.len(), got.start),
                    )
                    .rule(format!("the bytes {} to {} were asked for", wanted.start, wanted.end))
                    .accepts("a server that sends what it is asked for");
                return Err(Failure { error, again: true });
            }
            Ok(Some(got))
        })
    }

    /// The keys of all objects, or of the first `most`.
    pub(crate) fn list(&self, most: usize) -> Result<Vec<String>> {
        self.tried(|| self.server.list(most))
    }

    /// Puts an object, which is there whole or not at all.
    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        self.send(key, &(Arc::new(bytes) as Arc<dyn Body>))
    }

    /// The same of bytes that are elsewhere.
    fn send(&self, key: &str, body: &Arc<dyn Body>) -> Result<()> {
        self.tried(|| self.server.put(key, body))
    }

    /// Removes an object.
    pub(crate) fn remove(&self, key: &str) -> Result<()> {
        self.tried(|| self.server.remove(key))
    }
}

impl Place for Objects {
    fn name(&self) -> String {
        self.server.name()
    }

    fn open(&self, key: &str) -> Result<Option<Object>> {
        let found = self.tried(|| self.server.head(key))?;
        Ok(found.map(|(len, version)| {
            Object::Far(Far { objects: self.clone(), key: key.to_owned(), len, version, first: None })
        }))
    }

    fn open_at(&self, key: &str, first: First) -> Result<Option<Object>> {
        let (part, most) = match first {
            First::Whole { most } => (Part::Whole, most),
            First::Start(bytes) => (Part::Start(bytes), bytes),
            First::End(bytes) => (Part::End(bytes), bytes),
        };
        let found = self.get(key, &part, most)?;
        Ok(found.map(|Got { bytes, start, len, version }| {
            let first = Some((start, Arc::new(bytes)));
            Object::Far(Far { objects: self.clone(), key: key.to_owned(), len, version, first })
        }))
    }

    fn is_far(&self) -> bool {
        true
    }

    fn folders(&self, key: &str) -> Result<Option<Vec<String>>> {
        self.tried(|| self.server.folders(key))
    }

    /// Of the metadata alone: listing every chunk would be a request for a thousand of them, in every process.
    fn stamp(&self, key: &str) -> Result<Option<Stamp>> {
        let mut stamp = Stamp::default();
        for name in ["zarr.json", ".zarray", "manifest.ocdbt", "_METADATA"] {
            let key = if key.is_empty() { name.to_owned() } else { format!("{key}/{name}") };
            if let Some((len, version)) = self.tried(|| self.server.head(&key))? {
                stamp.add(name, len, &version.unwrap_or_default());
                break;
            }
        }
        Ok(Some(stamp))
    }

    fn text(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.get(key, &Part::Whole, METADATA)?.map(|got| got.bytes))
    }
}

/// An object of a server, read in parts.
#[derive(Clone, Debug)]
pub(crate) struct Far {
    objects: Objects,
    key: String,
    len: u64,
    version: Option<String>,
    /// What was read when it was opened, and where it begins.
    first: Option<(u64, Arc<Vec<u8>>)>,
}

impl Far {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The same, without the bytes that were read first.
    pub(crate) fn without_first(self) -> Far {
        Far { first: None, ..self }
    }

    /// A part of it, which is within.
    pub(crate) fn part(&self, range: Range<u64>) -> Result<Held<'static>> {
        let mut parts = self.parts(&[range])?;
        Ok(parts.pop().unwrap_or_else(|| Held::owned(Vec::new()))) // one for each range
    }

    /// Several parts of it, which are within: those that are near each other in one request.
    pub(crate) fn parts(&self, ranges: &[Range<u64>]) -> Result<Vec<Held<'static>>> {
        // A part of bytes that begin at `start`: it is within them, so it is within memory.
        let slice = |start: u64, bytes: &Arc<Vec<u8>>, range: &Range<u64>| {
            let within = (range.start - start) as usize..(range.end - start) as usize;
            Held::kept(Slice(Arc::clone(bytes), within))
        };
        if let Some((start, bytes)) = &self.first
            && ranges.iter().all(|range| range.start >= *start && range.end <= start + bytes.len() as u64)
        {
            return Ok(ranges.iter().map(|range| slice(*start, bytes, range)).collect());
        }
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_by_key(|&at| ranges[at].start);
        let mut spans: Vec<(Range<u64>, Vec<usize>)> = Vec::new();
        for at in order {
            let range = &ranges[at];
            match spans.last_mut() {
                Some((span, of)) if range.start <= span.end.saturating_add(NEAR) => {
                    span.end = span.end.max(range.end);
                    of.push(at);
                }
                _ => spans.push((range.clone(), vec![at])),
            }
        }
        let mut held: Vec<Option<Held<'static>>> = ranges.iter().map(|_| None).collect();
        for (span, of) in spans {
            let bytes = Arc::new(self.span(&span)?);
            for at in of {
                held[at] = Some(slice(span.start, &bytes, &ranges[at]));
            }
        }
        Ok(held.into_iter().map(|one| one.unwrap_or_else(|| Held::owned(Vec::new()))).collect()) // each is in a span
    }

    /// The bytes of a span.
    fn span(&self, span: &Range<u64>) -> Result<Vec<u8>> {
        if span.is_empty() {
            return Ok(Vec::new());
        }
        let part = Part::Bytes(span.clone(), self.version.clone());
        let found = self.objects.get(&self.key, &part, span.end - span.start)?;
        found.map(|got| got.bytes).ok_or_else(|| {
            self.objects
                .about(&self.key, "the object is gone")
                .rule("nobody changes a store while it is read")
                .accepts("the store as it was when it was opened")
        })
    }
}
