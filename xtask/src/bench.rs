//! `cargo xtask bench`: builds what is measured, prepares the rivals, and runs the measuring program.

use std::path::PathBuf;

use crate::{Outcome, relayout, shell};

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
        match python("bench-venv", "import jaxlib, numpy; assert jaxlib.__version__ == '0.10.2'", &PACKAGES) {
            Ok(python) => {
                bench.arg("--python").arg(python);
            }
            Err(why) => eprintln!("measuring without jaxlib: {why}"),
        }
    }
    shell::run(bench.args(parts))
}

/// A Python in a virtual environment of that name within the target folder, with packages that make `check` succeed.
pub fn python(name: &str, check: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = shell::target().join(name);
    let python = folder.join("bin/python");
    if shell::succeeds(shell::command(&python).args(["-c", check])) {
        return Ok(python);
    }
    if !shell::succeeds(shell::command(&python).args(["-m", "pip", "--version"])) {
        shell::run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(shell::command(&python).args(install).args(packages))?;
    Ok(python)
}
