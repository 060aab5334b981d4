//! The archive of the command: the program, its manual, and completions for every shell.

use std::path::{Path, PathBuf};

use super::maker::Maker;
use super::{files, name, notices, pack, stage};
use crate::{Outcome, shell};

pub fn make(maker: &Maker, texts: &Path) -> Outcome {
    println!("-- the command for {}", maker.target);
    build(maker)?;
    let name = name("tilework", maker);
    let folder = stage(&name);
    files::empty(&folder)?;
    files::copy(&maker.built("tilework"), &folder.join("tilework"))?;
    for kind in ["completions", "man"] {
        files::copy_folder(&texts.join(kind), &folder.join(kind))?;
    }
    for text in ["README.md", "CHANGELOG.md"] {
        files::copy(&shell::root().join(text), &folder.join(text))?;
    }
    notices::add(maker, "tilework-cli", &folder)?;
    pack(&name)
}

fn build(maker: &Maker) -> Outcome {
    maker.cargo("build", &["--package", "tilework-cli", "--features", "full,objects"])
}

/// A folder with the completions and the manual.
pub fn texts(host: &Maker) -> Result<PathBuf, String> {
    println!("-- completions and manual");
    build(host)?;
    let folder = stage("texts");
    files::empty(&folder)?;
    let program = host.built("tilework");
    let help = shell::quietly(shell::command(&program).args(["completions", "--help"]))?;
    for shell in shells(&help)? {
        let script = shell::quietly(shell::command(&program).args(["completions", shell]))?;
        files::write(&folder.join("completions").join(script_name(shell)?), &script)?;
    }
    // Not optimised: the tests compile most of it in the same way.
    let words = ["run", "--quiet", "--package", "xtask-pages", "--"];
    shell::run(shell::cargo().args(words).arg(folder.join("man")))?;
    Ok(folder)
}

/// The shells that the command names in its help, so that none is forgotten.
fn shells(help: &str) -> Result<Vec<&str>, String> {
    let named = help.split_once("[possible values: ").and_then(|(_, rest)| rest.split_once(']'));
    let (named, _) = named.ok_or("`tilework completions --help` names no shells")?;
    Ok(named.split(',').map(str::trim).collect())
}

/// The name under which the shell looks for a script, or under which its users keep one.
fn script_name(shell: &str) -> Result<&'static str, String> {
    Ok(match shell {
        "bash" => "tilework.bash",
        "elvish" => "tilework.elv",
        "fish" => "tilework.fish",
        "nushell" => "tilework.nu",
        "powershell" => "_tilework.ps1",
        "zsh" => "_tilework",
        _ => return Err(format!("no name is known for a script of {shell}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_read_from_the_help_over_several_lines() {
        let help = "Arguments:\n  <SHELL>  Its name [possible values: bash, fish,\n           zsh]\n";
        assert_eq!(shells(help).expect("there are some"), ["bash", "fish", "zsh"]);
        assert!(shells("Usage: tilework completions").is_err());
        assert!(script_name("csh").is_err());
    }
}
