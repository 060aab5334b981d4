//! What an index map says, in pieces.

use super::super::DIALECT;
use super::Mapped;
use crate::dialect::{Described, Dialect, Dim, Fact, Facts, Part, words};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

impl Described for Mapped {
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
        let meaning = words::element(self.element, 8 * self.element.bytes());
        let shape: Vec<String> = self.shape.iter().take(words::MOST).map(u64::to_string).collect();
        let more = if self.shape.len() > words::MOST { " × …" } else { "" };
        let mut parts = vec![
            Part::new("element type", self.element.name(), meaning),
            words::dims(&dims),
            Part::new(
                "index map",
                self.map.lambda(),
                format!("the index into a row-major array of {}{more}", shape.join(" × ")),
            ),
        ];
        if let Some(inverse) = &self.map.inverse {
            let text = format!("inverse_index_map={}", inverse.lambda());
            parts.push(Part::new("inverse", text, "the way back, which TVM takes without checking it"));
        }
        parts
    }

    fn facts(&self) -> Facts {
        Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("index_map", self.map.lambda())
            .with("mapped_dimensions", self.shape.iter().copied().collect::<Fact>())
            .with("inverse_index_map", self.map.inverse.as_ref().map(|inverse| inverse.lambda()))
    }

    fn notes(&self, layout: &Layout) -> Vec<String> {
        match layout.padding() {
            Some(0) | None => Vec::new(),
            Some(_) => {
                vec!["transform_layout pads only where its pad_value says what the padding holds".to_owned()]
            }
        }
    }
}
