//! The transposes that XLA tests its own planner with.

use std::collections::HashMap;

use serde_json::{Value, json};
use tilework::{Layout, Nest, Plan, PlanOptions};

fn cases() -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../cases/xla.json")).unwrap();
    all.into_iter()
        .filter(|case| case["group"] == "transpose_plan")
        // Strides between tiles are two layouts in one; a layout here has strides or tiles.
        .filter(|case| {
            case["input"]["input_striding_bytes"].is_null() || case["input"]["input_tiling"] == json!([])
        })
        .collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(|number| number.as_u64().unwrap()).collect()
}

fn tiled(dims: &[u64], tile: &[u64]) -> Layout {
    let builder = Layout::builder(dims, 32).unwrap();
    let tile: Vec<Option<u64>> = tile.iter().copied().map(Some).collect();
    if tile.is_empty() { builder.build() } else { builder.tile(&tile).and_then(|b| b.build()) }.unwrap()
}

/// The source seen in the order of the output's dimensions, and the destination.
fn pair(input: &Value) -> (Layout, Layout) {
    let dims = numbers(&input["dims"]);
    let order: Vec<usize> = numbers(&input["permutation"]).into_iter().map(|dim| dim as usize).collect();
    let source = match input["input_striding_bytes"].as_array() {
        None => tiled(&dims, &numbers(&input["input_tiling"])),
        Some(bytes) => {
            let strides: Vec<i64> = bytes.iter().map(|stride| stride.as_i64().unwrap() / 4).collect();
            Layout::strided(&dims, 32, &strides, None, None).unwrap()
        }
    };
    let out: Vec<u64> = order.iter().map(|&dim| dims[dim]).collect();
    (source.permute(&order).unwrap(), tiled(&out, &numbers(&input["output_tiling"])))
}

#[test]
fn every_transpose_that_xla_plans_has_a_plan_that_moves_each_element_once() {
    let cases = cases();
    assert!(cases.len() >= 17);
    for case in &cases {
        let (from, to) = pair(&case["input"]);
        let plan = Plan::new(&from, &to, &PlanOptions::default()).unwrap();
        let expected = &case["expected"];
        assert_eq!(to.dims(), numbers(&expected["output_dims"]), "{case}");
        if let Some(size) = expected["output_buffer_elements"].as_u64() {
            assert_eq!(to.size(), size, "{case}");
        }
        // One dimension cut at most once on either side, or twice: 2 or 3 pieces of each.
        assert!(plan.copies().len() <= 9, "{case}: {}", plan.copies().len());
        assert_eq!(plan.copies().iter().map(Nest::elements).sum::<u64>(), to.len(), "{case}");
        if to.len() > 500_000 {
            continue;
        }
        let mut moved = HashMap::new();
        for nest in plan.copies() {
            nest.for_each(|from, to| assert_eq!(moved.insert(to, from), None, "{case}"));
        }
        to.for_each_in_index_order(|index, place| {
            assert_eq!(moved.get(&place).copied(), from.offset(index).ok(), "{case}");
        });
    }
}
