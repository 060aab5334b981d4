//! `cargo xtask test`: all checks, two at a time. Every one runs, whatever the others find.

use std::env;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use crate::{Outcome, clock, dependencies, fuzz, header, house, proto, python, shell, soak};

/// A check, by the word that runs it alone.
struct Step {
    word: &'static str,
    about: &'static str,
    lane: Lane,
    run: fn() -> Outcome,
}

/// Steps of one lane run one after the other, beside those of the other lane: one step alone often has no work for a second
/// processor, as when it links, installs packages, or waits for its slowest test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// Steps that are quick, or compile into the folder that all share, where cargo lets in one at a time.
    Shared,
    /// Steps that have a folder of their own, or work most of their time without the compiler.
    Apart,
}

use Lane::{Apart, Shared};

const STEPS: [Step; 13] = [
    Step { word: "format", about: "format", lane: Shared, run: format },
    Step { word: "house", about: "house rules", lane: Shared, run: house::check },
    Step {
        word: "depends",
        about: "sources and terms of dependencies",
        lane: Shared,
        run: dependencies::check,
    },
    Step { word: "header", about: "C header", lane: Shared, run: header::check },
    Step { word: "proto", about: "code of the protobuf messages", lane: Shared, run: proto::check },
    Step { word: "clippy", about: "clippy", lane: Shared, run: clippy },
    Step { word: "tests", about: "tests", lane: Shared, run: tests },
    Step { word: "docs", about: "documentation", lane: Shared, run: documentation },
    Step { word: "examples", about: "examples", lane: Shared, run: examples },
    Step { word: "soak", about: "soak, a short run of each attack", lane: Shared, run: soak::smoke },
    Step { word: "address", about: "copy engine, with the address sanitizer", lane: Shared, run: sanitized },
    Step { word: "fuzz", about: "fuzz, a short run of each target", lane: Apart, run: fuzz::smoke },
    Step { word: "python", about: "Python package", lane: Apart, run: python::test },
];

/// What became of a step.
struct Ran {
    /// Why it failed.
    outcome: Outcome,
    seconds: f64,
    /// What the processors did for it.
    worked: Option<f64>,
}

/// The steps of these words, or all of them.
pub fn run(words: &[&str]) -> Outcome {
    if let Some(unknown) = words.iter().find(|word| named(word).is_none()) {
        return Err(no_step(unknown));
    }
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| words.is_empty() || words.contains(&step.word)).collect();
    let start = Instant::now();
    let ran = match steps[..] {
        [step] => {
            println!("\n== {}", step.about);
            let ran = here(step);
            conclude(step, &ran);
            vec![ran]
        }
        _ => beside_each_other(&steps)?,
    };
    println!("\nall in {:.1} s{}", start.elapsed().as_secs_f64(), of_processor(clock::processor_seconds()));
    for (step, ran) in steps.iter().zip(&ran) {
        let (verdict, worked) = (verdict(&ran.outcome), of_processor(ran.worked));
        println!(
            "{verdict:6}  {:6.1} s{worked}  cargo xtask test {:9} {}",
            ran.seconds, step.word, step.about
        );
    }
    let failures: Vec<String> = steps
        .iter()
        .zip(&ran)
        .filter_map(|(step, ran)| Some(format!("{}: {}", step.word, ran.outcome.as_ref().err()?)))
        .collect();
    println!("{} passed, {} failed", ran.len() - failures.len(), failures.len());
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n  ")) }
}

/// `step WORD`: what `run` starts for each of several steps, so that what a step prints can be kept apart.
pub fn step(word: &str) -> Outcome {
    let step = named(word).ok_or_else(|| no_step(word))?;
    (step.run)()
}

fn named(word: &str) -> Option<&'static Step> {
    STEPS.iter().find(|step| step.word == word)
}

fn no_step(word: &str) -> String {
    let known: Vec<&str> = STEPS.iter().map(|step| step.word).collect();
    format!("no step `{word}`; there are {}", known.join(", "))
}

/// Runs a step in this program.
fn here(step: &Step) -> Ran {
    let (began, worked) = (Instant::now(), clock::processor_seconds());
    let outcome = (step.run)();
    if let Err(why) = &outcome {
        println!("{why}");
    }
    let worked = clock::processor_seconds().zip(worked).map(|(now, before)| now - before);
    Ran { outcome, seconds: began.elapsed().as_secs_f64(), worked }
}

/// Runs each step in a program of its own, those of the two lanes beside each other. What they print appears in the order of
/// the list: that of the first one that has not ended as it comes, that of later ones when it is their turn.
fn beside_each_other(steps: &[&Step]) -> Result<Vec<Ran>, String> {
    let program = env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let (printers, printed): (Vec<_>, Vec<_>) = steps.iter().map(|_| channel()).unzip();
    let work: Vec<(&Step, Sender<Said>)> = steps.iter().copied().zip(printers).collect();
    let (shared, apart): (Vec<_>, Vec<_>) = work.into_iter().partition(|(step, _)| step.lane == Shared);
    thread::scope(|scope| {
        for lane in [shared, apart] {
            let program = &program;
            scope.spawn(move || {
                for (step, said) in lane {
                    let ran = elsewhere(step, program, &said);
                    let _ = said.send(Said::End(ran)); // the one who prints waits for it
                }
            });
        }
        let mut ran = Vec::new();
        for (number, (step, printed)) in steps.iter().zip(printed).enumerate() {
            println!("\n== {} of {}: {}", number + 1, steps.len(), step.about);
            let end = print(&printed).ok_or_else(|| format!("{}: lost", step.word))?;
            conclude(step, &end);
            ran.push(end);
        }
        Ok(ran)
    })
}

/// What a step says to the one who prints.
enum Said {
    Bytes(Vec<u8>),
    End(Ran),
}

/// Prints what a step says until it has ended.
fn print(said: &Receiver<Said>) -> Option<Ran> {
    loop {
        match said.recv().ok()? {
            Said::End(ran) => return Some(ran),
            Said::Bytes(bytes) => {
                let mut out = io::stdout().lock();
                out.write_all(&bytes).and_then(|()| out.flush()).ok()?;
            }
        }
    }
}

/// Runs a step in a program of its own, and says what it prints.
fn elsewhere(step: &Step, program: &Path, said: &Sender<Said>) -> Ran {
    let began = Instant::now();
    let (outcome, worked) = match watched(step, program, said) {
        Ok((outcome, worked)) => (outcome, worked),
        Err(error) => (Err(format!("it did not run: {error}")), None),
    };
    Ran { outcome, seconds: began.elapsed().as_secs_f64(), worked }
}

fn watched(step: &Step, program: &Path, said: &Sender<Said>) -> io::Result<(Outcome, Option<f64>)> {
    let (mut reader, writer) = io::pipe()?;
    let mut child = {
        let mut command = Command::new(program);
        command.args(["step", step.word]).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        if io::stdout().is_terminal() && env::var_os("CARGO_TERM_COLOR").is_none() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        command.spawn()?
    };
    let (mut bytes, mut last) = (vec![0; 1 << 16], Vec::new());
    loop {
        let read = match reader.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => &bytes[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        last.extend_from_slice(read);
        last.drain(..last.len().saturating_sub(LAST));
        let _ = said.send(Said::Bytes(read.to_vec())); // a terminal that is gone wants nothing
    }
    // Until it is waited for, its times can be read, even if it has ended.
    let worked = clock::processor_seconds_of(child.id());
    let status = child.wait()?;
    let outcome = if status.success() { Ok(()) } else { Err(why(&String::from_utf8_lossy(&last), status)) };
    Ok((outcome, worked))
}

/// The bytes at the end of what a step prints that are looked at for why it failed.
const LAST: usize = 1 << 14;

/// Why a step failed, which it says last, as every chore does.
fn why(printed: &str, status: impl std::fmt::Display) -> String {
    let said = printed.rsplit_once("xtask: ").map(|(_, why)| why.trim());
    said.map_or_else(|| format!("it ended with {status}"), str::to_owned)
}

fn conclude(step: &Step, ran: &Ran) {
    let (verdict, worked) = (verdict(&ran.outcome), of_processor(ran.worked));
    println!("== {}: {verdict} in {:.1} s{worked}", step.about, ran.seconds);
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

    #[test]
    fn why_a_step_failed_is_what_it_says_last() {
        assert_eq!(
            why("a\nxtask: no\nmore\nxtask: `b` ended with 1\n  c: 2\n", 1),
            "`b` ended with 1\n  c: 2"
        );
        assert_eq!(why("killed\n", "signal: 9"), "it ended with signal: 9");
    }
}
