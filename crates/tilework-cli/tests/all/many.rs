//! Files that hold many arrays are converted.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::files::{Folder, done, matrix, refused};
use crate::common::{run, words};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");
const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy");

/// What `ls --json` says.
fn listed(path: &str) -> Value {
    let ran = run(&["ls", "--json", path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// Names and layouts.
fn layouts(path: &str) -> Vec<(String, String)> {
    let listed = listed(path);
    let tensors = listed["tensors"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    tensors.iter().map(|tensor| (text(&tensor["name"]), text(&tensor["layout"]))).collect()
}

#[test]
fn a_model_goes_through_layouts_and_formats_and_comes_back() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&[SAMPLE, &at("tiled.safetensors"), "--to", "T(8,128)(2,1)", "--check"]);
    let tiled = layouts(&at("tiled.safetensors"));
    assert!(tiled.contains(&("embed.weight".into(), "bf16[100,32]{1,0:T(8,128)(2,1)}".into())), "{tiled:?}");
    assert!(tiled.contains(&("head.bias".into(), "f32[100]{0}".into())), "{tiled:?}");
    let chain = ["t.npz", "t.gguf", "t/", "u.safetensors"];
    let mut last = at("tiled.safetensors");
    for next in chain {
        done(&[&last, &at(next), "--check"]);
        last = at(next);
    }
    let mut sorted = [tiled, layouts(&last)];
    sorted.iter_mut().for_each(|list| list.sort());
    assert_eq!(sorted[0], sorted[1]);
    // Of the same bytes, whatever way they came.
    done(&[&last, &at("back/"), "--format", "npy", "--to", "row-major", "--check"]);
    done(&[SAMPLE, &at("plain/"), "--format", "npy"]);
    for name in fs::read_dir(at("plain/")).expect("a folder").flatten().map(|entry| entry.file_name()) {
        let [plain, back] = ["plain", "back"].map(|folder| Path::new(folder).join(&name));
        let read = |path: &Path| folder.read(path.to_str().expect("UTF-8"));
        assert!(read(&plain) == read(&back), "{name:?}");
    }
    assert_eq!(fs::read_dir(at("back/")).expect("a folder").count(), 7);
}

#[test]
fn what_a_format_cannot_hold_is_said_before_anything_is_written() {
    let folder = Folder::new();
    let header = r#"{"a":{"dtype":"F32","shape":[1,1,1,1,2],"data_offsets":[0,8]},"c":{"dtype":"U16","shape":[2,2],"data_offsets":[8,16]},"deep":{"dtype":"F32","shape":[1,1,1,1,2],"data_offsets":[16,24]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 24]].concat();
    let (source, out) = (folder.write("model.safetensors", &bytes), folder.at("out.gguf"));
    // All of them at once, by the names that --only knows.
    refused(&[&source, &out, "--rename", "a=b"], "2 of 3 arrays that do not go into GGUF");
    refused(&[&source, &out, "--rename", "a=b"], "accepted: --only '!a' --only '!deep' for all others");
    refused(&[&source, &out, "--only", "a"], "tensor \"a\" of 5 dimensions");
    assert_eq!(folder.names(), ["model.safetensors"]);
    let ran = run(&["convert", &source, &out, "--only", "!a", "--only", "!deep"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        words(&ran.stderr).starts_with("note: GGUF has no elements of type u16: c becomes a list"),
        "{}",
        ran.stderr
    );
    assert_eq!(layouts(&out), [("c".to_owned(), "u16[2,2]{1,0}".to_owned())]);
}

#[test]
fn arrays_are_chosen_renamed_converted_and_made_larger() {
    let folder = Folder::new();
    let out = folder.at("out.safetensors");
    let args = [
        "--only",
        "embed.*",
        "--only",
        "*.bias",
        "--rename",
        "embed.*=token.*",
        "--convert",
        "f16",
        "--pad",
        "embed.*=128,*",
    ];
    let said = done(&[&[SAMPLE, &out, "--check"], &args[..]].concat()).stdout;
    assert!(said.contains("changed    2 arrays"), "{said}");
    let expected = [("token.weight", "f16[128,32]{1,0}"), ("head.bias", "f16[100]{0}")];
    assert_eq!(layouts(&out), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    // Padding is 0, behind the rows that were there.
    let bytes = folder.read("out.safetensors");
    let data = &bytes[bytes.len() - 128 * 64 - 200..];
    assert!(
        data[100 * 64..128 * 64].iter().all(|&byte| byte == 0) && data[..64].iter().any(|&byte| byte != 0)
    );
}

#[test]
fn one_array_goes_into_a_file_of_its_own_and_into_a_container() {
    let folder = Folder::new();
    let (npy, back) = (folder.at("bias.npy"), folder.at("bias.npz"));
    done(&[SAMPLE, &npy, "--only", "head.bias"]);
    done(&[&npy, &back]);
    assert_eq!(layouts(&back), [("bias".to_owned(), "f32[100]{0}".to_owned())]);
    let said = done(&[SAMPLE, &npy, "--only", "embed.*", "--to", "{0,1}", "--convert", "f32"]).stdout;
    assert!(!said.contains("read back"), "{said}");
    let said = words(&done(&[SAMPLE, &npy, "--only", "embed.*", "--to", "T(8,128)(2,1)"]).stdout);
    assert!(said.contains("read back with --from 'bf16[100,32]{1,0:T(8,128)(2,1)}'"), "{said}");
    done(&[&npy, &folder.at("rows.npy"), "--from", "bf16[100,32]{1,0:T(8,128)(2,1)}", "--check"]);
    // A plain npy file to another is what it was before.
    let said = done(&[WEIGHTS, &folder.at("w.npy"), "--to", "{0,1}"]).stdout;
    assert!(said.contains("stored as"), "{said}");
    refused(&[SAMPLE, &npy], "6 arrays in one npy file");
    // With --from the bytes of any file are what it says.
    let raw = folder.write("raw.safetensors", &matrix());
    done(&[&raw, &folder.at("columns.raw"), "--from", "f32[3,5]", "--to", "{0,1}"]);
}

#[test]
fn arrays_that_a_layout_does_not_fit_stay_and_are_named() {
    let folder = Folder::new();
    let out = folder.at("out.safetensors");
    let said = words(&done(&[SAMPLE, &out, "--to", "{0,1}"]).stdout);
    assert!(said.contains("changed 3 arrays"), "{said}");
    assert!(
        said.contains(
            "kept the layout of layers.0.norm.weight, layers.1.norm.weight, head.bias: the layout has 2"
        ),
        "{said}"
    );
    let said = words(&done(&[SAMPLE, &out, "--to", "bf16[96,32]{0,1}"]).stdout);
    assert!(said.contains("changed 2 arrays"), "{said}");
    // Each reason with the names that it is about.
    assert!(said.contains("norm.weight: bf16[96,32]{0,1} is another array than f32[32]"), "{said}");
    assert!(said.contains("head.bias: bf16[96,32]{0,1} is another array than f32[100]"), "{said}");
    // What the layout does not fit has the type that was asked for all the same.
    done(&[SAMPLE, &out, "--to", "T(8,128)(2,1)", "--convert", "bf16", "--check"]);
    let found = layouts(&out);
    assert!(found.contains(&("head.bias".into(), "bf16[100]{0}".into())), "{found:?}");
    // A conversion alone leaves tiles where they are.
    done(&[&out, &folder.at("f32.npz"), "--convert", "f32", "--check"]);
    let found = layouts(&folder.at("f32.npz"));
    assert!(found.contains(&("embed.weight".into(), "f32[100,32]{1,0:T(8,128)(2,1)}".into())), "{found:?}");
    refused(&[SAMPLE, &out, "--to", "{0,1,2}"], "which fits none of the arrays");
    refused(&[SAMPLE, &out, "--to", "{0,1:T(0)}"], "tile size 0");
    refused(&[SAMPLE, &out, "--convert"], "--convert without a type");
    refused(&[SAMPLE, &out, "--convert", "s8"], "which none of the arrays can be converted to");
    refused(&[SAMPLE, &out, "--pad", "embed.*=10,10"], "none of them smaller");
    refused(&[SAMPLE, &out, "--pad", "embed.*"], "--pad embed.*");
    refused(&[SAMPLE, &out, "--only", "x"], "none of the 6 names matches");
    refused(&[SAMPLE, &out, "--only", "!*"], "none of the 6 names matches");
    let said = words(&done(&[SAMPLE, &out, "--only", "!*.norm.*", "--only", "layers.*"]).stdout);
    assert!(said.contains("2 arrays"), "{said}");
    refused(&[SAMPLE, &out, "--rename", "x"], "OLD=NEW");
    refused(&[SAMPLE, &out, "--rename", "*=x"], "two arrays called");
    refused(&[SAMPLE, &folder.at("out.bin")], "its name says what it is written in");
    refused(&[SAMPLE, "-", "--only", "*"], "standard input or output");
    refused(&[SAMPLE, &out, "--only", "*", "--from", "f32[3]"], "--from, of files that hold many arrays");
}

#[test]
fn shards_are_complete_or_absent() {
    let folder = Folder::new();
    let out = folder.at("shards/");
    let said = words(&done(&[SAMPLE, &out, "--shard-size", "7kB", "--check"]).stdout);
    assert!(said.contains("safetensors, 4 files"), "{said}");
    assert_eq!(folder.names(), ["shards"]);
    let index: Value =
        serde_json::from_slice(&folder.read("shards/model.safetensors.index.json")).expect("JSON");
    assert_eq!(index["metadata"]["total_size"], 19344);
    assert_eq!(index["weight_map"]["head.bias"], "model-00003-of-00003.safetensors");
    refused(&[SAMPLE, &out], "exists, with 4 files in it");
    assert_eq!(listed(&out)["files"], 3);
    fs::remove_file(folder.at("shards/model-00002-of-00003.safetensors")).expect("it is there");
    refused(&[&out, &folder.at("x.npz")], "names \"model-00002-of-00003.safetensors\", which is not there");
}

#[test]
fn every_field_of_the_json_is_documented() {
    let folder = Folder::new();
    let ran = run(&["convert", "--json", SAMPLE, &folder.at("x.npz"), "--to", "{0,1}"]);
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let document = include_str!("../../../../docs/json.md");
    let (_, part) = document.split_once("### Files that hold many arrays").expect("a part");
    let part = part.split("\n## ").next().expect("its text");
    for field in answer.as_object().expect("an object").keys() {
        assert!(part.contains(&format!("`{field}`")), "{field} is not in docs/json.md");
    }
    assert_eq!(
        (answer["moved"].as_u64(), answer["kept"][0]["name"].as_str()),
        (Some(3), Some("layers.0.norm.weight"))
    );
    assert_eq!(answer["metadata_left_out"][0], "format");
    assert_eq!(
        answer["written_bytes"].as_u64(),
        fs::metadata(Path::new(&folder.at("x.npz"))).ok().map(|file| file.len())
    );
}

#[test]
fn what_other_readers_see_is_said() {
    let folder = Folder::new();
    let file = folder.at("x.npz");
    let said = words(&done(&[SAMPLE, &file, "--to", "{0,1}", "--convert", "bf16"]).stdout);
    // Columns of bf16: NumPy has an order for them, and no type.
    assert!(said.contains("NumPy itself has no bf16"), "{said}");
    let safetensors = folder.at("x.safetensors");
    let said = words(&done(&[SAMPLE, &safetensors, "--to", "{0,1}"]).stdout);
    assert!(said.contains("stored 3 arrays as lists") && said.contains("--transposed"), "{said}");
    let said = words(&done(&[SAMPLE, &safetensors, "--to", "{0,1}", "--transposed"]).stdout);
    assert!(!said.contains("lists"), "{said}");
    let said = words(&done(&[SAMPLE, &safetensors, "--to", "T(8,128)"]).stdout);
    assert!(said.contains("as lists") && !said.contains("--transposed"), "{said}");
    let said = words(&done(&[&safetensors, &safetensors, "--to", "row-major"]).stdout);
    assert!(said.contains("in place of it"), "{said}");
}

#[test]
fn one_array_may_be_given_tiles_alone_as_well() {
    let folder = Folder::new();
    let (source, out) = (folder.at("in.npy"), folder.at("out.npy"));
    done(&["../../samples/weights.npy", &source, "--to", "row-major"]);
    for (to, stored) in [("T(8,128)", "[24576]"), ("column-major", "[64,300], in Fortran order")] {
        let said = words(&done(&[&source, &out, "--to", to]).stdout);
        assert!(said.contains(stored), "{to}: {said}");
    }
}

#[test]
fn a_file_of_another_kind_hides_no_other() {
    let folder = Folder::new();
    let arrays = folder.at("arrays");
    fs::create_dir(&arrays).expect("a new folder");
    fs::copy("../../samples/weights.npy", folder.at("arrays/weights.npy")).expect("the sample");
    fs::write(folder.at("arrays/cut.npy"), b"\x93NUMPY").expect("a file");
    let answer = listed(&arrays);
    assert_eq!(answer["tensors"].as_array().map(Vec::len), Some(2), "{answer}");
    assert!(answer["tensors"][0]["unread"].is_string(), "{answer}");
    refused(&[&arrays, &folder.at("x.npz")], "--only '!cut'");
    done(&[&arrays, &folder.at("x.npz"), "--only", "!cut"]);
}

#[test]
fn a_misspelt_tile_is_said_to_be_misspelt() {
    let folder = Folder::new();
    // A bias of one dimension, which the tile would not fit either.
    let ran = run(&["convert", SAMPLE, &folder.at("x.npz"), "--to", "T(8,128", "--only", "head.bias"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the text ends here"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("2 dimensions"), "{}", ran.stderr);
}
