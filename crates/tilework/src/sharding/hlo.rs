//! Shardings as XLA prints them.
//!
//! ```text
//! sharding := "{" ( "replicated" | "maximal device=" number | tiled ) [metadata] "}"
//! tiled    := "devices=[" numbers "]" ( "<=[" numbers "]" [ "T(" numbers ")" ] | numbers )
//!             [ "last_tile_dim_replicate" | "last_tile_dims={" kinds "}" ]
//! ```

use std::ops::Range;

use super::Sharding;
use crate::dialect::cursor::{Cursor, Tokens};
use crate::error::{Error, ErrorKind, Result, counted, quoted};
use crate::layout::MAX_RANK;

const TOKENS: Tokens = Tokens {
    noun: "sharding",
    begins_word: |byte| byte.is_ascii_alphabetic(),
    in_word: |byte| byte.is_ascii_alphanumeric() || byte == b'_',
    digits_end: true,
    trim: str::trim_start,
    most_deep: 1,
};

const EXAMPLE: &str = "devices=[2,4]<=[8], replicated, or maximal device=0";

/// The most devices of a list.
pub(super) const MOST_LISTED: u64 = 1 << 20;

pub(super) fn read(text: &str) -> Result<Sharding> {
    let mut cursor = Cursor::new(text, &TOKENS);
    cursor.eat("sharding=");
    cursor.expect("{", "{")?;
    let (word, span) = cursor.placed_word();
    let sharding = match word {
        "replicated" => Sharding::replicated(None),
        "maximal" => {
            if cursor.word() != "device" || !cursor.eat("=") {
                return Err(cursor.unexpected("device= and its number, such as {maximal device=0}"));
            }
            Sharding::maximal(cursor.number("the number of the device")?)
        }
        "devices" => tiled(&mut cursor)?,
        "manual" | "unreduced" | "unknown" => {
            return Err(Error::new(format!("{{{word}}} says no parts"))
                .of_kind(ErrorKind::Unsupported)
                .at(span)
                .rule("each device has what the program gave it, which no sharding tells")
                .accepts(EXAMPLE));
        }
        "" if cursor.peek() == b'{' => {
            return Err(cursor
                .unexpected("the sharding of one array")
                .rule("in braces within braces stand the shardings of a tuple, one for each of its arrays"));
        }
        _ => {
            cursor.go(span.start);
            return Err(cursor.unexpected(EXAMPLE));
        }
    };
    if cursor.peek_word() == "metadata" {
        pass_metadata(&mut cursor)?;
    }
    cursor.expect("}", "}")?;
    cursor.eat(",");
    cursor.finish("the end of the sharding")?;
    Ok(sharding)
}

fn tiled(cursor: &mut Cursor) -> Result<Sharding> {
    cursor.expect("=", "=")?;
    let start = cursor.here();
    let mut parts = bracketed(cursor, "[", "]")?;
    let at = cursor.since(start);
    let all = product(&parts).ok_or_else(|| too_many(at.clone()))?;
    if parts.is_empty() || all == 0 {
        return Err(Error::new("no parts").at(at).accepts("a number of 1 or more for each dimension"));
    }
    let start = cursor.here();
    let (counted_off, listed) = match cursor.eat("<=") {
        true => {
            let sizes = bracketed(cursor, "[", "]")?;
            let order = match cursor.eat("T") {
                true => order(cursor, sizes.len())?,
                false => (0..sizes.len()).collect(),
            };
            let devices = product(&sizes).ok_or_else(|| too_many(cursor.since(start)))?;
            same(devices, all, cursor.since(start))?;
            (Some((sizes, order)), Vec::new())
        }
        false => {
            let devices = numbers(cursor)?;
            same(devices.len() as u64, all, cursor.since(start))?;
            let mut sorted = devices.clone();
            sorted.sort_unstable();
            if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::new(format!("device {} twice", twice[0]))
                    .at(cursor.since(start))
                    .rule("a device has one part"));
            }
            (None, devices)
        }
    };
    let copies = copies(cursor, &mut parts)?;
    match counted_off {
        Some((sizes, order)) => Sharding::counted(parts, copies, &sizes, &order),
        None => Ok(Sharding::listed(parts, copies, listed)),
    }
}

/// Takes those of the last numbers that count copies.
fn copies(cursor: &mut Cursor, parts: &mut Vec<u64>) -> Result<u64> {
    let (word, span) = cursor.placed_word();
    let kinds = match word {
        "" => 0,
        "last_tile_dim_replicate" => 1,
        "last_tile_dims" => {
            cursor.expect("=", "=")?;
            cursor.expect("{", "{")?;
            let mut kinds = 0;
            loop {
                let (kind, span) = cursor.placed_word();
                if kind != "replicated" {
                    return Err(Error::new(format!("a last dimension that is {}", quoted(kind)))
                        .of_kind(ErrorKind::Unsupported)
                        .at(span)
                        .rule("devices along it have what the program gave them, which no sharding tells")
                        .accepts("replicated"));
                }
                kinds += 1;
                if !cursor.eat(",") {
                    break;
                }
            }
            cursor.expect("}", "a comma or }")?;
            kinds
        }
        "metadata" => {
            cursor.go(span.start);
            0
        }
        _ => {
            cursor.go(span.start);
            return Err(cursor.unexpected("last_tile_dim_replicate, or }"));
        }
    };
    let Some(rank) = parts.len().checked_sub(kinds) else {
        return Err(Error::new(format!(
            "{} for {}",
            counted(kinds as u64, "kind"),
            counted(parts.len() as u64, "number")
        ))
        .at(span)
        .rule("each kind is that of one of the last numbers of devices=[…]"));
    };
    Ok(parts.drain(rank..).product())
}

/// `T(1,0)` behind its letter.
fn order(cursor: &mut Cursor, rank: usize) -> Result<Vec<usize>> {
    let start = cursor.here();
    let found = bracketed(cursor, "(", ")")?;
    let mut sorted = found.clone();
    sorted.sort_unstable();
    if sorted.iter().copied().ne(0..rank as u64) {
        return Err(Error::new(format!("the order {found:?} of {}", counted(rank as u64, "dimension")))
            .at(cursor.since(start))
            .rule("each dimension of <=[…] stands in it once, counted from 0"));
    }
    Ok(found.into_iter().map(|dim| dim as usize).collect()) // below the rank
}

fn bracketed(cursor: &mut Cursor, open: &str, close: &str) -> Result<Vec<u64>> {
    cursor.expect(open, open)?;
    let start = cursor.here();
    let found = numbers(cursor)?;
    if found.len() > MAX_RANK - 1 {
        return Err(Error::new(counted(found.len() as u64, "number"))
            .of_kind(ErrorKind::Limit)
            .at(cursor.since(start))
            .accepts(format!("up to {}", MAX_RANK - 1)));
    }
    cursor.expect(close, &format!("a comma or {close}"))?;
    Ok(found)
}

fn numbers(cursor: &mut Cursor) -> Result<Vec<u64>> {
    let mut found = vec![cursor.number("a number")?];
    while cursor.eat(",") {
        found.push(cursor.number("a number")?);
        if found.len() as u64 > MOST_LISTED {
            return Err(Error::new("too many numbers").of_kind(ErrorKind::Limit).at(cursor.token()));
        }
    }
    Ok(found)
}

fn product(sizes: &[u64]) -> Option<u64> {
    let product = sizes.iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
    product.filter(|&product| product <= i64::MAX as u64)
}

fn too_many(at: Range<usize>) -> Error {
    Error::new("more devices than 63 bits count").of_kind(ErrorKind::Overflow).at(at)
}

fn same(devices: u64, parts: u64, at: Range<usize>) -> Result<()> {
    match devices == parts {
        true => Ok(()),
        false => Err(Error::new(format!("{} for {}", counted(devices, "device"), counted(parts, "part")))
            .of_kind(ErrorKind::Mismatch)
            .at(at)
            .rule("each part has a device, copies counted")
            .accepts(format!("{parts} devices"))),
    }
}

/// Passes `metadata={op_name="…"}`.
fn pass_metadata(cursor: &mut Cursor) -> Result<()> {
    cursor.word();
    cursor.expect("=", "=")?;
    let (mut open, mut in_text, mut end) = (0_usize, false, None);
    for (place, byte) in cursor.rest().bytes().enumerate() {
        match byte {
            b'"' => in_text = !in_text,
            b'{' if !in_text => open += 1,
            b'}' if !in_text => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            end = Some(place + 1);
            break;
        }
    }
    let Some(end) = end.filter(|_| cursor.peek() == b'{') else {
        return Err(cursor.unexpected("{op_name=\"…\"}"));
    };
    cursor.pass(end);
    Ok(())
}
