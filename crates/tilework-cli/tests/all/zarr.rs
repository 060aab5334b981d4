//! Zarr stores are listed, converted and compared beside files.

use std::fs;

use crate::common::files::{Folder, done, refused};
use crate::common::run;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");
const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy");

#[test]
fn an_array_goes_into_chunks_and_comes_back() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for (number, to) in
        ["chunks (16, 64)", "shards (32, 128) chunks (16, 64)", "{0,1}", "{1,0:T(8,128)}", "row-major"]
            .iter()
            .enumerate()
    {
        for codec in ["none", "zstd:1", "gzip"] {
            let (store, back) = (at(&format!("{number}{codec}.zarr")), at("back.npy"));
            done(&[WEIGHTS, &store, "--to", to, "--compress", codec, "--check", "--memory", "1MiB"]);
            assert_eq!(run(&["diff", &store, WEIGHTS]).code, 0, "{to}");
            let order = if to.contains('T') { "row-major" } else { "" };
            let words = [&store, &back, "--check", "--to", order];
            done(&words[..if order.is_empty() { 3 } else { 5 }]);
            assert!(folder.read("back.npy") == fs::read(WEIGHTS).expect("a sample"), "{to} {codec}");
        }
    }
    let listed = run(&["ls", &at("1none.zarr")]).stdout;
    assert!(listed.contains("shards (32, 128) chunks (16, 64)") && listed.contains("21 KiB"), "{listed}");
}

#[test]
fn a_model_is_a_group_and_keeps_its_layouts_and_metadata() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&[
        SAMPLE,
        &at("m.zarr"),
        "--to",
        "T(8,128)(2,1)",
        "--rename",
        "layers.*=layers/*",
        "--compress",
        "zstd",
    ]);
    let listed = run(&["ls", &at("m.zarr")]).stdout;
    assert!(
        listed.contains("layers/0.attention.weight") && listed.contains("{1,0:T(8,128)(2,1)}"),
        "{listed}"
    );
    done(&[&at("m.zarr"), &at("m.safetensors"), "--rename", "layers/*=layers.*"]);
    done(&[SAMPLE, &at("tiled.safetensors"), "--to", "T(8,128)(2,1)"]);
    let said = run(&["diff", &at("m.safetensors"), &at("tiled.safetensors")]);
    assert_eq!(said.code, 0, "{}", said.stdout);
    let layouts = |name: &str| {
        let listed = run(&["ls", "--json", &at(name)]).stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
        assert_eq!(listed["metadata"]["format"], "pt");
        let mut found: Vec<String> = listed["tensors"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|tensor| format!("{} {}", tensor["name"], tensor["layout"]))
            .collect();
        found.sort();
        found
    };
    assert_eq!(layouts("m.safetensors"), layouts("tiled.safetensors"));
}

#[test]
fn what_a_store_cannot_be_is_said() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&[WEIGHTS, &at("w.zarr")]);
    for (words, found) in [
        (vec![WEIGHTS, &at("w.zarr")], "exists, and is not empty"),
        (vec![WEIGHTS, &at("x.zarr"), "--compress", "lzma"], "the compression \"lzma\""),
        (vec![WEIGHTS, &at("x.npy"), "--compress", "zstd"], "is no Zarr store"),
        (vec![WEIGHTS, &at("x.zarr"), "--shard-size", "1MB"], "--to 'shards"),
        (vec![WEIGHTS, &at("x.zarr"), "--to", "chunks (16, 64, 2)"], "a chunk of 3 sizes"),
        (vec![WEIGHTS, &at("x.zarr"), "--to", "shards (5, 5) chunks (2, 2)"], "shards of 5 and chunks of 2"),
        (vec![SAMPLE, &at("x.zarr"), "--rename", "embed.*=../*"], "the name of a folder in the store"),
        (
            vec![SAMPLE, &at("x.zarr"), "--rename", "embed.*=a", "--rename", "head.*=a/*"],
            "an array or a group",
        ),
        (vec!["-", &at("x.zarr")], "standard input"),
    ] {
        refused(&words, found);
        assert!(!folder.names().iter().any(|name| name.contains('x')), "{words:?}");
    }
}
