//! Files, and folders full of them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use tilework::InOrder;

use tilework::Error;

use crate::audit::Audit;
use crate::read::select::{Selection, is_known};

/// How much of a file is in memory at a time.
const BUFFER: usize = 1 << 18;

/// How deep folders are looked into.
const DEPTH: usize = 16;

/// A file or a folder that could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Which.
    pub path: PathBuf,
    /// Why not.
    pub error: Error,
    /// Whether it would have taken more memory than there is for it (see [`Audit::with_memory`]).
    pub lacks_memory: bool,
}

impl Refused {
    fn new(path: &Path, error: &io::Error) -> Refused {
        let lacks_memory = error.kind() == io::ErrorKind::OutOfMemory;
        let own = error.get_ref().and_then(|own| own.downcast_ref::<Error>());
        let error = own.cloned().unwrap_or_else(|| Error::new(error.to_string()));
        Refused { path: path.to_owned(), error, lacks_memory }
    }
}

impl Audit {
    /// Reads a file or a folder: see [`Audit::read_paths`].
    pub fn read_path(&mut self, path: &Path) -> Vec<Refused> {
        self.read_paths(&[path])
    }

    /// Reads files, whatever is in them, and of folders and all folders in them the files of a dump. Of each module that
    /// was dumped at several stages only the last is read (see [`Selection`]), of files that are named too; and each file once. What cannot be
    /// read is given back, and the rest is read.
    pub fn read_paths(&mut self, paths: &[&Path]) -> Vec<Refused> {
        let (mut files, mut refused) = (Vec::new(), Vec::new());
        for path in paths {
            if !path.is_dir() {
                files.push(path.to_path_buf());
                continue;
            }
            let mut own = Vec::new();
            walk(path, DEPTH, &mut own, &mut refused);
            own.order();
            // Of all files only the beginning is read here; what cannot be opened is told when it is read.
            own.retain(|file| begins_known(file).unwrap_or(true));
            if own.is_empty() {
                let error = Error::new("there is no file of a dump in this folder").accepts(
                    "what XLA writes with --xla_dump_to=DIR and --xla_dump_hlo_as_text or --xla_dump_hlo_as_proto; \
                     other texts by their names",
                );
                refused.push(Refused { path: path.to_path_buf(), error, lacks_memory: false });
            }
            files.extend(own);
        }
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(file.clone()));
        let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let chosen = Selection::of(&names).files;
        for place in chosen {
            refused.extend(self.read_file(&files[place]));
            // One file says it for all.
            if self.lacks_memory() {
                break;
            }
        }
        refused
    }

    fn read_file(&mut self, path: &Path) -> Option<Refused> {
        let input = File::open(path).map(|file| BufReader::with_capacity(BUFFER, file));
        let outcome = input.and_then(|input| self.read(&path.to_string_lossy(), input));
        outcome.err().map(|error| Refused::new(path, &error))
    }
}

/// All files below a folder. Links are followed to files and not to folders, so that the walk ends.
fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>, refused: &mut Vec<Refused>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return refused.push(Refused::new(folder, &error)),
    };
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok((path, kind)) if kind.is_dir() => {
                if depth > 0 {
                    walk(&path, depth - 1, files, refused);
                }
            }
            Ok((path, _)) if path.is_file() => files.push(path),
            Ok(_) => {}
            Err(error) => refused.push(Refused::new(folder, &error)),
        }
    }
}

/// Whether a file begins like one of a dump.
fn begins_known(path: &Path) -> io::Result<bool> {
    let mut input = BufReader::with_capacity(1 << 12, File::open(path)?);
    let start = input.fill_buf()?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(path.extension().is_some_and(|extension| extension == "gz"));
    }
    Ok(is_known(start))
}
