//! The four senses of equality against tables of every offset.

use std::collections::{BTreeSet, HashSet};

use crate::common::{Recipe, indices, permutation, recipe_with, tile};
use proptest::prelude::*;
use tilework::{Difference, Layout, Place, Verdict};

fn table(layout: &Layout) -> Vec<u64> {
    indices(layout.dims()).map(|index| layout.offset(&index).unwrap()).collect()
}

/// The verdict agrees with the truth, or says that it does not know.
fn agrees(verdict: &Verdict, truth: bool) -> Result<(), TestCaseError> {
    match verdict {
        Verdict::Yes => prop_assert!(truth, "yes, but the tables differ"),
        Verdict::No(why) => prop_assert!(!truth, "no ({}), but the tables agree", why),
        _ => {}
    }
    Ok(())
}

fn tiled(dims: &[u64], order: &[usize], tiles: &[&[u64]]) -> Layout {
    let mut builder = Layout::builder(dims, 32).unwrap().minor_to_major(order).unwrap();
    for tile in tiles {
        builder = builder.tile(&tile.iter().map(|&size| Some(size)).collect::<Vec<_>>()).unwrap();
    }
    builder.build().unwrap()
}

/// Two layouts of the same dimensions, often equal or nearly so.
fn pair() -> impl Strategy<Value = (Recipe, Recipe)> {
    let dims = prop::collection::vec(prop_oneof![1..=4_u64, 1..=13_u64], 1..=3);
    dims.prop_flat_map(|dims| {
        let one = |dims: Vec<u64>| {
            let rank = dims.len();
            (Just(dims), permutation(rank), prop::collection::vec(tile(true), 0..=3)).prop_map(
                |(dims, minor_to_major, tiles)| Recipe {
                    dims,
                    minor_to_major,
                    padded: None,
                    tiles,
                    align: 1,
                },
            )
        };
        (one(dims.clone()), one(dims))
    })
    .prop_filter("small", |(a, b)| [a, b].iter().all(|r| r.build().is_ok_and(|l| l.size() < 20_000)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn same_function_is_exact((a, b) in pair()) {
        let (a, b) = (a.build().unwrap(), b.build().unwrap());
        let verdict = a.same_function(&b);
        prop_assert!(!matches!(verdict, Verdict::NotDecided(_)), "small tables are always decided");
        agrees(&verdict, table(&a) == table(&b))?;
    }

    /// The uniqueness claim of the canonical form: equal plain functions have equal forms, so a difference of plain
    /// forms is never looked at in a table. Tiles of one dimension give many equal functions with different tiles.
    #[test]
    fn equal_plain_functions_have_equal_forms(
        size in 1..=40_u64,
        one in prop::collection::vec(1..=12_u64, 0..=3),
        two in prop::collection::vec(1..=12_u64, 0..=3),
    ) {
        let build = |tiles: &[u64]| {
            let tiles: Vec<&[u64]> = tiles.chunks(1).collect();
            tiled(&[size], &[0], &tiles)
        };
        let (a, b) = (build(&one), build(&two));
        if a.canon().is_plain() && b.canon().is_plain() {
            let same = table(&a) == table(&b);
            prop_assert_eq!(same, a.canon().to_string() == b.canon().to_string());
            prop_assert_eq!(same, a.same_function(&b).is_yes());
        }
    }

    #[test]
    fn reshape_bitcast_is_exact(a in recipe_with(true), seed in any::<u64>(), b in recipe_with(true)) {
        let a = a.build().unwrap();
        prop_assume!(!a.is_empty() && a.len() < 5000);
        // The other side: the same elements under other dimensions, seldom from another layout of the same size.
        let mut dims = a.dims().to_vec();
        if seed % 3 == 0 { dims.reverse() } else { dims = vec![a.len()] }
        let other = a.reshape(&dims).unwrap();
        prop_assert!(a.reshape_bitcast(&other).is_yes());
        let b = b.build().unwrap();
        if a.len() == b.len() && a.size() == b.size() {
            agrees(&a.reshape_bitcast(&b), table(&a) == table(&b))?;
        }
        let tile = [Some(1 + seed % 7), Some(1 + seed / 8 % 7)];
        let plain = Layout::builder(&dims, 32).unwrap().tile(&tile).unwrap().build().unwrap();
        if plain.size() == a.size() {
            agrees(&a.reshape_bitcast(&plain), table(&a) == table(&plain))?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn transpose_bitcast_is_exact(
        (a, b) in (prop::sample::select(vec![
            vec![2, 2, 3], vec![4, 3], vec![12], vec![2, 6], vec![3, 2, 2], vec![6, 2], vec![3, 4], vec![10], vec![2, 5], vec![5, 2],
            vec![15], vec![3, 5], vec![2, 2, 2], vec![8], vec![4, 2], vec![1, 8],
        ]), any::<prop::sample::Index>()).prop_flat_map(|(dims, _)| {
            let one = |dims: Vec<u64>| {
                let rank = dims.len();
                (Just(dims), permutation(rank), prop::collection::vec(tile(false), 0..=2)).prop_map(
                    |(dims, minor_to_major, tiles)| Recipe { dims, minor_to_major, padded: None, tiles, align: 1 << 14 },
                )
            };
            let len: u64 = dims.iter().product();
            let others: Vec<Vec<u64>> = vec![vec![len], dims.iter().rev().copied().collect(), dims.clone()];
            (one(dims), prop::sample::select(others).prop_flat_map(one))
        })
    ) {
        let (a, b) = (a.build().unwrap(), b.build().unwrap());
        // The alignment makes nearly all sizes equal; tiles that pad beyond it need another buffer.
        let same_buffer = a.size() == b.size();
        let verdict = a.transpose_bitcast(&b);
        agrees(&verdict, same_buffer && is_reachable(&a, &b))?;
        if let Some(Difference::Place(place)) = verdict.difference() {
            let taken = |layout: &Layout| (0..=*place).map(|p| table(layout).iter().filter(|o| **o == p).count()).collect::<Vec<_>>();
            let first = taken(&a).iter().zip(taken(&b)).position(|(a, b)| *a != b);
            prop_assert_eq!(first, Some(*place as usize), "not the first that differs");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Strides that overlap or repeat: digits can then be cut and put together in more than one way.
    #[test]
    fn transpose_bitcast_is_exact_where_places_are_shared(
        (a, b) in prop::sample::select(vec![
            vec![vec![2, 2, 2], vec![4, 2], vec![2, 4], vec![8]],
            vec![vec![2, 2, 2, 2], vec![4, 4], vec![8, 2], vec![2, 8], vec![16]],
            vec![vec![2, 3, 2], vec![4, 3], vec![6, 2], vec![2, 6], vec![12]],
        ]).prop_flat_map(|shapes| {
            let one = |dims: Vec<u64>| {
                let strides = prop::sample::select(vec![0, 1, 2, 3, 4, 6, 8, -1, -2]);
                (Just(dims.clone()), prop::collection::vec(strides, dims.len()))
            };
            (prop::sample::select(shapes.clone()).prop_flat_map(one), prop::sample::select(shapes).prop_flat_map(one))
        })
    ) {
        let build = |(dims, strides): (Vec<u64>, Vec<i64>)| Layout::strided(&dims, 8, &strides, Some(64), Some(256)).unwrap();
        let (a, b) = (build(a), build(b));
        agrees(&a.transpose_bitcast(&b), is_reachable(&a, &b))?;
    }
}

#[test]
fn digits_that_share_places_can_be_cut_and_exchanged() {
    let build = |dims: &[u64], strides: &[i64]| Layout::strided(dims, 8, strides, None, None).unwrap();
    // Both are 2:1, 2:2, 2:2, 2:4 in another order.
    assert!(build(&[4, 4], &[1, 2]).transpose_bitcast(&build(&[8, 2], &[1, 2])).is_yes());
    // The same places as often, but no way from one to the other: that is not claimed either way.
    let (a, b) = (build(&[3, 2, 5], &[2, 5, 3]), build(&[5, 3, 2], &[2, 5, 3]));
    assert!(matches!(a.transpose_bitcast(&b), Verdict::NotDecided(_)));
}

/// Whether permuting and reshaping, again and again, lead from one layout to another.
fn is_reachable(from: &Layout, to: &Layout) -> bool {
    let [first, last] = [from, to].map(table);
    let sorted = |table: &[u64]| {
        let mut table = table.to_vec();
        table.sort_unstable();
        table
    };
    // Moves change the order of a table and nothing else.
    if sorted(&first) != sorted(&last) {
        return false;
    }
    let moves = moves(first.len() as u64);
    let mut tables = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(flat) = open.pop() {
        if flat == last {
            return true;
        }
        for places in &moves {
            let moved: Vec<u64> = places.iter().map(|&place| flat[place]).collect();
            if !tables.contains(&moved) {
                tables.insert(moved.clone());
                open.push(moved);
            }
        }
    }
    false
}

/// What one move can do to a table: cut its row-major order into prime digits in any order, and permute the digits. Each move
/// lists the places from which it takes its elements.
fn moves(size: u64) -> BTreeSet<Vec<usize>> {
    let mut moves = BTreeSet::new();
    for digits in prime_orders(size) {
        for order in permutations(digits.len()) {
            let shape: Vec<u64> = order.iter().map(|&d| digits[d]).collect();
            let places = indices(&shape).map(|index| {
                let mut from = vec![0; digits.len()];
                for (&d, &i) in order.iter().zip(&index) {
                    from[d] = i;
                }
                from.iter().zip(&digits).fold(0, |place, (i, n)| place * n + i) as usize
            });
            moves.insert(places.collect());
        }
    }
    moves
}

fn prime_orders(size: u64) -> Vec<Vec<u64>> {
    if size == 1 {
        return vec![Vec::new()];
    }
    (2..=size)
        .filter(|p| size.is_multiple_of(*p) && (2..*p).all(|q| !p.is_multiple_of(q)))
        .flat_map(|p| prime_orders(size / p).into_iter().map(move |rest| [vec![p], rest].concat()))
        .collect()
}

fn permutations(rank: usize) -> Vec<Vec<usize>> {
    match rank {
        0 => vec![Vec::new()],
        _ => permutations(rank - 1)
            .into_iter()
            .flat_map(|order| {
                (0..rank).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, rank - 1);
                    order
                })
            })
            .collect(),
    }
}

#[test]
fn known_reshape_bitcasts() {
    let row = |dims: &[u64]| Layout::row_major(dims, 32).unwrap();
    assert!(tiled(&[16, 128], &[1, 0], &[&[8, 128]]).reshape_bitcast(&row(&[2048])).is_yes());
    assert!(tiled(&[8, 256], &[1, 0], &[&[8, 128]]).reshape_bitcast(&row(&[2048])).is_no());
    assert!(
        tiled(&[32, 256], &[1, 0], &[&[8, 128]])
            .reshape_bitcast(&tiled(&[4, 8, 2, 128], &[3, 1, 2, 0], &[]))
            .is_yes()
    );
    assert!(
        tiled(&[1024], &[0], &[&[1024]]).reshape_bitcast(&tiled(&[8, 128], &[1, 0], &[&[8, 128]])).is_yes()
    );
    let bf16 = tiled(&[1000], &[0], &[&[512], &[128], &[2, 1]]);
    let plain = tiled(&[1000], &[0], &[&[512]]);
    assert_eq!(bf16.size(), plain.size());
    assert!(bf16.reshape_bitcast(&plain).is_no());
}

#[test]
fn the_same_function_in_another_buffer_is_not_the_same_buffer() {
    let short = Layout::row_major(&[3, 5], 32).unwrap();
    let long = Layout::builder(&[3, 5], 32).unwrap().align(64).build().unwrap();
    assert!(short.same_function(&long).is_yes());
    assert_eq!(short.same_buffer(&long), Verdict::No(Difference::Size([15, 64])));
    let half = Layout::row_major(&[3, 5], 16).unwrap();
    assert_eq!(short.same_buffer(&half), Verdict::No(Difference::Bits([32, 16])));
}

#[test]
fn huge_layouts_are_decided_without_looking_at_their_elements() {
    let a = tiled(&[1 << 30, 1 << 28], &[1, 0], &[&[8, 128], &[2, 1]]);
    let b = tiled(&[1 << 30, 1 << 28], &[1, 0], &[&[8, 128]]);
    assert!(a.same_function(&a).is_yes());
    let element = Difference::Element { index: vec![0, 1], offsets: [2, 1] };
    assert_eq!(a.same_function(&b), Verdict::No(element));
    // Tiles that do not divide each other: nested remainders, decided over one period.
    let uneven = tiled(&[1 << 40, 4], &[1, 0], &[&[3, 2], &[2, 1]]);
    let odd = tiled(&[1 << 40, 4], &[1, 0], &[&[3, 2], &[2, 1], &[1, 1]]);
    assert!(uneven.same_function(&odd).is_yes());
    assert!(uneven.same_function(&tiled(&[1 << 40, 4], &[1, 0], &[&[3, 2]])).is_no());
}

/// Too many elements to sort the places of all, in tiles that no digits say.
#[test]
fn a_place_that_only_one_of_two_large_layouts_takes_is_found() {
    let uneven = |tile: [u64; 2]| tiled(&[1000, 600], &[1, 0], &[&tile, &[2, 1]]);
    let (a, b) = (uneven([3, 2]), uneven([3, 4]));
    assert_eq!((a.size(), a.len()), (b.size(), 600_000));
    let verdict = a.transpose_bitcast(&b);
    let Some(&Difference::Place(place)) = verdict.difference() else { panic!("{verdict}") };
    let taken = |layout: &Layout, place| matches!(layout.locate(place), Ok(Place::Element(_)));
    assert!(taken(&a, place) != taken(&b, place), "{place}");
    assert!((0..place).all(|place| taken(&a, place) == taken(&b, place)), "{place}");
}

/// Where a place is found by division in both, places are looked at. Where it is not in one of them, each could take a search.
#[test]
fn places_of_large_layouts_that_take_a_search_are_not_looked_at() {
    let not_compact = |rows: u64| {
        let uneven = tiled(&[rows, 600], &[1, 0], &[&[3, 2], &[2, 1]]);
        let size = Some(uneven.size());
        let free = Layout::strided(&[rows, 600], 32, &[1, rows as i64], None, size).unwrap();
        let column = Layout::builder(&[rows, 1], 32).unwrap().align(uneven.size()).build().unwrap();
        (uneven, [free, column.broadcast(&[rows, 600]).unwrap().merge_dims(0).unwrap()])
    };
    let (uneven, others) = not_compact(1000);
    for other in others {
        for verdict in [uneven.transpose_bitcast(&other), other.transpose_bitcast(&uneven)] {
            assert!(matches!(verdict, Verdict::NotDecided(_)), "{verdict}, {other:?}");
        }
    }
    // Of a few elements the places are sorted, however they are found.
    let (uneven, others) = not_compact(100);
    for other in others {
        let verdict = uneven.transpose_bitcast(&other);
        assert!(matches!(verdict.difference(), Some(Difference::Place(_))), "{verdict}");
    }
}

#[test]
fn what_would_take_too_large_a_table_is_said_not_to_be_decided() {
    // 7 and 11 do not divide 2^20 + 1: a coupled component of 2^40 entries with long periods.
    let dims = [(1 << 20) + 7, (1 << 20) + 3];
    let star = |inner: u64| {
        Layout::builder(&dims, 32)
            .unwrap()
            .tile(&[None, Some(inner)])
            .unwrap()
            .tile(&[Some(inner - 2)])
            .unwrap()
            .build()
            .unwrap()
    };
    let a = star(1_000_003);
    assert!(a.same_function(&a).is_yes());
    assert!(a.same_function(&star(1_000_033)).is_no());
}

#[test]
fn every_difference_is_a_value_and_has_its_words() {
    let rows = |dims: &[u64]| Layout::row_major(dims, 32).unwrap();
    let columns = tiled(&[2, 3], &[0, 1], &[]);
    let dims = [vec![2, 3], vec![3, 2]];
    let broadcast = Layout::strided(&[2, 3], 32, &[0, 1], None, Some(6)).unwrap();
    for (verdict, difference, words) in [
        (
            rows(&[2, 3]).same_function(&rows(&[3, 2])),
            Difference::Dims(dims),
            "the dimensions differ: [2, 3] and [3, 2]",
        ),
        (
            rows(&[2, 3]).same_function(&columns),
            Difference::Element { index: vec![1, 0], offsets: [3, 1] },
            "element (1, 0) is at 3 and 1",
        ),
        (
            rows(&[4]).reshape_bitcast(&Layout::strided(&[3], 32, &[1], None, Some(4)).unwrap()),
            Difference::Len([4, 3]),
            "4 elements and 3",
        ),
        (rows(&[4]).reshape_bitcast(&rows(&[3])), Difference::Size([4, 3]), "4 and 3 elements are allocated"),
    ] {
        assert_eq!(verdict.difference(), Some(&difference), "{words}");
        assert_eq!((verdict.to_string(), verdict.reason()), (format!("no: {words}"), Some(words.to_owned())));
    }
    let verdict = rows(&[2, 3]).transpose_bitcast(&broadcast);
    assert!(matches!(verdict.difference(), Some(Difference::Pieces(_))), "{verdict}");
    assert_eq!((Verdict::Yes.difference(), Verdict::Yes.reason()), (None, None));
}

#[test]
fn equal_functions_are_equal_however_they_came_about() {
    // The cuts of a view are found in another order than those of tiles.
    let view =
        Layout::builder(&[1, 2, 2, 2], 8).unwrap().minor_to_major(&[3, 1, 2, 0]).unwrap().build().unwrap();
    let view = view.reshape(&[8]).unwrap();
    let tiled =
        Layout::builder(&[8], 8).unwrap().tile(&[Some(4)]).unwrap().tile(&[Some(2), Some(2)]).unwrap();
    let tiled = tiled.build().unwrap();
    assert!(view.same_function(&tiled).is_yes());
    assert_eq!(view, tiled);
    let hash = |layout: &Layout| {
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(layout, &mut hasher);
        std::hash::Hasher::finish(&hasher)
    };
    assert_eq!(hash(&view), hash(&tiled));
}
