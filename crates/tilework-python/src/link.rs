//! `tilework.Layout.link`: the page in the browser that shows a layout.

use std::env;

use pyo3::prelude::*;
use tilework::dialect::Target;
use tilework_explain::link::{BASE, Link, link};

use crate::error::Result;
use crate::layout::PyLayout;

#[pymethods]
impl PyLayout {
    /// A link to the page in the browser that draws this layout and explains it.
    ///
    /// `base` is where the page is: by default what TILEWORK_PAGE says, or the file tilework.html. What the page shows is
    /// behind the `#`, which no browser sends anywhere.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").link("https://example.org/")
    /// 'https://example.org/#1l=f32~3,5$;1,0:T(2,2)@'
    #[pyo3(signature = (base=None), text_signature = "($self, base=None)")]
    fn link(&self, base: Option<String>) -> Result<String> {
        let base = base.or_else(|| env::var("TILEWORK_PAGE").ok().filter(|base| !base.is_empty()));
        let text = match self.views.is_empty() {
            true => self.source.to_string(),
            // Views are said by no text of their own; XLA's notation says most of what comes of them.
            false => Target::named("xla")?.say(&self.layout, self.element)?.to_string(),
        };
        let shown = Link::Layout { text, at: None, slice: Vec::new(), axes: String::new() };
        Ok(link(base.as_deref().unwrap_or(BASE), &shown)?)
    }
}
