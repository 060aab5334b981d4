//! Layouts of texts, those that were read before kept.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString};

use tilework::Kept;
use tilework::dialect::Known;

use crate::error::Result;
use crate::layout::PyLayout;
use crate::read;

/// Most things that are kept of each kind.
pub const ROOM: usize = 256;

/// The layout that an argument says. Braces alone take type and dimensions from `like`.
pub fn layout<'py>(
    said: &Bound<'py, PyAny>,
    like: Option<(tilework::Element, &[u64])>,
) -> Result<Bound<'py, PyLayout>> {
    static TEXTS: Kept<Vec<u8>, Py<PyLayout>> = Kept::new(ROOM);
    if let Ok(layout) = said.cast::<PyLayout>() {
        return Ok(layout.clone());
    }
    let Ok(text) = said.cast::<PyString>() else {
        if said.is_none() || said.is_instance_of::<PyFloat>() || said.is_instance_of::<PyInt>() {
            let message = format!("a layout or its text is expected, not {}", said.get_type().name()?);
            return Err(PyTypeError::new_err(message).into());
        }
        return read::layout(said, None);
    };
    let (py, text) = (said.py(), text.to_str()?);
    let known = like.map(|(element, dims)| Known::array(dims, element)).unwrap_or_default();
    let mut key = text.as_bytes().to_vec();
    if let Some((element, dims)) = like {
        key.push(0xff); // no byte of a text
        key.extend(element.name().bytes());
        key.extend(dims.iter().flat_map(|size| size.to_le_bytes()));
    }
    if let Some(layout) = TEXTS.find(&key[..], |layout| layout.clone_ref(py)) {
        return Ok(layout.into_bound(py));
    }
    let made = Bound::new(py, read::read_text(text, known, None)?)?;
    TEXTS.keep(key, made.clone().unbind());
    Ok(made)
}
