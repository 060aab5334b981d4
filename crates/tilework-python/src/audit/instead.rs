//! Layouts that are supposed: texts, or objects that say the same.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use tilework::xla::ArrayShape;
use tilework_audit::{Audit, Findings, Instead};

use crate::error::{Bad, Result};
use crate::layout::PyLayout;
use crate::xla::{PyShape, PyXlaLayout};

/// The texts of one layout or of several.
pub fn texts(given: &Bound<'_, PyAny>) -> Result<Vec<String>> {
    let items: Vec<Bound<'_, PyAny>> = match (given.cast::<PyList>(), given.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => vec![given.clone()],
    };
    items.iter().map(text).collect()
}

fn text(given: &Bound<'_, PyAny>) -> Result<String> {
    let says_a_layout = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyLayout>()
        || given.is_instance_of::<PyShape>()
        || given.is_instance_of::<PyXlaLayout>();
    if says_a_layout {
        return Ok(given.str()?.to_str()?.to_owned());
    }
    let message = format!("a layout or its text is expected, not {}", given.get_type().name()?);
    Err(PyTypeError::new_err(message).into())
}

/// Supposes these layouts, and says for which arrays: a layout alone is for the worst array of its rank.
pub fn suppose(audit: &mut Audit, before: &Findings, texts: &[String]) -> Result<Vec<ArrayShape>> {
    let mut instead = Vec::new();
    for text in texts {
        let array = Instead::parse(text).and_then(|instead| instead.array(before));
        let supposed = array.and_then(|array| audit.suppose_layout(&array).map(|_| array));
        instead.push(supposed.map_err(|error| Bad::within(error.or_at(0..text.len()), text))?);
    }
    Ok(instead)
}
