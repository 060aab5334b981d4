//! What compiles for a target, and for systems that are older than this one.
//!
//! A program asks for the newest version of the C library's functions that its linker saw, so one that was linked here
//! does not start on an older system. zig has the C library of every version for its linker; cargo-zigbuild hands it to
//! cargo, and maturin knows it too. All of them are packages of Python and go into `target/dist-venv`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::{env, iter};

use crate::{Outcome, python, shell};

/// The oldest C library, that of CentOS 7 and of `manylinux2014`: the oldest that Rust itself supports.
pub const GLIBC: (u32, u32) = (2, 17);

const ZIG: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0"];

/// The other target, where the compiler has a library for it.
const ARM: &str = "aarch64-unknown-linux-gnu";

/// The environment of these packages, and of what checks them.
pub const ENVIRONMENT: &str = "dist-venv";

/// A compiler for one target.
pub struct Maker {
    pub target: String,
    pub python: PathBuf,
    zig: bool,
}

/// A maker for this machine, which is the first, and for every other target that can be had.
pub fn all() -> Result<Vec<Maker>, String> {
    let python = python::environment(ENVIRONMENT, &[python::MATURIN])?;
    let host = shell::host()?;
    if let Err(why) = python::environment(ENVIRONMENT, &ZIG) {
        println!("there is no zig ({why}): what is made runs on systems as new as this one");
        return Ok(vec![Maker { target: host, python, zig: false }]);
    }
    let mut targets = vec![host];
    match has_library(ARM)? {
        _ if targets[0] == ARM => {}
        true => targets.push(ARM.to_owned()),
        false => println!("nothing for {ARM}: `rustup target add {ARM}` brings its standard library"),
    }
    Ok(targets.into_iter().map(|target| Maker { target, python: python.clone(), zig: true }).collect())
}

/// Whether the compiler has the standard library for a target.
fn has_library(target: &str) -> Result<bool, String> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let found =
        shell::quietly(shell::command(compiler).args(["--print", "target-libdir", "--target", target]))?;
    Ok(PathBuf::from(found.trim()).exists())
}

impl Maker {
    /// Builds with cargo: a subcommand, which is `build` or `rustc`, and its arguments.
    pub fn cargo(&self, subcommand: &str, words: &[&str]) -> Outcome {
        let (mut cargo, target) = match self.zig {
            true => {
                let mut cargo = self.command(self.python.with_file_name("cargo-zigbuild"));
                cargo.arg(if subcommand == "build" { "zigbuild" } else { subcommand });
                (cargo, format!("{}.{}.{}", self.target, GLIBC.0, GLIBC.1))
            }
            false => {
                let mut cargo = self.settings(shell::cargo());
                cargo.arg(subcommand);
                (cargo, self.target.clone())
            }
        };
        shell::run(cargo.args(["--quiet", "--locked", "--profile", "dist", "--target", &target]).args(words))
    }

    /// A command of maturin that builds for the target.
    pub fn maturin(&self) -> Command {
        let mut maturin = self.command(&self.python);
        maturin.args(["-m", "maturin", "build", "--quiet", "--locked", "--profile", "dist"]);
        maturin.args(["--features", "objects", "--target"]).arg(&self.target).arg("--compatibility");
        match self.zig {
            true => maturin.args(["manylinux2014", "--zig"]),
            false => maturin.arg("linux"),
        };
        maturin
    }

    /// A file that cargo built.
    pub fn built(&self, file: &str) -> PathBuf {
        built().join(&self.target).join("dist").join(file)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.settings(shell::command(program))
    }

    fn settings(&self, mut command: Command) -> Command {
        command.env("CARGO_TARGET_DIR", built());
        // Nothing is kept outside the target folder, where both programs would.
        let kept = shell::target().join("zig");
        command.env("CARGO_ZIGBUILD_CACHE_DIR", kept.join("zigbuild")).env("ZIG_GLOBAL_CACHE_DIR", &kept);
        command.env("ZIG_LOCAL_CACHE_DIR", &kept);
        // zig is found as a module of the first Python.
        let folders = self.python.parent().map(PathBuf::from);
        let path = env::var_os("PATH").unwrap_or_default();
        if let Ok(path) = env::join_paths(folders.into_iter().chain(env::split_paths(&path))) {
            command.env("PATH", path);
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", flags());
        command
    }
}

/// Where cargo builds: not in the target folder itself, where the profile's folder is that of what is given away.
fn built() -> PathBuf {
    shell::target().join("dist-build")
}

/// Keeps the folders of this machine out of messages about panics.
fn flags() -> OsString {
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from).or(home);
    let mut flags = OsString::new();
    for (folder, name) in iter::once((shell::root(), "tilework")).chain(cargo.map(|folder| (folder, "cargo")))
    {
        if !flags.is_empty() {
            flags.push("\u{1f}");
        }
        flags.push("--remap-path-prefix=");
        flags.push(folder);
        flags.push(format!("={name}"));
    }
    flags
}
