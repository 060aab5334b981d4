//! `tilework`: explains how an array lies in memory.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tilework_cli::run(std::env::args_os().collect()))
}
