//! `cargo xtask test`: all checks, the quick ones first. Every one runs, whatever the others find.

use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use crate::{Outcome, clock, dependencies, fuzz, header, house, proto, python, shell, soak};

/// A check, by the word that runs it alone.
struct Step {
    word: &'static str,
    about: &'static str,
    run: fn() -> Outcome,
}

const STEPS: [Step; 13] = [
    Step { word: "format", about: "format", run: format },
    Step { word: "house", about: "house rules", run: house::check },
    Step { word: "depends", about: "sources and terms of dependencies", run: dependencies::check },
    Step { word: "header", about: "C header", run: header::check },
    Step { word: "proto", about: "code of the protobuf messages", run: proto::check },
    Step { word: "clippy", about: "clippy", run: clippy },
    Step { word: "tests", about: "tests", run: tests },
    Step { word: "python", about: "Python package", run: python::test },
    Step { word: "docs", about: "documentation", run: documentation },
    Step { word: "examples", about: "examples", run: examples },
    Step { word: "soak", about: "soak, a short run of each attack", run: soak::smoke },
    Step { word: "address", about: "copy engine, with the address sanitizer", run: sanitized },
    Step { word: "fuzz", about: "fuzz, a short run of each target", run: fuzz::smoke },
];

/// The steps of these words, or all of them.
pub fn run(words: &[&str]) -> Outcome {
    if let Some(unknown) = words.iter().find(|word| !STEPS.iter().any(|step| step.word == **word)) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.word).collect();
        return Err(format!("no step `{unknown}`; there are {}", known.join(", ")));
    }
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| words.is_empty() || words.contains(&step.word)).collect();
    let start = Instant::now();
    let mut ran = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        println!("\n== {} of {}: {}", number + 1, steps.len(), step.about);
        let (began, worked) = (Instant::now(), clock::processor_seconds());
        let outcome = (step.run)();
        let seconds = began.elapsed().as_secs_f64();
        let worked = clock::processor_seconds().zip(worked).map(|(now, before)| now - before);
        if let Err(why) = &outcome {
            println!("{why}");
        }
        println!("== {}: {} in {seconds:.1} s{}", step.about, verdict(&outcome), of_processor(worked));
        ran.push((step, outcome, seconds, worked));
    }
    println!("\nall in {:.1} s{}", start.elapsed().as_secs_f64(), of_processor(clock::processor_seconds()));
    for (step, outcome, seconds, worked) in &ran {
        let (verdict, worked) = (verdict(outcome), of_processor(*worked));
        println!("{verdict:6}  {seconds:6.1} s{worked}  cargo xtask test {:9} {}", step.word, step.about);
    }
    let failures: Vec<String> = ran
        .iter()
        .filter_map(|(step, outcome, ..)| Some(format!("{}: {}", step.word, outcome.as_ref().err()?)))
        .collect();
    println!("{} passed, {} failed", ran.len() - failures.len(), failures.len());
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n  ")) }
}

fn verdict(outcome: &Outcome) -> &'static str {
    if outcome.is_ok() { "passed" } else { "failed" }
}

/// What the processors did, which does not depend on what else they had to do.
fn of_processor(seconds: Option<f64>) -> String {
    seconds.map(|seconds| format!(", {seconds:6.1} s of processor time")).unwrap_or_default()
}

fn format() -> Outcome {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))?;
    for apart in ["fuzz", "bench/peers", "xtask/mutants", "xtask/proto"] {
        shell::run(
            shell::cargo().args(["fmt", "--check", "--manifest-path"]).arg(format!("{apart}/Cargo.toml")),
        )?;
    }
    Ok(())
}

fn clippy() -> Outcome {
    let words = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(words))?;
    // The package for Python turns on features of the command and the libraries, which also have to be right without: it is
    // what `cargo run` builds.
    let rooms = ["--package", "tilework", "--package", "tilework-audit", "--package", "tilework-cli"];
    let words = ["--all-targets", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(["clippy", "--quiet"]).args(rooms).args(words))
}

/// Unit, story and documentation tests.
fn tests() -> Outcome {
    shell::run(seeded(&mut shell::cargo()).args(["test", "--quiet", "--workspace", "--no-fail-fast"]))
}

/// Random tests draw the same inputs in every run, so that this passes for everybody if it passes for one; other inputs are what
/// `PROPTEST_RNG_SEED` and `cargo test` itself are for.
fn seeded(cargo: &mut Command) -> &mut Command {
    const SEED: &str = "PROPTEST_RNG_SEED";
    if env::var_os(SEED).is_none() {
        cargo.env(SEED, "20251122");
    }
    cargo
}

/// Of the libraries: the command and the library have one name, and their pages would overwrite each other.
fn documentation() -> Outcome {
    let words = ["doc", "--quiet", "--workspace", "--lib", "--no-deps"];
    shell::run(shell::cargo().args(words).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Runs every `crates/*/examples/*.rs`, as the tests have built them.
fn examples() -> Outcome {
    shell::run(shell::cargo().args(["build", "--quiet", "--workspace", "--examples"]))?;
    let mut ran = 0;
    for room in entries(&shell::root().join("crates")) {
        for example in entries(&room.join("examples")) {
            let Some(name) = example.file_stem() else { continue };
            if example.extension().is_some_and(|extension| extension == "rs") {
                println!("-- {}", name.display());
                let program = shell::target().join("debug/examples").join(name);
                shell::run(&mut shell::command(program.with_extension(env::consts::EXE_EXTENSION)))?;
                ran += 1;
            }
        }
    }
    println!("{ran} examples");
    Ok(())
}

/// The tests of the room with unsafe code once more, with every access to memory checked. Only this room is compiled with the
/// sanitizer: memory that others allocate is known to it as well, and what they do with it is safe.
fn sanitized() -> Outcome {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        println!("only on x86-64 with Linux");
        return Ok(());
    }
    let words = ["rustc", "--quiet", "--package", "tilework-copy", "--lib", "--profile", "test"];
    let mut cargo = shell::cargo();
    cargo.args(words).args(["--message-format", "json-render-diagnostics", "--", "-Zsanitizer=address"]);
    // The compiler's unstable flags are allowed, as for the fuzz targets.
    let said = shell::quietly(cargo.env("RUSTC_BOOTSTRAP", "1"))?;
    let program = said.lines().rev().find_map(executable).ok_or("cargo did not say where the tests are")?;
    let mut tests = shell::command(program);
    tests.current_dir(shell::root().join("crates/tilework-copy")).arg("--quiet");
    // A bus error is ours to handle: a mapped file that is cut short is one, and tests wait for it.
    shell::run(seeded(&mut tests).env("ASAN_OPTIONS", "handle_sigbus=0"))
}

/// The program that a message of cargo's is about.
fn executable(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    Some(rest.split_once('"')?.0)
}

/// What is in a folder, by name; nothing if there is no such folder.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<_> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_about_a_program_names_one() {
        let library = r#"{"reason":"compiler-artifact","executable":null,"fresh":true}"#;
        let program = r#"{"reason":"compiler-artifact","executable":"/a/b-1","fresh":false}"#;
        assert_eq!([library, program].map(executable), [None, Some("/a/b-1")]);
    }
}
