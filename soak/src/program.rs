//! The command, run as a person runs it, in a folder of its own.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::texts::is_harmless;

/// What takes longer does not end. It is long, as the machine may have other things to do.
const PATIENCE: Duration = Duration::from_secs(300);

/// Names what runs programs like this one, where they are for another machine. `cargo xtask soak --arm` sets it.
const EMULATOR: &str = "TILEWORK_EMULATOR";

/// What runs programs like this one, if the machine cannot.
pub fn emulator() -> Option<OsString> {
    std::env::var_os(EMULATOR).filter(|name| !name.is_empty())
}

/// A program built for the same machine as this one: the words that start it, the emulator first where there is one.
pub struct Program(Vec<OsString>);

impl Program {
    /// The command, which is built beside this program.
    pub fn tilework() -> Result<Program, String> {
        let path = Program::here()?.with_file_name("tilework");
        let hint = "it is built by `cargo build -p tilework-cli`";
        if path.is_file() {
            Ok(Program::at(path))
        } else {
            Err(format!("{} is not there: {hint}", path.display()))
        }
    }

    /// This program.
    pub fn own() -> Result<Program, String> {
        Ok(Program::at(Program::here()?))
    }

    fn here() -> Result<PathBuf, String> {
        std::env::current_exe().map_err(|error| error.to_string())
    }

    fn at(path: PathBuf) -> Program {
        Program(emulator().into_iter().chain([path.into()]).collect())
    }

    pub fn words(&self) -> &[OsString] {
        &self.0
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        command
    }
}

/// What a run left.
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The error if it ended otherwise than a command may end: by a signal, a panic or an abort, or with words that a
    /// terminal obeys.
    pub fn is_orderly(&self) -> Result<i32, String> {
        let code = match self.status.code() {
            Some(code @ 0..=2) => code,
            _ => return Err(format!("ended with {}: {}", self.status, self.last_words())),
        };
        for (name, text) in [("output", &self.stdout), ("error", &self.stderr)] {
            if let Some(line) = text.lines().find(|line| !is_harmless(line)) {
                return Err(format!("standard {name} has {line:?}"));
            }
        }
        match code == 2 && self.stderr.trim().is_empty() {
            true => Err("ended with 2 and no word of why".to_owned()),
            false => Ok(code),
        }
    }

    pub fn last_words(&self) -> String {
        let end: String = self.stderr.chars().rev().take(600).collect();
        end.chars().rev().collect()
    }
}

/// A command with nothing of the surroundings.
pub fn clean(mut command: Command, folder: &Path) -> Command {
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a command may have.
#[cfg(unix)]
pub enum Limit {
    /// So many KiB of addresses.
    Addresses(u64),
    /// Files of so many blocks, as the shell counts them.
    FileBlocks(u64),
}

/// The command under a limit.
#[cfg(unix)]
pub fn limited(program: &Program, folder: &Path, limit: Limit) -> Command {
    let mut command = clean(Command::new("sh"), folder);
    let limit = match limit {
        // An emulator has addresses of its own besides those of the program, and can limit the latter.
        Limit::Addresses(kib) if emulator().is_some() => {
            command.env("QEMU_RESERVED_VA", format!("{kib}K"));
            String::new()
        }
        Limit::Addresses(kib) => format!("ulimit -v {kib}; "),
        Limit::FileBlocks(blocks) => format!("ulimit -f {blocks}; "),
    };
    let script = format!("ulimit -c 0; {limit}exec \"$0\" \"$@\"");
    command.args(["-c", &script]).args(program.words());
    command
}

/// Runs it with this standard input until it ends; if it does not, that is an error.
pub fn run(mut command: Command, input: &[u8]) -> Result<Ran, String> {
    command.stdin(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let stdin = child.stdin.take();
    let input = input.to_vec();
    // The command may answer before it has read everything, or end without reading.
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input).is_ok()));
    let ran = end(child);
    let _ = writer.join();
    ran
}

/// Waits for the end.
pub fn end(mut child: Child) -> Result<Ran, String> {
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Err(error) => return Err(error.to_string()),
            Ok(None) if start.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {} s", PATIENCE.as_secs()));
            }
            Ok(None) => thread::sleep(pause),
        }
        pause = (pause * 5 / 4).min(Duration::from_millis(20));
    };
    let text = |reader: thread::JoinHandle<Vec<u8>>, name: &str| {
        let bytes = reader.join().map_err(|_| "a reader panicked".to_owned())?;
        String::from_utf8(bytes).map_err(|_| format!("standard {name} is not UTF-8"))
    };
    Ok(Ran { status, stdout: text(stdout, "output")?, stderr: text(stderr, "error")? })
}

/// A folder of this process's own, taken away at its end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("tilework-soak-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Folder(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        let path = self.at(name);
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// The names of all files in it, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Takes everything away that is in it.
    pub fn clear(&self) {
        for name in self.names() {
            let path = self.0.join(name);
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
