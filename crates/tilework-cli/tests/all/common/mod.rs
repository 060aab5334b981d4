//! Runs the command as a person does.

pub mod files;

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

/// The command with nothing of the surroundings: 80 columns, no colours, no terminal.
pub fn command(args: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilework"));
    command.args(args);
    without_surroundings(&mut command);
    command
}

/// Whoever runs the tests may have a terminal of any size and taste.
pub fn without_surroundings(command: &mut Command) {
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
        command.env_remove(name);
    }
}

pub fn run(args: &[impl AsRef<OsStr>]) -> Ran {
    run_with(command(args), b"")
}

/// Runs with this standard input.
pub fn run_with(mut command: Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // The command may answer before it has read everything, or end without reading.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the input is written");
    Ran {
        stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        code: output.status.code().expect("no signal ends it"),
    }
}

/// Everything that can be seen of a run, after the command line.
pub fn seen(args: &[&str]) -> String {
    let Ran { stdout, stderr, code } = run(args);
    let shown: Vec<String> = args
        .iter()
        .map(|arg| {
            match arg.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_,.".contains(c)) || arg.is_empty()
            {
                true => format!("'{arg}'"),
                false => (*arg).to_owned(),
            }
        })
        .collect();
    let mut text = format!("$ tilework {}\n{stdout}", shown.join(" "));
    if !stderr.is_empty() {
        text.push_str(&format!("--- standard error\n{stderr}"));
    }
    if code != 0 {
        text.push_str(&format!("--- exit code {code}\n"));
    }
    text
}

/// A text whose lines are not broken.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}
