//! What is in a figure: the few elements of SVG that figures are made of.

use super::raster::{Point, Rgb};

/// What is to be drawn, in order, in the units of the figure.
pub(super) struct Figure {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<(Shape, Rgb)>,
}

pub(super) enum Shape {
    Rect { x: f64, y: f64, width: f64, height: f64 },
    Line { from: Point, to: Point, width: f64, dashes: Option<(f64, f64)> },
    Dot { at: Point, width: f64 },
    Text { x: f64, y: f64, size: f64, text: String },
}

/// Reads a figure; none where something is in it that no figure has.
pub(super) fn read(svg: &str) -> Option<Figure> {
    let mut figure = Figure { width: 0.0, height: 0.0, shapes: Vec::new() };
    // Where the groups that are open begin, and what text looks like that says nothing else.
    let mut shifts: Vec<Point> = vec![(0.0, 0.0)];
    let (mut ink, mut height) = ([0; 3], 13.0);
    let mut is_closed = false;
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let (tag, after) = rest[start + 1..].split_once('>')?;
        let content = &after[..after.find('<').unwrap_or(after.len())];
        rest = after;
        let name = tag.split([' ', '/']).next()?;
        let shift = *shifts.last()?;
        match name {
            "svg" => {
                (figure.width, figure.height) = (number(tag, "width")?, number(tag, "height")?);
                ink = colour(tag, "fill").unwrap_or(ink);
                height = number(tag, "font-size").unwrap_or(height);
            }
            "g" => {
                let (x, y) = match value(tag, "transform") {
                    Some(shift) => {
                        let (x, y) = shift.strip_prefix("translate(")?.strip_suffix(')')?.split_once(' ')?;
                        (x.parse().ok()?, y.parse().ok()?)
                    }
                    None => (0.0, 0.0),
                };
                shifts.push((shift.0 + x, shift.1 + y));
            }
            "rect" => {
                let (x, y) = (number(tag, "x").unwrap_or(0.0), number(tag, "y").unwrap_or(0.0));
                let (width, height) = (number(tag, "width")?, number(tag, "height")?);
                let rect = Shape::Rect { x: x + shift.0, y: y + shift.1, width, height };
                figure.shapes.push((rect, colour(tag, "fill")?));
            }
            "path" => path(tag, shift, &mut figure.shapes)?,
            "text" => {
                let text = decoded(content);
                let size = number(tag, "font-size").unwrap_or(height);
                let long = text.chars().count() as f64 * size * super::font::ADVANCE;
                let before = match value(tag, "text-anchor") {
                    Some("middle") => long / 2.0,
                    Some("end") => long,
                    _ => 0.0,
                };
                let (x, y) = (number(tag, "x")? + shift.0 - before, number(tag, "y")? + shift.1);
                figure.shapes.push((Shape::Text { x, y, size, text }, colour(tag, "fill").unwrap_or(ink)));
            }
            "style" | "title" => {}
            "" if tag == "/g" => drop(shifts.pop()),
            "" if tag == "/svg" => is_closed = true,
            "" if ["/text", "/title", "/style"].contains(&tag) => {}
            _ => return None,
        }
    }
    let is_size = |length: f64| length > 0.0 && length.is_finite();
    (is_closed && is_size(figure.width) && is_size(figure.height)).then_some(figure)
}

/// Lines: `M1 2V3` and the like, each from its own beginning, and `h0` for a dot.
fn path(tag: &str, shift: Point, shapes: &mut Vec<(Shape, Rgb)>) -> Option<()> {
    let (paint, width) = (colour(tag, "stroke")?, number(tag, "stroke-width")?);
    let dashes = match value(tag, "stroke-dasharray") {
        Some(dashes) => {
            let (dash, gap) = dashes.split_once(' ')?;
            Some((dash.parse().ok()?, gap.parse().ok()?))
        }
        None => None,
    };
    for line in value(tag, "d")?.split('M').skip(1) {
        let place = line.find(|c: char| c.is_ascii_alphabetic())?;
        let (from, step) = line.split_at(place);
        let point = |text: &str| -> Option<Point> {
            let (x, y) = text.split_once(' ')?;
            Some((x.parse::<f64>().ok()? + shift.0, y.parse::<f64>().ok()? + shift.1))
        };
        let from = point(from)?;
        let to = match step.split_at(1) {
            ("h", "0") => {
                shapes.push((Shape::Dot { at: from, width }, paint));
                continue;
            }
            ("V", y) => (from.0, y.parse::<f64>().ok()? + shift.1),
            ("H", x) => (x.parse::<f64>().ok()? + shift.0, from.1),
            ("L", to) => point(to)?,
            _ => return None,
        };
        shapes.push((Shape::Line { from, to, width, dashes }, paint));
    }
    Some(())
}

/// The value of an attribute. Values have no quotes in them, so nothing else looks like one.
fn value<'t>(tag: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = tag;
    loop {
        let (before, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        if before.rsplit(' ').next() == Some(key) {
            return Some(value);
        }
        rest = after;
    }
}

fn number(tag: &str, key: &str) -> Option<f64> {
    value(tag, key)?.parse().ok()
}

/// `var(--tw-ink,#1f2328)` is `#1f2328`: what a page may set is what it is otherwise.
fn colour(tag: &str, key: &str) -> Option<Rgb> {
    let value = value(tag, key)?;
    let hex = match value.strip_prefix("var(") {
        Some(inside) => inside.strip_suffix(')')?.split_once(',')?.1,
        None => value,
    };
    let hex = hex.strip_prefix('#').filter(|hex| hex.len() == 6 && hex.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// Text without its entities.
fn decoded(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_by_their_whole_name() {
        let tag = "rect data-x=\"9\" x=\"1\" fill=\"var(--tw-ink,#010aff)\" stroke-width=\"2\" width=\"3\"/";
        assert_eq!((number(tag, "x"), number(tag, "width")), (Some(1.0), Some(3.0)));
        assert_eq!(colour(tag, "fill"), Some([1, 10, 255]));
        assert_eq!((value(tag, "y"), colour("g fill=\"red\"", "fill")), (None, None));
    }

    #[test]
    fn text_that_looks_like_markup_is_text() {
        let svg = "<svg width=\"9\" height=\"9\"><g transform=\"translate(1 2)\"><text x=\"3\" y=\"4\">&lt;g&gt; &amp;lt;</text></g></svg>";
        let figure = read(svg).expect("a figure");
        let [(Shape::Text { x, y, text, .. }, _)] = &figure.shapes[..] else { panic!("one text") };
        assert_eq!((*x, *y, text.as_str()), (4.0, 6.0, "<g> &lt;"));
        for wrong in
            ["<svg width=\"9\" height=\"9\"><circle/></svg>", "<svg width=\"0\" height=\"9\"></svg>", "<svg>"]
        {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
