//! XLA's utilities on the cases of XLA's own tests, documents and library.

use std::ops::ControlFlow;

use crate::common::xla_reader;
use crate::common::xla_reader::{cases, layout, shape};
use serde_json::{Value, json};
use tilework::{
    Element,
    xla::{
        ArrayShape, Layout, LayoutEqual, Padding, PaddingValue, PrimitiveType, Shape,
        byte_strides_is_major_to_minor,
    },
};

const GROUPS: [&str; 26] = [
    "array_size",
    "array_size_tiled",
    "byte_size",
    "byte_strides",
    "change_element_type",
    "clear_layout",
    "compatible",
    "copy_layout",
    "default_layout",
    "dimensions",
    "elements",
    "for_each_index",
    "index",
    "layout_equal",
    "layouts_in_shapes_equal",
    "linear_index_tiled",
    "linear_memory",
    "native_edge",
    "padding",
    "scalar",
    "shape_equal",
    "shape_predicates",
    "split_config",
    "subshape",
    "true_rank",
    "tuples",
];

/// Functions of these groups about bitcasts, surgery on shapes and text, which other tests answer.
const OTHER_FUNCTIONS: [&str; 14] = [
    "GetDimension",
    "HasDegenerateDimensions",
    "IsEffectivelyMostMajorDimension",
    "TransposeIsBitcast",
    "ReshapeIsBitcast",
    "AlignLayouts",
    "IsDecomposableBitcast",
    "MoveDimToMajor",
    "DropDegenerateDimensions",
    "MakeShapeWithDescendingLayoutAndSamePhysicalLayout",
    "InsertedOrDeleted1SizedDimensions",
    "DynamicShapeIsCompatible",
    "ParseLayout",
    "CommonFactors",
];

fn list(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

fn path(value: &Value) -> Vec<usize> {
    list(value).into_iter().map(|number| number as usize).collect()
}

/// The input as a shape: the text itself, under `shape`, or the first of several arguments.
fn subject(input: &Value) -> Shape {
    let text = input.as_str().or_else(|| input["shape"].as_str()).or_else(|| input[0].as_str());
    shape(text.unwrap_or_else(|| panic!("{input}")))
}

fn subject_array(input: &Value) -> ArrayShape {
    subject(input).as_array().cloned().unwrap_or_else(|| panic!("{input}"))
}

/// Two shapes: `lhs` and `rhs`, or two arguments.
fn two(input: &Value) -> (Shape, Shape) {
    let text = |name: &str, number: usize| input[name].as_str().or_else(|| input[number].as_str()).unwrap();
    (shape(text("lhs", 0)), shape(text("rhs", 1)))
}

/// What Tilework says to a case; an error becomes `{"error": text}`.
fn answer(op: &str, input: &Value) -> Value {
    fn value<T: Into<Value>>(result: tilework::Result<T>) -> Value {
        result.map_or_else(|error| json!({ "error": error.to_string() }), Into::into)
    }
    let function = op.rsplit("::").next().unwrap();
    match function {
        "MultidimensionalIndexToLinearIndex" => {
            value(subject_array(input).linear_index_untiled(&list(&input["index"])))
        }
        "LinearIndexToMultidimensionalIndex" => {
            value(subject_array(input).multidimensional_index_untiled(input["linear"].as_u64().unwrap()))
        }
        "linear -> multi -> linear" => {
            let array = subject_array(input);
            let index = array.multidimensional_index_untiled(input["linear"].as_u64().unwrap()).unwrap();
            value(array.linear_index_untiled(&index))
        }
        "BumpIndices" => {
            let mut index = list(&input["index"]);
            match subject_array(input).bump_indices(&mut index).unwrap() {
                true => json!({ "bumped": true, "index": index }),
                false => json!({ "bumped": false }),
            }
        }
        "LinearIndex" => {
            let index = if input["index"].is_null() { &input[1] } else { &input["index"] };
            match index.as_array().unwrap().iter().map(Value::as_u64).collect::<Option<Vec<u64>>>() {
                Some(index) => value(subject_array(input).linear_index_by_first_tile(&index)),
                None => json!({ "error": "a negative number is not an index" }),
            }
        }
        "ArraySize" => match subject(input) {
            Shape::Array(array) => value(array.array_size_by_first_tile()),
            _ => json!({ "error": "only arrays have the function" }),
        },
        "ArrayDataSize" => value(subject_array(input).array_data_size_by_first_tile()),
        "ByteSizeOf" => value(subject(input).byte_size_of(input[1].as_u64())),
        "ElementsIn" => value(subject_array(input).elements_in()),
        "StaticExtentProduct" => subject_array(input).static_extent_product().into(),
        "IsZeroElementArray" => subject_array(input).is_zero_element_array().into(),
        "TrueNumDimensions" => subject_array(input).true_num_dimensions().into(),
        "ByteStrides" => value(subject_array(input).byte_strides_untiled()),
        "ByteStridesIsMajorToMinor" => {
            let strides: Vec<i64> = list(&input["strides"]).iter().map(|&stride| stride as i64).collect();
            let element = Element::from_name(input["type"].as_str().unwrap()).unwrap();
            value(byte_strides_is_major_to_minor(&strides, &list(&input["dims"]), element))
        }
        "MaxSplitSize" => {
            let dim = input["dim"].as_u64().or(input[1].as_u64()).unwrap();
            value(subject_array(input).max_split_size(dim as usize))
        }
        "MaxElementsInPerSplit" => value(subject_array(input).max_elements_in_per_split()),
        "ChangeElementType -> element_size_in_bits" => {
            let element = Element::from_name(input["type"].as_str().unwrap()).unwrap();
            let changed = subject(input).with_element_type(element).unwrap();
            changed.as_array().unwrap().layout().unwrap().element_size_in_bits().into()
        }
        "HasLayout" => subject(input).has_layout().into(),
        "Compatible"
        | "CompatibleIgnoringElementType"
        | "CompatibleIgnoringFpPrecision"
        | "Equal"
        | "EqualIgnoringElementType"
        | "EqualIgnoringFpPrecision"
        | "EqualStructure"
        | "operator==" => {
            if op == "Layout::Equal" {
                let text = |name: &str| layout(input[name].as_str().unwrap());
                return LayoutEqual::new().equal(&text("lhs"), &text("rhs")).into();
            }
            let (lhs, rhs) = two(input);
            let test = match function {
                "Compatible" => Shape::compatible,
                "CompatibleIgnoringElementType" => Shape::compatible_ignoring_element_type,
                "CompatibleIgnoringFpPrecision" => Shape::compatible_ignoring_fp_precision,
                "EqualIgnoringElementType" => Shape::equal_ignoring_element_type,
                "EqualIgnoringFpPrecision" => Shape::equal_ignoring_fp_precision,
                "EqualStructure" => Shape::equal_structure,
                _ => Shape::equal,
            };
            assert_eq!(test(&lhs, &rhs), test(&rhs, &lhs), "{function} is symmetric");
            test(&lhs, &rhs).into()
        }
        "SameDimensions" => {
            let (lhs, rhs) = two(input);
            lhs.as_array().unwrap().same_dimensions(rhs.as_array().unwrap()).into()
        }
        "LayoutsInShapesEqual" => {
            let (lhs, rhs) = two(input);
            lhs.layouts_equal(&rhs, LayoutEqual::new()).into()
        }
        "GetDefaultLayoutForR3" => json!(Layout::descending(3).minor_to_major()),
        "MakeDescendingLayout" => {
            json!(Layout::descending(input.as_u64().unwrap() as usize).minor_to_major())
        }
        "MakeAscendingLayout" => json!(Layout::ascending(input.as_u64().unwrap() as usize).minor_to_major()),
        "IsEmptyTuple" => subject(input).is_empty_tuple().into(),
        "IsNestedTuple" => subject(input).is_nested_tuple().into(),
        "HasPrimitiveType" => {
            let element = PrimitiveType::from_name(input["type"].as_str().unwrap()).unwrap();
            subject(input).has_primitive_type(element).into()
        }
        "AreAllLeavesIntegers" => subject(input).are_all_leaves_integers().into(),
        "is_static" => subject(input).is_static().into(),
        "is_unbounded_dynamic" => subject(input).is_unbounded_dynamic().into(),
        "IsLeafIndex" => value(subject(input).is_leaf_index(&path(&input["index"]))),
        "IsPadded" => is_padded(input),
        "ForEachIndex invocation count" => {
            let array = ArrayShape::new(Element::F32, list(&input["dims"])).unwrap();
            let mut calls = 0;
            let _ = array
                .for_each_element(|_| {
                    calls += 1;
                    ControlFlow::<()>::Continue(())
                })
                .unwrap();
            calls.into()
        }
        "ForEachIndexWithStatus stops" => {
            let (mut calls, stop) = (0, input["error_at_call"].as_u64().unwrap());
            let lists = ["base", "count", "incr"].map(|name| list(&input[name]));
            let end = subject_array(input).for_each_index(&lists[0], &lists[1], &lists[2], |_| {
                calls += 1;
                if calls == stop { ControlFlow::Break("an error") } else { ControlFlow::Continue(()) }
            });
            json!({ "calls": calls, "ok": end.unwrap().is_continue() })
        }
        "elements in memory order" => memory_order(input),
        _ => panic!("nothing answers {op}"),
    }
}

fn is_padded(input: &Value) -> Value {
    let array = subject_array(input);
    let padded_dimensions = list(&input["padded_dimensions"]);
    let padding =
        (!padded_dimensions.is_empty()).then_some(Padding { padded_dimensions, value: PaddingValue::Zero });
    let layout = array.layout().unwrap().clone().with_padding(padding).unwrap();
    array.with_layout(layout).unwrap().has_padded_dimensions().into()
}

/// Writes every element to its place in a memory of padding values.
fn memory_order(input: &Value) -> Value {
    let mut layout = Layout::new(path(&input["minor_to_major"])).unwrap();
    if let Some(padded) = input.get("padded_dimensions") {
        let padding = Padding { padded_dimensions: list(padded), value: PaddingValue::Zero };
        layout = layout.with_padding(Some(padding)).unwrap();
    }
    let dims: Vec<u64> = serde_json::from_str(input["shape"].as_str().unwrap()).unwrap();
    let array = ArrayShape::new(Element::S8, dims).unwrap().with_layout(layout).unwrap();
    let mut memory = vec![json!(0); array.byte_size_of_elements().unwrap() as usize];
    let _ = array
        .for_each_element(|index| {
            let place = array.linear_index_untiled(index).unwrap();
            assert_eq!(array.multidimensional_index_untiled(place).unwrap(), index);
            memory[place as usize] = input["array"][index[0] as usize][index[1] as usize].clone();
            ControlFlow::<()>::Continue(())
        })
        .unwrap();
    memory.into()
}

#[test]
fn every_case_about_indices_sizes_equality_and_tuples_comes_out() {
    for case in cases(&GROUPS) {
        let (op, input, expected) = (case["op"].as_str().unwrap(), &case["input"], &case["expected"]);
        let expected = expected.get("result").unwrap_or(expected);
        let function = op.rsplit("::").next().unwrap();
        if OTHER_FUNCTIONS.contains(&function) {
            continue;
        }
        if let Some(found) = shape_answer(function, input) {
            match expected["dst_after"].as_str().or(expected.as_str()) {
                Some(text) => assert_eq!(found, Some(shape(text)), "{case}"),
                None => assert_eq!(found, None, "{case}"),
            }
            continue;
        }
        let found = answer(op, input);
        if XLA_ANSWERS_NONSENSE.contains(&(op, input.to_string().as_str())) || expected.get("crash").is_some()
        {
            assert!(found.get("error").is_some(), "{case} found {found}");
        } else {
            assert_eq!(&found, expected, "{case}");
        }
    }
}

/// What Tilework says to a case that asks for a shape; an error is none.
fn shape_answer(function: &str, input: &Value) -> Option<Option<Shape>> {
    Some(match function {
        "GetSubshape" => subject(input).subshape(&path(&input["index"])).ok().cloned(),
        "DeviceShapeToHostShape" => Some(subject(input).device_shape_to_host_shape()),
        "UpdateElementSizeInBits" => {
            Some(subject(input).with_updated_element_size_in_bits(input[1].as_bool().unwrap()))
        }
        "CopyLayoutBetweenShapes" => {
            let mut target = shape(input["dst"].as_str().unwrap());
            // A source that cannot exist, such as one with too many numbers in its layout, is an error as well.
            let source = xla_reader::try_shape(input["src"].as_str().unwrap());
            source.and_then(|source| target.copy_layout_from(&source).ok()).map(|()| target)
        }
        _ => return None,
    })
}

/// Cases that record what XLA says outside the domain of a function, where Tilework gives an error.
const XLA_ANSWERS_NONSENSE: [(&str, &str); 6] = [
    ("LinearIndex", r#"["f32[0,3]{1,0:T(2,2)}",[0,2]]"#),
    ("LinearIndex", r#"["f32[2,3]{1,0}",[5,7]]"#),
    ("LinearIndex", r#"["f32[2,3]{1,0}",[-1,0]]"#),
    ("ArraySize", r#"["f32[4,6]{1,0:T(*,2)}"]"#),
    ("ByteSizeOf", r#"["f32[?,2]",8]"#),
    ("ElementsIn", r#"["f32[?,2]"]"#),
];
