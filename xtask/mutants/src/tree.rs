//! The copy of the project that has the mutants.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies what git knows or would take, with these texts instead of the files'. What is as it was is not written again, so
/// that cargo compiles only what has changed.
pub fn write(copy: &Path, texts: &BTreeMap<String, String>) -> Result<(), String> {
    let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").args(words).output().map_err(|error| format!("git: {error}"))?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut kept = HashSet::new();
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let new = match texts.get(name) {
            Some(text) => text.as_bytes().to_vec(),
            None => match fs::read(name) {
                Ok(bytes) => bytes,
                Err(_) => continue, // removed, and git still has it
            },
        };
        let path = copy.join(name);
        if fs::read(&path).ok().is_none_or(|old| old != new) {
            let folder = path.parent().unwrap_or(copy);
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, new))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        kept.insert(path);
    }
    remove_others(copy, &kept);
    Ok(())
}

fn remove_others(folder: &Path, kept: &HashSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_others(&path, kept);
        } else if !kept.contains(&path) {
            let _ = fs::remove_file(&path); // a test left it, or it was renamed
        }
    }
}
