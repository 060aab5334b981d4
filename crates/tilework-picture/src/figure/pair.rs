//! Two layouts side by side: what stays and what moves.

use tilework_core::{Layout, Plan};

use super::canvas::{At, Canvas, LABEL, characters};
use super::cells::{self, Look};
use super::hue::{self, Hue};
use super::legend::Legend;
use super::nests::Nests;
use super::paint::Colour;
use super::{MARGIN, Options, Sheet, View, array_grid, array_heading, fit, headed};
use crate::scene::{Border, Cell, Content, Grid};
use crate::text::wrap;

/// The border between runs is drawn like that of the third tile, which hardly any layout has. Memory shows none of tiles then.
const RUN: u32 = 3;

/// Elements beyond this many are not counted one by one.
const COUNTED: u64 = 1 << 16;

/// The figure of two layouts of the same array: where each element is in either, grey where it stays and in colours where it
/// moves. The same element has the same colour in all parts of the figure. Layouts of different dimensions are drawn side by
/// side, each in the colours of its own tiles.
///
/// ```
/// use tilework::Layout;
/// use tilework_picture::figure::{self, Options};
/// let rows = Layout::row_major(&[2, 3], 32)?;
/// let columns = Layout::builder(&[2, 3], 32)?.minor_to_major(&[0, 1])?.build()?;
/// let svg = figure::of_two([&rows, &columns], ["f32[2,3]{1,0}", "f32[2,3]{0,1}"], &Options::default());
/// assert!(svg.contains(">2 of 6 elements stay at their offset<"));
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn of_two(layouts: [&Layout; 2], titles: [&str; 2], options: &Options) -> String {
    let [a, b] = layouts;
    let is_one_array = a.dims() == b.dims();
    let stays = |index: &[u64]| {
        is_one_array && matches!((a.offset(index), b.offset(index)), (Ok(a), Ok(b)) if a == b)
    };
    // The colours of the one that has tiles.
    let hues = [a, b].map(|layout| hue::of(layout, options));
    let tiled = layouts.map(|layout| crate::tiles::tile_levels(layout) > 0);
    let of = |side: usize, offset: Option<u64>, index: &[u64]| match is_one_array {
        true if stays(index) => Colour::Stay,
        true if tiled[1] && !tiled[0] => hues[1](b.offset(index).ok(), index),
        true => hues[0](a.offset(index).ok(), index),
        false => hues[side](offset, index),
    };
    let of_a = |offset: Option<u64>, index: &[u64]| of(0, offset, index);
    let of_b = |offset: Option<u64>, index: &[u64]| of(1, offset, index);
    let mut caption = Vec::new();
    if is_one_array && a.len() <= COUNTED && !a.is_empty() {
        let mut staying = 0_u64;
        a.for_each_in_index_order(|index, offset| staying += u64::from(b.offset(index) == Ok(offset)));
        caption.push(format!("{staying} of {} elements stay at their offset", a.len()));
    } else if !is_one_array {
        caption.push("two arrays of different dimensions".to_owned());
    }
    let (mut sheet, seen) = both(layouts, titles, options, &caption, [&of_a, &of_b], None);
    let mut legend = Legend::new(options);
    if is_one_array {
        legend.fill(Colour::Stay, "stays at its offset");
        let colour = if tiled[1] && !tiled[0] {
            "a tile of B"
        } else if tiled[0] {
            "a tile of A"
        } else {
            "a row"
        };
        legend.fill(Colour::Tile(0), &format!("moves; the colour of {colour}, and another for the next"));
    }
    legend.borders(&seen);
    legend.paddings(&seen);
    legend.cuts(&seen);
    sheet.put_all(&[(legend.canvas, "legend")]);
    sheet.finish()
}

/// The figure of a plan: where each element is in the source and in the destination, in the colours of the nests of loops that
/// move it. In memory, a place of the one says the offset in the other, and lines stand where a run ends.
///
/// ```
/// use tilework::{Layout, Plan, PlanOptions};
/// use tilework_picture::figure::{self, Options};
/// let tiled = Layout::builder(&[3, 5], 32)?.tile(&[Some(2), Some(2)])?.build()?;
/// let plan = Plan::new(&tiled, &Layout::row_major(&[3, 5], 32)?, &PlanOptions::default())?;
/// let svg = figure::of_plan(&plan, ["f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0}"], &Options::default());
/// assert!(svg.contains(">15 elements move in 4 nests of loops, in 9 runs of up to 2<"));
/// # Ok::<(), tilework::Error>(())
/// ```
pub fn of_plan(plan: &Plan, titles: [&str; 2], options: &Options) -> String {
    let nests = Nests::new(plan);
    let hue = |_: Option<u64>, index: &[u64]| {
        let places = (plan.from().offset(index), plan.to().offset(index));
        let nest = if let (Ok(from), Ok(to)) = places { nests.of(from, to) } else { None };
        nest.map_or(Colour::Plain, |nest| Colour::Tile(nest as u64))
    };
    let figures = plan.figures();
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    let caption = format!(
        "{} element{} move in {} nest{} of loops, in {} run{} of up to {}",
        figures.elements,
        plural(figures.elements),
        figures.nests,
        plural(figures.nests as u64),
        figures.runs,
        plural(figures.runs),
        figures.longest_run
    );
    let layouts = [plan.from(), plan.to()];
    let (mut sheet, seen) = both(layouts, titles, options, &[caption], [&hue, &hue], Some(plan));
    let mut legend = Legend::new(options);
    for (number, text) in nests.words().into_iter().enumerate() {
        legend.fill(Colour::Tile(number as u64), &text);
    }
    legend.line(RUN, "a run ends");
    // In memory, borders are the ends of runs.
    let arrays: Vec<Grid> = seen.iter().filter(|grid| grid.column_dim.is_some()).cloned().collect();
    legend.borders(&arrays);
    legend.paddings(&seen);
    legend.cuts(&seen);
    sheet.put_all(&[(legend.canvas, "legend")]);
    sheet.finish()
}

/// The arrays, and below them the memories.
fn both<'a>(
    layouts: [&Layout; 2],
    titles: [&str; 2],
    options: &'a Options,
    caption: &[String],
    hues: [&Hue<'_>; 2],
    plan: Option<&Plan>,
) -> (Sheet<'a>, Vec<Grid>) {
    let mut sheet = Sheet::new(options, caption);
    let half = Options { width: ((options.inside() - 40.0) / 2.0 + 2.0 * MARGIN) as u32, ..options.clone() };
    let (mut arrays, mut seen) = (Vec::new(), Vec::new());
    let mut memories = Vec::new();
    for (side, (layout, title)) in layouts.into_iter().zip(titles).enumerate() {
        let framed = crate::tiles::tile_levels(layout) > 0;
        let (name, class) = if side == 0 { ("A", "a") } else { ("B", "b") };
        if options.shows(View::Array, true) {
            let look = Look { fill: Some(hues[side]), ..Look::plain(options.theme, framed) };
            let grid = |room| array_grid(layout, room, &half);
            if let Some((grid, piece)) = fit(&half, half.rows, grid, |grid| cells::draw(grid, &look)) {
                let piece = array_heading(layout, &grid, piece, &half);
                seen.push(grid);
                arrays.push((titled(&format!("{name}: {title}"), piece, &half), format!("array {class}")));
            }
        }
        if options.shows(View::Memory, true) {
            let other = layouts[1 - side];
            let at = |cell: &Cell| match &cell.content {
                Content::Index(index) => other.offset(index).map(|at| at.to_string()).unwrap_or_default(),
                _ => String::new(),
            };
            let text: Option<&dyn Fn(&Cell) -> String> = if plan.is_some() { Some(&at) } else { None };
            let look = Look { fill: Some(hues[side]), text, ..Look::plain(options.theme, false) };
            let grid = |room| match plan {
                None => Grid::memory_in_tiles(layout, room),
                Some(_) => Grid::memory(layout, room).map(|grid| in_runs(grid, other)),
            };
            if let Some((grid, piece)) =
                fit(options, options.memory_rows, grid, |grid| cells::draw(grid, &look))
            {
                let says = match (plan.is_some(), side) {
                    (false, _) => "the element at each place; rows begin with their offset",
                    (true, 0) => "the offset in B that each place goes to",
                    (true, _) => "the offset in A that each place comes from",
                };
                let piece = headed(&format!("memory of {name}: {says}"), piece, options);
                seen.push(grid);
                memories.push((piece, format!("memory {class}")));
            }
        }
    }
    for pieces in [arrays, memories] {
        let pieces: Vec<(Canvas, &str)> =
            pieces.iter().map(|(piece, class)| (piece.clone(), class.as_str())).collect();
        sheet.put_all(&pieces);
    }
    (sheet, seen)
}

/// A piece below a title of its own.
fn titled(title: &str, piece: Canvas, options: &Options) -> Canvas {
    let mut canvas = Canvas::new(options.theme);
    let mut y = 0.0;
    for line in wrap(title, characters(options.inside(), LABEL)) {
        canvas.text((0.0, y + 10.0), &line, LABEL, Colour::Ink, At::Start);
        y += 17.0;
    }
    canvas.put(&piece, (0.0, y + 4.0), "");
    canvas
}

/// Memory with borders where what lies side by side does not in another layout.
fn in_runs(mut grid: Grid, other: &Layout) -> Grid {
    let width = grid.columns.len().max(1);
    let at = |cell: &Cell| match &cell.content {
        Content::Index(index) => other.offset(index).ok(),
        _ => None,
    };
    let places: Vec<Option<u64>> = grid.cells.iter().map(at).collect();
    for (number, cell) in grid.cells.iter_mut().enumerate() {
        let before = (!number.is_multiple_of(width)).then(|| places[number - 1]).flatten();
        let breaks = match (before, places[number]) {
            (Some(before), Some(here)) => before.checked_add(1) != Some(here),
            (before, here) => before.is_some() || here.is_some() && !number.is_multiple_of(width),
        };
        cell.left = if breaks { Border::Inner(RUN) } else { Border::None };
        cell.top = Border::None;
    }
    grid
}
