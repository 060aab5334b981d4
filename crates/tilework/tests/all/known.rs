//! Layouts that XLA's documents, TPU compilers and other systems have placed: tables of facts.

use serde_json::Value;
use tilework::xla::{ArrayShape, Shape};
use tilework::{Layout, Place};

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn array(text: &str) -> ArrayShape {
    Shape::parse(text).unwrap().as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// `[[2, 4], ["*", 2]]`
fn tiles(value: &Value) -> Vec<Vec<Option<u64>>> {
    let tile = |tile: &Value| tile.as_array().unwrap().iter().map(Value::as_u64).collect();
    value.as_array().unwrap().iter().map(tile).collect()
}

fn build(dims: &[u64], order: Option<&Value>, tiled: &Value) -> Layout {
    let mut builder = Layout::builder(dims, 32).unwrap();
    if let Some(order) = order {
        let order: Vec<usize> = numbers(order).into_iter().map(|dim| dim as usize).collect();
        builder = builder.minor_to_major(&order).unwrap();
    }
    for tile in tiles(tiled) {
        builder = builder.tile(&tile).unwrap();
    }
    builder.build().unwrap()
}

/// The row-major numbers of the elements, place by place; -1 is padding.
fn image(layout: &Layout) -> Vec<i64> {
    let place = |offset| match layout.locate(offset).unwrap() {
        Place::Element(index) => {
            index.iter().zip(layout.dims()).fold(0, |number, (i, size)| number * size + i) as i64
        }
        Place::Padding(_) => -1,
    };
    (0..layout.size()).map(place).collect()
}

#[test]
fn offsets_are_those_of_the_documents_and_of_those_who_read_tpu_buffers() {
    let mut seen = 0;
    for case in cases("xla.json") {
        let (input, expected) = (&case["input"], &case["expected"]);
        let group = case["group"].as_str().unwrap();
        let layout = match (group, input.get("shape").and_then(Value::as_str)) {
            ("physical_offset", Some(shape)) => array(shape).lower().unwrap(),
            ("physical_offset", None) if input.is_string() => {
                let layout = array(input.as_str().unwrap()).lower().unwrap();
                assert_eq!(layout.size(), expected.as_u64().unwrap(), "{case}");
                seen += 1;
                continue;
            }
            ("physical_offset", None) => build(&numbers(&input["bounds"]), None, &input["tiles"]),
            ("tiled_index", _) => {
                build(&numbers(&input["bounds"]), None, &Value::Array(vec![input["tile"].clone()]))
            }
            ("tile_image", _) => {
                let layout = array(input.as_str().unwrap()).lower().unwrap();
                let expected: Vec<i64> =
                    expected.as_array().unwrap().iter().map(|n| n.as_i64().unwrap() - 1).collect();
                assert_eq!(image(&layout), expected, "{case}");
                seen += 1;
                continue;
            }
            _ => continue,
        };
        let index = numbers(&input["index"]);
        let offset = expected.as_u64().unwrap();
        assert_eq!(layout.offset(&index).unwrap(), offset, "{case}");
        assert_eq!(layout.locate(offset).unwrap(), Place::Element(index), "{case}");
        seen += 1;
    }
    assert_eq!(seen, 44);
}

#[test]
fn sizes_are_those_of_the_tpu_compiler() {
    let mut seen = 0;
    for case in cases("algebra.json") {
        let (kind, input, expect) = (case["kind"].as_str().unwrap(), &case["input"], &case["expect"]);
        let text = match kind {
            "xla_tpu_size" => input["hlo"].as_str().unwrap(),
            "xla_tpu_default_layout" => expect["hlo"].as_str().unwrap(),
            _ => continue,
        };
        let shape = array(text);
        assert_eq!(shape.to_string(), text);
        assert_eq!(shape.array_size().unwrap(), expect["bytes"].as_u64().unwrap(), "{text}");
        // On what compilers choose, XLA's own shorter computation agrees.
        assert_eq!(shape.array_size_by_first_tile().unwrap(), expect["bytes"].as_u64().unwrap(), "{text}");
        seen += 1;
    }
    assert_eq!(seen, 36);
}

#[test]
fn other_systems_place_the_same_elements_at_the_same_places() {
    let mut seen = 0;
    for case in cases("algebra.json") {
        let (kind, input, expect) = (case["kind"].as_str().unwrap(), &case["input"], &case["expect"]);
        match kind {
            "xla_doc_offset" => {
                let layout = build(&numbers(&input["dims"]), Some(&input["m2m"]), &input["tiles"]);
                assert_eq!(
                    layout.offset(&numbers(&input["index"])).unwrap(),
                    expect.as_u64().unwrap(),
                    "{case}"
                );
            }
            "triton_pow2_tile" => {
                let layout = build(&numbers(&input["dims"]), Some(&input["m2m"]), &input["tiles"]);
                let mut offsets = Vec::new();
                layout.for_each_in_index_order(|_, offset| offsets.push(offset));
                assert_eq!(offsets, numbers(&expect["table"]), "{case}");
            }
            "numpy_strides" => {
                let expected: Vec<i64> =
                    expect["strides_elems"].as_array().unwrap().iter().map(|s| s.as_i64().unwrap()).collect();
                let whole = Layout::row_major(&[2, 3, 4], 32).unwrap();
                let view = match input["expr"].as_str().unwrap() {
                    "a[::-1]" => whole.flip(0).unwrap(),
                    _ => whole.slice(1, 0..1, 1).unwrap().broadcast(&[2, 3, 4]).unwrap(),
                };
                assert_eq!(view.to_strides().unwrap().strides, expected, "{case}");
                assert_eq!(
                    view.offset(&[0, 0, 0]).unwrap(),
                    expect["base_elems"].as_u64().unwrap(),
                    "{case}"
                );
            }
            _ => continue,
        }
        seen += 1;
    }
    assert_eq!(seen, 5);
}
