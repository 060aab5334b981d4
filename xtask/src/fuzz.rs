//! `cargo xtask fuzz`, and the short run of each target that belongs to the tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Outcome, shell};

/// The targets, by the names of their files in `fuzz/fuzz_targets`.
const TARGETS: [&str; 8] =
    ["anything", "parse", "layout", "directml", "protos", "audit", "suggest", "relayout"];

/// Those that run unsafe code, and so with the address sanitizer; the others are twice as fast without. The short run does
/// without, as building the kernels with it takes minutes, and the engine's own tests have it.
const SANITIZED: [&str; 1] = ["relayout"];

const VERSION: &str = "0.13.2";

/// `[TARGET] [--seconds N]`
pub fn run(words: &[&str]) -> Outcome {
    let (mut seconds, mut targets) = (60, Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "--seconds" => {
                let number = words.next().and_then(|number| number.parse().ok());
                seconds = number.ok_or("--seconds wants a number, as in `cargo xtask fuzz --seconds 60`")?;
            }
            target if TARGETS.contains(&target) => targets.push(target),
            other => return Err(format!("no fuzz target `{other}`; there are {}", TARGETS.join(", "))),
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    install()?;
    for target in targets {
        // New inputs stay here, out of git's sight, and the next run goes on from them.
        let corpus = shell::root().join("fuzz/corpus").join(target);
        shell::run(fuzz(target, &corpus, true)?.arg(format!("-max_total_time={seconds}")))?;
    }
    Ok(())
}

/// A bounded run of every target, from the seeds and with the same random numbers each time.
pub fn smoke() -> Outcome {
    install()?;
    for target in TARGETS {
        let corpus = shell::target().join("fuzz-smoke").join(target);
        let _ = fs::remove_dir_all(&corpus); // it need not exist
        let bounds = ["-runs=30000", "-max_total_time=20", "-seed=1", "-print_final_stats=1"];
        let output = shell::quietly(fuzz(target, &corpus, false)?.args(bounds))?;
        let inputs = output.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        println!(
            "{target}: {} inputs",
            inputs.ok_or("libFuzzer did not say how many inputs it tried")?.trim()
        );
    }
    Ok(())
}

/// The run of a target; new inputs go to `corpus`.
fn fuzz(target: &str, corpus: &Path, sanitized: bool) -> Result<Command, String> {
    fs::create_dir_all(corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let mut cargo = cargo_fuzz();
    let (sanitizer, folder) =
        if sanitized && SANITIZED.contains(&target) { ("address", "fuzz-address") } else { ("none", "fuzz") };
    cargo.args(["run", "--fuzz-dir", "fuzz", "--sanitizer", sanitizer, "--target-dir"]);
    cargo.arg(shell::target().join(folder)).arg(target).arg(corpus).arg(format!("fuzz/seeds/{target}"));
    cargo.args(["--", "-max_len=256", "-dict=fuzz/words.dict", "-timeout=5"]);
    Ok(cargo)
}

/// `cargo fuzz` with the compiler's unstable flags allowed: instrumentation needs them, also on stable.
fn cargo_fuzz() -> Command {
    let tools = shell::tools().join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools).chain(std::env::split_paths(&path));
    let mut cargo = shell::cargo();
    cargo.arg("fuzz").env("RUSTC_BOOTSTRAP", "1");
    if let Ok(path) = std::env::join_paths(folders) {
        cargo.env("PATH", path);
    }
    cargo
}

fn install() -> Outcome {
    if shell::succeeds(cargo_fuzz().arg("--version")) {
        return Ok(());
    }
    shell::install("cargo-fuzz", VERSION)
}
