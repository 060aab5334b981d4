//! `cargo xtask header`: the C header, made from the sources of the interface.

use crate::stamp::Made;
use crate::{Outcome, shell};

/// Another version may lay the text out otherwise, so it is pinned.
const VERSION: &str = "0.29.4";

const HEADER: &str = "crates/tilework-c/include/tilework.h";

const MADE: Made = Made {
    name: "header",
    maker: VERSION,
    files: &["crates/tilework-c/cbindgen.toml", "crates/tilework-c/src", HEADER],
};

/// `[--check]`: with it nothing is written.
pub fn run(words: &[&str]) -> Outcome {
    match words {
        [] => make(false).and_then(|()| MADE.note()),
        ["--check"] => make(true),
        _ => Err(format!("cargo xtask header takes --check or nothing, not `{}`", words.join(" "))),
    }
}

/// Fails if the header is not what the sources say.
pub fn check() -> Outcome {
    if MADE.is_current() {
        println!("neither the interface nor {HEADER} has changed since it was made");
        return Ok(());
    }
    make(true)
}

fn make(check: bool) -> Outcome {
    let program = shell::tools().join("bin/cbindgen");
    let said = |version: String| version.trim() == format!("cbindgen {VERSION}");
    if !shell::quietly(shell::command(&program).arg("--version")).is_ok_and(said) {
        shell::install("cbindgen", VERSION)?;
    }
    let mut cbindgen = shell::command(&program);
    cbindgen.args(["--quiet", "--config", "crates/tilework-c/cbindgen.toml", "--output", HEADER]);
    if check {
        cbindgen.arg("--verify");
    }
    match shell::quietly(cbindgen.arg("crates/tilework-c")) {
        Ok(_) if check && !MADE.is_current() => {
            println!(
                "{HEADER} is as the sources say; `cargo xtask header` notes it, so that the next run need not ask"
            );
        }
        Ok(_) => println!("{HEADER} is as the sources say"),
        Err(why) if check => return Err(format!("{why}; `cargo xtask header` writes {HEADER} anew")),
        Err(why) => return Err(why),
    }
    Ok(())
}
