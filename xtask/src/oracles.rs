//! `cargo xtask oracles`: compares Tilework with the real systems. It wants gigabytes of their packages, so it is no part of
//! `cargo xtask test`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{TORCH, environment, install, pip_install};
use crate::relayout::{NEWEST_ONEDNN, newest_onednn};
use crate::{Outcome, shell};

/// What every oracle wants.
const BASE: [&str; 4] = ["maturin==1.16.0", "numpy==2.4.6", "ml_dtypes==0.6.0", "ruff==0.17.6"];

/// The real systems, pinned.
const SYSTEMS: [&str; 10] = [
    "einops==0.8.2",
    "jax==0.10.2",
    "libtpu==0.0.52",
    "onednn-cpu-gomp==2023.2.0",
    "triton==3.9.0",
    "iree-base-compiler==3.13.0",
    "iree-base-runtime==3.13.0",
    "tensor-layouts==0.3.2",
    "zarr==3.1.6",
    "apache-tvm==0.27.0.post1",
];

/// Systems that are installed without what they depend on, which is large and not used here.
const ALONE: [&str; 2] = [
    // Its pycute alone is used.
    "nvidia-cutlass==4.2.0.0",
    // oneDNN's headers alone, for the aliases of tags.
    "onednn-devel==2026.1.0",
];

/// `[NAME ...] [--seed N] [--cases N] [--write] [--broken] [--with-torch] [--with-onednn]`: most are those of
/// `oracles/run.py`.
pub fn run(words: &[&str]) -> Outcome {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with("--with-"));
    if let Some(unknown) = ours.iter().find(|word| !["--with-torch", "--with-onednn"].contains(word)) {
        return Err(format!("no option {unknown}; there are --with-torch and --with-onednn"));
    }
    let python = prepare(&ours)?;
    println!("-- ruff");
    let cache = shell::target().join("python-cache/ruff");
    shell::run(
        clean(&python).args(["-m", "ruff", "check", "--quiet", "oracles", "--cache-dir"]).arg(&cache),
    )?;
    install(&python, "dev")?;
    let mut command = clean(&python);
    newest_onednn(&mut command, "TILEWORK_ORACLE_ONEDNN");
    shell::run(command.args(["-B", "oracles/run.py"]).args(theirs))
}

fn prepare(options: &[&str]) -> Result<PathBuf, String> {
    let name = "oracle-venv";
    let python = environment(name, &BASE)?;
    if environment(name, &SYSTEMS).is_err() {
        // Not every one exists for every system. The matrix says which were not compared.
        for package in SYSTEMS {
            if let Err(why) = environment(name, &[package]) {
                eprintln!("comparing without {package}: {why}");
            }
        }
    }
    for package in ALONE {
        if let Err(why) = pip_install(&python, &["--no-deps", package]) {
            eprintln!("comparing without {package}: {why}");
        }
    }
    if options.contains(&"--with-torch") {
        environment(name, &[TORCH])?;
    }
    if options.contains(&"--with-onednn") {
        environment("bench-onednn-venv", &[NEWEST_ONEDNN])?;
    }
    Ok(python)
}

/// A Python that sees nothing that the user has installed elsewhere.
fn clean(python: &Path) -> Command {
    let mut command = shell::command(python);
    command.env_remove("PYTHONPATH");
    command
}
