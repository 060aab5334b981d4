//! Blocks that are transposed: how they are stored, and what they have of a row on either side.

use std::ops::RangeInclusive;

use super::{UNIT, cut, finish, lines, sort, whole};
use crate::carry;
use crate::exec::STAGE;
use crate::kernels;
use crate::kernels::vector::LINE;
use crate::nest::{ByteNest, Turn, Turns};
use crate::setting::Setting;
use crate::step::{Part, Step, Store, Work};

/// Rows of the source that have this number of bytes are read whole if they adjoin; shorter ones are anyway.
const ADJOINING: RangeInclusive<usize> = 257..=1024;

/// Source rows whose lines are near, all of them.
const NEAR: usize = 256;

/// Rows this many bytes apart share the sets of the second cache; so of rows at a multiple of a large power of two few are near.
const ALIKE: usize = 64 << 10;

/// Of rows that share them, this many lines are near: in the second cache and the last one.
const OF_A_SET: usize = 64;

/// Blocks to transpose: `rows` is the loop along the destination, `columns` the one along the source.
pub(super) fn transposed(nest: ByteNest, others: Turns, rows: Turn, columns: Turn, setting: Setting) -> Step {
    let size = nest.size;
    let Some(kernel) = kernels::transpose(setting.set, size) else { return lines(nest, setting) };
    let tile = kernel.tile;
    let lines = |step: isize| step.unsigned_abs().is_multiple_of(LINE);
    let row = rows.extent * size;
    let whole_lines =
        lines(columns.to) && row.is_multiple_of(LINE) && others.iter().all(|turn| lines(turn.to));
    let goes_on = others.iter().any(|turn| turn.to == row as isize);
    // Lines are held at the ends of long rows, and of short ones that the next ones adjoin.
    let carries = kernel.carry.is_some() && row >= if goes_on { LINE } else { 256 };
    let store = match setting.streams {
        false => Store::Plain,
        true if whole_lines => Store::Stream,
        true if columns.to == row as isize && row <= 512 => Store::StageWhole,
        true if carries => Store::Carry,
        true => Store::Plain,
    };
    let (row_bytes, column_bytes) = wanted(store, rows, columns, (size, kernel.puts_together), setting);
    let row_piece = match store {
        Store::StageWhole => rows.extent,
        Store::Carry if rows.extent <= NEAR => rows.extent,
        Store::Carry => filled(rows.extent, even(rows.extent, (row_bytes / size).max(tile), tile), tile),
        _ => even(rows.extent, (row_bytes / size).max(tile), tile),
    };
    let mut column_piece = even(columns.extent, (column_bytes / size).max(tile), tile);
    match store {
        // Whole lines go to the buffer where the destination itself begins within one.
        Store::Stream => {
            // What is borrowed from the next block, and a line that makes their number odd.
            let pitch = (row_piece * size).next_multiple_of(LINE) + 2 * LINE;
            column_piece = column_piece.min((STAGE / pitch / tile * tile).max(tile));
        }
        Store::StageWhole => column_piece = column_piece.min(STAGE / (row_piece * size)),
        Store::Carry => column_piece = column_piece.min(carry::ROWS),
        Store::Plain | Store::Stage => {}
    }
    let mut outer = whole(&others);
    outer.push(cut(rows, row_piece, Part::Rows));
    outer.push(cut(columns, column_piece, Part::Columns));
    sort(&mut outer, store);
    if store == Store::Carry {
        carry::along_rows(&mut outer, row);
    }
    let work = Work::Transpose {
        plain: kernel.plain,
        stream: kernel.stream,
        size,
        from: rows.from,
        to: columns.to,
        store,
        fetches: setting.fetches_blocks,
        carry: kernel.carry,
    };
    let weight = row_piece.min(rows.extent) * column_piece.min(columns.extent) * size;
    finish(nest, outer, work, weight, setting)
}

/// Bytes that a block of elements of `size` bytes should have in a row of the destination and in one of the source.
fn wanted(
    store: Store,
    rows: Turn,
    columns: Turn,
    (size, puts_together): (usize, bool),
    setting: Setting,
) -> (usize, usize) {
    let row = rows.extent * size;
    // Short rows that adjoin in the source are read whole: all of a block lies in a row, and no line is part of two blocks.
    let whole_row = columns.extent * size;
    let adjoin = rows.from == whole_row as isize && ADJOINING.contains(&whole_row);
    match store {
        // Where rows are put together first, a block of more of them costs nothing, and memory wants longer pieces.
        Store::Stream if adjoin && puts_together => (256, whole_row),
        // Of 1 KiB each it was measured with AVX2 alone.
        Store::Stream if adjoin && whole_row < *ADJOINING.end() => {
            ((UNIT / whole_row * size).clamp(LINE, 128), whole_row)
        }
        // The lines of these source rows, and what is held of these columns, are near.
        Store::Carry => ((128 * size).min(256), (512 * size).min(1024)),
        Store::StageWhole if whole_row * rows.extent <= 2 * UNIT => (row, whole_row),
        Store::StageWhole => (row, (UNIT / rows.extent).max(LINE)),
        // A line of each of many rows, and so long pieces of the destination; the next block goes on with the rows.
        Store::Stream if puts_together && (whole_row < 256 || row >= 512) => {
            // The sets that rows fall into: all of them, unless they are a multiple of a power of two apart.
            let power = 1 << rows.from.trailing_zeros().min(ALIKE.trailing_zeros());
            let near = OF_A_SET * (ALIKE / power) * size;
            let bytes: usize = if size < 4 { 512 } else { 1024 };
            (bytes.min(near), if power < 2048 { LINE } else { 256 })
        }
        // Short rows leave room for more columns.
        Store::Stream => (256, (UNIT / row.min(256) * size).max(512)),
        _ if !setting.fetches => (2048, 2048),
        _ if !setting.streams => (1024, 256),
        _ => (256, 256),
    }
}

/// A piece of about `piece`, of whole tiles, so that the last piece is not much smaller than the others.
fn even(whole: usize, piece: usize, tile: usize) -> usize {
    let pieces = (whole + piece / 2) / piece;
    whole.div_ceil(pieces.max(1)).next_multiple_of(tile)
}

/// A piece of `piece` elements or some tiles more, so that the last piece has a tile at least.
fn filled(whole: usize, mut piece: usize, tile: usize) -> usize {
    while piece < whole && (whole - 1) % piece + 1 < tile {
        piece += tile;
    }
    piece
}
