//! Two audits side by side.

use pyo3::prelude::*;
use tilework::xla::ArrayShape;
use tilework_explain::{
    AuditPage, ChangeObject, Line, Look, audit_html_part, explain_audit_change, explain_what_if,
};

use super::{PyAudit, WIDTH, words};
use crate::error::Result;

/// Two audits side by side: before a change and after it, or as a program is and as it would be. `print` shows what changes.
///
/// >>> print(tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}"))
/// What if s32[300000,8] lay as {0,1:T(8,128)}?
/// <BLANKLINE>
/// text: memory of all buffers falls from 146.48 MiB to 9.16 MiB; padding 94 % →
/// under 1 %.
/// ...
#[pyclass(frozen, name = "AuditChange", module = "tilework")]
pub struct PyAuditChange {
    /// The audit from before the change.
    ///
    /// >>> tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}").before.padding_share
    /// 0.9375
    #[pyo3(get)]
    before: Py<PyAudit>,
    /// The audit from after the change.
    ///
    /// >>> tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}").after.padding_share < 0.01
    /// True
    #[pyo3(get)]
    after: Py<PyAudit>,
    instead: Vec<ArrayShape>,
}

impl PyAuditChange {
    pub fn new(before: Py<PyAudit>, after: Py<PyAudit>, instead: Vec<ArrayShape>) -> PyAuditChange {
        PyAuditChange { before, after, instead }
    }

    fn lines(&self, width: usize, top: usize) -> Vec<Line> {
        let (before, after) = (&self.before.get().findings, &self.after.get().findings);
        match self.instead.is_empty() {
            true => explain_audit_change(before, after, top, width, Look::default()),
            false => explain_what_if(&self.instead, before, after, top, width, Look::default()),
        }
    }
}

#[pymethods]
impl PyAuditChange {
    /// The arrays that are supposed to lie otherwise; none where two programs are compared.
    ///
    /// >>> tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}").supposed
    /// ['s32[300000,8]{0,1:T(8,128)}']
    #[getter]
    fn supposed(&self) -> Vec<String> {
        self.instead.iter().map(ArrayShape::to_string).collect()
    }

    /// The report as a text, with `top` shapes of each program, and no line longer than `width`, which is 20 at least.
    ///
    /// >>> supposed = tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}")
    /// >>> max(len(line) for line in supposed.report(width=40).splitlines()) <= 40
    /// True
    #[pyo3(signature = (width=None, top=None), text_signature = "($self, width=80, top=None)")]
    fn report(&self, width: Option<&Bound<'_, PyAny>>, top: Option<&Bound<'_, PyAny>>) -> Result<String> {
        let width = words::count(width, "width", WIDTH)?;
        let top = words::count(top, "top", self.after.get().top)?;
        Ok(words::joined(&self.lines(width, top)))
    }

    /// Both audits as plain values, and the shapes whose padding differs: the fields of `tilework audit --json BEFORE AFTER`.
    ///
    /// >>> tw.audit("s32[300000,8]{1,0:T(8,128)}").what_if("{0,1:T(8,128)}").to_dict()["shapes"][0]["before_waste"]
    /// 144000000
    fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        let (before, after) = (&self.before.get().findings, &self.after.get().findings);
        words::object(py, &ChangeObject::what_if(&self.instead, before, after))
    }

    fn __str__(&self) -> String {
        words::joined(&self.lines(WIDTH, self.after.get().top))
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        let after = self.after.get();
        let change = self.lines(WIDTH, after.top);
        let page = AuditPage { top: after.top, change: &change, ..AuditPage::default() };
        py.detach(|| audit_html_part(&after.findings, &page))
    }

    fn __repr__(&self) -> String {
        let (before, after) = (self.before.get(), self.after.get());
        let percent = |audit: &PyAudit| format!("{:.0} %", audit.padding_share() * 100.0);
        format!("<padding {} → {}>", percent(before), percent(after))
    }
}
