//! The colours of figures.
//!
//! A colour is a property that a page may set, with what it is otherwise: `var(--tw-ink,#1f2328)`. So one figure is right
//! standing alone and inside a page. Tiles differ in lightness as well as in hue, and in hues that people who see two colours
//! only can tell apart (after Okabe and Ito); borders say where tiles end in grey print.

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white, for paper.
    Light,
    /// Light ink on black.
    Dark,
    /// As whoever looks at the file prefers. Inside a page it is light, unless the page sets the colours.
    #[default]
    Auto,
}

/// What is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Paper,
    /// Text.
    Ink,
    /// Headings, labels, cuts.
    Faint,
    /// Where no tile is.
    Plain,
    /// An element of the tile with this number, or one of other groups that stand side by side.
    Tile(u64),
    Padding,
    Hatch,
    /// The borders of tiles, from the outermost.
    Level(u32),
    /// What stays where it is.
    Stay,
    /// Something to look at: a conflict.
    Alarm,
    /// A step from light to dark, of 0 to 7.
    Step(u8),
}

/// How many colours there are for tiles.
pub(crate) const TILES: u64 = 6;

/// The name, light, dark.
type Entry = (&'static str, &'static str, &'static str);

const TILE: [Entry; 6] = [
    ("tile-0", "#d6e8fa", "#1a3f63"),
    ("tile-1", "#f9d79b", "#6b4708"),
    ("tile-2", "#b4e3c6", "#1f6f50"),
    ("tile-3", "#eebbd6", "#6c3059"),
    ("tile-4", "#f7f3bf", "#75712c"),
    ("tile-5", "#bcc7f0", "#3f3f86"),
];
const LEVEL: [Entry; 3] =
    [("level-1", "#1f2328", "#f0f3f6"), ("level-2", "#0b62b3", "#6cb6ff"), ("level-3", "#b35900", "#f0a35e")];
const STEP: [Entry; 8] = [
    ("step-0", "#f4f8fc", "#131c26"),
    ("step-1", "#e4eef8", "#172a3c"),
    ("step-2", "#d2e3f3", "#1b3650"),
    ("step-3", "#bfd7ee", "#1f4364"),
    ("step-4", "#abcbe9", "#235078"),
    ("step-5", "#97bfe4", "#285e8d"),
    ("step-6", "#84b3de", "#2c689c"),
    ("step-7", "#72a8d9", "#2f72ab"),
];
const PAPER: Entry = ("paper", "#ffffff", "#0d1117");
const INK: Entry = ("ink", "#1f2328", "#f0f3f6");
const FAINT: Entry = ("faint", "#59636e", "#a2abb5");
const PLAIN: Entry = ("plain", "#e9edf1", "#2a313a");
const PADDING: Entry = ("padding", "#ffffff", "#0d1117");
const HATCH: Entry = ("hatch", "#a3acb6", "#565f6a");
const STAY: Entry = ("stay", "#98a3af", "#2a313a");
const ALARM: Entry = ("alarm", "#b3261e", "#ff8f86");

impl Colour {
    fn entry(self) -> Entry {
        match self {
            Colour::Paper => PAPER,
            Colour::Ink => INK,
            Colour::Faint => FAINT,
            Colour::Plain => PLAIN,
            Colour::Tile(number) => TILE[(number % TILES) as usize],
            Colour::Padding => PADDING,
            Colour::Hatch => HATCH,
            Colour::Level(level) => LEVEL[(level.clamp(1, 3) - 1) as usize],
            Colour::Stay => STAY,
            Colour::Alarm => ALARM,
            Colour::Step(step) => STEP[usize::from(step.min(7))],
        }
    }

    /// The value of an attribute.
    pub(crate) fn paint(self, theme: Theme) -> String {
        let (name, light, dark) = self.entry();
        format!("var(--tw-{name},{})", if theme == Theme::Dark { dark } else { light })
    }
}

/// The names of all colours and what they are in a theme, as declarations of properties: for pages that set them.
///
/// ```
/// use tilework_picture::figure::{Theme, colours};
/// assert!(colours(Theme::Dark).starts_with("--tw-paper:#0d1117;--tw-ink:#f0f3f6;"));
/// ```
pub fn colours(theme: Theme) -> String {
    let all = [PAPER, INK, FAINT, PLAIN, PADDING, HATCH, STAY, ALARM];
    let declare = |(name, light, dark): &Entry| {
        format!("--tw-{name}:{};", if theme == Theme::Dark { dark } else { light })
    };
    all.iter().chain(&TILE).chain(&LEVEL).chain(&STEP).map(declare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How bright a colour is, of 0 to 1, as WCAG counts it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let part = u8::from_str_radix(&colour[at..at + 2], 16).expect("two digits");
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_readable_on_whatever_it_stands() {
        for side in [|entry: &Entry| entry.1, |entry: &Entry| entry.2] {
            let below = [PAPER, PLAIN, STAY, PADDING].into_iter().chain(TILE).chain(STEP);
            for entry in below {
                let found = contrast(side(&INK), side(&entry));
                assert!(found >= 4.5, "{}: {found}", entry.0);
            }
            for entry in [FAINT, ALARM] {
                let found = contrast(side(&entry), side(&PAPER));
                assert!(found >= 4.5, "{}: {found}", entry.0);
            }
        }
    }

    #[test]
    fn what_stays_is_told_from_every_tile_in_grey() {
        for tile in TILE {
            let found = contrast(STAY.1, tile.1);
            assert!(found >= 1.3, "{}: {found}", tile.0);
        }
    }

    #[test]
    fn a_colour_can_be_set_and_is_something_otherwise() {
        assert_eq!(Colour::Tile(7).paint(Theme::Light), "var(--tw-tile-1,#f9d79b)");
        assert_eq!(Colour::Tile(1).paint(Theme::Dark), "var(--tw-tile-1,#6b4708)");
        for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
            let all = colours(theme);
            for colour in [Colour::Level(9), Colour::Step(9), Colour::Alarm, Colour::Plain] {
                let name = colour.entry().0;
                assert!(all.contains(&format!("--tw-{name}:#")), "{name}");
            }
        }
    }
}
