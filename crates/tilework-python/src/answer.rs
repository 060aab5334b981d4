//! Answers of a layout that are more than a number: the padding at a place, and whether two layouts are the same.

use pyo3::prelude::*;
use tilework::{Error, Padding, Verdict};

use crate::error::{Result, layout_error};
use crate::layout::PyLayout;
use crate::read;

#[pymethods]
impl PyLayout {
    /// Whether two layouts are the same, in one of four senses.
    ///
    /// * `"function"`: every element has the same place.
    /// * `"buffer"`: and the same number of places is allocated, of the same width.
    /// * `"reshape"`: elements with the same number in row-major order have the same place, whatever the dimensions.
    /// * `"transpose"`: some order of the dimensions, after a reshape, makes them the same, as a bitcast of XLA may.
    ///
    /// The other may be a layout or anything that makes one; of the braces of a text alone, type and dimensions are these.
    ///
    /// >>> layout = tw.Layout("f32[16,128]{1,0:T(8,128)}")
    /// >>> layout.same("{1,0}")
    /// <yes>
    /// >>> layout.same("{0,1}")
    /// <no: element (1, 0) is at 128 and 1>
    /// >>> bool(layout.same("f32[2048]", "reshape"))
    /// True
    #[pyo3(signature = (other, sense="function"))]
    fn same(&self, other: &Bound<'_, PyAny>, sense: &str) -> Result<PyVerdict> {
        let other = read::layout(other, Some(self))?;
        let (a, b) = (&self.layout, &other.get().layout);
        let verdict = match sense {
            "function" => a.same_function(b),
            "buffer" => a.same_buffer(b),
            "reshape" => a.reshape_bitcast(b),
            "transpose" => a.transpose_bitcast(b),
            _ => {
                let error = Error::new(format!("sense {sense:?}"))
                    .field("sense")
                    .accepts("'function', 'buffer', 'reshape' or 'transpose'");
                return Err(error.into());
            }
        };
        Ok(PyVerdict::new(verdict))
    }

    /// Whether the other layout shows the same buffer without moving a byte: as a reshape, or else as a transpose.
    ///
    /// >>> tw.Layout("f32[16,128]{1,0:T(8,128)}").bitcast("f32[2048]")
    /// <yes>
    /// >>> tw.Layout("f32[16,128]").bitcast("f32[128,16]{0,1}")
    /// <yes: as a transpose>
    /// >>> tw.Layout("f32[3,5]{0,1}").bitcast("f32[15]")   # NumPy's reshape of such an array copies
    /// <yes: as a transpose>
    /// >>> tw.Layout("f32[3,5]").bitcast("f32[3,5]{1,0:T(2,2)}")
    /// <no: 15 and 24 elements are allocated>
    fn bitcast(&self, other: &Bound<'_, PyAny>) -> Result<PyVerdict> {
        let reshape = self.same(other, "reshape")?;
        if reshape.answer == Some(true) {
            return Ok(reshape);
        }
        let transpose = self.same(other, "transpose")?;
        Ok(match transpose.answer {
            Some(true) => PyVerdict { sense: Some("as a transpose"), ..transpose },
            _ => reshape,
        })
    }
}

/// A place that holds no element.
///
/// >>> padding = tw.Layout("f32[3,5]{1,0:T(2,2)}").locate(9)
/// >>> padding.cause
/// 'tile 1, dimension 1'
#[pyclass(frozen, name = "Padding", module = "tilework", eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyPadding {
    /// What allocated it, in words.
    ///
    /// >>> tw.Layout("f32[2,3]{strides(5,1)}").locate(4).cause
    /// 'strides, dimension 1'
    #[pyo3(get)]
    cause: String,
}

impl PyPadding {
    pub fn new(padding: &Padding) -> PyPadding {
        PyPadding { cause: padding.to_string() }
    }
}

#[pymethods]
impl PyPadding {
    fn __repr__(&self) -> String {
        format!("<padding: {}>", self.cause)
    }
}

/// The answer to whether two layouts are the same: true or false in a condition.
///
/// >>> verdict = tw.Layout("f32[3,5]").same("{0,1}")
/// >>> bool(verdict), verdict.answer, verdict.reason
/// (False, False, 'element (1, 0) is at 5 and 1')
///
/// Where it is not decided, the answer is None, and a condition raises a `LayoutError`.
#[pyclass(frozen, name = "Verdict", module = "tilework")]
pub struct PyVerdict {
    /// True, False, or None where it was not decided.
    ///
    /// >>> tw.Layout("f32[3,5]").same("{1,0}").answer
    /// True
    #[pyo3(get)]
    answer: Option<bool>,
    /// What differs, or why it was not decided; None for yes.
    ///
    /// >>> tw.Layout("f32[3,5]").same("{0,1}").reason
    /// 'element (1, 0) is at 5 and 1'
    #[pyo3(get)]
    reason: Option<String>,
    /// In which sense it is yes, where there are several.
    sense: Option<&'static str>,
}

impl PyVerdict {
    pub fn new(verdict: Verdict) -> PyVerdict {
        let answer = if verdict.is_yes() { Some(true) } else { verdict.is_no().then_some(false) };
        PyVerdict { answer, reason: verdict.reason(), sense: None }
    }
}

#[pymethods]
impl PyVerdict {
    fn __bool__(&self) -> PyResult<bool> {
        let Some(answer) = self.answer else {
            return Python::attach(|py| {
                let message = format!("not decided: {}", self.reason.as_deref().unwrap_or("no reason"));
                Err(PyErr::from_value(layout_error(py)?.call1((message,))?))
            });
        };
        Ok(answer)
    }

    fn __repr__(&self) -> String {
        let answer = match self.answer {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not decided",
        };
        match self.reason.as_deref().or(self.sense) {
            Some(reason) => format!("<{answer}: {reason}>"),
            None => format!("<{answer}>"),
        }
    }
}
