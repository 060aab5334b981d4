//! `tilework block`: what is said of blocks of Pallas kernels, and the exit codes.

use serde_json::{Value, json};

use crate::common::{Ran, command, run, run_with};
use crate::snapshots::check;

/// Arrays, block shapes, and whether they are legal by the rule.
const CASES: [(&str, &str, bool); 26] = [
    ("f32[1024,100]", "8,100", true),
    ("f32[1024,100]", "(8, 128)", true),
    ("f32[1024,100]", "4,100", false),
    ("f32[1024,100]", "8,64", false),
    ("f32[4,100]", "4,100", true),
    ("bf16[512,512]", "100,200", false),
    ("bf16[512,512]", "8,128", true),
    ("bf16[512,512]", "104,256", true),
    ("s8[512,512]", "8,128", true),
    ("pred[512,512]", "8,128", true),
    ("f32[4,8,128]", "3,8,128", true),
    ("f32[4,8,128]", "None,8,128", true),
    ("f32[4,8,128]", "1,None,128", false),
    ("f32[4,1,128]", "1,None,128", true),
    ("f32[4,8,128]", "[None,8,None]", false),
    ("f32[3000]", "1024", true),
    ("f32[3000]", "(3000,)", true),
    ("f32[3000]", "3072", true),
    ("f32[3000]", "128", true),
    ("f32[3000]", "384", false),
    ("f32[3000]", "64", false),
    ("bf16[3000]", "128", false),
    ("bf16[3000]", "256", true),
    ("pred[3000]", "128", true),
    ("s8[3000]", "None", false),
    ("f32[]", "()", false),
];

/// The rule as JAX's documents and messages say it.
fn is_legal(dims: &[u64], bits: u64, block: &[Option<u64>]) -> bool {
    let sizes: Vec<u64> = block.iter().map(|size| size.unwrap_or(1)).collect();
    match (dims, &sizes[..]) {
        ([], _) => false,
        ([array], [size]) => {
            size == array || size % 1024 == 0 || *size >= 128 * 32 / bits && size.count_ones() == 1
        }
        ([.., rows, columns], [.., high, wide]) => {
            (high % 8 == 0 || high == rows) && (wide % 128 == 0 || wide == columns)
        }
        _ => unreachable!("as many dimensions"),
    }
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).expect("one object")
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().map(|number| number.as_u64().expect("a number")).collect()
}

fn sizes(list: &Value) -> Vec<Option<u64>> {
    list.as_array().expect("a list").iter().map(Value::as_u64).collect()
}

#[test]
fn blocks_are_legal_by_the_rule_and_the_exit_code_says_so() {
    for (array, block, expected) in CASES {
        let Ran { stdout, stderr, code } = run(&["block", "--json", array, block]);
        assert_eq!((code, stderr.as_str()), (if expected { 0 } else { 1 }, ""), "{array} {block}");
        let found = object(&stdout);
        assert_eq!(found["legal"], expected, "{stdout}");
        let bits = match &array[..3] {
            "s8[" => 8,
            "bf1" => 16,
            _ => 32,
        };
        let each = found["dimensions"].as_array().expect("a list");
        let dims: Vec<u64> = each.iter().map(|dim| dim["array"].as_u64().expect("a size")).collect();
        assert_eq!(is_legal(&dims, bits, &sizes(&found["block"])), expected, "{stdout}");
        assert_eq!(!dims.is_empty() && each.iter().all(|dim| dim["legal"] == true), expected, "{stdout}");
        for near in found["nearest"].as_array().expect("a list") {
            assert!(is_legal(&dims, bits, &sizes(&near["block"])), "{stdout}");
        }
        let is_empty = found["nearest"].as_array().is_some_and(Vec::is_empty);
        assert_eq!(is_empty, expected || dims.is_empty(), "{stdout}");
        // The same in words, which say why.
        let words = run(&["block", array, block]);
        assert_eq!((words.code, words.stderr.as_str()), (code, ""));
        assert_eq!(words.stdout.contains("refuses"), !expected, "{}", words.stdout);
    }
}

#[test]
fn blocks_are_counted_as_they_lie_over_the_array() {
    let Ran { stdout, .. } = run(&["block", "--json", "bf16[512,512]", "100,200"]);
    let found = object(&stdout);
    assert_eq!(numbers(&found["grid"]), [6, 3]);
    assert_eq!(found["blocks"], 18);
    assert_eq!(found["dimensions"][0]["outside"], 600 - 512);
    assert_eq!(found["outside_elements"], 600 * 600 - 512 * 512);
    assert_eq!(found["vmem"]["allocated_bytes"], 104 * 256 * 2);
    assert_eq!(found["pipeline_bytes"], 2 * 104 * 256 * 2);
    let near: Vec<&Value> =
        found["nearest"].as_array().expect("a list").iter().map(|near| &near["block"]).collect();
    assert_eq!(near, [&json!([96, 128]), &json!([104, 128]), &json!([96, 256]), &json!([104, 256])]);
}

#[test]
fn arrays_are_read_in_any_notation_and_blocks_from_standard_input() {
    let blocks = b"# two\n8,100\n\n4, None\n";
    for array in
        ["f32[1024,100]{0,1}", "float32 (1024, 100)", "memref<1024x100xf32>", "f32[1024,100] tt_tile"]
    {
        let Ran { stdout, code, .. } = run_with(command(&["block", "--json", array]), blocks);
        let legal: Vec<bool> = stdout.lines().map(|line| object(line)["legal"] == true).collect();
        assert_eq!((code, &legal[..]), (1, &[true, false][..]), "{array}: {stdout}");
    }
}

#[test]
fn every_field_is_documented() {
    let document = include_str!("../../../../docs/json.md");
    let (_, section) = document.split_once("## `tilework block --json").expect("a section");
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    let Ran { stdout, .. } = run(&["block", "--json", "bf16[512,512]", "100,200"]);
    let found = object(&stdout);
    for object in [&found, &found["dimensions"][0], &found["vmem"], &found["nearest"][0]] {
        for field in object.as_object().expect("an object").keys() {
            assert!(section.contains(&format!("`{field}`")), "{field}");
        }
    }
}

#[test]
fn what_is_no_block_is_bad_input() {
    for (array, block, expected) in [
        ("f32[8,128]", "8", "a block shape of 1 dimension"),
        ("f32[8,128]", "8,0", "a block of size 0"),
        ("f32[8,128]", "8,", "nothing where a number should be"),
        ("f32[8,128]", "8,-1", "a negative number"),
        ("f32[8,128]", "none,8", "not a number"),
        ("f64[8,128]", "8,128", "elements of 64 bits"),
        ("token[]", "8", "token"),
        ("f32[?,128]", "8,128", "known at run time"),
        ("f32[8,128]", "99999999999,99999999999", "overflow 63 bits"),
    ] {
        let Ran { stdout, stderr, code } = run(&["block", array, block]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{array} {block}: {stderr}");
        assert!(stderr.contains(expected), "{array} {block}: {stderr}");
    }
}

#[test]
fn a_page_says_why_what_it_costs_and_what_is_near() {
    check(
        "block",
        &[
            &["block", "bf16[512,512]", "100,200"],
            &["block", "f32[1024,100]", "8,100"],
            &["block", "f32[4,8,128]", "1,None,128"],
            &["block", "s8[3000]", "384"],
            &["block", "f32[]", "()", "--ascii", "--width", "60"],
        ],
    );
}
