//! Writing an array chunk by chunk, as version 3.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tilework::dialect::Axes;
use tilework::zarr::Array as Grid3;
use tilework::{Element, Error, Result, System};
use tilework_copy::MappedMut;
use tilework_files::{fits_on_disk, folder_of};

use super::codec::{self, Codec};
use super::meta::{Index, Keys, Level, Meta};
use super::{fill, shard};
use crate::far::is_address;
use crate::grid::Grid;
use crate::region::Region;
use crate::shards::{Form, Shards};
use crate::stage::Stage;
use crate::store::{Cost, Make, Space, Write, room};

/// Pieces of this size or more are written through a mapping, so that they may be larger than memory.
const MAPPED: u64 = 32 << 20;

/// Bytes that are summed at a time.
const STEP: usize = 1 << 20;

/// What compresses chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Nothing: chunks are mapped when they are read, and moved straight from the file.
    #[default]
    None,
    /// Zstandard, of this level.
    Zstd(i32),
    /// Deflate in gzip's frame, of this level.
    Gzip(u32),
}

impl Compression {
    /// Reads `none`, `zstd`, `zstd:3`, `gzip` or `gzip:6`.
    ///
    /// ```
    /// use tilework_stores::zarr::Compression;
    /// assert_eq!(Compression::read("zstd")?, Compression::Zstd(3));
    /// assert!(Compression::read("gzip:10").is_err());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another word, and a level that it has not.
    pub fn read(text: &str) -> Result<Compression> {
        let (word, level) = text.split_once(':').map_or((text, None), |(word, level)| (word, Some(level)));
        let level = |usual: i32, least: i32, most: i32| match level {
            None => Some(usual),
            Some(level) => level.parse().ok().filter(|level| (least..=most).contains(level)),
        };
        let found = match word {
            "none" if !text.contains(':') => Some(Compression::None),
            "zstd" => level(3, -7, 22).map(Compression::Zstd),
            "gzip" => level(6, 0, 9).map(|level| Compression::Gzip(level.unsigned_abs())),
            _ => None,
        };
        found.ok_or_else(|| {
            Error::new(format!("the compression {text:?}"))
                .accepts("none, zstd, gzip, or with a level: zstd:-7 to zstd:22, gzip:0 to gzip:9")
        })
    }

    fn codecs(self) -> Vec<Codec> {
        match self {
            Compression::None => Vec::new(),
            Compression::Zstd(level) => vec![Codec::Zstd(level, false)],
            Compression::Gzip(level) => vec![Codec::Gzip(level)],
        }
    }
}

/// A new array: what it is, and how it is stored.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Sizes, type, chunks, shards and the order within a chunk.
    pub array: Grid3,
    /// The type of its elements.
    pub element: Element,
    /// Its sizes.
    pub dims: Vec<u64>,
    /// What compresses a chunk.
    pub compression: Compression,
    /// The bits of an element where nothing was written.
    pub fill: u128,
    /// The names of its dimensions.
    pub names: Option<Axes>,
    /// What else is to be said of it.
    pub attributes: Map<String, Value>,
}

impl Spec {
    /// An array that is 0 where nothing was written, with chunks that nothing compresses.
    pub fn new(array: Grid3, element: Element, dims: &[u64]) -> Spec {
        let (compression, attributes) = (Compression::None, Map::new());
        Spec { array, element, dims: dims.to_vec(), compression, fill: 0, names: None, attributes }
    }

    /// An array between two passes: what nothing compresses, in chunks of the pieces of a grid.
    ///
    /// # Errors
    /// Sizes that no array has.
    pub(crate) fn between(element: Element, grid: &Grid) -> Result<Spec> {
        let chunks: Vec<u64> =
            grid.cuts().iter().map(|cut| cut.regular().unwrap_or(cut.largest()).max(1)).collect();
        let sizes = grid.sizes();
        Ok(Spec::new(Grid3::new(element, &sizes, &chunks, None, None)?, element, &sizes))
    }

    pub(super) fn meta(&self) -> Meta {
        let index = Index { at_start: false, has_sum: true, is_reversed: false };
        let parts = |shards: &[u64]| {
            shards.iter().zip(self.array.chunks()).map(|(shard, chunk)| shard / chunk).collect()
        };
        Meta {
            array: self.array.clone(),
            element: self.element,
            dims: self.dims.clone(),
            keys: Keys { has_prefix: true, separator: '/' },
            fill: self.fill,
            reversed: 0,
            codecs: self.compression.codecs(),
            shards: self
                .array
                .shards()
                .map(|shards| Level { parts: parts(shards), index })
                .into_iter()
                .collect(),
            names: self.names.clone(),
            attributes: self.attributes.clone(),
        }
    }
}

impl Meta {
    /// The index of a new shard, where there are shards. None are written within others.
    fn index(&self) -> Option<Index> {
        self.shards.first().map(|level| level.index)
    }

    /// `zarr.json` of an array, as it is stored.
    ///
    /// # Errors
    /// Those of [`Meta::to_json`].
    pub(super) fn to_text(&self) -> Result<String> {
        Ok(format!("{:#}\n", self.to_json()?))
    }

    /// `zarr.json` of an array.
    ///
    /// # Errors
    /// A type that Zarr has no name for.
    pub(super) fn to_json(&self) -> Result<Value> {
        let kind = self.element.name_in(System::Numpy).ok_or_else(|| {
            Error::new(format!("an array of {}", self.element))
                .rule("Zarr's types are NumPy's, and those of ml_dtypes")
        })?;
        let named = |name: &str, settings: Value| json!({"name": name, "configuration": settings});
        let little = match self.element.bytes() {
            1 => json!({"name": "bytes"}),
            _ => named("bytes", json!({"endian": "little"})),
        };
        let transpose = self.array.order().map(|order| named("transpose", json!({"order": order})));
        let codecs = self.codecs.iter().map(|codec| match codec {
            Codec::Gzip(level) => named("gzip", json!({"level": level})),
            Codec::Zstd(level, has_sum) => named("zstd", json!({"level": level, "checksum": has_sum})),
            other => json!({"name": other.name()}),
        });
        let chain: Vec<Value> = transpose.into_iter().chain([little]).chain(codecs).collect();
        let chain = match self.array.shards() {
            None => json!(chain),
            Some(_) => json!([named(
                "sharding_indexed",
                json!({
                    "chunk_shape": self.array.chunks(),
                    "codecs": chain,
                    "index_codecs": [named("bytes", json!({"endian": "little"})), {"name": "crc32c"}],
                    "index_location": "end",
                })
            )]),
        };
        let mut all = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.dims,
            "data_type": kind,
            "chunk_grid": named("regular", json!({"chunk_shape": self.whole()})),
            "chunk_key_encoding": named("default", json!({"separator": "/"})),
            "fill_value": fill::written(self.fill, self.element),
            "codecs": chain,
            "attributes": self.attributes,
        });
        if let Some(names) = &self.names {
            all["dimension_names"] = json!(names.names());
        }
        Ok(all)
    }
}

/// An array that is being written. Its pieces are what stands under one key: chunks, or shards of them.
#[derive(Debug)]
pub struct NewArray {
    stage: Arc<Stage>,
    /// The key of the array, with a slash behind it, or nothing.
    path: String,
    meta: Meta,
    shards: Shards,
    /// The chunks of a shard.
    inner: Grid,
    chunk_bytes: u64,
}

/// The pieces of a new array, and what writing one takes, before there is any store; `out` is where it will be.
///
/// # Errors
/// Sizes that no array has.
pub fn written(spec: &Spec, out: &Path) -> Result<(Shards, Cost)> {
    let meta = spec.meta();
    let layout = meta.layout_of(meta.whole())?;
    let shards = Shards::new(meta.element, Grid::regular(&meta.dims, meta.whole())?, Form::whole(layout))?;
    let (bytes, chunk) = (shards.largest()?.bytes(), meta.layout_of(meta.array.chunks())?.bytes());
    let cost = cost(bytes, chunk, &meta.codecs, !is_address(out));
    Ok((shards.with_fill(meta.fill), cost))
}

/// Whether an array may have room on the disk that `out` is on, before anything is made: metadata may say any size.
///
/// # Errors
/// A disk that is smaller.
pub(crate) fn fits(out: &Path, spec: &Spec) -> Result<()> {
    if is_address(out) {
        return Ok(());
    }
    let meta = spec.meta();
    let count = Grid::regular(&meta.dims, meta.whole())?.count();
    // What a codec makes of a piece has a byte at least.
    let each = if meta.codecs.is_empty() { meta.layout_of(meta.whole())?.bytes() } else { 1 };
    fits_on_disk(&folder_of(out), u128::from(each) * u128::from(count), &out.display().to_string())
}

/// What writing a piece takes.
fn cost(bytes: u64, chunk_bytes: u64, codecs: &[Codec], has_files: bool) -> Cost {
    let memory = match codecs.is_empty() {
        true if bytes >= MAPPED && has_files => 0,
        true => bytes,
        // Beside what is stored.
        false => 2 * bytes + chunk_bytes,
    };
    Cost { memory, bytes, requests: 1, partial: false, coding: codec::encoding(codecs, bytes) }
}

impl NewArray {
    /// A new array at a path of a store, with its metadata.
    pub(super) fn new(stage: Arc<Stage>, path: &str, meta: Meta) -> Result<NewArray> {
        let array = NewArray::bare(stage, path, meta)?;
        array.put_metadata()?;
        Ok(array)
    }

    /// The same of a store in which several arrays are written by processes of their own: without its metadata.
    pub(crate) fn at(stage: Arc<Stage>, path: &str, spec: &Spec) -> Result<NewArray> {
        NewArray::bare(stage, path, spec.meta())
    }

    /// Writes what makes the chunks an array.
    pub(crate) fn put_metadata(&self) -> Result<()> {
        self.stage.put_last(&format!("{}zarr.json", self.path), self.meta.to_text()?.into_bytes())
    }

    fn bare(stage: Arc<Stage>, path: &str, meta: Meta) -> Result<NewArray> {
        let layout = meta.layout_of(meta.whole())?;
        let grid = Grid::regular(&meta.dims, meta.whole())?;
        let inner = Grid::regular(meta.whole(), meta.array.chunks())?;
        if let Some(index) = meta.index() {
            shard::bytes(index, inner.count())?;
        }
        let chunk_bytes = meta.layout_of(meta.array.chunks())?.bytes();
        let shards = Shards::new(meta.element, grid, Form::whole(layout))?.with_fill(meta.fill);
        let path = if path.is_empty() { String::new() } else { format!("{path}/") };
        Ok(NewArray { stage, path, meta, shards, inner, chunk_bytes })
    }

    /// Whether a piece of `bytes` bytes is written through a mapping.
    fn is_mapped(&self, bytes: u64) -> bool {
        self.meta.codecs.is_empty() && bytes >= MAPPED && self.stage.has_files()
    }

    fn key(&self, piece: u64) -> Result<String> {
        let coordinates = self.shards.grid().coordinates(piece)?;
        Ok(format!("{}{}", self.path, self.meta.keys.of(&coordinates)))
    }

    /// For each chunk of a shard, whether it has an element of the array.
    fn has_elements(&self, piece: u64) -> Result<Vec<bool>> {
        let whole = self.shards.grid().region(piece)?;
        let within = Region { start: vec![0; whole.size.len()], size: whole.size };
        (0..self.inner.count()).map(|chunk| Ok(self.inner.region(chunk)?.shared(&within).is_some())).collect()
    }

    /// The index of a shard whose chunks nothing compresses: each stands at its place.
    fn plain_index(&self, piece: u64) -> Result<Vec<u8>> {
        let Some(index) = self.meta.index() else { return Ok(Vec::new()) };
        let places: Vec<_> = self
            .has_elements(piece)?
            .into_iter()
            .zip(0_u64..)
            .map(|(has, chunk)| has.then(|| chunk * self.chunk_bytes..(chunk + 1) * self.chunk_bytes))
            .collect();
        Ok(shard::written(index, &places))
    }

    /// A piece that nothing compresses, written where it will be.
    fn put_mapped(
        &self,
        piece: u64,
        key: &str,
        make: &mut dyn FnMut(&mut dyn Space) -> Result<()>,
    ) -> Result<()> {
        let file = self.stage.file(key)?;
        let tail = self.plain_index(piece)?;
        let bytes = self.shards.layout(piece)?.bytes();
        let all = bytes + tail.len() as u64;
        file.fits(all)?;
        let mut map = MappedMut::create(file.file(), all).map_err(|error| file.failed(&error))?;
        make(&mut Front { map: &mut map, len: bytes as usize })?; // the mapping has so many
        map[bytes as usize..].copy_from_slice(&tail);
        let mut sum = crc32fast::Hasher::new();
        for start in (0..map.len()).step_by(STEP) {
            sum.update(&map[start..map.len().min(start + STEP)]);
            map.forget();
        }
        let sum = sum.finalize();
        drop(map);
        self.stage.keep(key, file, (all, sum))
    }

    /// The bytes of a piece as they are stored.
    fn encoded(&self, piece: u64, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let codecs = &self.meta.codecs;
        let Some(index) = self.meta.index() else { return codec::encode(codecs, bytes) };
        if codecs.is_empty() {
            let tail = self.plain_index(piece)?;
            let mut bytes = bytes;
            bytes.extend(tail);
            return Ok(bytes);
        }
        let (mut out, mut places) = (Vec::new(), Vec::new());
        let chunks = bytes.chunks(self.chunk_bytes.max(1) as usize); // within memory, so it fits
        for (chunk, has_elements) in chunks.zip(self.has_elements(piece)?) {
            places.push(match has_elements {
                false => None,
                true => {
                    let start = out.len() as u64;
                    out.extend(codec::encode(codecs, chunk.to_vec())?);
                    Some(start..out.len() as u64)
                }
            });
        }
        out.extend(shard::written(index, &places));
        Ok(out)
    }
}

/// The beginning of a mapped file: what stands before the index.
struct Front<'a> {
    map: &'a mut MappedMut,
    len: usize,
}

impl Space for Front<'_> {
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[..self.len]
    }

    fn forget(&mut self) {
        self.map.forget();
    }

    fn is_mapped(&self) -> bool {
        true
    }
}

impl Write for NewArray {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn put(&self, piece: u64, make: Make) -> Result<()> {
        let (key, len) = (self.key(piece)?, self.shards.layout(piece)?.bytes());
        if self.is_mapped(len) {
            return self.put_mapped(piece, &key, &mut |space| make(space.bytes()));
        }
        let mut bytes = room(len)?;
        make(&mut bytes)?;
        self.put_made(piece, bytes)
    }

    fn put_made(&self, piece: u64, made: Vec<u8>) -> Result<()> {
        let (key, bytes) = (self.key(piece)?, self.encoded(piece, made)?);
        let (len, sum) = (bytes.len() as u64, crc32fast::hash(&bytes));
        self.stage.put(&key, bytes)?;
        self.stage.done(&key, len, sum)
    }

    fn put_space(&self, piece: u64, make: &mut dyn FnMut(&mut dyn Space) -> Result<()>) -> Result<()> {
        let (key, len) = (self.key(piece)?, self.shards.layout(piece)?.bytes());
        match self.is_mapped(len) {
            true => self.put_mapped(piece, &key, make),
            false => self.put(piece, &mut |mut bytes| make(&mut bytes)),
        }
    }

    fn has(&self, piece: u64) -> Result<bool> {
        self.stage.has(&self.key(piece)?)
    }

    fn cost(&self) -> Result<Cost> {
        let bytes = self.shards.largest()?.bytes();
        Ok(cost(bytes, self.chunk_bytes, &self.meta.codecs, self.stage.has_files()))
    }

    fn finish(&self) -> Result<()> {
        self.stage.finish()
    }
}
