//! `tilework.Layout.compare`: all that can be said of two layouts at once.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tilework::dialect::Said;
use tilework::xla::Shape;
use tilework_explain::{Comparison, Look, Sense, figure_of_two};

use crate::answer::PyVerdict;
use crate::error::Result;
use crate::layout::PyLayout;
use crate::picture::{Wanted, in_page, png};
use crate::plain;
use crate::read;

#[pymethods]
impl PyLayout {
    /// This layout and another side by side: in which senses they are the same, what moves, and a picture of it.
    ///
    /// The other may be a layout or anything that makes one; of the braces of a text alone, type and dimensions are these.
    ///
    /// >>> both = tw.Layout("f32[16,128]{1,0:T(8,128)}").compare("f32[16,128]{0,1}")
    /// >>> both.function, both.transpose
    /// (<no: element (1, 0) is at 128 and 1>, <yes>)
    fn compare(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> Result<PyComparison> {
        let other = read::layout(other, Some(slf.get()))?;
        Ok(PyComparison { layouts: [slf.clone().unbind(), other.into()] })
    }
}

/// Two layouts, A and B, compared: `print` shows what `tilework compare` says.
///
/// >>> print(tw.Layout("f32[3,5]{1,0:T(2,2)}").compare("f32[3,5]"))
/// A  f32[3,5]{1,0:T(2,2)}
/// B  f32[3,5]{1,0}
/// ...
#[pyclass(frozen, name = "Comparison", module = "tilework")]
pub struct PyComparison {
    layouts: [Py<PyLayout>; 2],
}

#[pymethods]
impl PyComparison {
    /// Layout A.
    #[getter]
    fn a(&self, py: Python<'_>) -> Py<PyLayout> {
        self.layouts[0].clone_ref(py)
    }

    /// Layout B.
    #[getter]
    fn b(&self, py: Python<'_>) -> Py<PyLayout> {
        self.layouts[1].clone_ref(py)
    }

    /// Whether every element has the same place.
    #[getter]
    fn function(&self) -> Result<PyVerdict> {
        self.verdict(Sense::Function)
    }

    /// Whether the same number of places is allocated, too.
    #[getter]
    fn buffer(&self) -> Result<PyVerdict> {
        self.verdict(Sense::Buffer)
    }

    /// Whether it is the same buffer after a reshape.
    #[getter]
    fn reshape(&self) -> Result<PyVerdict> {
        self.verdict(Sense::Reshape)
    }

    /// Whether it is the same buffer after a permutation and a reshape.
    #[getter]
    fn transpose(&self) -> Result<PyVerdict> {
        self.verdict(Sense::Transpose)
    }

    /// What `tilework compare` says, in lines of at most `width` columns.
    #[pyo3(signature = (width=None), text_signature = "($self, width=80)")]
    fn report(&self, width: Option<&Bound<'_, PyAny>>) -> Result<String> {
        let width = width.map_or(Ok(80), |width| plain::count(width, "width"))? as usize;
        self.said(|comparison| {
            let lines = comparison.explain(width, Look::default());
            lines.iter().map(|line| line.to_string()).collect::<Vec<String>>().join("\n")
        })
    }

    /// A picture as SVG: where each element is in either, what stays and what moves. The arguments are those of
    /// `Layout.svg`.
    ///
    /// >>> svg = tw.Layout("f32[2,3]").compare("{0,1}").svg()
    /// >>> "2 of 6 elements stay at their offset" in svg
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

    fn __str__(&self) -> Result<String> {
        self.report(None)
    }

    fn __repr__(&self) -> String {
        let [a, b] = [&self.layouts[0], &self.layouts[1]].map(|layout| layout.get().spelled());
        format!("<comparison of {a} and {b}>")
    }
}

impl PyComparison {
    fn verdict(&self, sense: Sense) -> Result<PyVerdict> {
        self.said(|comparison| PyVerdict::new(comparison.verdict(sense).clone()))
    }

    /// Asks the comparison. A view is said by a text of its own.
    fn said<T>(&self, ask: impl FnOnce(&Comparison) -> T) -> Result<T> {
        let said = |layout: &PyLayout| -> Result<Said> {
            match layout.views.is_empty() {
                true => Ok(layout.source.clone()),
                false => Ok(Arc::new(Shape::from(read::array_saying(layout)?))),
            }
        };
        let [a, b] = [self.layouts[0].get(), self.layouts[1].get()];
        let texts = [said(a)?, said(b)?];
        Ok(ask(&Comparison::new([&*texts[0], &*texts[1]], [&a.layout, &b.layout])))
    }

    fn figure(&self, wanted: &Wanted) -> String {
        let [a, b] = [self.layouts[0].get(), self.layouts[1].get()];
        figure_of_two([&a.layout, &b.layout], [&a.titled(), &b.titled()], &wanted.0)
    }
}
