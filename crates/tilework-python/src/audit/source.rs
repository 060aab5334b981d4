//! What is audited: files, texts, and what the libraries of Python hold of a program.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyBaseException, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use tilework::{Error, printable};
use tilework_audit::{Audit, Refused};

use crate::error::{Bad, Result};

/// No name of a file is longer.
const LONGEST_NAME: usize = 4096;

/// One thing to read.
pub enum Source {
    /// A file or a folder.
    Path(PathBuf),
    /// A text, and what it is called.
    Text(String, Text),
}

/// The bytes of a text, held without a copy.
pub enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    fn bytes(&self) -> &[u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }
}

/// What is given: one thing, or several in a list.
pub fn sources(given: &Bound<'_, PyAny>) -> Result<Vec<Source>> {
    let items: Vec<Bound<'_, PyAny>> = match (given.cast::<PyList>(), given.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Ok(vec![source(given, "text")?]),
    };
    let named = items.iter().enumerate().map(|(place, item)| source(item, &format!("text {}", place + 1)));
    named.collect()
}

fn source(given: &Bound<'_, PyAny>, name: &str) -> Result<Source> {
    let text = |text: Text| Ok(Source::Text(name.to_owned(), text));
    if let Ok(said) = given.cast::<PyString>() {
        let said = of_str(said)?;
        refuse_name_of_file(said.bytes())?;
        return text(said);
    }
    if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>() {
        return text(of_bytes(given)?);
    }
    if given.is_instance_of::<PyMemoryView>() {
        return text(of_bytes(&given.call_method0("tobytes")?)?);
    }
    if given.is_instance_of::<PyBaseException>() {
        return text(of_str(&given.str()?)?);
    }
    if given.hasattr("__fspath__")? {
        given.py().import("tilework._error")?.call_method1("readable", (given,))?;
        return Ok(Source::Path(given.extract()?));
    }
    if given.hasattr("as_text")? {
        let said = given.call_method0("as_text")?;
        let Ok(said) = said.cast::<PyString>() else {
            let (owner, kind) = (given.get_type().name()?, said.get_type().name()?);
            return Err(PyTypeError::new_err(format!("as_text() of {owner} gives {kind} and no text")).into());
        };
        return text(of_str(said)?);
    }
    let kind = given.get_type().name()?;
    let message = format!(
        "a program is audited that a pathlib.Path, a text, an exception or an object with as_text() holds, such as \
         jax.jit(f).lower(x).compile(), or a list of these; not {kind}"
    );
    Err(PyTypeError::new_err(message).into())
}

/// A text; characters that UTF-8 does not know are bytes that the reader skips.
fn of_str(said: &Bound<'_, PyString>) -> Result<Text> {
    match said.extract::<PyBackedStr>() {
        Ok(text) => Ok(Text::Str(text)),
        Err(_) => of_bytes(&said.call_method1("encode", ("utf-8", "surrogatepass"))?),
    }
}

fn of_bytes(said: &Bound<'_, PyAny>) -> Result<Text> {
    Ok(Text::Bytes(said.extract().map_err(PyErr::from)?))
}

/// Refuses the name of something that there is: nobody means the name alone, and a text never opens a file.
fn refuse_name_of_file(text: &[u8]) -> Result<()> {
    let Ok(name) = std::str::from_utf8(text) else { return Ok(()) };
    if name.len() > LONGEST_NAME || name.contains('\n') {
        return Ok(());
    }
    let Ok(found) = Path::new(name).metadata() else { return Ok(()) };
    let kind = if found.is_dir() { "folder" } else { "file" };
    Err(Error::new(format!("the name of a {kind}, {name:?}"))
        .field("source")
        .rule("a str is a text that is read itself, such as an out-of-memory message, and never opens a file")
        .accepts(format!("pathlib.Path({name:?})"))
        .into())
}

/// Reads everything: files together, so that of a module only the last stage counts. What cannot be read within a folder is
/// given back.
///
/// # Errors
/// A file or a folder that was given and cannot be read, or what would take more than as many bytes of memory.
pub fn read(sources: &[Source], memory: Option<u64>) -> Result<(Audit, Vec<Refused>)> {
    let mut audit = memory.map_or_else(Audit::new, Audit::with_memory);
    let mut paths = Vec::new();
    for source in sources {
        match source {
            Source::Path(path) => paths.push(path.as_path()),
            Source::Text(name, text) => {
                let outcome = audit.read(name, text.bytes());
                if audit.lacks_memory() {
                    return Err(lack(&audit, name));
                }
                outcome.map_err(|error| Error::new(error.to_string()).field(name))?;
            }
        }
    }
    let refused = audit.read_paths(&paths);
    if let (true, Some(last)) = (audit.lacks_memory(), refused.last()) {
        return Err(lack(&audit, &last.path.to_string_lossy()));
    }
    match refused.iter().find(|refused| paths.contains(&refused.path.as_path())) {
        Some(own) => Err(about(&own.error, &own.path.to_string_lossy()).into()),
        None => Ok((audit, refused)),
    }
}

/// Python's `MemoryError`, which people expect where memory ends.
pub fn lack(audit: &Audit, name: &str) -> Bad {
    let limit = audit.memory();
    let twice = limit.saturating_mul(2);
    PyMemoryError::new_err(format!(
        "{}: it would take more than {limit} bytes of memory; accepted: a larger limit, such as memory={twice}",
        printable(name)
    ))
    .into()
}

/// The error with the name of the file that it is about.
fn about(error: &Error, name: &str) -> Error {
    let named = Error::new(error.found()).field(name);
    match error.accepted() {
        Some(accepted) => named.accepts(accepted),
        None => named,
    }
}
