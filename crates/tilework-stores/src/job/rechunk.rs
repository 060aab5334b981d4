//! An array in other chunks: what is read, what is to be written, and the plan from one to the other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tilework::{Error, Result};
use tilework_files::container::Pattern;

use crate::checkpoint::Checkpoint;
use crate::far::is_address;
use crate::open::is_store;
use crate::plan::{Assumed, Between, End, Plan, Wanted};
use crate::stage::{self, apart};
use crate::stamp::Stamp;
use crate::store::Read;
use crate::zarr::{self, Compression, Spec};

/// An array in other chunks, as a new Zarr store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rechunk {
    /// The array, or what has it: a Zarr store, an npy file, a checkpoint, or another container.
    pub from: PathBuf,
    /// Which array it is, by a pattern of its name, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// The new store.
    pub to: PathBuf,
    /// The sizes of its chunks; [`Rechunk::WHOLE`] until it is planned.
    pub chunks: Vec<u64>,
    /// The sizes of its shards, if it has some.
    pub shards: Option<Vec<u64>>,
    /// The dimensions in a chunk from major to minor; as they are without.
    pub order: Option<Vec<usize>>,
    /// What compresses a chunk: none, zstd:3, gzip:6; as it is without.
    pub compression: Option<String>,
    /// How it is done, once that is planned.
    pub plan: Option<Plan>,
}

/// Where an array is read.
pub(super) enum Source {
    Zarr(Box<zarr::Array>),
    /// The number of a tensor of a checkpoint.
    Other(Box<Checkpoint>, usize),
}

impl Source {
    pub(super) fn open(job: &Rechunk) -> Result<Source> {
        let (path, only) = (&job.from, job.only.as_deref());
        if is_store(path)? {
            return Ok(Source::Zarr(Box::new(zarr::open_one(path, only)?)));
        }
        let found = Checkpoint::open_for(path, &job.to)?;
        let arrays =
            found.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor.shards.element_bytes()));
        let number = one(arrays, only, found.name())?;
        Ok(Source::Other(Box::new(found), number))
    }

    /// The files as they are now.
    pub(super) fn stamp(&self) -> Result<Stamp> {
        match self {
            // What cannot be listed is not compared.
            Source::Zarr(array) => Ok(array.stamp()?.unwrap_or_default()),
            Source::Other(found, _) => found.stamp(),
        }
    }

    /// Calls `with` with the array.
    pub(super) fn with<T>(&self, with: impl FnOnce(&dyn Read) -> Result<T>) -> Result<T> {
        match self {
            Source::Zarr(array) => with(&**array),
            Source::Other(found, number) => with(&found.parts(&found.tensors()[*number])),
        }
    }
}

impl Rechunk {
    /// The size of a chunk or a shard that is all of a dimension, however large that is.
    pub const WHOLE: u64 = u64::MAX;

    /// The same, with the sizes of the array for whole dimensions.
    fn sized(&self, dims: &[u64]) -> Rechunk {
        let sized = |sizes: &Vec<u64>| -> Vec<u64> {
            let whole = dims.iter().map(|&size| size.max(1)).chain(std::iter::repeat(Rechunk::WHOLE));
            sizes
                .iter()
                .zip(whole)
                .map(|(&size, all)| if size == Rechunk::WHOLE { all } else { size })
                .collect()
        };
        Rechunk { chunks: sized(&self.chunks), shards: self.shards.as_ref().map(sized), ..self.clone() }
    }

    /// The new array.
    pub(super) fn spec(&self, source: &Source) -> Result<Spec> {
        let compression = self.compression.as_deref().map(Compression::read).transpose()?;
        match source {
            Source::Zarr(array) => {
                let compression = compression.unwrap_or_else(|| array.compression());
                array.rechunked(&self.chunks, self.shards.as_deref(), self.order.as_deref(), compression)
            }
            Source::Other(..) => source.with(|array| {
                let (element, sizes) = (array.shards().element(), array.shards().grid().sizes());
                let chunks = tilework::zarr::Array::new(
                    element,
                    &sizes,
                    &self.chunks,
                    self.shards.as_deref(),
                    self.order.as_deref().filter(|order| !order.is_sorted()),
                )?;
                Ok(Spec {
                    compression: compression.unwrap_or_default(),
                    ..Spec::new(chunks, element, &sizes)
                })
            }),
        }
    }

    /// Where the array between is, if there is one.
    pub(super) fn between(&self) -> PathBuf {
        stage::beside(&self.to, |name| format!(".{name}.tilework-between"))
    }

    /// Whether it reads or writes objects of a server.
    ///
    /// ```
    /// use tilework_stores::job::Rechunk;
    /// let far = |from: &str, to: &str| {
    ///     let text = format!(r#"{{"from": "{from}", "to": "{to}", "chunks": [1]}}"#);
    ///     serde_json::from_str(&text).map(|job: Rechunk| job.is_far())
    /// };
    /// assert!(far("s3://bucket/a", "b")? && far("a", "s3://bucket/b")? && !far("a", "b")?);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn is_far(&self) -> bool {
        is_address(&self.from) || is_address(&self.to)
    }

    /// Plans the job: with tasks that hold up to `memory` bytes.
    ///
    /// # Errors
    /// What is no array, chunks that are none of it, a target that exists, and memory in which no task fits.
    pub fn planned(&self, memory: u64, assumed: Assumed) -> Result<Rechunk> {
        apart(&self.from, &self.to)?;
        let source = Source::open(self)?;
        let job = self.sized(&source.with(|array| Ok(array.shards().grid().sizes()))?);
        let spec = job.spec(&source)?;
        let (shards, cost) = zarr::written(&spec, &self.to)?;
        let to = End::new(&shards, cost)?;
        let mut from = source.with(|array| End::new(array.shards(), array.cost()?))?;
        if !is_address(&self.from) && from.cost.coding > 0 {
            from.cost.bytes = source.stamp()?.share(from.cost.bytes, from.elements_bytes());
        }
        let wanted = Wanted { memory, assumed, between: Some(Between { mapped: !is_address(&self.to) }) };
        Ok(Rechunk { plan: Some(Plan::new(&from, &to, &wanted)?), ..job })
    }
}

/// The number of the one array that is wanted of several: the only one of this name, or of this pattern. Each has the number of its
/// elements, by which one is named as an example.
///
/// # Errors
/// None, and more than one.
pub(crate) fn one<'a>(
    arrays: impl Iterator<Item = (&'a str, u128)>,
    only: Option<&str>,
    place: &str,
) -> Result<usize> {
    const SHOWN: usize = 5;
    let (names, sizes): (Vec<&str>, Vec<u128>) = arrays.unzip();
    let listed = |all: &[&str]| {
        let more = all.len().saturating_sub(SHOWN);
        let more =
            if more > 0 { format!(" and {more} more, which tilework ls lists") } else { String::new() };
        format!("{}{more}", all[..all.len().min(SHOWN)].join(", "))
    };
    let is_wanted = |name: &str| only.is_none_or(|only| Pattern::new(only).matches(name));
    // A name is one before it is a pattern.
    if let Some(number) = names.iter().position(|name| Some(*name) == only) {
        return Ok(number);
    }
    let found: Vec<usize> = (0..names.len()).filter(|&number| is_wanted(names[number])).collect();
    match (&found[..], only) {
        (&[number], _) => Ok(number),
        ([], Some(only)) => Err(Error::new(format!("no array of {place} is called {only:?}"))
            .field("--only")
            .accepts(format!("one of {}", listed(&names)))),
        ([], None) => Err(Error::new(format!("{place} has no array"))),
        (several, _) => {
            // What people want to cut is large, and not one of its coordinates.
            let largest =
                several.iter().rev().max_by_key(|&&number| sizes[number]).map_or("", |&at| names[at]);
            let several: Vec<&str> = several.iter().map(|&number| names[number]).collect();
            Err(Error::new(format!("{place} has {} arrays: {}", several.len(), listed(&several)))
                .rule("one array is cut into other chunks at a time")
                .accepts(format!(
                    "--only {largest}; or all of them: tilework convert SRC DST --to 'chunks (…)'"
                )))
        }
    }
}
