//! The memory as the vector registers of a TPU: 8 sublanes of 128 lanes, 32 bits each.

use tilework_core::{Layout, Part, PartKind, Place};

use super::Options;
use super::canvas::Canvas;
use super::cells::{self, Look};
use super::{fit, headed, hue};
use crate::scene::{Border, Cell, Content, Grid, Head, Lane, Room};
use crate::window::window;

const SUBLANES: u64 = 8;
const LANES: u64 = 128;

/// Whether the layout is made of such registers: its first tile has 128 lanes and whole
/// sublanes, and a word holds whole elements.
pub(crate) fn applies(layout: &Layout) -> bool {
    let cut_by = |wanted: &dyn Fn(u64) -> bool| {
        let cut = |part: &Part| matches!(part.kind, PartKind::Within { by, tile: 1, .. } if wanted(by));
        layout.index_parts().iter().any(cut)
    };
    fits(layout) && cut_by(&|by| by == LANES) && cut_by(&|by| by.is_multiple_of(SUBLANES) && by != LANES)
}

fn fits(layout: &Layout) -> bool {
    layout.bits() <= 32 && 32 % layout.bits() == 0 && layout.size() > 0
}

/// The first register.
pub(crate) fn view(layout: &Layout, options: &Options) -> Option<(Grid, Canvas)> {
    if !fits(layout) {
        return None;
    }
    let packed = u64::from(32 / layout.bits());
    let hue = hue::of(layout, options);
    let look = Look { fill: Some(&*hue), ..Look::plain(options.theme, true) };
    let grid = |room| grid(layout, packed, room);
    let (grid, piece) = fit(options, options.rows, grid, |grid| cells::draw(grid, &look))?;
    let registers = layout.size().div_ceil(SUBLANES * LANES * packed);
    let words = match packed {
        1 => String::new(),
        packed => format!("; a lane of a sublane holds {packed} elements, the first in its low bits on top"),
    };
    let heading =
        format!("register 0 of {registers}: 8 sublanes (rows) × 128 lanes (columns) of 32 bits{words}");
    Some((grid, headed(&heading, piece, options)))
}

fn grid(layout: &Layout, packed: u64, room: Room) -> Option<Grid> {
    let columns = window(LANES, LANES - 1, None, room.columns);
    // The sublanes that hold anything.
    let used = layout.size().div_ceil(LANES * packed).min(SUBLANES) * packed;
    let rows = window(used, used - 1, Some(packed), room.rows);
    let mut cells = Vec::with_capacity(rows.len() * columns.len());
    for (number, &row) in rows.iter().enumerate() {
        let begins = row.is_some_and(|row| row.is_multiple_of(packed)) && number > 0 && packed > 1;
        for &lane in &columns {
            let top = if begins { Border::Tile } else { Border::None };
            let offset =
                row.zip(lane).map(|(row, lane)| row / packed * LANES * packed + lane * packed + row % packed);
            let content = match offset {
                None => Content::Cut,
                Some(offset) if offset >= layout.size() => Content::Nothing,
                Some(offset) => match layout.locate(offset).ok()? {
                    Place::Padding(padding) => Content::Padding(Some(padding)),
                    Place::Element(index) => Content::Index(index),
                },
            };
            let offset = offset.filter(|&offset| offset < layout.size());
            cells.push(Cell { content, tile: None, left: Border::None, top, offset });
        }
    }
    let lane = |at: &Option<u64>, head: &dyn Fn(u64) -> Head| Lane { head: at.map_or(Head::Cut, head) };
    let sublane = |row: u64| if row.is_multiple_of(packed) { Head::Index(row / packed) } else { Head::None };
    Some(Grid {
        slice: None,
        row_dim: None,
        column_dim: None,
        rows: rows.iter().map(|row| lane(row, &sublane)).collect(),
        columns: columns.iter().map(|column| lane(column, &Head::Index)).collect(),
        cells,
        combined: Vec::new(),
        names: Vec::new(),
    })
}
