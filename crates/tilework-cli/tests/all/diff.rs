//! The contents of two files are compared, whatever they are written in.

use serde_json::Value;

use crate::common::files::{Folder, done};
use crate::common::{run, words};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");

/// A safetensors file of one array of numbers.
fn numbers(values: &[f32]) -> Vec<u8> {
    let bytes = 4 * values.len();
    let head =
        format!(r#"{{"w":{{"dtype":"F32","shape":[2,{}],"data_offsets":[0,{bytes}]}}}}"#, values.len() / 2);
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &data].concat()
}

#[test]
fn the_same_contents_are_equal_in_every_format_and_layout() {
    let folder = Folder::new();
    for (name, to) in [("a.npz", "T(8,128)(2,1)"), ("b.gguf", "column-major"), ("c/", "row-major")] {
        done(&[SAMPLE, &folder.at(name), "--to", to, "--rename", "layers.*=blk.*"]);
        let ran = run(&["diff", SAMPLE, &folder.at(name), "--rename", "layers.*=blk.*"]);
        assert_eq!((ran.code, words(&ran.stdout).as_str()), (0, "equal 6 arrays"), "{name}: {}", ran.stderr);
        let ran = run(&["diff", SAMPLE, &folder.at(name)]);
        assert_eq!(ran.code, 1);
        assert!(words(&ran.stdout).contains("4 arrays: layers.0.attention.weight,"), "{}", ran.stdout);
    }
}

#[test]
fn the_array_of_an_npy_file_goes_by_no_name() {
    let folder = Folder::new();
    done(&[SAMPLE, &folder.at("one.npz"), "--only", "head.bias"]);
    done(&[SAMPLE, &folder.at("other/"), "--only", "head.bias", "--format", "npy"]);
    let npy = folder.at("other/head.bias.npy");
    let copy = folder.at("copy.npy");
    std::fs::copy(&npy, &copy).expect("a copy");
    for pair in [[&npy, &copy], [&copy, &folder.at("one.npz")], [&folder.at("one.npz"), &copy]] {
        let ran = run(&["diff", pair[0], pair[1]]);
        assert_eq!((ran.code, words(&ran.stdout).as_str()), (0, "equal 1 array"), "{pair:?}: {}", ran.stderr);
    }
    assert_eq!(run(&["diff", &copy, SAMPLE]).code, 1);
}

#[test]
fn what_differs_is_named_with_its_first_places() {
    let folder = Folder::new();
    let a = folder.write("a.safetensors", &numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let b = folder.write("b.safetensors", &numbers(&[1.0, 2.0, 3.0, 4.5, 5.0, 5.0]));
    let c = folder.write("c.safetensors", &numbers(&[1.0, 2.0]));
    let ran = run(&["diff", &a, &b]);
    assert_eq!(ran.code, 1);
    let expected = "equal 0 arrays different 1 array w differs 2 elements, the largest difference is 1.0 at 1,0 4 and 4.5 at 1,2 6 and 5";
    assert_eq!(words(&ran.stdout), expected);
    assert_eq!(run(&["diff", &a, &b, "--tolerance", "1"]).code, 0);
    assert_eq!(run(&["diff", &a, &b, "--relative", "0.17"]).code, 0);
    assert_eq!(run(&["diff", &a, &b, "--relative", "0.16"]).code, 1);
    let ran = run(&["diff", &a, &c]);
    assert!(
        ran.code == 1 && words(&ran.stdout).contains("w differs sizes [2,3] and [2,1]"),
        "{}",
        ran.stdout
    );
    for bad in
        [&["diff", &a, "gone"][..], &["diff", &a, &b, "--only", "x"], &["diff", &a, &b, "--tolerance", "-1"]]
    {
        assert_eq!(run(bad).code, 2, "{bad:?}");
    }
    let found: Value = serde_json::from_str(&run(&["diff", "--json", &a, &b]).stdout).expect("JSON");
    let document = include_str!("../../../../docs/json.md");
    let (_, part) = document.split_once("## `tilework diff --json").expect("a part");
    let part = part.split("\n## ").next().expect("its text");
    for object in [&found, &found["different"][0], &found["different"][0]["first"][0]] {
        for field in object.as_object().expect("an object").keys() {
            assert!(part.contains(&format!("`{field}`")), "{field} is not in docs/json.md");
        }
    }
    assert_eq!(found["different"][0]["first"][1]["index"], serde_json::json!([1, 2]));
}
