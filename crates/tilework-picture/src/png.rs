//! Figures as PNG.
//!
//! Text is drawn with a font that is part of the library, so a figure is the same on every machine, to the bit.

use std::fmt;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{FontResolver, ImageHrefResolver, Options, Tree};

/// A subset of DejaVu Sans Mono: see `fonts/LICENSE`.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSansMono-subset.ttf");

/// The most pixels of a picture: as many as take 256 MiB of memory.
pub const PIXELS: u64 = 64 << 20;

/// Why there is no PNG of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PngError {
    /// It would have so many pixels, more than [`PIXELS`].
    TooLarge(u64),
    /// It is no figure that was drawn here.
    NoFigure(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PngError::TooLarge(pixels) => {
                write!(f, "a picture of {pixels} pixels; at most {PIXELS} are drawn")
            }
            PngError::NoFigure(why) => write!(f, "no figure: {why}"),
        }
    }
}

impl std::error::Error for PngError {}

/// A figure of [`figure`](crate::figure) as PNG, so many times as large as it says. What is light or dark as one prefers
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
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        Arc::new(fonts)
    });
    let options = Options {
        fontdb: fonts.clone(),
        font_family: "DejaVu Sans Mono".to_owned(),
        font_resolver: FontResolver::default(),
        // A figure has no images, and nothing in it names a file.
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    let none = |why: &dyn fmt::Display| PngError::NoFigure(why.to_string());
    let tree = Tree::from_str(&settled(svg), &options).map_err(|error| none(&error))?;
    let size = tree.size();
    let length = |length: f32| (f64::from(length) * f64::from(scale)).ceil().max(1.0) as u64;
    let (width, height) = (length(size.width()), length(size.height()));
    let pixels = width.saturating_mul(height);
    let too_large = || PngError::TooLarge(pixels);
    if pixels > PIXELS {
        return Err(too_large());
    }
    let (width, height) = (u32::try_from(width), u32::try_from(height));
    let (Ok(width), Ok(height)) = (width, height) else { return Err(too_large()) };
    let mut pixmap = Pixmap::new(width, height).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| none(&error))
}

/// The figure with its own colours in place of those that a page may set: `var(--tw-ink,#1f2328)` is `#1f2328`. Text has no
/// quotes, so it cannot be mistaken for an attribute.
fn settled(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find("=\"var(--tw-") {
        out.push_str(&rest[..at + 2]);
        rest = &rest[at + 2..];
        let colour = rest.find(',').zip(rest.find(')')).filter(|(comma, end)| comma < end);
        let Some((comma, end)) = colour else { break };
        out.push_str(&rest[comma + 1..end]);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_settled_and_text_is_not() {
        assert_eq!(settled("<a fill=\"var(--tw-ink,#123456)\">"), "<a fill=\"#123456\">");
        let text = "<t>=&quot;var(--tw-ink,#123456)</t>";
        assert_eq!(settled(text), text);
        assert_eq!(settled("=\"var(--tw-ink"), "=\"var(--tw-ink");
    }

    #[test]
    fn what_is_no_figure_or_too_large_is_an_error() {
        assert!(matches!(png("<svg", 1.0), Err(PngError::NoFigure(_))));
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9000\" height=\"9000\"></svg>";
        assert_eq!(png(svg, 1.0), Err(PngError::TooLarge(81_000_000)));
        assert!(matches!(png(svg, f32::INFINITY), Err(PngError::TooLarge(_))));
        assert!(png(svg, 0.001).is_ok() && png(svg, f32::NAN).is_ok());
    }
}
