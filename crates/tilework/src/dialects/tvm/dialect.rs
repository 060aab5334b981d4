//! TVM's layout strings among the notations.

use super::axes::Axes;
use super::read::{Array, read};
use super::say::say;
use super::{index_map, tile};
use crate::dialect::{
    Confidence, Described, Dialect, Dim, Example, Fact, Facts, Form, Found, Part, Said, sized, words,
};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Layout strings, index maps and tile layouts, behind type and sizes.
pub static DIALECT: Dialect = Dialect {
    name: "tvm",
    title: "a layout of TVM",
    recognise,
    read: |text, known| {
        let body = sized::prefix(text).map_or(text, |(_, rest)| &text[rest..]);
        Ok(vec![match () {
            _ if index_map::is_map(body) => Found::unnamed(index_map::read(text, known)?),
            _ if tile::is_tile(body) => Found::unnamed(tile::read(text, known)?),
            _ => Found::unnamed(read(text, known)?),
        }])
    },
    say: Some(plainest),
    forms: &[
        Form { name: "index-map", title: "an index map of TVM", say: index_map::say },
        Form { name: "tile-layout", title: "a tile layout of TVM", say: tile::say },
    ],
    examples: EXAMPLES,
};

const EXAMPLES: &[Example] = &[
    Example {
        text: "f32[1,32,7,7] NCHW16c",
        shows: "channels in blocks of 16",
        offsets: &[(&[0, 18, 6, 6], (7 * 7 + 6 * 7 + 6) * 16 + 2)],
        size: 1568,
    },
    Example {
        text: "f32[64,28,7,7] OIHW[4o4i]",
        shows: "factors in one dimension of the shape",
        offsets: &[(&[5, 6, 1, 2], (((7 + 1) * 7 + 1) * 7 + 2) * 16 + 4 + 2)],
        size: 64 * 28 * 49,
    },
    Example {
        text: "f32[2,3,4,5] NCHW->NHWC",
        shows: "from the order of the sizes to that of memory",
        offsets: &[(&[1, 2, 3, 4], 60 + 45 + 12 + 2), (&[0, 1, 0, 0], 1)],
        size: 120,
    },
    Example {
        text: "f16[4,6] AB->AB2a2b",
        shows: "both dimensions in blocks",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "f32[3,5] lambda i, j: (i // 2, j // 2, i % 2, j % 2)",
        shows: "an index map, which pads",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "f16[64,64] T.index_map(lambda i, j: (i // 16, j // 16, i % 16, j % 16))",
        shows: "an index map as TVM prints it",
        offsets: &[(&[17, 35], (4 + 2) * 256 + 16 + 3)],
        size: 4096,
    },
    Example {
        text: "f32[116] lambda i: (i // 4 % 8, i // 32, i % 4)",
        shows: "a map whose first result is the middle of an index",
        offsets: &[(&[115], (4 * 4 + 3) * 4 + 3)],
        size: 128,
    },
    Example {
        text: "f32[4,6] S[(2, 2, 3, 2):(12, 2, 4, 1)]",
        shows: "a tile layout",
        offsets: &[(&[2, 3], 17)],
        size: 24,
    },
    Example {
        text: "f16 T.TileLayout(T.S[(4, 8):(16, 1)] + 3)",
        shows: "rows with room behind them, and an offset",
        offsets: &[(&[0, 0], 3), (&[3, 7], 48 + 7 + 3)],
        size: 59,
    },
    Example {
        text: "f16 ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(64, 1)]))",
        shows: "a swizzle behind it",
        offsets: &[(&[1, 0], 72), (&[7, 63], 7 * 64 + 7)],
        size: 512,
    },
];

/// Upper-case letters with a factor beside them, or two layouts; a lambda or what is called on one; `S[…]`.
fn recognise(text: &str) -> Option<Confidence> {
    if index_map::is_map(text) || tile::is_tile(text) {
        return Some(Confidence::Certain);
    }
    let is_of_letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"[]-> ".contains(&byte));
    if !is_of_letters || !text.contains(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    match Axes::parse(text) {
        Ok(axes) if text.contains("->") || axes.is_unlike_others() => Some(Confidence::Certain),
        // The name of an order is no layout, which deserves a sentence. Where all axes are cut it is a tag of oneDNN.
        Ok(axes) if axes.letters.len() > 1 && axes.is_uncut() => Some(Confidence::Likely),
        Ok(_) => None,
        Err(_) => text.contains("->").then_some(Confidence::Likely),
    }
}

/// The layout as a string, or where that cannot say it, as an index map or a tile layout.
fn plainest(layout: &Layout, element: Element) -> Result<Said> {
    let why = match say(layout, element) {
        Ok(said) => return Ok(said),
        Err(why) => why,
    };
    index_map::say(layout, element).or_else(|_| tile::say(layout, element)).map_err(|_| why)
}

impl Described for Array {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let dims: Vec<Dim> = self.dims.iter().map(|&size| Dim::Static(size)).collect();
        vec![
            Part::new(
                "element type",
                self.element.name(),
                words::element(self.element, 8 * self.element.bytes()),
            ),
            words::dims(&dims),
            Part::new("layout", self.axes.to_string(), self.order()),
        ]
    }

    fn facts(&self) -> Facts {
        let digits: Vec<String> =
            self.axes.digits.iter().map(|digit| self.digit(digit.dim, digit.factor)).collect();
        Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("layout", self.axes.to_string())
            .with("major_to_minor", digits.into_iter().collect::<Fact>())
    }

    fn notes(&self, _: &Layout) -> Vec<String> {
        let letters: String = self.axes.letters.iter().collect();
        vec![format!("the sizes are those of the axes {letters}, in this order")]
    }
}

impl Array {
    /// `from major to minor: N (1), C in blocks of 16 (2), H (7), W (7), 16 of C`
    fn order(&self) -> String {
        let digits: Vec<String> =
            self.axes.digits.iter().map(|digit| self.digit(digit.dim, digit.factor)).collect();
        format!("from major to minor: {}", digits.join(", "))
    }

    fn digit(&self, dim: usize, factor: Option<u64>) -> String {
        let (letter, size) = (self.axes.letters[dim], self.dims[dim]);
        match (factor, self.axes.factor(dim)) {
            (Some(factor), _) => format!("{factor} of {letter}"),
            (None, Some(factor)) => format!("{} blocks of {letter}", size / factor),
            (None, None) => format!("{letter} ({size})"),
        }
    }
}
