//! Nests of elements below a byte that are nests of bytes in disguise.

use smallvec::SmallVec;
use tilework_core::arithmetic::gcd;
use tilework_core::{Few, Loop, Nest};

/// A nest as a nest of bytes and what that leaves over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Whole bytes: offsets and strides in bytes.
    pub bytes: Nest,
    /// The elements before the first and after the last whole byte of each run: offsets and strides in elements.
    pub rest: SmallVec<[Nest; 2]>,
}

/// Splits a nest of elements of 1, 2 or 4 bits into whole bytes and the rest, if its runs have the same phase within a
/// byte on both sides and everywhere, and are as long as `least` bytes; `None` otherwise.
///
/// ```text
/// 4 bits, starts (3, 5), loops (10, 64 → 32) (9, 1 → 1)
///   bytes  starts (2, 3), loops (10, 32 → 16) (4, 1 → 1)
///   rest   starts (3, 5), loops (10, 64 → 32)
/// ```
///
/// A nest that `fills` reads one element over and over, as a byte that is full of it.
pub(crate) fn split(nest: &Nest, bits: u32, least: u64, fills: bool) -> Option<Split> {
    if !matches!(bits, 1 | 2 | 4) {
        return None;
    }
    let in_byte = u64::from(8 / bits);
    let step = i64::from(!fills);
    let run = nest.loops.iter().position(|l| (l.from, l.to) == (step, 1))?;
    let others = nest.loops.iter().enumerate().filter(|&(k, _)| k != run).map(|(_, l)| l);
    let whole = |stride: i64| stride.unsigned_abs().is_multiple_of(in_byte);
    if !others.clone().all(|l| whole(l.from) && whole(l.to)) {
        return None;
    }
    let phase = nest.starts.first()?.1 % in_byte;
    if !nest.starts.iter().all(|(from, to)| (fills || from % in_byte == phase) && to % in_byte == phase) {
        return None;
    }
    let extent = nest.loops[run].extent;
    let head = (in_byte - phase) % in_byte;
    let body = extent.checked_sub(head)? / in_byte;
    if body < least.max(1) {
        return None;
    }
    let tail = extent - head - body * in_byte;
    let part = |first: u64, count: u64| Nest {
        starts: nest.starts.iter().map(|(from, to)| (from + first * step as u64, to + first)).collect(),
        loops: with_extent(nest, run, count),
    };
    let mut bytes = part(head, body);
    for (from, to) in &mut bytes.starts {
        (*from, *to) = (*from / in_byte, *to / in_byte);
    }
    for l in bytes.loops.iter_mut().filter(|l| (l.from, l.to) != (step, 1)) {
        (l.from, l.to) = (l.from / in_byte as i64, l.to / in_byte as i64);
    }
    let mut rest = SmallVec::new();
    if head > 0 {
        rest.push(part(0, head));
    }
    if tail > 0 {
        rest.push(part(extent - tail, tail));
    }
    Some(Split { bytes, rest })
}

/// The loops of a nest, one of them with other turns; a loop of one turn is none.
fn with_extent(nest: &Nest, changed: usize, extent: u64) -> Few<Loop, 6> {
    let mut loops = nest.loops.clone();
    loops[changed].extent = extent;
    if extent < 2 {
        loops.remove(changed);
    }
    loops
}

/// Whether no two turns of a loop write to the same byte of the destination, so that they can be divided among threads
/// at any turn. It may say no where the answer is yes, never the other way round.
pub(crate) fn shares_no_bytes(nest: &Nest, divided: usize, bits: u32) -> bool {
    if bits.is_multiple_of(8) {
        return true;
    }
    let &[(_, start)] = nest.starts.as_slice() else { return false };
    // The loops with shorter strides write into a window, which this loop and those with longer strides move about by
    // multiples of the greatest common divisor of their strides. If that is whole bytes and the bytes of the window are
    // no more than it, then windows at different places share none.
    let width = i128::from(bits);
    let stride = nest.loops[divided].to.unsigned_abs();
    let (mut step, mut first, mut last) =
        (stride, i128::from(start) * width, i128::from(start) * width + width - 1);
    for (_, l) in nest.loops.iter().enumerate().filter(|&(number, _)| number != divided) {
        if l.to.unsigned_abs() >= stride {
            step = gcd(step, l.to.unsigned_abs());
            continue;
        }
        let reach = i128::from(l.extent - 1) * i128::from(l.to) * width;
        first += reach.min(0);
        last += reach.max(0);
    }
    let step = i128::from(step) * width;
    step % 8 == 0 && (last.div_euclid(8) - first.div_euclid(8) + 1) * 8 <= step
}
