//! Layouts explained: as the text of `tilework show`, and as a table and a picture for notebooks.

use pyo3::prelude::*;
use tilework::dialect::with_axes;
use tilework_explain::size::{self, Sizes};
use tilework_explain::{
    FigureOptions, FigureView, Function, Line, Look, Style, explain, explain_layout, figure_of_layout,
};

use crate::error::Result;
use crate::layout::PyLayout;
use crate::picture::Wanted;
use crate::plain;

/// What the table of a notebook lists at most of the causes of padding.
const CAUSES: usize = 12;

#[pymethods]
impl PyLayout {
    /// The layout explained in words, numbers and pictures: what `tilework show` prints.
    ///
    /// No line is longer than `width`, which is 20 at least.
    ///
    /// >>> print(tw.Layout("f32[3,5]{1,0:T(2,2)}").explain())
    /// f32[3,5]{1,0:T(2,2)}
    /// <BLANKLINE>
    ///   f32        32-bit floating point, 4 B each
    ///   [3,5]      dimension 0 (i) is 3, 1 (j) is 5
    ///   {1,0}      row-major: dimension 1 (j) is the most minor, then 0 (i)
    ///   T(2,2)     tile 1 cuts dimension 0 (3) into 2 tiles of 2, padded to 4;
    ///              dimension 1 (5) into 3 tiles of 2, padded to 6
    /// <BLANKLINE>
    ///   elements   15   60 B
    ///   allocated  24   96 B, 1.60 × the elements
    ///   padding     9   36 B
    ///                   dimension 0 is 3, tiled to 4: 1.33 times
    ///                   dimension 1 is 5, tiled to 6: 1.20 times
    /// ...
    #[pyo3(signature = (width=None), text_signature = "($self, width=80)")]
    fn explain(&self, width: Option<&Bound<'_, PyAny>>) -> Result<String> {
        let width = width.map_or(Ok(80), |width| plain::count(width, "width"))? as usize;
        let look = Look::default();
        let lines = match self.views.is_empty() {
            true => match &self.names {
                Some(names) => explain(&*with_axes(self.source.clone(), names.clone())?, width, look)?,
                None => explain(&*self.source, width, look)?,
            },
            false => {
                let mut lines = vec![Line::new().with(self.spelled(), Style::Strong), Line::new()];
                lines.extend(explain_layout(&self.layout, width, look));
                lines
            }
        };
        let text: Vec<String> = lines.iter().map(|line| line.render(look)).collect();
        Ok(text.join("\n"))
    }

    fn _repr_html_(&self) -> String {
        let mut page = String::from("<div style=\"overflow-x:auto\">");
        page.push_str(&format!("<code><b>{}</b></code>", escaped(&self.spelled())));
        page.push_str("<table style=\"margin:0.5em 0\">");
        for (name, value) in self.facts() {
            let cell = "style=\"text-align:left;vertical-align:top\"";
            page.push_str(&format!("<tr><th {cell}>{name}</th><td {cell}>{value}</td></tr>"));
        }
        page.push_str("</table>");
        if self.layout.size() == 0 {
            return page + "</div>";
        }
        // The table says the text and the sizes, so the picture need not, and is kept short.
        let more = if self.layout.swizzle().is_some() { FigureView::Banks } else { FigureView::Bits };
        let options = FigureOptions {
            caption: vec![String::new()],
            names: self.picture_names(),
            views: vec![FigureView::Array, FigureView::Memory, more],
            ..Wanted::in_notebook().0
        };
        page.push_str(&figure_of_layout(&self.layout, &options));
        page.push_str("</div>");
        page
    }
}

impl PyLayout {
    /// What the table says, in HTML.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let layout = &self.layout;
        let sizes = Sizes::new(layout);
        let amount = |places: u64, bytes: u128| format!("{places} ({})", size::bytes(bytes));
        let mut facts = vec![("elements", amount(layout.len(), layout.element_bytes()))];
        let mut allocated = amount(layout.size(), layout.bytes().into());
        if !layout.is_empty() && layout.size() != layout.len() {
            let times = size::times(layout.len().into(), layout.size().into());
            allocated.push_str(&format!(", {times} × the elements"));
        }
        facts.push(("allocated", allocated));
        match (sizes.padding, sizes.waste_bytes) {
            (Some(0), _) => {}
            (Some(padding), Some(waste)) => {
                let mut lines = vec![amount(padding, waste)];
                lines.extend(sizes.growths.iter().take(CAUSES).map(size::cause));
                if sizes.growths.len() > CAUSES {
                    lines.push("…".to_owned());
                }
                let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
                facts.push(("padding", lines.join("<br>")));
            }
            _ => facts.push(("padding", "not decided: the strides overlap".to_owned())),
        }
        if let Some(formula) = Function::new(layout).formula.filter(|_| !layout.is_empty()) {
            facts.push(("formula", format!("<code>{}</code>", escaped(&formula))));
        }
        facts
    }
}

/// A text in HTML, with its lines as they are.
pub fn preformatted(text: &str) -> String {
    format!("<pre style=\"font-family:ui-monospace,monospace\">{}</pre>", escaped(text))
}

/// Text as HTML takes it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
