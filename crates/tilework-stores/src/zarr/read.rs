//! Reading an array chunk by chunk.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tilework::sharding::Named;
use tilework::{Error, Result};
use tilework_files::reverse;

use super::codec;
use super::meta::{Level, Meta};
use super::place::{First, Object, Place};
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
    open: Mutex<VecDeque<Lately>>,
    /// How devices held it, where that is said.
    pub(crate) saved: Option<Named>,
}

/// What was opened lately: how many shards it is within, its coordinates, and what is there, if something is.
type Lately = (usize, Vec<u64>, Option<Arc<Opened>>);

/// What stands under the key of a chunk or a shard, or a shard within another.
#[derive(Debug)]
struct Opened {
    object: Arc<Object>,
    /// Where the parts of a shard are: its chunks, or shards.
    places: Option<Places>,
}

impl Array {
    pub(crate) fn new(place: Arc<dyn Place>, path: &str, meta: Meta) -> Result<Array> {
        let chunks = meta.array.chunks();
        let grid = Grid::regular(&meta.dims, chunks)?;
        let layout = meta.layout_of(chunks)?;
        for Level { parts, index } in &meta.shards {
            let count = parts.iter().try_fold(1_u64, |count, &parts| count.checked_mul(parts));
            shard::bytes(*index, count.unwrap_or(u64::MAX))?;
        }
        let shards = Shards::new(meta.element, grid, Form::whole(layout))?.with_fill(meta.fill);
        let path = if path.is_empty() { String::new() } else { format!("{path}/") };
        Ok(Array { place, path, meta, shards, open: Mutex::default(), saved: None })
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

    /// What stands under its key, or within as many shards as `level` says, and where its parts are.
    fn opened(&self, level: usize, at: &[u64]) -> Result<Option<Arc<Opened>>> {
        let held = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, found)) = held().iter().find(|(other, place, _)| *other == level && place == at) {
            return Ok(found.clone());
        }
        let object = match level {
            0 => self.place.open_at(&self.key(at), self.first()?)?,
            inner => self
                .part(inner - 1, at)?
                .map(|(outer, range)| Object::Within(Arc::clone(&outer.object), range)),
        };
        let opened = match object {
            None => None,
            Some(object) => {
                let places = self
                    .places(level, &object)
                    .map_err(|error| self.within(&self.whole(level, at), &error))?;
                let object = if places.is_some() { object.without_first() } else { object };
                Some(Arc::new(Opened { object: Arc::new(object), places }))
            }
        };
        if self.place.is_far() && self.meta.shards.is_empty() {
            return Ok(opened); // all of a chunk, in memory
        }
        let mut open = held();
        if open.len() >= OPEN {
            open.pop_front();
        }
        open.push_back((level, at.to_vec(), opened.clone()));
        Ok(opened)
    }

    /// The coordinates of the key that has what is within as many shards as `level` says.
    fn whole(&self, level: usize, at: &[u64]) -> Vec<u64> {
        self.meta.shards[..level].iter().rev().fold(at.to_vec(), |at, outer| {
            at.iter().zip(&outer.parts).map(|(at, parts)| at / parts).collect()
        })
    }

    /// The shard that has a part at these coordinates, and where in it that is; none if it was never written.
    fn part(&self, level: usize, at: &[u64]) -> Result<Option<(Arc<Opened>, Range<u64>)>> {
        let parts = &self.meta.shards[level].parts;
        let outer: Vec<u64> = at.iter().zip(parts).map(|(at, parts)| at / parts).collect();
        let Some(opened) = self.opened(level, &outer)? else { return Ok(None) };
        let number = at.iter().zip(parts).fold(0, |number, (at, parts)| number * parts + at % parts);
        // There is a place for each part of the shard.
        let place = opened.places.as_ref().and_then(|places| places.get(number as usize)?.clone());
        Ok(place.map(|range| (opened, range)))
    }

    /// What is wanted first of what stands under a key: all of a chunk, or where the chunks of a shard are.
    fn first(&self) -> Result<First> {
        let Some(Level { parts, index }) = self.meta.shards.first() else {
            return Ok(First::Whole { most: self.most()? });
        };
        let bytes = shard::bytes(*index, parts.iter().product())?; // counted when the array was made
        Ok(if index.at_start { First::Start(bytes) } else { First::End(bytes) })
    }

    /// How many bytes a chunk has at most as it is stored. What does not get smaller is a little larger with its frame.
    fn most(&self) -> Result<u64> {
        let size = self.shards.largest()?.bytes();
        Ok(if self.meta.codecs.is_empty() { size } else { size.saturating_mul(2).saturating_add(64 << 10) })
    }

    /// Where the parts of a shard are.
    fn places(&self, level: usize, object: &Object) -> Result<Option<Places>> {
        let Some(Level { parts, index }) = self.meta.shards.get(level) else { return Ok(None) };
        let count = parts.iter().product(); // counted when the array was made
        let range = shard::range(*index, count, object.len())?;
        let held = object.part(range.clone())?;
        let read = shard::read(*index, held.bytes().unwrap_or_default(), &range, object.len());
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
    fn chunk(&self, stored: Held<'static>) -> Result<Held<'static>> {
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
        reverse(&mut out, self.meta.reversed);
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

    fn get_all(&self, pieces: &[u64]) -> Result<Vec<Held<'_>>> {
        self.held_all(pieces)
    }

    fn is_far(&self) -> bool {
        self.place.is_far()
    }

    fn cost(&self) -> Result<Cost> {
        let bytes = self.shards.largest()?.bytes();
        let is_plain = self.meta.codecs.is_empty() && self.meta.reversed == 0;
        let is_far = self.place.is_far();
        // Between two codecs there is one more copy, and what a server sends is in memory before it is decoded.
        let copies = match is_plain {
            true => u64::from(is_far),
            false => 1 + u64::from(self.meta.codecs.len() > 1) + u64::from(is_far),
        };
        let coding = codec::decoding(&self.meta.codecs, bytes);
        Ok(Cost { memory: copies * bytes, bytes, requests: 1, partial: is_plain && !is_far, coding })
    }
}

/// What is wanted of one shard: the coordinates of its key, the shard, and for each chunk the how-manieth it is and where.
type Wanted = (Vec<u64>, Arc<Opened>, Vec<(usize, Range<u64>)>);

/// Where a chunk is.
enum Found {
    /// Nowhere: it was never written.
    Missing,
    /// There.
    In(Arc<Opened>, Range<u64>),
}

impl Array {
    /// The bytes of a chunk.
    pub(super) fn held(&self, piece: u64) -> Result<Held<'static>> {
        let (whole, found) = self.found(piece)?;
        match found {
            Found::Missing => Ok(Held::missing()),
            Found::In(opened, range) => opened
                .object
                .part(range)
                .and_then(|stored| self.chunk(stored))
                .map_err(|error| self.within(&whole, &error)),
        }
    }

    /// The bytes of several chunks: those of one shard in as few requests as there may be.
    pub(super) fn held_all(&self, pieces: &[u64]) -> Result<Vec<Held<'static>>> {
        let mut held: Vec<Option<Held<'static>>> = pieces.iter().map(|_| None).collect();
        // What one shard, or its own key, has of them, in the order in which they come.
        let mut shards: Vec<Wanted> = Vec::new();
        for (at, &piece) in pieces.iter().enumerate() {
            match self.found(piece)? {
                (_, Found::Missing) => held[at] = Some(Held::missing()),
                (whole, Found::In(opened, range)) => {
                    match shards.iter_mut().find(|one| Arc::ptr_eq(&one.1, &opened)) {
                        Some(one) => one.2.push((at, range)),
                        None => shards.push((whole, opened, vec![(at, range)])),
                    }
                }
            }
        }
        for (whole, opened, wanted) in shards {
            let ranges: Vec<Range<u64>> = wanted.iter().map(|(_, range)| range.clone()).collect();
            let mut read = || -> Result<()> {
                for ((at, _), stored) in wanted.iter().zip(opened.object.parts(&ranges)?) {
                    held[*at] = Some(self.chunk(stored)?);
                }
                Ok(())
            };
            read().map_err(|error| self.within(&whole, &error))?;
        }
        // Each was missing or in a shard.
        Ok(held.into_iter().map(|one| one.unwrap_or_else(Held::missing)).collect())
    }

    /// Where a chunk is, and the coordinates of what stands under its key.
    fn found(&self, piece: u64) -> Result<(Vec<u64>, Found)> {
        let coordinates = self.shards.grid().coordinates(piece)?;
        let whole = self.whole(self.meta.shards.len(), &coordinates);
        let found = match self.meta.shards.len() {
            0 => self.opened(0, &whole).map(|opened| {
                opened.map(|opened| {
                    let all = 0..opened.object.len();
                    (opened, all)
                })
            }),
            levels => self.part(levels - 1, &coordinates),
        };
        let Some((opened, range)) = found? else { return Ok((whole, Found::Missing)) };
        if self.place.is_far() && range.end - range.start > self.most()? {
            let error = Error::new(format!("a chunk that is stored in {} bytes", range.end - range.start))
                .rule(format!("its sizes say {}", self.shards.largest()?.bytes()))
                .accepts("the chunk as it was written");
            return Err(self.within(&whole, &error));
        }
        Ok((whole, Found::In(opened, range)))
    }
}
