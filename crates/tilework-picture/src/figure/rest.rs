//! A small map of the dimensions that a slice leaves out: where the slice is in each.

use tilework_core::{Layout, letter};

use super::Options;
use super::canvas::{At, Canvas, LABEL, text_width};
use super::paint::Colour;
use crate::window::window;

/// The most boxes of a dimension.
const BOXES: usize = 12;
/// The most dimensions.
const DIMS: usize = 8;

pub(crate) fn map(layout: &Layout, slice: &[Option<u64>], options: &Options) -> Canvas {
    let mut canvas = Canvas::new(options.theme);
    let (mut x, mut y) = (0.0, 0.0);
    let fixed = slice.iter().enumerate().filter_map(|(dim, at)| Some((dim, (*at)?)));
    for (dim, at) in fixed.take(DIMS) {
        let size = layout.dims()[dim];
        let name = options.names.get(dim).cloned().unwrap_or_else(|| letter(layout.rank(), dim));
        let (before, after) = (format!("{name} = {at}"), format!("of {size}"));
        let boxes = window(size, at, None, BOXES);
        let width =
            text_width(&before, LABEL) + 8.0 + 10.0 * boxes.len() as f64 + 6.0 + text_width(&after, LABEL);
        if x > 0.0 && x + width > options.inside() {
            (x, y) = (0.0, y + 20.0);
        }
        canvas.text((x, y + 11.0), &before, LABEL, Colour::Faint, At::Start);
        x += text_width(&before, LABEL) + 8.0;
        for place in boxes {
            match place {
                Some(place) if place == at => canvas.rect((x, y + 1.0), (8.0, 12.0), Colour::Ink),
                Some(_) => canvas.rect((x, y + 1.0), (8.0, 12.0), Colour::Hatch),
                None => canvas.dots((x + 4.0, y + 7.0), (3.0, 0.0)),
            }
            x += 10.0;
        }
        canvas.text((x + 6.0, y + 11.0), &after, LABEL, Colour::Faint, At::Start);
        x += 6.0 + text_width(&after, LABEL) + 24.0;
    }
    canvas
}
