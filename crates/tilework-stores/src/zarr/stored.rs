//! How an array of a container is stored: in chunks where Zarr has words for its layout, and else as a list of its places.

use serde_json::{Map, json};
use tilework::zarr::Array as Grid3;
use tilework::{Element, Error, Result, System};
use tilework_files::container::{Container, Content, Format, Job, Placed, body};
use tilework_files::npy;

use super::fill;
use super::meta::Meta;
use super::new::{Compression, Spec};
use super::open::NOTE;
use super::read::Array;
use super::write::Store;

/// The bytes of a chunk where nobody says how an array is cut: fewer where little memory is allowed, as several of them are held
/// at a time, and what compresses one beside them.
fn chunk_bytes(memory: Option<u64>) -> u64 {
    memory.map_or(u64::MAX, |memory| memory / 32).clamp(256 << 10, 16 << 20)
}

/// Sizes of chunks of about `bytes` bytes: an array is cut along its most major dimensions.
///
/// ```
/// use tilework_stores::zarr::chunks_of;
/// assert_eq!(chunks_of(&[100, 1000, 1000], &[0, 1, 2], 4, 16 << 20), [4, 1000, 1000]);
/// ```
pub fn chunks_of(dims: &[u64], order: &[usize], element_bytes: u64, bytes: u64) -> Vec<u64> {
    let mut chunks: Vec<u64> = dims.iter().map(|&size| size.max(1)).collect();
    let count = |chunks: &[u64]| chunks.iter().fold(element_bytes, |all, &size| all.saturating_mul(size));
    for &dim in order {
        if count(&chunks) <= bytes {
            break;
        }
        chunks[dim] = 1;
        chunks[dim] = (bytes / count(&chunks).max(1)).clamp(1, dims[dim].max(1));
    }
    chunks
}

/// How an array of a container is stored.
pub(super) struct Stored {
    pub(super) spec: Spec,
    /// Whether a list of its places is stored, and what lies how stands in a note.
    pub(super) is_list: bool,
}

impl Stored {
    /// `own` is what a store says of the array that is stored, whose fill, names and attributes it keeps; `alone`: another container
    /// whose metadata are the array's own.
    pub(super) fn of(
        job: &Job,
        store: Store,
        (own, alone): (Option<&Meta>, Option<&Container>),
        memory: Option<u64>,
    ) -> Result<Stored> {
        let bytes = chunk_bytes(memory);
        let content = job.content();
        let body = body(Format::Zarr, &job.name, &content, false)?;
        let mut attributes = Map::new();
        if let Some(own) = own {
            attributes.extend(own.attributes.clone().into_iter().filter(|(key, _)| key != NOTE));
        } else if let Some(from) = alone {
            attributes.extend(from.texts().into_iter().map(|(key, value)| (key.to_owned(), json!(value))));
        }
        let spec = |array: Grid3, element: Element, dims: &[u64]| Spec {
            compression: store.compression,
            ..Spec::new(array, element, dims)
        };
        if let Content::Array(placed) = &content
            && let Some(array) = grid_of(placed, bytes)
        {
            let mut spec = spec(array?, placed.element, placed.layout.dims());
            spec.names = placed.said.axes().or(own.and_then(|own| own.names.as_ref())).cloned();
            spec.fill = own.filter(|own| own.element == placed.element).map_or(0, |own| own.fill);
            spec.attributes = attributes;
            if own.is_some_and(|own| own.element != placed.element) {
                spec.attributes.remove(fill::MASK); // it is a value of the type that was
            }
            return Ok(Stored { spec, is_list: false });
        }
        let element = Element::from_name_in(System::Numpy, &body.word)
            .ok_or_else(|| Error::new(format!("an array of {}", body.word)))?;
        let rows: Vec<usize> = (0..body.dims.len()).collect();
        let chunks = chunks_of(&body.dims, &rows, element.bytes().into(), bytes);
        let mut spec = spec(Grid3::new(element, &body.dims, &chunks, None, None)?, element, &body.dims);
        spec.attributes = attributes;
        spec.attributes.remove(fill::MASK);
        spec.attributes.extend(body.note.map(|note| (NOTE.to_owned(), json!(note))));
        Ok(Stored { spec, is_list: true })
    }
}

/// Whether a new store has the array as a list of its places, as Zarr has no words for its layout.
pub fn is_stored_as_list(content: &Content) -> bool {
    matches!(content, Content::Array(placed) if grid_of(placed, chunk_bytes(None)).is_none())
}

/// The chunks of an array, if Zarr has words for its layout.
fn grid_of(placed: &Placed, bytes: u64) -> Option<Result<Grid3>> {
    let (layout, element) = (&placed.layout, placed.element);
    let (dims, width) = (layout.dims(), u64::from(element.bytes()));
    element.name_in(System::Numpy).filter(|_| u64::from(layout.bits()) == 8 * width)?;
    // Shards within shards are read, and written as shards of chunks.
    let flat = |array: &Grid3| Grid3::new(element, dims, array.chunks(), array.shards(), array.order());
    if let Some(array) = placed.said.get::<Grid3>() {
        return Some(flat(array));
    }
    // Of an array that was read with names for its dimensions, the text says its chunks.
    if placed.said.dialect().name == "zarr"
        && let Ok(said) = tilework::dialect::read_one(&placed.said.to_string())
        && let Some(array) = said.get::<Grid3>()
    {
        return Some(flat(array));
    }
    let mut order = npy::compact_order(layout, placed.said.minor_to_major().as_deref())?;
    order.reverse();
    let chunks = chunks_of(dims, &order, width, bytes);
    let is_rows = order.is_sorted();
    Some(Grid3::new(element, dims, &chunks, None, (!is_rows).then_some(&order[..])))
}

impl Meta {
    /// What a new array like this one is.
    pub(super) fn spec(&self, compression: Compression) -> Spec {
        Spec {
            array: self.array.clone(),
            element: self.element,
            dims: self.dims.clone(),
            compression,
            fill: self.fill,
            names: self.names.clone(),
            attributes: self.attributes.clone(),
        }
    }
}

impl Array {
    /// A new array of the same sizes and type, with the same fill, names and attributes, in these chunks and, if need be, shards.
    /// Chunks lie as they do here unless `order` says otherwise, from major to minor.
    ///
    /// # Errors
    /// Chunks that are none of this array.
    pub fn rechunked(
        &self,
        chunks: &[u64],
        shards: Option<&[u64]>,
        order: Option<&[usize]>,
        compression: Compression,
    ) -> Result<Spec> {
        let mut spec = self.meta.spec(compression);
        // The order that chunks have anyway is not said.
        let order = order.or(self.meta.array.order()).filter(|order| !order.is_sorted());
        spec.array = Grid3::new(self.meta.element, &self.meta.dims, chunks, shards, order)?;
        Ok(spec)
    }

    /// What compresses its chunks, as far as that can be written.
    pub fn compression(&self) -> Compression {
        use super::codec::Codec;
        let found = self.meta.codecs.iter().find_map(|codec| match codec {
            Codec::Gzip(level) => Some(Compression::Gzip(*level)),
            Codec::Zlib => Some(Compression::Gzip(6)),
            Codec::Zstd(level, _) => Some(Compression::Zstd(*level)),
            Codec::Blosc | Codec::Lz4 => Some(Compression::Zstd(1)),
            Codec::Crc32c => None,
        });
        found.unwrap_or_default()
    }
}
