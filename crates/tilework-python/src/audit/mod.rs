//! `tilework.audit`: what a compiler's layouts cost.

mod change;
mod instead;
mod source;
mod target;
pub mod words;

pub use change::PyAuditChange;
pub use instead::given;
pub use target::target;

use pyo3::prelude::*;
use tilework::Error;
use tilework::xla::ArrayShape;
use tilework_audit::{Audit, Findings, Refused};
use tilework_explain::{
    AuditPage, FindingsObject, Look, audit_html_part, audit_sentence, explain_audit, log_sentence,
};

use crate::error::Result;
use crate::plain;
use instead::Supposed;

/// How many of each kind are told where nobody says how many.
const TOP: usize = 5;

/// Columns of a report where nobody says how many.
pub const WIDTH: usize = 80;

/// What the layouts of compiled programs cost: as `tilework audit` says it, and as numbers.
///
/// `source` is a pathlib.Path, or anything else with `__fspath__`, of a file or of a folder that XLA dumped to; a str or bytes
/// with the text itself; an exception; or an object with `as_text()`, as `jax.jit(f).lower(x).compile()` is. A list holds
/// several of these. A str is always text, such as an out-of-memory message, and never opens a file; if it is the name of
/// one, a `LayoutError` says so.
///
/// >>> found = tw.audit("Allocation failed: s32[300000,8]{1,0:T(8,128)} and f32[300000]{0:T(1024)}")
/// >>> print(found.sentence)
/// text: s32[300000,8]{1,0:T(8,128)} takes 146.48 MiB for 9.16 MiB of data, because dimension 1 is 8, tiled to 128: 16 times.
/// >>> found.programs[0]["total"]["waste_bytes"]
/// 144000128
///
/// `print` shows the whole report, with `top` of each kind; a notebook shows pictures.
///
/// `target` names the machine whose layouts are suggested, and supposed for arrays that have no tiles, such as those of a
/// program that is only lowered; `tiles` are tiles to use instead, as a text or several. `what_if` supposes other layouts
/// from the start: see `Audit.what_if`.
///
/// `memory` is how many bytes of memory it may take, 2 GiB unless said: a dump may say anything, and what would take more is
/// a `MemoryError`.
///
/// >>> tw.audit("%0 = stablehlo.add %a, %b : tensor<2621440x1x2xbf16>", target="tenstorrent").padding_share
/// 0.998046875
#[pyfunction]
#[pyo3(
    signature = (source, *, top=None, target=None, tiles=None, what_if=None, memory=None),
    text_signature = "(source, *, top=5, target=None, tiles=None, what_if=None, memory=None)"
)]
pub fn audit(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    top: Option<&Bound<'_, PyAny>>,
    target: Option<&str>,
    tiles: Option<&Bound<'_, PyAny>>,
    what_if: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyAny>>,
) -> Result<PyAudit> {
    let top = words::count(top, "top", TOP)?;
    let memory = memory.map(|memory| plain::count(memory, "memory")).transpose()?;
    let target = self::target(target, tiles)?;
    let what_if = what_if.map(instead::given).transpose()?;
    let sources = source::sources(source)?;
    let read = py.detach(|| {
        let (mut audit, refused) = source::read(&sources, memory)?;
        if let Some(target) = target {
            audit.suppose_target(target);
        }
        PyAudit::new(audit, refused, top)?.or_nothing()
    })?;
    match what_if {
        Some(supposed) => Ok(py.detach(|| read.supposing(&supposed))?.0),
        None => Ok(read),
    }
}

/// What an audit found: `print` shows the report, and a notebook pictures.
///
/// >>> found = tw.audit("s32[300000,8]{1,0:T(8,128)}", top=1)
/// >>> print(found)
/// text: s32[300000,8]{1,0:T(8,128)} takes 146.48 MiB for 9.16 MiB of data, because
/// dimension 1 is 8, tiled to 128: 16 times.
/// ...
#[pyclass(frozen, name = "Audit", module = "tilework")]
pub struct PyAudit {
    audit: Audit,
    /// All of it.
    findings: Findings,
    refused: Vec<Refused>,
    top: usize,
}

impl PyAudit {
    fn new(audit: Audit, refused: Vec<Refused>, top: usize) -> Result<PyAudit> {
        let findings = audit.findings(usize::MAX);
        match findings.cut {
            true => Err(source::lack(&audit, "what was read")),
            false => Ok(PyAudit { findings, audit, refused, top }),
        }
    }

    /// An error if nothing was found.
    fn or_nothing(self) -> Result<PyAudit> {
        if !self.findings.programs.is_empty() || !self.findings.logs.is_empty() {
            return Ok(self);
        }
        let error = Error::new("nothing that was read says how arrays lie in memory").field("source");
        let error = match self.findings.unread.first() {
            Some(unread) => error.rule(format!("{}: {}", unread.file, unread.reason)),
            None => error,
        };
        let error = error.accepts(
            "a pathlib.Path of a folder that XLA dumped to or of one of its files, an out-of-memory message, a log of oneDNN, TensorRT, PyTorch or Triton, a compiled \
             program, or any text with shapes",
        );
        Err(error.into())
    }

    /// The same with other layouts, and the arrays that have them.
    fn supposing(&self, supposed: &[Supposed]) -> Result<(PyAudit, Vec<ArrayShape>)> {
        // What was read is held once more.
        if self.audit.memory_held() > self.audit.memory() / 2 {
            return Err(source::lack(&self.audit, "what_if"));
        }
        let mut audit = self.audit.clone();
        let instead = instead::suppose(&mut audit, &self.findings, supposed)?;
        Ok((PyAudit::new(audit, self.refused.clone(), self.top)?, instead))
    }

    fn text(&self, width: usize, top: usize) -> String {
        let mut text = words::joined(&explain_audit(&self.findings, top, width, Look::default()));
        if !self.refused.is_empty() {
            text.push_str(&words::joined(&words::refused(&self.refused, width)));
        }
        text
    }
}

#[pymethods]
impl PyAudit {
    /// What the dearest log or, without logs, the largest program comes to, in one or two sentences.
    ///
    /// >>> tw.audit("f32[16,128]{1,0:T(8,128)}").sentence
    /// 'text: the one shape in it has no padding.'
    #[getter]
    fn sentence(&self) -> String {
        let first = self.findings.logs.first().map(log_sentence);
        first
            .or_else(|| self.findings.programs.first().map(audit_sentence))
            .unwrap_or_default()
            .replace('\u{a0}', " ")
    }

    /// The programs, the largest first: dicts with the fields of `tilework audit --json`, which
    /// docs/json.md of the project lists, and complete lists.
    ///
    /// >>> program = tw.audit("s32[300000,8]{1,0:T(8,128)}").programs[0]
    /// >>> program["padding_share"], program["shapes"][0]["smallest"]["shape"]
    /// (0.9375, 's32[300000,8]{0,1:T(8,128)}')
    #[getter]
    fn programs<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        words::object(py, &FindingsObject::new(&self.findings).programs)
    }

    /// Logs of other compilers and libraries, the one with the dearest moves first: dicts as in `tilework audit --json`.
    ///
    /// >>> line = "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 "
    /// >>> line += "dst:f32::blocked:aBcd8b::f0,,,1x17x2x2,0.25"
    /// >>> log = tw.audit(line).logs[0]
    /// >>> log["moved"]["nanoseconds"], log["moved"]["data_bytes"], log["moved"]["waste_bytes"]
    /// (250000, 272, 112)
    #[getter]
    fn logs<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        words::object(py, &FindingsObject::new(&self.findings).logs)
    }

    /// Padding as a share of what is allocated, 0 to 1, of the program where it is largest: at the peak of memory if it is
    /// known, else of all buffers.
    ///
    /// >>> tw.audit("s32[300000,8]{1,0:T(8,128)}").padding_share
    /// 0.9375
    #[getter]
    fn padding_share(&self) -> f64 {
        self.findings.programs.iter().map(|program| program.main().share()).fold(0.0, f64::max)
    }

    /// What could not be read: dicts with the `file`, the `reason`, the `count` of lines, and the numbers of the first
    /// `lines` or `bytes`. A file of a folder that could not be opened has no lines.
    ///
    /// >>> tw.audit("s32[300000,8]{1,0:T(8,128)}").unread
    /// []
    #[getter]
    fn unread<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        Ok(self.to_dict(py, None)?.get_item("unread")?)
    }

    /// The report as a text, with `top` of each kind, and no line longer than `width`, which is 20 at least.
    ///
    /// >>> print(tw.audit("s32[300000,8]{1,0:T(8,128)}").report(width=60, top=0))
    /// text: s32[300000,8]{1,0:T(8,128)} takes 146.48 MiB for 9.16
    /// MiB of data, because dimension 1 is 8, tiled to 128: 16
    /// times.
    #[pyo3(signature = (width=None, top=None), text_signature = "($self, width=80, top=None)")]
    fn report(&self, width: Option<&Bound<'_, PyAny>>, top: Option<&Bound<'_, PyAny>>) -> Result<String> {
        Ok(self.text(words::count(width, "width", WIDTH)?, words::count(top, "top", self.top)?))
    }

    /// Everything as plain values, with the fields of `tilework audit --json`; `top` is how long each list may be, and None
    /// keeps all.
    ///
    /// >>> sorted(tw.audit("s32[300000,8]{1,0:T(8,128)}").to_dict())
    /// ['assumed', 'logs', 'programs', 'unread']
    #[pyo3(signature = (top=None))]
    fn to_dict<'py>(&self, py: Python<'py>, top: Option<&Bound<'_, PyAny>>) -> Result<Bound<'py, PyAny>> {
        let told = match top {
            None => words::object(py, &FindingsObject::new(&self.findings))?,
            Some(_) => {
                let top = words::count(top, "top", TOP)?;
                let findings = py.detach(|| self.audit.findings(top));
                words::object(py, &FindingsObject::new(&findings))?
            }
        };
        let unread = told.get_item("unread")?;
        for refused in &self.refused {
            unread.call_method1("append", (words::refused_object(py, refused)?,))?;
        }
        Ok(told)
    }

    /// What a change did: this audit is from before it, and the other from after it.
    ///
    /// >>> before, after = tw.audit("s32[300000,8]{1,0:T(8,128)}"), tw.audit("s32[300000,8]{0,1:T(8,128)}")
    /// >>> print(before.compare(after))
    /// text: memory of all buffers falls from 146.48 MiB to 9.16 MiB; padding 94 % →
    /// under 1 %.
    /// ...
    #[pyo3(signature = (other, /))]
    fn compare(slf: Bound<'_, Self>, other: Bound<'_, Self>) -> PyAuditChange {
        PyAuditChange::new(slf.unbind(), other.unbind(), Vec::new())
    }

    /// What would be if arrays lay otherwise: a layout alone is for the worst array of its rank, and one behind a shape for
    /// all arrays of this shape. One or a list of them.
    ///
    /// These are footprints only: the compiler may need the order that it chose, and copy to get it.
    ///
    /// >>> supposed = tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}")
    /// >>> supposed.after.programs[0]["total"]["allocated_bytes"]
    /// 9601024
    #[pyo3(signature = (layouts, /))]
    fn what_if(slf: Bound<'_, Self>, layouts: &Bound<'_, PyAny>) -> Result<PyAuditChange> {
        let (py, supposed) = (slf.py(), instead::given(layouts)?);
        let before = slf.get();
        let (after, instead) = py.detach(|| before.supposing(&supposed))?;
        Ok(PyAuditChange::new(slf.unbind(), Py::new(py, after)?, instead))
    }

    fn __str__(&self) -> String {
        self.text(WIDTH, self.top)
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.sentence())
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        py.detach(|| audit_html_part(&self.findings, &AuditPage { top: self.top, ..AuditPage::default() }))
    }
}
