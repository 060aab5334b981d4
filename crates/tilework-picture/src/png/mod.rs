//! Figures as PNG.
//!
//! A figure is made of rectangles, straight lines and text in one font, so it takes no general renderer: what is here reads the
//! few elements that [`figure`](crate::figure) writes and fills polygons. Text is drawn with a font that is part of the
//! library, so a figure is the same on every machine.

mod encode;
mod font;
mod raster;
mod read;

use std::fmt;

use font::Font;
use raster::{Point, Raster};
use read::{Figure, Shape};

/// A subset of DejaVu Sans Mono: see `fonts/LICENSE`.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSansMono-subset.ttf");

/// The most pixels of a picture: as many as take 192 MiB of memory.
pub const PIXELS: u64 = 64 << 20;

/// Why there is no PNG of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PngError {
    /// It would have this many pixels, more than [`PIXELS`].
    TooLarge(u64),
    /// It is no figure that was drawn here.
    NoFigure,
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PngError::TooLarge(pixels) => {
                write!(f, "a picture of {pixels} pixels; at most {PIXELS} are drawn")
            }
            PngError::NoFigure => f.write_str("no figure that was drawn here"),
        }
    }
}

impl std::error::Error for PngError {}

/// A figure of [`figure`](crate::figure) as PNG, `scale` times as large as it says. What is light or dark as one prefers
/// becomes light.
///
/// ```
/// use tilework::Layout;
/// use tilework_picture::figure::{self, Options};
/// let svg = figure::of_layout(&Layout::row_major(&[2, 3], 32)?, &Options { width: 300, ..Options::default() });
/// let png = tilework_picture::png(&svg, 2.0).expect("a figure");
/// assert!(png.starts_with(b"\x89PNG"));
/// assert_eq!(&png[16..20], 600_u32.to_be_bytes()); // the width
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// More than [`PIXELS`] pixels, and a text that is none of our figures.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let figure = read::read(svg).ok_or(PngError::NoFigure)?;
    let scale = f64::from(scale);
    let length = |length: f64| (length * scale).ceil().max(1.0) as u64;
    let (width, height) = (length(figure.width), length(figure.height));
    let pixels = width.saturating_mul(height);
    if pixels > PIXELS {
        return Err(PngError::TooLarge(pixels));
    }
    let mut raster = Raster::new(width as usize, height as usize);
    let font = Font::new(FONT).ok_or(PngError::NoFigure)?;
    draw(&figure, &font, scale, &mut raster);
    Ok(encode::encode(width as u32, height as u32, raster.pixels()))
}

fn draw(figure: &Figure, font: &Font, scale: f64, raster: &mut Raster) {
    for (shape, colour) in &figure.shapes {
        match shape {
            Shape::Rect { x, y, width, height } => {
                let place = |x: f64, y: f64| (x * scale, y * scale);
                raster.rect(place(*x, *y), place(x + width, y + height), *colour);
            }
            Shape::Line { from, to, width, dashes } => {
                for (from, to) in dashed(*from, *to, *dashes) {
                    raster.fill(&[stroke(from, to, *width, scale)], *colour);
                }
            }
            Shape::Dot { at, width } => raster.fill(&[circle(*at, width / 2.0, scale)], *colour),
            Shape::Text { x, y, size, text } => {
                for (number, letter) in text.chars().enumerate() {
                    let left = x + number as f64 * size * font.advance();
                    let place =
                        |(across, up): Point| ((left + across * size) * scale, (y - up * size) * scale);
                    let outline: Vec<Vec<Point>> = font
                        .outline(letter)
                        .iter()
                        .map(|contour| contour.iter().map(|&point| place(point)).collect())
                        .collect();
                    raster.fill(&outline, *colour);
                }
            }
        }
    }
}

/// The stretches of a line that are drawn: all of it, or dashes of a length and the gaps behind them.
fn dashed(from: Point, to: Point, dashes: Option<(f64, f64)>) -> Vec<(Point, Point)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    let Some((dash, gap)) = dashes.filter(|_| length > 0.0) else { return vec![(from, to)] };
    let at = |along: f64| (from.0 + dx * along / length, from.1 + dy * along / length);
    let count = (length / (dash + gap)).ceil() as u32;
    let start = |number: u32| f64::from(number) * (dash + gap);
    (0..count).map(|number| (at(start(number)), at((start(number) + dash).min(length)))).collect()
}

/// A line as the rectangle that it fills.
fn stroke(from: Point, to: Point, width: f64, scale: f64) -> Vec<Point> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return Vec::new();
    }
    let (side_x, side_y) = (-dy / length * width / 2.0, dx / length * width / 2.0);
    let corners = [
        (from.0 + side_x, from.1 + side_y),
        (to.0 + side_x, to.1 + side_y),
        (to.0 - side_x, to.1 - side_y),
        (from.0 - side_x, from.1 - side_y),
    ];
    corners.map(|(x, y)| (x * scale, y * scale)).to_vec()
}

fn circle((x, y): Point, radius: f64, scale: f64) -> Vec<Point> {
    // The corners of a polygon of 24 sides, turned step by step: sines differ between machines in their last bit.
    const STEP: Point = (0.965_925_826_289_068_3, 0.258_819_045_102_520_8);
    let mut at = (radius, 0.0);
    let mut corners = Vec::with_capacity(24);
    for _ in 0..24 {
        corners.push(((x + at.0) * scale, (y + at.1) * scale));
        at = (at.0 * STEP.0 - at.1 * STEP.1, at.0 * STEP.1 + at.1 * STEP.0);
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_figure_or_too_large_is_an_error() {
        assert_eq!(png("<svg", 1.0), Err(PngError::NoFigure));
        assert_eq!(png("<html></html>", 1.0), Err(PngError::NoFigure));
        let svg = "<svg width=\"9000\" height=\"9000\"></svg>";
        assert_eq!(png(svg, 1.0), Err(PngError::TooLarge(81_000_000)));
        assert!(matches!(png(svg, f32::INFINITY), Err(PngError::TooLarge(_))));
        assert!(png(svg, 0.001).is_ok() && png(svg, f32::NAN).is_ok() && png(svg, -1.0).is_ok());
    }

    #[test]
    fn lines_are_dashed_to_their_end() {
        let dashes = dashed((0.0, 0.0), (11.0, 0.0), Some((4.0, 2.0)));
        assert_eq!(dashes, [((0.0, 0.0), (4.0, 0.0)), ((6.0, 0.0), (10.0, 0.0))]);
        assert_eq!(dashed((0.0, 0.0), (7.0, 0.0), Some((4.0, 2.0)))[1], ((6.0, 0.0), (7.0, 0.0)));
        assert_eq!(dashed((1.0, 1.0), (1.0, 1.0), Some((4.0, 2.0))).len(), 1);
    }
}
