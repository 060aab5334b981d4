//! What a plan is made of: nests of loops that are affine on both sides.

use smallvec::SmallVec;

use crate::few::Few;

/// One loop of a nest: `extent` turns, each of them some elements further on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loop {
    /// Number of turns, at least 2.
    pub extent: u64,
    /// What one turn moves in the source, in elements.
    pub from: i64,
    /// What one turn moves in the destination, in elements.
    pub to: i64,
}

/// Loops that move elements from the source to the destination, from each of some starting points.
///
/// ```text
/// for (from, to) in starts
///   for i₀ in 0..loops[0].extent
///     for i₁ in 0..loops[1].extent
///       …  destination[to + Σ i·loops.to] = source[from + Σ i·loops.from]
/// ```
///
/// Loops stand from the largest stride in the destination to the smallest. There is more than one start only where the
/// two layouts have tiles that do not divide each other, or merged dimensions that no loop can follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest {
    /// Offsets in the source and the destination, in elements.
    pub starts: Few<(u64, u64), 1>,
    /// The loops, from the outermost to the innermost.
    pub loops: Few<Loop, 6>,
}

/// The loops of a nest while it is made.
pub(crate) type Loops = SmallVec<[Loop; 6]>;

impl Nest {
    /// Number of elements that the nest writes.
    pub fn elements(&self) -> u64 {
        self.loops.iter().map(|l| l.extent).product::<u64>() * self.starts.len() as u64
    }

    /// Calls `visit` with the offsets of each element, in the source and in the destination, in the order of the loops.
    ///
    /// ```
    /// use tilework::{Layout, Plan, PlanOptions};
    /// let rows = Layout::row_major(&[2, 3], 8)?;
    /// let columns = Layout::builder(&[2, 3], 8)?.minor_to_major(&[0, 1])?.build()?;
    /// let plan = Plan::new(&rows, &columns, &PlanOptions::default())?;
    /// let mut moves = Vec::new();
    /// plan.copies()[0].for_each(|from, to| moves.push((from, to)));
    /// assert_eq!(moves, [(0, 0), (3, 1), (1, 2), (4, 3), (2, 4), (5, 5)]);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn for_each(&self, mut visit: impl FnMut(u64, u64)) {
        for &(mut from, mut to) in &self.starts {
            let mut turns: SmallVec<[u64; 6]> = SmallVec::from_elem(0, self.loops.len());
            'elements: loop {
                visit(from, to);
                for (turn, each) in turns.iter_mut().zip(&self.loops).rev() {
                    *turn += 1;
                    if *turn < each.extent {
                        from = from.wrapping_add(each.from as u64);
                        to = to.wrapping_add(each.to as u64);
                        continue 'elements;
                    }
                    from = from.wrapping_sub((each.from as u64).wrapping_mul(each.extent - 1));
                    to = to.wrapping_sub((each.to as u64).wrapping_mul(each.extent - 1));
                    *turn = 0;
                }
                break;
            }
        }
    }
}
