//! XLA's utilities where its own cases are silent: padding, free strides, overflow, deep tuples.

use std::ops::ControlFlow;

use crate::common::xla_reader;
use crate::common::xla_reader::{array, layout, shape};
use tilework::{
    Element,
    xla::{
        ArrayShape, Dim, Equal, Layout, LayoutEqual, Padding, PaddingValue, PrimitiveType, Shape, ShapeIndex,
        SplitConfig, Strides, Tile, compare_indices,
    },
};

fn strided(strides: &[i64]) -> Layout {
    Layout::strided(Strides { strides: strides.to_vec(), base: None, size: None }).unwrap()
}

fn padded(text: &str, sizes: &[u64]) -> ArrayShape {
    let array = array(text);
    let padding = Padding { padded_dimensions: sizes.to_vec(), value: PaddingValue::Zero };
    let layout = array.layout().unwrap().clone().with_padding(Some(padding)).unwrap();
    array.with_layout(layout).unwrap()
}

#[test]
fn padded_dimensions_are_stepped_over_and_count_as_bytes() {
    let array = padded("f32[10,20]{1,0}", &[15, 21]);
    assert_eq!(array.byte_size_of_elements().unwrap(), 1260);
    assert_eq!(array.linear_index_untiled(&[1, 2]).unwrap(), 23);
    assert_eq!(array.dimension_stride_untiled(0).unwrap(), 21);
    assert_eq!(array.byte_strides_untiled().unwrap(), [84, 4]);
    assert_eq!(array.multidimensional_index_untiled(23).unwrap(), [1, 2]);
    let error = array.multidimensional_index_untiled(20).unwrap_err();
    assert_eq!(error.to_string(), "linear index: no element at place 20; it is padding of dimension 1");
    assert!(array.multidimensional_index_untiled(15 * 21).is_err());
    let empty = padded("f32[0,2]{1,0}", &[3, 2]);
    assert_eq!((empty.byte_size_of_elements().unwrap(), empty.elements_in().unwrap()), (24, 0));
}

#[test]
fn a_stride_needs_only_the_sizes_that_are_more_minor() {
    let unbounded = array("f32[?,784]{1,0}");
    assert_eq!(unbounded.dimension_stride_untiled(0).unwrap(), 784);
    assert_eq!(unbounded.byte_strides_untiled().unwrap(), [3136, 4]);
    assert!(array("f32[784,?]{1,0}").byte_strides_untiled().is_err());
    assert!(unbounded.dimension_stride_untiled(2).is_err());
    assert_eq!(array("f32[3,0,4,4611686018427387904]").dimension_stride_untiled(0).unwrap(), 0);
    assert!(array("f32[4611686018427387904,4,0]{0,1,2}").dimension_stride_untiled(2).is_err());
}

#[test]
fn free_strides_answer_what_they_can() {
    let array = array("f32[2,3]").with_layout(strided(&[5, -1])).unwrap();
    assert_eq!(array.byte_strides_untiled().unwrap(), [20, -4]);
    assert!(array.linear_index_untiled(&[0, 0]).is_err());
    assert!(array.linear_index_by_first_tile(&[0, 0]).is_err());
    assert_eq!(array.byte_size_of_elements().unwrap(), 24);
    let far = ArrayShape::new(Element::F64, [2u64]).unwrap().with_layout(strided(&[i64::MAX])).unwrap();
    assert!(far.byte_strides_untiled().is_err());
}

#[test]
fn an_index_of_another_rank_or_outside_names_the_number() {
    let array = array("f32[2,3]");
    let error = array.linear_index_untiled(&[0, 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "index: index 3 in dimension 1 of size 3; an index is below the size of its dimension; accepted: 0 to 2"
    );
    assert!(array.linear_index_untiled(&[0]).is_err());
    assert!(array.bump_indices(&mut [0, 0, 0]).is_err());
    assert!(array.bump_indices(&mut [0, 7]).is_err());
    assert!(
        !array.index_in_bounds(&[1]) && !array.index_in_bounds(&[2, 0]) && array.index_in_bounds(&[1, 2])
    );
    assert!(!xla_reader::array("f32[0]").bump_indices(&mut [0]).unwrap());
    assert!(!xla_reader::array("f32[]").bump_indices(&mut []).unwrap());
    assert!(compare_indices(&[0, 1], &[1, 0]).unwrap().is_lt());
    assert!(compare_indices(&[0], &[1, 0]).is_err());
}

#[test]
fn bumping_meets_every_index_once_whatever_the_layout() {
    for text in ["f32[2,3,2]", "f32[2,3,2]{0,2,1}", "f32[1,1]", "f32[<=4,2]"] {
        let array = array(text);
        let (mut index, mut met) = (vec![0; array.rank()], vec![]);
        loop {
            met.push(index.clone());
            if !array.bump_indices(&mut index).unwrap() {
                break;
            }
        }
        assert!(met.is_sorted_by(|a, b| a < b));
        assert_eq!(met.len() as u64, array.elements_in().unwrap());
    }
}

#[test]
fn for_each_index_follows_the_layout_and_pins_what_has_no_count_or_increment() {
    let met = |text: &str, base: &[u64], count: &[u64], incr: &[u64]| {
        let mut met = Vec::new();
        let end = array(text).for_each_index(base, count, incr, |index| {
            met.push(index.to_vec());
            ControlFlow::<()>::Continue(())
        });
        end.map(|_| met)
    };
    assert_eq!(met("f32[4,4]{0,1}", &[1, 0], &[3, 2], &[2, 1]).unwrap(), [[1, 0], [3, 0], [1, 1], [3, 1]]);
    assert_eq!(met("f32[4,4]", &[1, 2], &[0, 2], &[1, 1]).unwrap(), [[1, 2], [1, 3]]);
    assert_eq!(met("f32[4,4]", &[1, 2], &[2, 2], &[0, 1]).unwrap(), [[1, 2], [1, 3]]);
    assert_eq!(met("f32[4]", &[0], &[9], &[u64::MAX]).unwrap(), [[0]]);
    assert_eq!(met("f32[4,0]", &[0, 0], &[4, 1], &[1, 1]).unwrap(), Vec::<Vec<u64>>::new());
    assert_eq!(met("f32[]", &[], &[], &[]).unwrap(), [[0u64; 0]]);
    assert!(met("f32[4]", &[0, 0], &[1], &[1]).is_err());
    assert!(met("f32[4]", &[1], &[u64::MAX], &[1]).is_err());
    let last = i64::MAX as u64 - 1;
    assert_eq!(met("f32[4]", &[last], &[1], &[1]).unwrap(), [[last]]);
    assert_eq!(met("f32[4]", &[last], &[2], &[1]).unwrap_err().field_name(), Some("count"));
    assert!(met("f32[4] (no layout)", &[0], &[1], &[1]).is_err());
}

#[test]
fn sizes_that_pass_63_bits_are_errors() {
    let wide = array("s8[4611686018427387904]{0:E(64)}");
    assert!(wide.byte_size_of_elements().is_err());
    assert!(
        array("f32[9223372036854775807,0]{1,0:T(9223372036854775807,2)}").array_size_by_first_tile().is_ok()
    );
    let tile = Tile::new([i64::MAX as u64, 2]).unwrap();
    let layout = Layout::descending(2).with_tiles([tile]).unwrap();
    let huge = array("f32[2,2]").with_layout(layout).unwrap();
    assert!(huge.array_size_by_first_tile().is_err());
    assert!(huge.linear_index_by_first_tile(&[1, 1]).is_err());
    assert!(huge.array_data_size_by_first_tile().is_err());
    let tuple = Shape::tuple([shape("s8[9223372036854775807]"), shape("s8[1]")]);
    assert!(tuple.elements_in_recursive().is_err());
    assert!(tuple.byte_size_of(Some(u64::MAX)).is_err());
    assert!(
        array("s8[4,4]")
            .with_layout(padded("s8[4,4]", &[1 << 62, 4]).layout().unwrap().clone())
            .unwrap()
            .byte_size_of_elements()
            .is_err()
    );
}

#[test]
fn the_true_rank_leaves_out_empty_dimensions_and_true_num_dimensions_does_not() {
    assert_eq!((array("f32[1,0,1]").true_rank(), array("f32[1,0,1]").true_num_dimensions()), (0, 1));
    assert_eq!((array("f32[<=1,?]").true_rank(), array("f32[3,5,1]").true_rank()), (1, 2));
    assert!(array("f32[1,1]").is_effective_scalar() && !array("f32[1,1]").is_scalar());
    assert!(array("f32[]").is_scalar());
}

#[test]
fn serialized_sizes_count_the_proto_the_dynamic_sizes_and_packed_elements() {
    let head = |text: &str| 8 + shape(text).to_proto().unwrap().len() as u64;
    for (text, data) in [
        ("pred[9]", 2),
        ("s4[9]", 5),
        ("u1[9]", 2),
        ("f6e3m2fn[9]", 9),
        ("f32[<=3,2]", 24 + 8),
        ("(f32[2], (s8[3], pred[]))", 8 + 3 + 1),
    ] {
        assert_eq!(shape(text).serialized_size().unwrap(), head(text) + data, "{text}");
    }
    assert!(shape("(f32[2], token[])").serialized_size().is_err());
    assert_eq!(shape("f32[<=3,2]").cpu_shape_size_bytes().unwrap(), 32);
    assert_eq!(shape("(f32[<=3,2])").cpu_shape_size_bytes().unwrap(), 8);
    assert_eq!(shape("opaque[]").cpu_shape_size_bytes().unwrap(), 8);
    assert!(shape("opaque[]").byte_size_of(None).is_err());
    assert_eq!(shape("token[]").byte_size_of(None).unwrap(), 0);
    assert_eq!(shape("(f32[2,3], (f32[4], f32[]))").elements_in_recursive().unwrap(), 11);
    assert!(shape("token[]").elements_in_recursive().is_err());
}

#[test]
fn a_split_past_the_size_and_two_configurations_are_errors() {
    assert!(array("f32[8]").max_split_size(1).is_err());
    assert_eq!(array("f32[8] (no layout)").max_split_size(0).unwrap(), 8);
    let one = SplitConfig { dimension: 0, split_indices: vec![3] };
    assert_eq!(array("f32[8]{0:SC(0:3)}").split_config().unwrap(), Some(&one));
    assert!(array("f32[8,8]{1,0:SC(0:3)(1:2)}").split_config().is_err());
}

#[test]
fn ignoring_a_field_overlooks_that_field_only() {
    let plain = shape("f32[4,2]{1,0}");
    let fields: [(&str, Equal); 5] = [
        ("f32[4,2]{1,0:T(2,2)}", Equal::new().ignore_tiles_in_layout()),
        ("f32[4,2]{1,0:L(4)}", Equal::new().ignore_tail_padding_alignment_in_elements_in_layout()),
        ("f32[4,2]{1,0:E(16)}", Equal::new().ignore_element_size_in_layout()),
        ("f32[4,2]{1,0:S(1)}", Equal::new().ignore_memory_space_in_layout()),
        ("f32[4,2]{1,0:SC(0:1)}", Equal::new().ignore_split_config_in_layout()),
    ];
    for (number, (text, _)) in fields.iter().enumerate() {
        let other = shape(text);
        assert!(!plain.equal(&other), "{text}");
        for (ignoring, (_, equal)) in fields.iter().enumerate() {
            assert_eq!(equal.equal(&plain, &other), number == ignoring, "{text}");
        }
        assert!(Equal::new().minor_to_major_only_in_layout().equal(&plain, &other), "{text}");
        assert!(Equal::new().ignore_layout().equal(&plain, &other), "{text}");
        assert!(plain.compatible(&other), "{text}");
    }
    let only = Equal::new().minor_to_major_only_in_layout();
    assert!(!only.equal(&plain, &shape("f32[4,2]{0,1}")));
    let layouts = [layout("{0:#(u32)}"), layout("{0:*(u32)}"), layout("{0:P(f32[2])}")];
    let ignoring = [
        LayoutEqual::new().ignore_index_primitive_type(),
        LayoutEqual::new().ignore_pointer_primitive_type(),
        LayoutEqual::new().ignore_physical_shape(),
    ];
    for (number, other) in layouts.iter().enumerate() {
        for (which, equal) in ignoring.iter().enumerate() {
            assert_eq!(equal.equal(&layout("{0}"), other), which == number);
        }
        assert!(LayoutEqual::new().minor_to_major_only().equal(&layout("{0}"), other));
    }
}

#[test]
fn padding_and_free_strides_take_part_in_equality_and_metadata_does_not() {
    let one = Shape::Array(padded("f32[2,3]", &[3, 5]));
    let other = Shape::Array(padded("f32[2,3]", &[3, 6]));
    assert!(one.equal(&one) && !one.equal(&other) && !one.equal(&shape("f32[2,3]")));
    let rows = Shape::Array(array("f32[2,3]").with_layout(strided(&[3, 1])).unwrap());
    let broadcast = Shape::Array(array("f32[2,3]").with_layout(strided(&[0, 1])).unwrap());
    assert!(
        !rows.equal(&broadcast) && !Equal::new().minor_to_major_only_in_layout().equal(&rows, &broadcast)
    );
    assert!(
        LayoutEqual::new()
            .ignore_padding()
            .equal(one.as_array().unwrap().layout().unwrap(), other.as_array().unwrap().layout().unwrap())
    );
    let prefixed = shape("f32[2]{0:M(3)}");
    assert!(prefixed.equal(&shape("f32[2]")) && prefixed != shape("f32[2]"));
    assert!(!shape("f32[2] (no layout)").equal(&shape("f32[2]")));
}

#[test]
fn dynamic_sizes_buffers_and_ranks_are_overlooked_on_request() {
    let dynamic = Equal::new().ignore_dynamic_dimension();
    assert!(dynamic.equal(&shape("f32[<=4]"), &shape("f32[4]")));
    assert!(dynamic.equal(&shape("f32[?]"), &shape("f32[4]")));
    assert!(!dynamic.equal(&shape("f32[<=4]"), &shape("f32[5]")));
    assert!(!shape("f32[?]").equal(&shape("f32[<=4]")));
    assert!(Equal::new().ignore_dimensions().equal(&shape("f32[4]"), &shape("f32[5]")));
    assert!(!Equal::new().ignore_dimensions().equal(&shape("f32[4]"), &shape("f32[<=5]")));
    assert!(!Equal::new().ignore_dimensions().ignore_layout().equal(&shape("f32[4]"), &shape("f32[4,1]")));
    assert!(!shape("b(f32[2])").equal(&shape("f32[2]")));
    assert!(Equal::new().ignore_buffer().equal(&shape("b(f32[2])"), &shape("f32[2]")));
    assert!(shape("(f32[2], (s8[]))").compatible_kind(&shape("(pred[7], (c64[]))")));
    assert!(!shape("(f32[2])").compatible_kind(&shape("(f32[2,1])")));
    assert!(shape("(f32[2], ())").equal_structure(&shape("(token[], ())")));
    // XLA compares which places exist, and an empty tuple has no more of them than an array.
    for (one, two, same) in [
        ("()", "f32[2]", true),
        ("(f32[2], ())", "((), b(f32[2]))", true),
        ("(())", "(token[])", true),
        ("(f32[2])", "f32[2]", false),
        ("((), ())", "(())", false),
        ("(((f32[])), s8[])", "((()), s8[])", false),
    ] {
        assert_eq!(shape(one).equal_structure(&shape(two)), same, "{one} {two}");
        assert_eq!(shape(two).equal_structure(&shape(one)), same, "{two} {one}");
    }
    assert!(shape("f32[2]").same_element_type_ignoring_fp_precision(&shape("bf16[3]")));
    assert!(!shape("f32[2]").same_element_type_ignoring_fp_precision(&shape("c64[2]")));
    assert!(array("f32[1,2]").same_rank(&array("s8[3,4]")));
}

#[test]
fn shapes_are_walked_before_and_after_their_elements() {
    let tree = shape("(f32[1], (s8[2], ()), token[])");
    let text = |walk: tilework::xla::Subshapes<'_>| -> Vec<String> {
        walk.map(|(path, shape)| {
            assert_eq!(tree.subshape(&path).unwrap(), shape);
            path.to_string()
        })
        .collect()
    };
    assert_eq!(text(tree.subshapes()), ["{}", "{0}", "{1}", "{1,0}", "{1,1}", "{2}"]);
    assert_eq!(text(tree.subshapes_post_order()), ["{0}", "{1,0}", "{1,1}", "{1}", "{2}", "{}"]);
    assert_eq!((tree.leaf_count(), tree.subshape_count()), (3, 6));
    assert_eq!(tree.flatten_tuple(), [&shape("f32[1]"), &shape("s8[2]"), &Shape::Token]);
    assert_eq!((shape("f32[]").leaf_count(), Shape::nil().leaf_count()), (1, 0));
    assert_eq!(shape("f32[]").subshapes_post_order().count(), 1);
    assert_eq!(tree.slice_tuple(1..3).unwrap(), shape("((s8[2], ()), token[])"));
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 2..1;
    assert!(tree.slice_tuple(backwards).is_err() && tree.slice_tuple(0..4).is_err());
    assert!(Shape::Token.slice_tuple(0..0).is_err());
    assert!(tree.has_primitive_type(PrimitiveType::Tuple) && tree.has_primitive_type(Element::S8));
    assert!(tree.index_is_valid(&[]) && tree.index_is_valid(&[1, 1]) && !tree.index_is_valid(&[1, 1, 0]));
    assert_eq!(ShapeIndex::default().to_string(), "{}");
}

#[test]
fn a_path_that_leads_nowhere_says_where_it_ends() {
    let tree = shape("(f32[1], (s8[2]))");
    assert_eq!(
        tree.subshape(&[1, 4, 0]).unwrap_err().to_string(),
        "shape index: no shape at {1,4,0}; the tuple at {1} has 1 elements; accepted: 0"
    );
    assert_eq!(
        tree.is_leaf_index(&[0, 0]).unwrap_err().to_string(),
        "shape index: no shape at {0,0}; the shape at {0} is not a tuple"
    );
}

#[test]
fn shapes_inside_a_tuple_can_be_replaced() {
    let mut tree = shape("(f32[1], (s8[2]))");
    *tree.subshape_mut(&[1, 0]).unwrap() = Shape::Token;
    assert!(tree.subshape_mut(&[2]).is_err());
    assert_eq!(tree, shape("(f32[1], (token[]))"));
    let mut paths = Vec::new();
    let end = tree.try_for_each_subshape_mut(|path, shape| {
        paths.push(path.to_string());
        if *shape == Shape::Token { Err("a token") } else { Ok(()) }
    });
    assert_eq!((end, paths.join(" ")), (Err("a token"), "{} {0} {1} {1,0}".to_owned()));
    let grown = tree.try_for_each_subshape_mut(|path, shape| {
        if path.len() == 1 {
            *shape = Shape::tuple([Shape::Opaque]);
        }
        Ok::<(), ()>(())
    });
    assert_eq!((grown, tree), (Ok(()), shape("((opaque[]), (opaque[]))")));
}

#[test]
fn layouts_are_cleared_set_and_copied_all_or_nothing() {
    let tree = shape("(f32[2,3]{0,1:T(2,2)E(16)S(1)}, token[])");
    assert!(tree.has_layout() && tree.has_custom_element_size_in_bits());
    let bare = tree.clone().without_layout();
    assert_eq!(bare, shape("(f32[2,3] (no layout), token[])"));
    assert!(!bare.has_layout() && bare.has_any_layout() && Shape::nil().has_layout());
    assert!(!shape("(f32[2,3] (no layout))").has_any_layout() && !Shape::nil().has_any_layout());
    assert_eq!(tree.clone().without_tiles(), shape("(f32[2,3]{0,1:E(16)S(1)}, token[])"));
    assert_eq!(bare.with_default_layout(), shape("(f32[2,3], token[])"));
    assert_eq!((tree.subshape(&[0]).unwrap().memory_space(), tree.memory_space()), (1, 0));
    let mut target = shape("(f32[4], f32[5]{0:S(1)})");
    assert!(target.copy_layout_from(&shape("(f32[4]{0:S(2)}, f32[1,5])")).is_err());
    assert!(target.copy_layout_from(&shape("(f32[4]{0:S(2)})")).is_err());
    assert!(target.copy_layout_from(&shape("(f32[4]{0:S(2)}, token[])")).is_err());
    assert_eq!(target, shape("(f32[4], f32[5]{0:S(1)})"));
    assert!(Shape::Array(array("f32[9]")).copy_layout_from(&Shape::Array(padded("f32[2]", &[4]))).is_err());
}

#[test]
fn making_and_changing_shapes() {
    assert_eq!(Shape::maybe_tuple([shape("f32[2]")]), shape("f32[2]"));
    assert_eq!(Shape::maybe_tuple([]), Shape::nil());
    assert_eq!(Shape::maybe_tuple([shape("f32[2]"), Shape::Token]), shape("(f32[2], token[])"));
    let f32 = Element::F32;
    let dense =
        |text: &str| Shape::Array(ArrayShape::with_dense_layout(f32, [2, 3u64], layout(text)).unwrap());
    assert_eq!(dense("{0,1:E(32)}"), shape("f32[2,3]{0,1}"));
    assert_eq!(dense("{0,1:E(16)}"), shape("f32[2,3]{0,1:E(16)}"));
    assert!(ArrayShape::with_dense_layout(f32, [2u64], layout("{0,1}")).is_err());
    let moving = shape("(f32[<=4,3]{0,1:T(2)M(64)}, f32[2]{0:M(8)})");
    assert_eq!(moving.with_static_dimensions().unwrap(), shape("(f32[4,3]{0,1:T(2)}, f32[2]{0:M(8)})"));
    // An array by itself loses its M even if it is static already.
    for text in ["f32[3]{0:T(2)M(8)}", "b(f32[3]{0:T(2)M(8)})", "f32[<=3]{0:T(2)M(8)}"] {
        let expected = text.replace("M(8)", "").replace("<=", "");
        assert_eq!(shape(text).with_static_dimensions().unwrap(), shape(&expected), "{text}");
    }
    assert!(shape("f32[?]").with_static_dimensions().is_err());
    assert_eq!(shape("(s4[8]{0:E(4)})").with_element_type(Element::U2).unwrap(), shape("(u2[8]{0:E(4)})"));
    assert_eq!(shape("(s4[8]{0:E(4)})").with_element_type(f32).unwrap(), shape("(f32[8])"));
    assert!(shape("s8[9223372036854775807]").with_element_type(f32).is_err());
    assert_eq!(shape("(c64[8], c128[])").complex_component_shape().unwrap(), shape("(f32[8], f64[])"));
    assert!(shape("(c64[8], f32[])").complex_component_shape().is_err());
    let packed = shape("(s4[8], pred[8], f32[8]{0:E(16)})").with_updated_element_size_in_bits(true);
    assert_eq!(packed, shape("(s4[8]{0:E(4)}, pred[8], f32[8])"));
    assert_eq!(packed.with_updated_element_size_in_bits(false), shape("(s4[8], pred[8], f32[8])"));
    // Elements of 6 bits are not packed: no whole number of them fills a byte.
    for text in ["f6e3m2fn[3]", "f6e2m3fn[3]", "f8e8m0fnu[3]", "pred[3]"] {
        assert_eq!(shape(text).with_updated_element_size_in_bits(true), shape(text));
    }
    assert_eq!(shape("u1[3]").with_updated_element_size_in_bits(true), shape("u1[3]{0:E(1)}"));
    assert_eq!(shape("s4[3]{0:E(4)}").with_element_type(Element::F6e3m2fn).unwrap(), shape("f6e3m2fn[3]"));
    assert_eq!(shape("f32[2,3]{0,1}").default_layout().unwrap(), layout("{1,0}"));
    assert_eq!(Shape::Token.default_layout().unwrap(), Layout::descending(0));
    assert!(Shape::nil().default_layout().is_err());
    assert!(shape("(f32[<=2])").is_dynamic() && shape("(f32[<=2])").is_bounded_dynamic());
    assert_eq!(array("f32[?]").dims(), [Dim::Unbounded]);
}

#[test]
fn deep_tuples_do_not_exhaust_the_stack() {
    let depth = 5_000;
    let deep = move || (0..depth).fold(shape("f32[2]"), |inner, _| Shape::tuple([inner]));
    let walk = move |one: &Shape, two: &mut Shape| {
        assert!(one.equal(two) && one.equal_structure(two) && one.has_layout());
        assert_eq!((one.subshape_count(), one.leaf_count()), (depth + 1, 1));
        assert_eq!(one.subshapes_post_order().count(), depth + 1);
        two.copy_layout_from(one).unwrap();
        assert_eq!(one.elements_in_recursive().unwrap(), 2);
        assert!(one.to_proto().is_err());
    };
    // Building and dropping such a tuple takes stack; walking it must not, so it happens on a small one.
    let build = move || {
        let (one, mut two) = (deep(), deep());
        std::thread::scope(|scope| {
            let walker = std::thread::Builder::new().stack_size(256 << 10);
            walker.spawn_scoped(scope, || walk(&one, &mut two)).unwrap().join().unwrap();
        });
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(build).unwrap().join().unwrap();
}
