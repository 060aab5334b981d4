//! How one dimension is cut.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tilework::arithmetic::lcm;
use tilework::{Error, Result};

/// How one dimension is cut into pieces, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Cut(Kind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// `piece` elements each, and the rest in the last.
    Every { size: u64, piece: u64 },
    /// From each edge to the next. The first is 0, the last the size, and each is larger than the one before.
    At(Vec<u64>),
}

/// A cut in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Every { size: u64, piece: u64 },
    At { edges: Vec<u64> },
}

impl From<Cut> for Written {
    fn from(cut: Cut) -> Written {
        match cut.0 {
            Kind::Every { size, piece } => Written::Every { size, piece },
            Kind::At(edges) => Written::At { edges },
        }
    }
}

impl TryFrom<Written> for Cut {
    type Error = Error;

    fn try_from(written: Written) -> Result<Cut> {
        match written {
            Written::Every { size, piece } => Cut::every(size, piece),
            Written::At { edges } => Cut::at(edges),
        }
    }
}

/// The largest size of a dimension, as of a layout.
const LARGEST: u64 = i64::MAX as u64;

impl Cut {
    /// Pieces of as many elements each; the last has the rest.
    ///
    /// # Errors
    /// Pieces of no elements, and sizes above 63 bits.
    pub fn every(size: u64, piece: u64) -> Result<Cut> {
        if size > LARGEST || piece > LARGEST {
            return Err(Error::new(format!("pieces of {piece} in a dimension of size {size}"))
                .field("size")
                .accepts(format!("sizes up to {LARGEST}")));
        }
        if piece == 0 {
            return Err(Error::new(format!("pieces of 0 elements in a dimension of size {size}"))
                .field("pieces")
                .rule("a piece has elements")
                .accepts("1 or more"));
        }
        Ok(Cut(Kind::Every { size, piece }))
    }

    /// Pieces from each edge to the next, from 0 to the size of the dimension.
    ///
    /// # Errors
    /// Edges that do not begin at 0, or do not grow.
    pub fn at(edges: Vec<u64>) -> Result<Cut> {
        let fail = |found: String| Error::new(found).field("edges");
        match edges[..] {
            [0, ..] => {}
            _ => return Err(fail("edges that do not begin at 0".into()).accepts("such as 0, 3, 10")),
        }
        if let Some(pair) = edges.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(fail(format!("{} after {}", pair[1], pair[0])).rule("a piece has elements"));
        }
        if let Some(&size) = edges.last().filter(|&&size| size > LARGEST) {
            return Err(fail(format!("a size of {size}")).accepts(format!("up to {LARGEST}")));
        }
        // Equal pieces are the regular cut, so that equal cuts are equal values.
        let piece = edges.get(1).copied().unwrap_or(1);
        let (size, count) = (edges[edges.len() - 1], edges.len() as u64 - 1);
        let is_regular = size.div_ceil(piece) == count
            && edges.iter().enumerate().all(|(at, &edge)| edge == size.min(piece.saturating_mul(at as u64)));
        Ok(Cut(if is_regular { Kind::Every { size, piece } } else { Kind::At(edges) }))
    }

    /// The size of the dimension.
    pub fn size(&self) -> u64 {
        match &self.0 {
            Kind::Every { size, .. } => *size,
            Kind::At(edges) => edges[edges.len() - 1], // there is one: the first is 0
        }
    }

    /// How many pieces there are.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Kind::Every { size, piece } => size.div_ceil(*piece),
            Kind::At(edges) => edges.len() as u64 - 1,
        }
    }

    /// The size of a piece, if all have it but for the last.
    pub fn regular(&self) -> Option<u64> {
        match &self.0 {
            Kind::Every { piece, .. } => Some(*piece),
            Kind::At(_) => None,
        }
    }

    /// The largest piece, without what hangs over.
    pub fn largest(&self) -> u64 {
        match &self.0 {
            Kind::Every { size, piece } => *size.min(piece),
            Kind::At(edges) => edges.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0),
        }
    }

    /// The elements of a piece. It must be one of them.
    pub fn range(&self, number: u64) -> Range<u64> {
        match &self.0 {
            Kind::Every { size, piece } => {
                let start = number.saturating_mul(*piece).min(*size);
                start..start.saturating_add(*piece).min(*size)
            }
            Kind::At(edges) => {
                let last = edges.len() - 1;
                let at = usize::try_from(number).unwrap_or(last).min(last);
                edges[at]..edges[last.min(at + 1)]
            }
        }
    }

    /// The pieces that have some of these elements.
    pub fn touching(&self, range: &Range<u64>) -> Range<u64> {
        let range = range.start..range.end.min(self.size());
        if range.is_empty() {
            return 0..0;
        }
        match &self.0 {
            Kind::Every { piece, .. } => range.start / piece..range.end.div_ceil(*piece),
            Kind::At(edges) => {
                // The last edge that is not behind the start, and the first that is not before the end.
                let first = edges.partition_point(|&edge| edge <= range.start) - 1; // 0 is not behind
                let end = edges.partition_point(|&edge| edge < range.end);
                first as u64..end as u64
            }
        }
    }

    /// How many pairs of a piece of this and a piece of `other` share elements, of one dimension in two cuts.
    ///
    /// ```
    /// use tilework_stores::Cut;
    /// // 4 4 2 against 3 3 3 1: the edges 0 3 4 6 8 9 10
    /// assert_eq!(Cut::every(10, 4)?.pairs(&Cut::every(10, 3)?), 6);
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn pairs(&self, other: &Cut) -> u128 {
        let (a, b) = (u128::from(self.count()), u128::from(other.count()));
        if a == 0 || b == 0 {
            return 0;
        }
        // Each edge within begins another pair, and one that both have begins one, not two.
        a + b - 1 - u128::from(self.common_edges(other))
    }

    /// The edges within the dimension that both have.
    fn common_edges(&self, other: &Cut) -> u64 {
        let inner = self.size().saturating_sub(1);
        match (&self.0, &other.0) {
            // A multiple that overflows is the largest number, and beyond the dimension.
            (Kind::Every { piece: a, .. }, Kind::Every { piece: b, .. }) => inner / lcm(*a, *b),
            (Kind::At(edges), _) => {
                edges[1..].iter().filter(|&&edge| edge <= inner && other.has_edge(edge)).count() as u64
            }
            (_, Kind::At(_)) => other.common_edges(self),
        }
    }

    fn has_edge(&self, at: u64) -> bool {
        match &self.0 {
            Kind::Every { piece, .. } => at.is_multiple_of(*piece),
            Kind::At(edges) => edges.binary_search(&at).is_ok(),
        }
    }

    /// The elements of this cut's pieces, each counted once for each piece of `other` that it shares elements with.
    pub(crate) fn shared_elements(&self, other: &Cut) -> u128 {
        let times = |piece: u64| {
            let range = self.range(piece);
            let touched = other.touching(&range);
            (u128::from(range.end - range.start), u128::from(touched.end - touched.start))
        };
        match &self.0 {
            // All pieces have the same size but for the last.
            Kind::Every { piece, size } if *size > 0 => {
                let (size, last) = times(self.count() - 1);
                (self.pairs(other) - last) * u128::from(*piece) + last * size
            }
            Kind::Every { .. } => 0,
            Kind::At(_) => (0..self.count()).map(times).map(|(size, times)| size * times).sum(),
        }
    }

    /// The most pieces of this cut that a piece of `other` shares elements with.
    pub(crate) fn most_touched(&self, other: &Cut) -> u64 {
        match (&self.0, &other.0) {
            (Kind::Every { piece: a, .. }, Kind::Every { piece: b, .. }) => {
                // A piece of `other` begins at a multiple of both sizes' common divisor, at worst one before an edge.
                let reach = b.saturating_sub(tilework::arithmetic::gcd(*a, *b)).div_ceil(*a);
                reach.saturating_add(1).min(self.count())
            }
            (Kind::At(_), Kind::Every { piece, .. }) => {
                // At worst one begins at the last element of a piece.
                let touched = (0..self.count()).map(|at| {
                    let last = self.range(at).end - 1;
                    self.touching(&(last..last.saturating_add(*piece)))
                });
                touched.map(|touched| touched.end - touched.start).max().unwrap_or(0)
            }
            (_, Kind::At(_)) => {
                let touched = (0..other.count()).map(|piece| self.touching(&other.range(piece)));
                touched.map(|touched| touched.end - touched.start).max().unwrap_or(0)
            }
        }
    }

    /// Every `pieces` pieces as one.
    pub fn grouped(&self, pieces: u64) -> Cut {
        let pieces = pieces.max(1);
        match &self.0 {
            Kind::Every { size, piece } => {
                Cut(Kind::Every { size: *size, piece: piece.saturating_mul(pieces).min(LARGEST) })
            }
            Kind::At(edges) => {
                let step = usize::try_from(pieces).unwrap_or(usize::MAX);
                let mut kept: Vec<u64> = edges.iter().copied().step_by(step).collect();
                if kept.last() != edges.last() {
                    kept.extend(edges.last());
                }
                Cut::at(kept).unwrap_or_else(|_| self.clone()) // it begins at 0 and grows, as the edges do
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(size: u64) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = (1..=size + 2).filter_map(|piece| Cut::every(size, piece).ok()).collect();
        let edges =
            |mask: u64| (0..=size).filter(|&at| at == 0 || at == size || mask >> at & 1 == 1).collect();
        cuts.extend((0..1 << size).step_by(2).filter_map(|mask| Cut::at(edges(mask)).ok()));
        cuts
    }

    #[test]
    fn pieces_pairs_and_what_is_touched_are_those_of_a_count_of_elements() {
        for size in 0..7_u64 {
            for cut in cuts(size) {
                let piece_of: Vec<u64> = (0..size)
                    .map(|at| {
                        (0..cut.count()).find(|&piece| cut.range(piece).contains(&at)).expect("in a piece")
                    })
                    .collect();
                assert_eq!(
                    (0..cut.count()).map(|piece| cut.range(piece).end - cut.range(piece).start).sum::<u64>(),
                    size
                );
                let sizes = (0..cut.count()).map(|piece| cut.range(piece).end - cut.range(piece).start);
                assert_eq!(cut.largest(), sizes.max().unwrap_or(0), "{cut:?}");
                for start in 0..=size {
                    for end in start..=size {
                        let mut naive = piece_of[start as usize..end as usize].to_vec();
                        naive.dedup();
                        assert_eq!(
                            cut.touching(&(start..end)).collect::<Vec<u64>>(),
                            naive,
                            "{cut:?} {start}..{end}"
                        );
                    }
                }
                for other in cuts(size) {
                    let pieces = |piece| other.touching(&cut.range(piece)).count() as u128;
                    assert_eq!(
                        cut.pairs(&other),
                        (0..cut.count()).map(pieces).sum::<u128>(),
                        "{cut:?} {other:?}"
                    );
                }
                for other in cuts(size) {
                    let touched = |piece| other.touching(&cut.range(piece)).count() as u128;
                    let elements = |piece: u64| u128::from(cut.range(piece).end - cut.range(piece).start);
                    let naive = (0..cut.count()).map(|piece| touched(piece) * elements(piece)).sum::<u128>();
                    assert_eq!(cut.shared_elements(&other), naive, "{cut:?} {other:?}");
                    let most = (0..cut.count()).map(touched).max().unwrap_or(0);
                    let bound = u128::from(other.most_touched(&cut));
                    assert!(
                        bound >= most && bound <= u128::from(other.count()),
                        "{cut:?} {other:?}: {bound} for {most}"
                    );
                    let is_exact = other.regular().is_some() == cut.regular().is_some();
                    assert!(!is_exact || bound <= most + 1, "{cut:?} {other:?}: {bound} for {most}");
                }
                for group in 1..4 {
                    let grouped = cut.grouped(group);
                    assert_eq!(grouped.count(), cut.count().div_ceil(group), "{cut:?} by {group}");
                    for piece in 0..grouped.count() {
                        assert_eq!(grouped.range(piece).start, cut.range(piece * group).start);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_cut_is_refused() {
        assert!(Cut::every(4, 0).is_err() && Cut::every(u64::MAX, 1).is_err());
        for edges in [vec![], vec![1, 2], vec![0, 2, 2], vec![0, 3, 2], vec![0, u64::MAX]] {
            assert!(Cut::at(edges.clone()).is_err(), "{edges:?}");
        }
        assert_eq!(Cut::at(vec![0, 4, 8, 10]), Cut::every(10, 4));
        assert_eq!(Cut::at(vec![0]), Cut::every(0, 1));
        let far = Cut::every(LARGEST, 3).and_then(|a| Ok(a.pairs(&Cut::every(LARGEST, LARGEST - 1)?)));
        assert!(far.is_ok_and(|pairs| pairs > 1 << 61));
    }

    #[test]
    fn the_largest_size_is_a_size_and_no_piece_is_behind_the_last() -> Result<()> {
        let all = Cut::every(LARGEST, LARGEST)?;
        assert_eq!((Cut::at(vec![0, LARGEST])?, all.count()), (all.clone(), 1));
        assert!(Cut::every(1, LARGEST + 1).is_err() && Cut::at(vec![0, LARGEST + 1]).is_err());
        let (none, three) = (Cut::every(0, 1)?, Cut::at(vec![0, 1, 5])?);
        assert_eq!((none.pairs(&three), three.pairs(&none)), (0, 0));
        assert_eq!((three.range(2), three.range(u64::MAX)), (5..5, 5..5));
        assert_eq!(three.touching(&(5..9)), 0..0);
        Ok(())
    }

    #[test]
    fn pieces_that_begin_together_touch_no_more_than_they_need() -> Result<()> {
        for (own, other, most) in
            [(10, 10, 1), (10, 20, 2), (20, 10, 1), (10, 7, 2), (7, 10, 3), (4, 1000, 250)]
        {
            let (own, other) = (Cut::every(1000, own)?, Cut::every(1000, other)?);
            assert_eq!(own.most_touched(&other), most, "{own:?} by {other:?}");
        }
        Ok(())
    }
}
