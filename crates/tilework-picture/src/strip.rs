//! The memory as a strip, broken into rows where the layout itself begins anew.

use tilework_core::{Layout, PartKind, Place};

use crate::scene::{Border, Cell, Content, Grid, Head, Lane, Room};
use crate::tiles::{Tiles, places_of_tile, tile_levels, tile_places};
use crate::window::window;

/// Which borders are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Borders {
    /// Those of the first tiles.
    First,
    /// Those of tiles within tiles as well.
    All,
}

pub(crate) fn memory(layout: &Layout, room: Room, borders: Borders) -> Option<Grid> {
    let size = layout.size();
    if size == 0 {
        return None;
    }
    let row = row_len(layout, room);
    let tile = tile_places(layout);
    let within_row = tile.filter(|&tile| tile < row && row.is_multiple_of(tile));
    let between_rows = tile.filter(|&tile| tile > row && tile.is_multiple_of(row));
    let rows = size.div_ceil(row);
    let shown_rows = window(rows, rows - 1, between_rows.map(|tile| tile / row), room.rows);
    let shown_columns = window(row, row - 1, within_row, room.columns);
    let lanes = |shown: &[Option<u64>], head: &dyn Fn(u64) -> Head| -> Vec<Lane> {
        shown.iter().map(|at| Lane { head: at.map_or(Head::Cut, head) }).collect()
    };
    let mut grid = Grid {
        slice: None,
        row_dim: None,
        column_dim: None,
        rows: lanes(&shown_rows, &|at| Head::Offset(at * row)),
        columns: lanes(&shown_columns, &|_| Head::None),
        cells: Vec::with_capacity(shown_rows.len() * shown_columns.len()),
        combined: Vec::new(),
        names: Vec::new(),
    };
    let tiles = Tiles::new(layout);
    let levels = if borders == Borders::All { tile_levels(layout) } else { 0 };
    let inner: Vec<(u32, u64)> =
        (2..=levels).filter_map(|level| Some((level, places_of_tile(layout, level)?))).collect();
    // The outermost tile that begins at a place; rows that are no whole tiles have none of theirs.
    let begins = |at: Option<u64>, tile: Option<u64>, fits: &dyn Fn(u64) -> bool| match at {
        Some(at) if at > 0 => match tile {
            Some(tile) if at.is_multiple_of(tile) => Border::Tile,
            _ => inner
                .iter()
                .find(|&&(_, tile)| fits(tile) && at.is_multiple_of(tile))
                .map_or(Border::None, |&(level, _)| Border::Inner(level)),
        },
        _ => Border::None,
    };
    let in_row = |tile: u64| row.is_multiple_of(tile);
    let of_rows = |tile: u64| tile.is_multiple_of(row);
    for &at_row in &shown_rows {
        let top = begins(at_row.map(|at| at * row), between_rows, &of_rows);
        for &at_column in &shown_columns {
            let offset = at_row.zip(at_column).and_then(|(row_at, at)| (row_at * row).checked_add(at));
            let left = match offset {
                Some(offset) if offset >= size => Border::None,
                _ => begins(at_column, within_row, &in_row),
            };
            let (content, tile) = match offset {
                None => (Content::Cut, None),
                Some(offset) if offset >= size => (Content::Nothing, None),
                Some(offset) => match layout.locate(offset).ok()? {
                    Place::Padding(padding) => (Content::Padding(Some(padding)), None),
                    Place::Element(index) => {
                        let tile = Tiles::color(&tiles.of(&index));
                        (Content::Index(index), tile)
                    }
                },
            };
            let offset = offset.filter(|&offset| offset < size);
            grid.cells.push(Cell { content, tile, left, top, offset });
        }
    }
    Some(grid)
}

/// Places in a row: the longest stretch that fits and after which the layout begins anew, if that fills most of
/// the room. Else several such stretches, if all of memory is then seen; else one that does not fit.
fn row_len(layout: &Layout, room: Room) -> u64 {
    let (size, rows, columns) = (layout.size(), room.rows as u64, room.columns as u64);
    let mut stretches: Vec<u64> = layout.axes().iter().map(|axis| axis.stride.unsigned_abs()).collect();
    stretches.extend([size, tile_places(layout).unwrap_or(size)]);
    stretches.retain(|&stretch| stretch > 1 && stretch <= size);
    stretches.sort_unstable();
    let fits = stretches.iter().rev().find(|&&stretch| stretch <= columns);
    let exceeds = stretches.iter().find(|&&stretch| stretch > columns);
    let round = if columns < 8 { columns.max(1) } else { columns - columns % 8 };
    match (fits, exceeds) {
        (Some(&fits), _) if fits == size || fits * 2 > columns => fits,
        (Some(&fits), _) if size.div_ceil(columns - columns % fits) <= rows => columns - columns % fits,
        (None, _) if size.div_ceil(round) <= rows => round.min(size),
        (_, Some(&exceeds)) => exceeds,
        _ => size,
    }
}

/// The dimensions from the most minor to the most major, as their outermost axes lie in memory; those
/// without axes, of size 1 or broadcast, come last.
pub(crate) fn dims_by_memory(layout: &Layout) -> Vec<usize> {
    let parts = layout.index_parts();
    // Some dimensions under each part; each part stands behind those it is made of.
    let mut dims: Vec<Vec<usize>> = Vec::with_capacity(parts.len());
    for part in parts {
        dims.push(match part.kind {
            PartKind::Unit => Vec::new(),
            PartKind::Dim(dim) => vec![dim],
            PartKind::Tiles { of, .. } | PartKind::Within { of, .. } | PartKind::Moved { of, .. } => {
                dims[of].clone()
            }
            PartKind::Combined { major, minor, .. } => {
                let mut both = dims[major].clone();
                both.extend(&dims[minor]);
                both.dedup();
                both.truncate(8); // more would cost much and show nothing
                both
            }
        });
    }
    let mut order: Vec<usize> = Vec::new();
    let mut seen = vec![false; layout.rank()];
    for axis in layout.axes() {
        for &dim in &dims[axis.part] {
            if !std::mem::replace(&mut seen[dim], true) {
                order.push(dim);
            }
        }
    }
    order.reverse();
    order.extend((0..layout.rank()).rev().filter(|dim| !seen[*dim]));
    order
}
