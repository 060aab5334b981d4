//! The array as a grid: each element with its offset, padding up to the borders of the tiles.

use tilework_core::Layout;

use crate::ruler::{Ruler, Uses};
use crate::scene::{Border, Cell, Content, Grid, Head, Lane, Room};
use crate::tiles::Tiles;
use crate::window::window;

/// One of the two directions: the positions shown along a dimension.
struct Side {
    dim: Option<usize>,
    ruler: Option<Ruler>,
    shown: Vec<Option<u64>>,
}

pub(crate) fn array(layout: &Layout, room: Room) -> Option<Grid> {
    if layout.is_empty() {
        return None;
    }
    let uses = Uses::new(layout.index_parts(), layout.rank());
    let (row_dim, column_dim) = two_minor(layout);
    let rows = Side::new(layout, &uses, row_dim, room.rows);
    let columns = Side::new(layout, &uses, column_dim, room.columns);
    let combined: Vec<usize> = [&rows, &columns].into_iter().filter_map(Side::combined).collect();
    let tiles = Tiles::new(layout);
    let mut grid = Grid {
        slice: (layout.rank() > 2).then(|| {
            let shown = |dim| Some(dim) == row_dim || Some(dim) == column_dim;
            (0..layout.rank()).map(|dim| if shown(dim) { None } else { Some(0) }).collect()
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
    let mut index = vec![0; layout.rank()];
    for (row, &at_row) in rows.shown.iter().enumerate() {
        for (column, &at_column) in columns.shown.iter().enumerate() {
            let (content, tile) = match (at_row, at_column) {
                (Some(at_row), Some(at_column)) => {
                    match (rows.set(&mut index, at_row), columns.set(&mut index, at_column)) {
                        (true, true) => (element(layout, &index), Some(tiles.of(&index))),
                        _ => (Content::Padding(None), None),
                    }
                }
                _ => (Content::Cut, None),
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
            grid.cells.push(Cell { content, tile: color, left, top });
            numbers.push(tile);
        }
    }
    Some(grid)
}

fn element(layout: &Layout, index: &[u64]) -> Content {
    layout.offset(index).map_or(Content::Nothing, Content::Offset)
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
                Some(_) => Border::Inner,
                None => Border::None,
            },
            _ => Border::None,
        }
    }
}
