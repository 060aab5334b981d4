//! The array as a grid: each element with its offset, padding up to the borders of the tiles.

use tilework_core::{Layout, Padding, Place};

use crate::ruler::{Ruler, Uses};
use crate::scene::{Border, Cell, Content, Grid, Head, Lane, Room};
use crate::strip::Borders;
use crate::tiles::{self, Tiles, places_of_tile, tile_levels};
use crate::window::window;

/// One of the two directions: the positions shown along a dimension.
struct Side {
    dim: Option<usize>,
    ruler: Option<Ruler>,
    shown: Vec<Option<u64>>,
}

pub(crate) fn array(layout: &Layout, room: Room, chosen: &[Option<u64>], borders: Borders) -> Option<Grid> {
    if layout.is_empty() {
        return None;
    }
    let uses = Uses::new(layout.index_parts(), layout.rank());
    let chosen = Some(chosen).filter(|chosen| open_dims(layout, chosen).is_some());
    let (row_dim, column_dim) = shown_dims(layout, chosen.unwrap_or_default());
    let rows = Side::new(layout, &uses, row_dim, room.rows);
    let columns = Side::new(layout, &uses, column_dim, room.columns);
    let combined: Vec<usize> = [&rows, &columns].into_iter().filter_map(Side::combined).collect();
    let tiles = Tiles::new(layout);
    let mut grid = Grid {
        slice: (layout.rank() > 2).then(|| {
            let shown = |dim| Some(dim) == row_dim || Some(dim) == column_dim;
            let at = |dim: usize| chosen.and_then(|chosen| chosen[dim]).unwrap_or(0);
            (0..layout.rank()).map(|dim| if shown(dim) { None } else { Some(at(dim)) }).collect()
        }),
        row_dim,
        column_dim,
        rows: rows.lanes(),
        columns: columns.lanes(),
        cells: Vec::with_capacity(rows.shown.len() * columns.shown.len()),
        combined,
        names: Vec::new(),
    };
    let mut numbers: Vec<Option<Vec<u64>>> = Vec::new();
    let mut index: Vec<u64> = match &grid.slice {
        Some(slice) => slice.iter().map(|at| at.unwrap_or(0)).collect(),
        None => vec![0; layout.rank()],
    };
    for (row, &at_row) in rows.shown.iter().enumerate() {
        for (column, &at_column) in columns.shown.iter().enumerate() {
            let (content, tile, offset) = match (at_row, at_column) {
                (Some(at_row), Some(at_column)) => {
                    match (rows.set(&mut index, at_row), columns.set(&mut index, at_column)) {
                        (true, true) => {
                            let offset = layout.offset(&index).ok();
                            (offset.map_or(Content::Nothing, Content::Offset), Some(tiles.of(&index)), offset)
                        }
                        _ => {
                            let found = padding(layout, &index, [(&rows, at_row), (&columns, at_column)]);
                            let (offset, cause) = found.unzip();
                            (Content::Padding(cause), None, offset)
                        }
                    }
                }
                _ => (Content::Cut, None, None),
            };
            let (mut left, mut top) = (columns.border(column), rows.border(row));
            if !grid.combined.is_empty() {
                let differs = |other: Option<&Option<Vec<u64>>>| match (other, &tile) {
                    (Some(Some(other)), Some(tile)) if other != tile => Border::Tile,
                    _ => Border::None,
                };
                let here = numbers.len();
                let above = here.checked_sub(columns.shown.len()).and_then(|above| numbers.get(above));
                left = differs(
                    here.checked_sub(1).filter(|_| column > 0).and_then(|before| numbers.get(before)),
                );
                top = differs(above);
            }
            let color = tile.as_ref().and_then(|tile| Tiles::color(tile));
            grid.cells.push(Cell { content, tile: color, left, top, offset });
            numbers.push(tile);
        }
    }
    if borders == Borders::All {
        inner_borders(layout, &mut grid);
    }
    Some(grid)
}

/// Adds a border wherever two places side by side are in different tiles of a tile. The rulers know where a tile cuts a
/// dimension, and a tile of size 1 cuts none.
fn inner_borders(layout: &Layout, grid: &mut Grid) {
    if layout.swizzle().is_some() {
        return;
    }
    let width = grid.columns.len();
    for level in (2..=tile_levels(layout)).rev() {
        let Some(places) = places_of_tile(layout, level) else { continue };
        let tile = |cell: &Cell| cell.offset.map(|offset| offset / places);
        for at in 0..grid.cells.len() {
            let here = tile(&grid.cells[at]);
            let differs =
                |other: usize| matches!((tile(&grid.cells[other]), here), (Some(a), Some(b)) if a != b);
            let left = !at.is_multiple_of(width) && differs(at - 1);
            let top = at >= width && differs(at - width);
            let cell = &mut grid.cells[at];
            for (border, _) in [(&mut cell.left, left), (&mut cell.top, top)].into_iter().filter(|b| b.1) {
                if *border != Border::Tile {
                    *border = Border::Inner(level);
                }
            }
        }
    }
}

/// The place of padding and what allocated it. The parts of the index that the two positions say are not those of any
/// element, but the sum of the axes is a place all the same.
fn padding(layout: &Layout, index: &[u64], sides: [(&Side, u64); 2]) -> Option<(u64, Padding)> {
    let mut values = tiles::values(layout.index_parts(), index);
    for (side, at) in sides {
        if let Some(ruler) = side.ruler.as_ref().filter(|ruler| !ruler.is_combined()) {
            ruler.put(at, &mut values);
        }
    }
    let terms = layout.axes().iter().map(|axis| i128::from(axis.stride) * i128::from(values[axis.part]));
    let offset = u64::try_from(i128::from(layout.base()) + terms.sum::<i128>()).ok()?;
    let offset = layout.swizzle().map_or(offset, |swizzle| swizzle.apply(offset));
    match layout.locate(offset).ok()? {
        Place::Padding(padding) => Some((offset, padding)),
        Place::Element(_) => None,
    }
}

/// The dimensions of the rows and columns: those that a slice leaves open, or the two most minor ones.
pub(crate) fn shown_dims(layout: &Layout, slice: &[Option<u64>]) -> (Option<usize>, Option<usize>) {
    open_dims(layout, slice).unwrap_or_else(|| two_minor(layout))
}

/// The dimensions that a slice leaves open; none if it does not fit the layout.
#[allow(clippy::type_complexity)] // a pair of what every grid has
fn open_dims(layout: &Layout, slice: &[Option<u64>]) -> Option<(Option<usize>, Option<usize>)> {
    let fits = |(at, &size): (&Option<u64>, &u64)| at.is_none_or(|at| at < size);
    if layout.rank() < 3 || slice.len() != layout.rank() || !slice.iter().zip(layout.dims()).all(fits) {
        return None;
    }
    let open: Vec<usize> = (0..slice.len()).filter(|&dim| slice[dim].is_none()).collect();
    match open[..] {
        [column] => Some((None, Some(column))),
        [row, column] => Some((Some(row), Some(column))),
        _ => None,
    }
}

/// The dimensions of the rows and columns: of more than two, the two most minor ones larger than 1, in their order.
fn two_minor(layout: &Layout) -> (Option<usize>, Option<usize>) {
    let rank = layout.rank();
    if rank <= 2 {
        return (rank.checked_sub(2), rank.checked_sub(1));
    }
    let mut order = crate::strip::dims_by_memory(layout);
    order.sort_by_key(|&dim| layout.dims()[dim] == 1);
    order.truncate(2);
    order.sort_unstable();
    (Some(order[0]), Some(order[1]))
}

impl Side {
    fn new(layout: &Layout, uses: &Uses, dim: Option<usize>, room: usize) -> Side {
        let Some(dim) = dim else { return Side { dim, ruler: None, shown: vec![Some(0)] } };
        let size = layout.dims()[dim];
        let ruler = Ruler::new(uses, dim, size);
        let last = ruler.position(size - 1); // not 0, as there are elements
        let shown = window(ruler.len(), last, ruler.first_border(), room);
        Side { dim: Some(dim), ruler: Some(ruler), shown }
    }

    fn combined(&self) -> Option<usize> {
        self.dim.filter(|_| self.ruler.as_ref().is_some_and(Ruler::is_combined))
    }

    fn lanes(&self) -> Vec<Lane> {
        let head = |at: &Option<u64>| match (&self.ruler, at) {
            (_, None) => Head::Cut,
            (None, _) => Head::None,
            (Some(ruler), Some(at)) => ruler.index(*at).map_or(Head::Padding, Head::Index),
        };
        self.shown.iter().map(|at| Lane { head: head(at) }).collect()
    }

    /// Puts the index at a position into its dimension; false is padding.
    fn set(&self, index: &mut [u64], at: u64) -> bool {
        let (Some(ruler), Some(dim)) = (&self.ruler, self.dim) else { return true };
        match ruler.index(at) {
            Some(found) => {
                index[dim] = found;
                true
            }
            None => false,
        }
    }

    /// The border before a shown position. Behind a cut there is one if the position begins a tile.
    fn border(&self, place: usize) -> Border {
        match (place, &self.ruler, self.shown[place]) {
            (1.., Some(ruler), Some(at)) => match ruler.border(at) {
                Some(1) => Border::Tile,
                Some(tile) => Border::Inner(tile),
                None => Border::None,
            },
            _ => Border::None,
        }
    }
}
