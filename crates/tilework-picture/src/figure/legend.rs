//! What the signs of a figure mean.

use tilework_core::{Layout, Padding, Part, PartKind, letter};

use super::Options;
use super::canvas::{At, Canvas, LABEL, text_width};
use super::cells::stroke;
use super::hatch::{self, Hatch};
use super::paint::Colour;
use crate::scene::{Border, Content, Grid};
use crate::tiles::tile_levels;

/// Borders and padding that are seen in some of the grids.
pub(crate) fn of_tiles(layout: &Layout, seen: &[Grid], options: &Options) -> Canvas {
    let mut legend = Legend::new(options);
    for level in levels(seen) {
        let size = tile_sizes(layout, level, &options.names);
        let size = if size.is_empty() { size } else { format!(": {size}") };
        legend.line(level, &format!("border of tile {level}{size}"));
    }
    legend.paddings(seen);
    if let Some(swizzle) = layout.swizzle().filter(|_| tile_levels(layout) == 0) {
        let run = swizzle.run();
        let elements = if run == 1 { "element" } else { "elements" };
        legend.fill(Colour::Step(3), &format!("one shade: {run} {elements} that the swizzle keeps together"));
    }
    legend.cuts(seen);
    legend.canvas
}

/// The tiles whose borders are seen.
fn levels(seen: &[Grid]) -> Vec<u32> {
    let cells = seen.iter().flat_map(|grid| &grid.cells);
    let level = |border: Border| match border {
        Border::None => None,
        Border::Inner(level) => Some(level),
        Border::Tile => Some(1),
    };
    let mut levels: Vec<u32> = cells.flat_map(|cell| [cell.left, cell.top]).filter_map(level).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// `8 of i, 128 of j`: by what the tiles of a number cut each dimension; empty where they cut too many to say.
pub fn tile_sizes(layout: &Layout, level: u32, names: &[String]) -> String {
    let parts = layout.index_parts();
    let name = |dim: usize| names.get(dim).cloned().unwrap_or_else(|| letter(layout.rank(), dim));
    let cut = |part: &Part| match part.kind {
        PartKind::Within { of, by, tile } if tile == level => {
            let dims: Vec<String> = dims_of(parts, of).into_iter().map(name).collect();
            Some(format!("{by} of {}", dims.join(" and ")))
        }
        _ => None,
    };
    let cuts: Vec<String> = parts.iter().filter_map(cut).collect();
    if cuts.len() > 4 { String::new() } else { cuts.join(", ") }
}

/// The dimensions that a part is made of; of very many, some.
fn dims_of(parts: &[Part], of: usize) -> Vec<usize> {
    let mut dims = Vec::new();
    let mut left = vec![of];
    while let Some(part) = left.pop() {
        match parts[part].kind {
            PartKind::Unit => {}
            PartKind::Dim(dim) => dims.push(dim),
            PartKind::Tiles { of, .. } | PartKind::Within { of, .. } | PartKind::Moved { of, .. } => {
                left.push(of)
            }
            PartKind::Combined { major, minor, .. } if dims.len() < 4 => left.extend([major, minor]),
            PartKind::Combined { .. } => {}
        }
    }
    dims.sort_unstable();
    dims.dedup();
    dims
}

/// Signs and what they mean, one after the other, in as many lines as it takes.
pub(crate) struct Legend {
    pub(crate) canvas: Canvas,
    x: f64,
    y: f64,
    room: f64,
}

/// The width of a sign and of the gap behind it.
const SIGN: f64 = 30.0;

impl Legend {
    pub(crate) fn new(options: &Options) -> Legend {
        Legend { canvas: Canvas::new(options.theme), x: 0.0, y: 0.0, room: options.inside() }
    }

    /// Takes the room for a sign and its meaning: where the sign begins.
    fn next(&mut self, meaning: &str) -> (f64, f64) {
        let width = SIGN + text_width(meaning, LABEL);
        if self.x > 0.0 && self.x + width > self.room {
            self.x = 0.0;
            self.y += 22.0;
        }
        let at = (self.x, self.y);
        self.x += width + 24.0;
        let lines = crate::text::wrap(meaning, super::characters(self.room - SIGN, LABEL));
        for (number, line) in lines.iter().enumerate() {
            let y = self.y + 12.0 + 17.0 * number as f64;
            self.canvas.text((at.0 + SIGN, y), line, LABEL, Colour::Faint, At::Start);
        }
        self.y += 17.0 * (lines.len() - 1) as f64;
        at
    }

    pub(crate) fn line(&mut self, level: u32, meaning: &str) {
        let (x, y) = self.next(meaning);
        let (width, dashes) = stroke(level);
        self.canvas.lines(&[[(x, y + 8.0), (x + 22.0, y + 8.0)]], Colour::Level(level), width, dashes);
    }

    pub(crate) fn fill(&mut self, colour: Colour, meaning: &str) {
        let at = self.next(meaning);
        self.canvas.rect(at, (22.0, 16.0), colour);
    }

    /// The borders of tiles, without what they cut: of layouts that have tiles of their own.
    pub(crate) fn borders(&mut self, seen: &[Grid]) {
        for level in levels(seen) {
            self.line(level, &format!("border of tile {level}"));
        }
    }

    /// The causes of padding that is seen.
    pub(crate) fn paddings(&mut self, seen: &[Grid]) {
        let cells = || seen.iter().flat_map(|grid| &grid.cells);
        let mut causes: Vec<&Padding> = cells()
            .filter_map(|cell| match &cell.content {
                Content::Padding(cause) => cause.as_ref(),
                _ => None,
            })
            .collect();
        causes.sort_unstable();
        causes.dedup();
        // Causes that are stroked alike have one sign.
        while let Some(first) = causes.first().copied() {
            let hatch = Hatch::of(Some(first));
            let alike = |cause: &&Padding| Hatch::of(Some(cause)) == hatch;
            let said: Vec<String> =
                causes.iter().copied().filter(alike).map(|cause| cause.to_string()).collect();
            self.padding(hatch, &format!("padding: {}", said.join("; ")));
            causes.retain(|cause| !alike(cause));
        }
        if cells().any(|cell| cell.content == Content::Padding(None)) {
            self.padding(Hatch::of(None), "padding");
        }
    }

    /// Whether anything was left out.
    pub(crate) fn cuts(&mut self, seen: &[Grid]) {
        if seen.iter().any(Grid::is_cut) {
            self.cut("left out");
        }
    }

    pub(crate) fn padding(&mut self, hatch: Hatch, meaning: &str) {
        let at = self.next(meaning);
        self.canvas.rect(at, (22.0, 16.0), Colour::Padding);
        hatch::stroke(&mut self.canvas, at, (22.0, 16.0), hatch);
    }

    fn cut(&mut self, meaning: &str) {
        let (x, y) = self.next(meaning);
        self.canvas.dots((x + 11.0, y + 8.0), (5.0, 0.0));
    }
}
