//! Converting nests against one element after the other.

use proptest::prelude::*;
use tilework_core::{Element, Few, Loop, Nest};

use super::{Conversion, Converter, Scratch, held_bits};
use crate::kernels::InstructionSet;
use crate::subbyte::walk;

const PAIRS: [(Element, Element); 9] = [
    (Element::F32, Element::Bf16),
    (Element::Bf16, Element::F32),
    (Element::F32, Element::F8e4m3fn),
    (Element::F8e5m2, Element::F16),
    (Element::S8, Element::S4),
    (Element::U4, Element::U8),
    (Element::F4e2m1fn, Element::F32),
    (Element::F16, Element::F4e2m1fn),
    (Element::F64, Element::F32),
];

fn conversions() -> Vec<Conversion> {
    let between = PAIRS.into_iter().map(|(from, to)| Conversion::new(from, to).unwrap());
    between.chain([Conversion::to_float_pairs()]).collect()
}

/// The bits of an element.
fn get(bytes: &[u8], place: u64, bits: u64) -> u64 {
    (0..bits).fold(0, |value, k| {
        let bit = place * bits + k;
        value | u64::from(bytes[(bit / 8) as usize] >> (bit % 8) & 1) << k
    })
}

fn put(bytes: &mut [u8], place: u64, bits: u64, value: u64) {
    for k in 0..bits {
        let bit = place * bits + k;
        let byte = &mut bytes[(bit / 8) as usize];
        *byte = *byte & !(1 << (bit % 8)) | ((value >> k & 1) as u8) << (bit % 8);
    }
}

/// Runs a nest between buffers that end where its elements end.
fn check(nest: &Nest, conversion: Conversion) {
    let (from, to) = (conversion.from(), conversion.to());
    const APART: usize = 80;
    let mut all = Vec::new();
    for &(source, place) in &nest.starts {
        walk(&nest.loops, source, place, &mut |source, place| all.push((source, place)));
    }
    let bits = (u64::from(held_bits(from)), u64::from(held_bits(to)));
    let last = all.iter().fold((0, 0), |last, &(source, place)| (last.0.max(source), last.1.max(place)));
    let length = |last: u64, bits: u64| ((last + 1) * bits).div_ceil(8) as usize;
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    let source: Vec<u8> = (0..length(last.0, bits.0)).map(|_| noise()).collect();
    let before: Vec<u8> = (0..length(last.1, bits.1) + 2 * APART).map(|_| noise()).collect();
    let one = conversion.on(InstructionSet::Portable).unwrap();
    let mut want = before.clone();
    for &(element, place) in &all {
        let mut converted = [0; 8];
        one.run(1, &get(&source, element, bits.0).to_le_bytes(), &mut converted).unwrap();
        put(&mut want[APART..], place, bits.1, u64::from_le_bytes(converted));
    }
    for (set, streams) in InstructionSet::all_here().into_iter().flat_map(|set| [(set, false), (set, true)]) {
        let converter = Converter::new(one, set).unwrap().streaming(streams);
        let mut found = before.clone();
        // SAFETY: the buffers were made to hold all elements of the nest.
        unsafe {
            converter.run(nest, &mut Scratch::default(), source.as_ptr(), found[APART..].as_mut_ptr());
        }
        assert!(found == want, "{from:?} to {to:?} on {set:?}, streams {streams}: {nest:?}");
    }
}

fn nest(start: (u64, u64), loops: &[(u64, i64, i64)]) -> Nest {
    Nest {
        starts: [start].into(),
        loops: loops.iter().map(|&(extent, from, to)| Loop { extent, from, to }).collect(),
    }
}

#[test]
fn runs_transposes_and_single_elements_convert_as_one_by_one() {
    for conversion in conversions() {
        for start in [(0, 0), (1, 0), (0, 3), (5, 2)] {
            check(&nest(start, &[(3, 2000, 1500), (1403, 1, 1)]), conversion);
            check(&nest(start, &[(300, 1, 270), (270, 303, 1)]), conversion);
            check(&nest(start, &[(257, 1, 8), (8, 259, 1)]), conversion);
            check(&nest(start, &[(7, 1, 600), (513, 7, 1)]), conversion);
            check(&nest(start, &[(5, 1, 3000), (1100, 6, 2)]), conversion);
            check(&nest(start, &[(1030, 0, 1)]), conversion);
            check(&nest(start, &[]), conversion);
        }
        check(&nest((0, 0), &[(128, 1, 256), (256, 128, 1)]), conversion);
        check(&nest((40, 0), &[(41, -1, 1)]), conversion);
        check(&nest((0, 40), &[(41, 1, -1)]), conversion);
        check(&nest((500, 0), &[(8, 1, 70), (60, -8, 1)]), conversion);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_nest_converts_as_one_by_one(
        extents in prop::collection::vec(2_u64..20, 1..4),
        turn in 0_usize..4,
        gaps in prop::collection::vec(0_u64..3, 8),
        start in (0_u64..9, 0_u64..9),
        conversion in prop::sample::select(conversions()),
    ) {
        let rank = extents.len();
        let strides = |turn: usize, gaps: &[u64]| {
            let mut strides = vec![0; rank];
            let mut stride = 1;
            for (k, gap) in gaps.iter().take(rank).enumerate() {
                let axis = (k + turn) % rank;
                strides[axis] = stride as i64;
                stride *= extents[axis] + gap;
            }
            strides
        };
        let (from, to) = (strides(0, &gaps), strides(turn, &gaps[4..]));
        let mut loops: Few<Loop, 6> =
            (0..rank).map(|k| Loop { extent: extents[k], from: from[k], to: to[k] }).collect();
        loops.sort_by_key(|l| std::cmp::Reverse(l.to));
        check(&Nest { starts: [start].into(), loops }, conversion);
    }
}
