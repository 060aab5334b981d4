//! `TileProto`: one tile level.

use super::read_layout::TileMessage;
use super::wire::{Path, Reader};
use super::write;
use crate::error::Result;
use crate::xla::value::tile::Tile;

impl Tile {
    /// The bytes of XLA's `TileProto`, exactly as XLA writes them.
    ///
    /// ```
    /// assert_eq!(tilework::xla::Tile::new([8, 128])?.to_proto(), [0x0a, 3, 8, 0x80, 1]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn to_proto(&self) -> Vec<u8> {
        write::tile(self)
    }

    /// The tile in the bytes of XLA's `TileProto`. A `*` is read as well, which XLA itself refuses since 2025.
    ///
    /// # Errors
    /// Bytes that are not such a message, no sizes, a size below 1.
    pub fn from_proto(bytes: &[u8]) -> Result<Tile> {
        TileMessage::read(Reader::new(bytes), &Path::root("tile"))?.tile()
    }
}
