//! Figures: layouts as SVG that stands alone.
//!
//! A figure shows the array with the offset of each element, and the memory with the element at each place. Both have the
//! colours of the same tiles, so one sees where a tile went. Whoever puts a figure into a page finds the cells by what they
//! are: `<g class="cell" data-o="17" data-i="2,3">` is the element (2, 3) at offset 17, in `<g class="array">` and again in
//! `<g class="memory">`; `<g class="pad" data-o="9">` is padding, with its cause as its `<title>`.
//!
//! ```
//! use tilework::Layout;
//! use tilework_picture::figure::{self, Options};
//!
//! let layout = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
//! let svg = figure::of_layout(&layout, &Options { title: "f32[3,5]{1,0:T(2,2)}".into(), ..Options::default() });
//! assert!(svg.contains("<g class=\"cell\" data-o=\"17\" data-i=\"2,3\">"));
//! assert!(svg.contains("<g class=\"pad\" data-o=\"9\"><title>padding at 9: tile 1, dimension 1</title>"));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! A figure is as wide as it is asked to be and never wider; what does not fit is left out, and marked. The work grows with
//! what is shown, never with the size of the array.

mod banks;
mod bits;
mod canvas;
mod cells;
mod hatch;
mod hue;
mod legend;
mod nests;
mod paint;
mod pair;
mod registers;
mod rest;

pub use legend::tile_sizes;
pub use paint::{Theme, colours};
pub use pair::{of_plan, of_two};

use tilework_core::Layout;

use crate::scene::{Border, Grid, Room};
use crate::text::wrap;
use crate::tiles::tile_levels;
use canvas::{At, Canvas, LABEL, characters};
use cells::Look;
use paint::Colour;

/// What a figure shows, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The first line: the layout's text.
    pub title: String,
    /// The lines below it. Where there are none: how many elements and places there are.
    pub caption: Vec<String>,
    /// The names of the dimensions; those that have none are i, j and so on.
    pub names: Vec<String>,
    /// Light or dark.
    pub theme: Theme,
    /// The width, in pixels.
    pub width: u32,
    /// The most rows of the array that are shown.
    pub rows: usize,
    /// The most columns that are shown; fewer, if they do not fit the width.
    pub columns: usize,
    /// The most rows of the memory that are shown.
    pub memory_rows: usize,
    /// What is drawn; nothing stands for what suits the layout.
    pub views: Vec<View>,
    /// Of more than two dimensions, an index in each and none in the one or two that are shown; empty chooses the two most
    /// minor ones at 0 in the others.
    pub slice: Vec<Option<u64>>,
}

/// A part of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum View {
    /// The array with the offset of each element.
    Array,
    /// The memory with the element at each place.
    Memory,
    /// The bits of elements that are smaller than a byte.
    Bits,
    /// The bank of a GPU's shared memory that each element is in, and where reads wait for each other.
    Banks,
    /// The first vector register of a TPU: 8 sublanes of 128 lanes.
    Registers,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            title: String::new(),
            caption: Vec::new(),
            names: Vec::new(),
            theme: Theme::default(),
            width: 800,
            rows: 16,
            columns: 64,
            memory_rows: 8,
            views: Vec::new(),
            slice: Vec::new(),
        }
    }
}

/// The narrowest and the widest figure.
const WIDTHS: (u32, u32) = (240, 8000);
/// Around everything.
const MARGIN: f64 = 16.0;
/// Between two pieces.
const GAP: f64 = 22.0;

impl Options {
    /// Whether a part is drawn.
    fn shows(&self, view: View, suits: bool) -> bool {
        if self.views.is_empty() { suits } else { self.views.contains(&view) }
    }

    /// The width between the margins.
    fn inside(&self) -> f64 {
        f64::from(self.width.clamp(WIDTHS.0, WIDTHS.1)) - 2.0 * MARGIN
    }
}

/// The figure of a layout.
pub fn of_layout(layout: &Layout, options: &Options) -> String {
    let mut sheet = Sheet::new(options, &caption(layout));
    let framed = tile_levels(layout) > 0;
    let mut pieces: Vec<(Canvas, &str)> = Vec::new();
    let mut seen = Vec::new();
    let hue = hue::of(layout, options);
    if options.shows(View::Array, true) {
        let look = Look { fill: Some(&*hue), ..Look::plain(options.theme, framed) };
        let grid = |room| array_grid(layout, room, options);
        if let Some((grid, piece)) = fit(options, options.rows, grid, |grid| cells::draw(grid, &look)) {
            pieces.push((array_heading(layout, &grid, piece, options), "array"));
            seen.push(grid);
        }
    }
    if options.shows(View::Memory, true) {
        let look = Look { fill: Some(&*hue), ..Look::plain(options.theme, false) };
        let grid = |room| Grid::memory_in_tiles(layout, room);
        if let Some((grid, piece)) = fit(options, options.memory_rows, grid, |grid| cells::draw(grid, &look))
        {
            seen.push(grid);
            let what = "memory: the element at each place; rows begin with their offset";
            pieces.push((headed(what, piece, options), "memory"));
        }
    }
    if options.shows(View::Bits, bits::applies(layout)) {
        pieces.extend(bits::view(layout, options).map(|piece| (piece, "bits")));
    }
    if options.shows(View::Registers, registers::applies(layout)) {
        let view = registers::view(layout, options);
        pieces.extend(view.map(|(mut grid, piece)| {
            // Its lines are the ends of sublanes, which the legend of tiles knows nothing of.
            grid.cells.iter_mut().for_each(|cell| cell.top = Border::None);
            seen.push(grid);
            (piece, "registers")
        }));
    }
    if options.shows(View::Banks, layout.swizzle().is_some()) {
        let view = banks::view(layout, options);
        pieces.extend(view.map(|(grid, piece)| {
            seen.push(grid);
            (piece, "banks")
        }));
    }
    sheet.put_all(&pieces);
    sheet.put_all(&[(legend::of_tiles(layout, &seen, options), "legend")]);
    sheet.finish()
}

/// The array of the chosen slice, with the names of its dimensions.
fn array_grid(layout: &Layout, room: Room, options: &Options) -> Option<Grid> {
    let grid = Grid::slice(layout, room, &options.slice)?;
    Some(Grid { names: options.names.clone(), ..grid })
}

/// The array below its heading and, of more than two dimensions, the map of the rest.
fn array_heading(layout: &Layout, grid: &Grid, piece: Canvas, options: &Options) -> Canvas {
    let Some(slice) = &grid.slice else {
        return headed("array: the offset of each element", piece, options);
    };
    let what = format!("slice {} of the array: the offset of each element", slice_text(slice));
    let mut both = Canvas::new(options.theme);
    let map = rest::map(layout, slice, options);
    both.put(&map, (0.0, 2.0), "rest");
    both.put(&piece, (0.0, map.height + 14.0), "");
    headed(&what, both, options)
}

/// How many elements and places there are.
fn caption(layout: &Layout) -> Vec<String> {
    let bytes = |elements: u64| (u128::from(elements) * u128::from(layout.bits())).div_ceil(8);
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    let amount = |number: u64, noun: &str| format!("{number} {noun}{}, {} B", plural(number), bytes(number));
    let mut line = format!("{}; ", amount(layout.len(), "element"));
    line.push_str(&match layout.padding() {
        Some(0) if layout.size() == layout.len() => "no padding".to_owned(),
        Some(0) => format!("{} allocated", amount(layout.size(), "place")),
        Some(padding) => {
            let share = padding as f64 / layout.size().max(1) as f64 * 100.0;
            format!(
                "{} allocated, {padding} of them padding ({share:.1}\u{a0}%)",
                amount(layout.size(), "place")
            )
        }
        None => format!("{} allocated", amount(layout.size(), "place")),
    });
    vec![line]
}

/// `[0, ·, ·]`
fn slice_text(slice: &[Option<u64>]) -> String {
    let part = |at: &Option<u64>| at.map_or("·".to_owned(), |at| at.to_string());
    let mut parts: Vec<String> = slice.iter().map(part).collect();
    if parts.len() > 12 {
        parts.splice(4..parts.len() - 3, ["…".to_owned()]);
    }
    format!("[{}]", parts.join(", "))
}

/// Draws with as many rows as wanted and as many columns as fit the width; nothing where not even one does.
fn fit(
    options: &Options,
    rows: usize,
    grid: impl Fn(Room) -> Option<Grid>,
    draw: impl Fn(&Grid) -> Canvas,
) -> Option<(Grid, Canvas)> {
    let width = options.inside();
    let columns = options.columns.min((width / 24.0) as usize).max(2);
    let mut room = Room { rows: rows.max(2), columns };
    loop {
        let grid = grid(room)?;
        let piece = draw(&grid);
        if piece.width <= width {
            return Some((grid, piece));
        }
        if room.columns <= 1 {
            return None;
        }
        let fewer = (room.columns as f64 * width / piece.width) as usize;
        room.columns = fewer.clamp(1, room.columns - 1);
    }
}

/// A piece below its heading, which is broken into lines as the figure is wide.
fn headed(heading: &str, piece: Canvas, options: &Options) -> Canvas {
    let mut canvas = Canvas::new(options.theme);
    let mut y = 0.0;
    for line in wrap(heading, characters(options.inside(), LABEL)) {
        canvas.text((0.0, y + 10.0), &line, LABEL, Colour::Faint, At::Start);
        y += 17.0;
    }
    canvas.put(&piece, (0.0, y + 3.0), "");
    canvas
}

/// A figure that is being put together, from top to bottom.
struct Sheet<'a> {
    canvas: Canvas,
    y: f64,
    options: &'a Options,
}

impl<'a> Sheet<'a> {
    /// The title and the lines below it.
    fn new(options: &'a Options, caption: &[String]) -> Sheet<'a> {
        let mut sheet = Sheet { canvas: Canvas::new(options.theme), y: MARGIN, options };
        sheet.paragraph(&options.title, 15.0, Colour::Ink);
        let caption = if options.caption.is_empty() { caption } else { &options.caption };
        for line in caption {
            sheet.paragraph(line, LABEL, Colour::Faint);
        }
        sheet
    }

    fn paragraph(&mut self, text: &str, size: f64, colour: Colour) {
        if text.is_empty() {
            return;
        }
        for line in wrap(text, characters(self.options.inside(), size)) {
            self.y += (size * 1.35).round();
            self.canvas.text((MARGIN, self.y - 3.0), &line, size, colour, At::Start);
        }
        self.y += 3.0;
    }

    /// Pieces side by side where they fit, and else below each other.
    fn put_all(&mut self, pieces: &[(Canvas, &str)]) {
        let (mut x, mut height) = (0.0, 0.0_f64);
        for (piece, class) in pieces.iter().filter(|(piece, _)| piece.width > 0.0) {
            if x > 0.0 && x + piece.width > self.options.inside() {
                self.y += height;
                (x, height) = (0.0, 0.0);
            }
            if x == 0.0 {
                self.y += GAP;
            }
            self.canvas.put(piece, (MARGIN + x, self.y), class);
            x += piece.width + 2.0 * GAP;
            height = height.max(piece.height);
        }
        self.y += height;
    }

    fn finish(self) -> String {
        let size = (self.options.inside() + 2.0 * MARGIN, (self.y + MARGIN).ceil());
        let title = &self.options.title;
        canvas::document(&self.canvas, size, if title.is_empty() { "a layout" } else { title })
    }
}
