//! What the project depends on: where it comes from, and under which terms.

use std::collections::BTreeSet;

use crate::{Outcome, shell};

/// Terms that allow everything that ours do.
const TERMS: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    // Of lists of certificates, which are data.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// What is there in two versions as soon as objects of servers are read: of `object_store`, `ring` and what they are made of.
/// Nothing that is built without them has a second version.
const TWICE: [&str; 7] =
    ["base64", "crypto-common", "digest", "getrandom", "hashbrown", "syn", "windows-sys"];

/// Every dependency, of all crates on all systems, is from crates.io and under terms that allow what ours do; none is there
/// in two versions, but for some of the feature `objects`.
pub fn check() -> Outcome {
    check_with(&[], &[])?;
    check_with(&["--features=tilework-cli/objects"], &TWICE)
}

fn check_with(features: &[&str], twice: &[&str]) -> Outcome {
    let words = ["tree", "--workspace", "--locked", "--target=all", "--edges=normal,build", "--prefix=none"];
    let said =
        shell::quietly(shell::cargo().args(words).args(features).args(["--no-dedupe", "--format={p}|{l}"]))?;
    let lines: BTreeSet<&str> = said.lines().filter(|line| line.contains('|')).collect();
    let mut problems: Vec<String> = lines.iter().filter_map(|line| problem(line)).collect();
    let mut names = BTreeSet::new();
    for line in &lines {
        let package = line.split('|').next().unwrap_or_default();
        let name = package.split(' ').next().unwrap_or_default();
        if !names.insert(name) && !twice.contains(&name) {
            problems.push(format!("{name} is there in two versions"));
        }
    }
    println!("{} packages, with their sources and terms", lines.len());
    for problem in &problems {
        println!("{problem}");
    }
    if problems.is_empty() { Ok(()) } else { Err(format!("{} problems with dependencies", problems.len())) }
}

/// What is wrong with a package, as `NAME VERSION (SOURCE)|TERMS`, where those of the registry show no source.
fn problem(line: &str) -> Option<String> {
    let (package, terms) = line.split_once('|')?;
    let package = package.trim_end_matches(" (proc-macro)");
    if let Some((name, source)) = package.split_once(" (") {
        let is_ours = source.trim_end_matches(')').starts_with(&*shell::root().to_string_lossy());
        return (!is_ours).then(|| format!("{name} is from {source}, not from crates.io"));
    }
    (!allows(terms)).then(|| format!("{package} is under {terms:?}"))
}

/// Whether each side of every AND has an alternative that is listed.
fn allows(terms: &str) -> bool {
    terms.split(" AND ").all(|side| {
        let side = side.trim_matches(['(', ')']);
        side.split(" OR ").flat_map(|one| one.split('/')).any(|one| TERMS.contains(&one.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_need_an_alternative_that_is_listed_on_each_side() {
        for terms in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert!(allows(terms), "{terms}");
        }
        for terms in ["", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1-or-later"] {
            assert!(!allows(terms), "{terms}");
        }
    }

    #[test]
    fn a_package_from_elsewhere_is_a_problem() {
        assert_eq!(problem("memchr v2.8.3|Unlicense OR MIT"), None);
        assert_eq!(problem("serde_derive v1.0.1 (proc-macro)|MIT"), None);
        let ours = format!("tilework v0.1.0 ({}/crates/tilework)|MIT", shell::root().display());
        assert_eq!(problem(&ours), None);
        assert!(
            problem("x v1.0.0 (https://example.org/x#1)|MIT").is_some_and(|said| said.contains("crates.io"))
        );
    }
}
