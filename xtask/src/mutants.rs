//! `cargo xtask mutants`: changes one thing after the other in the code, and sees whether a test notices.

use std::path::Path;

use crate::{Outcome, shell};

/// Another version may make other mutants, so it is pinned.
const VERSION: &str = "27.1.0";

/// A change that makes a loop endless is found after so many seconds; the tests of one crate take far less.
const TIMEOUT: &str = "300";

/// `FILE ...`, and options of cargo-mutants, such as `--shard 0/4` and `--list`.
pub fn run(words: &[&str]) -> Outcome {
    let files: Vec<&str> = words.iter().copied().filter(|word| word.ends_with(".rs")).collect();
    if files.is_empty() {
        return Err("which files? `cargo xtask mutants crates/tilework-core/src/layout/build.rs`".to_owned());
    }
    if let Some(missing) = files.iter().find(|file| !shell::root().join(file).is_file()) {
        return Err(format!("{missing} is no file of the project, seen from its root"));
    }
    let program = shell::tools().join("bin/cargo-mutants");
    let is_there = |said: String| said.trim() == format!("cargo-mutants {VERSION}");
    if !shell::quietly(shell::command(&program).args(["mutants", "--version"])).is_ok_and(is_there) {
        shell::install("cargo-mutants", VERSION)?;
    }
    let mut mutants = shell::command(&program);
    mutants
        .args(["mutants", "--workspace", "--timeout", TIMEOUT, "--no-shuffle", "--output"])
        .arg(shell::target());
    // It works on a copy of the project, and so has artifacts of its own.
    mutants.env("CARGO_TARGET_DIR", shell::target().join("mutants"));
    for word in words {
        if files.contains(word) {
            mutants.arg("--file");
        }
        mutants.arg(word);
    }
    for package in files.iter().flat_map(|file| tested_by(file)) {
        mutants.args(["--test-package", package]);
    }
    shell::run(&mut mutants)
}

/// The packages whose tests are about a file. The core is tested by the library that stands on it.
fn tested_by(file: &str) -> Vec<&str> {
    let room = Path::new(file).strip_prefix("crates").ok().and_then(|rest| rest.iter().next()?.to_str());
    match room {
        Some("tilework-core") => vec!["tilework-core", "tilework"],
        Some("tilework-files") => vec!["tilework-files", "tilework-cli"],
        other => other.into_iter().collect(),
    }
}
