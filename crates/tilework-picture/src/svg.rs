//! Drawings as SVG, for pages.
//!
//! A [`Drawing`] is made of rectangles, lines and texts at places of its own units; what it stands in decides its size. Colours
//! are names that the page gives a meaning, `--data` for `data`, so that a drawing is right on light pages and on dark ones.
//! Every text is escaped here, so whoever draws need not think of it.

use std::fmt::Write;

use tilework_core::printable;

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// Where a text is in relation to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It ends there.
    End,
}

/// A drawing that is being made.
///
/// ```
/// use tilework_picture::svg::{Anchor, Drawing, Rect};
/// let mut drawing = Drawing::new(20.0, 10.0, "a < b");
/// drawing.fill(Rect { x: 1.0, y: 2.0, width: 3.0, height: 4.0 }, "data");
/// drawing.text((0.0, 9.0), "a & b", "text", Anchor::Start);
/// let svg = drawing.finish();
/// assert!(svg.contains("aria-label=\"a &lt; b\"") && svg.contains(">a &amp; b</text></svg>"));
/// ```
#[derive(Clone, Debug)]
pub struct Drawing {
    svg: String,
    /// Whether something in it leads somewhere.
    leads: bool,
}

impl Drawing {
    /// An empty one of this size; `label` says what is to be seen to whoever does not see it.
    pub fn new(width: f64, height: f64, label: &str) -> Drawing {
        let label = escaped(label);
        let svg = format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" \
             font-family=\"system-ui,sans-serif\">\n"
        );
        Drawing { svg, leads: false }
    }

    /// Things that belong together, with what is shown while a pointer rests on them.
    pub fn group(&mut self, title: &str, draw: impl FnOnce(&mut Drawing)) {
        let _ = write!(self.svg, "<g><title>{}</title>", escaped(title));
        draw(self);
        self.svg.push_str("</g>\n");
    }

    /// The same as a link to a part of the page, or as a group where it leads nowhere. It is no stop of the keyboard: there can be
    /// thousands, and what they lead to is on the page as text.
    pub fn linked(&mut self, title: &str, part: Option<&str>, draw: impl FnOnce(&mut Drawing)) {
        let Some(part) = part else { return self.group(title, draw) };
        self.leads = true;
        let _ = write!(
            self.svg,
            "<a href=\"#{}\" tabindex=\"-1\"><title>{}</title>",
            escaped(part),
            escaped(title)
        );
        draw(self);
        self.svg.push_str("</a>\n");
    }

    /// A rectangle of a colour.
    pub fn fill(&mut self, rect: Rect, colour: &str) {
        self.rect(rect, &format!("fill=\"var(--{colour})\""));
    }

    /// The border of a rectangle.
    pub fn outline(&mut self, rect: Rect, colour: &str, width: f64) {
        self.rect(rect, &format!("fill=\"none\" stroke=\"var(--{colour})\" stroke-width=\"{width}\""));
    }

    fn rect(&mut self, Rect { x, y, width, height }: Rect, paint: &str) {
        let _ = write!(
            self.svg,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" {paint}/>"
        );
    }

    /// A dashed line from top to bottom.
    pub fn dashed(&mut self, x: f64, height: f64, colour: &str) {
        let _ = writeln!(
            self.svg,
            "<path d=\"M{x:.1} 0V{height}\" stroke=\"var(--{colour})\" stroke-dasharray=\"4 3\"/>"
        );
    }

    /// A text on a line, 12 units high.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, colour: &str, anchor: Anchor) {
        let anchor = if anchor == Anchor::End { " text-anchor=\"end\"" } else { "" };
        let _ = write!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"12\" fill=\"var(--{colour})\"{anchor}>{}</text>",
            escaped(text)
        );
    }

    /// The whole element.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        // What has links in it is no image to whoever does not see it.
        if self.leads { self.svg.replacen("role=\"img\"", "role=\"group\"", 1) } else { self.svg }
    }
}

/// Text that means nothing to a browser but itself.
pub fn escaped(text: &str) -> String {
    // What a terminal would obey is no character of a page, or turns round what stands beside it.
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    let mut out = String::with_capacity(text.len());
    for c in lines.join("\n").chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Two characters that no XML may have.
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
