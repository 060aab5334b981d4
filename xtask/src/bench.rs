//! `cargo xtask bench`: builds what is measured, prepares the rivals, and runs the measuring program.

use std::path::PathBuf;

use crate::{Outcome, relayout, shell};

/// The rival for reading shapes, pinned: figures are only comparable with a version beside them.
const PACKAGES: [&str; 2] = ["jaxlib==0.10.2", "numpy==2.4.6"];

/// `[PART …]`, as the measuring program names them; `relayout` and `python` are programs of their own.
pub fn run(parts: &[&str]) -> Outcome {
    if let ["relayout", options @ ..] = parts {
        return relayout::run(options);
    }
    if let ["python", options @ ..] = parts {
        return package(options);
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

/// The package for Python against NumPy, JAX and, where it is there or asked for, PyTorch. The options are those of
/// `bench/python/bench.py`.
fn package(options: &[&str]) -> Outcome {
    let environment = "bench-python-venv";
    let packages = ["maturin==1.16.0", "numpy==2.4.6", "ml_dtypes==0.6.0", "jax==0.10.2"];
    let check = "import importlib.metadata as m, jax, numpy; assert jax.__version__ == '0.10.2'; m.version('maturin')";
    let found = python(environment, check, &packages)?;
    if options.contains(&"--with-torch") {
        python(environment, "import torch", &["torch==2.15.0"])?;
    }
    let wheels = shell::target().join(environment).join("wheels");
    let words = ["build", "--release", "--quiet", "--manifest-path", "crates/tilework-python/Cargo.toml"];
    shell::run(shell::command(found.with_file_name("maturin")).args(words).arg("--out").arg(&wheels))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall"];
    let offline = ["--no-deps", "--no-index", "--find-links"];
    shell::run(shell::command(&found).args(install).args(offline).arg(&wheels).arg("tilework"))?;
    let options = options.iter().filter(|&&word| word != "--with-torch");
    shell::run(shell::command(&found).args(["-B", "bench/python/bench.py"]).args(options))
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
