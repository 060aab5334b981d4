//! Every command in the documents is typed as it stands there, by a shell, beside the samples; what is printed below it is
//! what it prints.
//!
//! A block of `console` holds commands behind `$ ` and what they print. Below a command there is all of its output, or the
//! lines up to `...`, or nothing, when only success is wanted. `# exit code N` behind a command is the code that it ends
//! with. Blocks of `sh` hold what is run once to set something up, and no command of ours.
//!
//! `UPDATE_DOCUMENTS=1 cargo test -p tilework-cli --test all documents` writes what is printed today below the commands.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::files::Folder;
use crate::common::without_surroundings;

const DOCUMENTS: [&str; 7] = [
    "README.md",
    "COMPARE.md",
    "docs/json.md",
    "docs/notations.md",
    "samples/README.md",
    "crates/tilework-python/README.md",
    "crates/tilework-c/README.md",
];

/// A command of a document.
struct Step {
    line: usize,
    command: String,
    code: i32,
    printed: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of a kind, each with the number of its first line.
fn blocks<'t>(text: &'t str, kind: &str) -> Vec<(usize, Vec<&'t str>)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Vec<&str>, bool)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((number + 2, Vec::new(), info == kind)),
            (Some(_), Some("")) => {
                found.extend(open.take().filter(|open| open.2).map(|open| (open.0, open.1)))
            }
            (Some((_, lines, _)), _) => lines.push(line),
            (None, None) => {}
        }
    }
    found
}

/// The commands of a block.
fn steps(first: usize, lines: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(typed), _) => {
                let (command, remark) = typed.split_once("  #").unwrap_or((typed, ""));
                steps.push(Step {
                    line: first + number,
                    command: command.trim_end().to_owned(),
                    code: exit_code(remark),
                    printed: Vec::new(),
                });
            }
            (None, Some(step)) => step.printed.push((*line).to_owned()),
            (None, None) => panic!("line {}: output without a command", first + number),
        }
    }
    steps.iter_mut().for_each(|step| {
        while step.printed.last().is_some_and(String::is_empty) {
            step.printed.pop();
        }
    });
    steps
}

/// The code that a remark names, or success.
fn exit_code(remark: &str) -> i32 {
    remark.split_once("exit code ").map_or(0, |(_, code)| code.trim().parse().expect("a code ends a remark"))
}

/// The search path, with our command first.
fn path() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_tilework"));
    let own = program.parent().expect("a program is in a folder").to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).expect("paths")
}

/// What is wrong with a step, if anything, and what it printed where it is that.
fn fault(step: &Step, folder: &Path) -> Option<(String, Option<String>)> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1\n{}", step.command)).current_dir(folder).env("PATH", path());
    without_surroundings(&mut shell);
    let ran = shell.output().expect("a shell");
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.code() != Some(step.code) {
        return Some((format!("ended with {}, not {}:\n{printed}", ran.status, step.code), None));
    }
    let lines: Vec<&str> = printed.trim_end().lines().collect();
    let same = match step.printed.iter().position(|line| line == "...") {
        _ if step.printed.is_empty() => true,
        None => step.printed == lines,
        Some(end) => lines.len() > end && step.printed[..end] == lines[..end],
    };
    (!same).then(|| (format!("prints\n{printed}"), Some(printed)))
}

/// A document with what steps print today; the steps in their order.
fn updated(document: &str, changes: &[(Step, String)]) -> String {
    let mut lines: Vec<&str> = document.lines().collect();
    for (step, printed) in changes.iter().rev() {
        let end = step.line + step.printed.len();
        lines.splice(step.line..end, printed.trim_end().lines());
    }
    lines.join("\n") + "\n"
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let own = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &own),
            false => drop(fs::copy(entry.path(), own).expect("a file")),
        }
    }
}

#[cfg(unix)]
#[test]
fn every_command_in_the_documents_does_what_they_say() {
    let (mut faults, mut count) = (Vec::new(), 0);
    let is_updating = std::env::var_os("UPDATE_DOCUMENTS").is_some();
    for name in DOCUMENTS {
        let document = fs::read_to_string(root().join(name)).expect("a document");
        // Each document is read alone, from its beginning to its end.
        let folder = Folder::new();
        copy(&root().join("samples"), &folder.0.join("samples"));
        let mut changes = Vec::new();
        for (first, lines) in blocks(&document, "console") {
            for step in steps(first, &lines) {
                count += 1;
                let Some((fault, printed)) = fault(&step, &folder.0) else { continue };
                match printed.filter(|_| is_updating) {
                    Some(printed) => changes.push((step, printed)),
                    None => faults.push(format!("{name}:{}: `{}` {fault}", step.line, step.command)),
                }
            }
        }
        if !changes.is_empty() {
            fs::write(root().join(name), updated(&document, &changes)).expect("a document");
        }
        for (first, lines) in blocks(&document, "sh") {
            for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("tilework ")) {
                faults.push(format!("{name}:{}: `{line}` belongs in a console block", first + number));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(count > 15, "{count} commands");
}

/// Help texts too: whoever reads one types its examples.
#[cfg(all(unix, feature = "completions", feature = "proto", feature = "stores"))]
#[test]
fn every_example_of_the_help_runs() {
    let folder = Folder::new();
    copy(&root().join("samples"), &folder.0.join("samples"));
    // What the examples call `before` and `after` is anybody's own.
    ["before", "after"].iter().for_each(|name| copy(&root().join("samples/dump"), &folder.0.join(name)));
    let help = |args: &[&str]| {
        let said = crate::common::command(args).output().expect("it runs");
        String::from_utf8(said.stdout).expect("UTF-8")
    };
    let all = help(&["--help"]);
    let (_, commands) = all.split_once("Commands:").expect("a list");
    let names = commands.lines().skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"show") && names.contains(&"audit"), "{names:?}");
    let texts = names.iter().filter(|name| **name != "help").map(|name| help(&[name, "--help"]));
    let (mut faults, mut count) = (Vec::new(), 0);
    for text in texts.chain([all.clone()]) {
        let examples = text.split_once("Examples:").map_or("", |(_, examples)| examples);
        for line in examples.lines().map(str::trim) {
            let Some(at) = line.find("tilework ") else { continue };
            if at > 0 && !line.contains("| tilework ") {
                continue;
            }
            let (command, remark) = line.split_once("  #").unwrap_or((line, ""));
            let step =
                Step { line: 0, command: command.to_owned(), code: exit_code(remark), printed: vec![] };
            count += 1;
            faults.extend(fault(&step, &folder.0).map(|(fault, _)| format!("`{command}` {fault}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(count > 20, "{count} examples");
}
