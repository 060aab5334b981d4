//! What is to be seen, whatever it is drawn with.

use tilework_core::{Layout, Padding};

use crate::{grid, strip};

/// A layout as pictures: the elements in the order of the index, and the places in the order of memory.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The array: each element with its offset. None if there are no elements.
    pub array: Option<Grid>,
    /// The memory: each place with the index of its element. None if nothing is allocated, or it is not decided what
    /// stands where.
    pub memory: Option<Grid>,
}

/// How many rows and columns of cells may be shown, cuts included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

/// Cells in rows and columns.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What is shown of an array of more dimensions: the index, without those of the rows and columns.
    pub slice: Option<Vec<Option<u64>>>,
    /// The dimension that moves from row to row. Rows of memory have none.
    pub row_dim: Option<usize>,
    /// The dimension that moves from column to column.
    pub column_dim: Option<usize>,
    /// What stands before each row.
    pub rows: Vec<Lane>,
    /// What stands above each column.
    pub columns: Vec<Lane>,
    /// Row by row.
    pub cells: Vec<Cell>,
    /// The names of the dimensions; those that have none are i, j and so on.
    pub names: Vec<String>,
    /// Dimensions that tiles combine with others, so that borders do not run straight and no padding is shown.
    pub combined: Vec<usize>,
}

/// A row or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// What it is called.
    pub head: Head,
}

/// What a row or column is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// The index in its dimension.
    Index(u64),
    /// The offset of its first place.
    Offset(u64),
    /// Beyond the elements.
    Padding,
    /// Lanes are left out here.
    Cut,
    /// Nothing.
    None,
}

/// One cell with the borders on two of its sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What stands in it.
    pub content: Content,
    /// A number that differs between tiles that lie side by side; none outside of tiles.
    pub tile: Option<u64>,
    /// The border to the cell on the left.
    pub left: Border,
    /// The border to the cell above.
    pub top: Border,
    /// The place it stands for; none of cuts, and of padding of the array that no one place stands for.
    pub offset: Option<u64>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An element, by its offset.
    Offset(u64),
    /// An element, by its index.
    Index(Vec<u64>),
    /// A place without an element. Where it is known: what allocated it.
    Padding(Option<Padding>),
    /// Something was left out.
    Cut,
    /// No place at all.
    Nothing,
}

/// A line between two cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Border {
    /// None.
    #[default]
    None,
    /// Of a tile within a tile, with its number: 2 for the tiles within the first.
    Inner(u32),
    /// Of a tile.
    Tile,
}

impl Scene {
    /// The pictures of a layout, each within its room.
    pub fn new(layout: &Layout, array: Room, memory: Room) -> Scene {
        Scene { array: Grid::array(layout, array), memory: Grid::memory(layout, memory) }
    }
}

impl Grid {
    /// The elements of a layout in the order of the index; none if it has none.
    ///
    /// Of more than two dimensions the two most minor ones larger than 1 are shown, at index 0 of the others.
    pub fn array(layout: &Layout, room: Room) -> Option<Grid> {
        grid::array(layout, room, &[], strip::Borders::First)
    }

    /// The same of a chosen slice: an index in each dimension, and none in the one or two that are shown. A slice of another
    /// rank, beyond the array, or that leaves more than two open chooses nothing. It has the borders of tiles within tiles
    /// on both sides.
    pub fn slice(layout: &Layout, room: Room, slice: &[Option<u64>]) -> Option<Grid> {
        grid::array(layout, room, slice, strip::Borders::All)
    }

    /// The places of a layout in the order of memory; none if nothing is allocated or a place is not decided.
    pub fn memory(layout: &Layout, room: Room) -> Option<Grid> {
        strip::memory(layout, room, strip::Borders::First)
    }

    /// The same with the borders of tiles within tiles.
    pub fn memory_in_tiles(layout: &Layout, room: Room) -> Option<Grid> {
        strip::memory(layout, room, strip::Borders::All)
    }

    /// The cell in a row and column of the grid.
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        (column < self.columns.len()).then(|| self.cells.get(row * self.columns.len() + column))?
    }

    /// Whether anything was left out.
    pub fn is_cut(&self) -> bool {
        self.rows.iter().chain(&self.columns).any(|lane| lane.head == Head::Cut)
    }
}
