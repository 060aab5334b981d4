//! Linear layouts, against Triton's own and by definition.

use std::collections::HashMap;

use serde_json::Value;
use tilework::Result;
use tilework::dialect::Described;
use tilework::triton::{Side, Type};

use super::{check_by_definition, parse};

/// What Triton 3.9.0 makes of its encodings; see the file.
const CASES: &str = include_str!("../../cases/triton.json");

/// Of each number of the hardware, its bases.
type Bases = HashMap<String, Vec<Vec<u64>>>;

fn cases() -> Vec<(Type, Bases)> {
    let file: Value = serde_json::from_str(CASES).expect("JSON");
    let case = |case: &Value| {
        let mut bases = case.as_object().expect("a case").clone();
        let text = bases.remove("text").expect("a text");
        let bases = serde_json::from_value(Value::Object(bases)).expect("bases");
        (parse(text.as_str().expect("a text")), bases)
    };
    file["cases"].as_array().expect("cases").iter().map(case).collect()
}

#[test]
fn linear_layouts_are_those_that_triton_makes() -> Result<()> {
    let cases = cases();
    assert!(cases.len() > 150);
    for (ty, bases) in cases {
        let linear = ty.linear_layout()?;
        assert_eq!(linear.inputs().count(), bases.len(), "{ty}");
        for (input, bases) in &bases {
            assert_eq!(linear.bases(input), bases, "{input} of {ty}: {linear}");
        }
        let printed = ty.to_string();
        assert_eq!(parse(&printed), ty, "{printed}");
    }
    Ok(())
}

/// Further numbers of `LinearLayoutConversionsTest.cpp`, with zero bases; blocked ones without registers of such.
const UNIT_TESTS: &[(&str, &str)] = &[
    (
        "tensor<8xf16, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [4], warpsPerCTA = [4], order = [0]}>>",
        "register = [[1], [2]], lane = [[4], [0]], warp = [[0], [0]], block = []",
    ),
    (
        "tensor<2x1x1x1xf16, #ttg.blocked<{sizePerThread = [1, 1, 1, 4], threadsPerWarp = [2, 1, 1, 16], warpsPerCTA = [1, 2, 4, 1], order = [3, 0, 1, 2]}>>",
        "register = [], lane = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], \
         warp = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], block = []",
    ),
    (
        "tensor<16x128xf16, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>>",
        "register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []",
    ),
];

/// Triton dropped them in its pull request 11541, of blocked encodings alone. Zero bases of lanes and warps stay.
#[test]
fn registers_that_repeat_elements_of_a_blocked_encoding_are_dropped() -> Result<()> {
    let blocked =
        "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>";
    for (size, dims, is_dropped) in
        [(1, [1, 2, 32, 1], true), (2, [1, 2, 32, 2], true), (4, [1, 2, 32, 4], false)]
    {
        let ty = parse(&format!("tensor<{size}xf16, {blocked}>"));
        let layout = ty.lower()?;
        assert_eq!(layout.dims(), dims, "{ty}");
        let notes = ty.notes(&layout).join("\n");
        assert_eq!(notes.contains("The encoding asks for 4 registers in each lane"), is_dropped, "{notes}");
    }
    let linear = parse(&format!("tensor<2xf16, {blocked}>")).linear_layout()?;
    assert_eq!(linear.bases("register"), [[1]]);
    assert_eq!((linear.bases("lane").len(), linear.bases("warp").len()), (5, 1));
    Ok(())
}

#[test]
fn linear_layouts_are_those_of_tritons_unit_tests() -> Result<()> {
    for (text, linear) in UNIT_TESTS {
        assert_eq!(parse(text).linear_layout()?.to_string(), *linear, "{text}");
    }
    Ok(())
}

#[test]
fn both_readings_agree_with_the_linear_layout() -> Result<()> {
    for (ty, _) in cases() {
        let (linear, layout) = (ty.linear_layout()?, ty.lower()?);
        check_by_definition(&ty, &linear, &layout)?;
        let zeros = linear.inputs().flat_map(|input| linear.bases(input));
        let copies: u64 = 1 << zeros.filter(|base| base.iter().all(|step| *step == 0)).count();
        if ty.side() == Some(Side::Registers) {
            assert_eq!(layout.len(), copies * linear.sizes().iter().product::<u64>(), "{ty}");
        }
        assert!(ty.parts(Some(&layout)).iter().all(|part| !part.meaning.is_empty()));
        assert!(ty.notes(&layout)[0].starts_with("Shown from "));
    }
    Ok(())
}
