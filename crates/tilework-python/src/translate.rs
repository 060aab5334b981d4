//! `tilework.translate`: a layout in other notations.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tilework::dialect::{Target, targets};
use tilework_explain::Translated;

use crate::error::Result;
use crate::kept;
use crate::layout::PyLayout;

/// A layout in another notation, or in all of them: what `tilework translate` says.
///
/// The layout is a Layout or anything that makes one: a text in any notation, an array. `to` is the name of a notation, and the
/// answer is a text; without it, or with several names, the answer is a dict of texts by name, whose `reasons` say why the others
/// have none. Every text was read back and is the same layout.
///
/// >>> tw.translate("f32[3,5]{0,1}", "torch")
/// 'torch.float32 [3, 5] strides [1, 3]'
/// >>> tw.translate(np.zeros((3, 5), np.float32).T, to="memref")
/// 'memref<5x3xf32, strided<[1, 5]>>'
/// >>> texts = tw.translate("f32[3,5]{1,0:T(2,2)}", ["jax", "directml"])
/// >>> texts
/// {'jax': 'f32[3,5] Layout(major_to_minor=(0, 1), tiling=((2, 2),))'}
/// >>> list(texts.reasons)
/// ['directml']
///
/// What cannot be said is an error where one name is given:
///
/// >>> tw.translate("f32[3,5]{1,0:T(2,2)}", "directml")
/// Traceback (most recent call last):
/// ...
/// tilework.LayoutError: ...
#[pyfunction]
#[pyo3(signature = (x, to=None))]
pub fn translate<'py>(x: &Bound<'py, PyAny>, to: Option<&Bound<'py, PyAny>>) -> Result<Bound<'py, PyAny>> {
    let py = x.py();
    let layout = kept::layout(x, None)?;
    let (layout, element, source) = (&layout.get().layout, layout.get().element, &layout.get().source);
    let names = match to {
        None => targets().collect(),
        Some(to) => match to.cast::<PyString>() {
            Ok(name) => {
                let text = Target::named(name.to_str()?)?.translate(&**source, layout, element)?;
                return Ok(PyString::new(py, &text).into_any());
            }
            Err(_) => several(to)?,
        },
    };
    let found = py.detach(|| Translated::of_layout(&**source, layout, element, &names));
    let (texts, reasons) = (PyDict::new(py), PyDict::new(py));
    for one in found.translations {
        match (one.text, one.reason) {
            (Some(text), _) => texts.set_item(one.name, text)?,
            (None, reason) => reasons.set_item(one.name, reason)?,
        }
    }
    Ok(py.import("tilework._translations")?.getattr("Translations")?.call1((texts, reasons))?)
}

/// The notations of these names.
fn several(names: &Bound<'_, PyAny>) -> Result<Vec<Target>> {
    let Ok(names) = names.extract::<Vec<String>>() else {
        let message =
            format!("to is the name of a notation, or a list of names, not {}", names.get_type().name()?);
        return Err(PyTypeError::new_err(message).into());
    };
    Ok(names.iter().map(|name| Target::named(name)).collect::<tilework::Result<_>>()?)
}

#[pymethods]
impl PyLayout {
    /// The layout in another notation, or in all of them: `tilework.translate` of it.
    ///
    /// >>> tw.Layout("f32[3,5]{0,1}").translate("torch")
    /// 'torch.float32 [3, 5] strides [1, 3]'
    #[pyo3(name = "translate", signature = (to=None), text_signature = "($self, to=None)")]
    fn translated<'py>(
        slf: &Bound<'py, PyLayout>,
        to: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        translate(slf.as_any(), to)
    }
}
