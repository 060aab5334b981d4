//! `tilework.relayout`, and `tilework.Plan` for those who move the same data again and again.

use std::num::NonZeroUsize;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilework::Kind;

use crate::convert::Convert;
use crate::error::{Bad, Result};
use crate::fill::{Fill, Said};
use crate::flat::{self, Flat};
use crate::kept;
use crate::layout::PyLayout;
use crate::movement::{Call, flat_view, key, refuse_copy, refuse_out};
use crate::prepared::Prepared;

/// A flat buffer that lies as `from_` says as a flat buffer that lies as `to` says.
///
/// The buffer holds all places of `from_`, as elements or as bytes; braces alone for `to` take dimensions and type from `from_`.
/// The result is new memory unless `copy` asks for a view: None gives one where nothing need move, False refuses to copy. The
/// other arguments are those of `pack`.
///
/// >>> import numpy as np, tilework as tw
/// >>> tw.relayout(np.arange(6, dtype="i4"), "s32[2,3]", "{0,1}")
/// array([0, 3, 1, 4, 2, 5], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (buffer, from_, to, *, out=None, fill=Said::Nothing, threads=None, convert=Convert(false), copy=Some(true)),
    text_signature = "(buffer, from_, to, *, out=None, fill=0, threads=None, convert=False, copy=True)"
)]
#[allow(clippy::too_many_arguments)] // the arguments of Python's function
pub fn relayout<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    from_: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    fill: Said<'py>,
    threads: Option<&Bound<'py, PyAny>>,
    convert: Convert,
    copy: Option<bool>,
) -> Result<Bound<'py, PyAny>> {
    let convert = convert.0;
    let threads = flat::threads(threads)?;
    let from = kept::layout(from_, None)?;
    let from = from.get();
    let to = kept::layout(to, Some((from.element, from.layout.dims())))?;
    let to = to.get();
    let fill = fill.of(to)?;
    let key = key(Call::Relayout, &[from.id, to.id], fill, convert, (&[], &[]));
    let make = || Ok(Prepared::new(from.side(), to.side(), fill.bits(to), convert)?);
    let prepared = Prepared::kept(&key, make)?;
    if out.is_some() {
        refuse_out(copy)?;
    }
    let is_same = prepared.is_same && (prepared.no_padding || fill.bits(to).is_none());
    let view = |buffer: &Flat<'py>| match copy != Some(true) {
        true if is_same && !buffer.is_copy && !to.dtypes(py)?.is_packed => {
            flat_view(&buffer.look, to).map(Some)
        }
        _ => refuse_copy(copy, "a buffer that does not lie as the destination says").map(|()| None),
    };
    run(py, &prepared, buffer, (from, to), out, threads, view)
}

/// Runs a move between buffers, where `view` gives none.
fn run<'py>(
    py: Python<'py>,
    prepared: &Prepared,
    buffer: &Bound<'py, PyAny>,
    (from, to): (&PyLayout, &PyLayout),
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<NonZeroUsize>,
    view: impl FnOnce(&Flat<'py>) -> Result<Option<Bound<'py, PyAny>>>,
) -> Result<Bound<'py, PyAny>> {
    let buffer = flat::array(buffer)?;
    let given = out.map(|out| Ok::<_, Bad>((out, flat::writable(out)?))).transpose()?;
    let buffer = flat::source(buffer, from)?;
    if let Some((given, array)) = given {
        prepared.run(py, &buffer.look, &flat::destination(array, to)?.look, threads)?;
        return Ok(given.clone());
    }
    if let Some(view) = view(&buffer)? {
        return Ok(view);
    }
    let made = flat::fresh(py, to, !prepared.writes_all)?;
    prepared.run(py, &buffer.look, &made.look, threads)?;
    Ok(made.look.array.into_any())
}

/// How the elements move from one layout to another, made once and run as often as there is data, by any thread.
///
/// `fill` is what padding holds, as in `pack`; without it, padding is left as it is. `convert` makes elements of another type.
///
/// >>> import tilework as tw
/// >>> plan = tw.Plan("f32[3,5]{1,0:T(2,2)}", "f32[3,5]")
/// >>> plan.elements, plan.nests, plan.kind
/// (15, 4, 'rows')
#[pyclass(frozen, name = "Plan", module = "tilework")]
pub struct PyPlan {
    from: Py<PyLayout>,
    to: Py<PyLayout>,
    fill: Fill,
    convert: bool,
    prepared: Prepared,
}

impl PyPlan {
    fn new(
        from: Bound<'_, PyLayout>,
        to: &Bound<'_, PyAny>,
        fill: &Said<'_>,
        convert: bool,
    ) -> Result<PyPlan> {
        let source = from.get();
        let to = kept::layout(to, Some((source.element, source.layout.dims())))?;
        let destination = to.get();
        let fill = match fill.of(destination)? {
            Fill::Unsaid => Fill::Leave,
            said => said,
        };
        let prepared = Prepared::new(source.side(), destination.side(), fill.bits(destination), convert)?;
        Ok(PyPlan { from: from.unbind(), to: to.unbind(), fill, convert, prepared })
    }

    /// The fill as an argument that gives the same plan.
    fn fill_text(&self) -> Option<String> {
        self.fill.bits(self.to.get()).map(|bits| format!("{bits:#x}"))
    }

    /// The loops.
    pub fn plan(&self) -> &tilework::Plan {
        self.prepared.relayout.plan()
    }

    /// Where elements are read from and written to.
    pub fn layouts(&self) -> [&PyLayout; 2] {
        [self.from.get(), self.to.get()]
    }

    fn figures(&self) -> tilework::Figures {
        self.prepared.relayout.plan().figures()
    }
}

#[pymethods]
impl PyPlan {
    #[new]
    #[pyo3(
        signature = (from_, to, *, fill=Said::Nothing, convert=Convert(false)),
        text_signature = "(from_, to, *, fill=None, convert=False)"
    )]
    fn __new__(
        from_: &Bound<'_, PyAny>,
        to: &Bound<'_, PyAny>,
        fill: Said<'_>,
        convert: Convert,
    ) -> Result<PyPlan> {
        PyPlan::new(kept::layout(from_, None)?, to, &fill, convert.0)
    }

    /// Moves a flat buffer into a new one or into `out`, which is returned. Padding that is not filled is left as it is
    /// in `out`, and 0 in a new buffer.
    #[pyo3(signature = (buffer, out=None, threads=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        buffer: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let threads = flat::threads(threads)?;
        run(py, &self.prepared, buffer, (self.from.get(), self.to.get()), out, threads, |_| Ok(None))
    }

    /// The layout of the source.
    #[getter(from_layout)]
    fn source(&self, py: Python<'_>) -> Py<PyLayout> {
        self.from.clone_ref(py)
    }

    /// The layout of the destination.
    #[getter(to_layout)]
    fn destination(&self, py: Python<'_>) -> Py<PyLayout> {
        self.to.clone_ref(py)
    }

    /// The bits of the element that padding is filled with, in hexadecimal; None if it is left as it is.
    #[getter]
    fn fill(&self) -> Option<String> {
        self.fill_text()
    }

    /// Whether elements become others on the way.
    #[getter]
    fn convert(&self) -> bool {
        self.convert
    }

    /// The elements that are moved.
    #[getter]
    fn elements(&self) -> u64 {
        self.figures().elements
    }

    /// The bytes that are read; an element that is broadcast counts each time.
    #[getter]
    fn bytes_read(&self) -> u128 {
        self.figures().bytes_read
    }

    /// The bytes that are written, padding included.
    #[getter]
    fn bytes_written(&self) -> u128 {
        self.figures().bytes_written
    }

    /// The places of padding that are filled.
    #[getter]
    fn filled(&self) -> u64 {
        self.figures().filled
    }

    /// The nests of loops that move elements.
    #[getter]
    fn nests(&self) -> usize {
        self.figures().nests
    }

    /// The runs of elements that are neighbours on both sides: what has to be sent if only contiguous pieces can be.
    #[getter]
    fn runs(&self) -> u64 {
        self.figures().runs
    }

    /// The longest run of elements that are neighbours on both sides.
    #[getter]
    fn longest_run(&self) -> u64 {
        self.figures().longest_run
    }

    /// The kind of the nest that moves the most elements, such as 'rows' or 'transpose'; None if nothing moves.
    #[getter]
    fn kind(&self) -> Option<String> {
        self.prepared.relayout.plan().main_kind().map(|kind: Kind| kind.to_string())
    }

    fn __str__(&self) -> String {
        self.prepared.relayout.plan().to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (from, to) = (self.from.bind(py).repr()?, self.to.bind(py).repr()?);
        let fill = self.fill_text().map(|fill| format!(", fill='{fill}'")).unwrap_or_default();
        let convert = if self.convert { ", convert=True" } else { "" };
        Ok(format!("tilework.Plan({from}, {to}{fill}{convert})"))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let restore = py.import("tilework._pickle")?.getattr("plan")?;
        let arguments = (self.from.clone_ref(py), self.to.clone_ref(py), self.fill_text(), self.convert);
        (restore, arguments).into_pyobject(py)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }
}

#[pymethods]
impl PyLayout {
    /// How the elements move from this layout to another, as `tilework.Plan`.
    ///
    /// >>> plan = tw.Layout("f32[3,5]{1,0:T(2,2)}").plan("{1,0}")
    /// >>> plan.bytes_read, plan.bytes_written
    /// (60, 60)
    #[pyo3(
        signature = (to, *, fill=Said::Nothing, convert=Convert(false)),
        text_signature = "($self, to, *, fill=None, convert=False)"
    )]
    fn plan(slf: Bound<'_, Self>, to: &Bound<'_, PyAny>, fill: Said<'_>, convert: Convert) -> Result<PyPlan> {
        PyPlan::new(slf, to, &fill, convert.0)
    }
}
