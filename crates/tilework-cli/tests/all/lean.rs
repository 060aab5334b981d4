//! What the command says of itself where it was compiled without its features, or with all of them.

use std::path::Path;

use crate::common::files::Folder;
use crate::common::run;

#[test]
fn protobuf_messages_are_read_or_said_to_be_left_out() {
    let read =
        ["parse", "--from-format", "text", "element_type: F32 dimensions: 3 layout { minor_to_major: 0 }"];
    let written = ["parse", "--format", "text", "f32[3]"];
    for words in [&read[..], &written[..]] {
        let ran = run(words);
        assert_eq!(ran.code, if cfg!(feature = "proto") { 0 } else { 2 }, "{}", ran.stderr);
        if !cfg!(feature = "proto") {
            assert!(ran.stderr.contains("protobuf messages are not in this build"), "{}", ran.stderr);
            assert!(ran.stderr.contains("`cargo run --release --features full`"), "{}", ran.stderr);
        }
    }
}

#[test]
fn serialised_modules_are_read_or_said_to_be_left_out() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tilework-audit/tests/twins/tr/tr.hlo.pb");
    let ran = run(&["audit", &file.to_string_lossy()]);
    let seen = format!("{}{}", ran.stdout, ran.stderr);
    let is_left_out = seen.contains("this build cannot read") && seen.contains("--features full");
    assert_eq!(is_left_out, !cfg!(feature = "proto"), "{seen}");
    assert_eq!(ran.code, if cfg!(feature = "proto") { 0 } else { 2 }, "{seen}");
}

#[test]
fn scripts_for_shells_are_written_or_said_to_be_left_out() {
    let ran = run(&["completions", "bash"]);
    assert_eq!(ran.code, if cfg!(feature = "completions") { 0 } else { 2 }, "{}", ran.stderr);
    if !cfg!(feature = "completions") {
        assert!(ran.stderr.contains("scripts for shells are not in this build"), "{}", ran.stderr);
    }
}

#[test]
fn zarr_stores_are_read_or_said_to_be_left_out() {
    let folder = Folder::new();
    let (store, weights) =
        (folder.at("w.zarr"), concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy"));
    let is_read = cfg!(feature = "stores");
    let written = run(&["convert", weights, &store]);
    if !is_read {
        std::fs::create_dir(&store).expect("a folder");
        std::fs::write(format!("{store}/zarr.json"), "{}").expect("a file");
    }
    for ran in [written, run(&["ls", &store]), run(&["diff", &store, weights])] {
        assert_eq!(ran.code, if is_read { 0 } else { 2 }, "{}", ran.stderr);
        if !is_read {
            assert!(ran.stderr.contains("Zarr stores are not in this build"), "{}", ran.stderr);
            assert!(ran.stderr.contains("`cargo run --release --features full`"), "{}", ran.stderr);
        }
    }
}

#[test]
fn addresses_of_stores_are_asked_or_said_to_be_left_out() {
    let folder = Folder::new();
    let weights = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/weights.npy");
    let plan = folder.at("plan.json");
    for words in [
        &["ls", "s3://bucket/a.zarr"][..],
        &["diff", "https://host.invalid/a.zarr", weights],
        &["convert", weights, "s3://bucket/a.zarr"],
        &["rechunk", weights, "s3://bucket/a.zarr", "--chunks", "8,8", "--save-plan", &plan],
    ] {
        if cfg!(feature = "objects") {
            continue; // `cargo xtask objects` has a server for them
        }
        let ran = run(words);
        // A plan is made without asking where it will be written.
        if words[0] == "rechunk" && cfg!(feature = "stores") {
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let ran = run(&["run-tasks", &plan]);
            assert!(ran.code == 2 && ran.stderr.contains("not in this build"), "{}", ran.stderr);
            continue;
        }
        let seen = ran.stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert_eq!(ran.code, 2, "{seen}");
        assert!(seen.contains("not in this build"), "{seen}");
        assert!(words[0] == "rechunk" || seen.contains("--features full,objects"), "{seen}");
    }
}
