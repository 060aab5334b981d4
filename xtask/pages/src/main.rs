//! Writes the pages of the manual into a folder, for `cargo xtask dist`: one for the command and one for each of its own.
//!
//! A program of its own, so that no other chore compiles the command, and the command no maker of pages.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let words: Vec<_> = env::args_os().skip(1).collect();
    let [folder] = words.as_slice() else {
        eprintln!("one folder, please");
        return ExitCode::FAILURE;
    };
    let made =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(tilework_cli::command(), folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
