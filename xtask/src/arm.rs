//! `cargo xtask arm`: the tests of the copy engine as a program for ARM, where its kernels are others; and what other chores
//! need to build and run programs for ARM.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, shell};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
pub const EMULATOR: &str = "qemu-aarch64";
/// Where the linker's package puts the system's libraries, for the emulator.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// `[WORDS …]` for the test program, as the name of a test.
pub fn run(words: &[&str]) -> Outcome {
    let mut cargo = cargo("test")?;
    cargo.args(["--package", "tilework-copy", "--lib"]);
    shell::run(cargo.arg("--").args(words))
}

/// A cargo that builds for ARM, and runs what it built in the emulator.
pub fn cargo(what: &str) -> Result<Command, String> {
    for (program, package) in
        [(LINKER, "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"), (EMULATOR, "qemu-user")]
    {
        if !shell::succeeds(shell::command(program).arg("--version")) {
            return Err(format!("arm needs {program}; Debian and Ubuntu have it in {package}"));
        }
    }
    let mut cargo = shell::cargo();
    cargo.args([what, "--quiet", "--target", TARGET]);
    library(&mut cargo)?;
    let setting = |what: &str| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{what}");
    cargo.env(setting("LINKER"), LINKER).env(setting("RUNNER"), EMULATOR);
    find_libraries(&mut cargo);
    Ok(cargo)
}

/// Where what was built is.
pub fn built(profile: &str) -> PathBuf {
    shell::target().join(TARGET).join(profile)
}

/// A program for ARM in the emulator.
pub fn emulated(program: &Path) -> Command {
    let mut command = shell::command(EMULATOR);
    find_libraries(command.arg(program));
    command
}

/// Tells the emulator where the system's libraries are.
fn find_libraries(command: &mut Command) {
    if std::env::var_os("QEMU_LD_PREFIX").is_none() {
        command.env("QEMU_LD_PREFIX", LIBRARIES);
    }
}

/// Has the standard library built where the compiler has it only as source.
fn library(cargo: &mut Command) -> Outcome {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let found = shell::quietly(shell::command(compiler).args(["--print", "sysroot"]))?;
    let rustlib = Path::new(found.trim()).join("lib/rustlib");
    if rustlib.join(TARGET).join("lib").exists() {
        return Ok(());
    }
    if rustlib.join("src/rust/library").exists() {
        println!("the compiler has no library for {TARGET}: it is built from source first, some minutes");
        cargo.arg("-Zbuild-std=std,test,panic_unwind").env("RUSTC_BOOTSTRAP", "1");
        return Ok(());
    }
    Err(format!(
        "the compiler has no library for {TARGET}: `rustup target add {TARGET}`, or name in RUSTC a compiler that has \
         it, or its source"
    ))
}
