//! What a layout costs and what it is like: padding by cause, packed, injective, broadcast, monotonic.

use crate::order::InOrder;
use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::algebra::canon::divide_each_other;
use crate::algebra::linear::Term;
use crate::ask::locate::{LOCATE_LIMIT, Level, Padding, Step, overlap_from};
use crate::layout::Layout;
use crate::layout::parts::{PartKind, dims_under};

/// One cause of padding: some dimensions are allocated larger than they are.
///
/// In a compact layout the factors `to / from` of all growths, multiplied, are how many times the allocated size is the
/// number of elements (but for the tail, which adds instead). Free strides end with the last element, so there the
/// product counts more: as if the last step of every dimension were as long as the others. Places before their first
/// element add, like the tail. What a view leaves out is no growth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth {
    /// What allocates it, and in which dimensions.
    pub cause: Padding,
    /// The extent before.
    pub from: u64,
    /// The allocated extent.
    pub to: u64,
}

impl Growth {
    /// How many times larger: `to / from`.
    pub fn factor(&self) -> f64 {
        self.to as f64 / self.from as f64
    }
}

impl Layout {
    /// Every cause of padding, in the order in which they apply: padded dimensions, tile by tile, strides, the tail.
    ///
    /// ```
    /// use tilework::{Layout, Level};
    /// // s32[8388608,8,4]{2,1,0:T(8,128)}: dimension 2 is 4, tiled to 128: 32 times
    /// let layout = Layout::builder(&[8388608, 8, 4], 32)?.tile(&[Some(8), Some(128)])?.build()?;
    /// let growth = &layout.growths()[0];
    /// assert_eq!((growth.cause.level, &growth.cause.dims[..]), (Level::Tile(1), &[2][..]));
    /// assert_eq!((growth.from, growth.to, growth.factor()), (4, 128, 32.0));
    /// assert_eq!(layout.bytes(), 32 << 30);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn growths(&self) -> Vec<Growth> {
        let mut growths = Vec::new();
        let mut grows = |level, dims, from, to| {
            if to > from {
                growths.push(Growth { cause: Padding { level, dims }, from, to });
            }
        };
        // Where nothing is allocated, nothing grew.
        let parts = if self.size() > self.tail() { self.index_parts() } else { &[] };
        for (id, part) in parts.iter().enumerate() {
            // A view puts other expressions in the place of a dimension. What is padded below a shift counts there.
            let is_padded_below = match part.kind {
                PartKind::Combined { .. } => true,
                PartKind::Moved { of, .. } => parts[of].extent > parts[of].reach,
                _ => false,
            };
            if part.kind.tile() == 0 && !is_padded_below {
                grows(Level::PaddedDimensions, dims_under(parts, id), part.reach, part.extent);
            }
        }
        for part in parts.iter().filter(|part| part.kind.tile() > 0) {
            // A remainder that no place depends on is not padded.
            if let PartKind::Within { of, tile, by } = part.kind
                && part.extent == by
            {
                let extent = parts[of].extent;
                let whole = extent.div_ceil(by).saturating_mul(by);
                grows(Level::Tile(tile), dims_under(parts, of), extent, whole);
            }
        }
        if !self.is_compact() {
            // The stride of an axis over what the next minor one fills.
            let axes = self.axes();
            for (place, axis) in axes.iter().enumerate() {
                let (dims, from) = match axes.get(place + 1) {
                    Some(next) => {
                        (dims_under(parts, next.part), next.stride.unsigned_abs().saturating_mul(next.extent))
                    }
                    None => (dims_under(parts, axis.part), 1),
                };
                grows(Level::Stride, dims, from, axis.stride.unsigned_abs());
            }
            let before = u64::try_from(self.lowest()).unwrap_or(0);
            let last = self.size() - self.tail();
            if !self.is_empty() {
                grows(Level::Stride, Vec::new(), last - before, last);
            }
        }
        grows(Level::Tail, Vec::new(), self.size() - self.tail(), self.size());
        growths
    }

    /// Number of places that hold an element. A broadcast element counts once.
    ///
    /// None where free strides overlap, or a broadcast was merged and sliced, so that the elements would have to be
    /// counted one by one and are more than [`LOCATE_LIMIT`].
    pub fn places(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        if self.is_injective() == Some(true) {
            return Some(self.len());
        }
        let repeated = self.broadcast_dims();
        if !repeated.is_empty() && self.is_injective_but_for_whole_dims() {
            let rest = self.dims().iter().enumerate().filter(|(dim, _)| !repeated.contains(dim));
            return Some(rest.map(|(_, size)| size).product());
        }
        if self.len() > LOCATE_LIMIT {
            return None;
        }
        Some(self.sorted_offsets().chunk_by(|a, b| a == b).count() as u64)
    }

    /// Whether every index of the dimensions that are not broadcast has a place of its own.
    fn is_injective_but_for_whole_dims(&self) -> bool {
        let is_dim = |id: usize| matches!(self.index_parts()[id].kind, PartKind::Dim(_) | PartKind::Unit);
        let hides_whole_dims = self.hidden().all(|id| match self.index_parts()[id].kind {
            PartKind::Moved { of, .. } => is_dim(of),
            _ => is_dim(id),
        });
        hides_whole_dims && (self.is_compact() || self.overlaps() == Some(false))
    }

    /// Padding, in elements: allocated places that hold no element. None where [`Layout::places`] is.
    pub fn padding(&self) -> Option<u64> {
        self.places().map(|places| self.size() - places)
    }

    /// The dimensions larger than 1 along which the offset does not change. Without elements there are none.
    ///
    /// ```
    /// use tilework::Layout;
    /// assert_eq!(Layout::row_major(&[1, 3], 32)?.broadcast(&[2, 3])?.broadcast_dims(), [0]);
    /// assert!(Layout::row_major(&[0, 3], 32)?.broadcast_dims().is_empty());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn broadcast_dims(&self) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.rank());
        let canon = self.canon();
        let terms = canon.form().terms.iter();
        for &(term, _) in terms.chain(canon.quotients().iter().flat_map(|quotient| &quotient.of.terms)) {
            if let Term::Dim(dim) = term {
                seen[dim] = true;
            }
        }
        (0..self.rank()).filter(|&dim| self.dims()[dim] > 1 && !seen[dim]).collect()
    }

    /// Whether some dimension is broadcast.
    pub fn is_broadcast(&self) -> bool {
        !self.broadcast_dims().is_empty()
    }

    /// Whether every element has a place of its own.
    ///
    /// None where free strides overlap so that more than [`LOCATE_LIMIT`] steps would be needed
    /// to know.
    pub fn is_injective(&self) -> Option<bool> {
        if self.is_empty() {
            return Some(true);
        }
        if self.is_broadcast() {
            return Some(false);
        }
        if self.is_compact() {
            // A compact buffer has a place for every value of every expression it was built from, and a view of it
            // shows each of them once unless a part of a dimension was broadcast.
            return self.hides_no_part().then_some(true).or_else(|| self.injective_by_table());
        }
        match self.overlaps()? {
            false if self.hides_no_part() => Some(true),
            // Overlapping strides need not meet within a view.
            true if self.shows_all() => Some(false),
            _ => self.injective_by_table(),
        }
    }

    /// Whether each expression with more than one value is used by an axis or by another expression.
    pub(crate) fn hides_no_part(&self) -> bool {
        self.hidden().next().is_none()
    }

    /// The expressions with more than one value that no axis and no other expression uses.
    fn hidden(&self) -> impl Iterator<Item = usize> {
        let mut used: SmallVec<[bool; 16]> = SmallVec::from_elem(false, self.index_parts().len());
        for axis in self.axes() {
            used[axis.part] = true;
        }
        for part in self.index_parts() {
            for below in part.kind.made_of() {
                used[below] = true;
            }
        }
        (0..)
            .zip(self.index_parts().iter().zip(used))
            .filter(|(_, (part, used))| !used && part.reach > 1)
            .map(|(id, _)| id)
    }

    /// Whether the indices give the axes every value that places are allocated for: no view has narrowed them, and nothing
    /// is padded.
    fn shows_all(&self) -> bool {
        self.index_parts().iter().all(|part| {
            part.reach == part.extent
                && !matches!(
                    part.kind,
                    PartKind::Moved { .. } | PartKind::Within { .. } | PartKind::Tiles { .. }
                )
        })
    }

    fn injective_by_table(&self) -> Option<bool> {
        (self.len() <= LOCATE_LIMIT).then(|| self.sorted_offsets().is_sorted_by(|a, b| a < b))
    }

    /// Whether two different values of the axes give the same offset.
    fn overlaps(&self) -> Option<bool> {
        let steps: SmallVec<[Step; 10]> = self.axes().iter().map(Step::of).collect();
        for place in 0..steps.len() {
            if overlap_from(&steps, place)?.is_some() {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether there are as many places as elements and every element has its own.
    ///
    /// None where [`Layout::is_injective`] is.
    pub fn is_packed(&self) -> Option<bool> {
        if self.size() != self.len() {
            return Some(false);
        }
        self.is_injective()
    }

    /// Whether some place before the tail holds no element.
    ///
    /// Exact for free strides, however they overlap; otherwise None where [`Layout::places`] is.
    ///
    /// ```
    /// use tilework::Layout;
    /// let gaps = |strides: &[i64]| Layout::strided(&[4, 2], 32, strides, None, None).map(|layout| layout.has_gaps());
    /// assert_eq!(gaps(&[1, 3])?, Some(false)); // 0 to 3, and 3 to 6
    /// assert_eq!(gaps(&[1, 5])?, Some(true)); // 0 to 3, and 5 to 8
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn has_gaps(&self) -> Option<bool> {
        if self.is_empty() {
            return Some(self.size() > self.tail());
        }
        let Some(strides) = self.canon().strides() else {
            return self.padding().map(|padding| padding > self.tail());
        };
        // By ascending stride. If what is smaller fills 0..=reach, a stride up to reach + 1 lays copies of that side by
        // side or over each other, and fills again; beyond that, place reach + 1 stays empty for good.
        let mut steps: SmallVec<[(u64, u64); 8]> = strides
            .iter()
            .zip(self.dims())
            .filter(|(stride, size)| **size > 1 && **stride != 0)
            .map(|(stride, &size)| (stride.unsigned_abs(), size))
            .collect();
        steps.order();
        let mut reach = 0_u128;
        for (stride, size) in steps {
            if u128::from(stride) > reach + 1 {
                return Some(true);
            }
            reach += u128::from(stride) * u128::from(size - 1);
        }
        // Places in front of the first element, or left over behind the last by a slice, are gaps too.
        Some(reach + 1 < u128::from(self.size() - self.tail()))
    }

    /// Whether a later element in row-major index order always has a larger offset.
    ///
    /// None if the layout is coupled or cut unevenly, and too large to walk.
    pub fn is_monotonic(&self) -> Option<bool> {
        if self.len() <= 1 {
            return Some(true);
        }
        let canon = self.canon();
        let is_plain = canon.is_plain() && self.swizzle().is_none();
        let by_form = is_plain.then(|| self.monotonic_by_form()).flatten();
        by_form.or_else(|| {
            (self.len() <= LOCATE_LIMIT).then(|| {
                let mut last = None;
                let walk = self.walk_index_order(|_, offset| match last.replace(offset) {
                    Some(last) if last >= offset => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                });
                walk.is_continue()
            })
        })
    }

    /// Each dimension's smallest step must exceed everything that the more minor dimensions add up to.
    ///
    /// From x − 1 to x, `stride·x + Σ c·⌊x/D⌋` moves by the stride and by the c of every D that divides x. If the cuts
    /// divide each other, those that divide x come before those that do not.
    fn monotonic_by_form(&self) -> Option<bool> {
        let canon = self.canon();
        let mut below = 0_i128;
        for (dim, &size) in self.dims().iter().enumerate().rev().filter(|(_, size)| **size > 1) {
            let cuts = canon.cuts(dim);
            if !divide_each_other(&cuts) {
                return None;
            }
            let mut step = 0;
            for &(_, coefficient) in &cuts {
                step += coefficient;
                if step <= below {
                    return Some(false);
                }
            }
            below += cuts.iter().map(|&(cut, c)| c * i128::from((size - 1) / cut)).sum::<i128>();
        }
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;

    #[test]
    fn a_cause_of_padding_names_its_level_and_dimension() -> Result<()> {
        let layout =
            Layout::builder(&[2, 3], 32)?.padded(&[3, 5])?.tile(&[Some(2), Some(4)])?.align(64).build()?;
        let found: Vec<_> =
            layout.growths().into_iter().map(|g| (g.cause.level, g.cause.dims, g.from, g.to)).collect();
        assert_eq!(
            found,
            [
                (Level::PaddedDimensions, vec![0], 2, 3),
                (Level::PaddedDimensions, vec![1], 3, 5),
                (Level::Tile(1), vec![0], 3, 4),
                (Level::Tile(1), vec![1], 5, 8),
                (Level::Tail, vec![], 32, 64),
            ]
        );
        let rows = Layout::strided(&[2, 3], 32, &[5, 1], None, Some(10))?;
        let found: Vec<_> =
            rows.growths().into_iter().map(|g| (g.cause.level, g.cause.dims, g.from, g.to)).collect();
        assert_eq!(found, [(Level::Stride, vec![1], 3, 5), (Level::Tail, vec![], 8, 10)]);
        Ok(())
    }
}
