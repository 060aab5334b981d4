//! Running other programs from the root of the project.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

const INCREMENTAL: &str = "CARGO_INCREMENTAL";

/// The root of the project.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The folder of everything built or installed.
pub fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(folder).unwrap_or_else(|_| root().join("target")),
        None => root().join("target"),
    }
}

/// The folder of programs that are installed for this project alone: those of cargo are in its `bin`.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// Installs a program of cargo's registry there. It is not optimised: that takes far longer than it is ever run.
pub fn install(package: &str, version: &str) -> Outcome {
    println!("installing {package} {version} into {}", tools().display());
    run(cargo()
        .args(["install", package, "--quiet", "--locked", "--debug", "--version", version, "--root"])
        .arg(tools()))
}

/// The cargo that runs this program.
pub fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The machine's triple, such as `x86_64-unknown-linux-gnu`.
pub fn host() -> Result<String, String> {
    let said = quietly(command(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// A program that will run in the root, with nothing on its standard input.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    // A relative target folder was meant from where the user stands, not from the root.
    command.current_dir(root()).env("CARGO_TARGET_DIR", target()).stdin(Stdio::null());
    // What incremental compiling notes down costs a fifth of the time, and chores compile a thing once.
    if env::var_os(INCREMENTAL).is_none() {
        command.env(INCREMENTAL, "0");
    }
    command
}

/// Runs it and shows what it prints.
pub fn run(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", line(command))),
        Err(error) => Err(format!("{} did not start: {error}", line(command))),
    }
}

/// Runs it and returns what it prints, which is shown only if it fails.
pub fn quietly(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{} did not start: {error}", line(command)))?;
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    print!("{text}");
    Err(format!("{} ended with {}", line(command), output.status))
}

/// Runs it, shows what it says on standard error, line by line, and gives each line to `seen`.
pub fn watch(command: &mut Command, mut seen: impl FnMut(&str)) -> Outcome {
    let child = command.stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("{} did not start: {error}", line(command)))?;
    for bytes in child.stderr.take().into_iter().flat_map(|lines| BufReader::new(lines).split(b'\n')) {
        let text = bytes.map_err(|error| format!("{}: {error}", line(command)))?;
        let text = String::from_utf8_lossy(&text);
        eprintln!("{text}");
        seen(&text);
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", line(command))),
        Err(error) => Err(format!("{}: {error}", line(command))),
    }
}

/// Whether it runs and succeeds; what it prints is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as somebody would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    let words: Vec<_> = std::iter::once(program).chain(arguments).collect();
    format!("`{}`", words.join(" "))
}
