//! Encodings of IREE that are resolved to tiles:
//!
//! ```text
//! #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration =
//!     {encoding_info = {innerDimsPos = [0, 1], innerTileSizes = [8, 1], outerDimsPerm = [0, 1]}}>]>
//! ```

use super::super::lex::Reader;
use super::{Packing, Swizzle};
use crate::error::{Error, ErrorKind, Result, quoted};

/// The packing that an encoding is resolved to; none where it is not.
pub(in super::super) fn of_encoding(text: &str) -> Option<Result<Packing>> {
    let mut found = text.match_indices("encoding_info").map(|(at, _)| at);
    let first = found.next()?;
    if found.next().is_some() {
        return Some(Err(Error::new("an encoding with several layouts")
            .of_kind(ErrorKind::Unsupported)
            .field("encoding")
            .rule("each is that of another machine or of other sizes")
            .accepts("the encoding of one machine")));
    }
    Some(info(&text[first + "encoding_info".len()..]))
}

/// `= {innerDimsPos = [0, 1], innerTileSizes = [8, 1], outerDimsPerm = [0, 1]}`
fn info(text: &str) -> Result<Packing> {
    let mut reader = Reader::new(text);
    let mut packing = Packing::default();
    reader.expect("=", "`=` and {innerDimsPos = […], …}")?;
    reader.expect("{", "`{`")?;
    reader
        .items("}", |reader| {
            let key = reader.word();
            reader.expect("=", "`=` and a value")?;
            match key {
                "innerDimsPos" => packing.inner_dims_pos = dims(reader)?,
                "outerDimsPerm" => packing.outer_dims_perm = dims(reader)?,
                "innerTileSizes" => packing.inner_tiles = list(reader, tile)?,
                "swizzle" => packing.swizzle = Some(swizzle(reader)?),
                "scalableTiles" => {
                    let flags = reader.any("flags")?;
                    if flags.contains("true") {
                        return Err(unsupported("tiles as long as a vector of the machine"));
                    }
                }
                other => return Err(unsupported(&format!("{} of an encoding", quoted(other)))),
            }
            Ok(())
        })
        .map_err(|error| match error.span() {
            // The places are those of a part of the text.
            Some(_) => Error::new(error.found().to_owned())
                .field("encoding")
                .accepts(error.accepted().unwrap_or("tiles such as innerTileSizes = [8, 1]").to_owned()),
            None => error,
        })?;
    Ok(packing)
}

fn unsupported(found: &str) -> Error {
    Error::new(found)
        .of_kind(ErrorKind::Unsupported)
        .field("encoding")
        .rule("where elements are is known of innerDimsPos, innerTileSizes, outerDimsPerm and swizzle")
}

/// Numbers in brackets.
fn list<T>(reader: &mut Reader, mut item: impl FnMut(&mut Reader) -> Result<T>) -> Result<Vec<T>> {
    let mut items = Vec::new();
    reader.expect("[", "`[` and numbers")?;
    reader.items("]", |reader| {
        items.push(item(reader)?);
        match items.len() > super::super::MAX_DIMS {
            true => Err(unsupported(&format!("over {} numbers", super::super::MAX_DIMS))),
            false => Ok(()),
        }
    })?;
    Ok(items)
}

fn dims(reader: &mut Reader) -> Result<Vec<usize>> {
    list(reader, |reader| Ok(reader.number("a dimension")? as usize))
}

fn tile(reader: &mut Reader) -> Result<u64> {
    match reader.peek() {
        // The least number of 64 bits.
        b'-' => Err(unsupported("an inner tile that is known at run time only")),
        _ => reader.number("a size"),
    }
}

/// `{expandShape = [[["Internal", 16]], [["CrossThread", 4 : i16]]], permutation = [0, 1]}`
fn swizzle(reader: &mut Reader) -> Result<Swizzle> {
    let mut swizzle = Swizzle { expand_shape: Vec::new(), permutation: Vec::new() };
    reader.expect("{", "`{`")?;
    reader.items("}", |reader| {
        let key = reader.word();
        reader.expect("=", "`=` and a value")?;
        match key {
            "permutation" => swizzle.permutation = dims(reader)?,
            "expandShape" => {
                swizzle.expand_shape = list(reader, |reader| {
                    list(reader, |reader| {
                        reader.expect("[", "`[` and a part such as \"Internal\", 16")?;
                        reader.any("the kind of a part")?;
                        reader.expect(",", "`,` and a size")?;
                        let size = tile(reader)?;
                        if reader.eat(":") {
                            reader.word();
                        }
                        reader.expect("]", "`]`")?;
                        Ok(size)
                    })
                })?;
            }
            other => return Err(unsupported(&format!("{} of a swizzle", quoted(other)))),
        }
        Ok(())
    })?;
    Ok(swizzle)
}
