//! Reading the operations, and their attributes alone.
//!
//! ```text
//! [%r =] linalg.pack %x [padding_value(%pad : f32)] [outer_dims_perm = [1, 0]] inner_dims_pos = [0, 1]
//!     inner_tiles = [8, 32] into %dest : tensor<128x256xf32> -> tensor<8x16x8x32xf32>
//! ```

use std::ops::Range;

use super::super::element::ElementType;
use super::super::lex::Reader;
use super::super::value::{Arrangement, Kind, Type};
use super::{Pack, Packing};
use crate::dialect::{Dim, Known};
use crate::error::{Error, ErrorKind, Result, quoted};

/// The attributes, each of which may begin a text.
const ATTRIBUTES: [&str; 4] = ["padding_value", "outer_dims_perm", "inner_dims_pos", "inner_tiles"];

/// The operations.
const OPERATIONS: [&str; 4] = ["linalg.pack", "linalg.unpack", "tensor.pack", "tensor.unpack"];

/// Whether a text is a packing.
pub(in super::super) fn is_pack(text: &str) -> bool {
    let text = match text.strip_prefix('%').and_then(|rest| rest.split_once('=')) {
        Some((_, rest)) => rest.trim_start(),
        None => text,
    };
    let word =
        &text[..text.find(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c))).unwrap_or(text.len())];
    OPERATIONS.contains(&word)
        || ATTRIBUTES[1..].contains(&word) && text[word.len()..].trim_start().starts_with('=')
}

/// Reads an operation; the attributes alone are about what is known from elsewhere.
pub(in super::super) fn read(text: &str, known: &Known) -> Result<Pack> {
    let mut reader = Reader::new(text);
    if reader.peek() == b'%' {
        reader.value()?;
        reader.expect("=", "`=` and linalg.pack")?;
    }
    let (mut dialect, mut is_unpack) = ("linalg", false);
    let mut names = ["%x", "%pad", "%dest"].map(str::to_owned);
    let mut packing = Packing::default();
    let is_whole = OPERATIONS.contains(&reader.peek_word());
    if is_whole {
        let operation = reader.word();
        dialect = if operation.starts_with("tensor") { "tensor" } else { "linalg" };
        is_unpack = operation.ends_with("unpack");
        names[0] = reader.value()?.to_owned();
    }
    let start = reader.here();
    let mut pad = None;
    let mut seen: Vec<&str> = Vec::new();
    while let Some(attribute) = ATTRIBUTES.into_iter().find(|own| *own == reader.peek_word()) {
        let at = reader.token();
        if seen.contains(&attribute) {
            return Err(Error::new(format!("{attribute} a second time")).at(at));
        }
        seen.push(attribute);
        reader.word();
        match attribute {
            "padding_value" => {
                reader.expect("(", "`(` and a value, as in padding_value(%pad : f32)")?;
                names[1] = reader.value()?.to_owned();
                reader.expect(":", "`:` and the type of the value")?;
                let at = reader.token();
                pad = Some((ElementType::read(&mut reader)?, at));
                reader.expect(")", "`)`")?;
            }
            "outer_dims_perm" => packing.outer_dims_perm = dims(&mut reader)?,
            "inner_dims_pos" => packing.inner_dims_pos = dims(&mut reader)?,
            _ => packing.inner_tiles = tiles(&mut reader)?,
        }
    }
    let attributes = reader.since(start);
    for needed in &ATTRIBUTES[2..] {
        if !seen.contains(needed) {
            return Err(reader.unexpected(format!("{needed} = [0, 1]")));
        }
    }
    let types = match is_whole {
        true => Some(types(&mut reader, &mut names[2])?),
        false => None,
    };
    let (dims, element) = match &types {
        Some([from, to]) => {
            let plain = if is_unpack { to } else { from };
            (plain.dims.clone(), plain.element.clone())
        }
        None => {
            let (dims, element) = known.require("a packing alone", text)?;
            let written = ElementType::of(element);
            let written = written
                .ok_or_else(|| Error::new(format!("MLIR has no element type {element}")).at(0..text.len()))?;
            (dims.to_vec(), written)
        }
    };
    // The attributes alone do not say what pads; the operation has to.
    let pads = pad.is_some() || !is_whole && packing.check(dims.len()).is_ok() && packing.is_padded(&dims);
    let pack = Pack { dialect, is_unpack, names, dims, element, packing, pads };
    if !reader.token().is_empty() {
        return Err(reader.unexpected("the end of the text, since the operation is complete"));
    }
    check(&pack, attributes, types, pad)?;
    Ok(pack)
}

/// A tensor of the operation, and where it is.
struct Tensor {
    dims: Vec<u64>,
    element: ElementType,
    at: Range<usize>,
}

/// `into %dest : tensor<…> -> tensor<…>`
fn types(reader: &mut Reader, dest: &mut String) -> Result<[Tensor; 2]> {
    if !reader.eat_word("into") {
        return Err(reader.unexpected("an attribute such as inner_tiles = [8, 32], or `into %dest`"));
    }
    *dest = reader.value()?.to_owned();
    if reader.peek() == b'{' {
        reader.any("attributes")?;
    }
    reader.expect(":", "`:` and the types, as in : tensor<4x6xf32> -> tensor<2x3x2x2xf32>")?;
    let from = tensor(reader)?;
    reader.expect("->", "`->` and the type of the result")?;
    Ok([from, tensor(reader)?])
}

fn tensor(reader: &mut Reader) -> Result<Tensor> {
    let start = reader.here();
    let Type { kind, dims, element, arrangement, .. } = super::super::read::read(reader)?;
    let at = reader.since(start);
    if kind == Kind::Memref && arrangement != Arrangement::RowMajor || !element.vector().is_empty() {
        return Err(Error::new("a packed memory with a layout, or of vectors")
            .of_kind(ErrorKind::Unsupported)
            .at(at)
            .accepts("a tensor of numbers"));
    }
    let size = |dim: &Dim| match dim {
        Dim::Static(size) => Ok(*size),
        _ => Err(Error::new("a size that is known at run time only")
            .of_kind(ErrorKind::Unsupported)
            .at(at.clone())
            .rule("how the last tile is padded depends on the sizes")
            .accepts("sizes such as tensor<128x256xf32>")),
    };
    let dims = dims.iter().map(size).collect::<Result<_>>()?;
    Ok(Tensor { dims, element, at })
}

/// What MLIR's verifier asks for.
fn check(
    pack: &Pack,
    attributes: Range<usize>,
    types: Option<[Tensor; 2]>,
    pad: Option<(ElementType, Range<usize>)>,
) -> Result<()> {
    pack.packing.check(pack.dims.len()).map_err(|error| error.at(attributes.clone()))?;
    let element = &pack.element;
    if let Some((own, at)) = pad.filter(|(own, _)| own != element) {
        return Err(Error::new(format!("a padding value of the type {own}"))
            .of_kind(ErrorKind::Mismatch)
            .at(at)
            .rule("expected padding_value to have the element type of the array")
            .accepts(element.to_string()));
    }
    if pack.is_unpack && pack.pads {
        return Err(Error::new("a padding value of an unpack")
            .at(attributes)
            .rule("what is unpacked is not padded"));
    }
    if types.is_some() && !pack.is_unpack && !pack.pads && pack.packing.is_padded(&pack.dims) {
        return Err(Error::new("a tile that is not full, and no padding value")
            .at(attributes)
            .rule("only full tiles are supported when padding_value is not set")
            .accepts(format!("padding_value(%pad : {element})")));
    }
    if let Some([from, to]) = types {
        let packed = if pack.is_unpack { from } else { to };
        let wanted = pack.packing.packed(&pack.dims);
        if packed.dims != wanted || packed.element != *element {
            let sizes: String = wanted.iter().map(|size| format!("{size}x")).collect();
            return Err(Error::new("the packed array has another shape")
                .of_kind(ErrorKind::Mismatch)
                .at(packed.at)
                .rule("its sizes are the numbers of tiles, and then the tiles")
                .accepts(format!("tensor<{sizes}{element}>")));
        }
    }
    pack.lower().map(drop).map_err(|error| error.at(attributes))
}

/// `= [0, 1]`
fn list<T>(reader: &mut Reader, mut item: impl FnMut(&mut Reader) -> Result<T>) -> Result<Vec<T>> {
    let mut items = Vec::new();
    reader.expect("=", "`=` and numbers in brackets")?;
    reader.expect("[", "`[` and numbers")?;
    reader.items("]", |reader| {
        let at = reader.token();
        if items.len() == super::super::MAX_DIMS {
            return Err(Error::new(format!("over {} numbers", super::super::MAX_DIMS))
                .of_kind(ErrorKind::Limit)
                .at(at));
        }
        items.push(item(reader)?);
        Ok(())
    })?;
    Ok(items)
}

fn dims(reader: &mut Reader) -> Result<Vec<usize>> {
    list(reader, |reader| Ok(usize::try_from(reader.number("a dimension")?).unwrap_or(usize::MAX)))
}

fn tiles(reader: &mut Reader) -> Result<Vec<u64>> {
    list(reader, |reader| match reader.peek() {
        b'%' | b'?' => {
            let at = reader.token();
            Err(Error::new(format!("a tile of {}", quoted(reader.slice(at.clone()))))
                .of_kind(ErrorKind::Unsupported)
                .at(at)
                .rule("such a tile is known at run time only")
                .accepts("a number such as 8"))
        }
        b'[' => Err(Error::new("a tile as long as a vector of the machine")
            .of_kind(ErrorKind::Unsupported)
            .at(reader.token())
            .rule("its size is known at run time only")
            .accepts("a number such as 8")),
        _ => reader.number("a tile size"),
    })
}
