//! An array of a store as a container has it: pieces that are brought together, read several at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tilework::sharding::Named;
use tilework::{Element, Layout, Result};
use tilework_copy::{Pool, Threads};
use tilework_files::container::Pieces;

use super::open::NOTE;
use super::read::Array;
use crate::far::AT_A_TIME;
use crate::store::{Held, Read};
use crate::transfer::{Side, Transfers};

impl Pieces for Array {
    fn count(&self) -> u64 {
        self.shards().grid().count()
    }

    fn saved(&self) -> Option<&Named> {
        self.saved.as_ref()
    }

    fn within(&self, memory: u64) -> u64 {
        let each = self.shards().largest().map_or(u64::MAX, |layout| layout.bytes()).max(1);
        (memory / each).clamp(1, 4096)
    }

    fn list(&self) -> Option<Result<(Layout, Element)>> {
        let shards = self.shards();
        let element = shards.element();
        let list = || Ok((Layout::row_major(&shards.grid().sizes(), 8 * element.bytes())?, element));
        self.attributes().contains_key(NOTE).then(list)
    }

    fn put(
        &self,
        pieces: Range<u64>,
        (to, element): (&Layout, Element),
        bytes: &mut [u8],
        pool: &dyn Pool,
    ) -> Result<()> {
        let transfers = Transfers::new(self.shards().element(), element)?;
        let held = match Read::is_far(self) {
            true => fetch(self, pieces.clone(), &Threads::new(pool.width().max(AT_A_TIME)))?,
            false => fetch(self, pieces.clone(), pool)?,
        };
        for (piece, held) in pieces.zip(held) {
            move_piece(self, &transfers, (piece, &held), (to, bytes), pool)?;
            held.intact()?;
            held.forget();
        }
        Ok(())
    }
}

/// Reads several pieces, each on any thread.
fn fetch(array: &Array, pieces: Range<u64>, pool: &dyn Pool) -> Result<Vec<Held<'static>>> {
    let count = (pieces.end - pieces.start) as usize; // as many as were said to be within memory
    let slots: Vec<Mutex<Option<Result<Held<'static>>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let has_failed = AtomicBool::new(false);
    pool.run(count, &|task| {
        if !has_failed.load(Ordering::Relaxed) {
            let read = array.held(pieces.start + task as u64);
            has_failed.fetch_or(read.is_err(), Ordering::Relaxed);
            *slots[task].lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
        }
    });
    let mut held = Vec::with_capacity(count);
    let mut failed = None;
    for slot in slots {
        match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok(one)) => held.push(one),
            Some(Err(error)) => failed = failed.or(Some(error)),
            None => {}
        }
    }
    failed.map_or(Ok(held), Err)
}

/// Moves one piece to its place in a layout of the whole array.
fn move_piece(
    array: &Array,
    transfers: &Transfers,
    (piece, held): (u64, &Held),
    (to, bytes): (&Layout, &mut [u8]),
    pool: &dyn Pool,
) -> Result<()> {
    let shards = array.shards();
    let region = shards.grid().region(piece)?;
    let layout = shards.layout(piece)?;
    let to = Side { layout: to, start: &region.start };
    match held.bytes() {
        Some(source) => {
            let from = Side { layout: &layout, start: &vec![0; region.start.len()] };
            transfers.run(pool, &region.size, (from, source), (to, bytes))
        }
        None => transfers.fill(pool, &region.size, (shards.fill(), layout.bits()), (to, bytes)),
    }
}
