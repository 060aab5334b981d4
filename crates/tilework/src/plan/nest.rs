//! What a plan is made of: nests of loops that are affine on both sides.

use smallvec::SmallVec;

/// One loop of a nest: `extent` turns, each moving so many elements on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// Offsets in the source and the destination, in elements.
    pub starts: SmallVec<[(u64, u64); 1]>,
    /// The loops, from the outermost to the innermost.
    pub loops: SmallVec<[Loop; 6]>,
}

impl Nest {
    /// Number of elements that the nest writes.
    pub fn elements(&self) -> u64 {
        self.loops.iter().map(|l| l.extent).product::<u64>() * self.starts.len() as u64
    }
}
