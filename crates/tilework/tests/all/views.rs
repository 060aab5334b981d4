//! Views against the same verb done on a table of offsets.

use crate::common::{Recipe, indices, recipe};
use proptest::prelude::*;
use tilework::{LOCATE_LIMIT, Layout, Place};

/// Every offset in row-major index order: the shadow of a layout.
fn table(layout: &Layout) -> Vec<u64> {
    indices(layout.dims()).map(|index| layout.offset(&index).unwrap()).collect()
}

/// What a view shows must be found again at its place.
fn check_locate(view: &Layout) -> Result<(), TestCaseError> {
    let mut elements = 0;
    for place in 0..view.size() {
        if let Place::Element(index) = view.locate(place).unwrap() {
            prop_assert_eq!(view.offset(&index).unwrap(), place);
            elements += 1;
        }
    }
    let mut offsets = table(view);
    offsets.sort_unstable();
    offsets.dedup();
    prop_assert_eq!(elements, offsets.len());
    Ok(())
}

/// One verb with its arguments as raw numbers, made to fit the layout it meets.
fn apply(layout: &Layout, verb: u8, seed: [u64; 3]) -> Result<Layout, TestCaseError> {
    let rank = layout.rank();
    let dims = layout.dims().to_vec();
    let pick = |n: usize| (seed[0] % n.max(1) as u64) as usize;
    let dim = pick(rank);
    let view = match verb {
        0 => {
            let mut order: Vec<usize> = (0..rank).collect();
            order.rotate_left(pick(rank));
            if rank > 1 && seed[1].is_multiple_of(2) {
                order.swap(0, rank - 1);
            }
            let view = layout.permute(&order).unwrap();
            for index in indices(view.dims()) {
                let mut old = vec![0; rank];
                for (k, &d) in order.iter().enumerate() {
                    old[d] = index[k];
                }
                prop_assert_eq!(view.offset(&index).unwrap(), layout.offset(&old).unwrap());
            }
            view
        }
        1 if rank > 0 => {
            let end = seed[1] % (dims[dim] + 1);
            let start = seed[2] % (end + 1);
            let step = 1 + seed[0] % 3;
            let view = layout.slice(dim, start..end, step).unwrap();
            for index in indices(view.dims()) {
                let mut old = index.clone();
                old[dim] = start + step * index[dim];
                prop_assert_eq!(view.offset(&index).unwrap(), layout.offset(&old).unwrap());
            }
            view
        }
        2 if rank > 0 => {
            let view = layout.flip(dim).unwrap();
            for index in indices(view.dims()) {
                let mut old = index.clone();
                old[dim] = dims[dim] - 1 - index[dim];
                prop_assert_eq!(view.offset(&index).unwrap(), layout.offset(&old).unwrap());
            }
            view
        }
        3 => {
            let mut new = dims.clone();
            for size in &mut new {
                *size = if *size == 1 { 1 + seed[1] % 3 } else { *size };
            }
            if rank < 5 {
                new.insert(0, 2);
            }
            let view = layout.broadcast(&new).unwrap();
            for index in indices(&new) {
                let old: Vec<u64> =
                    index[new.len() - rank..].iter().zip(&dims).map(|(i, n)| *i.min(&(n - 1))).collect();
                prop_assert_eq!(view.offset(&index).unwrap(), layout.offset(&old).unwrap());
            }
            view
        }
        4 if rank > 0 && dims[dim] > 0 => {
            let divisors: Vec<u64> = (1..=dims[dim]).filter(|d| dims[dim].is_multiple_of(*d)).collect();
            let view = layout.split_dim(dim, divisors[seed[1] as usize % divisors.len()]).unwrap();
            prop_assert_eq!(table(&view), table(layout));
            view
        }
        5 if rank > 1 => {
            let view = layout.merge_dims(pick(rank - 1)).unwrap();
            prop_assert_eq!(table(&view), table(layout));
            view
        }
        6 => {
            let mut new = dims.clone();
            new.rotate_left(pick(rank));
            if seed[1].is_multiple_of(3) {
                new = vec![layout.len()];
            }
            let view = layout.reshape(&new).unwrap();
            prop_assert_eq!(table(&view), table(layout));
            view
        }
        _ => layout.clone(),
    };
    Ok(view)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn verbs_in_any_order_do_what_they_do_to_a_table(
        recipe in recipe(),
        verbs in prop::collection::vec((0..=6_u8, any::<[u64; 3]>()), 1..=4),
    ) {
        let mut layout = recipe.build().unwrap();
        prop_assume!(layout.size() <= 3000);
        for (verb, seed) in verbs {
            layout = apply(&layout, verb, seed)?;
            if layout.len() > 3000 || layout.rank() > 6 {
                break;
            }
        }
        check_locate(&layout)?;
    }

    #[test]
    fn strides_are_given_exactly_when_strides_say_the_layout(recipe in recipe()) {
        let layout = recipe.build().unwrap();
        prop_assume!(!layout.is_empty());
        let zero = layout.offset(&vec![0; layout.rank()]).unwrap();
        let guess: Vec<i64> = (0..layout.rank()).map(|d| {
            let mut index = vec![0; layout.rank()];
            if layout.dims()[d] > 1 { index[d] = 1 }
            layout.offset(&index).unwrap() as i64 - zero as i64
        }).collect();
        let linear = indices(layout.dims()).all(|index| {
            let dot: i64 = index.iter().zip(&guess).map(|(&i, &s)| i as i64 * s).sum();
            layout.offset(&index).unwrap() as i64 == zero as i64 + dot
        });
        let strided = layout.to_strides().ok().map(|strided| (strided.first, strided.strides));
        prop_assert_eq!(strided, linear.then_some((zero, guess)));
    }
}

#[test]
fn strides_are_found_where_quotients_come_to_nothing() {
    let recipe = Recipe {
        dims: vec![2, 9, 8],
        minor_to_major: vec![0, 1, 2],
        padded: None,
        tiles: vec![vec![Some(3), Some(2)], vec![None, Some(5)], vec![Some(3), None, None, Some(6)]],
        align: 1,
    };
    assert_eq!(recipe.build().unwrap().to_strides().unwrap().strides, [1, 2, 36]);
}

#[test]
fn a_slice_has_a_step_that_a_stride_can_have() {
    let layout = Layout::row_major(&[4, 6], 8).unwrap();
    for step in [0, i64::MAX as u64 + 1, u64::MAX] {
        let error = layout.slice(1, 0..6, step).unwrap_err().to_string();
        assert!(error.contains("accepted: 1 to 9223372036854775807"), "{error}");
    }
    assert_eq!(table(&layout.slice(1, 1..6, i64::MAX as u64).unwrap()), [1, 7, 13, 19]);
}

/// A dimension that is repeated, merged and cut to its last element: every repetition but the last is outside the view.
#[test]
fn as_many_repetitions_are_tried_as_the_limit_says() {
    let last_of = |count: u64| {
        let merged =
            Layout::row_major(&[3], 8).unwrap().broadcast(&[count, 3]).unwrap().merge_dims(0).unwrap();
        merged.slice(0, 3 * count - 1..3 * count, 1).unwrap()
    };
    assert_eq!(last_of(LOCATE_LIMIT).locate(2).unwrap(), Place::Element(vec![0]));
    let error = last_of(LOCATE_LIMIT + 1).locate(2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "offset: the element at this offset is not decided; a slice of a merged broadcast would need over 1048576 combinations"
    );
}
