//! Moving what pieces have of a region to one place, within a window of memory.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use tilework::{Element, Layout, Result};
use tilework_copy::{Inline, Pool};

use crate::region::Region;
use crate::store::{Held, Read, Space};
use crate::transfer::{Side, Transfers};

/// What moves elements of an array in pieces to one place.
pub(crate) struct Gather<'a, 'b> {
    pub(crate) from: &'a dyn Read,
    pub(crate) transfers: &'b Transfers,
    pub(crate) pool: &'b dyn Pool,
    pub(crate) window: u64,
    /// Bytes of mapped files that are in memory since some were given back.
    pub(crate) touched: &'b AtomicU64,
}

/// How many pieces are read ahead at most.
const AHEAD: u64 = 256;

/// What the system takes at least for memory, and what it maps of a file around the place that is read or written.
const PAGE: u64 = 4 << 10;
const AROUND: u64 = 64 << 10;

/// How a view of a piece goes through its places along one dimension: how often it jumps further than `gap` and goes on from there,
/// the most places that it goes from one jump to the next, and those from the first to the last.
struct Along {
    jumps: u64,
    run: u64,
    reach: u64,
}

/// Longer dimensions are cut before anybody looks at each of their elements.
const LONG: u64 = 1 << 16;

impl Along {
    fn all(view: &Layout, gap: u64) -> Result<Vec<Along>> {
        if let Ok(strided) = view.to_strides() {
            let along = strided.strides.iter().zip(view.dims()).map(|(stride, &size)| {
                let (stride, steps) = (stride.unsigned_abs(), size.saturating_sub(1));
                let reach = stride.saturating_mul(steps);
                let (jumps, run) = if stride <= gap { (1, reach) } else { (size, 0) };
                Along { jumps, run, reach }
            });
            return Ok(along.collect());
        }
        let mut index = vec![0; view.rank()];
        let mut along = Vec::with_capacity(view.rank());
        for (dim, &size) in view.dims().iter().enumerate() {
            let step = if size > LONG { size - 1 } else { 1 };
            let mut places = Vec::new();
            for at in (0..size).step_by(usize::try_from(step.max(1)).unwrap_or(usize::MAX)) {
                index[dim] = at;
                places.push(view.offset(&index)?);
            }
            index[dim] = 0;
            places.sort_unstable();
            let (first, last) = (places.first().copied().unwrap_or(0), places.last().copied().unwrap_or(0));
            let (mut jumps, mut run, mut start) = (1, 0, first);
            for pair in places.windows(2) {
                if pair[1] - pair[0] > gap {
                    (jumps, start) = (jumps + 1, pair[1]);
                }
                run = run.max(pair[1] - start);
            }
            let jumps = if size > LONG { size } else { jumps };
            along.push(Along { jumps, run, reach: last - first });
        }
        Ok(along)
    }
}

/// How many bytes of a piece are in memory when a view of it was gone through, where at least `least` come at a time; and how far
/// it goes along each dimension.
fn touched(view: &Layout, least: u64) -> Result<(u64, Vec<Along>)> {
    let bytes = |places: u64| {
        u64::try_from((u128::from(places) * u128::from(view.bits())).div_ceil(8)).unwrap_or(u64::MAX)
    };
    // Places side by side are no jump, however wide rows are.
    let mut gap = (8 * least / u64::from(view.bits().max(1))).max(1);
    let mut along = Along::all(view, gap)?;
    let run = |along: &[Along]| along.iter().fold(1_u64, |run, along| run.saturating_add(along.run));
    while run(&along) > gap {
        gap = run(&along);
        along = Along::all(view, gap)?;
    }
    let times = along.iter().fold(1_u64, |times, along| times.saturating_mul(along.jumps));
    let each = bytes(run(&along)).checked_next_multiple_of(least).unwrap_or(u64::MAX);
    let span = along.iter().fold(1_u64, |span, along| span.saturating_add(along.reach));
    Ok((times.saturating_mul(each).min(bytes(span)), along))
}

impl<'a> Gather<'a, '_> {
    /// Fills a region of the array, in its layout, from the pieces that have it. Those that are needed again are kept.
    pub(crate) fn run(
        &self,
        (region, layout): (&Region, &Layout),
        space: &mut dyn Space,
        kept: &mut HashMap<u64, Held<'a>>,
        is_needed: &dyn Fn(&Region) -> bool,
    ) -> Result<()> {
        let from = self.from.shards();
        let mut sources = from.grid().sources(region);
        let mut ahead = VecDeque::new();
        loop {
            if ahead.is_empty() {
                self.read(&mut sources, kept, &mut ahead)?;
            }
            let Some((number, shared, held)) = ahead.pop_front() else { return Ok(()) };
            let whole = from.grid().region(number)?;
            self.part((&whole, &held), &shared, (region, layout), space)?;
            match is_needed(&whole) {
                true => drop(kept.insert(number, held)),
                // A store may hold its files open, and what was read of them then stays in memory.
                false => held.forget(),
            }
        }
    }

    /// Reads the next source piece, and of somebody far away the next ones as far as a window goes.
    fn read(
        &self,
        sources: &mut dyn Iterator<Item = (u64, Region)>,
        kept: &mut HashMap<u64, Held<'a>>,
        ahead: &mut VecDeque<(u64, Region, Held<'a>)>,
    ) -> Result<()> {
        let most = match self.from.is_far() {
            true => (self.window / self.from.cost()?.memory.max(1)).clamp(1, AHEAD),
            false => 1,
        };
        let next: Vec<(u64, Region)> = sources.take(usize::try_from(most).unwrap_or(1)).collect();
        let missing: Vec<u64> =
            next.iter().map(|(number, _)| *number).filter(|number| !kept.contains_key(number)).collect();
        let mut read = missing.iter().copied().zip(self.from.get_all(&missing)?).collect::<HashMap<_, _>>();
        for (number, shared) in next {
            // One of the two has it.
            if let Some(held) = kept.remove(&number).or_else(|| read.remove(&number)) {
                ahead.push_back((number, shared, held));
            }
        }
        Ok(())
    }

    /// Moves what a source piece and a region of the array share, or a part of that.
    pub(crate) fn part(
        &self,
        (whole, held): (&Region, &Held),
        shared: &Region,
        (region, layout): (&Region, &Layout),
        space: &mut dyn Space,
    ) -> Result<()> {
        let from = self.from.shards();
        let (start, at) = (shared.within(&whole.start).start, shared.within(&region.start).start);
        let side = Side { layout, start: &at };
        let source = from.layout_of(whole)?;
        let Some(bytes) = held.bytes() else {
            let fill = (from.fill(), source.bits());
            return self.transfers.fill(self.pool, &shared.size, fill, (side, space.bytes()));
        };
        let (a, b) = (Side { layout: &source, start: &start }.view(&shared.size)?, side.view(&shared.size)?);
        let least =
            [if held.is_mapped() { AROUND } else { 1 }, if space.is_mapped() { AROUND } else { PAGE }];
        cut(&plain(&a), &plain(&b), (least, self.window), &mut |from, to, touched| {
            self.transfers.run_views(self.pool, (from, bytes), (to, space.bytes()))?;
            let before = self.touched.fetch_add(touched, Ordering::Relaxed);
            if before.saturating_add(touched) >= self.window {
                self.touched.store(0, Ordering::Relaxed);
                held.forget();
                space.forget();
            }
            Ok(())
        })?;
        held.intact()
    }
}

/// What moves a part of a region, and how many bytes are in memory for it.
type Take<'a> = &'a mut dyn FnMut(&Layout, &Layout, u64) -> Result<()>;

/// Moves a region at once, or in halves where more than a window would be in memory: along the dimension that reaches the furthest
/// on both sides.
fn cut(from: &Layout, to: &Layout, ([got, put], window): ([u64; 2], u64), take: Take) -> Result<()> {
    if from.is_empty() || window == u64::MAX {
        return take(from, to, 0);
    }
    let ((read, a), (written, b)) = (touched(from, got)?, touched(to, put)?);
    let both = read.saturating_add(written);
    let furthest = |dim: &usize| u128::from(a[*dim].reach) + u128::from(b[*dim].reach);
    let longest = (0..from.rank()).filter(|&dim| from.dims()[dim] > 1).max_by_key(furthest);
    let Some(dim) = longest.filter(|_| both > window) else { return take(from, to, both) };
    let (size, half) = (from.dims()[dim], from.dims()[dim] / 2);
    // Tiles are whole where they may be: parts of them are harder to move.
    let half = [128, 8].into_iter().find(|tile| half >= *tile).map_or(half, |tile| half - half % tile);
    for range in [0..half, half..size] {
        cut(&from.slice(dim, range.clone(), 1)?, &to.slice(dim, range, 1)?, ([got, put], window), take)?;
    }
    Ok(())
}

/// The same view in strides alone, if they say it: a tile as large as its piece is none that a cut has to spare.
fn plain(view: &Layout) -> Layout {
    let strided = view.to_strides().and_then(|strided| {
        Layout::strided(view.dims(), view.bits(), &strided.strides, Some(strided.first), Some(view.size()))
    });
    strided.unwrap_or_else(|_| view.clone())
}

/// Writes an element to all places of a piece.
pub(crate) fn fill(bytes: &mut [u8], layout: &Layout, fill: u128) -> Result<()> {
    let places = Layout::row_major(&[layout.size()], layout.bits())?;
    let side = Side { layout: &places, start: &[0] };
    // Elements that stay what they are may be of any type.
    Transfers::new(Element::U8, Element::U8)?.fill(
        &Inline,
        places.dims(),
        (fill, layout.bits()),
        (side, bytes),
    )
}
