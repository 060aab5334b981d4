//! `cargo xtask bench relayout`: builds the engine and its rivals as shared libraries, and runs the measuring program.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python::{TORCH, environment};
use crate::{Outcome, shell};

/// The rivals that come as Python packages, pinned.
const PACKAGES: [&str; 6] = [
    "numpy==2.4.6",
    "jax==0.10.2",
    "jaxlib==0.10.2",
    "scipy-openblas64==0.3.34.481.3",
    // One library without dependencies. The newest release is `NEWEST_ONEDNN`.
    "onednn-cpu-gomp==2023.2.0",
    // Not a rival: what builds HPTT.
    "cmake<4.3",
];

/// It brings a whole compiler's run-time libraries, and installs files of the same names as the small one.
pub const NEWEST_ONEDNN: &str = "onednn==2026.1.0";

/// Some rivals allocate their result. With these words the system's allocator hands freed memory out again where it can,
/// instead of returning it to the system: the first touch of all pages can cost more than the relayout does.
const KEPT_MEMORY: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_MAX_", "0"), ("MALLOC_TRIM_THRESHOLD_", "1000000000000")];

/// The options are those of `bench/relayout/__main__.py`.
pub fn run(options: &[&str]) -> Outcome {
    let alone = has_no_peers(options)
        || options.iter().any(|word| ["--list", "--report", "--help", "-h"].contains(word));
    let python = prepare_python(options, alone)?;
    let mut bench = shell::command(&python);
    bench.args(["-B", "bench/relayout"]).args(options);
    if !options.contains(&"--engine-library") {
        let words = ["build", "--release", "--quiet", "--package", "tilework-bench-engine"];
        shell::run(shell::cargo().args(words))?;
        bench.arg("--engine-library").arg(library(shell::target().join("release"), "tilework_bench_engine"));
    }
    if !alone {
        match crates(&python) {
            Ok(peers) => {
                bench.arg("--peers-library").arg(peers);
            }
            Err(why) => eprintln!("measuring without the crates: {why}"),
        }
        newest_onednn(&mut bench, "TILEWORK_BENCH_ONEDNN");
        bench.envs(KEPT_MEMORY);
    }
    if !options.contains(&"--lines") {
        bench.arg("--lines").arg(shell::target().join("bench-relayout.jsonl"));
    }
    shell::run(&mut bench)
}

/// Whether only the engine and plain copies are asked for: the quick way, while tuning.
fn has_no_peers(options: &[&str]) -> bool {
    options.windows(2).any(|pair| pair == ["--peers", "none"])
        || ["--peers=none", "--only-tilework"].iter().any(|word| options.contains(word))
}

fn prepare_python(options: &[&str], alone: bool) -> Result<PathBuf, String> {
    let name = "bench-relayout-venv";
    let python_path = environment(name, &PACKAGES[..1])?;
    if alone {
        return Ok(python_path);
    }
    if environment(name, &PACKAGES).is_err() {
        // Not every one exists for every system.
        for package in PACKAGES {
            if let Err(why) = environment(name, &[package]) {
                eprintln!("measuring without {package}: {why}");
            }
        }
    }
    if options.contains(&"--with-torch") {
        environment(name, &[TORCH])?;
    }
    if options.contains(&"--with-onednn") {
        environment("bench-onednn-venv", &[NEWEST_ONEDNN])?;
    }
    Ok(python_path)
}

/// The rivals that are crates, built for this very processor, as the fastest of them want it.
fn crates(python: &Path) -> Result<PathBuf, String> {
    let target = shell::target().join("bench-peers");
    let build = |features: &[&str]| {
        let mut cargo = shell::cargo();
        cargo
            .args(["build", "--release", "--quiet", "--manifest-path", "bench/peers/Cargo.toml"])
            .args(features);
        cargo.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", "-C target-cpu=native");
        // HPTT takes its vector kernels only when it is told so.
        let vectors = if cfg!(target_arch = "x86_64") { " -DHPTT_ARCH_AVX" } else { "" };
        cargo.env("CMAKE", python.with_file_name("cmake"));
        cargo.env("CXXFLAGS", format!("-O3 -march=native{vectors}"));
        shell::run(&mut cargo)
    };
    // HPTT is C++; where it does not build, the others are still there.
    build(&["--features", "hptt"]).or_else(|_| build(&[]))?;
    Ok(library(target.join("release"), "tilework_bench_peers"))
}

/// Where the newest oneDNN is installed, the program needs its folder from the start. `variable` names the library to it.
pub fn newest_onednn(program: &mut Command, variable: &str) {
    let folder = shell::target().join("bench-onednn-venv/lib");
    if folder.join("libdnnl.so.3").exists() {
        let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = std::iter::once(folder.clone()).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(folders) {
            program.env("LD_LIBRARY_PATH", path);
        }
        program.env("OCL_ICD_FILENAMES", folder.join("libintelocl.so"));
        program.env(variable, folder.join("libdnnl.so.3"));
    }
}

fn library(folder: PathBuf, name: &str) -> PathBuf {
    folder.join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}
