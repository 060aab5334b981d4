//! A store in memory: for tests, and for what is small.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tilework::Result;

use crate::shards::Shards;
use crate::store::{Held, Make, Read, Write};

/// Pieces in memory.
#[derive(Debug)]
pub struct Memory {
    shards: Shards,
    pieces: Mutex<HashMap<u64, Vec<u8>>>,
}

impl Memory {
    /// A store without pieces.
    pub fn new(shards: Shards) -> Memory {
        Memory { shards, pieces: Mutex::new(HashMap::new()) }
    }

    /// The bytes of a piece, if it is there.
    pub fn piece(&self, piece: u64) -> Option<Vec<u8>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).get(&piece).cloned()
    }
}

impl Read for Memory {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn get(&self, piece: u64) -> Result<Held<'_>> {
        self.shards.grid().coordinates(piece)?;
        Ok(self.piece(piece).map_or_else(Held::missing, Held::owned))
    }
}

impl Write for Memory {
    fn shards(&self) -> &Shards {
        &self.shards
    }

    fn put(&self, piece: u64, make: Make) -> Result<()> {
        let mut bytes = vec![0; self.shards.layout(piece)?.bytes() as usize];
        make(&mut bytes)?;
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).insert(piece, bytes);
        Ok(())
    }

    fn has(&self, piece: u64) -> Result<bool> {
        Ok(self.piece(piece).is_some())
    }
}
