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
            // Triton 3.9 gives blocked layouts no registers that hold what others hold; before, it did, as its unit tests
            // still say.
            let is_left_out = |base: &&Vec<u64>| {
                input == "register" && ty.encoding_name() == "blocked" && base.iter().all(|step| *step == 0)
            };
            let own: Vec<_> = linear.bases(input).iter().filter(|base| !is_left_out(base)).collect();
            assert!(own.into_iter().eq(bases), "{input} of {ty}: {linear}");
        }
        let printed = ty.to_string();
        assert_eq!(parse(&printed), ty, "{printed}");
    }
    Ok(())
}

/// Further numbers of `LinearLayoutConversionsTest.cpp`: with registers that hold what others hold.
const UNIT_TESTS: &[(&str, &str)] = &[
    (
        "tensor<8xf16, #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [4], warpsPerCTA = [4], order = [0]}>>",
        "register = [[1], [2]], lane = [[4], [0]], warp = [[0], [0]], block = []",
    ),
    (
        "tensor<2x1x1x1xf16, #ttg.blocked<{sizePerThread = [1, 1, 1, 4], threadsPerWarp = [2, 1, 1, 16], warpsPerCTA = [1, 2, 4, 1], order = [3, 0, 1, 2]}>>",
        "register = [[0, 0, 0, 0], [0, 0, 0, 0]], lane = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], \
         warp = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], block = []",
    ),
    (
        "tensor<16x128xf16, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>>",
        "register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []",
    ),
];

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
