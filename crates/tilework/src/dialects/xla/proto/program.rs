//! `ProgramShapeProto`: what a program takes and gives.
//!
//! | field | |
//! |---|---|
//! | 1 parameters | `ShapeProto`, one each |
//! | 2 result | `ShapeProto` |
//! | 3 parameter_names | text, one each |

use super::read::ShapeMessage;
use super::wire::{Path, Reader, error, put_message};
use super::write::{self, Age};
use crate::error::Result;
use crate::xla::value::program::ProgramShape;

const PROGRAM_FIELDS: [&str; 4] = ["", "parameters", "result", "parameter_names"];

impl ProgramShape {
    /// The bytes of XLA's `ProgramShapeProto`, exactly as XLA writes them.
    ///
    /// # Errors
    /// See [`Shape::to_proto`](crate::xla::value::shape::Shape::to_proto).
    pub fn to_proto(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for (_, parameter) in &self.parameters {
            put_message(&mut out, 1, &write::shape(parameter, Age::Today, 0)?);
        }
        put_message(&mut out, 2, &write::shape(&self.result, Age::Today, 0)?);
        for (name, _) in &self.parameters {
            put_message(&mut out, 3, name.as_bytes());
        }
        Ok(out)
    }

    /// The program shape in the bytes of XLA's `ProgramShapeProto`.
    ///
    /// Parameters after the last name have the name "".
    ///
    /// # Errors
    /// Bytes that are not such a message, a shape that is not valid, no result, more names than parameters.
    pub fn from_proto(bytes: &[u8]) -> Result<ProgramShape> {
        let path = Path::root("program shape");
        let mut reader = Reader::new(bytes);
        let (mut parameters, mut result, mut names) = (Vec::new(), None::<ShapeMessage>, Vec::new());
        while let Some(field) = reader.field(&PROGRAM_FIELDS, &path)? {
            let inner = path.field(field.name);
            match field.number {
                1 => {
                    let mut shape = ShapeMessage::default();
                    shape.merge(field.message(&path)?, &inner, Age::Today, 0)?;
                    parameters.push(shape.into_shape(Age::Today)?);
                }
                2 => {
                    let shape = result.get_or_insert_default();
                    shape.merge(field.message(&path)?, &inner, Age::Today, 0)?;
                }
                3 => {
                    let text = field.message(&path)?;
                    let name = std::str::from_utf8(text.bytes()).map_err(|_| {
                        error(&inner, text.range(), "bytes that are not text").accepts("UTF-8")
                    })?;
                    names.push((name.to_owned(), text.range()));
                }
                _ => {}
            }
        }
        let result = result.ok_or_else(|| {
            error(&path.field("result"), bytes.len()..bytes.len(), "no result").rule("a program has a result")
        })?;
        if let Some((_, place)) = names.get(parameters.len()) {
            let found = format!("{} names of {} parameters", names.len(), parameters.len());
            return Err(error(&path.field("parameter_names"), place.clone(), found)
                .rule("a parameter has at most one name"));
        }
        let names = names.into_iter().map(|(name, _)| name).chain(std::iter::repeat(String::new()));
        Ok(ProgramShape {
            parameters: names.zip(parameters).collect(),
            result: result.into_shape(Age::Today)?,
        })
    }
}
