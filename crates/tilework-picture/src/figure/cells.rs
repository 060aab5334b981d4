//! A grid of cells: the array, or the memory.

use tilework_core::letter;

use super::canvas::{At, CELL, Canvas, LABEL, text_width};
use super::hatch::{self, Hatch};
use super::hue::Hue;
use super::paint::{Colour, Theme};
use crate::scene::{Border, Cell, Content, Grid, Head};

/// The height of a row of cells.
const HEIGHT: f64 = 26.0;
/// The width of the narrowest cell.
const NARROW: f64 = 28.0;
/// The width of a column and the height of a row that are left out.
const CUT: f64 = 22.0;
/// Around a text in its cell.
const MARGIN: f64 = 5.0;

/// What a cell looks like beyond what is in it.
pub(crate) struct Look<'a> {
    pub(crate) theme: Theme,
    /// What stands in the cell, in place of its offset or index.
    pub(crate) text: Option<&'a dyn Fn(&Cell) -> String>,
    /// What the cell is filled with, in place of the colour of its tile.
    pub(crate) fill: Option<&'a Hue<'a>>,
    /// Whether the outside is a border of a tile.
    pub(crate) framed: bool,
    /// What stands behind each row and below each column.
    pub(crate) notes: Option<Notes<'a>>,
}

/// What is said of a whole row or column, and whether it is to be looked at.
pub(crate) type Note = Option<(String, Colour)>;

/// What stands behind a row and below a column.
#[derive(Clone, Copy)]
pub(crate) struct Notes<'a> {
    pub(crate) row: &'a dyn Fn(usize) -> Note,
    pub(crate) column: &'a dyn Fn(usize) -> Note,
}

impl Look<'_> {
    /// Cells as the layout says them.
    pub(crate) fn plain(theme: Theme, framed: bool) -> Look<'static> {
        Look { theme, text: None, fill: None, framed, notes: None }
    }
}

/// Where the lanes of a direction are: the beginning of each, and the gap before it.
struct Axis {
    start: Vec<f64>,
    size: Vec<f64>,
    gap: Vec<f64>,
    end: f64,
}

impl Axis {
    fn new(from: f64, lanes: impl Iterator<Item = (f64, Border)>) -> Axis {
        let mut axis = Axis { start: Vec::new(), size: Vec::new(), gap: Vec::new(), end: from };
        for (number, (size, border)) in lanes.enumerate() {
            let gap = match border {
                _ if number == 0 => 0.0,
                Border::None => 1.0,
                Border::Inner(_) => 4.0,
                Border::Tile => 7.0,
            };
            axis.gap.push(gap);
            axis.start.push(axis.end + gap);
            axis.size.push(size);
            axis.end += gap + size;
        }
        axis
    }

    /// The middle of the gap before a lane; the end behind the last.
    fn line(&self, lane: usize) -> f64 {
        match self.start.get(lane) {
            Some(start) => start - self.gap[lane] / 2.0,
            None => self.end,
        }
    }
}

/// Draws a grid with what stands before its rows and above its columns.
pub(crate) fn draw(grid: &Grid, look: &Look) -> Canvas {
    let mut canvas = Canvas::new(look.theme);
    let labels: Vec<String> = grid.rows.iter().map(|lane| label(lane.head)).collect();
    let corner = corner(grid);
    let widest = labels.iter().chain([&corner]).map(|text| text_width(text, LABEL)).fold(0.0, f64::max);
    let left = if widest > 0.0 { (widest + 10.0).ceil() } else { 0.0 };
    let has_heads = grid.columns.iter().any(|lane| matches!(lane.head, Head::Index(_)));
    let top = if has_heads { 20.0 } else { 0.0 };
    let (columns, rows) = lanes(grid, look, left, top);
    for (row, text) in labels.iter().enumerate() {
        let middle = rows.start[row] + rows.size[row] / 2.0;
        match grid.rows[row].head {
            Head::Cut => canvas.dots((left - 14.0, middle), (0.0, 5.0)),
            _ => canvas.text((left - 8.0, middle + 4.0), text, LABEL, Colour::Faint, At::End),
        }
    }
    if has_heads {
        canvas.text((left - 8.0, top - 7.0), &corner, LABEL, Colour::Faint, At::End);
        for (column, lane) in grid.columns.iter().enumerate() {
            let middle = columns.start[column] + columns.size[column] / 2.0;
            match lane.head {
                Head::Cut => canvas.dots((middle, top - 11.0), (5.0, 0.0)),
                head => canvas.text((middle, top - 7.0), &label(head), LABEL, Colour::Faint, At::Middle),
            }
        }
    }
    for row in 0..grid.rows.len() {
        for column in 0..grid.columns.len() {
            let Some(cell) = grid.cell(row, column) else { continue };
            let place = (columns.start[column], rows.start[row]);
            let size = (columns.size[column], rows.size[row]);
            draw_cell(&mut canvas, grid, (row, column), cell, (place, size), look);
        }
    }
    borders(&mut canvas, grid, &columns, &rows, look.framed);
    if let Some(notes) = look.notes {
        for (row, (note, colour)) in (0..labels.len()).filter_map(|row| Some((row, (notes.row)(row)?))) {
            let y = rows.start[row] + rows.size[row] / 2.0 + 4.0;
            canvas.text((columns.end + 10.0, y), &note, LABEL, colour, At::Start);
        }
        let columns_said =
            (0..grid.columns.len()).filter_map(|column| Some((column, (notes.column)(column)?)));
        for (column, (note, colour)) in columns_said {
            let x = columns.start[column] + columns.size[column] / 2.0;
            canvas.text((x, rows.end + 18.0), &note, LABEL, colour, At::Middle);
        }
    }
    canvas
}

/// Where columns and rows are.
fn lanes(grid: &Grid, look: &Look, left: f64, top: f64) -> (Axis, Axis) {
    let mut width = NARROW;
    for column in (0..grid.columns.len()).filter(|&column| grid.columns[column].head != Head::Cut) {
        let mut texts = vec![(label(grid.columns[column].head), LABEL)];
        let note = look.notes.and_then(|notes| (notes.column)(column));
        texts.extend(note.map(|(note, _)| (note, LABEL)));
        for row in 0..grid.rows.len() {
            texts.extend(grid.cell(row, column).map(|cell| (text_of(cell, look), CELL)));
        }
        let widest = texts.iter().map(|(text, size)| text_width(text, *size)).fold(0.0, f64::max);
        width = width.max((widest + 2.0 * MARGIN).ceil());
    }
    let most = |borders: &mut dyn Iterator<Item = Option<Border>>| {
        borders.flatten().max_by_key(|&border| weight(border)).unwrap_or_default()
    };
    let columns = (0..grid.columns.len()).map(|column| {
        let mut borders = (0..grid.rows.len()).map(|row| grid.cell(row, column).map(|cell| cell.left));
        let cut = grid.columns[column].head == Head::Cut || is_cut_column(grid, column);
        (if cut { CUT } else { width }, most(&mut borders))
    });
    let rows = (0..grid.rows.len()).map(|row| {
        let mut borders = (0..grid.columns.len()).map(|column| grid.cell(row, column).map(|cell| cell.top));
        (if grid.rows[row].head == Head::Cut { CUT } else { HEIGHT }, most(&mut borders))
    });
    (Axis::new(left, columns), Axis::new(top, rows))
}

/// Columns of memory have no heads that say so.
fn is_cut_column(grid: &Grid, column: usize) -> bool {
    (0..grid.rows.len()).all(|row| grid.cell(row, column).is_none_or(|cell| cell.content == Content::Cut))
}

/// The outermost tile first.
fn weight(border: Border) -> u32 {
    match border {
        Border::None => 0,
        Border::Inner(level) => u32::MAX - level.max(2),
        Border::Tile => u32::MAX,
    }
}

fn draw_cell(
    canvas: &mut Canvas,
    grid: &Grid,
    (row, column): (usize, usize),
    cell: &Cell,
    (place, size): ((f64, f64), (f64, f64)),
    look: &Look,
) {
    let middle = (place.0 + size.0 / 2.0, place.1 + size.1 / 2.0);
    let offset = cell.offset.map(|offset| format!(" data-o=\"{offset}\"")).unwrap_or_default();
    match &cell.content {
        Content::Offset(_) | Content::Index(_) => {
            let index = index_of(grid, row, column, cell);
            let text = index.iter().map(u64::to_string).collect::<Vec<String>>().join(",");
            canvas.open(&format!("class=\"cell\"{offset} data-i=\"{text}\""));
            if let Some(offset) = cell.offset {
                canvas.title(&format!("({text}) is at {offset}"));
            }
            let fill = match (look.fill, cell.tile) {
                (Some(fill), _) => fill(cell.offset, &index),
                (None, Some(tile)) => Colour::Tile(tile),
                (None, None) => Colour::Plain,
            };
            canvas.rect(place, size, fill);
            let text = text_of(cell, look);
            canvas.text((middle.0, middle.1 + CELL * 0.36), &text, CELL, Colour::Ink, At::Middle);
            canvas.close();
        }
        Content::Padding(cause) => {
            canvas.open(&format!("class=\"pad\"{offset}"));
            let at = cell.offset.map(|offset| format!(" at {offset}")).unwrap_or_default();
            let hatch = Hatch::of(cause.as_ref());
            let cause = cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
            canvas.title(&format!("padding{at}{cause}"));
            canvas.rect(place, size, Colour::Padding);
            hatch::stroke(canvas, place, size, hatch);
            canvas.close();
        }
        Content::Cut => {
            let cut_row = grid.rows[row].head == Head::Cut;
            let cut_column = grid.columns[column].head == Head::Cut;
            let step = (if cut_column { 5.0 } else { 0.0 }, if cut_row { 5.0 } else { 0.0 });
            canvas.dots(middle, step);
        }
        Content::Nothing => {}
    }
}

/// The index of an element: what memory shows, or what the heads and the slice say.
fn index_of(grid: &Grid, row: usize, column: usize, cell: &Cell) -> Vec<u64> {
    if let Content::Index(index) = &cell.content {
        return index.clone();
    }
    let at = |lane: Head| if let Head::Index(at) = lane { at } else { 0 };
    let (row, column) = (at(grid.rows[row].head), at(grid.columns[column].head));
    let rank = grid.slice.as_ref().map_or_else(
        || usize::from(grid.row_dim.is_some()) + usize::from(grid.column_dim.is_some()),
        Vec::len,
    );
    let mut index: Vec<u64> = match &grid.slice {
        Some(slice) => slice.iter().map(|at| at.unwrap_or(0)).collect(),
        None => vec![0; rank],
    };
    for (dim, at) in [(grid.row_dim, row), (grid.column_dim, column)] {
        if let Some(dim) = dim {
            index[dim] = at;
        }
    }
    index
}

fn text_of(cell: &Cell, look: &Look) -> String {
    match (&cell.content, look.text) {
        (Content::Offset(_) | Content::Index(_), Some(text)) => text(cell),
        (Content::Offset(offset), None) => offset.to_string(),
        (Content::Index(index), None) if index.is_empty() => "()".to_owned(),
        (Content::Index(index), None) => index.iter().map(u64::to_string).collect::<Vec<String>>().join(","),
        _ => String::new(),
    }
}

fn label(head: Head) -> String {
    match head {
        Head::Index(number) | Head::Offset(number) => number.to_string(),
        Head::Padding | Head::Cut | Head::None => String::new(),
    }
}

fn corner(grid: &Grid) -> String {
    let rank = grid.slice.as_ref().map_or(2, Vec::len);
    let name = |dim: Option<usize>| match dim {
        Some(dim) => grid.names.get(dim).cloned().unwrap_or_else(|| letter(rank, dim)),
        None => String::new(),
    };
    match (grid.row_dim, grid.column_dim) {
        (Some(_), Some(_)) => format!("{} \\ {}", name(grid.row_dim), name(grid.column_dim)),
        _ => name(grid.column_dim),
    }
}

/// The borders of tiles, the inner ones first, so that the outer ones run through.
fn borders(canvas: &mut Canvas, grid: &Grid, columns: &Axis, rows: &Axis, framed: bool) {
    let (width, height) = (grid.columns.len(), grid.rows.len());
    let mut lines: Vec<(Border, [(f64, f64); 2])> = Vec::new();
    for column in 0..width {
        let x = columns.line(column);
        join(&mut lines, height, &|row| grid.cell(row, column).map(|cell| cell.left), &|from, to| {
            [(x, rows.line(from)), (x, rows.line(to))]
        });
    }
    for row in 0..height {
        let y = rows.line(row);
        join(&mut lines, width, &|column| grid.cell(row, column).map(|cell| cell.top), &|from, to| {
            [(columns.line(from), y), (columns.line(to), y)]
        });
    }
    for level in [3, 2] {
        let inner = |border: &Border| matches!(*border, Border::Inner(number) if number.clamp(2, 3) == level);
        let of_level: Vec<_> =
            lines.iter().filter(|(border, _)| inner(border)).map(|&(_, line)| line).collect();
        let (width, dashes) = stroke(level);
        canvas.lines(&of_level, Colour::Level(level), width, dashes);
    }
    let mut outer: Vec<_> =
        lines.iter().filter(|(border, _)| *border == Border::Tile).map(|&(_, line)| line).collect();
    if framed {
        let (left, top) = (columns.line(0) - 2.0, rows.line(0) - 2.0);
        let (right, bottom) = (columns.end + 2.0, rows.end + 2.0);
        outer.extend([
            [(left - 1.0, top), (right + 1.0, top)],
            [(left - 1.0, bottom), (right + 1.0, bottom)],
            [(left, top), (left, bottom)],
            [(right, top), (right, bottom)],
        ]);
    }
    let (width, dashes) = stroke(1);
    canvas.lines(&outer, Colour::Level(1), width, dashes);
}

/// The width and the dashes of the borders of a level.
pub(crate) fn stroke(level: u32) -> (f64, &'static str) {
    match level {
        1 => (2.0, ""),
        2 => (1.6, ""),
        _ => (1.6, "4 2"),
    }
}

/// Borders of the same kind side by side as one line.
fn join(
    lines: &mut Vec<(Border, [(f64, f64); 2])>,
    count: usize,
    border: &dyn Fn(usize) -> Option<Border>,
    line: &dyn Fn(usize, usize) -> [(f64, f64); 2],
) {
    let mut start = 0;
    for at in 1..=count {
        let here = border(start).unwrap_or_default();
        if at == count || border(at).unwrap_or_default() != here {
            if here != Border::None {
                lines.push((here, line(start, at)));
            }
            start = at;
        }
    }
}
