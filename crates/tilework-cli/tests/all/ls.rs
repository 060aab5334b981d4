//! What is in files of named arrays.

use serde_json::Value;

use crate::common::files::Folder;
use crate::common::{Ran, command, run, run_with};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");

/// A safetensors file with this header.
fn file(header: &str, bytes: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![7; bytes]].concat()
}

fn hostile() -> Vec<u8> {
    let header = r#"{"__metadata__":{"tilework.layout.w":"bf16[64,300]{1,0:T(8,128)(2,1)}","by":"\u001b[2J"},
        "w":{"dtype":"BF16","shape":[24576],"data_offsets":[0,49152]},
        "a name that is longer than what is left beside the columns, and goes on":{"dtype":"F32","shape":[],"data_offsets":[49152,49156]},
        "\u001b[2Jred":{"dtype":"F8_NEW","shape":[2],"data_offsets":[49156,49158]}}"#;
    file(header, 49158)
}

#[test]
fn what_is_in_a_file_fits_80_columns() {
    let folder = Folder::new();
    folder.write("x.safetensors", &hostile());
    std::fs::copy(SAMPLE, folder.at("model.safetensors")).expect("a copy");
    // Within the folder: where a line is wrapped depends on the length of names.
    let shown = |args: &[&str]| {
        let mut ls = command(&[&["ls"], args].concat());
        ls.current_dir(&folder.0);
        let Ran { stdout, stderr, code } = run_with(ls, b"");
        assert_eq!(code, 0, "{stderr}");
        format!("$ tilework ls {}\n{stdout}{stderr}", args.join(" "))
    };
    let text = [
        shown(&["model.safetensors"]),
        shown(&["model.safetensors", "--only", "layers.*.norm.*", "--only", "head.?ias"]),
        shown(&["x.safetensors"]),
    ]
    .join("\n");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(
        text.lines().filter(|line| !line.starts_with('$')).all(|line| line.chars().count() <= 80),
        "{text}"
    );
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("ls", text);
    });
}

#[test]
fn patterns_that_no_name_is_of_and_files_that_are_none_are_errors() {
    let ran = run(&["ls", SAMPLE, "--only", "nothing*"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("none of the 6 names matches") && ran.stderr.contains("embed.weight"),
        "{}",
        ran.stderr
    );
    let ran = run(&["ls", "no/such.npz", SAMPLE]);
    assert_eq!(ran.code, 2);
    assert!(ran.stdout.contains("head.bias") && ran.stderr.contains("no/such.npz"), "{}", ran.stderr);
}

#[test]
fn every_field_of_the_json_is_documented() {
    let folder = Folder::new();
    let path = folder.write("x.safetensors", &hostile());
    let listed: Value = serde_json::from_str(&run(&["ls", "--json", &path]).stdout).expect("JSON");
    let document = include_str!("../../../../docs/json.md");
    let (_, part) = document.split_once("## `tilework ls --json").expect("a part");
    let part = part.split("\n## ").next().expect("its text");
    for object in [&listed, &listed["tensors"][0]] {
        for field in object.as_object().expect("an object").keys() {
            assert!(part.contains(&format!("`{field}`")), "{field} is not in docs/json.md");
        }
    }
    let first = &listed["tensors"][0];
    assert_eq!(first["layout"], "bf16[64,300]{1,0:T(8,128)(2,1)}");
    assert_eq!((first["bytes"].as_u64(), first["padding_bytes"].as_u64()), (Some(49152), Some(10752)));
    assert_eq!((listed["bytes"].as_u64(), listed["elements"].as_u64()), (Some(49158), Some(19201)));
    assert_eq!(listed["metadata"]["by"], "\u{1b}[2J");
    assert!(listed["tensors"][2]["unread"].as_str().is_some_and(|why| why.contains("F8_NEW")), "{listed}");
}
