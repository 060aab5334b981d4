//! `cargo xtask bench`: builds what is measured, prepares the rivals, and runs the measuring program.

use crate::{Outcome, python, relayout, shell};

/// The rival for reading shapes, pinned: figures are only comparable with a version beside them.
const PACKAGES: [&str; 2] = ["jaxlib==0.10.2", "numpy==2.4.6"];

/// `[PART …]`, as the measuring program names them; `relayout` is a program of its own.
pub fn run(parts: &[&str]) -> Outcome {
    if let ["relayout", options @ ..] = parts {
        return relayout::run(options);
    }
    let words = ["build", "--release", "--quiet", "--package", "tilework-bench", "--package", "tilework-cli"];
    shell::run(shell::cargo().args(words))?;
    let release = shell::target().join("release");
    let mut bench = shell::command(release.join("tilework-bench"));
    bench.arg("--tilework").arg(release.join("tilework"));
    if parts.is_empty() || parts.contains(&"reading") {
        match python::environment("bench-venv", &PACKAGES) {
            Ok(python) => {
                bench.arg("--python").arg(python);
            }
            Err(why) => eprintln!("measuring without jaxlib: {why}"),
        }
    }
    shell::run(bench.args(parts))
}
