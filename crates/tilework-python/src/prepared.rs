//! Moves that were prepared: a relayout with what a call wants to know of it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use pyo3::prelude::*;
use tilework::Element;
use tilework::{Error, Kept, Layout, PlanOptions, Result};
use tilework_copy::{Conversion, Inline, Relayout, Threads};

use crate::array::{Look, Memory};
use crate::flat;
use crate::kept::ROOM;

/// From this number of bytes on, other threads of Python may run meanwhile; below, it costs more than the move.
const LETS_GO: u64 = 16 << 10;

/// From this number of bytes on, a move takes all processors if nothing else is said; below, starting threads costs too much.
const SHARES: u64 = 4 << 20;

/// One side of a move.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub element: Element,
    pub layout: &'a Layout,
}

/// A move that can be run.
pub struct Prepared {
    pub relayout: Relayout,
    /// Whether every byte of a new destination is written.
    pub writes_all: bool,
    /// Whether both sides are the same places, of whole bytes, so that nothing need move.
    pub is_same: bool,
    /// Whether every place of the destination holds an element.
    pub no_padding: bool,
    /// The larger number of bytes of the two sides.
    bytes: u64,
}

/// Prepared moves by numbers that tell both sides and the options.
static PREPARED: Kept<Vec<u64>, Arc<Prepared>> = Kept::new(ROOM);

impl Prepared {
    /// The move from one side to the other, with an element to fill padding with.
    pub fn new(from: Side<'_>, to: Side<'_>, fill: Option<u128>, convert: bool) -> Result<Prepared> {
        let options = PlanOptions { fill, converts: false };
        let relayout = match conversion(from, to, convert)? {
            Some(how) => Relayout::converting(from.layout, to.layout, how, &options)?,
            None => Relayout::new(from.layout, to.layout, &options)?,
        };
        // Elements below a byte are written into bytes that are read before.
        let whole = to.layout.bits().is_multiple_of(8);
        let no_padding = to.layout.padding() == Some(0);
        let writes_all = whole && (fill.is_some() || no_padding);
        let described = |side: Side<'_>| (side.element, side.layout.bits(), side.layout.size());
        let is_same =
            whole && described(from) == described(to) && from.layout.same_function(to.layout).is_yes();
        let bytes = from.layout.bytes().max(to.layout.bytes());
        Ok(Prepared { relayout, writes_all, is_same, no_padding, bytes })
    }

    /// The move of this key, made now if it is not kept.
    pub fn kept(
        key: &[u64],
        make: impl FnOnce() -> crate::error::Result<Prepared>,
    ) -> crate::error::Result<Arc<Prepared>> {
        if let Some(prepared) = PREPARED.find(key, Arc::clone) {
            return Ok(prepared);
        }
        let made = Arc::new(make()?);
        PREPARED.keep(key.to_vec(), Arc::clone(&made));
        Ok(made)
    }

    /// Moves the data.
    ///
    /// # Errors
    /// Arrays that are no longer what they were when they were looked at, are shorter than the layouts, overlap, or cannot be
    /// written.
    pub fn run(
        &self,
        py: Python<'_>,
        from: &Look<'_>,
        to: &Look<'_>,
        threads: Option<NonZeroUsize>,
    ) -> crate::error::Result<()> {
        from.check()?;
        to.check()?;
        flat::check_writable(to.is_writable)?;
        flat::check_apart(from.memory, to.memory)?;
        let pins = if self.lets_go() { Some((from.pin()?, to.pin()?)) } else { None };
        // SAFETY: the bytes are those of two arrays that are alive, were looked at since code of Python's last ran, and are
        // pinned where code of Python's may run meanwhile; the destination may be written, and they do not overlap.
        let moved = unsafe { self.run_on_memory(py, from.memory, to.memory, threads) };
        drop(pins);
        moved
    }

    /// Whether other threads of Python run meanwhile.
    pub fn lets_go(&self) -> bool {
        self.bytes >= LETS_GO
    }

    /// Moves the data of memory that somebody else looked at.
    ///
    /// # Safety
    /// 1. The bytes of both are there until this returns, also where [other threads run](Prepared::lets_go).
    /// 2. Those of the destination may be written, and the two do not overlap.
    ///
    /// Who changes what is in them meanwhile gets what they get, as with NumPy.
    pub unsafe fn run_on_memory(
        &self,
        py: Python<'_>,
        source: Memory,
        destination: Memory,
        threads: Option<NonZeroUsize>,
    ) -> crate::error::Result<()> {
        let on = |pool: &dyn tilework_copy::Pool| {
            // The whole of each, so that the closure below holds what can be sent.
            let (source, destination): (Memory, Memory) = (source, destination);
            // SAFETY: the caller's promise.
            unsafe {
                self.relayout.run_raw(
                    pool,
                    (source.start.cast_const(), source.bytes),
                    (destination.start, destination.bytes),
                )
            }
        };
        if !self.lets_go() {
            return Ok(on(&Inline)?);
        }
        match threads.map(NonZeroUsize::get) {
            Some(1) => py.detach(|| on(&Inline)),
            None if self.bytes < SHARES => py.detach(|| on(&Inline)),
            Some(threads) => py.detach(|| on(&Threads::new(threads))),
            None => py.detach(|| on(&Threads::all())),
        }?;
        Ok(())
    }
}

/// How elements change on the way; none if they do not.
fn conversion(from: Side<'_>, to: Side<'_>, convert: bool) -> Result<Option<Conversion>> {
    if from.element == to.element {
        // A number of four bits in a byte of its own, as NumPy has it, or two in one byte: in NumPy the upper bits are 0.
        return Ok(match (from.layout.bits(), to.layout.bits()) {
            (8, 4) => Conversion::new(Element::U8, Element::U4),
            (4, 8) => Conversion::new(Element::U4, Element::U8),
            _ => None,
        });
    }
    let (source, destination) = (from.element, to.element);
    if !convert {
        return Err(Error::new(format!(
            "elements of {source} in the source, {destination} in the destination"
        ))
        .field("dtype")
        .rule("elements are moved as they are, unless a conversion is asked for")
        .accepts(format!("elements of {source} on both sides, or convert=True")));
    }
    Conversion::between(source, destination).map(Some)
}
