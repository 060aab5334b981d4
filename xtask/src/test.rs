//! `cargo xtask test`: all checks, the quick ones first; the first failure ends it.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::{Outcome, fuzz, header, house, proto, python, shell};

struct Step {
    name: &'static str,
    run: fn() -> Outcome,
}

const STEPS: [Step; 11] = [
    Step { name: "format", run: format },
    Step { name: "house rules", run: house::check },
    Step { name: "C header", run: header::check },
    Step { name: "code of the protobuf messages", run: proto::check },
    Step { name: "clippy", run: clippy },
    Step { name: "tests", run: tests },
    Step { name: "Python package", run: python::test },
    Step { name: "documentation", run: documentation },
    Step { name: "examples", run: examples },
    Step { name: "copy engine, with the address sanitizer", run: sanitized },
    Step { name: "fuzz, a short run of each target", run: fuzz::smoke },
];

pub fn run() -> Outcome {
    let start = Instant::now();
    for (number, Step { name, run }) in STEPS.iter().enumerate() {
        println!("\n== {} of {}: {name}", number + 1, STEPS.len());
        let step = Instant::now();
        let outcome = run();
        let verdict = if outcome.is_ok() { "passed" } else { "failed" };
        println!("== {name}: {verdict} in {:.1} s", step.elapsed().as_secs_f64());
        if let Err(why) = outcome {
            println!("\n{number} passed, 1 failed ({name}), {} not run", STEPS.len() - number - 1);
            return Err(format!("{name}: {why}"));
        }
    }
    println!("\nall in {:.1} s", start.elapsed().as_secs_f64());
    println!("{} passed, 0 failed", STEPS.len());
    Ok(())
}

fn format() -> Outcome {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))?;
    for apart in ["fuzz/Cargo.toml", "bench/peers/Cargo.toml"] {
        shell::run(shell::cargo().args(["fmt", "--manifest-path", apart, "--check"]))?;
    }
    Ok(())
}

fn clippy() -> Outcome {
    let words = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(words))?;
    // The command turns on a feature of the libraries, which also have to be right without it.
    let words =
        ["--package", "tilework", "--package", "tilework-audit", "--all-targets", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(["clippy", "--quiet"]).args(words))
}

/// Unit, story and documentation tests.
fn tests() -> Outcome {
    shell::run(shell::cargo().args(["test", "--quiet", "--workspace", "--no-fail-fast"]))
}

/// Of the libraries: the command and the library have one name, and their pages would overwrite each other.
fn documentation() -> Outcome {
    let words = ["doc", "--quiet", "--workspace", "--lib", "--no-deps"];
    shell::run(shell::cargo().args(words).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Builds and runs every `crates/*/examples/*.rs`.
fn examples() -> Outcome {
    let mut ran = 0;
    for room in entries(&shell::root().join("crates")) {
        for example in entries(&room.join("examples")) {
            let (Some(package), Some(name)) = (room.file_name(), example.file_stem()) else { continue };
            if example.extension().is_some_and(|extension| extension == "rs") {
                println!("-- {}", name.display());
                let mut cargo = shell::cargo();
                cargo.args(["run", "--quiet", "--package"]).arg(package).arg("--example").arg(name);
                shell::run(&mut cargo)?;
                ran += 1;
            }
        }
    }
    println!("{ran} examples");
    Ok(())
}

/// The tests of the room with unsafe code once more, with every access to memory checked.
fn sanitized() -> Outcome {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        println!("only on x86-64 with Linux");
        return Ok(());
    }
    let words = ["test", "--quiet", "--package", "tilework-copy", "--lib", "--target"];
    let mut cargo = shell::cargo();
    // The compiler's unstable flags are allowed, as for the fuzz targets.
    cargo
        .args(words)
        .arg("x86_64-unknown-linux-gnu")
        .arg("--target-dir")
        .arg(shell::target().join("address"));
    // A bus error is ours to handle: a mapped file that is cut short is one, and tests wait for it.
    cargo.env("ASAN_OPTIONS", "handle_sigbus=0");
    shell::run(cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address"))
}

/// What is in a folder, by name; nothing if there is no such folder.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<_> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    found
}
