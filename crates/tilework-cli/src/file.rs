//! Files that an argument names and that are read as a whole.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use tilework::{Error, Result};

/// All bytes of a file, at most `longest` of them.
///
/// A file, or a pipe that somebody writes to, such as `<(…)` or `/dev/stdin`. A device never ends, and a pipe without a
/// writer never begins: neither is waited for.
pub fn read(path: &Path, longest: u64) -> Result<Vec<u8>> {
    let mut file = open(path).map_err(because)?;
    let found = file.metadata().map_err(because)?;
    if found.is_dir() {
        return Err(Error::new("a folder").accepts("a file"));
    }
    if !found.is_file() && !is_pipe(&found) {
        return Err(Error::new("a device").rule("only files and pipes are read").accepts("a file"));
    }
    if found.is_file() && found.len() > longest {
        return Err(too_long(longest));
    }
    all(&mut file, longest)
}

/// All bytes of a stream, at most `longest` of them.
pub fn all(input: &mut dyn Read, longest: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(longest + 1).read_to_end(&mut bytes).map_err(because)?;
    match bytes.len() as u64 > longest {
        true => Err(too_long(longest)),
        false => Ok(bytes),
    }
}

fn because(error: io::Error) -> Error {
    Error::new(error.to_string())
}

fn too_long(longest: u64) -> Error {
    Error::new(format!("more than {longest} bytes"))
        .rule("input is limited to bound memory")
        .accepts(format!("up to {longest} bytes"))
}

/// Opens without waiting for the writer of a pipe, and reads as ever.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fcntl_setfl};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(File::from(file))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn is_pipe(found: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}
