//! Layouts with swizzles against tables of their places.

use proptest::prelude::*;
use tilework::{Difference, Layout, Level, Padding, Place, Plan, PlanOptions, Swizzle, TABLE_LIMIT, Verdict};

use crate::common::{Recipe, indices, permutation, recipe, tile};
use crate::plan_random::check;

/// CuTe's, and exchanges of any bits.
fn swizzle() -> impl Strategy<Value = Swizzle> {
    let shifts = (0..4_u32, 0..5_u32, -6..=6_i32)
        .prop_filter_map("bits of their own", |(bits, base, shift)| Swizzle::new(bits, base, shift).ok());
    let any = prop::collection::vec((0..9_u32, 0..512_u64), 1..4)
        .prop_filter_map("can be undone", |flips| Swizzle::flipping(flips).ok());
    prop_oneof![2 => shifts, 1 => any]
}

/// A layout, its table before the swizzle, and the swizzle.
fn swizzled() -> impl Strategy<Value = (Layout, Layout, Swizzle)> {
    (recipe(), swizzle()).prop_filter_map("small", |(recipe, swizzle)| {
        let plain = recipe.build().ok().filter(|plain| plain.size() < 5000)?;
        Some((plain.swizzled(&swizzle).ok()?, plain, swizzle))
    })
}

fn places(layout: &Layout) -> Vec<u64> {
    indices(layout.dims()).map(|index| layout.offset(&index).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_element_is_where_the_swizzle_takes_it((layout, plain, swizzle) in swizzled()) {
        prop_assert!(layout.size() >= plain.size());
        for index in indices(layout.dims()) {
            let place = layout.offset(&index).unwrap();
            prop_assert_eq!(place, swizzle.apply(plain.offset(&index).unwrap()));
            prop_assert!(place < layout.size());
        }
        prop_assert_eq!(layout.places(), plain.places());
        prop_assert_eq!(layout.is_injective(), plain.is_injective());
        prop_assert_eq!(layout.len(), plain.len());
    }

    #[test]
    fn every_place_is_found_again((layout, plain, swizzle) in swizzled()) {
        for offset in 0..layout.size() {
            let before = swizzle.invert(offset);
            let expected = match before < plain.size() {
                true => plain.locate(before).unwrap(),
                false => Place::Padding(Padding { level: Level::Tail, dims: Vec::new() }),
            };
            prop_assert_eq!(layout.locate(offset).unwrap(), expected, "{}", offset);
        }
        prop_assert!(layout.locate(layout.size()).is_err());
    }

    #[test]
    fn walks_see_the_exchanged_places((layout, _, _) in swizzled()) {
        let mut seen = Vec::new();
        layout.for_each_in_index_order(|_, offset| seen.push(offset));
        prop_assert_eq!(&seen, &places(&layout));
        let mut last = None;
        let mut sorted = Vec::new();
        layout.for_each_in_memory_order(|index, offset| {
            assert_eq!(layout.offset(index), Ok(offset));
            assert!(last.replace(offset).is_none_or(|last| last < offset));
            sorted.push(offset);
        });
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(&sorted, &seen);
        let runs: Vec<u64> = layout.runs().iter().flat_map(|run| run.offset..run.offset + run.len).collect();
        prop_assert_eq!(&runs, &seen);
        let ascends = places(&layout).windows(2).all(|pair| pair[0] < pair[1]);
        prop_assert_eq!(layout.is_monotonic(), Some(ascends));
    }

    #[test]
    fn views_are_of_the_index_alone((layout, plain, swizzle) in swizzled(), seed in any::<u64>()) {
        let view = |layout: &Layout| {
            let mut view = layout.clone();
            for dim in 0..view.rank() {
                let size = view.dims()[dim];
                if size > 2 && seed >> dim & 1 == 1 {
                    view = view.slice(dim, 1..size, 2).unwrap();
                }
                if seed >> (8 + dim) & 1 == 1 {
                    view = view.flip(dim).unwrap();
                }
            }
            view
        };
        let (view, plain) = (view(&layout), view(&plain));
        let expected: Vec<u64> = places(&plain).into_iter().map(|place| swizzle.apply(place)).collect();
        prop_assert_eq!(places(&view), expected);
        prop_assert_eq!(view.to_strides().is_ok(), view.swizzle().is_none() && plain.to_strides().is_ok());
    }
}

/// Two layouts of the same dimensions, each with a swizzle or without.
fn pair() -> impl Strategy<Value = (Layout, Layout)> {
    let dims = prop::collection::vec(
        prop_oneof![4 => prop::sample::select(vec![2_u64, 4, 8, 16]), 1 => 1..=9_u64],
        0..=3,
    );
    let one = |dims: Vec<u64>| {
        let rank = dims.len();
        let tiles = prop::collection::vec(prop_oneof![3 => tile_of_powers(), 1 => tile(true)], 0..=2);
        (Just(dims), permutation(rank), tiles, prop::option::weighted(0.8, swizzle())).prop_map(
            |(dims, minor_to_major, tiles, swizzle)| {
                let plain = Recipe { dims, minor_to_major, padded: None, tiles, align: 1 }.build()?;
                swizzle.map_or(Ok(plain.clone()), |swizzle| plain.swizzled(&swizzle))
            },
        )
    };
    dims.prop_flat_map(move |dims| (one(dims.clone()), one(dims))).prop_filter_map("small", |(a, b)| {
        Some((a.ok()?, b.ok()?)).filter(|(a, b)| a.size() < 5000 && b.size() < 5000)
    })
}

fn tile_of_powers() -> impl Strategy<Value = Vec<Option<u64>>> {
    prop::collection::vec(prop::sample::select(vec![Some(2), Some(4), Some(1)]), 1..=3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_element_moves_once_through_swizzles((from, to) in pair()) {
        check(&from, &to)?;
    }

    #[test]
    fn layouts_with_swizzles_compare_as_their_tables((a, b) in pair(), again in swizzle()) {
        let truth = places(&a) == places(&b);
        prop_assert_eq!(a.same_function(&b).is_yes(), truth, "{:?} {:?}", a, b);
        prop_assert_eq!(a.same_function(&b).is_no(), !truth);
        prop_assert!(a != b || truth);
        // There and back again.
        let there = a.swizzled(&again).unwrap();
        let back = there.swizzled(&again.inverse()).unwrap();
        prop_assert!(back.same_function(&a).is_yes(), "{:?} {:?}", a, back);
        let same_place = places(&there) == places(&a);
        prop_assert_eq!(there.same_function(&a).is_yes(), same_place);
        match a.transpose_bitcast(&there) {
            Verdict::Yes => {
                let sorted = |layout: &Layout| { let mut all = places(layout); all.sort_unstable(); all };
                prop_assert_eq!(sorted(&a), sorted(&there));
            }
            Verdict::No(_) => prop_assert!(!same_place || a.size() != there.size()),
            _ => {}
        }
        prop_assert!(!a.reshape_bitcast(&there).is_yes() || same_place);
    }
}

/// Dimensions of these numbers of bits, each bit of an index at its own place: the first bit of the last dimension at `places[0]`. What
/// is above the bits of the first dimension is at the end of all, so that its size need not be a power of two.
fn bits(dims: &[u32], more: u64, places: &[u32], base: u64) -> Layout {
    let mut sizes: Vec<u64> = dims.iter().map(|bits| 1 << bits).collect();
    sizes[0] *= more;
    let mut terms = Layout::terms(&sizes, 8).unwrap();
    let mut place = places.iter();
    for (dim, &bits) in dims.iter().enumerate().rev() {
        let mut rest = terms.dim(dim).unwrap();
        for _ in 0..bits {
            let (above, bit) = terms.split(rest, 2).unwrap();
            terms.add(bit, 1 << place.next().unwrap()).unwrap();
            rest = above;
        }
        terms.add(rest, 1 << places.len()).unwrap();
    }
    terms.build(Some(base), None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A swizzle can put the bits of an offset into another order, and then a layout with its bits in that order is the same
    /// function. With one more flip it is another. Many are too large for a table.
    #[test]
    fn bits_in_another_order_are_the_same_through_a_swizzle(
        (one, other) in (4..=31_usize).prop_flat_map(|count| (permutation(count), permutation(count))),
        cuts in any::<(u32, u32)>(),
        more in 1..=5_u64,
        flip in any::<(usize, usize)>(),
        base in 0..=2_u64,
    ) {
        let count = one.len() as u32;
        let (first, last) = (cuts.0 % count, cuts.1 % 3);
        let dims = [first, (count - first).saturating_sub(last), last.min(count - first)];
        let [one, other] = [one, other].map(|order| order.iter().map(|&place| place as u32).collect::<Vec<_>>());
        let flips = |more: Option<(u32, u64)>| {
            let moves = other.iter().zip(&one).map(|(&from, &to)| (from, 1_u64 << from ^ 1_u64 << to));
            Swizzle::flipping(moves.chain(more))
        };
        let base = base << count;
        let [a, b] = [&one, &other].map(|places| bits(&dims, more, places, base));
        let same = b.swizzled(&flips(None).unwrap()).unwrap();
        prop_assert!(a.same_function(&same).is_yes(), "{:?} {:?}", a, same);
        prop_assert!(same.same_function(&a).is_yes(), "{:?} {:?}", a, same);
        let [from, to] = [other[flip.0 % other.len()], one[flip.1 % one.len()]];
        if let Ok(wrong) = flips(Some((from, 1 << to))) {
            let wrong = b.swizzled(&wrong).unwrap();
            match a.same_function(&wrong) {
                Verdict::No(Difference::Element { index, offsets }) => {
                    prop_assert_eq!(offsets, [&a, &wrong].map(|layout| layout.offset(&index).unwrap()));
                    prop_assert_ne!(offsets[0], offsets[1]);
                }
                verdict => prop_assert!(false, "{} {:?} {:?}", verdict, a, wrong),
            }
        }
        // Off by one place, the carries of a sum are no xor.
        let [late, same] = [bits(&dims, more, &one, base + 1), bits(&dims, more, &other, base + 1).swizzled(&flips(None).unwrap()).unwrap()];
        let is_same = one == other || late.len() < 1 << 9 && places(&late) == places(&same);
        prop_assert!(is_same || !late.same_function(&same).is_yes(), "{:?} {:?}", late, same);
    }
}

#[test]
fn a_tile_of_128_by_64_is_one_nest_of_runs() {
    let rows = Layout::row_major(&[128, 64], 16).unwrap();
    let swizzled = rows.swizzled(&Swizzle::new(3, 3, 3).unwrap()).unwrap();
    let plan = Plan::new(&rows, &swizzled, &PlanOptions::default()).unwrap();
    let [nest] = plan.copies() else { panic!("{plan:?}") };
    assert_eq!((nest.starts.len(), nest.elements()), (64, 128 * 64));
    assert_eq!(nest.loops.last().map(|each| (each.extent, each.from, each.to)), Some((8, 1, 1)));
}

#[test]
fn large_arrays_compare_without_a_table_where_digits_are_of_bits() {
    let rows = |dims: &[u64]| Layout::row_major(dims, 16).unwrap();
    let [a, b] = [(3, 3, 3), (2, 3, 3)].map(|(bits, base, shift)| Swizzle::new(bits, base, shift).unwrap());
    let large = rows(&[1 << 20, 1 << 20]);
    assert!(large.swizzled(&a).unwrap().same_function(&large.swizzled(&b).unwrap()).is_no());
    // Each in two steps: all bits of the one, and then those that the other has not.
    let rest = Swizzle::flipping([(8, 1 << 5)]).unwrap();
    let in_steps = large.swizzled(&b).unwrap().swizzled(&rest).unwrap();
    assert_eq!(in_steps, large.swizzled(&a).unwrap());
    // One column is never swizzled, whatever the bits of its rows do elsewhere.
    let column = large.slice(1, 0..1, 1).unwrap();
    assert!(column.swizzled(&a).unwrap().same_function(&column).is_yes());
    let odd = rows(&[1 << 20, 3 << 20]);
    assert!(odd.swizzled(&a).unwrap().same_function(&odd).is_no());
    assert!(!rows(&[99_999, 99_999]).swizzled(&a).unwrap().same_function(&rows(&[99_999, 99_999])).is_yes());
}

#[test]
fn what_strides_cannot_say_is_refused_with_the_swizzle() {
    let layout = Layout::row_major(&[8, 64], 16).unwrap().swizzled(&Swizzle::new(3, 3, 3).unwrap()).unwrap();
    for why in [layout.to_strides().unwrap_err(), layout.to_digits().unwrap_err()] {
        assert!(why.to_string().contains("S<3,3,3>"), "{why}");
    }
    let undone = layout.swizzled(&Swizzle::new(3, 3, 3).unwrap()).unwrap();
    assert_eq!(undone, Layout::row_major(&[8, 64], 16).unwrap());
}

/// Places that no bits of the index add up to: every element is looked at, not only those with one bit set.
#[test]
fn swizzles_that_differ_at_a_sum_of_bits_alone_differ() {
    let flips = |bit, flipped| Swizzle::flipping([(bit, flipped)]).unwrap();
    for (dims, strides, swizzle, index, offsets) in [
        // 0, 3 and 6 have no bit 3; 9 has.
        (&[4][..], &[3][..], flips(3, 16), vec![3], [9, 25]),
        // Neither 2 + 0 nor 0 + 2 has bit 2; 2 + 2 has.
        (&[2, 2], &[2, 2], flips(2, 8), vec![1, 1], [4, 12]),
    ] {
        let plain = Layout::strided(dims, 8, strides, None, Some(32)).unwrap();
        let verdict = plain.same_function(&plain.swizzled(&swizzle).unwrap());
        assert_eq!(verdict, Verdict::No(Difference::Element { index, offsets }));
    }
}

#[test]
fn layouts_with_other_swizzles_are_compared_element_by_element_up_to_a_limit() {
    // The lowest two bits of every place are the same, so what the swizzle does for the one it undoes for the other.
    let verdict = |count: u64| {
        let plain = Layout::strided(&[2, count / 2], 8, &[3, 4], None, None).unwrap();
        let swizzled = plain.swizzled(&Swizzle::flipping([(0, 1 << 30), (1, 1 << 30)]).unwrap()).unwrap();
        swizzled.same_function(&plain)
    };
    assert_eq!(verdict(TABLE_LIMIT), Verdict::Yes);
    let Verdict::NotDecided(why) = verdict(TABLE_LIMIT + 2) else { panic!("decided") };
    assert!(why.contains(&TABLE_LIMIT.to_string()), "{why}");
}
