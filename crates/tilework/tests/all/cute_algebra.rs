//! The algebra of CuTe's layouts: NVIDIA's own cases, and what must hold of every layout, against tables of offsets.

use proptest::prelude::*;
use serde_json::Value;
use tilework::Result;
use tilework::cute::{IntTuple, Layout, Tiler, operation};

/// The cases of NVIDIA's tests that the table has, with its source and license: what CuTe IR gives for an operation.
fn cases() -> Vec<(String, Option<String>, Vec<String>, String)> {
    let all: Value = serde_json::from_str(include_str!("../cases/cute.json")).unwrap();
    assert!(all["source"].as_str().unwrap().contains("BSD-3-Clause"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_operation = |(name, cases): (&String, &Value)| {
        let case = |case: &Value| {
            let inputs = case["in"].as_array().unwrap().iter().map(text).collect();
            (name.clone(), case.get("param").map(text), inputs, text(&case["out"]))
        };
        cases.as_array().unwrap().iter().map(case).collect::<Vec<_>>()
    };
    all["cases"].as_object().unwrap().iter().flat_map(of_operation).collect()
}

/// What the table has and no layout can be: 4@0 and 5@0 overlap, and the answer is that of 4@1, in mode 1.
const MISTAKEN: &str = "(2,1,5,3):(4@0,0,5@0,16@1)";

#[test]
fn operations_give_what_cute_ir_gives() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() > 250);
    for (name, param, inputs, expected) in cases {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let found = operation(&name, param.as_deref(), &inputs);
        let text = found.as_ref().map_or_else(ToString::to_string, Clone::clone);
        if inputs == [MISTAKEN] {
            assert!(found.is_err(), "{text}");
        } else if text != expected {
            wrong.push(format!("{name}{} {inputs:?}: {text}, not {expected}", param.unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
