//! `cargo xtask corpus`: makes the files of `corpus/`, and checks them.

use std::ffi::OsString;
use std::fs;

use crate::{Outcome, oracles, shell};

/// `[--with-oracles [OPTION ...]]`: without, cases of real systems stay as they are.
pub fn run(words: &[&str]) -> Outcome {
    let mut compared = Ok(());
    let mut from = OsString::from("1");
    match words {
        [] => {}
        ["--with-oracles", options @ ..] => {
            let folder = shell::target().join("corpus");
            if folder.exists() {
                fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            }
            let path = folder.to_string_lossy();
            let options = [options, &["--corpus", &path]].concat();
            // Cases that differ are not written. The others are used, and the failure is reported at the end.
            compared = oracles::run(&options);
            if !folder.exists() {
                return compared.and(Err("no real system gave a case".to_owned()));
            }
            from = folder.into();
        }
        [word, ..] => return Err(format!("no option {word}; there is --with-oracles")),
    }
    shell::run(test("corpus::files_are_current").env("UPDATE_CORPUS", from))?;
    shell::run(&mut test("corpus::"))?;
    compared
}

fn test(filter: &str) -> std::process::Command {
    let mut command = shell::cargo();
    command.args(["test", "--quiet", "-p", "tilework", "--test", "all", "--", filter]);
    command
}
