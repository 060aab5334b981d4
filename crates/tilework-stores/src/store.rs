//! What a store of pieces does.

use std::ops::{Deref, Range};
use std::sync::Arc;

use tilework::{Error, Result};
use tilework_copy::{Mapped, MappedMut};
use tilework_files::{Array, available_memory};

use crate::shards::Shards;

/// What reading or writing a piece takes, as the planner counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cost {
    /// Bytes of memory that are held meanwhile, the piece's own among them. 0 where it is mapped: then the system gives its
    /// pages back when they are wanted elsewhere.
    pub memory: u64,
    /// Bytes that go to or come from the store.
    pub bytes: u64,
    /// Requests to it.
    pub requests: u64,
    /// Whether less is read where only a part is wanted, as of a mapped piece.
    pub partial: bool,
    /// Nanoseconds that encoding or decoding it takes a processor.
    #[serde(default)]
    pub coding: u64,
}

/// An array that is read piece by piece, by several threads at once.
///
/// The pieces are the smallest things that can be read alone: of a sharded Zarr array its inner chunks.
pub trait Read: Send + Sync {
    /// The array.
    fn shards(&self) -> &Shards;

    /// The bytes of a piece, in its layout.
    ///
    /// # Errors
    /// What cannot be read, and what is not as the store says.
    fn get(&self, piece: u64) -> Result<Held<'_>>;

    /// The bytes of several pieces, asked for together where that takes fewer requests.
    ///
    /// # Errors
    /// Those of [`Read::get`].
    fn get_all(&self, pieces: &[u64]) -> Result<Vec<Held<'_>>> {
        pieces.iter().map(|&piece| self.get(piece)).collect()
    }

    /// Whether every request waits for somebody far away, so that several pieces are better asked for together.
    fn is_far(&self) -> bool {
        false
    }

    /// What a piece of the largest size takes. Asked before anything is read.
    ///
    /// # Errors
    /// Sizes that no layout has.
    fn cost(&self) -> Result<Cost> {
        let bytes = self.shards().largest()?.bytes();
        Ok(Cost { memory: bytes, bytes, requests: 1, partial: false, coding: 0 })
    }
}

/// Fills the bytes of a piece, all of which are 0 before.
pub type Make<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<()>;

/// Where a piece is made: memory, or a new file that is mapped.
pub trait Space {
    /// All bytes of the piece.
    fn bytes(&mut self) -> &mut [u8];

    /// Gives back the memory that holds what was written so far, if something else keeps it.
    fn forget(&mut self) {}

    /// Whether it is a file, which the system maps in larger parts than are written.
    fn is_mapped(&self) -> bool {
        false
    }
}

impl Space for &mut [u8] {
    fn bytes(&mut self) -> &mut [u8] {
        self
    }
}

impl Space for MappedMut {
    fn bytes(&mut self) -> &mut [u8] {
        self
    }

    fn forget(&mut self) {
        MappedMut::forget(self);
    }

    fn is_mapped(&self) -> bool {
        true
    }
}

/// An array that is written piece by piece, by several threads and processes at once, each piece by one.
///
/// The pieces are the smallest things that can be written alone: of a sharded Zarr array its shards.
pub trait Write: Send + Sync {
    /// The array.
    fn shards(&self) -> &Shards;

    /// Writes a piece: gives `make` zeros for the bytes of its layout, and stores what it made of them. The piece gets its name
    /// when all of it is there, and what was there before stays until then.
    ///
    /// # Errors
    /// What `make` returns, and what the store refuses. Then the piece is not there, or what was there before.
    fn put(&self, piece: u64, make: Make) -> Result<()>;

    /// The same for a piece that may be larger than memory: what was written into its space can be let go meanwhile.
    ///
    /// # Errors
    /// Those of [`Write::put`].
    fn put_space(&self, piece: u64, make: &mut dyn FnMut(&mut dyn Space) -> Result<()>) -> Result<()> {
        self.put(piece, &mut |mut bytes| make(&mut bytes))
    }

    /// The same for a piece that was made already: all bytes of its layout.
    ///
    /// # Errors
    /// Those of [`Write::put`].
    fn put_made(&self, piece: u64, made: Vec<u8>) -> Result<()> {
        self.put(piece, &mut |bytes| {
            bytes.copy_from_slice(&made);
            Ok(())
        })
    }

    /// Whether a piece is there, and is what an earlier run wrote.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn has(&self, piece: u64) -> Result<bool>;

    /// What a piece of the largest size takes.
    ///
    /// # Errors
    /// Sizes that no layout has.
    fn cost(&self) -> Result<Cost> {
        let bytes = self.shards().largest()?.bytes();
        Ok(Cost { memory: bytes, bytes, requests: 1, partial: false, coding: 0 })
    }

    /// Ends the writing, when every piece is there: what was unfinished gets its name.
    ///
    /// # Errors
    /// What the store refuses.
    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

/// Memory for a chunk, whose size somebody else said.
pub(crate) fn room(size: u64) -> Result<Vec<u8>> {
    let lack =
        || Error::new(format!("a chunk of {size} bytes")).rule("a chunk that is encoded is held in memory");
    let size = usize::try_from(size).map_err(|_| lack())?;
    const LARGE: usize = 64 << 20;
    if size > LARGE && available_memory().is_some_and(|available| size as u64 > available) {
        return Err(lack());
    }
    Ok(vec![0; size])
}

/// The bytes of a piece that was read.
pub struct Held<'a>(Bytes<'a>);

enum Bytes<'a> {
    Missing,
    Owned(Vec<u8>),
    Kept(Box<dyn AsRef<[u8]> + Send + 'a>),
    Borrowed(Array<'a>),
    Mapped { map: Arc<Mapped>, range: Range<usize>, name: String },
}

impl<'a> Held<'a> {
    /// A piece that was never written: every element of it is the fill.
    pub fn missing() -> Held<'static> {
        Held(Bytes::Missing)
    }

    /// Bytes that were decoded.
    pub fn owned(bytes: Vec<u8>) -> Held<'static> {
        Held(Bytes::Owned(bytes))
    }

    /// Bytes that something keeps as long as this lives, such as a counted reference.
    pub fn kept(bytes: impl AsRef<[u8]> + Send + 'a) -> Held<'a> {
        Held(Bytes::Kept(Box::new(bytes)))
    }

    /// Bytes of a file that the store has mapped: nothing is copied.
    pub fn borrowed(bytes: Array<'a>) -> Held<'a> {
        Held(Bytes::Borrowed(bytes))
    }

    /// A part of a file that was mapped, for this piece or for several.
    ///
    /// # Errors
    /// A file that ends before.
    pub fn mapped(map: impl Into<Arc<Mapped>>, range: Range<usize>, name: String) -> Result<Held<'static>> {
        let map = map.into();
        if range.start > range.end || range.end > map.len() {
            return Err(Error::new(format!("{name} has {} bytes", map.len()))
                .rule(format!("a piece takes the bytes {} to {}", range.start, range.end)));
        }
        Ok(Held(Bytes::Mapped { map, range, name }))
    }

    /// The bytes; none if the piece is missing.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Bytes::Missing => None,
            Bytes::Owned(bytes) => Some(bytes),
            Bytes::Kept(bytes) => Some((**bytes).as_ref()),
            Bytes::Borrowed(array) => Some(array.deref()),
            Bytes::Mapped { map, range, .. } => Some(&map[range.clone()]),
        }
    }

    /// Whether what was read is what the file held.
    ///
    /// # Errors
    /// A file that was cut short meanwhile, or whose disk could not be read.
    pub fn intact(&self) -> Result<()> {
        match &self.0 {
            Bytes::Missing | Bytes::Owned(_) | Bytes::Kept(_) => Ok(()),
            Bytes::Borrowed(array) => array.intact(),
            Bytes::Mapped { map, name, .. } => {
                map.intact().map_err(|error| Error::new(format!("{name}: {error}")))
            }
        }
    }

    /// Whether the bytes are those of a file, which the system reads when they are wanted.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Bytes::Borrowed(_) | Bytes::Mapped { .. })
    }

    /// Gives back the memory that holds what was read of a file.
    pub fn forget(&self) {
        match &self.0 {
            Bytes::Missing | Bytes::Owned(_) | Bytes::Kept(_) => {}
            Bytes::Borrowed(array) => array.forget(),
            Bytes::Mapped { map, .. } => map.forget(),
        }
    }
}
