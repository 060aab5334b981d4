//! `cargo xtask proto`: the Rust code of the protobuf messages, made from their schemas.
//!
//! The work is done by a program of its own (`xtask/proto`), so that no other chore compiles a protobuf compiler.

use crate::{Outcome, shell};

/// `[--check]`: with it nothing is written.
pub fn run(words: &[&str]) -> Outcome {
    match words {
        [] | ["--check"] => {
            let mut cargo = shell::cargo();
            cargo.args(["run", "--quiet", "--package", "xtask-proto", "--"]).args(words);
            // The generator speaks to cargo as if from a build script.
            let said = shell::quietly(cargo.env("CARGO_TARGET_DIR", shell::target()))?;
            for line in said.lines().filter(|line| !line.starts_with("cargo:")) {
                println!("{line}");
            }
            Ok(())
        }
        _ => Err(format!("cargo xtask proto takes --check or nothing, not `{}`", words.join(" "))),
    }
}

/// Fails if the code is not what the schemas say.
pub fn check() -> Outcome {
    run(&["--check"])
}
