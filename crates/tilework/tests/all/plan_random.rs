//! Plans against the naive map, element by element, on random pairs of layouts.

use std::collections::{HashMap, HashSet};

use crate::common::{Recipe, indices, permutation, recipe, recipe_with, tile};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tilework::{Layout, Nest, Plan, PlanOptions, Swizzle};

/// Executes the nests: what each place of the destination receives, each at most once.
fn executed(nests: &[Nest]) -> Result<HashMap<u64, u64>, TestCaseError> {
    let mut received = HashMap::new();
    for nest in nests {
        let mut count = 0;
        let mut twice = None;
        nest.for_each(|from, to| {
            count += 1;
            if received.insert(to, from).is_some() {
                twice = Some(to);
            }
        });
        prop_assert_eq!(twice, None, "a place is written twice");
        prop_assert_eq!(count, nest.elements());
        prop_assert!(nest.loops.iter().all(|each| each.extent >= 2 && each.to > 0), "not tidy: {:?}", nest);
        let sorted = nest.loops.windows(2).all(|pair| pair[0].to >= pair[1].to);
        prop_assert!(sorted, "not sorted: {:?}", nest);
    }
    Ok(received)
}

pub fn check(from: &Layout, to: &Layout) -> Result<(), TestCaseError> {
    let naive: HashMap<u64, u64> =
        indices(to.dims()).map(|index| (to.offset(&index).unwrap(), from.offset(&index).unwrap())).collect();
    let distinct = naive.len() as u64 == to.len();
    match Plan::new(from, to, &PlanOptions::default()) {
        Ok(plan) => {
            prop_assert!(distinct, "elements share a place, but there is a plan");
            prop_assert_eq!(executed(plan.copies())?, naive);
            prop_assert!(plan.fills().is_empty());
            check_fills(from, to)?;
        }
        Err(error) => prop_assert!(!distinct, "{}", error),
    }
    Ok(())
}

/// Fills cover exactly the places without element, each once, or else everything.
fn check_fills(from: &Layout, to: &Layout) -> Result<(), TestCaseError> {
    prop_assume!(to.size() < 100_000);
    let taken: HashSet<u64> = indices(to.dims()).map(|index| to.offset(&index).unwrap()).collect();
    let plan = Plan::new(from, to, &PlanOptions { fill: Some(7), converts: false }).unwrap();
    let filled = executed(plan.fills())?;
    prop_assert!(filled.values().all(|&from| from == 0));
    for place in 0..to.size() {
        let filled = filled.contains_key(&place);
        prop_assert!(filled || taken.contains(&place), "place {} is left out", place);
        prop_assert!(
            plan.fills_first() || !filled || !taken.contains(&place),
            "place {} holds an element",
            place
        );
    }
    prop_assert_eq!(filled.keys().filter(|&&place| place >= to.size()).count(), 0);
    Ok(())
}

/// The dimensions, an order and tiles for each of two layouts.
fn pair() -> impl Strategy<Value = (Layout, Layout)> {
    let dims = prop::collection::vec(prop_oneof![1 => Just(0), 20 => 1..=5_u64, 20 => 1..=30_u64], 0..=3);
    let one = |dims: Vec<u64>| {
        let rank = dims.len();
        (Just(dims), permutation(rank), prop::collection::vec(tile(true), 0..=3)).prop_map(
            |(dims, minor_to_major, tiles)| {
                Recipe { dims, minor_to_major, padded: None, tiles, align: 1 }.build()
            },
        )
    };
    dims.prop_flat_map(move |dims| (one(dims.clone()), one(dims))).prop_filter_map("small", |(a, b)| {
        Some((a.ok()?, b.ok()?)).filter(|(a, b)| a.len() < 4000 && a.size() < 1 << 40 && b.size() < 1 << 40)
    })
}

/// A view of a layout, often of a part of it.
fn viewed(layout: Layout, seed: u64) -> Layout {
    let mut view = layout;
    let mut seed = seed;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below.max(1)
    };
    for dim in 0..view.rank() {
        let size = view.dims()[dim];
        if size > 1 && next(2) == 0 {
            let start = next(size - 1);
            let end = start + 1 + next(size - start);
            view = view.slice(dim, start..end.min(size), 1 + next(3)).unwrap();
        }
        if next(3) == 0 {
            view = view.flip(dim).unwrap();
        }
    }
    if view.rank() >= 2 && next(3) == 0 && !view.is_empty() {
        view = view.merge_dims(0).unwrap();
    }
    view
}

/// Some order of packed, padded, reversed or repeated strides over these dimensions.
fn strided(dims: &[u64], seed: u64, repeats: bool) -> Layout {
    let mut strides = vec![0_i64; dims.len()];
    let mut order: Vec<usize> = (0..dims.len()).collect();
    if !dims.is_empty() {
        order.rotate_left(seed as usize % dims.len());
    }
    let mut stride = 1 + (seed >> 8) as i64 % 3;
    for (place, &dim) in order.iter().enumerate() {
        let word = seed >> (16 + 4 * place) & 15;
        strides[dim] = if word & 3 == 3 { -stride } else { stride };
        if repeats && word == 8 {
            strides[dim] = 0;
        } else {
            stride = stride * dims[dim].max(1) as i64 + (word >> 2) as i64 % 3;
        }
    }
    Layout::strided(dims, 32, &strides, None, None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_element_moves_once_between_tiled_layouts((from, to) in pair()) {
        check(&from, &to)?;
    }

    #[test]
    fn every_element_moves_once_to_and_from_strides(recipe in recipe(), seed in any::<u64>()) {
        let tiled = recipe.build().unwrap();
        prop_assume!(tiled.len() < 4000);
        check(&tiled, &strided(tiled.dims(), seed, false))?;
        check(&strided(tiled.dims(), seed, true), &tiled)?;
        check(&tiled, &strided(tiled.dims(), seed, true))?;
    }

    #[test]
    fn every_element_moves_once_between_views((from, to) in pair(), seed in any::<u64>()) {
        let (from, to) = (viewed(from, seed), viewed(to, seed));
        check(&from, &to)?;
        let flipped = (0..from.rank()).fold(from.clone(), |view, dim| view.flip(dim).unwrap());
        check(&flipped, &to)?;
        check(&strided(to.dims(), seed, true), &to)?;
    }

    #[test]
    fn padding_is_filled_and_nothing_else(recipe in recipe(), seed in any::<u64>()) {
        let tiled = recipe.build().unwrap();
        prop_assume!(tiled.len() < 4000);
        let rows = Layout::row_major(tiled.dims(), 32).unwrap();
        check_fills(&rows, &tiled)?;
        let by_strides = strided(tiled.dims(), seed, false);
        if Plan::new(&rows, &by_strides, &PlanOptions::default()).is_ok() {
            check_fills(&rows, &by_strides)?;
        }
    }

    /// Without `*`, the axes of a tiled layout always say which places are padding.
    #[test]
    fn tiled_layouts_are_filled_around_their_elements(recipe in recipe_with(false)) {
        let tiled = recipe.build().unwrap();
        prop_assume!(tiled.len() < 4000);
        let rows = Layout::row_major(tiled.dims(), 32).unwrap();
        let plan = Plan::new(&rows, &tiled, &PlanOptions { fill: Some(0), converts: false }).unwrap();
        prop_assert!(!plan.fills_first());
        let filled: u64 = plan.fills().iter().map(Nest::elements).sum();
        prop_assert_eq!(filled, tiled.size() - tiled.len());
    }
}

/// What the plans of some pairs of layouts amount to, all together: nests, starts and loops of copies, then of fills, and
/// how many fill all places first.
fn sizes(pairs: impl Iterator<Item = (Layout, Layout)>) -> [usize; 7] {
    let mut sum = [0; 7];
    for (from, to) in pairs {
        let plan = Plan::new(&from, &to, &PlanOptions { fill: Some(0), converts: false }).unwrap();
        for (at, nests) in [(0, plan.copies()), (3, plan.fills())] {
            sum[at] += nests.len();
            sum[at + 1] += nests.iter().map(|nest| nest.starts.len()).sum::<usize>();
            sum[at + 2] += nests.iter().map(|nest| nest.loops.len()).sum::<usize>();
        }
        sum[6] += usize::from(plan.fills_first());
    }
    sum
}

/// A plan that moves every element, but in more pieces than it must, is slow, and no other test sees that. Where a change makes
/// plans smaller, lower the numbers.
#[test]
fn plans_are_no_larger_than_they_were() {
    let mut runner = TestRunner::deterministic();
    let mut pairs: Vec<(Layout, Layout)> = Vec::new();
    while pairs.len() < 600 {
        pairs.push(pair().new_tree(&mut runner).unwrap().current());
    }
    let seeds = (0..).map(|seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let viewed = pairs
        .iter()
        .zip(seeds.clone())
        .map(|((from, to), seed)| (viewed(from.clone(), seed), viewed(to.clone(), seed)));
    let strided = pairs.iter().zip(seeds).flat_map(|((from, to), seed)| {
        [(from.clone(), strided(from.dims(), seed, false)), (strided(to.dims(), seed, true), to.clone())]
    });
    let swizzles = (0..64_u32).flat_map(|number| {
        let plain = Layout::row_major(&[6 + u64::from(number % 5), 64], 16).unwrap();
        let swizzled =
            |shift| plain.swizzled(&Swizzle::new(1 + number % 3, number / 3 % 3, shift).unwrap()).unwrap();
        [(plain.clone(), swizzled(3)), (swizzled(4), plain.clone()), (swizzled(-3), swizzled(5))]
    });
    for (name, sum, most) in [
        ("tiles", sizes(pairs.iter().cloned()), [1232, 2613, 2423, 1007, 1038, 1953, 38]),
        ("views", sizes(viewed), [929, 1782, 1280, 847, 864, 1023, 124]),
        ("strides", sizes(strided), [1815, 2514, 3320, 1616, 1647, 3179, 38]),
        ("swizzles", sizes(swizzles), [228, 18400, 301, 0, 0, 0, 0]),
    ] {
        assert!(
            sum.iter().zip(&most).all(|(now, most)| now <= most),
            "{name}: {sum:?} where {most:?} were enough"
        );
    }
}
