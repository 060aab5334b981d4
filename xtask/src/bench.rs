//! `cargo xtask bench`: builds what is measured, prepares jaxlib, and runs the measuring program.

use std::path::PathBuf;

use crate::{Outcome, shell};

/// The rival for reading shapes, pinned: figures are only comparable with a version beside them.
const PACKAGES: [&str; 2] = ["jaxlib==0.10.2", "numpy"];

/// `[PART …]`, as the measuring program names them.
pub fn run(parts: &[&str]) -> Outcome {
    let words = ["build", "--release", "--quiet", "--package", "tilework-bench", "--package", "tilework-cli"];
    shell::run(shell::cargo().args(words))?;
    let release = shell::target().join("release");
    let mut bench = shell::command(release.join("tilework-bench"));
    bench.arg("--tilework").arg(release.join("tilework"));
    if parts.is_empty() || parts.contains(&"reading") {
        match python() {
            Ok(python) => {
                bench.arg("--python").arg(python);
            }
            Err(why) => eprintln!("measuring without jaxlib: {why}"),
        }
    }
    shell::run(bench.args(parts))
}

/// A Python with jaxlib, in a virtual environment of its own.
fn python() -> Result<PathBuf, String> {
    let folder = shell::target().join("bench-venv");
    let python = folder.join("bin/python");
    let check = "import jaxlib, numpy; assert jaxlib.__version__ == '0.10.2'";
    if shell::succeeds(shell::command(&python).args(["-c", check])) {
        return Ok(python);
    }
    shell::run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(shell::command(&python).args(install).args(PACKAGES))?;
    Ok(python)
}
