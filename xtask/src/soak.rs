//! `cargo xtask soak`: attacks that go on for as long as there is time, and the short run of each that belongs to the tests.

use std::path::Path;
use std::process::Command;

use crate::{Outcome, arm, shell};

/// `[--release] [--arm] [OPTION ...] [ATTACK ...]`: the first two are ours, the others are the program's.
pub fn run(words: &[&str]) -> Outcome {
    let (ours, words): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| matches!(**word, "--release" | "--arm"));
    let [is_optimised, is_for_arm] = ["--release", "--arm"].map(|word| ours.contains(&word));
    let mut cargo = if is_for_arm { arm::cargo("build")? } else { shell::cargo() };
    if !is_for_arm {
        cargo.args(["build", "--quiet"]);
    }
    cargo.args([
        "--package",
        "tilework-soak",
        "--package",
        "tilework-cli",
        "--features",
        "tilework-cli/full",
    ]);
    if is_optimised {
        cargo.arg("--release");
    }
    shell::run(&mut cargo)?;
    let profile = if is_optimised { "release" } else { "debug" };
    let mut attack = match is_for_arm {
        // It starts itself and the command, and each needs the emulator.
        true => arm::emulated(&arm::built(profile).join("soak")),
        false => native(profile),
    };
    if is_for_arm {
        attack.env("TILEWORK_EMULATOR", arm::EMULATOR);
    }
    shell::run(attack.args(words))
}

/// The same cases each time, by what the tests have built.
pub fn smoke() -> Outcome {
    shell::run(shell::cargo().args(["build", "--quiet", "--workspace", "--bins", "--examples"]))?;
    shell::run(native("debug").arg("--short"))
}

/// The program; the command is attacked as it lies beside it.
fn native(profile: &str) -> Command {
    let program = shell::target().join(profile).join("soak");
    shell::command(Path::new(&program).with_extension(std::env::consts::EXE_EXTENSION))
}
