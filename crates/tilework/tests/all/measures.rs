//! What a layout is like, and its walks, against counting every place.

use std::collections::HashSet;

use crate::common::{indices, recipe};
use proptest::prelude::*;
use tilework::{Layout, Level, Place, Run};

/// Free strides.
fn free() -> impl Strategy<Value = Layout> {
    (0..=4_usize)
        .prop_flat_map(|rank| {
            (prop::collection::vec(0..=5_u64, rank), prop::collection::vec(-7..=12_i64, rank), 0..=5_u64)
        })
        .prop_map(|(dims, strides, extra)| {
            let tight = Layout::strided(&dims, 8, &strides, None, None).unwrap();
            Layout::strided(&dims, 8, &strides, None, Some(tight.size() + extra)).unwrap()
        })
}

/// Free strides, compact layouts and views of them.
pub fn layout() -> impl Strategy<Value = Layout> {
    let compact =
        recipe().prop_map(|recipe| recipe.build().unwrap()).prop_filter("small", |l| l.size() < 5000);
    (prop_oneof![free(), compact], any::<[u64; 3]>()).prop_map(|(layout, seed)| view(&layout, seed))
}

/// Sometimes a view of the layout.
fn view(layout: &Layout, seed: [u64; 3]) -> Layout {
    let rank = layout.rank();
    if rank == 0 || seed[0].is_multiple_of(2) {
        return layout.clone();
    }
    let dim = (seed[1] % rank as u64) as usize;
    let size = layout.dims()[dim];
    match seed[2] % 5 {
        0 => layout.flip(dim).unwrap(),
        1 => layout.slice(dim, size / 3..size, 1 + seed[0] / 2 % 2).unwrap(),
        2 => layout.broadcast(&[&[2], layout.dims()].concat()).unwrap(),
        3 => layout.broadcast(&[&[3], layout.dims()].concat()).unwrap().merge_dims(0).unwrap(),
        _ => layout.reshape(&[layout.len()]).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn predicates_and_counts_agree_with_a_table(layout in layout()) {
        let offsets: Vec<u64> = indices(layout.dims()).map(|index| layout.offset(&index).unwrap()).collect();
        let places: HashSet<u64> = offsets.iter().copied().collect();
        let injective = places.len() == offsets.len();
        if let Some(answer) = layout.is_injective() { prop_assert_eq!(answer, injective) }
        if let Some(count) = layout.places() { prop_assert_eq!(count, places.len() as u64) }
        if let Some(answer) = layout.is_packed() { prop_assert_eq!(answer, injective && layout.size() == layout.len()) }
        if let Some(answer) = layout.is_monotonic() { prop_assert_eq!(answer, offsets.windows(2).all(|p| p[0] < p[1])) }
        if let Some(answer) = layout.has_gaps() {
            let holds = |place: &u64| places.contains(place) || matches!(layout.locate(*place).unwrap(), Place::Padding(why) if why.level == Level::Tail);
            prop_assert_eq!(answer, !(0..layout.size()).all(|place| holds(&place)));
        }
        let repeats = |dim: &usize| {
            layout.dims()[*dim] > 1 && !layout.is_empty() && indices(layout.dims()).filter(|index| index[*dim] > 0).all(|mut index| {
                let offset = layout.offset(&index).unwrap();
                index[*dim] -= 1;
                layout.offset(&index).unwrap() == offset
            })
        };
        prop_assert_eq!(layout.broadcast_dims(), (0..layout.rank()).filter(repeats).collect::<Vec<_>>());
        prop_assert!(layout.is_injective().is_some() && layout.is_monotonic().is_some(), "small layouts are decided");
    }

    #[test]
    fn walks_meet_every_element_in_order(layout in layout()) {
        let expected: Vec<(Vec<u64>, u64)> =
            indices(layout.dims()).map(|index| { let o = layout.offset(&index).unwrap(); (index, o) }).collect();
        let mut walked = Vec::new();
        layout.for_each_in_index_order(|index, offset| walked.push((index.to_vec(), offset)));
        prop_assert_eq!(&walked, &expected);

        let mut seen = Vec::new();
        layout.for_each_in_memory_order(|index, offset| seen.push((index.to_vec(), offset)));
        let located: Vec<(Vec<u64>, u64)> = (0..layout.size())
            .filter_map(|offset| match layout.locate(offset).unwrap() {
                Place::Element(index) => Some((index, offset)),
                Place::Padding(_) => None,
            })
            .collect();
        prop_assert_eq!(seen, located);
    }

    #[test]
    fn runs_are_maximal_and_cover_the_elements(layout in layout()) {
        let places: HashSet<u64> = indices(layout.dims()).map(|index| layout.offset(&index).unwrap()).collect();
        let runs = layout.runs();
        let mut covered = HashSet::new();
        for &Run { offset, len } in &runs {
            prop_assert!(len > 0);
            covered.extend(offset..offset + len);
        }
        prop_assert_eq!(covered, places);
        prop_assert!(runs.windows(2).all(|pair| pair[0].offset + pair[0].len < pair[1].offset));
    }

    /// Elements times the factor of every cause, plus the tail, is the allocated size: no padding without a cause.
    #[test]
    fn every_padding_has_a_cause(recipe in recipe()) {
        let layout = recipe.build().unwrap();
        prop_assume!(!layout.is_empty());
        let mut size = u128::from(layout.len());
        let mut tail = 0;
        for growth in layout.growths() {
            match growth.cause.level {
                Level::Tail => tail = growth.to - growth.from,
                _ => {
                    prop_assert_eq!(size * u128::from(growth.to) % u128::from(growth.from), 0);
                    size = size * u128::from(growth.to) / u128::from(growth.from);
                }
            }
        }
        prop_assert_eq!(size + u128::from(tail), u128::from(layout.size()));
        let causes: HashSet<_> = layout.growths().into_iter().map(|growth| growth.cause).collect();
        for place in 0..layout.size() {
            if let Place::Padding(padding) = layout.locate(place).unwrap() {
                prop_assert!(causes.contains(&padding), "{:?} not in {:?}", padding, causes);
            }
        }
    }

    /// A place between strides is named as if the array were padded so far: by the dimension that it lies behind.
    #[test]
    fn a_gap_between_strides_is_behind_a_dimension(
        (dims, sizes) in prop::collection::vec((2..=4_u64, 0..=3_u64), 1..=4)
            .prop_map(|dims| {
                // Behind the last element of the first dimension the buffer ends.
                let more = |(at, &(size, more)): (usize, &(u64, u64))| if at == 0 { size } else { size + more };
                (dims.iter().map(|dim| dim.0).collect::<Vec<_>>(), dims.iter().enumerate().map(more).collect::<Vec<_>>())
            })
    ) {
        let strides: Vec<i64> = (0..dims.len()).map(|dim| sizes[dim + 1..].iter().product::<u64>() as i64).collect();
        let layout = Layout::strided(&dims, 8, &strides, None, None).unwrap();
        for (place, index) in (0..layout.size()).zip(indices(&sizes)) {
            let beyond: Vec<usize> = (0..dims.len()).filter(|&dim| index[dim] >= dims[dim]).collect();
            match layout.locate(place).unwrap() {
                Place::Element(found) => prop_assert_eq!(found, index),
                Place::Padding(padding) => {
                    prop_assert_eq!(padding.level, Level::Stride);
                    prop_assert_eq!(&padding.dims[..], &beyond[..1], "{} in {:?} of {:?}", place, dims, sizes);
                    prop_assert!(layout.growths().iter().any(|growth| growth.cause == padding));
                }
            }
        }
    }

    /// Of free strides and views as well, but for what a view leaves out, or lies between strides that overlap.
    #[test]
    fn every_padding_that_is_found_has_a_cause(layout in layout()) {
        let growths = layout.growths();
        for place in 0..layout.size() {
            let Place::Padding(padding) = layout.locate(place).unwrap() else { continue };
            prop_assert!(
                matches!(padding.level, Level::View | Level::Stride)
                    || growths.iter().any(|growth| growth.cause == padding),
                "{:?} at {} not in {:?}", padding, place, growths
            );
        }
        prop_assert!(growths.iter().all(|growth| growth.from < growth.to), "{:?}", growths);
    }
}

#[test]
fn an_array_without_elements_that_allocates_nothing_has_no_cause_of_padding() {
    for dims in [[0, 5], [5, 0]] {
        let tiled = Layout::builder(&dims, 32).unwrap().tile(&[Some(8), Some(128)]).unwrap().align(64);
        let tiled = tiled.build().unwrap();
        assert_eq!((tiled.size(), tiled.growths()), (0, vec![]));
    }
    // What is allocated is still said.
    let padded = Layout::builder(&[0, 5], 32).unwrap().padded(&[2, 8]).unwrap().build().unwrap();
    assert_eq!(padded.growths().len(), 2);
    let end = Layout::strided(&[0], 32, &[1], None, Some(8)).unwrap();
    assert_eq!(end.growths().len(), 1);
    // So are places before the first element.
    let late = Layout::strided(&[2, 3], 32, &[5, 1], Some(2), Some(12)).unwrap();
    let growths: Vec<_> =
        late.growths().into_iter().map(|g| (g.cause.level, g.cause.dims, g.from, g.to)).collect();
    assert_eq!(
        growths,
        [(Level::Stride, vec![1], 3, 5), (Level::Stride, vec![], 8, 10), (Level::Tail, vec![], 10, 12)]
    );
}

#[test]
fn layouts_too_large_to_walk_are_measured_by_their_form() {
    let rows = Layout::row_major(&[1 << 20, 1 << 20], 8).unwrap();
    assert_eq!(rows.is_monotonic(), Some(true));
    assert_eq!(rows.permute(&[1, 0]).unwrap().is_monotonic(), Some(false));
    let tiled = Layout::builder(&[1 << 20, 1 << 20], 8)
        .unwrap()
        .tile(&[Some(8), Some(128)])
        .unwrap()
        .build()
        .unwrap();
    assert_eq!(tiled.is_monotonic(), Some(false));
    let repeated = Layout::strided(&[1 << 40, 8], 8, &[0, 1], None, None).unwrap();
    assert_eq!((repeated.places(), repeated.padding(), repeated.has_gaps()), (Some(8), Some(0), Some(false)));
}

#[test]
fn an_element_at_the_place_of_the_one_before_does_not_come_after_it() {
    // 0 0 0, 0 1 1, 1 1 2, …: a dimension of 6, each four times, in rows of 3, which no digits say.
    let repeated = Layout::strided(&[6, 4], 8, &[1, 0], None, None).unwrap().reshape(&[8, 3]).unwrap();
    assert_eq!(repeated.offset(&[1, 1]).unwrap(), 1);
    assert_eq!(repeated.is_monotonic(), Some(false));
    let apart = Layout::strided(&[6, 4], 8, &[5, 1], None, None).unwrap().reshape(&[8, 3]).unwrap();
    assert_eq!(apart.is_monotonic(), Some(true));
}
