//! Any list of numbers is read as a layout: sizes, order, padded sizes, tiles; or free strides.
//! Whatever can be built has to go from index to offset and back.
#![no_main]

mod check;
mod numbers;

use libfuzzer_sys::fuzz_target;
use numbers::{Numbers, Recipe, strided};
use tilework::{Layout, Plan, PlanOptions, Result};

/// Elements up to which each move is planned.
const PLANNED: u64 = 512;

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers::new(bytes);
    let free = numbers.below(4) == 3;
    let dims = numbers.sizes();
    let [one, other] = [0, 1].map(|_| match free {
        true => {
            let bits = 1 + numbers.below(64) as u32;
            strided(&mut numbers, &dims, bits)
        }
        false => compact(&mut numbers, &dims),
    });
    let Ok(one) = one else { return };
    let seed = numbers.next();
    check::check(&one, !free, seed);
    if let Ok(other) = other {
        compare(&one, &other);
        // Irregular layouts are planned index by index, a million of them in a second.
        if other.len() <= PLANNED || check::is_thorough(seed) {
            plan(&one, &other);
        }
    }
});

/// Dimensions in any order, padded, in any tiles; compared with a plain reading of the same description.
fn compact(numbers: &mut Numbers, dims: &[u64]) -> Result<Layout> {
    let bits = 1 + numbers.below(64) as u32;
    let recipe = Recipe::read(numbers, dims, bits);
    let layout = recipe.build()?;
    if !layout.is_empty() {
        for pick in [|_| 0, |size| size - 1, |size| size / 2, |size| size / 3, |size| (size - 1) * 6 / 7] {
            let index: Vec<u64> = dims.iter().map(|&size| pick(u128::from(size)) as u64).collect();
            assert_eq!(layout.offset(&index).map(u128::from), Ok(recipe.offset(&index)), "at {index:?}");
        }
    }
    Ok(layout)
}

/// Small layouts are the same function exactly if every index has the same offset.
fn compare(one: &Layout, other: &Layout) {
    let verdict = one.same_function(other);
    if one.len() <= 512 {
        let same = offsets(one) == offsets(other);
        assert!(
            if same { verdict.is_yes() } else { verdict.is_no() },
            "{verdict}, but the table says {same}"
        );
    }
    let back = other.same_function(one);
    assert_eq!((verdict.is_yes(), verdict.is_no()), (back.is_yes(), back.is_no()), "{verdict}; {back}");
    assert!(one.same_buffer(one).is_yes() && one.reshape_bitcast(one).is_yes());
}

/// What is planned is moved: each element once, and nothing else; fills cover the places that are left.
fn plan(one: &Layout, other: &Layout) {
    let Ok(plan) = Plan::new(one, other, &PlanOptions { fill: Some(0), converts: true }) else { return };
    let figures = plan.figures();
    assert_eq!(figures.elements, other.len());
    if !plan.fills_first() {
        assert_eq!(figures.filled, other.size() - other.len());
    }
    if other.len() > PLANNED {
        return;
    }
    let mut moved = Vec::new();
    plan.copies().iter().for_each(|nest| nest.for_each(|from, to| moved.push((to, from))));
    let mut naive: Vec<(u64, u64)> = offsets(other).into_iter().zip(offsets(one)).collect();
    moved.sort_unstable();
    naive.sort_unstable();
    assert_eq!(moved, naive);
}

/// The offsets of all elements, in index order.
fn offsets(layout: &Layout) -> Vec<u64> {
    let mut offsets = Vec::new();
    layout.for_each_in_index_order(|_, offset| offsets.push(offset));
    offsets
}
