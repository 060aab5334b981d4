//! The rival for reading shapes: jaxlib, in a Python process that waits for its turn.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::rounds::Failure;

pub struct Jaxlib {
    process: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
    /// Its version.
    pub version: String,
}

impl Jaxlib {
    pub fn start(python: &Path) -> Result<Jaxlib, Failure> {
        let mut command = Command::new(python);
        command.args(["-c", include_str!("jaxlib_loop.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{}: {error}", python.display()))?;
        let ask = process.stdin.take().ok_or("jaxlib has no input")?;
        let answer = process.stdout.take().ok_or("jaxlib has no output")?;
        let mut jaxlib = Jaxlib { process, ask, answer: BufReader::new(answer), version: String::new() };
        jaxlib.version = jaxlib.line()?;
        Ok(jaxlib)
    }

    /// One round: nanoseconds of `xla_client.Shape(text)`.
    pub fn round(&mut self, text: &str) -> Result<f64, Failure> {
        writeln!(self.ask, "{text}").map_err(|error| format!("jaxlib: {error}"))?;
        let line = self.line()?;
        line.parse().map_err(|_| format!("jaxlib answered {line:?}"))
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.answer.read_line(&mut line).map_err(|error| format!("jaxlib: {error}"))?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Jaxlib {
    fn drop(&mut self) {
        // It ends by itself when its input ends; it holds nothing that would be lost.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
