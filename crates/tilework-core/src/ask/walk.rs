//! Walking a layout: its elements in index order, its places in memory order, and its runs.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::algebra::canon::Canon;
use crate::ask::locate::LOCATE_LIMIT;
use crate::layout::Layout;
use crate::layout::parts::PartKind;

/// A maximal stretch of places, one after the other, that all hold elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The offset of the first place.
    pub offset: u64,
    /// Number of places.
    pub len: u64,
}

impl Layout {
    /// Calls `visit` with every element in row-major index order, the last dimension fastest: its index and its offset.
    ///
    /// Along a row the offset is carried: it moves by the stride of the last dimension, and at every multiple of a cut
    /// by what the cut adds. Only a new row is computed from its index.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[2, 2], 32)?.minor_to_major(&[0, 1])?.build()?;
    /// let mut offsets = Vec::new();
    /// layout.for_each_in_index_order(|_, offset| offsets.push(offset));
    /// assert_eq!(offsets, [0, 2, 1, 3]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn for_each_in_index_order(&self, mut visit: impl FnMut(&[u64], u64)) {
        let _: ControlFlow<()> = self.walk_index_order(|index, offset| {
            visit(index, offset);
            ControlFlow::Continue(())
        });
    }

    /// The same, until `visit` breaks.
    pub(crate) fn walk_index_order<B>(
        &self,
        mut visit: impl FnMut(&[u64], u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.swizzle() {
            None => self.walk_before_swizzle(visit),
            Some(swizzle) => self.walk_before_swizzle(|index, place| visit(index, swizzle.apply(place))),
        }
    }

    /// The same with the places as they are before they are exchanged.
    fn walk_before_swizzle<B>(&self, mut visit: impl FnMut(&[u64], u64) -> ControlFlow<B>) -> ControlFlow<B> {
        if self.is_empty() {
            return ControlFlow::Continue(());
        }
        let canon = self.canon();
        let mut index: SmallVec<[u64; 6]> = SmallVec::from_elem(0, self.rank());
        let index: &mut [u64] = &mut index;
        let Some(last) = self.rank().checked_sub(1) else { return visit(index, canon.eval(index)) };
        let row = Row::new(canon, last);
        loop {
            match &row {
                Some(row) => row.walk(index, last, self.dims()[last], canon.eval(index), &mut visit)?,
                None => {
                    for i in 0..self.dims()[last] {
                        index[last] = i;
                        visit(index, canon.eval(index))?;
                    }
                }
            }
            index[last] = 0;
            let mut dim = last;
            loop {
                if dim == 0 {
                    return ControlFlow::Continue(());
                }
                dim -= 1;
                index[dim] += 1;
                if index[dim] < self.dims()[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
    }

    /// Calls `visit` with every element in memory order: its index and its offset, the offset ascending.
    ///
    /// The index is carried along from place to place instead of being computed from the offset. A place shared by
    /// several elements (a broadcast) is visited once.
    ///
    /// ```
    /// use tilework::Layout;
    /// let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
    /// let mut seen = Vec::new();
    /// layout.for_each_in_memory_order(|index, offset| seen.push((index.to_vec(), offset)));
    /// assert_eq!(seen[4], (vec![0, 2], 4));
    /// assert_eq!(seen[9], (vec![1, 4], 10)); // 9 is padding
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn for_each_in_memory_order(&self, mut visit: impl FnMut(&[u64], u64)) {
        if self.is_empty() {
            return;
        }
        // The wheels know nothing of places that are exchanged.
        match self.swizzle().is_none().then(|| Odometer::new(self)).flatten() {
            // Almost nothing but padding: the wheels would turn through all of it.
            Some(_) if self.len() <= LOCATE_LIMIT && self.len() < self.size() / 1024 => {
                self.for_each_sorted(&mut visit);
            }
            Some(odometer) => odometer.run(&mut visit),
            // Elements may be far apart, or in places that take a search to resolve: they are asked, not the places.
            None if self.len() <= LOCATE_LIMIT => self.for_each_sorted(&mut visit),
            None => self.for_each_located(&mut visit),
        }
    }

    /// The same by sorting the elements.
    fn for_each_sorted(&self, visit: &mut impl FnMut(&[u64], u64)) {
        let mut elements: Vec<(u64, u64)> = Vec::with_capacity(self.len() as usize);
        let _: ControlFlow<()> = self.walk_index_order(|_, offset| {
            elements.push((offset, elements.len() as u64));
            ControlFlow::Continue(())
        });
        elements.sort_unstable();
        let mut index = SmallVec::new();
        for at in elements.chunk_by(|a, b| a.0 == b.0) {
            let (offset, mut number) = at[0];
            // Of several elements at one place, `locate` says which is meant; if it cannot, the first.
            if at.len() == 1 || self.locate_into(offset, &mut index) != Ok(None) {
                index.clear();
                index.resize(self.rank(), 0);
                for (i, size) in index.iter_mut().zip(self.dims()).rev() {
                    (*i, number) = (number % size, number / size);
                }
            }
            visit(&index, offset);
        }
    }

    /// The offsets of all elements, ascending.
    pub(crate) fn sorted_offsets(&self) -> Vec<u64> {
        let mut offsets = Vec::with_capacity(self.len() as usize);
        self.for_each_in_index_order(|_, offset| offsets.push(offset));
        offsets.sort_unstable();
        offsets
    }

    /// The same by asking every place. For merged expressions and overlapping strides.
    fn for_each_located(&self, visit: &mut impl FnMut(&[u64], u64)) {
        let mut index = SmallVec::new();
        for offset in 0..self.size() {
            if let Ok(None) = self.locate_into(offset, &mut index) {
                visit(&index, offset);
            }
        }
    }

    /// The maximal runs of places that hold elements, in memory order.
    ///
    /// ```
    /// use tilework::{Layout, Run};
    /// let rows = Layout::strided(&[3, 3], 32, &[5, 1], None, None)?;
    /// assert_eq!(rows.runs(), [Run { offset: 0, len: 3 }, Run { offset: 5, len: 3 }, Run { offset: 10, len: 3 }]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        self.for_each_run(|run| runs.push(run));
        runs
    }

    /// Calls `visit` with each maximal run, in memory order, keeping none: for layouts with more runs than fit memory.
    pub fn for_each_run(&self, mut visit: impl FnMut(Run)) {
        if self.size() > 0 && self.places() == Some(self.size()) {
            return visit(Run { offset: 0, len: self.size() });
        }
        let mut open: Option<Run> = None;
        self.for_each_in_memory_order(|_, offset| match &mut open {
            Some(run) if run.offset + run.len == offset => run.len += 1,
            _ => {
                if let Some(run) = open.replace(Run { offset, len: 1 }) {
                    visit(run);
                }
            }
        });
        if let Some(run) = open {
            visit(run);
        }
    }
}

/// How the offset moves along the last dimension: by `stride` at each step, and by `.1` at each multiple of `.0`.
struct Row {
    stride: u64,
    cuts: SmallVec<[(u64, u64); 4]>,
}

impl Row {
    /// None where the form is not plain, so that steps depend on more than the position in the row.
    fn new(canon: &Canon, last: usize) -> Option<Row> {
        let cuts = canon.cuts(last);
        let rest = cuts[1..].iter().map(|&(by, coefficient)| (by, coefficient as u64));
        canon.is_plain().then(|| Row { stride: cuts[0].1 as u64, cuts: rest.collect() })
    }

    #[inline]
    fn walk<B>(
        &self,
        index: &mut [u64],
        last: usize,
        size: u64,
        mut offset: u64,
        visit: &mut impl FnMut(&[u64], u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut start = 0;
        while start < size {
            let end = self.cuts.iter().fold(size, |end, &(by, _)| end.min((start / by + 1) * by));
            for i in start..end {
                index[last] = i;
                visit(index, offset)?;
                offset = offset.wrapping_add(self.stride);
            }
            for &(by, coefficient) in &self.cuts {
                if end.is_multiple_of(by) {
                    offset = offset.wrapping_add(coefficient);
                }
            }
            start = end;
        }
        ControlFlow::Continue(())
    }
}

/// Steps through the values of the axes, the axis with the smallest stride fastest, carrying the index along.
///
/// This works where the index is a sum over the axes: everything made by splitting alone. An expression with padding
/// is a *gauge*: its value is carried along as well, and while any gauge stands at or above its limit, the place is
/// padding.
struct Odometer {
    wheels: SmallVec<[Wheel; 10]>,
    index: SmallVec<[u64; 6]>,
    base: u64,
    gauges: SmallVec<[Gauge; 8]>,
}

struct Wheel {
    extent: u64,
    stride: u64,
    /// What one step adds to the index; none where the axis belongs to no dimension.
    dim: Option<(usize, u64)>,
    /// Gauges that it moves, and by how much.
    gauges: SmallVec<[(usize, u64); 2]>,
}

struct Gauge {
    value: u64,
    limit: u64,
}

impl Odometer {
    fn new(layout: &Layout) -> Option<Odometer> {
        let parts = layout.index_parts();
        let axes = layout.axes();
        let mut above = 0_u64;
        for axis in axes.iter().rev() {
            let stride = u64::try_from(axis.stride).ok().filter(|&stride| stride > above)?;
            above += stride * (axis.extent - 1);
        }
        let mut odometer = Odometer {
            wheels: SmallVec::new(),
            index: SmallVec::from_elem(0, layout.rank()),
            base: layout.base(),
            gauges: SmallVec::new(),
        };
        // The gauge of an expression, made when first moved.
        let mut gauge_of: SmallVec<[Option<usize>; 16]> = SmallVec::from_elem(None, parts.len());
        for axis in axes {
            let mut wheel =
                Wheel { extent: axis.extent, stride: axis.stride as u64, dim: None, gauges: SmallVec::new() };
            let (mut id, mut weight): (usize, u64) = (axis.part, 1);
            loop {
                let part = parts[id];
                let limit = match part.kind {
                    PartKind::Dim(_) | PartKind::Unit => part.reach,
                    _ if part.kind.tile() == 0 => part.reach,
                    _ => part.extent,
                };
                // An axis cannot pass the limit of its own extent; only sums and padded sizes can.
                if limit < axis.extent || id != axis.part {
                    let gauge = *gauge_of[id].get_or_insert_with(|| {
                        odometer.gauges.push(Gauge { value: 0, limit });
                        odometer.gauges.len() - 1
                    });
                    wheel.gauges.push((gauge, weight));
                }
                match part.kind {
                    PartKind::Dim(dim) => {
                        wheel.dim = Some((dim, weight));
                        break;
                    }
                    PartKind::Unit => break,
                    PartKind::Tiles { of, by, .. } => (id, weight) = (of, weight.checked_mul(by)?),
                    PartKind::Within { of, .. } => id = of,
                    PartKind::Combined { .. } | PartKind::Moved { .. } => return None,
                }
            }
            odometer.wheels.push(wheel);
        }
        odometer.drop_idle_gauges();
        Some(odometer)
    }

    /// A gauge that cannot reach its limit watches nothing.
    fn drop_idle_gauges(&mut self) {
        let mut most: SmallVec<[u64; 8]> = SmallVec::from_elem(0, self.gauges.len());
        for wheel in &self.wheels {
            for &(gauge, weight) in &wheel.gauges {
                most[gauge] = most[gauge].saturating_add(weight.saturating_mul(wheel.extent - 1));
            }
        }
        let gauges = &self.gauges;
        for wheel in &mut self.wheels {
            wheel.gauges.retain(|&mut (gauge, _)| most[gauge] >= gauges[gauge].limit);
        }
    }

    /// Turns the wheels. The two fastest are plain loops, for speed: `row` and `inner`.
    fn run(mut self, visit: &mut impl FnMut(&[u64], u64)) {
        let Some(inner) = self.wheels.pop() else { return visit(&self.index, self.base) };
        let row = self.wheels.pop().unwrap_or(Wheel {
            extent: 1,
            stride: 0,
            dim: inner.dim.map(|(dim, _)| (dim, 0)),
            gauges: SmallVec::new(),
        });
        // A block is all values of the two fast wheels; it holds no padding while each gauge has this much room.
        let room: SmallVec<[u64; 8]> = (0..self.gauges.len())
            .map(|place| [&row, &inner].iter().map(|wheel| wheel.most(place)).sum::<u64>())
            .collect();
        let mut counts: SmallVec<[u64; 10]> = SmallVec::from_elem(0, self.wheels.len());
        let mut offset = self.base;
        loop {
            let empty = self.gauges.iter().any(|gauge| gauge.value >= gauge.limit);
            let full = self.gauges.iter().zip(&room).all(|(gauge, room)| gauge.value + room < gauge.limit);
            match (full, row.dim, inner.dim) {
                _ if empty => {}
                (true, Some(row_dim), Some(inner_dim)) => {
                    let rows =
                        Fast { dim: row_dim.0, weight: row_dim.1, extent: row.extent, stride: row.stride };
                    let inner = Fast {
                        dim: inner_dim.0,
                        weight: inner_dim.1,
                        extent: inner.extent,
                        stride: inner.stride,
                    };
                    // The usual inner extents of packed elements as constants, so that their loops unroll.
                    let index = &mut self.index;
                    match inner.extent {
                        2 => full_block(index, rows, Fast { extent: 2, ..inner }, offset, visit),
                        4 => full_block(index, rows, Fast { extent: 4, ..inner }, offset, visit),
                        _ => full_block(index, rows, inner, offset, visit),
                    }
                }
                _ => self.edge_block(&row, &inner, offset, visit),
            }
            let mut wheel = self.wheels.len();
            loop {
                if wheel == 0 {
                    return;
                }
                wheel -= 1;
                counts[wheel] += 1;
                let moved = &self.wheels[wheel];
                if counts[wheel] < moved.extent {
                    offset += moved.stride;
                    turn(&mut self.index, &mut self.gauges, moved, 1);
                    break;
                }
                offset -= moved.stride * (moved.extent - 1);
                turn(&mut self.index, &mut self.gauges, moved, 1_u64.wrapping_sub(moved.extent));
                counts[wheel] = 0;
            }
        }
    }

    /// A block with padding in it. Turning a wheel only raises gauges, so in each row the elements come first.
    fn edge_block(&mut self, row: &Wheel, inner: &Wheel, offset: u64, visit: &mut impl FnMut(&[u64], u64)) {
        for r in 0..row.extent {
            let mut steps = inner.extent;
            for (place, gauge) in self.gauges.iter().enumerate() {
                let room = gauge.limit.saturating_sub(gauge.value);
                let weight = inner.gauges.iter().find(|moved| moved.0 == place).map_or(0, |moved| moved.1);
                steps =
                    steps.min(if weight > 0 { room.div_ceil(weight) } else { room.saturating_mul(u64::MAX) });
            }
            let offset = offset + r * row.stride;
            let (dim, weight) = inner.dim.unwrap_or((0, 0));
            let start = self.index.get(dim).copied().unwrap_or(0);
            for i in 0..steps {
                if let Some(at) = self.index.get_mut(dim) {
                    *at = start + i * weight;
                }
                visit(&self.index, offset + i * inner.stride);
            }
            if let Some(at) = self.index.get_mut(dim) {
                *at = start;
            }
            turn(&mut self.index, &mut self.gauges, row, 1);
        }
        turn(&mut self.index, &mut self.gauges, row, row.extent.wrapping_neg());
    }
}

impl Wheel {
    /// The most that it adds to a gauge.
    fn most(&self, gauge: usize) -> u64 {
        let moves = self.gauges.iter().filter(|moved| moved.0 == gauge);
        moves.map(|moved| moved.1 * (self.extent - 1)).sum()
    }
}

/// A wheel of a block without padding.
#[derive(Clone, Copy)]
struct Fast {
    dim: usize,
    weight: u64,
    extent: u64,
    stride: u64,
}

/// All elements of a block without padding.
#[inline(always)]
fn full_block(index: &mut [u64], row: Fast, inner: Fast, offset: u64, visit: &mut impl FnMut(&[u64], u64)) {
    if row.dim >= index.len() || inner.dim >= index.len() {
        return; // cannot be: wheels belong to dimensions of the index; said once here instead of at every element
    }
    let (row_start, inner_start) = (index[row.dim], index[inner.dim]);
    // Both wheels may turn the same dimension. Nothing is read back from the index, which `visit` may have seen.
    let shared = if row.dim == inner.dim { row.weight } else { 0 };
    for r in 0..row.extent {
        index[row.dim] = row_start + r * row.weight;
        let start = inner_start + r * shared;
        let offset = offset + r * row.stride;
        for i in 0..inner.extent {
            index[inner.dim] = start + i * inner.weight;
            visit(index, offset + i * inner.stride);
        }
    }
    index[row.dim] = row_start;
    index[inner.dim] = inner_start;
}

/// Moves the index and the gauges of a wheel by a number of steps, which may be negative modulo 2^64.
fn turn(index: &mut [u64], gauges: &mut [Gauge], wheel: &Wheel, steps: u64) {
    if let Some((dim, weight)) = wheel.dim {
        index[dim] = index[dim].wrapping_add(weight.wrapping_mul(steps));
    }
    for &(gauge, weight) in &wheel.gauges {
        gauges[gauge].value = gauges[gauge].value.wrapping_add(weight.wrapping_mul(steps));
    }
}
