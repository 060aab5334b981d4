//! `cargo xtask mutants`: changes one thing after the other in the code, and sees whether a test notices.
//!
//! The work is done by a program of its own (`xtask/mutants`), so that no other chore compiles a parser of Rust.

use crate::{Outcome, shell};

/// `FILE|FOLDER ... [--missed] [--every N [--offset K]]`
pub fn run(words: &[&str]) -> Outcome {
    let cargo = ["run", "--quiet", "--release", "--manifest-path", "xtask/mutants/Cargo.toml", "--"];
    shell::run(shell::cargo().args(cargo).args(words))
}
