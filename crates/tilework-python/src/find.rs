//! `tilework.find`: the layouts that stand in any text.

use pyo3::prelude::*;
use tilework::dialect;
use tilework_explain::{Look, explain_sightings};

use crate::audit::{self, words};
use crate::error::Result;
use crate::explain::preformatted;
use crate::layout::PyLayout;

/// The layouts that stand in any text, such as a log or a program: what `tilework find` says.
///
/// The answer is a list, in the order of the text. What stands there more than once is in it once.
///
/// >>> found = tw.find("step 3: moved f32[3,5]{0,1} and tensor<4xi8>, not f32[3,5]{0,1} again")
/// >>> found
/// [<line 1: f32[3,5]{0,1}; 2 times>, <line 1: tensor<4xi8>>]
/// >>> found[0].layout.strides
/// (1, 3)
/// >>> print(found)
///   2 different layouts:
/// <BLANKLINE>
///   line 1     f32[3,5]{0,1}
///              an XLA shape: 3 × 5 of f32, 60 B; 2 times
///   line 1     tensor<4xi8>
///              an MLIR type: 4 of s8, 4 B
///
/// A text in which none stands is an empty list.
#[pyfunction]
pub fn find<'py>(py: Python<'py>, text: &str) -> Result<Bound<'py, PyAny>> {
    let sightings = py.detach(|| dialect::find(text));
    let mut each = Vec::new();
    for sighting in &sightings.all {
        let one = |name: Option<&String>, made: tilework::Result<PyLayout>, notation: Option<&str>| {
            let (layout, reason) = match made {
                Ok(layout) => (Some(Py::new(py, layout)?), None),
                Err(error) => (None, Some(error.found().to_owned())),
            };
            Ok::<_, PyErr>(PySighting {
                text: sighting.text.clone(),
                line: sighting.line,
                start: sighting.span.start,
                times: sighting.times,
                name: name.cloned(),
                notation: notation.map(str::to_owned),
                layout,
                reason,
            })
        };
        match &sighting.found {
            Ok(found) => {
                for found in found {
                    let made = PyLayout::of(found.said.clone());
                    each.push(one(found.name.as_ref(), made, Some(found.said.dialect().name))?);
                }
            }
            Err(error) => each.push(one(None, Err(error.clone()), None)?),
        }
    }
    let text = match each.is_empty() {
        true => "no layout stands in this text".to_owned(),
        false => words::joined(&explain_sightings(&sightings, audit::WIDTH, Look::default())),
    };
    let html = preformatted(&text);
    let module = py.import("tilework._sightings")?;
    Ok(module.getattr("Sightings")?.call1((each, text, html, sightings.is_complete))?)
}

/// A layout that stands in a text.
///
/// >>> [one] = tw.find("out: memref<8x64xf16, strided<[64, 1]>>")
/// >>> one.layout, one.notation
/// (tilework.Layout('memref<8x64xf16, strided<[64, 1]>>'), 'mlir')
#[pyclass(frozen, get_all, name = "Sighting", module = "tilework")]
pub struct PySighting {
    /// What was read, with what its names stand for.
    text: String,
    /// The line where it stands for the first time, counted from 1.
    line: u64,
    /// The byte of the text, as UTF-8, where it begins, counted from 0.
    start: usize,
    /// How often it stands there.
    times: u64,
    /// What the text calls the array, where it names several.
    name: Option<String>,
    /// The name of the notation.
    notation: Option<String>,
    /// The layout, or None where the text says too little to be one.
    layout: Option<Py<PyLayout>>,
    /// Why there is no layout, in a sentence.
    reason: Option<String>,
}

#[pymethods]
impl PySighting {
    fn __repr__(&self) -> String {
        let mut said = format!("<line {}: {}", self.line, self.text);
        if self.times > 1 {
            said += &format!("; {} times", self.times);
        }
        if let Some(reason) = &self.reason {
            said += &format!("; {reason}");
        }
        said + ">"
    }
}
