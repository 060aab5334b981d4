//! Pieces of a figure as SVG text, each with its size.

use std::fmt::Write;

use super::paint::{Colour, Theme};
use crate::svg::escaped;

/// The width of a character of the monospaced fonts in use, in parts of the height; none is wider.
const ADVANCE: f64 = 0.61;

/// The height of the text in cells.
pub(crate) const CELL: f64 = 13.0;
/// The height of labels and legends.
pub(crate) const LABEL: f64 = 12.0;

/// The room that text takes.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * ADVANCE
}

/// How many characters fit.
pub(crate) fn characters(width: f64, size: f64) -> usize {
    (width / (size * ADVANCE)) as usize
}

/// Where text is in relation to its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Start,
    Middle,
    End,
}

/// A piece of a figure, from (0, 0) to its size.
#[derive(Clone)]
pub(crate) struct Canvas {
    pub(crate) svg: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) theme: Theme,
}

/// A number as it is written: without a fraction where it has none.
fn short(number: f64) -> String {
    let rounded = (number * 10.0).round() / 10.0;
    format!("{rounded}")
}

impl Canvas {
    pub(crate) fn new(theme: Theme) -> Canvas {
        Canvas { svg: String::new(), width: 0.0, height: 0.0, theme }
    }

    /// Makes the piece large enough for a point.
    fn reach(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    pub(crate) fn open(&mut self, attributes: &str) {
        let _ = write!(self.svg, "<g {attributes}>");
    }

    pub(crate) fn close(&mut self) {
        self.svg.push_str("</g>\n");
    }

    /// What is shown while a pointer rests on the group that was opened.
    pub(crate) fn title(&mut self, text: &str) {
        let _ = write!(self.svg, "<title>{}</title>", escaped(text));
    }

    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: Colour) {
        self.reach(x + width, y + height);
        let _ = write!(
            self.svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            short(x),
            short(y),
            short(width),
            short(height),
            colour.paint(self.theme)
        );
    }

    /// Lines that begin and end at points.
    pub(crate) fn lines(&mut self, lines: &[[(f64, f64); 2]], colour: Colour, width: f64, dashes: &str) {
        if lines.is_empty() {
            return;
        }
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let mut path = String::new();
        for [from, to] in lines {
            self.reach(from.0.max(to.0), from.1.max(to.1));
            let _ = write!(path, "M{} {}", short(from.0), short(from.1));
            let _ = match (from.0 == to.0, from.1 == to.1) {
                (true, _) => write!(path, "V{}", short(to.1)),
                (_, true) => write!(path, "H{}", short(to.0)),
                _ => write!(path, "L{} {}", short(to.0), short(to.1)),
            };
        }
        let paint = colour.paint(self.theme);
        let _ = write!(
            self.svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{paint}\" stroke-width=\"{}\"{dashes}/>",
            short(width)
        );
    }

    /// Three dots in a row, a column or a diagonal, for what is left out.
    pub(crate) fn dots(&mut self, (x, y): (f64, f64), (dx, dy): (f64, f64)) {
        let path: String = [-1.0, 0.0, 1.0]
            .iter()
            .map(|step| format!("M{} {}h0", short(x + step * dx), short(y + step * dy)))
            .collect();
        let paint = Colour::Faint.paint(self.theme);
        let _ = write!(
            self.svg,
            "<path d=\"{path}\" stroke=\"{paint}\" stroke-width=\"2.4\" stroke-linecap=\"round\"/>"
        );
    }

    /// Text whose baseline is at `y`.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), text: &str, size: f64, colour: Colour, at: At) {
        let width = text_width(text, size);
        let (anchor, right) = match at {
            At::Start => ("", x + width),
            At::Middle => (" text-anchor=\"middle\"", x + width / 2.0),
            At::End => (" text-anchor=\"end\"", x),
        };
        self.reach(right, y + size * 0.3);
        let size = if size == CELL { String::new() } else { format!(" font-size=\"{}\"", short(size)) };
        let paint = match colour {
            Colour::Ink => String::new(),
            colour => format!(" fill=\"{}\"", colour.paint(self.theme)),
        };
        let _ = write!(
            self.svg,
            "<text x=\"{}\" y=\"{}\"{size}{paint}{anchor}>{}</text>",
            short(x),
            short(y),
            escaped(text)
        );
    }

    /// Puts another piece at a place of this one.
    pub(crate) fn put(&mut self, piece: &Canvas, (x, y): (f64, f64), class: &str) {
        self.reach(x + piece.width, y + piece.height);
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = write!(
            self.svg,
            "<g{class} transform=\"translate({} {})\">\n{}</g>\n",
            short(x),
            short(y),
            piece.svg
        );
    }
}

/// The whole figure: what it is called for whoever does not see it, and what is in it.
pub(crate) fn document(inside: &Canvas, (width, height): (f64, f64), label: &str) -> String {
    let theme = inside.theme;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tilework\" width=\"{0}\" height=\"{1}\" \
         viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" \
         font-family=\"'DejaVu Sans Mono',ui-monospace,Menlo,Consolas,monospace\" font-size=\"{CELL}\" fill=\"{3}\">\n",
        short(width),
        short(height),
        escaped(label),
        Colour::Ink.paint(theme)
    );
    if theme == Theme::Auto {
        // `:root` is this drawing only where it is a document of its own, so no page is touched. Notebooks say whether they are
        // dark: Jupyter and what it exports, and Visual Studio Code.
        let dark = super::colours(Theme::Dark);
        let _ = writeln!(
            out,
            "<style>@media (prefers-color-scheme:dark){{:root.tilework{{{dark}}}}}\
             [data-jp-theme-light=false] .tilework,.vscode-dark .tilework{{{dark}}}</style>"
        );
    }
    let _ = writeln!(
        out,
        "<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>",
        short(width),
        short(height),
        Colour::Paper.paint(theme)
    );
    out.push_str(&inside.svg);
    out.push_str("</svg>\n");
    out
}
