//! Reading layouts.
//!
//! ```text
//! layout  = "{" ( [ number { "," number } ] | free ) [ ":" { qualifier } ] "}"
//! free    = "strides" "(" .. ")" [ "," "base" "(" n ")" ] [ "," "size" "(" n ")" ]
//! ```
//!
//! Qualifiers keep XLA's order: `D T L # * E S SC P M`, then Tilework's `pad`.

use std::ops::Range;

use smallvec::SmallVec;

use super::cursor::Cursor;
use super::element::PrimitiveType;
use super::layout::{
    Layout, Padding, PaddingValue, PartsMut, SplitConfig, Strides, Tile, TileDim, accepted_numbers,
    first_out_of_place, out_of_place,
};
use super::parse::{parse_shape, parse_type};
use crate::error::{Error, Result};

/// The qualifiers in their order.
const ORDER: [&str; 11] = ["D", "T", "L", "#", "*", "E", "S", "SC", "P", "M", "pad"];

/// Reads a layout, of an array of this rank if it is known, into a layout of no dimensions.
#[inline(always)]
pub(super) fn parse_layout(
    cursor: &mut Cursor,
    rank: Option<usize>,
    depth: u32,
    layout: &mut Layout,
) -> Result<()> {
    let start = cursor.place();
    cursor.expect(b'{', "{ before a layout")?;
    if cursor.peek() == b's' && !cursor.strict {
        *layout = parse_free(cursor, rank, depth)?;
        return Ok(());
    }
    let list_start = cursor.place();
    let parts = layout.parts_mut();
    parse_order(cursor, rank, parts.minor_to_major)?;
    let found = parts.minor_to_major.len();
    if rank.is_some_and(|rank| rank != found) {
        return Err(wrong_rank(found, rank.unwrap_or(0), list_start, cursor));
    }
    let mut rare = None;
    if cursor.eat(b':')? {
        parse_qualifiers(cursor, parts, &mut rare, depth)?;
    } else if found == 0 && rank.is_some() {
        let span = start..cursor.place() + 1;
        return Err(Error::new("an empty layout")
            .at(span)
            .rule("XLA writes no layout where there is no dimension to order")
            .accepts("nothing here, or a qualifier such as {:T(128)}"));
    }
    cursor.expect(b'}', "} at the end of the layout")?;
    if let Some(rare) = rare {
        *layout = rare.apply(std::mem::replace(layout, Layout::descending(0)))?;
    }
    Ok(())
}

#[cold]
fn wrong_rank(found: usize, rank: usize, start: usize, cursor: &Cursor) -> Error {
    Error::new(format!("{found} dimensions in the layout of an array of {rank}"))
        .at(cursor.since(start))
        .rule("minor_to_major names every dimension exactly once, counted from 0")
        .accepts(match rank {
            0 => "no numbers".to_owned(),
            _ => format!("a permutation of {}", accepted_numbers(rank)),
        })
}

/// The dimension numbers, the most minor first, up to `:` or `}`.
#[inline(always)]
fn parse_order(cursor: &mut Cursor, rank: Option<usize>, order: &mut SmallVec<[usize; 6]>) -> Result<()> {
    let list = *cursor;
    if !matches!(cursor.peek(), b':' | b'}') {
        loop {
            order.push(cursor.number("a dimension number, counted from 0")? as usize);
            if !cursor.eat(b',')? {
                break;
            }
        }
    }
    match first_out_of_place(order) {
        None => Ok(()),
        // With another rank than the array's, that is what to say.
        Some(_) if rank.is_some_and(|rank| rank != order.len()) => Ok(()),
        Some(place) => Err(out_of_place(order, place).at(nth_number(list, place))),
    }
}

/// The bytes of the number at a place of a list.
#[cold]
fn nth_number(mut list: Cursor, place: usize) -> Range<usize> {
    for at in 0..=place {
        let start = list.place();
        if list.number("").is_err() || at == place {
            return list.since(start);
        }
        let _ = list.eat(b',');
    }
    list.place()..list.place()
}

/// Qualifiers that few layouts have, with the bytes to blame where they do not fit.
#[derive(Default)]
struct Rare {
    tail: Option<(u64, Range<usize>)>,
    index: Option<PrimitiveType>,
    pointer: Option<PrimitiveType>,
    splits: Vec<(SplitConfig, Range<usize>)>,
    prefix: u64,
    padding: Option<(Padding, Range<usize>)>,
}

impl Rare {
    fn apply(self, layout: Layout) -> Result<Layout> {
        let mut layout = layout.with_sparse_types(self.index, self.pointer)?;
        if let Some((tail, span)) = self.tail {
            layout = layout.with_tail_padding_alignment_in_elements(tail).map_err(|error| error.at(span))?;
        }
        if let Some((config, span)) =
            self.splits.iter().find(|(config, _)| config.dimension >= layout.rank() as u64)
        {
            return layout.with_split_configs([config.clone()]).map_err(|error| error.at(span.clone()));
        }
        layout = layout.with_split_configs(self.splits.into_iter().map(|(config, _)| config))?;
        layout = layout.with_dynamic_shape_metadata_prefix_bytes(self.prefix)?;
        if let Some((padding, span)) = self.padding {
            layout = layout.with_padding(Some(padding)).map_err(|error| error.at(span))?;
        }
        Ok(layout)
    }
}

#[inline(always)]
fn parse_qualifiers(
    cursor: &mut Cursor,
    parts: PartsMut<'_>,
    rare: &mut Option<Box<Rare>>,
    depth: u32,
) -> Result<()> {
    let mut last: Option<usize> = None;
    while cursor.peek() != b'}' {
        let start = cursor.place();
        let next = match cursor.peek() {
            b'T' => 1,
            b'(' if last.is_none() && !cursor.strict => 1,
            b'L' => 2,
            b'#' => 3,
            b'*' => 4,
            b'E' => 5,
            b'S' if cursor.peek_second() == b'C' => 7,
            b'S' => 6,
            b'D' => 0,
            b'P' => 8,
            b'M' => 9,
            b'p' if cursor.word() == "pad" && !cursor.strict => 10,
            _ => return Err(no_qualifier(cursor)),
        };
        if last.is_some_and(|last| last >= next) {
            return Err(out_of_order(cursor, last.unwrap_or(0), next));
        }
        last = Some(next);
        if cursor.peek() != b'(' {
            cursor.advance(ORDER[next].len())?;
        }
        match next {
            1 => parse_tiles(cursor, parts.tiles)?,
            5 => *parts.element_size_in_bits = parse_element_bits(cursor)?,
            6 => *parts.memory_space = parse_space(cursor)?,
            _ => parse_rare(cursor, next, start, rare.get_or_insert_default(), depth)?,
        }
    }
    Ok(())
}

#[cold]
fn no_qualifier(cursor: &Cursor) -> Error {
    let error = cursor.unexpected(match cursor.strict {
        true => "a qualifier: T L # * E S SC P M in this order; or }",
        false => "a qualifier: T L # * E S SC P M pad in this order; or }",
    });
    match cursor.word().chars().next() {
        Some(first) if first.is_ascii_lowercase() => error.rule("qualifiers are written in upper case"),
        _ => error,
    }
}

#[cold]
fn out_of_order(cursor: &Cursor, last: usize, next: usize) -> Error {
    let found = match last == next {
        true => format!("{0}(..) a second time", ORDER[next]),
        false => format!("{}(..) after {}(..)", ORDER[next], ORDER[last]),
    };
    let start = cursor.place();
    Error::new(found)
        .at(start..start + ORDER[next].len())
        .rule("each qualifier stands at most once, in the order T L # * E S SC P M pad")
        .accepts(match last == next {
            true => format!("one {}", ORDER[next]),
            false => format!("{}(..) before {}(..)", ORDER[next], ORDER[last]),
        })
}

/// `(2,2)(2,1)`
#[inline(always)]
fn parse_tiles(cursor: &mut Cursor, tiles: &mut SmallVec<[Tile; 2]>) -> Result<()> {
    loop {
        let start = cursor.place();
        cursor.expect(b'(', "( before the sizes of a tile")?;
        let mut dims: SmallVec<[TileDim; 2]> = SmallVec::new();
        if cursor.peek() == b')' {
            cursor.advance(1)?;
            return Err(Error::new("a tile without sizes")
                .at(cursor.since(start))
                .rule("a tile has at least one size")
                .accepts("such as (8,128)"));
        }
        loop {
            let entry = cursor.place();
            dims.push(parse_tile_dim(cursor)?);
            if cursor.eat(b',')? {
                continue;
            }
            if dims.last() == Some(&TileDim::Combine) && cursor.peek() == b')' {
                return Err(Error::new("* at the end of a tile")
                    .at(cursor.since(entry))
                    .rule("* combines a dimension with the next more minor one, so a size must follow it")
                    .accepts("a size here, or one after it"));
            }
            cursor.expect(b')', ", before the next size of the tile, or ) after the last")?;
            break;
        }
        tiles.push(Tile(dims));
        if cursor.peek() != b'(' {
            return Ok(());
        }
    }
}

#[inline(always)]
fn parse_tile_dim(cursor: &mut Cursor) -> Result<TileDim> {
    const ACCEPTS: &str = "a size of 1 or more, or *";
    let start = cursor.place();
    match cursor.peek() {
        b'*' => {
            cursor.advance(1)?;
            return Ok(TileDim::Combine);
        }
        b'-' => {
            let size = cursor.signed(ACCEPTS)?;
            if size == -1 && !cursor.strict {
                return Ok(TileDim::Combine); // the document's way to write *
            }
            return Err(Error::new(format!("tile size {size}"))
                .at(cursor.since(start))
                .rule("a tile size is at least 1")
                .accepts(ACCEPTS));
        }
        _ => {}
    }
    match cursor.number(ACCEPTS)? {
        0 => Err(Error::new("tile size 0")
            .at(cursor.since(start))
            .rule("a tile size is at least 1")
            .accepts(ACCEPTS)),
        size => Ok(TileDim::Size(size)),
    }
}

/// The number in parentheses after a qualifier, and its bytes.
#[inline]
fn parse_argument(cursor: &mut Cursor, accepts: &str) -> Result<(u64, Range<usize>)> {
    cursor.expect(b'(', "( after the qualifier")?;
    let start = cursor.place();
    let value = cursor.number(accepts)?;
    let span = cursor.since(start);
    cursor.expect(b')', ") after the number")?;
    Ok((value, span))
}

fn parse_element_bits(cursor: &mut Cursor) -> Result<u32> {
    let (bits, span) = parse_argument(cursor, "the bits of one element")?;
    u32::try_from(bits).map_err(|_| {
        Error::new(format!("elements of {bits} bits")).at(span).accepts(format!("0 to {} bits", u32::MAX))
    })
}

fn parse_space(cursor: &mut Cursor) -> Result<u8> {
    let (space, span) = parse_argument(cursor, "a memory space, 0 to 127")?;
    let checked = Layout::descending(0).with_memory_space(space).map_err(|error| error.at(span))?;
    Ok(checked.memory_space())
}

#[cold]
fn parse_rare(
    cursor: &mut Cursor,
    qualifier: usize,
    start: usize,
    rare: &mut Rare,
    depth: u32,
) -> Result<()> {
    match qualifier {
        0 => parse_dim_level_types(cursor),
        2 => {
            rare.tail = Some(parse_argument(cursor, "a number of elements, at least 1")?);
            Ok(())
        }
        3 | 4 => {
            cursor.expect(b'(', "( after the qualifier")?;
            let at = cursor.place();
            let kind = parse_type(cursor)?;
            if !kind.is_integral() {
                return Err(Error::new(format!("{kind} is not an integer type"))
                    .at(cursor.since(at))
                    .rule("indices and pointers are integers")
                    .accepts("an integer type such as u32"));
            }
            *(if qualifier == 3 { &mut rare.index } else { &mut rare.pointer }) = Some(kind);
            cursor.expect(b')', ") after the type")
        }
        7 => parse_split_configs(cursor, rare),
        8 => {
            cursor.expect(b'(', "( after the qualifier")?;
            let _ = parse_shape(cursor, depth + 1)?;
            cursor.expect(b')', ") after the physical shape")?;
            Err(Error::new("a physical shape on a dense array")
                .at(cursor.since(start))
                .rule("P(..) belonged to sparse arrays, which today's XLA does not have")
                .accepts("a layout without P(..)"))
        }
        9 => {
            rare.prefix = parse_argument(cursor, "a number of bytes")?.0;
            Ok(())
        }
        _ => {
            let dims = parse_list(cursor, |cursor| cursor.number("a padded size"))?;
            let span = cursor.since(start);
            let mut value = PaddingValue::Invalid;
            if cursor.eat(b'=')? {
                let word = cursor.word();
                value = PaddingValue::from_name(word)
                    .ok_or_else(|| cursor.unexpected("zero, one, lowest, highest or unknown"))?;
                cursor.advance(word.len())?;
            }
            rare.padding = Some((Padding { padded_dimensions: dims, value }, span));
            Ok(())
        }
    }
}

/// `D(..)` of 2023 to 2025. All dense says nothing; anything else was sparse.
fn parse_dim_level_types(cursor: &mut Cursor) -> Result<()> {
    cursor.expect(b'(', "( after the qualifier")?;
    while !cursor.eat(b')')? {
        if cursor.peek() != b'D' || matches!(cursor.peek_second(), b'+' | b'~') {
            let error = cursor.unexpected("D for each dimension");
            return Err(match cursor.peek() {
                b'C' | b'S' | b'H' | b'D' => error.rule("sparse layouts are gone from XLA"),
                _ => error,
            });
        }
        cursor.advance(1)?;
        if !cursor.eat(b',')? && cursor.peek() != b')' {
            return Err(cursor.unexpected(", or )"));
        }
    }
    Ok(())
}

/// `(0:10,20)(1:5)`
fn parse_split_configs(cursor: &mut Cursor, rare: &mut Rare) -> Result<()> {
    loop {
        cursor.expect(b'(', "( before a physical dimension and its split indices")?;
        let start = cursor.place();
        let dimension = cursor.number("a physical dimension, 0 being the most major")?;
        let span = cursor.since(start);
        cursor.expect(b':', ": before the split indices")?;
        let mut split_indices = Vec::new();
        while cursor.peek() != b')' {
            if !split_indices.is_empty() {
                cursor.expect(b',', ", before the next split index, or )")?;
            }
            split_indices.push(cursor.number("a split index")?);
        }
        cursor.advance(1)?;
        rare.splits.push((SplitConfig { dimension, split_indices }, span));
        if cursor.peek() != b'(' {
            return Ok(());
        }
    }
}

/// `(a,b,..)`, also empty.
fn parse_list<T>(cursor: &mut Cursor, item: impl Fn(&mut Cursor) -> Result<T>) -> Result<Vec<T>> {
    cursor.expect(b'(', "( before a list")?;
    let mut list = Vec::new();
    while !cursor.eat(b')')? {
        if !list.is_empty() {
            cursor.expect(b',', ", before the next number, or )")?;
        }
        list.push(item(cursor)?);
    }
    Ok(list)
}

/// `strides(5,1),base(2),size(16)`, and the qualifiers that free strides can have.
#[cold]
fn parse_free(cursor: &mut Cursor, rank: Option<usize>, depth: u32) -> Result<Layout> {
    let start = cursor.place();
    if cursor.word() != "strides" {
        return Err(cursor.unexpected("a dimension number, or strides(..)"));
    }
    cursor.advance("strides".len())?;
    let strides = parse_list(cursor, |cursor| cursor.signed("a stride in elements"))?;
    let list = cursor.since(start);
    if let Some(rank) = rank.filter(|&rank| rank != strides.len()) {
        return Err(Error::new(format!("{} strides for an array of {rank} dimensions", strides.len()))
            .at(list)
            .rule("every dimension has one stride")
            .accepts(format!("{rank} strides")));
    }
    let (mut base, mut size) = (None, None);
    while cursor.eat(b',')? {
        let word = cursor.word();
        let slot = match word {
            "base" if base.is_none() && size.is_none() => &mut base,
            "size" if size.is_none() => &mut size,
            _ => return Err(cursor.unexpected("base(..), then size(..), each at most once")),
        };
        cursor.advance(word.len())?;
        *slot = Some(parse_argument(cursor, "a number of elements")?.0);
    }
    let mut layout = Layout::strided(Strides { strides, base, size })?;
    let mut rare = None;
    let colon = cursor.place();
    if cursor.eat(b':')? {
        parse_qualifiers(cursor, layout.parts_mut(), &mut rare, depth)?;
    }
    let qualifiers = cursor.since(colon);
    cursor.expect(b'}', "} at the end of the layout")?;
    let tiles = layout.tiles().to_vec();
    layout = layout.with_tiles(tiles).map_err(|error| error.at(qualifiers.clone()))?;
    match rare {
        Some(rare) => rare.apply(layout).map_err(|error| error.or_at(qualifiers)),
        None => Ok(layout),
    }
}
