//! `convert` into a store: a run that was killed goes on, one at a time writes, and memory is bounded whatever is read.
#![cfg(feature = "stores")]

use std::fs;

use crate::common::files::Folder;
use crate::jobs::{done, elements, json, killed, noise, peak, refused, square, touch};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/model.safetensors");

#[cfg(unix)]
#[test]
fn a_conversion_that_was_killed_goes_on_where_it_was() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 2048);
    let (source, target) = (at("in.npy"), at("out.zarr"));
    let unfinished = folder.0.join(".out.zarr.tilework-unfinished");
    let journal = unfinished.join(".journal");
    let args =
        ["convert", &source, &target, "--to", "chunks (64, 64)", "--compress", "zstd:9", "--threads", "1"];
    let before = killed(&args); // all of them, if it was killed right before its end
    refused(&["ls", &target], "is not there yet");
    // One of them was damaged since.
    let first = fs::read_to_string(&journal).expect("a journal");
    let damaged =
        unfinished.join(first.lines().next().and_then(|line| line.split(' ').nth(2)).expect("a key"));
    let mut bytes = fs::read(&damaged).expect("a chunk");
    *bytes.last_mut().expect("bytes") ^= 1;
    fs::write(&damaged, bytes).expect("a chunk");
    let found = json(&args);
    let kept = found["resumed_files"].as_u64().expect("a number");
    assert!(kept >= 2 && kept <= before as u64, "{kept} of {before} kept");
    done(&["diff", &source, &target]);
    let stored = fs::read_dir(at("out.zarr/c")).expect("a folder").flatten();
    let stored = stored.flat_map(|row| fs::read_dir(row.path()).expect("a folder").flatten());
    let bytes: u64 = stored.map(|chunk| chunk.metadata().expect("a chunk").len()).sum();
    assert_eq!(found["written_bytes"], bytes, "those of the run before count");
    assert_eq!(folder.names(), ["in.npy", "out.zarr"]);
}

#[cfg(unix)]
#[test]
fn what_was_begun_of_something_else_is_begun_again() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 2048);
    let (source, target) = (at("in.npy"), at("out.zarr"));
    let args =
        ["convert", &source, &target, "--to", "chunks (64, 64)", "--compress", "zstd:9", "--threads", "1"];
    killed(&args);
    touch(&source);
    let found = json(&args);
    assert_eq!(found["resumed_files"], 0, "the source has changed");
    fs::remove_dir_all(&target).expect("a folder");
    killed(&args);
    let other = ["convert", &source, &target, "--to", "chunks (64, 128)", "--compress", "zstd:1"];
    assert_eq!(json(&other)["resumed_files"], 0, "other chunks");
    done(&["diff", &source, &target]);
    // Another run writes there, or what has its lock.
    let unfinished = folder.0.join(".x.zarr.tilework-unfinished");
    fs::create_dir(&unfinished).expect("a folder");
    let lock = fs::File::create(unfinished.join(".lock")).expect("a file");
    lock.lock().expect("a lock");
    refused(&["convert", &source, &at("x.zarr")], "another run writes");
    drop(lock);
    done(&["convert", &source, &at("x.zarr")]);
    refused(&["convert", &target, &at("out.zarr/inner.zarr")], "apart from what is read");
    assert_eq!(folder.names(), ["in.npy", "out.zarr", "x.zarr"]);
}

#[test]
fn many_arrays_in_two_passes_are_right_and_leave_nothing() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&["convert", MODEL, &at("m.zarr"), "--compress", "zstd:1"]);
    let more = ["--pad", "embed.*=128,32", "--only", "embed.weight", "--check", "--memory", "1MiB"];
    done(&[&["convert", &at("m.zarr"), &at("padded.zarr")], &more[..]].concat());
    done(&[&["convert", MODEL, &at("padded.safetensors")], &more[..]].concat());
    done(&["diff", &at("padded.zarr"), &at("padded.safetensors")]);
    done(&["convert", &at("m.zarr"), &at("tiled.zarr"), "--to", "T(8,128)(2,1)", "--check"]);
    done(&["convert", &at("tiled.zarr"), &at("again.zarr"), "--compress", "gzip:1", "--check"]);
    done(&["diff", &at("again.zarr"), MODEL]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_conversion_holds_no_more_memory_than_it_may() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    square(&at("in.npy"), 4096); // 64 MiB
    noise(&at("in.npy"), &at("noise.npy"));
    done(&["rechunk", &at("noise.npy"), &at("packed.zarr"), "--chunks", "64,4096", "--compress", "zstd:1"]);
    let most = 40 << 20;
    for (name, from, to, codec) in [
        ("plain", "noise.npy", "chunks (4096, 64)", "none"),
        ("turned", "packed.zarr", "chunks (4096, 64)", "zstd:1"),
        ("tiled", "packed.zarr", "{0,1:T(8,128)}", "none"),
        ("listed", "noise.npy", "{1,0:T(8,128)}", "zstd:1"),
    ] {
        let (from, out) = (at(from), at(&format!("{name}.zarr")));
        let args =
            ["convert", &from, &out, "--to", to, "--compress", codec, "--memory", "40MiB", "--threads", "2"];
        let found = peak(&args);
        assert!(found <= most, "{name}: {found} bytes where {most} may be had");
        assert!(found > 4 << 20, "{name}: {found} bytes; nothing was measured");
        done(&["convert", &out, &at("back.npy"), "--to", "row-major"]);
        assert!(elements(&at("back.npy")) == elements(&at("noise.npy")), "{name}");
        fs::remove_dir_all(out).expect("a folder");
    }
    assert_eq!(folder.names(), ["back.npy", "in.npy", "noise.npy", "packed.zarr"]);
}

#[test]
fn chunks_are_no_list_of_places_and_tiles_are() {
    let folder = Folder::new();
    let weights = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy");
    for (name, layout, is_list) in [
        ("rows", "row-major", false),
        ("chunks", "chunks (16, 64)", false),
        ("shards", "shards (32, 128) chunks (16, 64) order (1, 0)", false),
        ("tiles", "T(8,128)", true),
    ] {
        let said = done(&["convert", weights, &folder.at(name), "--to", layout, "--format", "zarr"]);
        assert_eq!(said.contains("as lists of their places"), is_list, "{layout}: {said}");
    }
}

#[test]
fn metadata_of_more_than_a_disk_is_refused_before_anything_is_made() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    fs::create_dir(at("huge.zarr")).expect("a folder");
    let text = r#"{"zarr_format": 3, "node_type": "array", "shape": [1000000000000000000], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1000000]}}, "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "bytes"}]}"#;
    fs::write(at("huge.zarr/zarr.json"), text).expect("metadata");
    let (from, to) = (at("huge.zarr"), at("new.zarr"));
    let expected = "takes 1000000000000000000 bytes";
    refused(&["convert", &from, &to], expected);
    refused(&["rechunk", &from, &to, "--chunks", "10"], expected);
    refused(&["reshard", &from, &to, "--orbax", "--spec", "{maximal device=0}"], expected);
    // A codec may make next to nothing of a chunk, and a file of each.
    refused(&["rechunk", &from, &to, "--chunks", "1", "--compress", "zstd"], expected);
    assert_eq!(folder.names(), ["huge.zarr"]);
}

#[test]
fn nothing_is_written_into_the_store_that_is_read() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    done(&["convert", MODEL, &at("m.zarr")]);
    let from = at("m.zarr");
    for to in ["m.zarr/x.npz", "m.zarr/x/", "m.zarr/x.zarr", "m.zarr/head.bias/x.safetensors"] {
        refused(&["convert", &from, &at(to)], "what is written is apart from what is read");
    }
    refused(&["reshard", &from, &at("m.zarr/x"), "--spec", "{maximal device=0}"], "is apart from");
    refused(&["rechunk", &from, &at("m.zarr/x"), "--only", "head.bias", "--chunks", "1"], "is apart from");
    done(&["convert", &from, &at("m.zarr.npz")]);
    done(&["diff", &from, MODEL]);
}
