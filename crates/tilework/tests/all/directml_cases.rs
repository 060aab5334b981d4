//! DirectML's documents, headers and callers: a table of facts, every row of which must come out.

use serde_json::{Value, json};
use tilework::directml::*;
use tilework::{Layout, Place};

fn cases() -> Vec<Value> {
    let path = format!("{}/tests/cases/directml.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn row(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as u32).collect()
}

fn axes(value: &Value) -> Vec<usize> {
    row(value).into_iter().map(|axis| axis as usize).collect()
}

fn strides(input: &Value) -> Option<Vec<u32>> {
    input.get("strides").filter(|strides| !strides.is_null()).map(row)
}

fn data_type(input: &Value) -> DataType {
    let name = input.get("dtype").map_or("FLOAT32", |name| name.as_str().unwrap());
    DataType::from_name(name).unwrap()
}

fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input[key].as_str().unwrap()
}

fn number(input: &Value, key: &str) -> i64 {
    input[key].as_i64().unwrap()
}

/// The descriptor of `sizes` and `strides`, with a declared total for `buffer_elements`.
fn desc(input: &Value) -> BufferTensorDesc {
    let desc = BufferTensorDesc::new(data_type(input), &row(&input["sizes"])).unwrap();
    let desc = strides(input).map_or(desc.clone(), |strides| desc.with_strides(&strides).unwrap());
    match input.get("buffer_elements").and_then(Value::as_u64) {
        Some(elements) => desc.with_declared_total(elements * 4).unwrap(),
        None => desc,
    }
}

fn shown(desc: &BufferTensorDesc) -> Value {
    json!({ "sizes": desc.sizes(), "strides": desc.effective_strides()[..] })
}

/// `error: why` expects an error that says why.
fn or_error(result: tilework::Result<Value>) -> Value {
    result.unwrap_or_else(|error| json!(format!("error: {error}")))
}

fn view(answer: ViewOrCopy, as_null: bool) -> Value {
    match answer {
        ViewOrCopy::View(desc) if as_null => json!({ "sizes": desc.sizes(), "strides": desc.strides() }),
        ViewOrCopy::View(desc) => shown(&desc),
        ViewOrCopy::Copy(needed) => json!(format!("error: {needed}")),
    }
}

/// Element by element, in index order.
fn offsets(desc: &BufferTensorDesc) -> Vec<usize> {
    let mut offsets = Vec::new();
    desc.lower().unwrap().for_each_in_index_order(|_, offset| offsets.push(offset as usize));
    offsets
}

fn validate(input: &Value) -> Value {
    let mut raw = Desc::new(data_type(input), &row(&input["sizes"]));
    raw.strides = strides(input).map(|strides| strides.into_iter().map(i64::from).collect());
    raw.total = input.get("total").and_then(Value::as_u64);
    raw.alignment = input.get("guaranteed_base_offset_alignment").and_then(Value::as_u64).unwrap_or(0);
    let found = check(&raw, FeatureLevel::LATEST, None);
    if found.is_empty() { json!("ok") } else { found.iter().map(|violation| violation.rule.name()).collect() }
}

fn constant(name: &str) -> u64 {
    match name.strip_prefix("DML_").unwrap() {
        "TENSOR_DIMENSION_COUNT_MAX" => DIMENSION_COUNT_MAX.into(),
        "TENSOR_DIMENSION_COUNT_MAX1" => DIMENSION_COUNT_MAX1.into(),
        "MINIMUM_BUFFER_TENSOR_ALIGNMENT" => MINIMUM_BUFFER_TENSOR_ALIGNMENT,
        "TEMPORARY_BUFFER_ALIGNMENT" => TEMPORARY_BUFFER_ALIGNMENT,
        "PERSISTENT_BUFFER_ALIGNMENT" => PERSISTENT_BUFFER_ALIGNMENT,
        other => panic!("{other}"),
    }
}

/// What the library answers.
fn answer(op: &str, input: &Value, expected: &Value) -> Value {
    match op {
        "buffer_size_bytes" => {
            let sizes = row(&input["sizes"]);
            or_error(buffer_size_bytes(data_type(input), &sizes, strides(input).as_deref()).map(Value::from))
        }
        "legacy_size_wraps_u32" => {
            let (data_type, sizes, strides) = (data_type(input), row(&input["sizes"]), strides(input));
            json!({
                "exact_bytes": buffer_size_bytes(data_type, &sizes, strides.as_deref()).ok(),
                "directmlx_bytes": buffer_size_bytes_wrapping_like_directmlx(data_type, &sizes, strides.as_deref()),
            })
        }
        "packed_strides" => json!(packed_strides(&row(&input["sizes"])).unwrap()),
        "layout_strides" => {
            let (sizes, layout) = (row(&input["sizes"]), text(input, "layout"));
            let flags = input.get("broadcast").and_then(Value::as_array);
            let flags = flags.map_or(vec![false; sizes.len()], |flags| {
                flags.iter().map(|flag| flag.as_bool().unwrap()).collect()
            });
            let letters = letters_of(layout).unwrap();
            json!(broadcast_order_strides(&sizes, &letters, layout, &flags).unwrap())
        }
        "interleaved_channel_strides" => json!(interleaved_channel_strides(&row(&input["sizes"])).unwrap()),
        "layout_strides_any_order" => {
            let (order, named) = (text(input, "order"), input["sizes"].as_object().unwrap());
            let letters: String = named.keys().map(String::as_str).collect();
            let sizes: Vec<u32> = named.values().map(|size| size.as_u64().unwrap() as u32).collect();
            let strides = order_strides(&sizes, &letters, order).unwrap();
            named
                .keys()
                .cloned()
                .zip(strides.into_iter().map(Value::from))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        "filter_as_oihw" | "filter_as_iohw" => {
            let order = if op == "filter_as_oihw" { "OIHW" } else { "IOHW" };
            let sizes = row(&input["stored_sizes"]);
            shown(
                &BufferTensorDesc::from_stored(DataType::Float32, &sizes, text(input, "stored_order"), order)
                    .unwrap(),
            )
        }
        "nhwc_buffer_as_nchw_view" => {
            let sizes = row(&input["stored_sizes"]);
            shown(&BufferTensorDesc::from_stored(DataType::Float32, &sizes, "NHWC", "NCHW").unwrap())
        }
        "padded_strides" => {
            let (data_type, sizes) = (data_type(input), row(&input["sizes"]));
            let (dim, align) = (number(input, "dim") as usize, number(input, "align_bytes") as u32);
            let desc = BufferTensorDesc::padded(data_type, &sizes, dim, align).unwrap();
            let layout = desc.lower().unwrap();
            assert!(layout.bytes() <= desc.total_bytes() && desc.total_bytes() < layout.bytes() + 4);
            json!({ "strides": desc.strides(), "min_bytes": desc.total_bytes() })
        }
        "element_offset" => {
            let (coords, strides) = (row(&input["coords"]), row(&input["strides"]));
            let sizes: Vec<u32> = coords.iter().map(|coord| coord + 1).collect();
            let desc =
                BufferTensorDesc::new(DataType::Uint8, &sizes).unwrap().with_strides(&strides).unwrap();
            let index: Vec<u64> = coords.iter().map(|&coord| coord.into()).collect();
            assert_eq!(desc.lower().unwrap().offset(&index), desc.offset(&index));
            json!(desc.offset(&index).unwrap())
        }
        "coords_from_linear" => {
            let sizes: Vec<u64> = row(&input["sizes"]).into_iter().map(u64::from).collect();
            match Layout::row_major(&sizes, 32).unwrap().locate(number(input, "index") as u64) {
                Ok(Place::Element(index)) => json!(index),
                Ok(Place::Padding(padding)) => panic!("{padding}"),
                Err(error) => json!(format!("error: out of range: {error}")),
            }
        }
        "read_logical_order" => {
            let buffer = text(input, "buffer").as_bytes();
            json!(offsets(&desc(input)).into_iter().map(|at| char::from(buffer[at])).collect::<String>())
        }
        "write_into_layout" => {
            let mut buffer =
                vec![text(input, "fill").as_bytes()[0]; number(input, "buffer_elements") as usize];
            for (&letter, at) in text(input, "logical").as_bytes().iter().zip(offsets(&desc(input))) {
                buffer[at] = letter;
            }
            json!(String::from_utf8(buffer).unwrap())
        }
        "classify" => {
            let words = desc(input).words().unwrap();
            json!({
                "packed": words.packed, "unique": words.unique.unwrap(), "broadcast": words.is_broadcast(),
                "gaps": words.gaps, "min_elements": words.minimum_elements,
            })
        }
        "equivalent" => json!(desc(&input["a"]).same_view(&desc(&input["b"])).unwrap().is_yes()),
        "permute" => or_error(desc(input).permute(&axes(&input["axes"])).map(|desc| shown(&desc))),
        "gather_axes_ort" => {
            shown(&desc(input).gather_axes_like_onnx_runtime(&axes(&input["axes"])).unwrap())
        }
        "simplify_transpose" => {
            let simple = simplify_transpose(&row(&input["sizes"]), &axes(&input["axes"])).unwrap();
            json!({ "sizes": simple.sizes, "axes": simple.order, "out_sizes": simple.out_sizes })
        }
        "transpose_as_output_strides" => {
            json!(transpose_as_output_strides(&row(&input["sizes"]), &axes(&input["axes"])).unwrap())
        }
        "broadcast_strides_ort" => or_error(
            broadcast_strides_like_onnx_runtime(&row(&input["source"]), &row(&input["target"]))
                .map(|s| json!(s)),
        ),
        "broadcast_strides_tf" => or_error(
            broadcast_strides_like_tensorflow(&row(&input["source"]), &row(&input["target"]))
                .map(|s| json!(s)),
        ),
        "broadcast_to" => {
            let ignored = input.get("ignore_tail").and_then(Value::as_u64).unwrap_or(0) as usize;
            or_error(desc(input).broadcast_to(&row(&input["to"]), ignored).map(|desc| shown(&desc)))
        }
        "collapse_pair" => or_error(
            collapse_pair(&row(&input["x"]), &row(&input["y"]))
                .map(|pair| json!({ "x": pair.x, "y": pair.y, "result": pair.result })),
        ),
        "ensure_min_rank" => {
            let align = if text(input, "align") == "leading" { Align::Leading } else { Align::Trailing };
            shown(&desc(input).with_min_rank(number(input, "rank") as usize, align).unwrap())
        }
        "place_at_axes" => or_error(
            desc(input)
                .place_at_axes(number(input, "rank") as usize, &axes(&input["axes"]))
                .map(|d| shown(&d)),
        ),
        "align_dimensions" => {
            let (min_rank, left) = (number(input, "min_rank") as usize, number(input, "left_aligned"));
            json!(
                align_dimensions(&row(&input["sizes"]), min_rank, left, number(input, "placement")).unwrap()
            )
        }
        "coerce_2d" => {
            or_error(coerce_to_2d(&row(&input["sizes"]), number(input, "axis")).map(|sizes| json!(sizes)))
        }
        "scatter_to_nchw" => or_error(desc(input).scatter(text(input, "layout")).map(|desc| shown(&desc))),
        "axes_for_rank" => {
            json!(axes_for_rank(text(input, "format"), number(input, "rank") as usize).unwrap())
        }
        "merge_leading" => {
            view(desc(input).fold(number(input, "rank") as usize, Fold::Leading).unwrap(), false)
        }
        "fold_dims" => {
            let fold = if text(input, "fold") == "leading" { Fold::Leading } else { Fold::Trailing };
            view(desc(input).fold(number(input, "rank") as usize, fold).unwrap(), strides(input).is_none())
        }
        "collapsible" => json!(desc(input).collapse().is_none()),
        "reinterpret" => {
            let (sizes, strides) = (
                row(&input["new_sizes"]),
                input["new_strides"].as_array().map(|_| row(&input["new_strides"])),
            );
            let desc = desc(input);
            let new_type = input
                .get("new_dtype")
                .map_or(desc.data_type(), |name| DataType::from_name(name.as_str().unwrap()).unwrap());
            or_error(desc.reinterpret(new_type, &sizes, strides.as_deref()).map(|_| json!("ok")))
        }
        "validate" => validate(input),
        "fits_in_storage" => {
            let data_type =
                DataType::all().find(|t| i64::from(t.bits()) == 8 * number(input, "itemsize")).unwrap();
            let offset = number(input, "offset_elements") as u64;
            let need =
                required_bytes(data_type, &row(&input["sizes"]), strides(input).as_deref(), offset).unwrap();
            json!({ "fits": need <= number(input, "storage_bytes") as u64, "required_bytes": need })
        }
        "enum_and_bits" => {
            let data_type = DataType::from_name(text(input, "name")).unwrap();
            json!({ "value": data_type.number(), "bits": data_type.bits() })
        }
        "pack_nibbles" => {
            let values: Vec<i8> =
                input["values"].as_array().unwrap().iter().map(|v| v.as_i64().unwrap() as i8).collect();
            let bytes = pack_nibbles(data_type(input), &values).unwrap();
            assert_eq!(unpack_nibbles(data_type(input), &bytes, values.len()).unwrap(), values);
            json!(bytes)
        }
        "force_unsigned" => {
            or_error(data_type(input).force_unsigned().map(|data_type| json!(data_type.name())))
        }
        "max_dimension_count" => {
            json!(FeatureLevel::from_name(text(input, "target")).unwrap().max_dimension_count())
        }
        "constant" => json!(constant(text(input, "name"))),
        "feature_level_value" => json!(FeatureLevel::from_name(text(input, "name")).unwrap().number()),
        other => panic!("no answer for {other}: {input} → {expected}"),
    }
}

#[test]
fn every_case_comes_out() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let (op, expected) = (case["op"].as_str().unwrap(), &case["expected"]);
        let found = answer(op, &case["input"], expected);
        let same = match (expected.as_str(), found.as_str()) {
            // The words after `error: ` stand at the start of the message, behind the field.
            (Some(want), Some(found)) if want.starts_with("error") => {
                found.starts_with("error") && found.contains(want.trim_start_matches("error: "))
            }
            _ => found == *expected,
        };
        if !same {
            wrong.push(format!("{}: {found} instead of {expected}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.len(), 114, "cases were seen");
}
