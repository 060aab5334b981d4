//! Whether what a step or a nest names lies within the buffers.
//!
//! A plan promises it, and the engine relies on it. Builds with `debug_assert!` ask here before each unit is run, so that a
//! step that names a wrong place is found where it does, and not where memory breaks.

use tilework_core::Nest;

use crate::exec::Buffers;
use crate::step::{Place, Work};

/// Whether pieces of `length` units lie within `size` units: one begins at `start` and at every place that the loops, as
/// counts and steps, reach from there.
fn holds(size: usize, start: isize, loops: &[(usize, isize)], length: usize) -> bool {
    if length == 0 || loops.iter().any(|&(count, _)| count == 0) {
        return true;
    }
    let (mut low, mut high) = (start as i128, start as i128 + length as i128);
    for &(count, step) in loops {
        let reach = (count as i128 - 1) * step as i128;
        *if reach < 0 { &mut low } else { &mut high } += reach;
    }
    0 <= low && high <= size as i128
}

/// Whether all that a unit reads and writes lies within the buffers.
pub(crate) fn hold_unit(buffers: Buffers, work: &Work, place: Place) -> bool {
    let Place { rows, columns, .. } = place;
    let read = |loops: &[_], length| holds(buffers.source_bytes, place.from, loops, length);
    let written = |loops: &[_], length| holds(buffers.destination_bytes, place.to, loops, length);
    match *work {
        Work::Whole { .. } => read(&[], columns) && written(&[], columns),
        Work::Copy { length, from, to, .. } | Work::Runs { length, from, to, .. } => {
            read(&[(rows, from)], length) && written(&[(rows, to)], length)
        }
        Work::Transpose { size, from, to, .. } => {
            read(&[(rows, from)], columns * size) && written(&[(columns, to)], rows * size)
        }
        Work::Interleave { size, ways, stride, .. } => {
            read(&[(ways, stride)], columns * size) && written(&[], columns * ways * size)
        }
        Work::Deinterleave { size, ways, stride, .. } => {
            read(&[], columns * ways * size) && written(&[(ways, stride)], columns * size)
        }
        Work::Network(ref blocks) => {
            let [from, to] = blocks.spans(rows, columns);
            holds(buffers.source_bytes, place.from + from.0, &[], from.1)
                && holds(buffers.destination_bytes, place.to + to.0, &[], to.1)
        }
        Work::Picks(ref picks) => {
            let [from, to] = picks.spans();
            holds(buffers.source_bytes, place.from + from.0, &[], from.1)
                && holds(buffers.destination_bytes, place.to + to.0, &[], to.1)
        }
        Work::Grid { size, from, to, .. } => {
            read(&[(rows, from.0), (columns, from.1)], size)
                && written(&[(rows, to.0), (columns, to.1)], size)
        }
        Work::Line { size, from, to, .. } => read(&[(rows, from)], size) && written(&[(rows, to)], size),
        Work::Splat { size, .. } => read(&[], size) && written(&[], rows * size),
    }
}

/// Whether `bytes` bytes of the destination, from an address on, lie within the buffer; also where they are none.
pub(crate) fn hold_written(buffers: Buffers, to: *const u8, bytes: usize) -> bool {
    let start = to.addr().wrapping_sub(buffers.destination.addr());
    start <= buffers.destination_bytes && bytes <= buffers.destination_bytes - start
}

/// Whether all elements of a nest lie within the buffers, where they have `bits` bits in the source and in the destination.
pub(crate) fn hold_nest(buffers: Buffers, nest: &Nest, bits: (u32, u32)) -> bool {
    let within = |bytes: usize, bits: u32, start: u64, steps: fn(&tilework_core::Loop) -> i64| {
        let loops: Vec<_> = nest.loops.iter().map(|l| (l.extent as usize, steps(l) as isize)).collect();
        let elements = (bytes as u128 * 8 / u128::from(bits)).min(isize::MAX as u128);
        holds(elements as usize, start as isize, &loops, 1)
    };
    nest.starts.iter().all(|&(from, to)| {
        within(buffers.source_bytes, bits.0, from, |l| l.from)
            && within(buffers.destination_bytes, bits.1, to, |l| l.to)
    })
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn a_piece_is_within_if_its_first_and_its_last_byte_are() {
        assert!(holds(10, 2, &[(3, 3)], 2));
        assert!(!holds(9, 2, &[(3, 3)], 2));
        assert!(holds(10, 6, &[(3, -3)], 4));
        assert!(!holds(10, 5, &[(3, -3)], 4));
        assert!(!holds(10, -1, &[], 1));
        assert!(holds(0, 99, &[(0, 7)], 4) && holds(0, 99, &[(5, 7)], 0));
        assert!(!holds(usize::MAX, 1, &[(usize::MAX, isize::MAX), (2, isize::MAX)], 1));
    }
}
