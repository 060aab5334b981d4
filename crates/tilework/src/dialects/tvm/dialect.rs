//! TVM's layout strings among the notations.

use super::axes::Axes;
use super::read::{Array, read};
use super::say::say;
use crate::dialect::{Confidence, Described, Dialect, Dim, Example, Fact, Facts, Found, Part, words};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

/// Layout strings, behind type and sizes.
pub static DIALECT: Dialect = Dialect {
    name: "tvm",
    title: "a layout of TVM",
    recognise,
    read: |text, known| read(text, known).map(|array| vec![Found::unnamed(array)]),
    say: Some(say),
    forms: &[],
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
];

/// Upper-case letters with a factor beside them, or two layouts.
fn recognise(text: &str) -> Option<Confidence> {
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
