//! Scenes as lines of text.

use tilework_core::{Layout, letter};

use crate::scene::{Border, Content, Grid, Head, Room};
use crate::text::{Line, Look, Style};

/// About how many lines the picture of an array may have.
const ARRAY_LINES: usize = 18;
/// About how many lines the picture of memory may have.
const MEMORY_LINES: usize = 7;

/// Both pictures of a layout, one after the other, in lines of at most `width` columns.
pub fn picture(layout: &Layout, width: usize, look: Look) -> Vec<Line> {
    let mut lines = array(layout, width, look);
    let memory = memory(layout, width, look);
    if !memory.is_empty() && !lines.is_empty() {
        lines.push(Line::new());
    }
    lines.extend(memory);
    lines
}

/// The array as a grid of offsets. A scalar has none: its memory shows all there is.
pub fn array(layout: &Layout, width: usize, look: Look) -> Vec<Line> {
    array_with_names(layout, &[], width, look)
}

/// The same with names of the dimensions; without any, they are i, j and so on.
pub fn array_with_names(layout: &Layout, names: &[String], width: usize, look: Look) -> Vec<Line> {
    let rows = match layout.rank() {
        0 => return Vec::new(),
        1 => 1,
        _ => ARRAY_LINES,
    };
    let named = |grid: Grid| Grid { names: names.to_vec(), ..grid };
    fit(width, ARRAY_LINES, rows, look, |room| Grid::array(layout, room).map(named))
}

/// The memory as rows of indices.
pub fn memory(layout: &Layout, width: usize, look: Look) -> Vec<Line> {
    fit(width, MEMORY_LINES, MEMORY_LINES, look, |room| Grid::memory(layout, room))
}

/// Draws with as many columns and rows as fit the width and the number of lines.
fn fit(width: usize, most: usize, rows: usize, look: Look, grid: impl Fn(Room) -> Option<Grid>) -> Vec<Line> {
    let mut room = Room { rows, columns: width / 2 };
    loop {
        let Some(grid) = grid(room) else { return Vec::new() };
        let lines = draw(&grid, look);
        let widest = lines.iter().map(Line::width).max().unwrap_or(0);
        if widest > width && room.columns > 1 {
            room.columns = (room.columns * width / widest + 1).min(room.columns - 1);
        } else if lines.len() > most + 2 && room.rows > 2 {
            room.rows -= 1;
        } else if widest > width {
            return Vec::new(); // too narrow for any picture
        } else {
            return lines;
        }
    }
}

/// The characters of a picture.
struct Glyphs {
    vertical: char,
    horizontal: char,
    inner_vertical: char,
    inner_horizontal: char,
    padding: &'static str,
    cut_columns: &'static str,
    cut_rows: &'static str,
    cut_both: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    vertical: '│',
    horizontal: '─',
    inner_vertical: '┆',
    inner_horizontal: '┄',
    padding: "·",
    cut_columns: "…",
    cut_rows: "⋮",
    cut_both: "⋱",
};

const ASCII: Glyphs = Glyphs {
    vertical: '|',
    horizontal: '-',
    inner_vertical: ':',
    inner_horizontal: '.',
    padding: ".",
    cut_columns: "..",
    cut_rows: ":",
    cut_both: "..",
};

impl Glyphs {
    /// Where lines meet: whether there is one up, down, to the left, to the right.
    fn crossing(&self, up: Border, down: Border, left: Border, right: Border) -> char {
        let any = |border| border != Border::None;
        if self.vertical == '|' {
            return match (any(up) || any(down), any(left) || any(right)) {
                (true, true) => '+',
                (true, false) => self.line_down(up.max(down)),
                (false, _) => self.line_across(left.max(right)),
            };
        }
        match (any(up), any(down), any(left), any(right)) {
            (false, false, ..) => self.line_across(left.max(right)),
            (.., false, false) => self.line_down(up.max(down)),
            (true, true, true, true) => '┼',
            (true, true, false, true) => '├',
            (true, true, true, false) => '┤',
            (false, true, true, true) => '┬',
            (true, false, true, true) => '┴',
            (false, true, false, true) => '┌',
            (false, true, true, false) => '┐',
            (true, false, false, true) => '└',
            (true, false, true, false) => '┘',
        }
    }

    fn line_across(&self, border: Border) -> char {
        match border {
            Border::None => ' ',
            Border::Inner(_) => self.inner_horizontal,
            Border::Tile => self.horizontal,
        }
    }

    fn line_down(&self, border: Border) -> char {
        match border {
            Border::None => ' ',
            Border::Inner(_) => self.inner_vertical,
            Border::Tile => self.vertical,
        }
    }
}

/// A grid as lines, without regard to their width.
pub fn draw(grid: &Grid, look: Look) -> Vec<Line> {
    let pen = Pen::new(grid, if look.ascii { &ASCII } else { &UNICODE });
    let mut lines = Vec::new();
    if let Some(slice) = &grid.slice {
        lines.push(Line::new().with(slice_title(slice, pen.glyphs), Style::Faint));
    }
    if grid.column_dim.is_some() {
        lines.push(pen.heads());
    }
    for row in 0..grid.rows.len() {
        if let Some(line) = pen.border_above(row) {
            lines.push(line);
        }
        lines.push(pen.row(row));
    }
    lines
}

/// `[0, ·, ·]`
fn slice_title(slice: &[Option<u64>], glyphs: &Glyphs) -> String {
    let part = |at: &Option<u64>| at.map_or(glyphs.padding.to_owned(), |at| at.to_string());
    let parts: Vec<String> = match slice {
        [first @ .., a, b, c] if slice.len() > 12 => {
            let mut parts: Vec<String> = first.iter().take(4).map(part).collect();
            parts.push(glyphs.cut_columns.to_owned());
            parts.extend([a, b, c].map(part));
            parts
        }
        _ => slice.iter().map(part).collect(),
    };
    format!("[{}]", parts.join(", "))
}

/// What is the same for every line of a grid.
struct Pen<'a> {
    grid: &'a Grid,
    glyphs: &'a Glyphs,
    /// Columns of text in each column of cells.
    widths: Vec<usize>,
    /// Columns of text before each column of cells, and whether a border stands among them.
    gaps: Vec<(usize, bool)>,
    /// What stands before a row.
    labels: Vec<String>,
    label: usize,
    corner: String,
}

impl<'a> Pen<'a> {
    fn new(grid: &'a Grid, glyphs: &'a Glyphs) -> Pen<'a> {
        let rank = grid.slice.as_ref().map_or(2, Vec::len);
        let name = |dim: Option<usize>| {
            let named = |dim: usize| grid.names.get(dim).cloned().unwrap_or_else(|| letter(rank, dim));
            dim.map(named).unwrap_or_default()
        };
        let corner = match (grid.row_dim, grid.column_dim) {
            (Some(_), Some(_)) => format!("{} \\ {}", name(grid.row_dim), name(grid.column_dim)),
            _ => name(grid.column_dim),
        };
        let label_of = |head: Head| match head {
            Head::Index(number) | Head::Offset(number) => number.to_string(),
            Head::Padding => glyphs.padding.to_owned(),
            Head::Cut => glyphs.cut_rows.to_owned(),
            Head::None => String::new(),
        };
        let labels: Vec<String> = grid.rows.iter().map(|lane| label_of(lane.head)).collect();
        let mut pen = Pen { grid, glyphs, widths: Vec::new(), gaps: Vec::new(), label: 0, labels, corner };
        pen.label =
            pen.labels.iter().chain([&pen.corner]).map(|text| text.chars().count()).max().unwrap_or(0);
        let mut width = 1;
        for column in (0..grid.columns.len()).filter(|&column| grid.columns[column].head != Head::Cut) {
            width = width.max(pen.head(column).chars().count());
            let cells = (0..grid.rows.len()).map(|row| pen.content(row, column).chars().count());
            width = width.max(cells.max().unwrap_or(1));
        }
        for column in 0..grid.columns.len() {
            let cut = grid.columns[column].head == Head::Cut;
            pen.widths.push(if cut { glyphs.cut_columns.chars().count() } else { width });
            let bordered = (0..grid.rows.len()).any(|row| pen.left(row, column) != Border::None);
            let space = if grid.column_dim.is_some() { 2 } else { 1 };
            pen.gaps.push(if bordered {
                (3, true)
            } else {
                (space.max(usize::from(column == 0) * 2), false)
            });
        }
        pen
    }

    fn left(&self, row: usize, column: usize) -> Border {
        self.grid.cell(row, column).map_or(Border::None, |cell| cell.left)
    }

    fn top(&self, row: usize, column: usize) -> Border {
        self.grid.cell(row, column).map_or(Border::None, |cell| cell.top)
    }

    fn head(&self, column: usize) -> String {
        match self.grid.columns[column].head {
            Head::Index(number) | Head::Offset(number) => number.to_string(),
            Head::Padding => self.glyphs.padding.to_owned(),
            Head::Cut => self.glyphs.cut_columns.to_owned(),
            Head::None => String::new(),
        }
    }

    fn content(&self, row: usize, column: usize) -> String {
        match self.grid.cell(row, column).map(|cell| &cell.content) {
            Some(Content::Offset(offset)) => offset.to_string(),
            Some(Content::Index(index)) if index.is_empty() => "()".to_owned(),
            Some(Content::Index(index)) => {
                index.iter().map(u64::to_string).collect::<Vec<String>>().join(",")
            }
            Some(Content::Padding(_)) => self.glyphs.padding.to_owned(),
            Some(Content::Cut) => {
                let cut_row = self.grid.rows[row].head == Head::Cut;
                let cut_column = self.grid.columns[column].head == Head::Cut;
                match (cut_row, cut_column) {
                    (true, true) => self.glyphs.cut_both.to_owned(),
                    (true, false) => self.glyphs.cut_rows.to_owned(),
                    (false, _) => self.glyphs.cut_columns.to_owned(),
                }
            }
            Some(Content::Nothing) | None => String::new(),
        }
    }

    /// The names of the columns.
    fn heads(&self) -> Line {
        let mut line = Line::new().with(format!("{:>1$}", self.corner, self.label), Style::Faint);
        for column in 0..self.grid.columns.len() {
            // A border that does not run straight is none of the column's.
            let border = (0..self.grid.rows.len()).map(|row| self.left(row, column));
            let border = if self.grid.combined.is_empty() { border.max() } else { None };
            self.gap(&mut line, column, self.glyphs.line_down(border.unwrap_or_default()));
            line.push(format!("{:>1$}", self.head(column), self.widths[column]), Style::Faint);
        }
        line
    }

    fn row(&self, row: usize) -> Line {
        let mut line = Line::new().with(format!("{:>1$}", self.labels[row], self.label), Style::Faint);
        for column in 0..self.grid.columns.len() {
            self.gap(&mut line, column, self.glyphs.line_down(self.left(row, column)));
            let (text, width) = (self.content(row, column), self.widths[column]);
            let cell = self.grid.cell(row, column);
            let in_strip = self.grid.column_dim.is_none();
            let style = match cell.map(|cell| (&cell.content, cell.tile)) {
                Some((Content::Offset(_) | Content::Index(_), Some(tile))) => Style::Tile(tile),
                Some((Content::Offset(_) | Content::Index(_), None)) => Style::Plain,
                _ => Style::Faint,
            };
            let centered = in_strip && !matches!(cell.map(|cell| &cell.content), Some(Content::Index(_)));
            line.push(if centered { format!("{text:^width$}") } else { format!("{text:>width$}") }, style);
        }
        line
    }

    fn gap(&self, line: &mut Line, column: usize, border: char) {
        match self.gaps[column] {
            (width, false) => line.push(" ".repeat(width), Style::Plain),
            (_, true) => line.push(format!(" {border} "), Style::Faint),
        }
    }

    /// The borders between a row and the one above, if there are any.
    fn border_above(&self, row: usize) -> Option<Line> {
        let columns = 0..self.grid.columns.len();
        if columns.clone().all(|column| self.top(row, column) == Border::None) {
            return None;
        }
        let mut text = " ".repeat(self.label);
        for column in columns {
            let top = self.top(row, column);
            let (width, bordered) = self.gaps[column];
            let before = column.checked_sub(1).map_or(top, |before| self.top(row, before));
            let across = |border| self.glyphs.line_across(border);
            if bordered {
                let up = row.checked_sub(1).map_or(Border::None, |above| self.left(above, column));
                text.push(across(before));
                text.push(self.glyphs.crossing(up, self.left(row, column), before, top));
                text.push(across(top));
            } else {
                // A border begins right before its first cell and runs through the gaps between two of its cells.
                let through = if column == 0 { Border::None } else { before.min(top) };
                text.extend(std::iter::repeat_n(across(through), width - 1));
                text.push(across(if column == 0 { top } else { through }));
            }
            text.extend(std::iter::repeat_n(across(top), self.widths[column]));
        }
        Some(Line::new().with(text, Style::Faint))
    }
}
