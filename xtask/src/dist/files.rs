//! Files and folders, with errors that name them.

use std::fs;
use std::io::Error;
use std::path::Path;

use crate::Outcome;

/// The sentence that says what failed where.
pub fn because(path: &Path, error: &Error) -> String {
    format!("{}: {error}", path.display())
}

/// Makes a folder that has nothing in it.
pub fn empty(folder: &Path) -> Outcome {
    let _ = fs::remove_dir_all(folder); // it need not exist
    fs::create_dir_all(folder).map_err(|error| because(folder, &error))
}

/// Writes a file, and the folders above it where they are missing.
pub fn write(path: &Path, text: &str) -> Outcome {
    above(path)?;
    fs::write(path, text).map_err(|error| because(path, &error))
}

/// Copies a file, and makes the folders above the copy where they are missing.
pub fn copy(from: &Path, to: &Path) -> Outcome {
    above(to)?;
    fs::copy(from, to).map(drop).map_err(|error| because(from, &error))
}

/// Copies a folder of files.
pub fn copy_folder(from: &Path, to: &Path) -> Outcome {
    names(from)?.iter().try_for_each(|name| copy(&from.join(name), &to.join(name)))
}

/// The names in a folder, in their order.
pub fn names(folder: &Path) -> Result<Vec<String>, String> {
    let read = fs::read_dir(folder).map_err(|error| because(folder, &error))?;
    let mut names: Vec<String> =
        read.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// What is in a file of text.
pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| because(path, &error))
}

fn above(path: &Path) -> Outcome {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| because(folder, &error))
}
