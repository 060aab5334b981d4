//! A folder of npy files, one for each array, as a container.
//!
//! The name of a file is that of its array, with `%` and two digits for each byte that not every system has in names of files.
//! An npy file has no room for a note on its layout: `tilework.json` beside them has those, as an object of names and texts.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use tilework::{Element, Error, Result};

use super::held::Held;
use super::json::{Reader, shown};
use super::{Container, Format, npz};
use crate::source::{failed, within};

/// The file with the notes.
pub(crate) const NOTES: &str = "tilework.json";

/// The key of the notes in it.
pub(crate) const KEY: &str = "tilework.layout";

/// The longest name of a file that every usual system has.
const LONGEST_NAME: usize = 255;

/// The npy files of a folder, in the order of their names.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = folder.display().to_string();
    let fail = |error| failed(&name, &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|ending| ending == "npy") && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Opens all of them.
pub(crate) fn open(folder: &Path, paths: &[PathBuf], known: Option<Element>) -> Result<Container> {
    let notes = notes(&folder.join(NOTES))?;
    let (mut files, mut tensors) = (Vec::new(), Vec::new());
    for path in paths {
        let held = Held::open(path)?;
        let name = decoded(&path.file_stem().unwrap_or_default().to_string_lossy());
        let note = notes.get(&name).map(String::as_str);
        // Of files that are what their owner says, one of another kind does not hide the others.
        match held.read(|bytes| npz::read_npy(bytes, files.len(), &name, note, known)) {
            Ok(inside) => tensors.extend(inside.tensors),
            Err(why) => tensors.push(held.unread(&name, files.len(), why)),
        }
        files.push(held);
    }
    let name = folder.display().to_string();
    Ok(Container {
        name,
        format: Format::Npy,
        files,
        tensors,
        metadata: Vec::new(),
        raw: Vec::new(),
        lists: Vec::new(),
        pieces: Vec::new(),
        kind: None,
    })
}

fn notes(path: &Path) -> Result<HashMap<String, String>> {
    if !path.is_file() {
        return Ok(HashMap::new());
    }
    let held = Held::open(path)?;
    let mut notes = HashMap::new();
    let mut read = |text: &[u8]| {
        let mut reader = Reader::new(text);
        reader.object(&mut |reader, key| match key == KEY {
            true => reader.object(&mut |reader, name| {
                notes.insert(name, reader.string()?);
                Ok(())
            }),
            false => reader.skip(),
        })?;
        reader.end()
    };
    read(held.bytes()).map_err(|error| within(&held.name, &error))?;
    held.intact()?;
    Ok(notes)
}

/// The name of the file of an array, without its ending.
///
/// # Errors
/// A name that is too long for a file.
pub(crate) fn encoded(name: &str) -> Result<String> {
    let mut out = String::new();
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'.' if at == 0 => out.push_str("%2E"),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    if out.is_empty() || out.len() + ".npy".len() > LONGEST_NAME {
        return Err(Error::new(format!("the name {} as that of a file", shown(name)))
            .rule(format!("a file has a name of 1 to {LONGEST_NAME} bytes"))
            .accepts("--rename, or a container in one file"));
    }
    Ok(out)
}

/// The name of the array in a file of this name.
pub(crate) fn decoded(file: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), file.as_bytes());
    while let Some((&byte, behind)) = rest.split_first() {
        let hex = rest.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = hex.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(byte));
        rest = if code.is_some() { &rest[3..] } else { behind };
    }
    String::from_utf8(out).unwrap_or_else(|_| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_from_its_file() -> Result<()> {
        for name in ["w", "a/b", "../x", ".hidden", "ä%41", "%", "a.b-c_d", "con: nul", "\\"] {
            let file = encoded(name)?;
            assert_eq!(decoded(&file), name, "{file}");
            assert!(!file.starts_with('.') && !file.contains(['/', '\\', ':', ' ']), "{file}");
        }
        assert!(encoded("").is_err() && encoded(&"x".repeat(252)).is_err());
        Ok(())
    }
}
