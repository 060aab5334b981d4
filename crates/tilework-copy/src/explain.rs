//! What steps do, in words.

use std::fmt;

use crate::kernels::vector::LINE;
use crate::step::{Step, Store, Work};

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.units();
        match &self.work {
            Work::Whole { store } => write!(f, "one row, copied {}", stored(*store))?,
            Work::Copy { length, store, .. } => write!(f, "rows of {length} B, copied {}", stored(*store))?,
            Work::Runs { length, .. } => write!(f, "short rows of {length} B")?,
            Work::Transpose { size, store, .. } => {
                write!(f, "blocks of elements of {size} B, transposed {}", stored(*store))?;
            }
            Work::Interleave { size, ways, store, .. } => {
                write!(f, "{ways} rows of elements of {size} B made to alternate {}", stored(*store))?;
            }
            Work::Deinterleave { size, ways, store, .. } => {
                write!(f, "{ways} alternating rows of elements of {size} B set apart {}", stored(*store))?;
            }
            Work::Network(blocks) => blocks.fmt(f)?,
            Work::Picks(picks) => picks.fmt(f)?,
            Work::Grid { size, .. } => write!(f, "elements of {size} B, one by one in two loops")?,
            Work::Line { size, .. } => write!(f, "elements of {size} B at steps")?,
            Work::Splat { size, store } => write!(f, "an element of {size} B, repeated {}", stored(*store))?,
        }
        write!(f, "; {units} {} of {} B", if units == 1 { "unit" } else { "units" }, self.weight)
    }
}

fn stored(store: Store) -> &'static str {
    match store {
        Store::Plain => "through the cache",
        Store::Stream => "past the cache",
        Store::Carry => "past the cache, lines carried on",
        Store::Stage | Store::StageWhole => "past the cache from a buffer",
    }
}

/// How blocks are stored: through the cache, or past it if there are whole lines, or from a buffer.
pub(crate) fn blocks_stored(
    streams: bool,
    is_whole: bool,
    is_carried: bool,
    is_staged: bool,
) -> &'static str {
    match (streams, is_whole) {
        (true, true) => stored(Store::Stream),
        (true, _) if is_carried => stored(Store::Carry),
        (true, _) if is_staged => stored(Store::Stage),
        _ => stored(Store::Plain),
    }
}

/// A number of lines or elements that a network has: `count` of `width` bytes.
pub(crate) fn lines(count: usize, width: usize) -> String {
    let lines = if count == 1 { "line" } else { "lines" };
    if width == LINE { format!("{count} {lines}") } else { format!("{count} {lines} of {width} B") }
}
