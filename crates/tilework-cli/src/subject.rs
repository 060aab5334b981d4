//! What a command is about: a shape as XLA writes it, or a tensor as DirectML describes it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tilework::directml::{BufferTensorDesc, DataType, Desc, FoundDesc, read_json};
use tilework::xla::{ArrayShape, PrimitiveType, Shape};
use tilework::{Error, Layout};

use crate::args::Args;

/// A shape or a descriptor.
pub enum Subject {
    Shape(Shape),
    Desc(BufferTensorDesc),
}

impl Subject {
    /// The layout of something that must be an array.
    pub fn layout(&self, text: &str) -> tilework::Result<Layout> {
        let whole = 0..text.len();
        match self {
            Subject::Desc(desc) => desc.lower(),
            Subject::Shape(shape) => {
                let array = shape.as_array().ok_or_else(|| {
                    Error::new(format!("this is not an array but of the kind {}", crate::json::kind(shape)))
                        .at(whole.clone())
                        .rule("only the elements of an array have offsets")
                        .accepts("an array, such as one of a tuple's elements")
                })?;
                array.lower().map_err(|error| error.or_at(whole))
            }
        }
    }

    /// The array of a shape.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Subject::Shape(shape) => shape.as_array(),
            Subject::Desc(_) => None,
        }
    }

    /// The type of the elements; none for what has none.
    pub fn element(&self) -> Option<PrimitiveType> {
        match self {
            Subject::Shape(shape) => shape.as_array().map(ArrayShape::element_type),
            Subject::Desc(desc) => Some(desc.data_type().in_xla()),
        }
    }

    /// The descriptor.
    pub fn as_desc(&self) -> Option<&BufferTensorDesc> {
        match self {
            Subject::Shape(_) => None,
            Subject::Desc(desc) => Some(desc),
        }
    }
}

/// The canonical text.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Shape(shape) => shape.fmt(f),
            Subject::Desc(desc) => desc.fmt(f),
        }
    }
}

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

/// Reads the one thing that a text or a file says.
pub fn read_one(text: &str, args: &Args) -> Result<Subject, Bad> {
    let mut subjects = read(text, args)?;
    if subjects.len() > 1 {
        let error = Error::new(format!("{} descriptors", subjects.len()))
            .at(0..text.len())
            .rule("this command is about one")
            .accepts("the name of one of them after a #, as tilework check prints it: @FILE#NAME");
        return Err(Bad::new(error, text));
    }
    subjects.pop().ok_or_else(|| Bad::new(Error::new("no descriptor").at(0..text.len()), text))
}

/// Reads a shape, a descriptor, or the descriptors of a file, told apart by how the text begins.
pub fn read(text: &str, args: &Args) -> Result<Vec<Subject>, Bad> {
    let is_json = text.starts_with(['@', '{']);
    if !is_json && !DataType::begins(text) {
        let shape = if args.strict_xla { Shape::parse_strict_xla(text) } else { Shape::parse(text) };
        return shape.map(|shape| vec![Subject::Shape(shape)]).map_err(|error| Bad::new(error, text));
    }
    if args.strict_xla {
        let error = Error::new("a DirectML descriptor")
            .at(0..text.len())
            .rule("--strict-xla reads nothing but what XLA writes");
        return Err(Bad::new(error, text));
    }
    let descs = if is_json {
        read_descs(text)?
    } else {
        vec![Desc::parse(text).map_err(|error| Bad::new(error, text))?]
    };
    let build = |desc: &Desc| desc.build().map(Subject::Desc).map_err(|error| Bad::new(error, text));
    descs.iter().map(build).collect()
}

/// Reads the one descriptor that a text or a file says, and no shape.
pub fn read_one_desc(text: &str, args: &Args) -> Result<BufferTensorDesc, Bad> {
    match read_one(text, args)? {
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

/// The descriptors of `{…}`, `@FILE` or `@FILE#NAME`.
fn read_descs(text: &str) -> Result<Vec<Desc>, Bad> {
    let whole = |error: Error| Bad::new(error.at(0..text.len()), text);
    let Some(file) = text.strip_prefix('@') else { return descs_of(text, None) };
    let (file, name) = match file.rsplit_once('#') {
        Some((before, name)) if !Path::new(file).exists() => (before, Some(name)),
        _ => (file, None),
    };
    let json = File::open(file)
        .map_err(|error| whole(Error::new(format!("{file}: {error}"))))
        .and_then(|mut file| read_text(&mut file).map_err(whole))?;
    let found = descs_of(&json, name)?;
    match name {
        Some(name) if found.is_empty() => Err(whole(Error::new(format!("no descriptor {name} in {file}")))),
        _ => Ok(found),
    }
}

fn descs_of(json: &str, name: Option<&str>) -> Result<Vec<Desc>, Bad> {
    let found = read_json(json).map_err(|error| Bad::new(error, json))?;
    let wanted = found.into_iter().filter(|found| name.is_none_or(|name| found.path == name));
    wanted.map(FoundDesc::read).map(|desc| desc.map_err(|error| Bad::new(error, json))).collect()
}

/// The most bytes of a file that are read.
const LONGEST: u64 = 1 << 30;

/// All text of a file.
pub fn read_text(input: &mut dyn Read) -> tilework::Result<String> {
    let mut bytes = Vec::new();
    let outcome: io::Result<usize> = input.take(LONGEST + 1).read_to_end(&mut bytes);
    outcome.map_err(|error| Error::new(error.to_string()))?;
    if bytes.len() as u64 > LONGEST {
        return Err(
            Error::new(format!("more than {LONGEST} bytes")).rule("files are limited so that memory is")
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(format!("byte 0x{:02x} at {at} is not UTF-8", error.as_bytes()[at]))
            .rule("JSON is written in UTF-8 text")
    })
}
