//! `tilework.suggest`: which layouts of an array would be smaller.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tilework::Error;
use tilework::xla::{ArrayShape, Layout, Shape};
use tilework_audit::{Footprint, Instead};
use tilework_explain::{Look, Suggesting};

use crate::audit::{self, words};
use crate::error::{Bad, Result};
use crate::explain::preformatted;
use crate::kept;
use crate::layout::PyLayout;
use crate::read;
use crate::xla::PyShape;

/// How many layouts are told where nobody says how many.
const TOP: usize = 5;

/// Which layouts of an array would be smaller, by every order of the dimensions with the tiles of a target: what
/// `tilework suggest` says.
///
/// The array is a Layout or anything that makes one, such as a text. `target` is a machine: 'tpu', 'tpu-v2' to 'tpu7x', or
/// 'tenstorrent'. `tiles` are tiles to try instead, as a text such as 'T(8,128)(2,1)' or several; `what_if` layouts to tell of
/// instead. `top` is how many layouts are kept, at most 100.
///
/// >>> found = tw.suggest("s32[8388608,8,4]{2,1,0:T(8,128)}")
/// >>> found.given.nbytes / 2**30, found.best.nbytes / 2**30, found.best.text
/// (32.0, 1.0, 's32[8388608,8,4]{0,2,1:T(4,128)}')
///
/// These are footprints only: the compiler may need the order that it chose. An array without tiles is compared as the target
/// usually lays it out, so that `given` is the size to expect of it:
///
/// >>> tw.suggest("bf16[2048,16,96]", target="tpu-v5e").given
/// tilework.Layout('bf16[2048,16,96]{2,1,0:T(8,128)(2,1)}')
#[pyfunction]
#[pyo3(
    signature = (array, target=None, tiles=None, top=None, *, what_if=None),
    text_signature = "(array, target='tpu', tiles=None, top=5, *, what_if=None)"
)]
pub fn suggest(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    target: Option<&str>,
    tiles: Option<&Bound<'_, PyAny>>,
    top: Option<&Bound<'_, PyAny>>,
    what_if: Option<&Bound<'_, PyAny>>,
) -> Result<PySuggestions> {
    let (top, target) = (words::count(top, "top", TOP)?, audit::target(target, tiles)?);
    let array = array_of(array)?;
    let bad = |error: Error| Bad::within(error, &array.to_string());
    let found = match what_if {
        Some(layouts) => {
            let layouts: Vec<Layout> =
                audit::given(layouts)?.into_iter().map(|supposed| layout(supposed.instead)).collect();
            Suggesting::what_if(&array, &layouts).map_err(bad)?
        }
        None => {
            let target = target.unwrap_or_default();
            py.detach(|| Suggesting::new(&array, &target, top)).map_err(bad)?
        }
    };
    Ok(PySuggestions { found })
}

/// A layout alone, or behind an array.
fn layout(instead: Instead) -> Layout {
    match instead {
        Instead::Layout(layout) => layout,
        // Nothing is supposed of an array but what has a layout.
        Instead::Array(array) => array.layout().cloned().unwrap_or_else(|| Layout::descending(array.rank())),
    }
}

/// The array that is asked about.
fn array_of(given: &Bound<'_, PyAny>) -> Result<ArrayShape> {
    if let Ok(shape) = given.cast::<PyShape>()
        && let Some(array) = shape.get().shape.as_array()
    {
        return Ok(array.clone());
    }
    let layout = kept::layout(given, None)?;
    read::array_saying(layout.get()).map_err(|_| {
        let unsaid = Error::new("a view that no text says").field("array");
        unsaid
            .rule("layouts are suggested for an array, and this view is a part of one")
            .accepts("a shape as XLA writes it")
            .into()
    })
}

/// The layouts that an array could have, the smallest first: `print` shows what `tilework suggest` says.
///
/// >>> print(tw.suggest("f32[300000,8]{1,0:T(8,128)}", top=1))
/// f32[300000,8]{1,0:T(8,128)}
/// <BLANKLINE>
///   {0,1:T(8,128)} takes 9.16 MiB (9601024 B) instead of 146.48 MiB (153600000 B):
/// ...
#[pyclass(frozen, name = "Suggestions", module = "tilework")]
pub struct PySuggestions {
    found: Suggesting,
}

#[pymethods]
impl PySuggestions {
    /// The layout that the others are compared with: that of the array, or if it has no tiles, how the target usually lays
    /// out this order of the dimensions.
    ///
    /// >>> tw.suggest("f32[300000,8]").given
    /// tilework.Layout('f32[300000,8]{1,0:T(8,128)}')
    #[getter]
    fn given(&self) -> Result<PyLayout> {
        made(&self.found.found().given)
    }

    /// The smallest layouts, larger ones than the given one too; or those that were asked about.
    ///
    /// >>> [layout.nbytes for layout in tw.suggest("s32[8388608,8,4]{2,1,0:T(8,128)}", top=2).layouts]
    /// [1073741824, 1073741824]
    #[getter]
    fn layouts<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>> {
        let layouts: Vec<PyLayout> = self.found.found().layouts.iter().map(made).collect::<Result<_>>()?;
        Ok(PyTuple::new(py, layouts)?)
    }

    /// The smallest layout of all; the given one where none is smaller.
    ///
    /// >>> tw.suggest("f32[300000,8]").best
    /// tilework.Layout('f32[300000,8]{0,1:T(8,128)}')
    #[getter]
    fn best(&self) -> Result<PyLayout> {
        made(self.smallest())
    }

    /// Everything as plain values, with the fields of `tilework suggest --json`.
    ///
    /// >>> found = tw.suggest("f32[300000,8]").to_dict()
    /// >>> found["smaller"], found["assumed"], found["layouts"][0]["saved_bytes"], found["layouts"][0]["note"]
    /// (1, True, 143998976, 'footprint only: the compiler may need this order')
    fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        words::object(py, &self.found.object()?)
    }

    fn __str__(&self) -> Result<String> {
        Ok(words::joined(&self.found.explain(audit::WIDTH, Look::default())?))
    }

    fn __repr__(&self) -> String {
        let (given, best) = (&self.found.found().given, self.smallest());
        match best.bytes < given.bytes {
            true => format!("<{} B instead of {} in {}>", best.bytes, given.bytes, best.shape),
            false => format!("<{} B in {}>", given.bytes, given.shape),
        }
    }

    fn _repr_html_(&self) -> Result<String> {
        Ok(preformatted(&self.__str__()?))
    }
}

impl PySuggestions {
    /// The smallest of all.
    fn smallest(&self) -> &Footprint {
        let found = self.found.found();
        found
            .layouts
            .iter()
            .fold(&found.given, |least, one| if one.bytes < least.bytes { one } else { least })
    }
}

fn made(one: &Footprint) -> Result<PyLayout> {
    Ok(PyLayout::of(Arc::new(Shape::from(one.shape.clone())))?)
}
