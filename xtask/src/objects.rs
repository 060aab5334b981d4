//! `cargo xtask objects`: stores in a real server of S3 on this machine, with the command and the package for Python.

use crate::{Outcome, python, shell};

/// A server of S3.
pub const MOTO: &str = "moto[s3,server]==5.2.5";

/// The server, what is compared with, and what makes the package.
const PACKAGES: [&str; 6] =
    [python::MATURIN, MOTO, "numpy==2.4.6", "ml_dtypes==0.6.0", "zarr==3.1.6", "pytest==9.2.0"];

/// With options of pytest.
pub fn run(options: &[&str]) -> Outcome {
    let python = python::environment("objects-venv", &PACKAGES)?;
    println!("-- the command and the package, with all that reaches servers: some minutes");
    let words = ["build", "--quiet", "--package", "tilework-cli", "--features", "full,objects"];
    shell::run(shell::cargo().args(words))?;
    let program = shell::target().join("debug/tilework").with_extension(std::env::consts::EXE_EXTENSION);
    python::install_with(&python, "dev", &["--features", "objects"])?;
    println!("-- tests of the rooms");
    let words = ["test", "--quiet", "--package", "tilework-stores", "--features", "objects", "--lib"];
    shell::run(shell::cargo().args(words))?;
    println!("-- pytest");
    let cache = format!("cache_dir={}", shell::target().join("python-cache/pytest").display());
    let mut pytest = shell::command(&python);
    pytest.env("TILEWORK", program).env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH");
    pytest.args(["-m", "pytest", "--quiet", "-o", &cache, "xtask/src/objects"]);
    shell::run(pytest.args(options))
}
