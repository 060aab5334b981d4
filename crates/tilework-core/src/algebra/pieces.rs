//! Layouts cut into pieces that permutations and reshapes can move about: what decides a transpose-bitcast.

use crate::order::InOrder;
use std::fmt;

use crate::algebra::canon::divide_each_other;
use crate::arithmetic::gcd;
use crate::layout::Layout;

/// A part of a layout that no reshape can cut further: `extent` values, the stride from 0 and from each cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece {
    stride: i128,
    extent: u64,
    /// Further cuts and coefficients, for a piece that is no plain digit because its cuts do not divide its extent.
    cuts: Vec<(u64, i128)>,
}

/// A plain layout as the sorted list of its pieces: equal lists exactly for transpose-bitcasts of each other.
///
/// A cut that divides the size of its dimension, or shares a factor with it, splits the dimension into independent
/// digits, which permutations and reshapes can move about. Digits that continue each other (stride = extent · stride)
/// are joined, so that it does not matter how the dimensions were cut.
pub(crate) fn pieces(layout: &Layout) -> Option<Vec<Piece>> {
    let canon = layout.canon();
    if !canon.is_plain() {
        return None;
    }
    let mut pieces = vec![Piece { stride: canon.form().constant, extent: 0, cuts: Vec::new() }];
    for (dim, &size) in layout.dims().iter().enumerate() {
        let cuts = canon.cuts(dim);
        if !divide_each_other(&cuts) {
            return None;
        }
        cut_up(size, cuts[0].1, cuts[1..].to_vec(), &mut pieces);
    }
    // All repetition is one piece, however it was written.
    let repeats = |piece: &Piece| piece.stride == 0 && piece.cuts.is_empty() && piece.extent > 0;
    let times: u64 = pieces.iter().filter(|piece| repeats(piece)).map(|piece| piece.extent).product();
    pieces.retain(|piece| !repeats(piece));
    if times > 1 {
        pieces.push(Piece { stride: 0, extent: times, cuts: Vec::new() });
    }
    pieces.order();
    // Joins digits until nothing changes; each join removes one.
    let mut start = 0;
    while start < pieces.len() {
        let (stride, extent) = (pieces[start].stride, pieces[start].extent);
        let next = pieces.iter().position(|piece| {
            pieces[start].cuts.is_empty()
                && extent > 0
                && stride != 0
                && piece.cuts.is_empty()
                && piece.extent > 0
                && piece.stride == stride * i128::from(extent)
        });
        match next.filter(|&next| next != start) {
            Some(next) => {
                pieces[start].extent *= pieces[next].extent;
                pieces.remove(next);
                start = 0;
            }
            None => start += 1,
        }
    }
    nest(&mut pieces);
    pieces.order();
    Some(pieces)
}

/// Brings digits that overlap into one form: of `4:1, 4:2` and `8:1, 2:2`, which are cut from the same `2:1, 2:2, 2:2,
/// 2:4`, the second.
///
/// A digit runs from its stride s to its end extent·s. Two digits s→a and t→b with s | b and t | a can both pass through
/// the least common multiple m of s and t, as s→m→a and t→m→b, and what is beyond m can be exchanged.
fn nest(pieces: &mut [Piece]) {
    let is_digit = |piece: &Piece| piece.cuts.is_empty() && piece.extent > 0 && piece.stride != 0;
    let end = |piece: &Piece| piece.stride.unsigned_abs() * u128::from(piece.extent);
    // Each exchange moves the larger end to the smaller stride, so it ends.
    while let Some((low, high)) = (0..pieces.len())
        .flat_map(|low| (0..pieces.len()).map(move |high| (low, high)))
        .find(|&(low, high)| {
            let (a, b) = (&pieces[low], &pieces[high]);
            is_digit(a)
                && is_digit(b)
                && a.stride.signum() == b.stride.signum()
                && a.stride.unsigned_abs() < b.stride.unsigned_abs()
                && end(a) < end(b)
                && end(b).is_multiple_of(a.stride.unsigned_abs())
                && end(a).is_multiple_of(b.stride.unsigned_abs())
        })
    {
        let (shorter, longer) = (end(&pieces[low]), end(&pieces[high]));
        pieces[low].extent = (longer / pieces[low].stride.unsigned_abs()) as u64;
        pieces[high].extent = (shorter / pieces[high].stride.unsigned_abs()) as u64;
    }
}

/// Whether two lists of pieces that differ could still be the same set of digits, cut and exchanged in a way that
/// `nest` does not find: their strides and ends agree as two lists, though not in pairs.
///
/// They must agree. The places of a digit are the exponents of (1 − z^end) / (1 − z^stride), those of a layout the
/// exponents of the product, and such a product has one reduced form.
pub(crate) fn may_be_exchanged(a: &[Piece], b: &[Piece]) -> bool {
    let ends = |pieces: &[Piece]| {
        let (mut strides, mut ends, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            if piece.cuts.is_empty() && piece.extent > 0 && piece.stride != 0 {
                strides.push(piece.stride);
                ends.push(piece.stride * i128::from(piece.extent));
            } else {
                others.push(piece.clone());
            }
        }
        strides.order();
        ends.order();
        (strides, ends, others)
    };
    ends(a) == ends(b)
}

/// Cuts the function `stride·x + Σ c·⌊x/D⌋` on `0..size` into pieces.
fn cut_up(mut size: u64, mut stride: i128, mut cuts: Vec<(u64, i128)>, pieces: &mut Vec<Piece>) {
    loop {
        let common = cuts.iter().fold(size, |common, &(cut, _)| gcd(common, cut));
        if common > 1 {
            pieces.push(Piece { stride, extent: common, cuts: Vec::new() });
        }
        // A cut is below the size, so with one left the piece is not all.
        if cuts.is_empty() {
            return;
        }
        // Above the piece, x' = ⌊x/common⌋ moves by common·stride, and by what stood at the cut `common` itself.
        size /= common;
        stride *= i128::from(common);
        let mut rest = Vec::with_capacity(cuts.len());
        for (cut, coefficient) in cuts {
            match cut / common {
                1 => stride += coefficient,
                cut => rest.push((cut, coefficient)),
            }
        }
        cuts = rest;
        if common == 1 {
            pieces.push(Piece { stride, extent: size, cuts });
            return;
        }
    }
}

/// Pieces as `extent:stride`, for a message.
pub(crate) struct Pieces<'a>(pub(crate) &'a [Piece]);

impl fmt::Display for Pieces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self
            .0
            .iter()
            .filter(|piece| piece.extent > 0)
            .map(|piece| {
                let cuts: String =
                    piece.cuts.iter().map(|(cut, step)| format!(" {step:+} each {cut}")).collect();
                format!("{}:{}{cuts}", piece.extent, piece.stride)
            })
            .collect();
        write!(f, "({})", shown.join(", "))
    }
}
