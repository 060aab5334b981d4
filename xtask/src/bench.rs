//! `cargo xtask bench`: builds what is measured, prepares the rivals, and runs the measuring program.

use crate::objects::MOTO;
use crate::{Outcome, python, relayout, shell};

/// The rival for reading shapes, pinned: figures are only comparable with a version beside them.
const PACKAGES: [&str; 2] = ["jaxlib==0.10.2", "numpy==2.4.6"];

/// The rivals for stores and weights.
const FILES: [&str; 10] = [
    python::MATURIN,
    "numpy==2.4.6",
    "ml_dtypes==0.6.0",
    "zarr==3.1.6",
    "tensorstore==0.1.86",
    "dask==2026.8.0",
    "distributed==2026.8.0",
    "cubed==0.27.0",
    "safetensors==0.8.0",
    "gguf==0.19.0",
];

/// `[PART …]`, as the measuring program names them; `relayout`, `python` and `files` are programs of their own.
pub fn run(parts: &[&str]) -> Outcome {
    if let ["relayout", options @ ..] = parts {
        return relayout::run(options);
    }
    if let ["python", options @ ..] = parts {
        return package(options);
    }
    if let ["files", options @ ..] = parts {
        return files(options);
    }
    let words =
        ["build", "--profile", "dist", "--quiet", "--package", "tilework-bench", "--package", "tilework-cli"];
    shell::run(shell::cargo().args(words))?;
    let built = shell::target().join("dist");
    let mut bench = shell::command(built.join("tilework-bench"));
    bench.arg("--tilework").arg(built.join("tilework"));
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

/// The package for Python against NumPy, JAX and, where it is there or asked for, PyTorch. The options are those of
/// `bench/python/bench.py`.
fn package(options: &[&str]) -> Outcome {
    let name = "bench-python-venv";
    let found =
        python::environment(name, &["maturin==1.16.0", "numpy==2.4.6", "ml_dtypes==0.6.0", "jax==0.10.2"])?;
    if options.contains(&"--with-torch") {
        python::environment(name, &[python::TORCH])?;
    }
    python::install(&found, "dist")?;
    let options = options.iter().filter(|&&word| word != "--with-torch");
    shell::run(shell::command(&found).args(["-B", "bench/python/bench.py"]).args(options))
}

/// The rival that is a program, of a crate of its own.
const ZARRS: [&str; 3] = ["zarrs_tools", "--version", "0.8.1"];

/// Stores and weights against the tools that people use for them. The options are those of `bench/files/bench.py`,
/// `--with-torch`, `--with-zarrs`, which compiles for some minutes, and `--with-bucket`, which measures stores in a bucket.
fn files(options: &[&str]) -> Outcome {
    let name = "bench-files-venv";
    let found = python::environment(name, &FILES)?;
    if options.contains(&"--with-torch") {
        python::environment(name, &[python::TORCH])?;
    }
    let is_far = options.contains(&"--with-bucket");
    if is_far {
        python::environment(name, &[MOTO])?;
    }
    let tools = shell::target().join("zarrs-tools");
    if options.contains(&"--with-zarrs") {
        shell::run(
            shell::cargo().args(["install", "--locked", "--quiet", "--root"]).arg(&tools).args(ZARRS),
        )?;
    }
    match is_far {
        true => python::install_with(&found, "dist", &["--features", "objects"])?,
        false => python::install(&found, "dist")?,
    }
    let far = is_far.then_some(&"--bucket");
    let options = options.iter().filter(|word| !word.starts_with("--with-")).chain(far);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([tools.join("bin")].into_iter().chain(std::env::split_paths(&path)))
        .map_err(|error| error.to_string())?;
    shell::run(shell::command(&found).args(["-B", "bench/files/bench.py"]).args(options).env("PATH", path))
}
