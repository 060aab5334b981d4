//! `tilework translate`: what is printed where, and the exit codes.

use serde_json::Value;

use crate::common::{Ran, command, run, run_with};

const TILED: &str = "f32[3,5]{1,0:T(2,2)}";

#[test]
fn of_one_notation_the_text_stands_alone() {
    for (text, to, expected) in [
        ("f32[3,5]{0,1}", "torch", "torch.float32 [3, 5] strides [1, 3]\n"),
        ("memref<32x24xf32, strided<[1, 32]>>", "xla", "f32[32,24]{0,1}\n"),
        (
            "torch.float32 [2, 3, 4, 5] torch.channels_last",
            "jax",
            "f32[2,3,4,5] Layout(major_to_minor=(0, 2, 3, 1))\n",
        ),
        (TILED, "jax", "f32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, 2),))\n"),
    ] {
        let Ran { stdout, stderr, code } = run(&["translate", text, "--to", to]);
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, expected, ""), "{text}");
    }
}

#[test]
fn what_cannot_be_said_is_refused_on_standard_error() {
    let Ran { stdout, stderr, code } = run(&["translate", TILED, "--to", "directml"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.starts_with("no: dimension 0 changes its stride"), "{stderr}");
}

#[test]
fn an_unknown_notation_is_answered_with_all_names() {
    let Ran { stdout, stderr, code } = run(&["translate", TILED, "--to", "torhc"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    for name in ["xla", "directml", "mlir", "memref", "numpy", "torch", "jax"] {
        assert!(stderr.contains(name), "{stderr}");
    }
    let Ran { stdout, code, .. } = run(&["translate", "f32[3,5", "--to", "torch"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
}

#[test]
fn without_a_notation_all_of_them_answer() {
    let Ran { stdout, stderr, code } = run(&["translate", TILED]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let (texts, reasons) = stdout.split_once("not in these, and why:").expect("both");
    let texts: Vec<&str> = texts.lines().skip(2).take_while(|line| !line.is_empty()).collect();
    assert!(texts.len() > 2, "{stdout}");
    for line in texts {
        // Every text can be pasted, and is the same buffer.
        let (name, text) = line.trim().split_once(' ').expect("two columns");
        let compared = run(&["compare", TILED, text.trim(), "--sense", "buffer"]);
        assert_eq!(compared.code, 0, "{name}: {}", compared.stdout);
    }
    let directml = reasons.lines().find_map(|line| line.trim().strip_prefix("directml "));
    let why = directml.map(str::trim);
    assert_eq!(why, Some("dimension 0 changes its stride at every multiple of 2"), "{reasons}");
}

#[test]
fn every_array_has_its_name() {
    let tuple = "(f32[2], token[], (s8[3,3]{0,1}, opaque[]))";
    let Ran { stdout, code, .. } = run(&["translate", tuple, "--to", "torch"]);
    assert_eq!((code, stdout.as_str()), (0, "torch.float32 [2]\ntorch.int8 [3, 3] strides [1, 3]\n"));
    let Ran { stdout, .. } = run(&["translate", tuple]);
    assert!(stdout.starts_with("{0}: f32[2]{0}\n") && stdout.contains("\n{2,0}: s8[3,3]{0,1}\n"), "{stdout}");
    let named = r#"{"in": {"DataType": "UINT8", "Sizes": [2]}, "out": {"DataType": "INT64", "Sizes": [3]}}"#;
    let Ran { stdout, .. } = run(&["translate", named]);
    assert!(stdout.starts_with("in: UINT8 [2]\n") && stdout.contains("\nout: INT64 [3]\n"), "{stdout}");
    for nothing in ["token[]", "()", "(token[], opaque[])"] {
        let Ran { stdout, code, .. } = run(&["translate", nothing]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{nothing}");
    }
}

#[test]
fn texts_come_from_standard_input_too() {
    let Ran { stdout, code, .. } =
        run_with(command(&["translate", "--to", "numpy"]), b"# two\nf32[3]\n\nf32[2,3]{0,1}\n");
    assert_eq!((code, stdout.as_str()), (0, "float32 (3,)\nfloat32 (2, 3) strides (4, 8)\n"));
    let Ran { stdout, code, .. } =
        run_with(command(&["translate", "-", "--to", "xla"]), b"float32 (3,)\nnonsense\n");
    assert_eq!((code, stdout.as_str()), (2, "f32[3]{0}\n"));
}

#[test]
fn several_notations_are_told_apart() {
    let Ran { stdout, code, .. } = run(&["translate", "f32[3,5]{0,1}", "--to", "numpy,jax"]);
    let lines: Vec<String> =
        stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "f32[3,5]{0,1}",
        "",
        "numpy float32 (3, 5) strides (4, 12)",
        "jax f32[3,5] Layout(major_to_minor=(1, 0))",
    ];
    assert_eq!((code, &lines[..]), (0, &expected.map(str::to_owned)[..]));
    assert_eq!(run(&["translate", TILED, "--to", "jax,directml"]).code, 1);
}

#[test]
fn json_has_a_text_or_a_reason() {
    let document = include_str!("../../../../docs/json.md");
    let Ran { stdout, code, .. } = run(&["translate", "--json", "f32[3,5]{0,1}", "--to", "torch"]);
    assert_eq!(code, 0);
    assert!(document.contains(&stdout), "not in docs/json.md: {stdout}");
    let Ran { stdout, code, stderr } = run(&["translate", "--json", TILED, "--to", "directml"]);
    assert_eq!((code, stderr.starts_with("no: ")), (1, true));
    let found: Value = serde_json::from_str(&stdout).expect("one object");
    let only = &found["translations"][0];
    assert_eq!((&only["name"], &only["text"]), (&Value::from("directml"), &Value::Null));
    assert_eq!(only["reason"], "dimension 0 changes its stride at every multiple of 2");
    let Ran { stdout, .. } = run(&["translate", "--json", "(f32[2], token[])"]);
    let found: Value = serde_json::from_str(&stdout).expect("one object");
    assert_eq!(found["path"], serde_json::json!([0]));
    let names: Vec<&str> = found["translations"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.contains(&"mlir") && names.contains(&"memref"), "{names:?}");
}
