//! Reading tile layouts.
//!
//! ```text
//! compose := "ComposeLayout" "(" NUMBER "," NUMBER "," NUMBER "," layout ["," "swizzle_inner" "=" BOOL] ")"
//! layout  := spec | "TileLayout" "(" spec ")"
//! spec    := "S" part { "+" ( "R" part | bound ) }
//! part    := "[" group [ ":" group ] "]"                 sizes, and strides; row-major without them
//! group   := item { "," item } | "(" item { "," item } ")"
//! item    := bound | STRING | "(" NUMBER "," STRING ")"
//! bound   := NUMBER [ "@" ["Axis" "."] NAME ]            names may have others before them, as in T.S and T.TileLayout
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::reader::{Reader, is_dotted};
use super::{Exchange, Iter, MAX_ITERS, MEMORY, TileLayout, Tiled, require_axis};
use crate::dialect::{Known, sized};
use crate::error::{Error, ErrorKind, Result, counted};

/// Whether a text is a tile layout, without what may stand before it.
pub(in super::super) fn is_tile(text: &str) -> bool {
    let head = text.split(['(', '[']).next().unwrap_or("");
    let name = head.trim_end().rsplit('.').next().unwrap_or("");
    if !is_dotted(head.trim_end()) {
        return false;
    }
    match text.as_bytes().get(head.len()) {
        Some(b'(') => matches!(name, "TileLayout" | "ComposeLayout"),
        Some(b'[') => name == "S",
        _ => false,
    }
}

/// Reads a layout; the type is known, or stands before it with the sizes. Without sizes they are those of the digits.
pub(in super::super) fn read(text: &str, known: &Known) -> Result<Tiled> {
    let (own, rest) = match sized::prefix(text) {
        Some((array, rest)) => (Some(array), rest),
        None => (None, 0),
    };
    let body = &text[rest..];
    let whole = rest..text.len();
    let layout = layout(body).map_err(|error| error.moved(rest))?;
    let element = own.as_ref().map(|array| array.element).or(known.element).ok_or_else(|| {
        Error::new("a tile layout alone")
            .at(0..text.len())
            .rule("the type stands before it, and the sizes where they are not those of S")
            .accepts(format!("such as f32 {layout}"))
    })?;
    let extents = || layout.shard.iter().map(|iter| iter.extent).collect();
    let dims =
        own.map(|array| array.dims).or_else(|| known.dims.map(<[u64]>::to_vec)).unwrap_or_else(extents);
    let tiled = Tiled { element, dims, layout };
    tiled.check().map_err(|error| error.at(whole.clone()))?;
    if tiled.elsewhere().is_none() {
        tiled.lower().map_err(|error| error.at(whole))?;
    }
    Ok(tiled)
}

fn layout(text: &str) -> Result<TileLayout> {
    let mut reader = Reader::new(text);
    let start = reader.here();
    let (name, at) = reader.name();
    let layout = match name {
        "ComposeLayout" => {
            reader.expect("(", "`(`")?;
            let mut numbers = [0; 3];
            for number in &mut numbers {
                let start = reader.here();
                let found = reader.number("per_element, swizzle_len and atom_len")?;
                *number = u32::try_from(found).ok().filter(|&bits| bits <= 62).ok_or_else(|| {
                    Error::new(format!("{found} bits")).at(reader.since(start)).accepts("0 to 62")
                })?;
                reader.expect(",", "`,`")?;
            }
            let mut inner = reader.nested(|reader| wrapped(reader))?;
            let [per_element, swizzle_len, atom_len] = numbers;
            let mut exchange = Exchange { per_element, swizzle_len, atom_len, inner: true };
            if reader.eat(",") && reader.peek() != b')' {
                let (key, at) = reader.placed_word();
                if key != "swizzle_inner" {
                    return Err(Error::new("no argument of ComposeLayout")
                        .at(at)
                        .accepts("swizzle_inner=False"));
                }
                reader.expect("=", "`=`")?;
                exchange.inner = match reader.placed_word() {
                    ("True", _) => true,
                    ("False", _) => false,
                    (_, at) => {
                        return Err(Error::new("neither True nor False").at(at).accepts("True or False"));
                    }
                };
            }
            let whole = reader.since(start);
            reader.expect(")", "`)`")?;
            exchange.swizzle().map_err(|error| error.at(whole))?;
            inner.exchange = Some(exchange);
            inner
        }
        _ => {
            reader.go(at.start);
            wrapped(&mut reader)?
        }
    };
    reader.finish("`+`, or the end of the text").map(|()| layout)
}

/// A layout with or without `TileLayout(…)` around it.
fn wrapped(reader: &mut Reader) -> Result<TileLayout> {
    let start = reader.here();
    if reader.name().0 == "TileLayout" {
        reader.expect("(", "`(`")?;
        let layout = spec(reader)?;
        reader.expect(")", "`+` or `)`")?;
        return Ok(layout);
    }
    reader.go(start);
    spec(reader)
}

fn spec(reader: &mut Reader) -> Result<TileLayout> {
    let (name, at) = reader.name();
    if name != "S" {
        return Err(Error::new("a layout without S")
            .of_kind(ErrorKind::Syntax)
            .at(at)
            .rule("S has the extents and the strides")
            .accepts("such as S[(4, 6):(6, 1)]"));
    }
    let shard = part(reader)?;
    let mut layout = TileLayout { shard, replica: Vec::new(), offset: BTreeMap::new(), exchange: None };
    while reader.eat("+") {
        let start = reader.here();
        if !reader.is_at_digit() && reader.peek() != b'-' {
            let (name, at) = reader.name();
            if name != "R" || !layout.replica.is_empty() {
                return Err(Error::new("neither R nor an offset")
                    .at(at)
                    .accepts("R[…], or a number such as 5@warpid"));
            }
            layout.replica = part(reader)?;
            continue;
        }
        let (value, axis) = bound(reader)?;
        let sum = layout.offset.entry(axis).or_insert(0);
        *sum = sum.checked_add(value).ok_or_else(|| {
            Error::new("an offset that does not fit 63 bits")
                .at(reader.since(start))
                .accepts("smaller offsets")
        })?;
    }
    Ok(layout)
}

/// Extents and strides in brackets.
fn part(reader: &mut Reader) -> Result<Vec<Iter>> {
    let open = reader.here();
    reader.expect("[", "`[` and the extents")?;
    let extents = group(reader)?;
    let strides = if reader.eat(":") { Some(group(reader)?) } else { None };
    let whole = reader.since(open);
    reader.expect("]", "`,`, `:` and the strides, or `]`")?;
    let mut sizes = Vec::new();
    for (value, axis, at) in &extents {
        let size = u64::try_from(*value).ok().filter(|&size| size > 0 && axis == MEMORY);
        sizes.push(size.ok_or_else(|| {
            Error::new("an extent that is no size").at(at.clone()).accepts("a number of 1 or more")
        })?);
    }
    if sizes.is_empty() || sizes.len() > MAX_ITERS {
        return Err(Error::new(format!("{} extents", sizes.len()))
            .at(whole)
            .accepts(format!("1 to {MAX_ITERS}")));
    }
    let Some(strides) = strides else {
        let mut iters = Vec::new();
        let mut stride = 1_i64;
        for &extent in sizes.iter().rev() {
            iters.push(Iter { extent, stride, axis: MEMORY.to_owned() });
            let next = i64::try_from(extent).ok().and_then(|extent| stride.checked_mul(extent));
            stride = next.ok_or_else(|| {
                Error::new("the number of elements overflows 63 bits")
                    .at(whole.clone())
                    .accepts("smaller extents")
            })?;
        }
        iters.reverse();
        return Ok(iters);
    };
    if strides.len() != sizes.len() {
        let [found, wanted] = [strides.len(), sizes.len()].map(|count| count as u64);
        return Err(Error::new(format!("{} for {}", counted(found, "stride"), counted(wanted, "extent")))
            .of_kind(ErrorKind::Mismatch)
            .at(whole)
            .rule("every extent has a stride")
            .accepts(counted(wanted, "stride")));
    }
    let iters = sizes.into_iter().zip(strides);
    Ok(iters.map(|(extent, (stride, axis, _))| Iter { extent, stride, axis }).collect())
}

/// A number, the axis that it is on, and where it is.
type Bound = (i64, String, Range<usize>);

/// Items, in brackets or without.
fn group(reader: &mut Reader) -> Result<Vec<Bound>> {
    let mut items = Vec::new();
    // `((4, "laneid"), 1)` is a group, and `(4, "laneid")` alone is an item.
    if reader.eat("(") {
        reader.items(")", |reader| {
            items.push(item(reader)?);
            Ok(())
        })?;
        return Ok(items);
    }
    loop {
        items.push(item(reader)?);
        if items.len() > MAX_ITERS || !reader.eat(",") || reader.rest().starts_with([']', ':']) {
            return Ok(items);
        }
    }
}

fn item(reader: &mut Reader) -> Result<Bound> {
    let start = reader.here();
    let (value, axis) = if reader.eat("(") {
        let value = reader.signed("a stride")?;
        reader.expect(",", "`,` and an axis in quotes")?;
        let axis = quoted_axis(reader)?;
        reader.expect(")", "`)`")?;
        (value, axis)
    } else if matches!(reader.peek(), b'"' | b'\'') {
        (1, quoted_axis(reader)?)
    } else {
        bound(reader)?
    };
    Ok((value, axis, reader.since(start)))
}

/// `4@laneid`
fn bound(reader: &mut Reader) -> Result<(i64, String)> {
    let value = reader.signed("a number, such as 4 or 4@laneid")?;
    if !reader.eat("@") {
        return Ok((value, MEMORY.to_owned()));
    }
    let (axis, at) = reader.name();
    require_axis(axis).map_err(|error| error.at(at))?;
    Ok((value, axis.to_owned()))
}

fn quoted_axis(reader: &mut Reader) -> Result<String> {
    let quote = if reader.eat("'") {
        "'"
    } else {
        reader.expect("\"", "an axis in quotes, such as \"laneid\"")?;
        "\""
    };
    let (axis, at) = reader.placed_word();
    require_axis(axis).map_err(|error| error.at(at))?;
    reader.expect(quote, "the end of the name")?;
    Ok(axis.to_owned())
}
