//! Pictures: layouts, plans and shapes as SVG and PNG, in files and in notebooks.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tilework::Error;
use tilework::dialect::Described;
use tilework_explain::{FigureOptions, FigureView, Theme, figure, figure_of_layout, figure_of_plan};

use crate::error::Result;
use crate::layout::PyLayout;
use crate::plain;
use crate::plan::PyPlan;
use crate::xla::PyShape;

/// The views by their names.
const VIEWS: [(&str, FigureView); 5] = [
    ("array", FigureView::Array),
    ("memory", FigureView::Memory),
    ("bits", FigureView::Bits),
    ("banks", FigureView::Banks),
    ("registers", FigureView::Registers),
];

/// How a picture is wanted, as the arguments say.
pub struct Wanted(pub FigureOptions);

impl Wanted {
    pub fn new(
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
    ) -> Result<Wanted> {
        let mut options = FigureOptions::default();
        if let Some(width) = width {
            options.width = plain::narrow(width, "width")?;
        }
        options.theme = match theme {
            "auto" => Theme::Auto,
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => return Err(plain::unknown(theme, "theme", &["auto", "light", "dark"]).into()),
        };
        for word in views.map(plain::words).transpose()?.unwrap_or_default() {
            let view = VIEWS.iter().find(|(name, _)| *name == word).map(|&(_, view)| view);
            let known = VIEWS.map(|(name, _)| name);
            options.views.push(view.ok_or_else(|| plain::unknown(&word, "views", &known))?);
        }
        if let Some(slice) = slice {
            let at = |item: &Bound<'_, PyAny>| match item.is_none() {
                true => Ok(None),
                false => plain::count(item, "slice").map(Some),
            };
            options.slice = plain::items(slice)?.iter().map(at).collect::<Result<_>>()?;
        }
        Ok(Wanted(options))
    }

    /// As notebooks show them: light, or dark where the notebook says that it is, and on a paper of their own.
    pub fn in_notebook() -> Wanted {
        Wanted(FigureOptions::default())
    }
}

/// A picture as PNG.
pub fn png<'py>(py: Python<'py>, svg: &str, scale: f32) -> Result<Bound<'py, PyBytes>> {
    if !(0.1..=16.0).contains(&scale) {
        return Err(Error::new(scale.to_string()).field("scale").accepts("0.1 to 16").into());
    }
    let drawn = py.detach(|| tilework_picture::png(svg, scale));
    let drawn = drawn.map_err(|error| Error::new(error.to_string()).accepts("a smaller scale or width"))?;
    Ok(PyBytes::new(py, &drawn))
}

/// A picture within a page of HTML.
pub fn in_page(svg: &str) -> String {
    format!("<div style=\"overflow-x:auto\">{svg}</div>")
}

#[pymethods]
impl PyLayout {
    /// A picture of the layout as SVG: the array with the offset of each element, and the memory with the element at each
    /// place, in the colours of the same tiles.
    ///
    /// It is `width` pixels wide, and as long as it needs; what does not fit is left out and marked. `theme` is 'light',
    /// 'dark' or 'auto', which is as one prefers. `views` are some of 'array', 'memory', 'bits', 'banks' and 'registers';
    /// without, those that suit the layout. Of more than two dimensions, `slice` has an index for each, and None for the one
    /// or two that are shown.
    ///
    /// >>> svg = tw.Layout("f32[3,5]{1,0:T(2,2)}").svg(width=640)
    /// >>> svg.startswith("<svg "), 'data-o="17" data-i="2,3"' in svg
    /// (True, True)
    #[pyo3(
        signature = (*, width=None, theme="auto", views=None, slice=None),
        text_signature = "($self, *, width=800, theme='auto', views=None, slice=None)"
    )]
    fn svg(
        &self,
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
    ) -> Result<String> {
        Ok(self.figure(Wanted::new(width, theme, views, slice)?))
    }

    /// The same as PNG, `scale` times as large. Text is drawn with a font of Tilework's own: it is the same everywhere.
    ///
    /// >>> tw.Layout("f32[3,5]{1,0:T(2,2)}").png(width=400)[:4]
    /// b'\x89PNG'
    #[pyo3(
        signature = (*, width=None, theme="light", views=None, slice=None, scale=2.0),
        text_signature = "($self, *, width=800, theme='light', views=None, slice=None, scale=2.0)"
    )]
    fn png<'py>(
        &self,
        py: Python<'py>,
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
        scale: f32,
    ) -> Result<Bound<'py, PyBytes>> {
        png(py, &self.figure(Wanted::new(width, theme, views, slice)?), scale)
    }

    fn _repr_svg_(&self) -> String {
        self.figure(Wanted::in_notebook())
    }
}

impl PyLayout {
    /// The text that a picture has for a title.
    pub fn titled(&self) -> String {
        if self.views.is_empty() { self.source.to_string() } else { self.spelled() }
    }

    /// The names of the dimensions; none where nobody gave any.
    pub fn picture_names(&self) -> Vec<String> {
        self.names.as_ref().map_or_else(Vec::new, |names| names.names().to_vec())
    }

    pub fn figure(&self, Wanted(mut options): Wanted) -> String {
        if options.title.is_empty() {
            options.title = self.titled();
        }
        options.names = self.picture_names();
        figure_of_layout(&self.layout, &options)
    }
}

#[pymethods]
impl PyPlan {
    /// A picture of the plan as SVG: both arrays and both memories, in the colours of the nests that move the elements. The
    /// arguments are those of `Layout.svg`.
    ///
    /// >>> svg = tw.Plan("f32[3,5]{1,0:T(2,2)}", "f32[3,5]").svg(theme="dark")
    /// >>> "15 elements move in 4 nests of loops" in svg
    /// True
    #[pyo3(
        signature = (*, width=None, theme="auto", views=None, slice=None),
        text_signature = "($self, *, width=800, theme='auto', views=None, slice=None)"
    )]
    fn svg(
        &self,
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
    ) -> Result<String> {
        Ok(self.figure(&Wanted::new(width, theme, views, slice)?))
    }

    /// The same as PNG, `scale` times as large.
    #[pyo3(
        signature = (*, width=None, theme="light", views=None, slice=None, scale=2.0),
        text_signature = "($self, *, width=800, theme='light', views=None, slice=None, scale=2.0)"
    )]
    fn png<'py>(
        &self,
        py: Python<'py>,
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
        scale: f32,
    ) -> Result<Bound<'py, PyBytes>> {
        png(py, &self.figure(&Wanted::new(width, theme, views, slice)?), scale)
    }

    fn _repr_svg_(&self) -> String {
        self.figure(&Wanted::in_notebook())
    }

    fn _repr_html_(&self) -> String {
        in_page(&self.figure(&Wanted::in_notebook()))
    }
}

impl PyPlan {
    fn figure(&self, wanted: &Wanted) -> String {
        let [from, to] = self.layouts().map(PyLayout::titled);
        figure_of_plan(self.plan(), [&from, &to], &wanted.0)
    }
}

#[pymethods]
impl PyShape {
    /// A picture of the array as SVG: that of its layout, with the arguments of `Layout.svg`.
    ///
    /// >>> from tilework import xla
    /// >>> xla.Shape("f32[3,5]{1,0:T(2,2)}").svg()[:4]
    /// '<svg'
    #[pyo3(
        signature = (*, width=None, theme="auto", views=None, slice=None),
        text_signature = "($self, *, width=800, theme='auto', views=None, slice=None)"
    )]
    fn svg(
        &self,
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
    ) -> Result<String> {
        Ok(figure(&self.shape, &Wanted::new(width, theme, views, slice)?.0)?)
    }

    /// The same as PNG, `scale` times as large.
    #[pyo3(
        signature = (*, width=None, theme="light", views=None, slice=None, scale=2.0),
        text_signature = "($self, *, width=800, theme='light', views=None, slice=None, scale=2.0)"
    )]
    fn png<'py>(
        &self,
        py: Python<'py>,
        width: Option<&Bound<'_, PyAny>>,
        theme: &str,
        views: Option<&Bound<'_, PyAny>>,
        slice: Option<&Bound<'_, PyAny>>,
        scale: f32,
    ) -> Result<Bound<'py, PyBytes>> {
        png(py, &figure(&self.shape, &Wanted::new(width, theme, views, slice)?.0)?, scale)
    }

    /// None, which a notebook passes over, of what has no layout.
    fn _repr_svg_(&self) -> Option<String> {
        self.shape.layout().is_ok().then(|| figure(&self.shape, &Wanted::in_notebook().0).ok())?
    }

    fn _repr_html_(&self) -> Option<String> {
        self._repr_svg_().map(|svg| in_page(&svg))
    }
}
