//! Reading an array chunk by chunk.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tilework::sharding::Named;
use tilework::{Error, Result};

use super::codec;
use super::meta::Meta;
use super::place::{Object, Place};
use super::shard::{self, Places};
use crate::grid::Grid;
use crate::shards::{Form, Shards};
use crate::stamp::Stamp;
use crate::store::{Cost, Held, Read, room};

/// How many files are held open, with what the indexes of shards say: threads work on neighbours.
const OPEN: usize = 64;

/// An array of a store.
#[derive(Debug)]
pub struct Array {
    place: Arc<dyn Place>,
    /// The key of the array, with a slash behind it, or nothing.
    path: String,
    pub(super) meta: Meta,
    shards: Shards,
    /// Chunks along each dimension of what stands under one key.
    inner: Vec<u64>,
    open: Mutex<VecDeque<Lately>>,
    /// How devices held it, where that is said.
    pub(crate) saved: Option<Named>,
}

/// What was opened lately: the coordinates of a chunk or a shard, and what stands under its key, if something does.
type Lately = (Vec<u64>, Option<Arc<Opened>>);

/// What stands under the key of a chunk or a shard.
#[derive(Debug)]
struct Opened {
    object: Object,
    /// Where the chunks of a shard are.
    places: Option<Places>,
}

impl Array {
    pub(crate) fn new(place: Arc<dyn Place>, path: &str, meta: Meta) -> Result<Array> {
        let chunks = meta.array.chunks();
        let grid = Grid::regular(&meta.dims, chunks)?;
        let layout = meta.layout_of(chunks)?;
        let inner: Vec<u64> = meta.whole().iter().zip(chunks).map(|(whole, chunk)| whole / chunk).collect();
        if let Some(index) = meta.index {
            let count = inner.iter().try_fold(1_u64, |count, &inner| count.checked_mul(inner));
            shard::bytes(index, count.unwrap_or(u64::MAX))?;
        }
        let shards = Shards::new(meta.element, grid, Form::whole(layout))?.with_fill(meta.fill);
        let path = if path.is_empty() { String::new() } else { format!("{path}/") };
        Ok(Array { place, path, meta, shards, inner, open: Mutex::default(), saved: None })
    }

    pub(crate) fn saved_as(self, saved: Option<Named>) -> Array {
        Array { saved, ..self }
    }

    /// What the metadata say beside the array itself, as names and texts of JSON.
    pub fn attributes(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.meta.attributes
    }

    /// The names, lengths and times of its files, where they can be listed.
    ///
    /// # Errors
    /// A folder that cannot be listed.
    pub fn stamp(&self) -> Result<Option<Stamp>> {
        self.place.stamp(self.path.trim_end_matches('/'))
    }

    /// The key of the chunk or shard at these coordinates.
    fn key(&self, whole: &[u64]) -> String {
        format!("{}{}", self.path, self.meta.keys.of(whole))
    }

    /// What stands under its key, and where the chunks in it are.
    fn opened(&self, whole: &[u64]) -> Result<Option<Arc<Opened>>> {
        let held = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = held().iter().find(|(at, _)| at == whole) {
            return Ok(found.clone());
        }
        let key = self.key(whole);
        let opened = match self.place.open(&key)? {
            None => None,
            Some(object) => {
                let places = self.places(&object).map_err(|error| self.within(whole, &error))?;
                Some(Arc::new(Opened { object, places }))
            }
        };
        let mut open = held();
        if open.len() >= OPEN {
            open.pop_front();
        }
        open.push_back((whole.to_vec(), opened.clone()));
        Ok(opened)
    }

    /// Where the chunks of a shard are.
    fn places(&self, object: &Object) -> Result<Option<Places>> {
        let Some(index) = self.meta.index else { return Ok(None) };
        let count = self.inner.iter().product(); // counted when the array was made
        let range = shard::range(index, count, object.len())?;
        let held = object.part(range.clone())?;
        let read = shard::read(index, held.bytes().unwrap_or_default(), &range, object.len());
        // First: of a file that was cut short a part was read as zeros.
        held.intact()?;
        read.map(Some)
    }

    /// The error, with the name of what is read before it.
    fn within(&self, whole: &[u64], error: &Error) -> Error {
        let mut named = Error::new(format!("{}/{}: {}", self.place.name(), self.key(whole), error.found()));
        if let Some(rule) = error.broken_rule() {
            named = named.rule(rule);
        }
        match error.accepted() {
            Some(accepts) => named.accepts(accepts),
            None => named,
        }
    }

    /// Decodes a chunk.
    fn chunk(&self, opened: &Opened, range: Range<u64>) -> Result<Held<'static>> {
        let stored = opened.object.part(range)?;
        let bytes = stored.bytes().unwrap_or_default();
        let size = self.shards.largest()?.bytes();
        if self.meta.codecs.is_empty() && self.meta.reversed == 0 {
            return match bytes.len() as u64 == size {
                true => Ok(stored),
                false => Err(Error::new(format!("a chunk of {} bytes", bytes.len()))
                    .rule(format!("its sizes say {size}"))
                    .accepts("the chunk as it was written")),
            };
        }
        let mut out = room(size)?;
        let decoded = codec::decode(&self.meta.codecs, bytes, &mut out);
        stored.intact()?;
        decoded?;
        // The file stays open for its other chunks, and its pages need not.
        stored.forget();
        if self.meta.reversed > 0 {
            out.chunks_exact_mut(self.meta.reversed).for_each(<[u8]>::reverse);
        }
        Ok(Held::owned(out))
    }
}

impl Read for Array {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn get(&self, piece: u64) -> Result<Held<'_>> {
        self.held(piece)
    }

    fn cost(&self) -> Result<Cost> {
        let bytes = self.shards.largest()?.bytes();
        let is_mapped = self.meta.codecs.is_empty() && self.meta.reversed == 0;
        // Between two codecs there is one more copy.
        let copies = if is_mapped { 0 } else { 1 + u64::from(self.meta.codecs.len() > 1) };
        Ok(Cost { memory: copies * bytes, bytes, requests: 1, partial: is_mapped })
    }
}

impl Array {
    /// The bytes of a chunk.
    pub(super) fn held(&self, piece: u64) -> Result<Held<'static>> {
        let coordinates = self.shards.grid().coordinates(piece)?;
        let whole: Vec<u64> = coordinates.iter().zip(&self.inner).map(|(at, inner)| at / inner).collect();
        let Some(opened) = self.opened(&whole)? else { return Ok(Held::missing()) };
        let range = match &opened.places {
            None => 0..opened.object.len(),
            Some(places) => {
                let within = coordinates
                    .iter()
                    .zip(&self.inner)
                    .fold(0, |number, (at, inner)| number * inner + at % inner);
                // There is a place for each chunk of the shard.
                match places.get(within as usize).cloned().flatten() {
                    None => return Ok(Held::missing()),
                    Some(range) => range,
                }
            }
        };
        self.chunk(&opened, range).map_err(|error| self.within(&whole, &error))
    }
}
