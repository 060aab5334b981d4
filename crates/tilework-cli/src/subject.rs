//! What a command is about: what a text says, or a file that it names.

use std::path::Path;

use tilework::Error;
use tilework::directml::BufferTensorDesc;
use tilework_explain::Subject;

use crate::args::Args;
use crate::file;

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

/// Reads the one thing that a text or a file says; `line` is that of standard input where the text is from there.
pub fn read_one(text: &str, line: Option<u64>, args: &Args) -> Result<Subject, Bad> {
    let mut subjects = read(text, line, args)?;
    if subjects.len() > 1 {
        let error = Error::new(format!("{} descriptors", subjects.len()))
            .at(0..text.len())
            .rule("this command is about one")
            .accepts("the name of one of them after a #, as tilework check prints it: @FILE#NAME");
        return Err(Bad::new(error, text));
    }
    subjects.pop().ok_or_else(|| Bad::new(Error::new("no descriptor").at(0..text.len()), text))
}

/// Reads a shape, a descriptor, or the descriptors of a file. Only an argument names a file: a line of standard input may
/// be anybody's.
pub fn read(text: &str, line: Option<u64>, args: &Args) -> Result<Vec<Subject>, Bad> {
    let file = text.strip_prefix('@');
    if file.is_some() && line.is_some() {
        let error = Error::new("the name of a file, on standard input")
            .at(0..text.len())
            .rule("only an argument names a file that is opened")
            .accepts("a shape or a descriptor, or @FILE as an argument");
        return Err(Bad::new(error, text));
    }
    if args.strict_xla && (file.is_some() || Subject::is_descriptor(text)) {
        let error = Error::new("a DirectML descriptor")
            .at(0..text.len())
            .rule("--strict-xla reads nothing but what XLA writes");
        return Err(Bad::new(error, text));
    }
    match file {
        Some(file) => read_file(file, text),
        None => Subject::read(text, args.strict_xla).map_err(|error| Bad::new(error, text)),
    }
}

/// Reads the one descriptor that a text or a file says, and no shape.
pub fn read_one_desc(text: &str, args: &Args) -> Result<BufferTensorDesc, Bad> {
    match read_one(text, None, args)? {
        Subject::Desc(desc) => Ok(desc),
        Subject::Shape(_) => {
            let error = Error::new("a shape as XLA writes it")
                .at(0..text.len())
                .rule("views are told of DirectML's descriptors")
                .accepts("'FLOAT32 [1,3,224,224]', or @FILE.json");
            Err(Bad::new(error, text))
        }
    }
}

/// The descriptors of `@FILE` or `@FILE#NAME`; `text` is what was given.
fn read_file(file: &str, text: &str) -> Result<Vec<Subject>, Bad> {
    let whole = |error: Error| Bad::new(error.at(0..text.len()), text);
    let (file, name) = match file.rsplit_once('#') {
        Some((before, name)) if !Path::new(file).exists() => (before, Some(name)),
        _ => (file, None),
    };
    let json =
        file::read(Path::new(file), LONGEST).and_then(text_of).map_err(|error| whole(named(file, &error)))?;
    // An error that knows no place in the file is about the file.
    let found = Subject::read_json(&json, name).map_err(|error| match error.span() {
        Some(_) => Bad::new(error, &json),
        None => Bad::new(error, text),
    })?;
    match name {
        Some(name) if found.is_empty() => Err(whole(Error::new(format!("no descriptor {name} in {file}")))),
        _ => Ok(found),
    }
}

/// The most bytes of a file of descriptors that are read: 64 MiB.
pub const LONGEST: u64 = 64 << 20;

/// The text of a file.
pub fn text_of(bytes: Vec<u8>) -> tilework::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(format!("byte 0x{:02x} at {at} is not UTF-8", error.as_bytes()[at]))
            .rule("JSON is written in UTF-8 text")
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
