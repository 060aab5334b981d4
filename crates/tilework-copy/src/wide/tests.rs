//! Nests in blocks of bytes against a move of one bit after the other.

use proptest::prelude::*;
use tilework_core::{Element, Nest};

use crate::convert::Conversion;
use crate::exec::{Buffers, Scratch};
use crate::kernels::InstructionSet;
use crate::setting::Setting;
use crate::subbyte::tests::{any_nest, any_nest_of, elements, expected, nest, noise};
use crate::ways::Way;
use crate::wide::{converted, exchanged, halves, wide, widened};

/// Bytes on either side of the destination.
const APART: usize = 80;

/// Runs a nest on every set of instructions, its units from the last to the first, and compares every byte. Says how many blocks and units
/// there were.
fn check(nest: &Nest, bits: u32) -> [usize; 2] {
    let all = elements(nest);
    let bytes = |last: u64| ((last + 1) * u64::from(bits)).div_ceil(8) as usize;
    let from = noise(bytes(all.iter().map(|e| e.0).max().unwrap_or(0)), 1);
    let size = bytes(all.iter().map(|e| e.1).max().unwrap_or(0));
    let before = noise(size + 2 * APART, 2);
    let mut want = before.clone();
    expected(nest, bits, &from, &mut want[APART..]);
    let mut counts = [0; 2];
    for set in InstructionSet::all_here() {
        for (fetches, way) in [(false, Way::Units), (true, Way::Picks)] {
            let streams = fetches && set.streams();
            let setting = Setting { streams, only: Some(way), ..Setting::of(set, fetches) };
            let Some(made) = wide(nest, bits, setting) else { continue };
            let mut tidy = nest.clone();
            tidy.tidy();
            let forms = [exchanged, halves, widened].map(|form| form(&tidy, bits, setting));
            for made in forms.iter().flatten().chain([&made]) {
                let mut found = before.clone();
                let mut scratch = Scratch::default();
                for wide in made {
                    for unit in (0..wide.units()).rev() {
                        let buffers = Buffers::of(&from, &mut found[APART..][..size]);
                        // SAFETY: the buffers were made to hold all elements of the nest.
                        unsafe { wide.run(unit..unit + 1, buffers, &mut scratch) };
                    }
                }
                assert!(found == want, "{bits} bits, {set:?}, {nest:?}\n{made:#?}");
            }
            counts = [made.len(), made.iter().map(|wide| wide.units()).sum()];
        }
    }
    counts
}

#[test]
fn loops_that_are_cut_stand_still_or_run_backward_are_exact() {
    for bits in [1, 2, 4] {
        // Two rows that alternate, in both directions, from and to any phase.
        for (from, to) in [(0, 0), (3, 1), (1, 5)] {
            check(&nest(&[(from, to)], &[(2, 1, 3003), (3001, 2, 1)]), bits);
            check(&nest(&[(from, to)], &[(3001, 1, 2), (2, 3003, 1)]), bits);
        }
        // Blocks that begin at either phase, with rows that all begin at the same.
        check(&nest(&[(0, 0)], &[(3, 661, 600), (20, 1, 30), (30, 22, 1)]), bits);
        check(&nest(&[(5000, 3)], &[(70, 1, 71), (71, -70, 1)]), bits);
        check(&nest(&[(80, 3)], &[(70, -1, 71), (71, 70, 1)]), bits);
        check(&nest(&[(9, 3)], &[(7, 0, 300), (25, 11, 12), (11, 1, 1)]), bits);
        check(&nest(&[(9, 3)], &[(50, 1, 60), (60, 2, 1)]), bits);
        // Rows that are exchanged before and after, from and to any byte, forward and backward, longer than a line and shorter.
        for (from, to) in [(0, 0), (8, 24)] {
            check(&nest(&[(from, to)], &[(400, 1, 8), (8, 408, 1)]), bits);
            check(&nest(&[(from, to)], &[(8, 1, 408), (400, 8, 1)]), bits);
            check(&nest(&[(from + 7 * 408, to)], &[(400, 1, 8), (8, -408, 1)]), bits);
            check(&nest(&[(from + 399 * 8, to)], &[(8, 1, 408), (400, -8, 1)]), bits);
            check(&nest(&[(from, to)], &[(4, 8, 25_600), (200, 32, 16), (8, 1, 3200), (16, 6400, 1)]), bits);
            check(&nest(&[(from, to)], &[(40, 1, 48), (3, 0, 16), (16, 48, 1)]), bits);
        }
        check(&nest(&[(0, 3), (777, 40_001)], &[(5, 7, 600), (150, 35, 4), (3, 2, 1)]), bits);
    }
}

#[test]
fn blocks_are_shared_out_only_where_they_share_no_byte() {
    // Rows of an even number of elements, of an odd one, and two nests at once.
    assert_eq!(check(&nest(&[(0, 0)], &[(128, 1, 128), (128, 128, 1)]), 4), [1, 4]);
    assert_eq!(check(&nest(&[(0, 1)], &[(128, 1, 128), (128, 128, 1)]), 4), [1, 1]);
    let [nests, units] = check(&nest(&[(0, 0)], &[(287, 1, 287), (287, 287, 1)]), 4);
    assert!(nests < units, "{nests} {units}");
    let two = nest(&[(0, 0), (1, 20_001)], &[(128, 1, 128), (128, 128, 1)]);
    assert_eq!(check(&two, 4), [1, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_nest_moves_exactly_its_elements(nest in any_nest(), width in 0_u32..3) {
        check(&nest, 1 << width);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_nest_of_multiples_moves_exactly_its_elements(nest in any_nest_of(1..8, 2)) {
        check(&nest, 4);
    }

    #[test]
    fn any_nest_of_larger_multiples_moves_exactly_its_elements(nest in any_nest_of(1..4, 8), width in 0_u32..2) {
        check(&nest, 1 << width);
    }
}

/// Converts a nest from or to elements of 4 bits on every set of instructions, and compares every byte with those that elements become one
/// by one.
fn check_converted(nest: &Nest, from: Element, to: Element) {
    let all = elements(nest);
    let bits = [from, to].map(|element| element.bits() as usize);
    let bytes = |last: u64, bits: usize| ((last as usize + 1) * bits).div_ceil(8);
    let source = noise(bytes(all.iter().map(|e| e.0).max().unwrap_or(0), bits[0]), 1);
    let size = bytes(all.iter().map(|e| e.1).max().unwrap_or(0), bits[1]);
    let before = noise(size + 2 * APART, 2);
    for set in InstructionSet::all_here() {
        for fetches in [false, true] {
            let conversion = Conversion::new(from, to).and_then(|made| made.on(set)).unwrap();
            let mut want = before.clone();
            for &(a, b) in &all {
                // An element by itself, in the low half of its byte if it has 4 bits.
                let [at, place] = [a as usize * bits[0], b as usize * bits[1]];
                let shifted = source[at / 8] >> (at % 8);
                let one = if bits[0] == 4 { &[shifted][..] } else { &source[at / 8..][..bits[0] / 8] };
                let mut out = [0; 8];
                conversion.contiguous(1, one, &mut out);
                let to = &mut want[APART + place / 8..];
                if bits[1] == 4 {
                    to[0] = to[0] & !(0x0f << (place % 8)) | (out[0] & 0x0f) << (place % 8);
                } else {
                    to[..bits[1] / 8].copy_from_slice(&out[..bits[1] / 8]);
                }
            }
            let setting = Setting { streams: fetches && set.streams(), ..Setting::of(set, fetches) };
            let Some(made) = converted(nest, conversion, setting) else { continue };
            let mut found = before.clone();
            let mut scratch = Scratch::default();
            for wide in &made {
                for unit in (0..wide.units()).rev() {
                    let buffers = Buffers::of(&source, &mut found[APART..][..size]);
                    // SAFETY: the buffers were made to hold all elements of the nest.
                    unsafe { wide.run(unit..unit + 1, buffers, &mut scratch) };
                }
            }
            assert!(found == want, "{from} to {to}, {set:?}, {nest:?}\n{made:#?}");
        }
    }
}

#[test]
fn elements_that_are_converted_in_long_rows_are_exact() {
    for (from, to) in [(Element::S4, Element::Bf16), (Element::F32, Element::S4)] {
        for start in [(0, 0), (3, 1), (4, 5)] {
            check_converted(&nest(&[start], &[(287, 1, 287), (287, 287, 1)]), from, to);
            check_converted(&nest(&[start], &[(30, 1, 8), (8, 31, 1)]), from, to);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_nest_converts_as_one_by_one(nest in any_nest(), kind in 0_usize..6) {
        let (from, to) = [
            (Element::S4, Element::Bf16),
            (Element::U4, Element::F32),
            (Element::F4e2m1fn, Element::F64),
            (Element::S4, Element::S8),
            (Element::F32, Element::S4),
            (Element::Bf16, Element::F4e2m1fn),
        ][kind];
        check_converted(&nest, from, to);
    }
}
