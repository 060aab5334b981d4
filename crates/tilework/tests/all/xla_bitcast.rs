//! XLA's bitcast tests and alignment of layouts, on the cases of XLA's tests and library and against brute force.

use crate::common::xla_shapes::{array, cases, shape};
use proptest::prelude::*;
use serde_json::{Value, json};
use tilework::{
    Element,
    xla::{ArrayShape, Bitcast, Dim, Layout, Padding, PaddingValue, Strides, common_factors},
};

/// The cases of a function, under XLA's name without its class.
fn cases_of(op: &str, groups: &[&str]) -> Vec<Value> {
    let found: Vec<Value> = cases(groups)
        .into_iter()
        .filter(|case| case["op"].as_str().unwrap().trim_start_matches("ShapeUtil::") == op)
        .collect();
    assert!(!found.is_empty(), "no cases of {op}");
    found
}

/// The arguments, which some cases name and others list.
fn arguments<'a>(case: &'a Value, names: &[&str]) -> Vec<&'a Value> {
    match case["input"].as_array() {
        Some(list) => list.iter().collect(),
        None => names.iter().map(|name| &case["input"][name]).collect(),
    }
}

fn expected(case: &Value) -> &Value {
    match case["expected"].as_object().and_then(|object| object.get("result")) {
        Some(result) => result,
        None => &case["expected"],
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

#[test]
fn common_factors_are_those_of_xla() {
    for case in cases_of("CommonFactors", &["common_factors", "native_edge"]) {
        let sizes = |value: &Value| numbers(value).into_iter().map(|size| size as u64).collect::<Vec<_>>();
        let args = arguments(&case, &["a", "b"]);
        let found = common_factors(&sizes(args[0]), &sizes(args[1])).unwrap();
        assert_eq!(json!(found), *expected(&case), "{case}");
    }
}

#[test]
fn reshapes_are_bitcasts_where_xla_says_so() {
    let groups = ["reshape_is_bitcast", "reshape_is_bitcast_random", "native_edge"];
    for case in cases_of("ReshapeIsBitcast", &groups) {
        let args = arguments(&case, &["input", "output", "ignore_element_type"]);
        let (input, output) = (array(text(args[0])), array(text(args[1])));
        let found = input.reshape_is_bitcast_untiled(&output, args[2].as_bool().unwrap()).unwrap();
        assert_eq!(json!(found), *expected(&case), "{case}");
    }
}

#[test]
fn transposes_are_bitcasts_where_xla_says_so() {
    let groups = ["transpose_is_bitcast", "transpose_is_bitcast_random", "native_edge"];
    for case in cases_of("TransposeIsBitcast", &groups) {
        let args = arguments(&case, &["input", "output", "dimension_mapping", "ignore_element_type"]);
        let (input, output) = (array(text(args[0])), array(text(args[1])));
        let ignore = args[3].as_bool().unwrap();
        let found = input.transpose_is_bitcast_by_order(&output, &numbers(args[2]), ignore).unwrap();
        assert_eq!(json!(found), *expected(&case), "{case}");
    }
}

#[test]
fn layouts_align_as_xla_aligns_them() {
    for case in cases_of("AlignLayouts", &["align_layouts", "align_layouts_random", "native_edge"]) {
        let args = arguments(&case, &["input", "output"]);
        let (input, output) = (array(text(args[0])), array(text(args[1])));
        let found = input.align_layouts(&output);
        match expected(&case) {
            Value::Null => assert_eq!(found.unwrap(), None, "{case}"),
            Value::String(aligned) => assert_eq!(found.unwrap(), Some(array(aligned)), "{case}"),
            // XLA aborts for another element type.
            other if other.get("crash").is_some() => assert!(found.is_err(), "{case}"),
            _ => {
                assert!(input.reshape_is_bitcast_untiled(&found.unwrap().unwrap(), false).unwrap(), "{case}")
            }
        }
    }
}

#[test]
fn bitcasts_decompose_as_xla_decomposes_them() {
    for case in cases_of("DecomposeBitcast", &["decompose_bitcast", "decompose_bitcast_random"]) {
        let (input, output) = (array(text(&case["input"]["input"])), array(text(&case["input"]["output"])));
        let expected = &case["expected"];
        match input.decompose_bitcast(&output).unwrap().unwrap() {
            Bitcast::Reshape => assert_eq!(expected["kind"], "reshape", "{case}"),
            Bitcast::Transpose { dims } => {
                assert_eq!(*expected, json!({"kind": "transpose", "dims": dims}), "{case}");
            }
            Bitcast::TransposeReshapeTranspose(trt) => {
                assert_eq!(expected["kind"], "trt", "{case}");
                assert_eq!(trt.transpose1_dims, numbers(&expected["transpose1_dims"]), "{case}");
                assert_eq!(trt.transpose1_shape, array(text(&expected["transpose1_shape"])), "{case}");
                assert_eq!(trt.reshape_shape, array(text(&expected["reshape_shape"])), "{case}");
                assert_eq!(trt.transpose2_dims, numbers(&expected["transpose2_dims"]), "{case}");
                let identity = |dims: &[usize]| dims.iter().copied().eq(0..dims.len());
                assert_eq!(trt.is_transpose1_identity(), identity(&trt.transpose1_dims));
                assert_eq!(trt.is_transpose2_identity(), identity(&trt.transpose2_dims));
            }
        }
    }
}

#[test]
fn bitcasts_of_as_many_elements_can_be_decomposed() {
    for case in cases_of("IsDecomposableBitcast", &["native_edge"]) {
        let args = arguments(&case, &[]);
        let found = shape(text(args[0])).is_decomposable_bitcast(&shape(text(args[1])));
        assert_eq!(json!(found), *expected(&case), "{case}");
    }
    let vector = array("f32[6]{0}");
    for (other, decomposable) in [
        ("f64[3]{0}", false),
        ("f32[2,3] (no layout)", false),
        ("f32[?]{0}", false),
        ("f32[0,?]{1,0}", false),
    ] {
        assert_eq!(vector.is_decomposable_bitcast(&array(other)), decomposable, "{other}");
        if !decomposable {
            assert_eq!(vector.decompose_bitcast(&array(other)).unwrap(), None, "{other}");
            assert_eq!(vector.decompose_bitcast_to_trt(&array(other)).unwrap(), None, "{other}");
        }
    }
}

#[test]
fn what_xla_aborts_on_is_an_error() {
    let (matrix, bare) = (array("f32[2,3]{1,0}"), array("f32[2,3] (no layout)"));
    let free = Layout::strided(Strides { strides: vec![3, 1], base: None, size: None }).unwrap();
    let free = matrix.clone().with_layout(free).unwrap();
    for other in [&bare, &free] {
        assert!(matrix.reshape_is_bitcast_untiled(other, false).is_err());
        assert!(other.reshape_is_bitcast_untiled(&matrix, false).is_err());
        assert!(matrix.transpose_is_bitcast_by_order(other, &[0, 1], false).is_err());
        assert!(other.transpose_is_bitcast_by_order(&matrix, &[0, 1], false).is_err());
        assert!(matrix.deduce_transpose_dimensions_for_bitcast(other).is_err());
        assert!(other.align_layouts(&matrix).is_err());
    }
    assert!(free.decompose_bitcast(&matrix).is_err() && matrix.decompose_bitcast_to_trt(&free).is_err());
    for mapping in [&[0][..], &[0, 0], &[0, 2], &[0, 1, 2], &[]] {
        assert!(matrix.transpose_is_bitcast_by_order(&matrix, mapping, false).is_err(), "{mapping:?}");
    }
    let unbounded = array("f32[?,3]{1,0}");
    assert!(unbounded.reshape_is_bitcast_untiled(&matrix, false).is_err());
    assert!(unbounded.align_layouts(&matrix).is_err() && matrix.align_layouts(&unbounded).is_err());
    assert!(matrix.align_layouts(&array("f32[5]{0}")).is_err());
    assert!(matrix.dimensions_unmodified_by_reshape(&array("f32[5]{0}")).is_err());
}

#[test]
fn padded_dimensions_stop_reshapes_and_where_both_have_them_transposes() {
    let padded = |text: &str, sizes: &[u64]| {
        let array = array(text);
        let padding = Padding { padded_dimensions: sizes.to_vec(), value: PaddingValue::Zero };
        let layout = array.layout().unwrap().clone().with_padding(Some(padding)).unwrap();
        array.with_layout(layout).unwrap()
    };
    let plain = array("f32[2,3]{1,0}");
    let wide = padded("f32[2,3]{1,0}", &[2, 4]);
    // Padding to the size itself is none.
    assert!(padded("f32[2,3]{1,0}", &[2, 3]).reshape_is_bitcast_untiled(&plain, false).unwrap());
    assert!(!plain.reshape_is_bitcast_untiled(&wide, false).unwrap());
    assert!(!wide.reshape_is_bitcast_untiled(&wide, false).unwrap());
    assert!(wide.transpose_is_bitcast_by_order(&plain, &[0, 1], false).unwrap());
    assert!(!wide.transpose_is_bitcast_by_order(&wide, &[0, 1], false).unwrap());
    assert_eq!(wide.align_layouts(&array("f32[6]{0}")).unwrap(), None);
    assert_eq!(wide.deduce_transpose_dimensions_for_bitcast(&plain).unwrap(), None);
    let turned = wide.permute_dimensions(&[1, 0]).unwrap();
    assert_eq!(turned, padded("f32[3,2]{0,1}", &[4, 2]));
    assert_eq!(wide.decompose_bitcast(&turned).unwrap(), Some(Bitcast::Transpose { dims: vec![1, 0] }));
    assert_eq!(wide.decompose_bitcast(&plain).unwrap(), None);
}

#[test]
fn tiles_are_ignored_by_the_tests_and_kept_by_the_decomposition() {
    let (input, output) = (array("f32[4,6]{0,1:T(2,2)}"), array("f32[8,3]{1,0}"));
    let Some(Bitcast::TransposeReshapeTranspose(trt)) = input.decompose_bitcast(&output).unwrap() else {
        panic!("not a reshape between two transposes")
    };
    assert_eq!(trt.transpose1_shape, array("f32[6,4]{1,0:T(2,2)}"));
    assert!(array("f32[2,6]{1,0:T(2,2)}").reshape_is_bitcast_untiled(&array("f32[12]{0}"), false).unwrap());
    let aligned = array("f32[2,6]{1,0:T(2,2)S(1)}").align_layouts(&array("f32[12]{0:T(4)}")).unwrap();
    assert_eq!(aligned, Some(array("f32[12]{0}")));
}

#[test]
fn an_aligned_layout_is_dynamic_only_beside_a_dimension_of_size_one() {
    for (input, output, aligned) in [
        ("f32[6]", "f32[<=2,3]", "f32[2,3]{1,0}"),
        ("f32[6,1]", "f32[<=2,3]", "f32[<=2,3]{1,0}"),
        ("f32[6]", "f32[<=2,<=1,3]", "f32[<=2,<=1,3]{2,0,1}"),
    ] {
        assert_eq!(array(input).align_layouts(&array(output)).unwrap(), Some(array(aligned)), "{input}");
    }
}

#[test]
fn a_transpose_that_is_not_its_own_inverse_is_found_both_ways() {
    let (a, b) = (array("f32[2,3,5]{2,1,0}"), array("f32[3,5,2]{1,0,2}"));
    assert_eq!(a.deduce_transpose_dimensions_for_bitcast(&b).unwrap(), Some(vec![1, 2, 0]));
    assert!(a.is_reshape_or_transpose_bitcast_untiled(&b, false).unwrap());
    assert!(b.is_reshape_or_transpose_bitcast_untiled(&a, false).unwrap());
    let other_type = b.clone().with_element_type(Element::S32).unwrap();
    assert!(!a.is_reshape_or_transpose_bitcast_untiled(&other_type, false).unwrap());
    assert!(a.is_reshape_or_transpose_bitcast_untiled(&other_type, true).unwrap());
    assert!(!a.is_reshape_or_transpose_bitcast_untiled(&array("f32[3,5,2]{0,1,2}"), true).unwrap());
}

#[test]
fn many_dimensions_take_no_more_than_a_moment() {
    let ones = |rank: usize| ArrayShape::new(Element::F32, vec![1u64; rank]).unwrap();
    let (input, output) = (ones(100_000), ones(90_000));
    assert!(input.reshape_is_bitcast_untiled(&output, false).unwrap());
    assert_eq!(input.align_layouts(&output).unwrap(), Some(output.clone()));
    assert!(input.inserted_or_deleted_1_sized_dimensions(&output).unwrap().is_some());
    assert_eq!(input.drop_degenerate_dimensions().rank(), 0);
    let reversed: Vec<usize> = (0..100_000).rev().collect();
    assert!(input.permute_dimensions(&reversed).unwrap().layout().unwrap().is_monotonic_with_dim0_minor());
    assert_eq!(input.delete_dimensions(&reversed[..50_000]).unwrap().rank(), 50_000);
}

// Brute force: the place of every element, from XLA's own definition of the untiled linear index.

/// All indices of the sizes, in row-major order.
fn indices(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![Vec::new()], |found, &size| {
        found.iter().flat_map(|head| (0..size).map(move |at| [head.as_slice(), &[at]].concat())).collect()
    })
}

fn sizes(array: &ArrayShape) -> Vec<u64> {
    array.dims().iter().map(|dim| dim.bound().unwrap()).collect()
}

/// The places of all elements, in row-major order.
fn places(array: &ArrayShape) -> Vec<u64> {
    indices(&sizes(array)).iter().map(|index| array.linear_index_untiled(index).unwrap()).collect()
}

/// Whether dimension `i` of `output` being dimension `mapping[i]` of `input` leaves every element in its place.
fn transposes_in_place(input: &ArrayShape, output: &ArrayShape, mapping: &[usize]) -> bool {
    indices(&sizes(input)).iter().all(|index| {
        let turned: Vec<u64> = mapping.iter().map(|&dim| index[dim]).collect();
        input.linear_index_untiled(index).unwrap() == output.linear_index_untiled(&turned).unwrap()
    })
}

fn orders(rank: usize) -> Vec<Vec<usize>> {
    (0..rank).fold(vec![Vec::new()], |found, dim| {
        let insert = |order: &Vec<usize>, at: usize| [&order[..at], &[dim], &order[at..]].concat();
        found.iter().flat_map(|order| (0..=order.len()).map(move |at| insert(order, at))).collect()
    })
}

fn with_order(sizes: &[u64], order: &[usize]) -> ArrayShape {
    let layout = Layout::new(order.iter().copied()).unwrap();
    ArrayShape::new(Element::F32, sizes.iter().copied()).unwrap().with_layout(layout).unwrap()
}

/// A few primes cut into dimensions twice, with ones between, so that the two lists of sizes have the same product.
fn pair_of_sizes() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    let cuts = || prop::collection::vec(0..4u8, 5);
    (prop::collection::vec(prop::sample::select(vec![2u64, 2, 3]), 0..5), cuts(), cuts(), 0..8u8).prop_map(
        |(mut primes, first, second, zero)| {
            let cut = |primes: &[u64], cuts: &[u8]| {
                let mut sizes = Vec::new();
                let mut size = 1;
                for (number, &cut) in cuts.iter().enumerate() {
                    size *= primes.get(number).copied().unwrap_or(1);
                    if cut != 0 && sizes.len() < 4 && (size != 1 || cut == 3) {
                        sizes.push(size);
                        size = 1;
                    }
                }
                if size != 1 {
                    sizes.push(size);
                }
                sizes
            };
            if zero == 0 {
                primes.push(0);
            }
            let input = cut(&primes, &first);
            let turn = usize::from(zero % 2 == 0 && !primes.is_empty());
            primes.rotate_left(turn);
            (input, cut(&primes, &second))
        },
    )
}

fn pair_of_shapes() -> impl Strategy<Value = (ArrayShape, ArrayShape)> {
    pair_of_sizes().prop_flat_map(|(input, output)| {
        let order = |sizes: &[u64]| Just((0..sizes.len()).collect::<Vec<usize>>()).prop_shuffle();
        (order(&input), order(&output), Just((input, output))).prop_map(|(of_input, of_output, sizes)| {
            (with_order(&sizes.0, &of_input), with_order(&sizes.1, &of_output))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_reshape_is_a_bitcast_exactly_if_no_element_moves((input, output) in pair_of_shapes()) {
        let found = input.reshape_is_bitcast_untiled(&output, false).unwrap();
        prop_assert_eq!(found, places(&input) == places(&output), "{:?} {:?}", input, output);
    }

    #[test]
    fn a_transpose_by_order_of_the_right_sizes_moves_nothing(
        (input, _) in pair_of_shapes(), seed in any::<prop::sample::Index>(), order in any::<prop::sample::Index>(),
    ) {
        let all = orders(input.rank());
        let (mapping, order) = (&all[seed.index(all.len())], &all[order.index(all.len())]);
        let turned: Vec<u64> = mapping.iter().map(|&dim| sizes(&input)[dim]).collect();
        let output = with_order(&turned, order);
        let found = input.transpose_is_bitcast_by_order(&output, mapping, false).unwrap();
        let stays = transposes_in_place(&input, &output, mapping);
        // XLA does not forgive sizes of 1 in another place, and arrays without elements have nothing to move.
        let forgiven = turned.iter().any(|&size| size <= 1);
        prop_assert!(found == stays || (stays && forgiven), "{:?} {:?} {:?}", input, mapping, output);
        let permuted = input.permute_dimensions(mapping).unwrap();
        prop_assert!(transposes_in_place(&input, &permuted, mapping));
        prop_assert!(input.transpose_is_bitcast_by_order(&permuted, mapping, false).unwrap());
        prop_assert_eq!(input.reorder_logical_dimensions(mapping).unwrap(), permuted);
    }

    #[test]
    fn an_aligned_layout_moves_nothing_and_is_missing_only_where_none_exists((input, output) in pair_of_shapes()) {
        match input.align_layouts(&output).unwrap() {
            Some(aligned) => {
                prop_assert_eq!(aligned.dims(), output.dims());
                prop_assert_eq!(places(&aligned), places(&input));
            }
            None if input.is_zero_element_array() => {}
            None => for order in orders(output.rank()) {
                prop_assert_ne!(places(&with_order(&sizes(&output), &order)), places(&input));
            }
        }
    }

    #[test]
    fn a_decomposed_bitcast_leads_every_element_to_its_own_place((input, output) in pair_of_shapes()) {
        match input.decompose_bitcast(&output).unwrap().unwrap() {
            Bitcast::Reshape => prop_assert_eq!(places(&input), places(&output)),
            Bitcast::Transpose { dims } => prop_assert!(transposes_in_place(&input, &output, &dims)),
            Bitcast::TransposeReshapeTranspose(_) => {}
        }
        // The three steps are right also where fewer would do.
        let trt = input.decompose_bitcast_to_trt(&output).unwrap().unwrap();
        prop_assert!(transposes_in_place(&input, &trt.transpose1_shape, &trt.transpose1_dims));
        prop_assert_eq!(places(&trt.transpose1_shape), places(&trt.reshape_shape));
        prop_assert!(transposes_in_place(&trt.reshape_shape, &output, &trt.transpose2_dims));
    }

    #[test]
    fn common_factors_cut_into_groups_of_equal_product_and_no_finer_cut_exists((a, b) in pair_of_sizes()) {
        let cuts = common_factors(&a, &b).unwrap();
        prop_assert_eq!((cuts[0], cuts[cuts.len() - 1]), ((0, 0), (a.len(), b.len())));
        for cut in cuts.windows(2) {
            let ((i, j), (to_i, to_j)) = (cut[0], cut[1]);
            prop_assert!(i <= to_i && j <= to_j && (i, j) != (to_i, to_j));
            prop_assert_eq!(a[i..to_i].iter().product::<u64>(), b[j..to_j].iter().product::<u64>());
            if !a.contains(&0) {
                // Inside a group no two proper beginnings agree, but for those that hold only ones on both sides.
                for (inner_i, inner_j) in (i..=to_i).flat_map(|i| (j..=to_j).map(move |j| (i, j))) {
                    let (head_a, head_b) = (&a[i..inner_i], &b[j..inner_j]);
                    let (tail_a, tail_b) = (&a[inner_i..to_i], &b[inner_j..to_j]);
                    let product = |sizes: &[u64]| sizes.iter().product::<u64>();
                    let cuts_here = product(head_a) == product(head_b) && product(head_a) > 1 && product(tail_a) > 1;
                    prop_assert!(!cuts_here, "{:?} {:?} {:?} {:?}", a, b, cuts, (tail_a, tail_b));
                }
            }
        }
    }

    #[test]
    fn any_two_shapes_get_an_answer_or_an_error(
        input in any_shape(), output in any_shape(), dims in prop::collection::vec(0..5usize, 0..5), dim in 0..5usize,
    ) {
        let _ = input.reshape_is_bitcast_untiled(&output, true);
        let _ = input.transpose_is_bitcast_by_order(&output, &dims, true);
        let _ = input.is_reshape_or_transpose_bitcast_untiled(&output, true);
        let _ = input.decompose_bitcast(&output);
        let _ = input.align_layouts(&output);
        let _ = input.inserted_or_deleted_1_sized_dimensions(&output);
        let _ = input.reshape_leaves_dimensions_unmodified(&output, &dims);
        let _ = input.permute_dimensions(&dims);
        let _ = input.permute_dimensions_ignoring_layout(&dims);
        let _ = input.reorder_logical_dimensions_by_old_code(&dims);
        let _ = input.delete_dimensions(&dims);
        let _ = input.filter_dimensions(|dim| dims.contains(&dim));
        let _ = input.drop_degenerate_dimensions();
        let _ = input.append_major_dimension(u64::MAX);
        let _ = input.append_minor_dimension(1 << 40);
        let _ = input.prepend_major_dimension(0);
        let _ = input.insert_dimensions_at_index(dim, &[3, 1 << 62]);
        let _ = input.make_shape_with_descending_layout_and_same_physical_layout();
        let _ = input.copy_dynamic_dimensions(&output);
        let _ = input.update_dynamic_dimension(dim, false);
        let _ = input.dynamic_array_shape_is_compatible(&output);
        let _ = input.validate_sizes_as_xla();
        let _ = input.packed_factor_for_1d_interleaved_array();
        let _ = input.layout().map(|layout| (layout.delete_dimension(dim), layout.move_dim_to_major(dim)));
    }
}

/// Shapes with sizes at the limits, dynamic sizes, padding, free strides, or no layout.
fn any_shape() -> impl Strategy<Value = ArrayShape> {
    let dim = prop::sample::select(vec![
        Dim::Static(0),
        Dim::Static(1),
        Dim::Static(3),
        Dim::Bounded(3),
        Dim::Static(1 << 20),
        Dim::Static(1 << 62),
        Dim::Static(i64::MAX as u64),
        Dim::Unbounded,
    ]);
    (prop::collection::vec(dim, 0..5), 0..5u8).prop_filter_map("too many bytes", |(dims, kind)| {
        let rank = dims.len();
        let array = ArrayShape::new(Element::S8, dims).ok()?;
        let layout = match kind {
            0 => return Some(array),
            1 => return Some(array.without_layout()),
            2 => Layout::ascending(rank),
            3 => Layout::strided(Strides { strides: vec![i64::MIN; rank], base: None, size: None }).unwrap(),
            _ => {
                let padding =
                    Padding { padded_dimensions: vec![i64::MAX as u64; rank], value: PaddingValue::Zero };
                Layout::ascending(rank).with_padding(Some(padding)).unwrap()
            }
        };
        array.with_layout(layout).ok()
    })
}
