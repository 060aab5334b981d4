//! The changes that change nothing: the list in `same.txt`, each with the reason why no test could notice it.
//!
//! ```text
//! crates/tilework-core/src/order.rs: sort: <= for < in left < right
//!     Equal ones are the same number, and which of them comes first cannot be seen.
//! ```
//!
//! A change has no line there, so that the list stays right while other lines of the file are edited.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use crate::change::Mutant;

const LIST: &str = "xtask/mutants/same.txt";

/// The numbers of the mutants that the list has.
///
/// # Errors
/// An entry has no reason, or is about a file that is gone, or about one of `files` that has no such mutant.
pub fn listed(mutants: &[Mutant], files: &[String]) -> Result<HashSet<u32>, String> {
    let text = fs::read_to_string(LIST).map_err(|error| format!("{LIST}: {error}"))?;
    find(&text, mutants, |file| files.iter().any(|one| one == file) || !Path::new(file).is_file())
}

/// The same of a list's text. `is_known` is whether all mutants of a file are there.
fn find(text: &str, mutants: &[Mutant], is_known: impl Fn(&str) -> bool) -> Result<HashSet<u32>, String> {
    let mut by_name: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for mutant in mutants {
        by_name.entry(mutant.name()).or_default().push(mutant.number);
    }
    let mut numbers = HashSet::new();
    for entry in entries(text)? {
        match by_name.get(entry) {
            Some(found) => numbers.extend(found),
            None if is_known(entry.split(": ").next().unwrap_or_default()) => {
                return Err(format!("{LIST}: there is no such change any more: {entry}"));
            }
            None => {}
        }
    }
    Ok(numbers)
}

/// The changes. Several that follow one another share the reason behind them.
fn entries(text: &str) -> Result<Vec<&str>, String> {
    let (mut entries, mut needs_reason) = (Vec::new(), false);
    for line in text.lines().filter(|line| !line.starts_with('#')).chain([""]) {
        let is_reason = line.starts_with(' ');
        if needs_reason && line.is_empty() || is_reason && entries.is_empty() {
            let of = entries.last().unwrap_or(&line);
            return Err(format!("{LIST}: no reason behind a change, in lines that begin with blanks: {of}"));
        }
        if !is_reason && !line.is_empty() {
            entries.push(line);
        }
        needs_reason = !is_reason && (needs_reason || !line.is_empty());
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_reason() {
        let text = "# about\n\na: f: x\n    why\n    so\n\nb: g: y\nb: g: z\n    why\n";
        assert_eq!(entries(text), Ok(vec!["a: f: x", "b: g: y", "b: g: z"]));
        assert_eq!(entries("# about\n"), Ok(vec![]));
        for text in ["a: f: x\n", "a: f: x\n\nb: g: y\n    why\n", "    why\n", "a: f: x\n    why\nb: g: y"] {
            assert!(entries(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_entry_is_found_on_any_line_and_refused_where_it_is_gone() {
        let mutants = crate::change::mutants("a.rs", "\n\nfn f() -> A { a() < b() }", 1).expect("parses");
        let listed = |text: &str| find(&format!("{text}\n  why"), &mutants, |file| file == "a.rs");
        assert_eq!(listed("a.rs: f: <= for < in a() < b()").map(|found| found.len()), Ok(1));
        assert_eq!(listed("b.rs: f: <= for < in a() < b()").map(|found| found.len()), Ok(0));
        assert!(listed("a.rs: g: <= for < in a() < b()").is_err());
    }
}
