//! What recipes and views say, part by part.

use super::{Recipe, Step, View, list, plain};
use crate::dialect::{Described, Dialect, Fact, Facts, Part, words};
use crate::element::Element;
use crate::error::Result;
use crate::layout::Layout;

impl Described for Recipe {
    fn dialect(&self) -> &'static Dialect {
        &super::super::DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let library = self.style.library();
        let mut parts = super::super::words::parts(&plain(library, self.element, &self.dims));
        for step in &self.steps {
            let text = self.step(String::new(), step).replace("(, ", "(");
            let name = step.name();
            parts.push(Part::new(name, text.trim_start_matches('.'), step.meaning()));
        }
        parts
    }

    fn facts(&self) -> Facts {
        Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("library", self.style.name())
            .with("steps", self.steps.iter().map(Step::name).collect::<Fact>())
            .with("code", self.code())
    }
}

impl super::Style {
    fn name(self) -> &'static str {
        match self {
            super::Style::Numpy => "numpy",
            super::Style::Torch => "torch",
            super::Style::Einops => "einops",
        }
    }
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Pad(_) => "pad",
            Step::Reshape(_) => "reshape",
            Step::Transpose(_) => "transpose",
            Step::Rearrange(_) => "rearrange",
            Step::Ravel => "ravel",
            Step::Take(_) | Step::Crop(_) => "take",
        }
    }

    fn meaning(&self) -> String {
        match self {
            Step::Pad(pairs) => {
                let places = |count: u64| format!("{count} {}", if count == 1 { "place" } else { "places" });
                let mut each: Vec<String> = Vec::new();
                for (axis, &(before, behind)) in pairs.iter().enumerate() {
                    let said: Vec<String> = [(before, "before"), (behind, "behind")]
                        .into_iter()
                        .filter(|(count, _)| *count > 0)
                        .map(|(count, side)| format!("{} {side}", places(count)))
                        .collect();
                    if !said.is_empty() {
                        each.push(format!("{} axis {axis}", said.join(" and ")));
                    }
                }
                if each.is_empty() { "nothing is added".to_owned() } else { each.join(", ") }
            }
            Step::Reshape(sizes) => {
                format!("axes of {}, for the elements in row-major order", list(sizes).replace(", ", " × "))
            }
            Step::Transpose(order) => format!("axes in the order {}, the most major first", list(order)),
            Step::Rearrange(pattern) => {
                let axis = |axis: &super::pattern::Named| format!("{} is {}", axis.name, axis.size);
                let axes: Vec<String> = pattern.axes.iter().take(words::MOST).map(axis).collect();
                let more = if pattern.axes.len() > words::MOST { ", …" } else { "" };
                match axes.is_empty() {
                    true => "a scalar".to_owned(),
                    false => format!("axes in the order on the right; {}{more}", axes.join(", ")),
                }
            }
            Step::Ravel => "the elements in row-major order: the buffer".to_owned(),
            Step::Take(1) => "the first place alone".to_owned(),
            Step::Take(places) => format!("the first {places} places"),
            Step::Crop(1) => "the first place of the last axis".to_owned(),
            Step::Crop(places) => format!("the first {places} places of the last axis"),
        }
    }
}

impl Described for View {
    fn dialect(&self) -> &'static Dialect {
        &super::super::DIALECT
    }

    fn element(&self) -> Option<Element> {
        Some(self.element)
    }

    fn layout(&self) -> Result<Layout> {
        self.lower()
    }

    fn parts(&self, _: Option<&Layout>) -> Vec<Part> {
        let mut parts = super::super::words::parts(&plain(self.library, self.element, &self.dims));
        parts.push(Part::new("strides", format!("({})", list(&self.strides)), words::steps(&self.strides)));
        if self.first > 0 {
            let meaning = format!("element (0, …, 0) is at place {} of the buffer", self.first);
            parts.push(Part::new("offset", self.first.to_string(), meaning));
        }
        parts
    }

    fn facts(&self) -> Facts {
        Facts::about("array")
            .with("element_type", self.element.name())
            .with("dimensions", self.dims.iter().copied().collect::<Fact>())
            .with("library", self.library.title().to_lowercase())
            .with("strides", self.strides.iter().copied().collect::<Fact>())
            .with("offset", self.first)
            .with("code", self.code())
    }
}
