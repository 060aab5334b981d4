//! The house rules that no compiler checks: unsafe code has its rooms, nothing is left undone, files stay readable.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::{Outcome, shell};

/// The only rooms that may hold unsafe code.
const UNSAFE_ROOMS: [&str; 7] = [
    "crates/tilework-copy",
    "crates/tilework-c",
    "crates/tilework-python",
    "crates/tilework-web/src/exports.rs",
    "bench/engine",
    "bench/peers",
    "soak/src/library.rs",
];

/// Folders that hold nothing of ours, besides the hidden ones.
const FOREIGN: [&str; 4] = ["target", "artifacts", "node_modules", "coverage"];

/// Inputs that the fuzzer made. The folder `corpus` in the root is ours.
const FUZZED: &str = "fuzz/corpus";

/// A folder of this name holds code that a program writes and nobody reads: only its length is nobody's concern.
const GENERATED: &str = "generated";

/// What is read, by the ending of its name.
const KINDS: [&str; 9] = ["rs", "md", "toml", "py", "sh", "c", "h", "cpp", "hpp"];

/// A file is one idea, read top to bottom: above the first number of lines comes a warning, above the second a failure.
const LINES: (usize, usize) = (400, 600);

// Written in two halves, so that this file keeps the rules that it checks.
const UNSAFE: &str = concat!("un", "safe");
const LEFTOVERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!"),
    concat!("unimplemented", "!"),
    concat!("db", "g!"),
];

/// Words that say in a roundabout way what a plain one says. They are looked for where users read: in documents, in help
/// texts and in messages.
const TICS: [&str; 10] = [
    "of which",
    "so many",
    "is told",
    "are told",
    "as told",
    "told by",
    "told otherwise",
    "tells of",
    "by and by",
    "that were better",
];

/// Words that are often misspelt, each with what it should be: a line of both for each. That is no spelling checker, and needs
/// none of the exceptions that one wants for names of types and hexadecimal digits.
const MISSPELT: &str = include_str!("misspelt.txt");

pub fn check() -> Outcome {
    let root = shell::root();
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let (mut broken, mut long) = (0, 0);
    for path in &files {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let path = path.strip_prefix(&root).unwrap_or(path);
        for problem in problems(path, &text) {
            println!("{problem}");
            broken += 1;
        }
        let lines = text.lines().count();
        if is_written(path) && lines > LINES.0 && lines <= LINES.1 {
            println!("warning: {} has {lines} lines; a file is one idea, up to {}", path.display(), LINES.0);
            long += 1;
        }
    }
    println!("{} files read, {long} of them long", files.len());
    if broken == 0 { Ok(()) } else { Err(format!("{broken} rules broken")) }
}

/// The rules that a file breaks.
fn problems(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let may_be_unsafe = UNSAFE_ROOMS.iter().any(|room| path.starts_with(room));
    for (number, line) in text.lines().enumerate() {
        let mut report = |what: &str| found.push(format!("{}:{}: {what}", path.display(), number + 1));
        for word in LEFTOVERS {
            if has_word(line, word) {
                report(&format!("`{word}` is left"));
            }
        }
        for tic in TICS.iter().filter(|tic| is_read(path, line) && has_word(&line.to_lowercase(), tic)) {
            report(&format!("`{tic}`: say it plainly"));
        }
        for word in line.split(|c: char| !c.is_ascii_alphabetic()) {
            if let Some((wrong, right)) = misspelt(word) {
                report(&format!("`{wrong}` is misspelt: `{right}`"));
            }
        }
        let code = line.split("//").next().unwrap_or(line);
        if is_rust(path) && !may_be_unsafe && has_word(code, UNSAFE) {
            report(&format!("`{UNSAFE}` outside {}", UNSAFE_ROOMS.join(" and ")));
        }
    }
    let lines = text.lines().count();
    if is_written(path) && lines > LINES.1 {
        found.push(format!("{}: {lines} lines; {} at most", path.display(), LINES.1));
    }
    found
}

/// What a word should be, if it is one of those that are often misspelt.
fn misspelt(word: &str) -> Option<(&str, &str)> {
    static WORDS: OnceLock<HashMap<&str, (&str, &str)>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        MISSPELT.lines().filter_map(|pair| pair.split_once(' ')).map(|pair| (pair.0, pair)).collect()
    });
    if word.len() < 3 { None } else { words.get(word.to_ascii_lowercase().as_str()).copied() }
}

/// Whether users read a line: documents, help texts, which are comments of the command's arguments, and texts in quotes.
fn is_read(path: &Path, line: &str) -> bool {
    let line = line.trim_start();
    let is_comment = line.starts_with("//");
    let is_help = path.to_string_lossy().replace('\\', "/").starts_with("crates/tilework-cli/src/args");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => true,
        Some("rs") => {
            let is_source = path.starts_with("crates") && path.iter().any(|part| part == "src");
            // What stands in a string of bytes is looked for in texts of others.
            let mut parts = line.split("b\"");
            let is_first = parts.next().is_some_and(|first| first.contains('"'));
            let is_text = is_first || parts.any(|part| part.matches('"').count() > 1);
            is_source && (is_help || !is_comment && is_text)
        }
        _ => false,
    }
}

/// Whether the word stands in the line as a whole.
fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part_of_word) && !line[at + word.len()..].starts_with(part_of_word)
    })
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Whether somebody wrote this code, and so somebody reads it.
fn is_written(path: &Path) -> bool {
    is_rust(path) && !path.components().any(|part| part.as_os_str() == GENERATED)
}

/// Our texts under a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') || FOREIGN.contains(&name.as_ref()) || path.ends_with(FUZZED) {
            continue;
        }
        if kind.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| KINDS.iter().any(|kind| ending == *kind)) {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_not_safe_is_found_outside_its_rooms_only() {
        let text = format!("let x = {UNSAFE} {{ 1 }};\n");
        assert_eq!(problems(Path::new("crates/tilework/src/a.rs"), &text).len(), 1);
        assert_eq!(problems(Path::new("crates/tilework-copy/src/a.rs"), &text).len(), 0);
        let spoken = format!("#![forbid({UNSAFE}_code)]\n// {UNSAFE} is not needed\n");
        assert_eq!(problems(Path::new("crates/tilework/src/a.rs"), &spoken).len(), 0);
    }

    #[test]
    fn what_is_left_undone_is_found_with_its_line() {
        let text = format!("fine\nlater {}: more\n", LEFTOVERS[0]);
        assert_eq!(problems(Path::new("a.md"), &text).len(), 1);
        assert!(problems(Path::new("a.md"), &text)[0].starts_with("a.md:2:"));
    }

    #[test]
    fn misspelt_words_are_found_and_parts_of_others_are_not() {
        let wrong = concat!("wid", "ht");
        let found = problems(Path::new("a.py"), &format!("a {wrong} {wrong}s"));
        assert_eq!(found, [format!("a.py:1: `{wrong}` is misspelt: `width`")]);
    }

    #[test]
    fn roundabout_words_are_found_where_users_read() {
        let text = "a file of which one half is read\n";
        assert_eq!(problems(Path::new("README.md"), text).len(), 1);
        assert_eq!(problems(Path::new("crates/a/src/a.rs"), text).len(), 0);
        assert_eq!(problems(Path::new("crates/a/src/a.rs"), &format!("    \"{}\"", text.trim())).len(), 1);
        let searched = "    after(line, b\" of which \")";
        assert_eq!(problems(Path::new("crates/a/src/a.rs"), searched).len(), 0);
        assert_eq!(problems(Path::new("crates/tilework-cli/src/args.rs"), &format!("/// {text}")).len(), 1);
    }

    #[test]
    fn a_file_with_one_line_too_many_is_refused() {
        assert_eq!(problems(Path::new("a.rs"), &"\n".repeat(LINES.1)).len(), 0);
        assert_eq!(problems(Path::new("a.rs"), &"\n".repeat(LINES.1 + 1)).len(), 1);
    }

    #[test]
    fn generated_code_may_be_long_and_nothing_else() {
        let path = Path::new("crates/tilework/src/generated/a.rs");
        assert_eq!(problems(path, &"\n".repeat(LINES.1 + 1)).len(), 0);
        assert_eq!(problems(path, &format!("{UNSAFE} {{}}")).len(), 1);
        assert_eq!(problems(Path::new("src/generated.rs"), &"\n".repeat(LINES.1 + 1)).len(), 1);
    }
}
