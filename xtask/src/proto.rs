//! `cargo xtask proto`: the Rust code of the protobuf messages, made from their schemas.
//!
//! The work is done by a program of its own (`xtask/proto`), so that no other chore compiles a protobuf compiler.

use crate::stamp::Made;
use crate::{Outcome, shell};

const MADE: Made = Made {
    name: "proto",
    maker: "",
    files: &[
        "xtask/proto",
        "crates/tilework/proto",
        "crates/tilework/src/dialects/xla/proto/generated",
        "crates/tilework-audit/proto",
        "crates/tilework-audit/src/schema/generated",
    ],
};

/// `[--check]`: with it nothing is written.
pub fn run(words: &[&str]) -> Outcome {
    match words {
        [] => make(&[]).and_then(|()| MADE.note()),
        ["--check"] => make(words),
        _ => Err(format!("cargo xtask proto takes --check or nothing, not `{}`", words.join(" "))),
    }
}

/// Fails if the code is not what the schemas say.
pub fn check() -> Outcome {
    if MADE.is_current() {
        println!("neither the schemas nor the code have changed since it was made");
        return Ok(());
    }
    make(&["--check"])
}

fn make(words: &[&str]) -> Outcome {
    let mut cargo = shell::cargo();
    cargo.args(["run", "--quiet", "--manifest-path", "xtask/proto/Cargo.toml", "--"]).args(words);
    // The generator speaks to cargo as if from a build script.
    let said = shell::quietly(cargo.env("CARGO_TARGET_DIR", shell::target()))?;
    for line in said.lines().filter(|line| !line.starts_with("cargo:")) {
        println!("{line}");
    }
    Ok(())
}
