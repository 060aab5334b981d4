//! Nests of elements below a byte against a move of one bit after the other.

use proptest::prelude::*;
use tilework_core::{Few, Loop, Nest};

use super::{Kernels, Scratch, move_nest, split, split::shares_no_bytes, walk};
use crate::kernels::InstructionSet;

pub(crate) fn nest(starts: &[(u64, u64)], loops: &[(u64, i64, i64)]) -> Nest {
    Nest {
        starts: starts.iter().copied().collect(),
        loops: loops.iter().map(|&(extent, from, to)| Loop { extent, from, to }).collect(),
    }
}

/// The elements of a nest as (source, destination).
pub(crate) fn elements(nest: &Nest) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for &(from, to) in &nest.starts {
        walk(&nest.loops, from, to, &mut |from, to| all.push((from, to)));
    }
    all
}

/// Bytes that are all different for long enough.
pub(crate) fn noise(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn expected(nest: &Nest, bits: u32, from: &[u8], to: &mut [u8]) {
    for (source, place) in elements(nest) {
        for bit in 0..u64::from(bits) {
            let (source, place) = (source * u64::from(bits) + bit, place * u64::from(bits) + bit);
            let value = from[(source / 8) as usize] >> (source % 8) & 1;
            let byte = &mut to[(place / 8) as usize];
            *byte = *byte & !(1 << (place % 8)) | value << (place % 8);
        }
    }
}

/// Bytes on either side of the destination.
const APART: usize = 80;

/// Runs a nest in buffers that end where its elements end, and compares every byte.
fn check(nest: &Nest, bits: u32) {
    let all = elements(nest);
    let bytes = |last: u64| ((last + 1) * u64::from(bits)).div_ceil(8) as usize;
    let from = noise(bytes(all.iter().map(|e| e.0).max().unwrap_or(0)), 1);
    // The destination stands between bytes that nobody may touch.
    let before = noise(bytes(all.iter().map(|e| e.1).max().unwrap_or(0)) + 2 * APART, 2);
    let mut want = before.clone();
    expected(nest, bits, &from, &mut want[APART..]);
    for set in InstructionSet::all_here() {
        let kernels = Kernels::new(set).unwrap();
        let mut found = before.clone();
        // SAFETY: the buffers were made to hold all elements of the nest.
        unsafe {
            move_nest(
                nest,
                bits,
                &kernels,
                &mut Scratch::default(),
                from.as_ptr(),
                found[APART..].as_mut_ptr(),
            );
        };
        assert_eq!(found, want, "{bits} bits, {set:?}, {nest:?}");
    }
}

#[test]
fn runs_of_every_phase_and_length_move_alone() {
    for bits in [1, 2, 4] {
        for (from, to) in (0..9).flat_map(|from| (0..9).map(move |to| (from, to))) {
            for count in (2..40).chain([127, 128, 129, 300, 1031]) {
                check(&nest(&[(from, to)], &[(count, 1, 1)]), bits);
            }
        }
    }
}

#[test]
fn transposes_of_all_small_sizes_and_phases_are_exact() {
    for bits in [1, 2, 4] {
        for (rows, columns) in [
            (2, 2),
            (2, 9),
            (8, 128),
            (9, 7),
            (16, 33),
            (130, 3),
            (8, 300),
            (257, 70),
            (16, 129),
            (32, 64),
            (33, 40),
        ] {
            for pitch in [0, 1, 5] {
                for (from, to) in [(0, 0), (1, 0), (0, 3), (3, 5)] {
                    let (wide, tall) = (columns as i64 + pitch, rows as i64 + pitch);
                    check(&nest(&[(from, to)], &[(columns, 1, tall), (rows, wide, 1)]), bits);
                }
            }
        }
    }
}

#[test]
fn a_large_transpose_crosses_blocks_in_both_directions() {
    for bits in [1, 2, 4] {
        check(&nest(&[(0, 0)], &[(1200, 1, 1040), (1040, 1200, 1)]), bits);
        check(&nest(&[(7, 1)], &[(1201, 1, 1043), (1043, 1203, 1)]), bits);
    }
}

#[test]
fn loops_that_run_backward_or_stand_still_in_the_source_are_exact() {
    for bits in [1, 2, 4] {
        check(&nest(&[(40, 0)], &[(41, -1, 1)]), bits);
        check(&nest(&[(0, 40)], &[(41, 1, -1)]), bits);
        check(&nest(&[(40, 40)], &[(41, -1, -1)]), bits);
        check(&nest(&[(3, 1)], &[(50, 0, 1)]), bits);
        check(&nest(&[(3, 0)], &[(4, 0, 20), (16, 0, 1)]), bits);
        check(&nest(&[(3, 1)], &[(2, 0, 1)]), bits);
        check(&nest(&[(3, 1)], &[(5, 7, 30), (20, 2, 1)]), bits);
        check(&nest(&[(3, 1)], &[(5, 1, 30), (20, 7, 1)]), bits);
        check(&nest(&[(600, 1)], &[(5, 1, 130), (120, -5, 1)]), bits);
        check(&nest(&[(0, 650)], &[(130, 1, -5), (5, 130, 1)]), bits);
        check(&nest(&[(3, 1)], &[(50, 2, 3)]), bits);
        check(&nest(&[(3, 1)], &[]), bits);
    }
}

#[test]
fn elements_of_other_widths_move_bit_by_bit() {
    for bits in [3, 5, 6, 7, 12] {
        check(&nest(&[(1, 2)], &[(9, 1, 7), (7, 9, 1)]), bits);
    }
}

#[test]
fn a_split_is_whole_bytes_and_a_few_elements() {
    let found = split(&nest(&[(3, 5)], &[(10, 64, 32), (9, 1, 1)]), 4, 1, false).unwrap();
    assert_eq!(found.bytes, nest(&[(2, 3)], &[(10, 32, 16), (4, 1, 1)]));
    assert_eq!(found.rest.as_slice(), [nest(&[(3, 5)], &[(10, 64, 32)])]);

    let found = split(&nest(&[(0, 8)], &[(2, 1, 1), (10, 2, 4)]), 4, 1, false).unwrap();
    assert_eq!(found.bytes, nest(&[(0, 4)], &[(10, 1, 2)]));
    assert!(found.rest.is_empty());

    // One element over and over.
    let found = split(&nest(&[(0, 5)], &[(10, 0, 32), (9, 0, 1)]), 4, 1, true).unwrap();
    assert_eq!(found.bytes, nest(&[(0, 3)], &[(10, 0, 16), (4, 0, 1)]));
    assert_eq!(found.rest.as_slice(), [nest(&[(0, 5)], &[(10, 0, 32)])]);

    // Another phase, a stride that is not whole bytes, a run that is too short, and no run at all.
    assert!(split(&nest(&[(3, 4)], &[(9, 1, 1)]), 4, 1, false).is_none());
    assert!(split(&nest(&[(3, 5)], &[(10, 65, 32), (9, 1, 1)]), 4, 1, false).is_none());
    assert!(split(&nest(&[(1, 1)], &[(2, 1, 1)]), 4, 1, false).is_none());
    assert!(split(&nest(&[(0, 0)], &[(2, 1, 2)]), 4, 1, false).is_none());
}

#[test]
fn turns_that_share_bytes_are_told_from_those_that_do_not() {
    // Rows of 8 nibbles at 8: never. At 9: the ends. Every other nibble of two rows that interleave: everywhere.
    assert!(shares_no_bytes(&nest(&[(0, 0)], &[(3, 8, 8), (8, 1, 1)]), 0, 4));
    assert!(!shares_no_bytes(&nest(&[(0, 0)], &[(3, 8, 9), (8, 1, 1)]), 0, 4));
    assert!(!shares_no_bytes(&nest(&[(0, 1)], &[(3, 8, 8), (8, 1, 1)]), 0, 4));
    assert!(shares_no_bytes(&nest(&[(0, 1)], &[(3, 8, 8), (7, 1, 1)]), 0, 4));
    assert!(!shares_no_bytes(&nest(&[(0, 0)], &[(3, 8, 8), (8, 1, 1)]), 1, 4));
}

/// A nest of permuted loops over a box with pitches, so that no element is written twice, in two orders.
pub(crate) fn any_nest() -> impl Strategy<Value = Nest> {
    any_nest_of(2..20, 1)
}

/// The same where all that it counts in is a multiple of a number.
pub(crate) fn any_nest_of(extents: std::ops::Range<u64>, multiple: u64) -> impl Strategy<Value = Nest> {
    let extents = prop::collection::vec(extents, 1..4);
    (extents, any::<u64>(), prop::collection::vec(0_u64..3, 8), 0_u64..9, 0_u64..9).prop_map(
        move |(mut extents, seed, mut pitches, from, to)| {
            extents.iter_mut().chain(&mut pitches).for_each(|each| *each *= multiple);
            let rank = extents.len();
            let mut order: Vec<usize> = (0..rank).collect();
            if seed % 3 > 0 {
                order.rotate_left((seed / 3) as usize % rank);
            }
            let strides = |order: &[usize], pitches: &[u64]| {
                let mut strides = vec![0; rank];
                let mut stride = 1;
                for (k, &axis) in order.iter().rev().enumerate() {
                    strides[axis] = stride as i64;
                    stride *= extents[axis] + pitches[k];
                }
                strides
            };
            let source: Vec<usize> = (0..rank).collect();
            let (a, b) = (strides(&source, &pitches), strides(&order, &pitches[4..]));
            let mut loops: Few<Loop, 6> =
                (0..rank).map(|axis| Loop { extent: extents[axis], from: a[axis], to: b[axis] }).collect();
            loops.sort_by_key(|l| std::cmp::Reverse(l.to));
            Nest { starts: [(from * multiple, to * multiple)].into(), loops }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_nest_moves_exactly_its_elements(nest in any_nest(), width in 0_u32..3) {
        check(&nest, 1 << width);
    }

    #[test]
    fn a_split_and_its_rest_are_the_nest(nest in any_nest(), width in 0_u32..3) {
        let bits = 1 << width;
        if let Some(split) = split(&nest, bits, 1, false) {
            let in_byte = 8 / u64::from(bits);
            let mut parts: Vec<(u64, u64)> = split.rest.iter().flat_map(elements).collect();
            for (from, to) in elements(&split.bytes) {
                parts.extend((0..in_byte).map(|k| (from * in_byte + k, to * in_byte + k)));
            }
            let mut all = elements(&nest);
            all.sort_unstable();
            parts.sort_unstable();
            prop_assert_eq!(parts, all);
        }
    }

    #[test]
    fn turns_that_are_said_to_share_no_byte_share_none(nest in any_nest(), width in 0_u32..3) {
        let bits = 1 << width;
        for divided in 0..nest.loops.len() {
            if !shares_no_bytes(&nest, divided, bits) {
                continue;
            }
            let mut owner = std::collections::HashMap::new();
            for turn in 0..nest.loops[divided].extent {
                let mut part = nest.clone();
                let l = part.loops.remove(divided);
                part.starts[0].0 += turn * l.from as u64;
                part.starts[0].1 += turn * l.to as u64;
                for (_, place) in elements(&part) {
                    let byte = place * u64::from(bits) / 8;
                    prop_assert_eq!(*owner.entry(byte).or_insert(turn), turn);
                }
            }
        }
    }
}
