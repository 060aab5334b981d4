//! Elements below a byte, block by block as bytes.
//!
//! In which order bytes go is what the engine is for ([`crate::ways`]), and elements below a byte are only as hard because they share
//! bytes. So a block is taken apart, moved and put together again, and stays in the nearest caches meanwhile. In one of two forms:
//!
//! ```text
//!                  widened                              exchanged before            exchanged after
//! source           rows of elements                     rows of bytes               bytes
//!   to A           a byte for each element              elements exchanged
//!   moved          a nest of bytes, from A to B         A to the destination        the source to B
//!   from B         bytes become elements                                            elements exchanged
//! destination      rows of elements                     bytes                       rows of bytes
//! ```
//!
//! *Widened* is any nest. A row of A begins where its first element is, whatever the phase of that in a byte of the source: what precedes
//! it in the byte lies before the row. So does a row of B: a byte of the destination that begins or ends a row is merged.
//!
//! *Exchanged* moves half as many bytes or less, but everything has to be even: let `n` elements be in a byte, `s` be the loop that moves
//! one element in the source, and `d` the one that does in the destination. If all that they and the other loops count in is a multiple of
//! `n`, then `n` turns of `s` by `n` turns of `d` are `n` bytes on either side, which an exchange ([`crate::subbyte::Exchange`]) turns into
//! each other. What is left to do is a nest of bytes: with 4 bits
//!
//! ```text
//! elements   s  extent a, 1 → p                   d  extent b, q → 1                        others r → t
//! bytes      s  extent a / 2, 1 → p               d  extent b / 2, q → 1                    others r / 2 → t / 2
//!            in a group  2, q / 2 → p / 2, which is d in the source and s in the destination
//! ```
//!
//! The exchange is among the rows of a group, on the side that has the longer rows.
//!
//! *Halves* are put together where rows are long on both sides, but may begin at any phase (`halves`): for elements of 4 bits.
//!
//! Where elements are *converted* from or to 4 bits, they change on the way to A or from B, and are widened in between.
//!
//! Loops are cut into whole pieces, what is left over is a nest of its own. Blocks are units if no two of them write to one byte; else all
//! turns of the loops whose turns do are one unit.

mod block;
mod halves;
mod rows;
mod run;
#[cfg(test)]
mod tests;

use tilework_core::{Loop, Nest};

pub(crate) use block::Wide;
pub(crate) use run::Blocks;

use crate::convert::{Conversion, held_bits};
use crate::setting::Setting;
use crate::subbyte::{self, Widen};
use block::{Cells, Form};
use rows::by;

/// Cells that a block wants in a row in the source and in the destination: the first for which there is room.
const WANTED: [(u64, u64); 8] =
    [(512, 256), (256, 256), (128, 256), (128, 128), (64, 128), (64, 64), (32, 32), (16, 16)];

/// The most cells of a block, which are bytes of A and of B: both lie in the nearest cache, or in the second where memory is waited for
/// and long rows pay.
const MOST: u64 = if cfg!(test) { 2 << 10 } else { 16 << 10 };
const MOST_FAR: u64 = if cfg!(test) { 4 << 10 } else { 64 << 10 };

/// What an element costs where each goes by itself.
const ALONE: f64 = 1.0;

/// Where two loops of at least this number of turns move an element of 1 or 2 bits each, on one side, a byte for each would be many times
/// as much as there is: they are transposed as they are.
const LONG: u64 = 16;

/// Runs of this number of elements and more are copied as bits.
const LONG_RUN: u64 = 64;

/// Rows of so many bytes in the destination are exchanged there.
const LONG_ROW: u64 = 256;

/// Elements that a block has in a row on either side if halves of bytes are put together; what kernels like multiples of; and the least in
/// the destination and in the source.
const SIDE: u64 = if cfg!(test) { 24 } else { 256 };
const TILE: u64 = if cfg!(test) { 2 } else { 128 };
const LEAST: (u64, u64) = if cfg!(test) { (5, 3) } else { (32, 16) };

/// Rows of fewer bytes are not worth an exchange.
const SHORT: u64 = if cfg!(test) { 2 } else { 16 };

/// The steps for a nest of elements below a byte, if it pays to have them as bytes.
pub(crate) fn wide(nest: &Nest, bits: u32, setting: Setting) -> Option<Vec<Wide>> {
    let mut nest = nest.clone();
    nest.tidy();
    let is_long = |l: &Loop| (l.from, l.to) == (1, 1) && l.extent >= LONG_RUN;
    if nest.loops.iter().any(is_long) || nest.loops.iter().any(|l| l.to <= 0) {
        return None;
    }
    let most = ALONE * nest.elements() as f64;
    let cost = |made: &Vec<Wide>| made.iter().map(Wide::cost).sum::<f64>();
    let long = |one: fn(&Loop) -> i64, other: fn(&Loop) -> i64| {
        nest.loops.iter().any(|l| one(l) == 1 && other(l) != 1 && l.extent >= LONG)
    };
    let transposes = bits < 4 && long(|l| l.from, |l| l.to) && long(|l| l.to, |l| l.from);
    let made = exchanged(&nest, bits, setting).or_else(|| {
        if transposes && setting.only.is_none() {
            return None;
        }
        let made = [halves(&nest, bits, setting), widened(&nest, bits, setting)].into_iter().flatten();
        made.min_by(|one, other| cost(one).total_cmp(&cost(other)))
    })?;
    (setting.only.is_some() || cost(&made) <= most).then_some(made)
}

/// The steps for a nest whose elements have 4 bits on one side, and become others of whole bytes on the other: they change on the way to A
/// or from B.
pub(crate) fn converted(nest: &Nest, conversion: Conversion, setting: Setting) -> Option<Vec<Wide>> {
    let mut nest = nest.clone();
    nest.tidy();
    let [from, to] = [conversion.from(), conversion.to()].map(held_bits);
    let is_long = |l: &Loop| (l.from, l.to) == (1, 1) && l.extent >= LONG_RUN;
    if (from == 4) == (to == 4) || nest.loops.iter().any(|l| is_long(l) || l.to <= 0) {
        return None;
    }
    let form = Form::Widened(Widen::new(setting.set, 4)?);
    blocks(Cells { form, bits: 4, nest, group: None, conversion: Some(conversion) }, setting)
}

/// A nest in blocks of widened elements.
fn widened(nest: &Nest, bits: u32, setting: Setting) -> Option<Vec<Wide>> {
    let form = Form::Widened(Widen::new(setting.set, bits)?);
    blocks(Cells { form, bits, nest: nest.clone(), group: None, conversion: None }, setting)
}

/// A nest as bytes whose elements are exchanged before or after, if that can be and rows are long enough.
fn exchanged(nest: &Nest, bits: u32, setting: Setting) -> Option<Vec<Wide>> {
    let kernel = subbyte::exchange(setting.set, bits)?;
    let n = 8 / bits as i64;
    let s = nest.loops.iter().position(|l| l.from == 1)?;
    let d = nest.loops.iter().position(|l| l.to == 1)?;
    let whole = |place: i64| place % n == 0;
    let fits = |(k, l): (usize, &Loop)| {
        (k == s || whole(l.from))
            && (k == d || whole(l.to))
            && (k != s && k != d || whole(l.extent as i64) && l.from != 0)
    };
    let starts = nest.starts.iter().all(|start| whole(start.0 as i64) && whole(start.1 as i64));
    if s == d || !starts || !nest.loops.iter().enumerate().all(fits) {
        return None;
    }
    let mut bytes = nest.clone();
    for start in &mut bytes.starts {
        *start = (start.0 / n as u64, start.1 / n as u64);
    }
    for (k, l) in bytes.loops.iter_mut().enumerate() {
        let turns = if k == s || k == d { l.extent / n as u64 } else { l.extent };
        let from = if k == s || k == d { l.from } else { l.from / n };
        let to = if k == s || k == d { l.to } else { l.to / n };
        *l = Loop { extent: turns, from, to };
    }
    let group = Loop { extent: n as u64, from: nest.loops[d].from / n, to: nest.loops[s].to / n };
    bytes.loops.push(group);
    let row = |one: fn(&Loop) -> i64| {
        let mut length = 1;
        for k in by(&bytes.loops, one).into_iter().filter(|&k| k < nest.loops.len()) {
            let l = bytes.loops[k];
            if l.extent > 1 && one(&l) != 0 && one(&l) != length as i64 {
                break;
            }
            length *= if one(&l) == 0 { 1 } else { l.extent };
        }
        length
    };
    let (before, after) = (row(|l| l.from), row(|l| l.to));
    // Long rows are better stored one after the other than read so.
    let form = if before > after && after < LONG_ROW { Form::Before(kernel) } else { Form::After(kernel) };
    let group = Some(bytes.loops.len() - 1);
    if before.max(after) < SHORT {
        return None;
    }
    blocks(Cells { form, bits: 8, nest: bytes, group, conversion: None }, setting)
}

/// A nest of elements of 4 bits in blocks of halves, if rows are long enough on both sides.
fn halves(nest: &Nest, bits: u32, setting: Setting) -> Option<Vec<Wide>> {
    let rows = nest.loops.iter().position(|l| l.to == 1)?;
    if bits != 4 || nest.loops[rows].extent < LEAST.0 || nest.loops[rows].from == 0 {
        return None;
    }
    let mut pieces = vec![1; nest.loops.len()];
    // Columns are what goes on in the source.
    let mut columns = 1;
    for k in by(&nest.loops, |l| l.from).into_iter().filter(|&k| k != rows && nest.loops[k].from != 0) {
        if nest.loops[k].from != columns as i64 || columns >= SIDE {
            break;
        }
        pieces[k] = piece(nest.loops[k].extent, SIDE.div_ceil(columns), TILE);
        columns *= pieces[k];
        if pieces[k] < nest.loops[k].extent {
            break;
        }
    }
    if columns < LEAST.1 {
        return None;
    }
    pieces[rows] = piece(nest.loops[rows].extent, (SIDE * SIDE / columns).clamp(SIDE, 8 * SIDE), TILE);
    let cells = Cells { form: Form::Halves, bits, nest: nest.clone(), group: None, conversion: None };
    let mut made = Vec::new();
    divide(cells, pieces, 0, setting, &mut made)?;
    Some(made)
}

/// A nest in blocks.
fn blocks(cells: Cells, setting: Setting) -> Option<Vec<Wide>> {
    let most = if setting.fetches { MOST_FAR } else { MOST };
    let pieces = pieces(&cells, most)?;
    let mut made = Vec::new();
    divide(cells, pieces, 0, setting, &mut made)?;
    Some(made)
}

/// How many turns of each loop are in a block: as many elements in a row on both sides as there is room for, and then more until the block
/// is worth its calls. All rows of a group are in the same.
fn pieces(cells: &Cells, most: u64) -> Option<Vec<u64>> {
    let (loops, in_byte) = (&cells.nest.loops, u64::from(8 / cells.bits));
    let moving = |side: fn(&Loop) -> i64| by(loops, side).into_iter().filter(move |&k| side(&loops[k]) != 0);
    let orders = [moving(|l| l.from).collect::<Vec<_>>(), moving(|l| l.to).collect()];
    let all = |pieces: &[u64]| pieces.iter().fold(1, |all: u64, &piece| all.saturating_mul(piece));
    let in_rows = |wanted: (u64, u64)| {
        let mut pieces = vec![1; loops.len()];
        if let Some(group) = cells.group {
            pieces[group] = loops[group].extent;
        }
        for (order, wanted) in orders.iter().zip([wanted.0, wanted.1]) {
            let mut length: u64 = 1;
            for &k in order {
                if length >= wanted {
                    break;
                }
                pieces[k] = piece(loops[k].extent, wanted.div_ceil(length), in_byte).max(pieces[k]);
                length = length.saturating_mul(pieces[k]);
            }
        }
        pieces
    };
    let mut pieces = WANTED.iter().map(|&wanted| in_rows(wanted)).find(|pieces| all(pieces) <= most)?;
    for &k in &orders[1] {
        let more = most / 2 / all(&pieces);
        if more > 1 {
            let before = pieces[k];
            pieces[k] = piece(loops[k].extent, before * more, in_byte).max(before);
        }
    }
    Some(pieces)
}

/// At least `least` turns of a loop, if it has them, a multiple of what is said: better half as many more than some that are left over.
fn piece(extent: u64, least: u64, multiple: u64) -> u64 {
    let least = least.next_multiple_of(multiple);
    if extent <= least + least / 2 {
        return extent;
    }
    (least..least + least / 2)
        .step_by(multiple as usize)
        .find(|piece| extent.is_multiple_of(*piece))
        .unwrap_or(least)
}

/// Cuts loops into whole pieces, from one on; turns that are left over are pieces of their own.
fn divide(
    mut cells: Cells,
    pieces: Vec<u64>,
    first: usize,
    setting: Setting,
    made: &mut Vec<Wide>,
) -> Option<()> {
    for place in first..pieces.len() {
        let Loop { extent, from, to } = cells.nest.loops[place];
        let mut left = extent % pieces[place];
        // A piece and a little are better together.
        if left > 0 && left < pieces[place] / 4 && extent >= 2 * pieces[place] {
            left += pieces[place];
        }
        if left > 0 {
            let (mut rest, mut pieces) = (cells.clone(), pieces.clone());
            (rest.nest.loops[place].extent, pieces[place]) = (left, left);
            let before = (extent - left) as i64;
            for start in &mut rest.nest.starts {
                // Wraps to the right value where a stride is negative: the place is within the source.
                start.0 = start.0.wrapping_add_signed(before.wrapping_mul(from));
                start.1 = start.1.wrapping_add_signed(before.wrapping_mul(to));
            }
            divide(rest, pieces, place + 1, setting, made)?;
            cells.nest.loops[place].extent -= left;
        }
    }
    made.push(Wide::new(&cells, &pieces, setting)?);
    Some(())
}
