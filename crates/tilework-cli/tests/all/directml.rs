//! DirectML's descriptors at the command line: wherever a shape is, in files that are checked, and as views.

use std::fs;
use std::path::PathBuf;

use crate::common::{Ran, command, run, run_with, seen};
use serde_json::Value;

const PADDED: &str = "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]";

fn snapshot(name: &str, runs: &[&[&str]]) {
    let text: Vec<String> = runs.iter().map(|args| seen(args)).collect();
    keep(name, &text.join("\n"));
}

fn keep(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// What `check -` says of a JSON text.
fn checked(json: &str, options: &[&str]) -> Ran {
    run_with(command(&[&["check", "-"], options].concat()), json.as_bytes())
}

/// A file of its own for a test.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    fs::write(&path, text).expect("a file for a test");
    path
}

/// Everything said of a check, with its exit code.
fn told(json: &str, options: &[&str]) -> String {
    let Ran { stdout, stderr, code } = checked(json, options);
    format!("$ tilework check - {}\n{json}\n{stdout}{stderr}--- exit code {code}\n", options.join(" "))
}

#[test]
fn show_explains_descriptors() {
    snapshot(
        "directml_show",
        &[
            &["show", "UINT8 [2,3] strides [5,1]"],
            &["show", "UINT8 [2,3] strides [0,1]"],
            &["show", "FLOAT16 NHWC [1,2,3,4] total 64 alignment 32 flags OWNED_BY_DML"],
            &["show", "UINT4 [5]"],
            &["show", "FLOAT32 [3,3] strides [2,2]", "--width", "40"],
        ],
    );
}

#[test]
fn descriptors_stand_where_shapes_do() {
    snapshot(
        "directml_points",
        &[
            &["index", PADDED, "0,0,1,1"],
            &["locate", PADDED, "227", "225"],
            &["parse", "FLOAT16 NHWC [1,64,56,56]", r#"{"DataType":"INT8","Sizes":[2,3]}"#],
            &["compare", "FLOAT32 [2,3] strides [3,1]", "f32[2,3]"],
            &["compare", "FLOAT32 [2,3]", "INT32 [2,3] strides [1,2]"],
        ],
    );
}

#[test]
fn bad_descriptors_are_located() {
    snapshot(
        "directml_bad",
        &[
            &["show", "FLOAT32 [1"],
            &["show", "FLOAT32 [2,0]"],
            &["show", "FLOAT32 [2,3] strides [1]"],
            &["show", "FLOAT32 [4294967295,4294967295,4294967295]"],
            &["show", r#"{"DataType":"INT8","Sizes":[1],"Sizes":[2]}"#],
            &["show", "--strict-xla", "FLOAT32 [2]"],
            &["show", "@there/is/no/such.json"],
            &["view", "f32[2]", "--nhwc"],
            &["view", "FLOAT32 [2]", "--nhwc"],
            &["view", "FLOAT32 [2,3]", "--reshape", "7"],
            &["view", "FLOAT32 [2,3]", "--permute", "0,0"],
            &["view", "FLOAT32 [2,3]", "--flatten", "3"],
            &["view", "FLOAT32 [2,3]"],
            &["check", "nothing.json", "--feature-level", "7_0"],
        ],
    );
}

#[test]
fn xla_words_are_still_xla() {
    for text in ["f32[2]", "F32[2]", "s8[2]"] {
        let object: Value = serde_json::from_str(&run(&["show", "--json", text]).stdout).expect("JSON");
        assert_eq!(object["kind"], "array");
    }
    let object: Value = serde_json::from_str(&run(&["show", "--json", "INT8[2]"]).stdout).expect("JSON");
    assert_eq!((&object["kind"], &object["descriptor"]["data_type"]), (&"descriptor".into(), &"INT8".into()));
}

#[test]
fn a_binding_that_is_too_small_is_told_with_every_term() {
    let json = r#"{"DataType":"FLOAT32","Sizes":[1,3,224,224],"Strides":[153228,51076,226,1]}"#;
    let text = told(json, &["--offset", "200704", "--buffer-bytes", "611096"]);
    assert!(text.contains("811800"), "{text}");
    let issue = told(json, &["--offset", "200708", "--buffer-bytes", "611096"]);
    assert!(issue.contains("offset 200708 + 611096 = 811804"), "{issue}");
    assert!(checked(json, &["--offset", "200704", "--buffer-bytes", "811800"]).code == 0);
    assert!(checked(json, &["--offset", "200704", "--buffer-bytes", "811799"]).code == 1);
    keep("directml_check_binding", &[text, issue].join("\n"));
}

#[test]
fn check_names_every_violation_in_one_pass() {
    let all = r#"[{"DataType":"FLOAT16","Sizes":[5,0,3],"Strides":[9,-1],"Flags":7,"DimensionCount":2,
 "GuaranteedBaseOffsetAlignment":5},
 {"DataType":"float","Sizes":[1,1,1,1,1,1,1,1,1]},
 {"DataType":"FLOAT16","Sizes":[5,55],"TotalTensorSizeInBytes":123},
 {"DataType":"UINT64","Sizes":[4294967295,4294967295,4294967295]}]"#;
    let levels = r#"{"DataType":"INT4","Sizes":[2,3]}"#;
    let right = r#"{"DataType":"INT4","Sizes":[2,3]}"#;
    keep(
        "directml_check",
        &[told(all, &[]), told(levels, &["--feature-level", "2_0"]), told(right, &[])].join("\n"),
    );
}

#[test]
fn what_cannot_be_read_is_located_and_the_rest_is_checked() {
    let texts = [
        r#"{"DataType":"INT8","Sizes":[1,}"#,
        r#"{"a":{"DataType":"INT8","Sizes":[1],"Sizes":[2]},"b":{"DataType":"INT8","Sizes":[0]}}"#,
        r#"{"DataType":"INT8","Sizes":[1.5],"Stride":[1]}"#,
        r#"{"DataType":"INT8"}"#,
        "[]",
        "",
        "17",
    ];
    let text: Vec<String> = texts.iter().map(|text| told(text, &[])).collect();
    assert!(text.iter().all(|text| text.ends_with("--- exit code 2\n")), "{text:?}");
    keep("directml_check_unreadable", &text.join("\n"));
    assert_eq!(run(&["check", "there/is/no/such.json"]).code, 2);
    assert!(run(&["show", "FLAOT32 [2]"]).stderr.contains("a type from FLOAT32"));
    let bytes = run_with(command(&["check", "-"]), b"{\"DataType\":\"\xff\"}");
    assert_eq!(bytes.code, 2);
    assert!(bytes.stderr.contains("0xff at 13 is not UTF-8"), "{}", bytes.stderr);
}

#[test]
fn files_are_read_and_one_of_their_descriptors_can_be_named() {
    let path = file(
        "model.json",
        r#"{"resources":{"in":{"DataType":"UINT8","Sizes":[2,3],"Strides":[5,1]},
            "out":{"DataType":"UINT8","Sizes":[4]}}}"#,
    );
    let at = format!("@{}", path.display());
    let one = format!("{at}#resources.in");
    assert_eq!(run(&["index", &one, "1,2"]).stdout, "7\n");
    assert_eq!(run(&["parse", &at]).stdout, "UINT8 [2,3] strides [5,1]\nUINT8 [4]\n");
    let several = run(&["index", &at, "0"]);
    assert_eq!(several.code, 2);
    assert!(several.stderr.contains("2 arrays are described") && several.stderr.contains("@FILE#NAME"));
    let none = run(&["index", &format!("{at}#nobody"), "0"]);
    assert!(none.code == 2 && none.stderr.contains("nothing is called nobody"), "{}", none.stderr);
    let path = path.display().to_string();
    assert_eq!(run(&["check", &path, &path]).stdout, "4 descriptors: nothing is broken\n");
}

#[test]
fn views_are_told_from_copies() {
    let nhwc = "FLOAT32 NHWC [1,3,8,8]";
    snapshot(
        "directml_view",
        &[
            &["view", "FLOAT32 NHWC [2,3,8,8]", "--reshape", "2,3,64"],
            &["view", nhwc, "--reshape", "1,192"],
            &["view", nhwc, "--flatten", "2"],
            &["view", nhwc, "--flatten", "1"],
            &["view", "FLOAT32 [2,4,5,3]", "--permute", "0,3,1,2"],
            &["view", "FLOAT32 [2,4,5,3]", "--nhwc"],
            &["view", "FLOAT32 [3]", "--broadcast", "2,3"],
            &["view", "--json", "FLOAT32 NHWC [2,3,8,8]", "--reshape", "2,3,64"],
            &["view", "--json", nhwc, "--reshape", "1,192"],
        ],
    );
}

#[test]
fn json_says_what_the_words_say() {
    let json = r#"[{"DataType":"UINT8","Sizes":[2,3],"Strides":[5,1]},{"DataType":"UINT8","Sizes":[0]},{"DataType":"INT8","Sizes":1}]"#;
    let Ran { stdout, code, .. } = checked(json, &["--json", "--offset", "16", "--buffer-bytes", "20"]);
    assert_eq!(code, 2);
    assert!(stdout.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{stdout}");
    let shown = run(&["show", "--json", "UINT8 [2,3] strides [5,1]"]).stdout;
    keep("directml_json", &format!("{stdout}{shown}"));
}

#[test]
fn no_line_is_wider_than_the_width() {
    let json =
        r#"{"DataType":"FLOAT16","Sizes":[5,0,3],"Strides":[9],"Flags":7,"GuaranteedBaseOffsetAlignment":5}"#;
    let padded = r#"{"DataType":"FLOAT32","Sizes":[1,3,224,224],"Strides":[153228,51076,226,1]}"#;
    for width in [20, 27, 40, 61, 80, 120] {
        let columns = width.to_string();
        let bound = ["--offset", "3", "--buffer-bytes", "5", "--width", &columns];
        let outputs = [
            run(&["show", PADDED, "--width", &columns]).stdout,
            run(&["show", "FLOAT64 [2,2,2,2,2,2,2,2] strides [0,1,2,3,4,5,6,7]", "--width", &columns]).stdout,
            run(&["view", PADDED, "--flatten", "1", "--width", &columns]).stdout,
            checked(json, &bound).stdout,
            checked(padded, &bound).stdout,
        ];
        for line in outputs.iter().flat_map(|output| output.lines()) {
            assert!(line.chars().count() <= width, "{} of {width}: {line}", line.chars().count());
        }
    }
    for args in [["show", PADDED, "--ascii"], ["show", "UINT8 [2] strides [0]", "--ascii"]] {
        assert!(run(&args).stdout.is_ascii(), "{args:?}");
    }
    assert!(checked(padded, &["--offset", "3", "--ascii"]).stdout.is_ascii());
}

#[test]
fn many_descriptors_and_many_errors_take_little_time() {
    let right = r#"{"DataType":"UINT8","Sizes":[2,3],"Strides":[5,1]}"#;
    let wrong = r#"{"DataType":"UINT8","Sizes":[2,3],"Sizes":[5,1]}"#;
    let all = format!("[{}]", vec![right; 50_000].join(","));
    assert_eq!(checked(&all, &[]).stdout, "50000 descriptors: nothing is broken\n");
    let all = format!("[{}]", vec![wrong; 5_000].join(","));
    assert_eq!(checked(&all, &[]).stdout, "5000 descriptors, 5000 not readable\n");
    let deep = checked(&"[".repeat(100_000), &[]);
    assert_eq!(deep.code, 2);
}
