//! `cargo xtask python`: builds the Python package as its users get it, installs it into an environment of its own, and
//! runs its tests; and the environments that other chores want.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::{Outcome, shell};

/// What makes the wheel. Pinned, as everything is, so that a change of theirs is no failure of ours.
pub const MATURIN: &str = "maturin==1.16.0";

/// What the package is built, tested and compared with.
const PACKAGES: [&str; 17] = [
    MATURIN,
    "numpy==2.4.6",
    "ml_dtypes==0.6.0",
    "jax==0.10.2",
    "einops==0.8.2",
    "safetensors==0.8.0",
    "gguf==0.19.0",
    "xarray==2026.9.0",
    "dask==2026.8.0",
    "distributed==2026.8.0",
    "zarr==3.1.6",
    "tensorstore==0.1.86",
    "orbax-checkpoint==0.12.8",
    "pytest==9.2.0",
    "hypothesis==6.170.15",
    "mypy==2.4.1",
    "ruff==0.17.6",
];

/// Gigabytes on Linux, where the registry's wheel brings CUDA; its tests are skipped where it is missing.
pub const TORCH: &str = "torch==2.15.0";

/// The step of `cargo xtask test`.
pub fn test() -> Outcome {
    run(&[])
}

/// `[--with-torch] [OPTION OF PYTEST ...]`; with options, pytest alone runs.
pub fn run(words: &[&str]) -> Outcome {
    let (torch, options): (Vec<&str>, Vec<&str>) = words.iter().partition(|&&word| word == "--with-torch");
    let python = environment("python-venv", &PACKAGES)?;
    if !torch.is_empty() {
        environment("python-venv", &[TORCH])?;
    }
    install(&python, "dev")?;
    let room = shell::root().join("crates/tilework-python");
    let pytest = |options: &[&str]| {
        let cache = format!("cache_dir={}", shell::target().join("python-cache/pytest").display());
        shell::run(in_room(&python, &room).args(["-m", "pytest", "--quiet", "-o", &cache]).args(options))
    };
    if !options.is_empty() {
        return pytest(&options);
    }
    println!("-- ruff");
    let cache = shell::target().join("python-cache/ruff");
    shell::run(in_room(&python, &room).args(["-m", "ruff", "check", "--quiet", "--cache-dir"]).arg(&cache))?;
    let cache = shell::target().join("python-cache/mypy");
    println!("-- mypy --strict");
    shell::run(in_room(&python, &room).args(["-m", "mypy", "--cache-dir"]).arg(&cache))?;
    println!("-- stubtest");
    shell::run(in_room(&python, &room).args(["-m", "mypy.stubtest", "tilework"]))?;
    println!("-- pytest");
    pytest(&[])?;
    println!("-- pytest, of the relayout benchmark");
    let bench = shell::root().join("bench/relayout");
    let options = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-W", "error", "tests"];
    shell::run(in_room(&python, &bench).args(options))
}

/// Builds the wheel and puts it into the environment. With the profile of the workspace's tests, which is `dev`, most of
/// what it wants is compiled already.
pub fn install(python: &Path, profile: &str) -> Outcome {
    install_with(python, profile, &[])
}

/// The same, with options of maturin.
pub fn install_with(python: &Path, profile: &str, options: &[&str]) -> Outcome {
    let mut maturin = shell::command(python);
    maturin.args(["-m", "maturin", "build", "--quiet", "--profile", profile, "--compatibility", "off"]);
    maturin.args(options);
    let wheel = wheel(maturin.arg("--interpreter").arg(python), &shell::target().join("python-wheel"))?;
    pip_install(python, &["--no-deps", "--no-index", "--force-reinstall", &wheel.to_string_lossy()])
}

/// Has maturin build the package into a folder, which is emptied before, and returns the wheel.
pub fn wheel(maturin: &mut Command, folder: &Path) -> Result<PathBuf, String> {
    let _ = fs::remove_dir_all(folder); // it need not exist
    maturin.args(["--manifest-path", "crates/tilework-python/Cargo.toml", "--out"]).arg(folder);
    shell::quietly(maturin)?;
    let built = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    built.flatten().map(|entry| entry.path()).next().ok_or_else(|| "maturin made no wheel".to_owned())
}

/// A Python that stands in the package's room.
fn in_room(python: &Path, room: &Path) -> Command {
    let mut command = shell::command(python);
    command.current_dir(room).env("PYTHONDONTWRITEBYTECODE", "1");
    // Tests are for this package, whatever else is installed for the one who runs them.
    command.env_remove("PYTHONPATH").env_remove("MYPYPATH");
    command
}

/// A Python in a virtual environment of that name within the target folder, with these packages: installed where one is
/// missing or has another version than the one it is pinned to.
pub fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let mut python = interpreter(name);
    if shell::succeeds(shell::command(&python).args(["-c", &check(packages)])) {
        return Ok(python);
    }
    if !shell::succeeds(shell::command(&python).args(["-m", "pip", "--version"])) {
        python = fresh(name)?;
    }
    println!("installing {} into {}", packages.join(", "), shell::target().join(name).display());
    pip_install(&python, packages)?;
    Ok(python)
}

/// A Python in an environment that has nothing in it, within the target folder.
pub fn fresh(name: &str) -> Result<PathBuf, String> {
    let system = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    shell::run(shell::command(system).args(["-m", "venv", "--clear"]).arg(shell::target().join(name)))?;
    Ok(interpreter(name))
}

fn interpreter(name: &str) -> PathBuf {
    shell::target().join(name).join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Installs with pip: names of packages, or a wheel.
pub fn pip_install(python: &Path, what: &[&str]) -> Outcome {
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(shell::command(python).args(words).args(what))
}

/// A program in Python that fails where one of these packages is missing or is not of its pinned version.
fn check(packages: &[&str]) -> String {
    let mut lines = vec!["from importlib.metadata import version".to_owned()];
    for package in packages {
        lines.push(match package.split_once("==") {
            Some((name, pinned)) => {
                let name = name.split('[').next().unwrap_or(name); // without the extras that are wanted of it
                format!("assert version('{name}') == '{pinned}'")
            }
            None => format!("version('{}')", package.split(['<', '>', '~', '!']).next().unwrap_or(package)),
        });
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_package_is_checked_with_its_version_and_another_for_being_there() {
        let lines = check(&["numpy==2.4.6", "cmake<4.3", "pytest"]);
        let expected = [
            "from importlib.metadata import version",
            "assert version('numpy') == '2.4.6'",
            "version('cmake')",
            "version('pytest')",
        ];
        assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    }
}
