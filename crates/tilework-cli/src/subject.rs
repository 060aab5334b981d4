//! What a command is about: what a text says, or a file that it names.

use std::path::Path;

use tilework::Error;
use tilework::dialect::{Found, Known, Said};
use tilework::directml::BufferTensorDesc;

use crate::args::Args;
use crate::{file, npy};

/// An error and the text it is about, which is a file's where one was read.
#[derive(Debug)]
pub struct Bad {
    pub error: Error,
    pub text: String,
}

impl Bad {
    pub fn new(error: Error, text: &str) -> Bad {
        Bad { error, text: text.to_owned() }
    }
}

/// Reads the one thing that a text or a file says, with what is known besides; `line` is that of standard input where the
/// text is from there.
pub fn read_one(text: &str, line: Option<u64>, known: Known, args: &Args) -> Result<Said, Bad> {
    let mut found = read(text, line, known, args)?;
    if found.len() > 1 {
        let error = Error::new(format!("{} arrays are described", found.len()))
            .at(0..text.len())
            .rule("this command is about one")
            .accepts("the name of one of them after a #, as tilework check prints it: @FILE#NAME");
        return Err(Bad::new(error, text));
    }
    found
        .pop()
        .map(|found| found.said)
        .ok_or_else(|| Bad::new(Error::new("nothing is described").at(0..text.len()), text))
}

/// Reads everything that a text or a file says. Only an argument names a file: a line of standard input may be anybody's.
pub fn read(text: &str, line: Option<u64>, known: Known, args: &Args) -> Result<Vec<Found>, Bad> {
    let file = text.strip_prefix('@');
    if file.is_some() && line.is_some() {
        let error = Error::new("the name of a file, on standard input")
            .at(0..text.len())
            .rule("only an argument names a file that is opened")
            .accepts("a layout, or @FILE as an argument");
        return Err(Bad::new(error, text));
    }
    match file {
        Some(file) => read_file(file, text, known, args),
        None => args.reading(known).read(text).map_err(|error| Bad::new(of_file(error, text, line), text)),
    }
}

/// The error, or where the text is the name of a file, how to say so.
fn of_file(error: Error, text: &str, line: Option<u64>) -> Error {
    // One that is not there is looked for when it is said so.
    let is_file =
        |path: &Path| path.is_file() || path.extension().is_some_and(|extension| extension == "npy");
    if line.is_some() || !is_file(Path::new(text)) {
        return error;
    }
    Error::new("the name of a file")
        .at(0..text.len())
        .rule("a file that is to be read has an @ before its name")
        .accepts(format!("@{text}"))
}

/// Reads the one DirectML descriptor that a text or a file says.
pub fn read_one_desc(text: &str, args: &Args) -> Result<BufferTensorDesc, Bad> {
    let said = read_one(text, None, Known::default(), args)?;
    said.get().cloned().ok_or_else(|| {
        let error = Error::new(said.dialect().title)
            .at(0..text.len())
            .rule("`view` works on DirectML descriptors only")
            .accepts("'FLOAT32 [1,3,224,224]', or @FILE.json");
        Bad::new(error, text)
    })
}

/// What `@FILE` says, or what it calls NAME in `@FILE#NAME`; `text` is what was given.
fn read_file(file: &str, text: &str, known: Known, args: &Args) -> Result<Vec<Found>, Bad> {
    let whole = |error: Error| Bad::new(error.at(0..text.len()), text);
    let (file, name) = match file.rsplit_once('#') {
        Some((before, name)) if !Path::new(file).exists() => (before, Some(name)),
        _ => (file, None),
    };
    let content = npy::shape(Path::new(file))
        .unwrap_or_else(|| file::read(Path::new(file), LONGEST).and_then(text_of))
        .map_err(|error| whole(named(file, &error)))?;
    // An error that knows no place in the file is about the file.
    let mut found = args.reading(known).read(&content).map_err(|error| match error.span() {
        Some(_) => Bad::new(error, &content),
        None => Bad::new(error, text),
    })?;
    let Some(name) = name else { return Ok(found) };
    found.retain(|found| found.name.as_deref() == Some(name));
    match found.is_empty() {
        true => Err(whole(Error::new(format!("nothing is called {name} in {file}")))),
        false => Ok(found),
    }
}

/// The most bytes of a file of descriptors that are read: 64 MiB.
pub const LONGEST: u64 = 64 << 20;

/// The text of a file.
pub fn text_of(bytes: Vec<u8>) -> tilework::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(format!("byte 0x{:02x} at {at} is not UTF-8", error.as_bytes()[at]))
            .rule("a file is read as UTF-8 text")
    })
}

/// The error with the name of the file that it is about.
fn named(file: &str, error: &Error) -> Error {
    let mut named = Error::new(format!("{file}: {}", error.found()));
    if let Some(rule) = error.broken_rule() {
        named = named.rule(rule);
    }
    if let Some(accepted) = error.accepted() {
        named = named.accepts(accepted);
    }
    named
}
