//! Surgery on shapes, the words for dimensions, and validation, on the cases of XLA's tests and library.

use crate::common::xla_shapes::{array, cases, layout, shape, try_shape};
use serde_json::{Value, json};
use tilework::{
    Element,
    xla::{
        Dim, InsertedOrDeleted, Layout, Padding, PaddingValue, PrimitiveType, Shape, SplitConfig, Strides,
        Tile, TileDim,
    },
};

const GROUPS: [&str; 8] = [
    "append_dimension",
    "dimensions",
    "layout_delete_dimension",
    "native_edge",
    "permute_dimensions",
    "reshape",
    "shape_delete_dimensions",
    "validate_layout",
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

#[test]
fn dimensions_are_changed_as_xla_changes_them() {
    let mut asked = 0;
    for case in cases(&GROUPS) {
        let (input, mut expected) = (&case["input"], &case["expected"]);
        if let Some(result) = expected.get("result") {
            expected = result;
        }
        let of = |name: &str| array(text(&input[name]));
        let at = |number: usize| array(text(&input[number]));
        asked += 1;
        match text(&case["op"]).trim_start_matches("ShapeUtil::") {
            "PrependMajorDimension" => {
                let bound = input["bound"].as_u64().unwrap();
                assert_eq!(
                    of("shape").prepend_major_dimension(bound).unwrap(),
                    array(text(expected)),
                    "{case}"
                );
            }
            "GetDimension" => {
                let found = of("shape").dimension(input["dim"].as_i64().unwrap());
                let size = found.ok().and_then(Dim::bound);
                assert_eq!(size, expected.as_u64(), "{case}");
            }
            "HasDegenerateDimensions" => {
                assert_eq!(json!(array(text(input)).has_degenerate_dimensions()), *expected, "{case}");
            }
            "IsEffectivelyMostMajorDimension" => {
                let dim = input["dim"].as_u64().unwrap() as usize;
                let found = of("shape").is_effectively_most_major_dimension(dim).unwrap();
                assert_eq!(json!(found), *expected, "{case}");
            }
            "Layout::DeleteDimension" => {
                let layout = Layout::new(numbers(&input["minor_to_major"])).unwrap();
                let deleted = layout.delete_dimension(input["dim"].as_u64().unwrap() as usize).unwrap();
                assert_eq!(deleted.minor_to_major(), numbers(expected), "{case}");
            }
            "Shape::DeleteDimensions" => {
                let found = of("shape").delete_dimensions(&numbers(&input["dims"])).unwrap();
                assert_eq!(found, array(text(expected)), "{case}");
            }
            "PermuteDimensions" => {
                let permutation = numbers(&input["permutation"]);
                let (before, after) = (of("shape"), array(text(expected)));
                assert_eq!(before.permute_dimensions(&permutation).unwrap(), after, "{case}");
                assert!(before.transpose_is_bitcast_by_order(&after, &permutation, false).unwrap(), "{case}");
            }
            "InsertedOrDeleted1SizedDimensions has value" => {
                let found = of("pre").inserted_or_deleted_1_sized_dimensions(&of("post")).unwrap();
                assert_eq!(json!(found.is_some()), *expected, "{case}");
            }
            "InsertedOrDeleted1SizedDimensions" => {
                let found = at(0).inserted_or_deleted_1_sized_dimensions(&at(1)).unwrap().unwrap();
                let InsertedOrDeleted { deleted, inserted } = found;
                assert_eq!(json!({"deleted": deleted, "inserted": inserted}), *expected, "{case}");
            }
            "DimensionsUnmodifiedByReshape" => {
                let found = of("input").dimensions_unmodified_by_reshape(&of("output")).unwrap();
                assert_eq!(json!(found), *expected, "{case}");
            }
            "MoveDimToMajor" => {
                let moved = shape(text(&input[0])).move_dim_to_major(input[1].as_u64().unwrap() as usize);
                assert_eq!(moved.unwrap(), shape(text(expected)), "{case}");
            }
            "DropDegenerateDimensions" => {
                assert_eq!(at(0).drop_degenerate_dimensions(), array(text(expected)), "{case}");
            }
            "MakeShapeWithDescendingLayoutAndSamePhysicalLayout" => {
                let found = at(0).make_shape_with_descending_layout_and_same_physical_layout().unwrap();
                assert_eq!(found, array(text(expected)), "{case}");
            }
            "DynamicShapeIsCompatible" => {
                let found = shape(text(&input[0])).dynamic_shape_is_compatible(&shape(text(&input[1])));
                assert_eq!(json!(found), *expected, "{case}");
            }
            "LayoutUtil::ValidateLayoutInShape" => {
                validate(text(&input["shape"]), input["allow_missing_layouts"].as_bool().unwrap(), expected);
            }
            _ => asked -= 1,
        }
    }
    assert_eq!(asked, 36, "cases that no function here answers any more, or new ones");
}

fn validate(text: &str, allow_missing_layouts: bool, expected: &Value) {
    if text.contains("D(") {
        return; // level types of sparse arrays are read and forgotten, as by today's XLA
    }
    let Some(shape) = try_shape(text) else { return assert!(expected["ok"] == false, "{text}") };
    let found = if allow_missing_layouts { shape.validate_with_optional_layout() } else { shape.validate() };
    match expected["message_contains"].as_str() {
        None => found.unwrap(),
        Some(message) => {
            let error = found.unwrap_err();
            assert!(error.found().contains(message), "{text}: {error}");
        }
    }
}

#[test]
fn a_split_past_its_dimension_is_refused_in_xlas_words() {
    for (text, of, found) in [
        (
            "{0:SC(0:20)}",
            "f32[8]",
            "split config split index is out of bounds: 20 (dim size 8); shape: f32[8]",
        ),
        (
            "{0:SC(0:3,8,9)}",
            "f32[8]",
            "split config split index is out of bounds: 8 (dim size 8); shape: f32[8]",
        ),
        (
            "{0,1:SC(0:5)}",
            "f32[8,4]",
            "split config split index is out of bounds: 5 (dim size 4); shape: f32[8,4]",
        ),
        (
            "{0:SC(0:3)}",
            "f32[?]",
            "split config split index is out of bounds: 3 (dim size -9223372036854775808); shape: f32[?]",
        ),
    ] {
        let layout = tilework::xla::Layout::parse(text).unwrap();
        let error = layout.validate_for_shape(&shape(of)).unwrap_err();
        assert_eq!(error.found(), found);
        assert_eq!(error.field_name(), Some("split_configs"));
        assert!(array(of).with_layout(layout).is_err(), "{text} on {of}");
    }
    let fits = tilework::xla::Layout::parse("{0,1:SC(0:1,3)(1:7)}").unwrap();
    fits.validate_for_shape(&shape("f32[<=8,4]")).unwrap();
    array("f32[<=8,4]").with_layout(fits).unwrap();
}

#[test]
fn validation_speaks_xlas_words() {
    for (text, message) in [
        ("f32[2,<=3,?] (no layout)", "shape f32[2,<=3,?] does not have a layout"),
        ("(f32[2]{0}, (token[], pred[] (no layout)))", "shape pred[] does not have a layout"),
        ("f32[2]{0:#(u32)*(u16)}", "layout has a index_primitive_type, but is not a sparse array: f32[2]"),
        ("f32[2]{0:*(u16)}", "layout has a pointer_primitive_type, but is not a sparse array: f32[2]"),
        (
            "f32[2,3]{1,0:T(2,2)L(8)#(u32)*(u16)E(32)S(3)SC(0:1)M(7)}",
            "layout has a index_primitive_type, but is not a sparse array: f32[2,3]",
        ),
    ] {
        assert_eq!(shape(text).validate().unwrap_err().found(), message, "{text}");
        assert_eq!(
            shape(text).validate_with_optional_layout().is_ok(),
            text.contains("(no layout)"),
            "{text}"
        );
    }
    for text in ["()", "token[]", "(opaque[], f32[])", "f32[]{:T(256)}", "f32[<=2,?]{0,1:T(2,2)SC(1:1)M(4)}"]
    {
        shape(text).validate().unwrap();
    }
}

#[test]
fn a_layout_for_another_shape_is_refused_in_xlas_words() {
    let padded = |sizes: &[u64]| {
        let padding = Padding { padded_dimensions: sizes.to_vec(), value: PaddingValue::Zero };
        Layout::descending(sizes.len()).with_padding(Some(padding)).unwrap()
    };
    for (layout, shape_text, message) in [
        (layout("{0}"), "(f32[2]{0})", "a single Layout is not valid for tuple shapes"),
        (
            layout("{0,2,1}"),
            "f32[2,3]",
            "layout minor_to_major field contains 3 elements, but shape has 2 dimensions: {0, 2, 1}; shape: f32[2,3]",
        ),
        (
            layout("{}"),
            "f32[2]",
            "layout minor_to_major field contains 0 elements, but shape has 1 dimensions: {}; shape: f32[2]",
        ),
        (layout("{0:P(f32[6])}"), "f32[2]", "layout has a physical_shape, but is not a sparse array: f32[2]"),
        (
            padded(&[2, 2]),
            "f32[2,3]",
            "for dimension 1, dimension padding (2) is smaller than the dimension size (3) of the shape",
        ),
    ] {
        assert_eq!(layout.validate_for_shape(&shape(shape_text)).unwrap_err().found(), message);
        if let Shape::Array(array) = shape(shape_text) {
            // What cannot exist no validation meets.
            assert!(array.with_layout(layout).is_err(), "{shape_text}");
        }
    }
    padded(&[2, 14, 42]).validate_for_shape(&shape("f32[2,<=3,4]")).unwrap();
    layout("{1,0}").validate_for_shape(&shape("token[]")).unwrap();
}

#[test]
fn what_else_xla_validates_no_constructor_lets_exist() {
    let matrix = || array("f32[2,3]{1,0}");
    let plain = || Layout::descending(2);
    let padding = |sizes: &[u64]| Padding { padded_dimensions: sizes.to_vec(), value: PaddingValue::Zero };
    let split = SplitConfig { dimension: 2, split_indices: vec![1] };
    let array_of = |element, dims: &[u64]| Shape::array(element, dims.iter().copied()).unwrap_err();
    // XLA's message, and the rule of the constructor that stands in its place.
    for (xla, error, rule) in [
        (
            "Invalid element type.",
            Element::try_from(PrimitiveType::Tuple).unwrap_err(),
            "an array needs elements of a fixed width",
        ),
        ("Negative dimension at index 0: -2.", array_of(Element::F32, &[-2i64 as u64]), "sizes fit 63 bits"),
        (
            "Dimensions overflow.",
            array_of(Element::S8, &[1 << 62, 2]),
            "the product of the sizes and the bytes of an element is at most 9223372036854775807",
        ),
        (
            "Shape f32[4611686018427387904] size may overflow int64_t.",
            array_of(Element::F32, &[1 << 62]),
            "the product of the sizes and the bytes of an element is at most 9223372036854775807",
        ),
        (
            "layout minor_to_major field contains 1 elements, but shape has 2 dimensions",
            matrix().with_layout(Layout::descending(1)).unwrap_err(),
            "minor_to_major has one number for each dimension",
        ),
        (
            "layout minor_to_major field has out-of-bounds value",
            Layout::new([2, 0]).unwrap_err(),
            "minor_to_major names every dimension exactly once",
        ),
        (
            "layout minor_to_major field has duplicate values",
            Layout::new([1, 1]).unwrap_err(),
            "minor_to_major names every dimension exactly once",
        ),
        (
            "layout tail_padding_alignment_in_elements field is <= 0",
            plain().with_tail_padding_alignment_in_elements(0).unwrap_err(),
            "the buffer is padded to a multiple of it",
        ),
        ("layout has invalid tiles", Tile::new([]).unwrap_err(), "a tile has at least one size"),
        ("layout has invalid tiles", Tile::new([2, 0]).unwrap_err(), "a tile size is at least 1"),
        (
            "",
            Tile::from_dims([TileDim::Size(2), TileDim::Combine]).unwrap_err(),
            "* combines a dimension with the next more minor one, so a size must follow it",
        ),
        (
            "split config has out-of-bounds physical dimension",
            plain().with_split_configs([split]).unwrap_err(),
            "the layout has 2 dimensions, and 0 is the most major",
        ),
        (
            "layout has 3 padded dimensions, but shape is rank 2",
            plain().with_padding(Some(padding(&[2, 3, 4]))).unwrap_err(),
            "padded_dimensions gives every dimension its allocated size",
        ),
        (
            "for dimension 1, dimension padding (2) is smaller than the dimension size (3) of the shape",
            matrix().with_layout(plain().with_padding(Some(padding(&[2, 2]))).unwrap()).unwrap_err(),
            "a padded dimension is at least the dimension's size",
        ),
    ] {
        assert_eq!(error.broken_rule(), Some(rule), "{xla}: {error}");
    }
}

#[test]
fn a_zero_saves_a_product_from_xlas_overflow_only_in_front() {
    let huge = array("f32[4611686018427387904,2,0]");
    let message = "Shape Error: Dimensions overflow. Shape(f32): f32[4611686018427387904,2,0]";
    assert_eq!(huge.validate_sizes_as_xla().unwrap_err().found(), message);
    array("f32[0,4611686018427387904,2]").validate_sizes_as_xla().unwrap();
    array("f32[?,4611686018427387904,0]").validate_sizes_as_xla().unwrap();
    Shape::from(huge).validate().unwrap();
}

#[test]
fn the_packed_factor_needs_a_vector_with_three_tiles() {
    assert_eq!(array("bf16[1024]{0:T(1024)(128)(2,1)}").packed_factor_for_1d_interleaved_array().unwrap(), 2);
    assert_eq!(array("s8[7]{0:T(1024)(128)(4,1)}").packed_factor_for_1d_interleaved_array().unwrap(), 4);
    for text in [
        "bf16[1024]{0:T(1024)(128)}",
        "bf16[1024]{0:T(1024)(128)(2)}",
        "bf16[1024]{0:T(1024)(128)(*,1)}",
        "bf16[1024]{0:T(1024)(128)(2,1)(1)}",
        "bf16[8,128]{1,0:T(1024)(128)(2,1)}",
        "bf16[1024] (no layout)",
        "bf16[]",
    ] {
        assert!(array(text).packed_factor_for_1d_interleaved_array().is_err(), "{text}");
    }
}

#[test]
fn new_dimensions_stand_where_xla_puts_them() {
    let tiled = array("f32[<=2,3]{0,1:T(2,2)E(16)S(1)SC(1:1)}");
    assert_eq!(tiled.append_major_dimension(5).unwrap(), array("f32[<=2,3,5]{0,1,2:T(2,2)E(16)S(1)SC(2:1)}"));
    assert_eq!(tiled.append_minor_dimension(5).unwrap(), array("f32[<=2,3,5]{2,0,1:T(2,2)E(16)S(1)SC(1:1)}"));
    assert_eq!(tiled.prepend_major_dimension(5).unwrap(), array("f32[5,2,3]{1,2,0}"));
    assert_eq!(tiled.insert_dimensions_at_index(0, &[5, 7]).unwrap(), array("f32[5,7,2,3]{2,1,0,3}"));
    assert_eq!(tiled.insert_dimensions_at_index(1, &[5]).unwrap(), array("f32[2,5,3]{0,2,1}"));
    assert_eq!(tiled.insert_dimensions_at_index(2, &[5, 7]).unwrap(), array("f32[2,3,5,7]{3,2,0,1}"));
    assert_eq!(array("f32[]").insert_dimensions_at_index(0, &[4]).unwrap(), array("f32[4]{0}"));
    assert_eq!(array("f32[]").append_major_dimension(4).unwrap(), array("f32[4]{0}"));
    let bare = array("f32[3] (no layout)");
    assert_eq!(bare.append_minor_dimension(2).unwrap(), array("f32[3,2] (no layout)"));
    assert_eq!(bare.prepend_major_dimension(2).unwrap(), array("f32[2,3] (no layout)"));
    assert_eq!(bare.insert_dimensions_at_index(0, &[2]).unwrap(), array("f32[2,3] (no layout)"));
    assert!(tiled.insert_dimensions_at_index(3, &[5]).is_err());
    assert!(
        tiled.append_major_dimension(1 << 62).is_err() && tiled.append_minor_dimension(u64::MAX).is_err()
    );
    assert!(array("f32[?]{0}").prepend_major_dimension(2).is_err());
}

#[test]
fn what_a_layout_says_of_a_dimension_follows_it() {
    // Physically 5, 2, 3 from the major end; the split lies on dimension 0.
    let padding = Padding { padded_dimensions: vec![8, 4, 6], value: PaddingValue::One };
    let shape = array("f32[2,3,5]{1,0,2:T(2,2)SC(1:1)M(4)}");
    let layout = shape.layout().unwrap().clone().with_padding(Some(padding)).unwrap();
    let shape = shape.with_layout(layout).unwrap();
    let padded_of = |array: &tilework::xla::ArrayShape| {
        array.layout().unwrap().padding().unwrap().padded_dimensions.clone()
    };

    let turned = shape.permute_dimensions(&[2, 0, 1]).unwrap();
    assert_eq!(turned.layout().unwrap().minor_to_major(), [2, 1, 0]);
    assert_eq!(turned.layout().unwrap().split_configs(), shape.layout().unwrap().split_configs());
    assert_eq!(
        (padded_of(&turned), turned.layout().unwrap().dynamic_shape_metadata_prefix_bytes()),
        (vec![6, 8, 4], 4)
    );

    let kept = shape.delete_dimensions(&[2]).unwrap();
    assert_eq!((kept.layout().unwrap().minor_to_major(), padded_of(&kept)), (&[1, 0][..], vec![8, 4]));
    let split = |dimension| [SplitConfig { dimension, split_indices: vec![1] }];
    assert_eq!(kept.layout().unwrap().split_configs(), split(0));
    assert_eq!(shape.delete_dimensions(&[0]).unwrap().layout().unwrap().split_configs(), []);
    assert_eq!(padded_of(&shape.append_minor_dimension(7).unwrap()), [8, 4, 6, 7]);

    let free = Layout::strided(Strides { strides: vec![0, -1, 6], base: Some(9), size: None }).unwrap();
    let free = array("f32[2,3,5]").with_layout(free).unwrap();
    let turned = free.permute_dimensions(&[2, 0, 1]).unwrap();
    let expected = Strides { strides: vec![6, 0, -1], base: Some(9), size: None };
    assert_eq!(*turned.layout().unwrap(), Layout::strided(expected).unwrap());
    assert_eq!(free.delete_dimensions(&[1]).unwrap().layout().unwrap().strides().unwrap().strides, [0, 6]);
    assert!(free.append_major_dimension(2).is_err() && Shape::from(free).move_dim_to_major(0).is_err());
}

#[test]
fn renumbering_dimensions_keeps_memory_and_the_old_code_did_not() {
    let shape = array("f32[2,3,5]{1,2,0:T(4)}");
    let cycle = [2, 0, 1];
    assert_eq!(shape.reorder_logical_dimensions(&cycle).unwrap(), array("f32[5,2,3]{2,0,1:T(4)}"));
    assert_eq!(
        shape.reorder_logical_dimensions_by_old_code(&cycle).unwrap(),
        array("f32[5,2,3]{0,1,2:T(4)}")
    );
    let swap = [1, 0, 2];
    let by_old_code = shape.reorder_logical_dimensions_by_old_code(&swap).unwrap();
    assert_eq!(shape.reorder_logical_dimensions(&swap).unwrap(), by_old_code);
    let ignoring = shape.permute_dimensions_ignoring_layout(&cycle).unwrap();
    assert_eq!(ignoring, array("f32[5,2,3]{1,2,0:T(4)}"));
    for wrong in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
        assert!(shape.permute_dimensions(wrong).is_err(), "{wrong:?}");
        assert!(shape.permute_dimensions_ignoring_layout(wrong).is_err(), "{wrong:?}");
        assert!(shape.reorder_logical_dimensions_by_old_code(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_dimension_moves_to_the_major_end_in_every_array_of_a_tuple() {
    let tuple = shape("(f32[2,3]{0,1:T(2)}, (token[], s8[4,5,6] (no layout)))");
    assert_eq!(
        tuple.clone().move_dim_to_major(0).unwrap(),
        shape("(f32[2,3]{1,0}, (token[], s8[4,5,6]{2,1,0}))")
    );
    assert_eq!(
        tuple.clone().move_dim_to_major(1).unwrap(),
        shape("(f32[2,3]{0,1}, (token[], s8[4,5,6]{2,0,1}))")
    );
    assert!(tuple.move_dim_to_major(2).is_err() && shape("f32[]").move_dim_to_major(0).is_err());
    let moved = layout("{2,1,0:T(2,2)S(1)SC(0:1)}").move_dim_to_major(2).unwrap();
    assert_eq!(moved, layout("{1,0,2:T(2,2)S(1)SC(0:1)}"));
}

#[test]
fn deleted_dimensions_are_named_once_and_exist() {
    let shape = array("f32[5,3,2,7,9]{2,0,1,4,3}");
    assert!(shape.delete_dimensions(&[1, 1]).is_err() && shape.delete_dimensions(&[5]).is_err());
    assert_eq!(shape.delete_dimensions(&[]).unwrap(), shape);
    assert_eq!(shape.filter_dimensions(|dim| dim % 2 == 1).unwrap(), array("f32[3,7]{0,1}"));
    assert_eq!(shape.filter_dimensions(|_| false).unwrap(), array("f32[]"));
    assert!(array("f32[0,4611686018427387904]").delete_dimensions(&[0]).is_err());
    assert!(layout("{0,1}").delete_dimension(2).is_err());
    assert_eq!(array("f32[<=1,?,<=7]{0,2,1}").drop_degenerate_dimensions(), array("f32[?,<=7]{1,0}"));
}

#[test]
fn a_reshape_leaves_dimensions_that_are_factors_of_their_own() {
    let (input, output) = (array("f32[4,6,1,5]"), array("f32[4,2,3,5]"));
    assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[0, 3]).unwrap(), Some(vec![0, 3]));
    assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, &[]).unwrap(), Some(vec![]));
    for dims in [&[3, 0][..], &[0, 1], &[2], &[9]] {
        assert_eq!(input.reshape_leaves_dimensions_unmodified(&output, dims).unwrap(), None, "{dims:?}");
    }
    let empty = array("f32[0]").inserted_or_deleted_1_sized_dimensions(&array("f32[0,0]")).unwrap();
    assert_eq!(empty, Some(InsertedOrDeleted { deleted: vec![0], inserted: vec![0, 1] }));
}

#[test]
fn dynamic_dimensions_are_copied_and_set_by_number() {
    let (to, from) = (array("f32[2,<=3,5]{0,1,2:M(4)}"), array("s8[<=9,1,?]"));
    assert_eq!(to.copy_dynamic_dimensions(&from).unwrap(), array("f32[<=2,3,<=5]{0,1,2:M(4)}"));
    assert!(to.copy_dynamic_dimensions(&array("s8[1]")).is_err());
    let bounded = array("s8[9,<=1,?]");
    assert_eq!(from.copy_dynamic_dimensions(&array("f32[2,<=3,?]")).unwrap(), bounded);
    assert!(from.copy_dynamic_dimensions(&to).is_err()); // ? has no size to be static with
    let tuple = shape("(token[], (f32[2,3]))");
    assert_eq!(
        tuple.clone().update_dynamic_dimension(&[1, 0], 1, true).unwrap(),
        shape("(token[], (f32[2,<=3]))")
    );
    for (path, dim) in [(&[0][..], 0), (&[1], 0), (&[1, 0], 2), (&[2], 0)] {
        assert!(tuple.clone().update_dynamic_dimension(path, dim, true).is_err(), "{path:?}");
    }
}

#[test]
fn a_dynamic_size_fits_a_bound_that_is_no_smaller() {
    for (dynamic, bounded, fits) in [
        ("f32[<=3,2]", "f32[3,2]", true),
        ("f32[<=4,2]", "f32[3,2]", false),
        ("f32[<=3]", "f32[3,2]", false),
        ("f32[?]", "f32[<=3]", false),
        ("f32[<=3]", "f32[?]", true),
        ("f32[?]", "f32[?]", true),
        ("(f32[<=2], f32[9])", "(f32[2], f32[1])", true),
        ("(f32[<=2])", "(f32[2], f32[1])", true),
        ("(f32[<=2], f32[1])", "(f32[2])", false),
        ("(f32[<=2])", "f32[2]", false),
        ("f32[<=2]", "(f32[2])", false),
        ("f32[<=2]", "token[]", false),
        ("token[]", "f32[2]", true),
    ] {
        assert_eq!(shape(dynamic).dynamic_shape_is_compatible(&shape(bounded)), fits, "{dynamic} {bounded}");
    }
}
