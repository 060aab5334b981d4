//! `cargo xtask soak`: attacks that go on for as long as there is time, and the short run of each that belongs to the tests.

use crate::{Outcome, shell};

/// `[--release] [OPTION ...] [ATTACK ...]`: the first is ours, the others are the program's.
pub fn run(words: &[&str]) -> Outcome {
    let mut cargo = shell::cargo();
    cargo.args(["build", "--quiet", "--package", "tilework-soak", "--package", "tilework-cli"]);
    cargo.args(["--features", "tilework-cli/full"]);
    let (ours, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| **word == "--release");
    cargo.args(&ours);
    shell::run(&mut cargo)?;
    attack(if ours.is_empty() { "debug" } else { "release" }, &words)
}

/// The same cases each time, by what the tests have built.
pub fn smoke() -> Outcome {
    shell::run(shell::cargo().args(["build", "--quiet", "--workspace", "--bins", "--examples"]))?;
    attack("debug", &["--short"])
}

/// The command is attacked as it lies beside the program.
fn attack(folder: &str, words: &[&str]) -> Outcome {
    let program = shell::target().join(folder).join("soak");
    shell::run(shell::command(program.with_extension(std::env::consts::EXE_EXTENSION)).args(words))
}
