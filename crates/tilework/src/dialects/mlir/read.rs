//! Reading types: `tensor<3x5xf32>`, `memref<3x5xf32, strided<[8, 1]>, 3>`.

use std::ops::Range;

use super::affine::AffineMap;
use super::element::ElementType;
use super::lex::Reader;
use super::value::{Arrangement, Bounds, Kind, Type};
use crate::dialect::Dim;
use crate::error::{Error, Result, counted, quoted};
use crate::spelling::nearest;

impl Type {
    /// Reads a type of a tensor or of a memory.
    ///
    /// ```
    /// use tilework::mlir::Type;
    /// let memory = Type::parse("memref<32x24xf32, strided<[1, 32]>>")?;
    /// assert_eq!(memory.lower()?.offset(&[5, 2])?, 5 + 2 * 32);
    /// let error = Type::parse("memref<32x24xfp32>").unwrap_err();
    /// assert_eq!(error.accepted(), Some("an element type; did you mean f32?"));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A text that is no such type, a tensor or memory without rank, or an element whose size is not known.
    pub fn parse(text: &str) -> Result<Type> {
        let mut reader = Reader::new(text);
        let found = read(&mut reader)?;
        match reader.token() {
            end if end.is_empty() => Ok(found),
            _ => Err(reader.unexpected("the end of the text, since the type is complete")),
        }
    }
}

/// Reads a type, up to its end.
pub(super) fn read(reader: &mut Reader) -> Result<Type> {
    let at = reader.token();
    let kind = match reader.word() {
        "tensor" => Kind::Tensor,
        "memref" => Kind::Memref,
        "vector" => {
            return Err(Error::new("a vector is no memory of its own")
                .at(at)
                .rule("a vector is in registers")
                .accepts("tensor<…>, or memref<…>, whose elements may be vectors"));
        }
        word => {
            let near = nearest(word, ["tensor", "memref"]);
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            return Err(reader.back_to(at.start).unexpected(format!("tensor<…> or memref<…>{near}")));
        }
    };
    reader.expect("<", "`<` and the sizes, as in <2x3xf32>")?;
    if reader.peek() == b'*' {
        return Err(Error::new(format!("a {kind} without rank"))
            .at(reader.token())
            .rule("where the number of dimensions is not known, neither are the places of the elements")
            .accepts(format!("sizes, as in {kind}<2x3xf32>")));
    }
    let dims = sizes(reader)?;
    let element = ElementType::read(reader)?;
    if dims.len() + element.vector().len() > super::MAX_DIMS {
        return Err(Error::new(counted((dims.len() + element.vector().len()) as u64, "dimension"))
            .at(reader.since(at.start))
            .accepts(format!("up to {} dimensions", super::MAX_DIMS)));
    }
    let mut found = Type { kind, dims, element, arrangement: Arrangement::RowMajor, space: None };
    while !reader.eat(">") {
        reader.expect(",", "`,` and an attribute, or `>` at the end of the type")?;
        attribute(reader, &mut found)?;
    }
    Ok(found)
}

/// `3x?x`, up to the element type.
fn sizes(reader: &mut Reader) -> Result<Vec<Dim>> {
    let mut dims = Vec::new();
    while matches!(reader.peek(), b'?' | b'0'..=b'9') {
        let at = reader.token();
        if dims.len() == super::MAX_DIMS {
            return Err(Error::new(format!("over {} dimensions", super::MAX_DIMS))
                .at(at)
                .accepts("fewer dimensions"));
        }
        dims.push(match reader.eat("?") {
            true => Dim::Unbounded,
            false => Dim::Static(reader.number("a size")?),
        });
        reader.expect("x", "`x` behind a size, and the next size or the element type")?;
    }
    Ok(dims)
}

fn attribute(reader: &mut Reader, found: &mut Type) -> Result<()> {
    let start = reader.here();
    let is_first = found.arrangement == Arrangement::RowMajor && found.space.is_none();
    if (found.kind == Kind::Tensor && !is_first) || found.space.is_some() {
        return Err(reader.unexpected("`>` at the end of the type"));
    }
    let arrangement = match (found.kind, reader.peek_word()) {
        (Kind::Memref, "strided") => Some(strided(reader)?),
        (Kind::Memref, "affine_map") => {
            reader.word();
            reader.expect("<", "`<` and the map")?;
            let map = AffineMap::read(reader)?;
            reader.expect(">", "`>` at the end of the map")?;
            Some(Arrangement::Map(map))
        }
        _ if reader.peek() == b'#' => hashed(reader, found)?,
        (Kind::Memref, "") => None,
        (Kind::Memref, word) => {
            let near = nearest(word, ["strided", "affine_map"]);
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            return Err(reader.unexpected(format!(
                "strided<[…]>, affine_map<…>, an attribute such as #tpu.tiled<…>, or a memory space such as 3{near}"
            )));
        }
        _ => Some(Arrangement::Unknown(reader.any("an encoding")?.to_owned())),
    };
    match arrangement {
        Some(arrangement) => {
            if !is_first {
                return Err(Error::new("a second layout").at(reader.since(start)).accepts("a memory space"));
            }
            check_rank(found, &arrangement, reader.since(start))?;
            found.arrangement = arrangement;
        }
        None => found.space = Some(reader.any("a memory space such as 3")?.to_owned()),
    }
    Ok(())
}

/// A layout speaks of as many dimensions as the type has.
fn check_rank(found: &Type, arrangement: &Arrangement, at: Range<usize>) -> Result<()> {
    let rank = found.dims.len();
    let (own, rule) = match arrangement {
        Arrangement::Strided { strides, .. } => {
            (strides.len(), "expected the number of strides to match the rank")
        }
        Arrangement::Tiled { strides, .. } => {
            (strides.len(), "expected the number of tile strides to match the rank")
        }
        Arrangement::Map(map) => (map.dims(), "memref layout mismatch between rank and affine map"),
        _ => return Ok(()),
    };
    if own == rank {
        return Ok(());
    }
    Err(Error::new(format!("{} for {}", own, counted(rank as u64, "dimension")))
        .at(at)
        .rule(rule)
        .accepts(rank.to_string()))
}

/// `strided<[8, 1], offset: 2>`
fn strided(reader: &mut Reader) -> Result<Arrangement> {
    reader.word();
    reader.expect("<", "`<` and the strides, as in strided<[8, 1]>")?;
    reader.expect("[", "`[` and the strides")?;
    let strides = known(reader)?;
    let mut offset = Some(0);
    if reader.eat(",") {
        if !reader.eat_word("offset") {
            return Err(reader.unexpected("offset: and a number"));
        }
        reader.expect(":", "`:` and a number")?;
        offset = reader.known("a number or ?")?;
    }
    reader.expect(">", "`, offset:` and a number, or `>`")?;
    Ok(Arrangement::Strided { strides, offset })
}

/// Numbers and `?`, up to a `]`.
fn known(reader: &mut Reader) -> Result<Vec<Option<i64>>> {
    let mut numbers = Vec::new();
    reader.items("]", |reader| {
        let at = reader.token();
        if numbers.len() == super::MAX_DIMS {
            return Err(Error::new(format!("over {} numbers", super::MAX_DIMS)).at(at));
        }
        numbers.push(reader.known("a number or ?")?);
        Ok(())
    })?;
    Ok(numbers)
}

/// An attribute of a dialect, or an alias. None for a memory space, which is left for the caller.
fn hashed(reader: &mut Reader, found: &mut Type) -> Result<Option<Arrangement>> {
    let at = reader.token();
    let name = &reader.slice(at.clone())[1..];
    let mut ahead = reader.clone();
    let text = ahead.any("an attribute")?;
    Ok(match (found.kind, name) {
        (Kind::Memref, "tpu.tiled" | "xir.tiled") => {
            let dialect = if name.starts_with('t') { "tpu" } else { "xir" };
            reader.eat("#");
            reader.word();
            Some(tiled(reader, dialect)?)
        }
        (Kind::Tensor, "stablehlo.bounds") => {
            reader.eat("#");
            reader.word();
            reader.expect("<", "`<` and the bounds")?;
            bounds(reader, found, ">")?;
            Some(Arrangement::Bounds(Bounds::StableHlo))
        }
        (Kind::Tensor, "mhlo.type_extensions") => {
            reader.eat("#");
            reader.word();
            reader.expect("<", "`<` and bounds = […]")?;
            if !reader.eat_word("bounds") {
                return Err(reader.unexpected("bounds = […]"));
            }
            reader.expect("=", "`=` and the bounds")?;
            reader.expect("[", "`[` and the bounds")?;
            bounds(reader, found, "]")?;
            reader.expect(">", "`>`")?;
            Some(Arrangement::Bounds(Bounds::Mhlo))
        }
        // What says where a memory is, and not how it is arranged.
        (Kind::Memref, name) if is_space(name) || found.arrangement != Arrangement::RowMajor => None,
        _ => {
            reader.any("an attribute")?;
            Some(Arrangement::Unknown(text.to_owned()))
        }
    })
}

/// Whether an attribute of this name is a memory space: `#gpu.address_space<…>`, `#spirv.storage_class<…>`.
fn is_space(name: &str) -> bool {
    let own = name.split_once('.').map_or("", |(_, own)| own);
    own.contains("space") || own.contains("storage_class") || own.contains("descriptor_type")
}

/// Bounds of the dimensions that are `?`, up to the closing mark.
fn bounds(reader: &mut Reader, found: &mut Type, close: &str) -> Result<()> {
    let start = reader.here();
    let mut number = 0;
    let dims = &mut found.dims;
    reader.items(close, |reader| {
        let at = reader.token();
        let bound = match reader.eat("?") {
            true => None,
            false => Some(reader.number("a bound or ?")?),
        };
        if let (Some(bound), Some(dim)) = (bound, dims.get_mut(number)) {
            if *dim != Dim::Unbounded {
                return Err(Error::new(format!("bound {bound} of dimension {number}"))
                    .at(at)
                    .rule("a static dimension cannot have a bound")
                    .accepts("?"));
            }
            *dim = Dim::Bounded(bound);
        }
        number += 1;
        Ok(())
    })?;
    if number == dims.len() {
        return Ok(());
    }
    Err(Error::new(format!("{number} bounds for {}", counted(dims.len() as u64, "dimension")))
        .at(reader.since(start))
        .rule("the number of bounds is equal to the rank of the tensor")
        .accepts(dims.len().to_string()))
}

/// `<(8,128)(2,1),[16,1]>`
fn tiled(reader: &mut Reader, dialect: &'static str) -> Result<Arrangement> {
    reader.expect("<", "`<` and the tiles, as in <(8,128),[2,1]>")?;
    let mut tiles: Vec<Vec<u64>> = Vec::new();
    while reader.eat("(") {
        let mut tile = Vec::new();
        reader.items(")", |reader| {
            let at = reader.token();
            let size = reader.number("a size from 1 on")?;
            if size == 0 || tile.len() == super::MAX_DIMS || tiles.len() == super::MAX_DIMS {
                return Err(Error::new(format!("tile size {}", quoted(&size.to_string())))
                    .at(at)
                    .accepts(format!("1 or more, in up to {} tiles and dimensions", super::MAX_DIMS)));
            }
            tile.push(size);
            Ok(())
        })?;
        tiles.push(tile);
    }
    reader.expect(",", "`,` and the strides of the tiles, as in [16,1]")?;
    reader.expect("[", "`[` and the strides of the tiles")?;
    let strides = known(reader)?;
    reader.expect(">", "`>`")?;
    Ok(Arrangement::Tiled { dialect, tiles, strides })
}
