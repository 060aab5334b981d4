use super::{MANY, Zip, deinterleave, interleave};
use crate::kernels::InstructionSet;

const SIZES: [usize; 4] = [1, 2, 4, 8];
const CANARY: u8 = 0xa5;

/// Bytes that differ from their neighbours and from the canary's runs.
fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| ((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8).collect()
}

/// Rows to zip, or to take apart.
#[derive(Clone, Copy, Debug)]
struct Case {
    set: InstructionSet,
    size: usize,
    ways: usize,
    count: usize,
    /// Bytes from a line to the destination.
    shift: usize,
    /// Bytes between the separate rows.
    gap: usize,
}

/// One case, against the definition; every byte outside the destination must stay.
fn check(case: Case, back: bool, streaming: bool) {
    let Case { set, size, ways, count, shift, gap } = case;
    let Some(kernels) = (if back { deinterleave } else { interleave })(set, size, ways) else {
        let has_none = match set {
            InstructionSet::Avx512 => (size, ways) == (2, 16),
            InstructionSet::Avx2 => ways == 16 || !back && size > 2,
            _ => true,
        };
        assert!(ways > MANY && has_none, "{set:?}: no {ways} ways of {size} bytes");
        return;
    };
    let stride = count * size + gap;
    let (apart, together) = ((ways - 1) * stride + count * size, ways * count * size);
    let (read, written) = if back { (together, apart) } else { (apart, together) };
    // The source is exactly as long as what may be read, so that a checker of addresses sees more.
    let times = 1 + count % 3;
    let again = (read, written + gap % 5);
    let source = noise(times * read);
    let mut destination = vec![CANARY; times * again.1 + 256];
    let start = 64 - destination.as_ptr() as usize % 64 + shift;
    let mut expected = destination.clone();
    for time in 0..times {
        for (i, k) in (0..count).flat_map(|i| (0..ways).map(move |k| (i, k))) {
            let (one, many) = ((i * ways + k) * size, k * stride + i * size);
            let (from, to) = if back { (one, many) } else { (many, one) };
            let (from, to) = (from + time * again.0, start + to + time * again.1);
            expected[to..to + size].copy_from_slice(&source[from..from + size]);
        }
    }
    let zip = Zip {
        count,
        source: source.as_ptr(),
        destination: destination[start..].as_mut_ptr(),
        stride: stride as isize,
        ahead: if shift.is_multiple_of(2) { 0 } else { 512 },
        times,
        again: (again.0 as isize, again.1 as isize),
    };
    // SAFETY: the set is one of this machine; the vectors hold the rows.
    unsafe { (if streaming { kernels.stream } else { kernels.plain })(&zip) };
    assert!(destination == expected, "{case:?}, back {back}, streaming {streaming}");
}

fn every_shape(ways: usize) {
    for set in InstructionSet::all_here() {
        for size in SIZES {
            for back in [false, true] {
                // A block is 64 bytes of a row at most.
                let longest = if size < 4 { 300 } else { 140 };
                for count in (0..=longest).chain([511, 1000, 2049]) {
                    let odd = count % 63;
                    for (shift, gap) in [(0, 64 - count * size % 64), (odd, 0), (odd / size * size, odd * 7)]
                    {
                        check(Case { set, size, ways, count, shift, gap }, back, false);
                        check(Case { set, size, ways, count, shift, gap }, back, true);
                    }
                }
            }
        }
    }
}

#[test]
fn two_ways_are_as_defined() {
    every_shape(2);
}

#[test]
fn three_ways_are_as_defined() {
    every_shape(3);
}

#[test]
fn four_ways_are_as_defined() {
    every_shape(4);
}

#[test]
fn five_to_seven_ways_are_as_defined() {
    (5..=7).for_each(every_shape);
}

#[test]
fn eight_to_ten_ways_are_as_defined() {
    (8..=10).for_each(every_shape);
}

#[test]
fn eleven_to_thirteen_ways_are_as_defined() {
    (11..=13).for_each(every_shape);
}

#[test]
fn fourteen_to_sixteen_ways_are_as_defined() {
    (14..=16).for_each(every_shape);
}

#[test]
fn every_alignment_streams_to_the_right_place() {
    for set in InstructionSet::all_here() {
        for (size, ways) in [(1, 3), (2, 2), (4, 8), (8, 3)] {
            for shift in 0..64 {
                for gap in [0, 1, 64, 100] {
                    let case = Case { set, size, ways, count: 3000 / size, shift, gap };
                    check(case, false, true);
                    check(case, true, true);
                }
            }
        }
    }
}

#[test]
fn rows_may_lie_in_reverse_order() {
    let source = noise(3 * 100);
    for set in InstructionSet::all_here() {
        let mut destination = [0; 300];
        let zip = Zip {
            count: 100,
            source: source[200..].as_ptr(),
            destination: destination.as_mut_ptr(),
            stride: -100,
            ahead: 0,
            times: 1,
            again: (0, 0),
        };
        // SAFETY: rows 2, 1 and 0 of 100 bytes each.
        unsafe { (interleave(set, 1, 3).unwrap().plain)(&zip) };
        for (i, &byte) in destination.iter().enumerate() {
            assert_eq!(byte, source[(2 - i % 3) * 100 + i / 3]);
        }
    }
}
