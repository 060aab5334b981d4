//! Layouts that are supposed: texts, or objects that say the same.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use tilework::Error;
use tilework::xla::{ArrayShape, Layout, Shape};
use tilework_audit::{Audit, Findings};

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
        let array = array(before, text).map_err(|error| Bad::within(error.or_at(0..text.len()), text))?;
        audit.suppose_layout(&array).map_err(|error| Bad::within(error.or_at(0..text.len()), text))?;
        instead.push(array);
    }
    Ok(instead)
}

fn array(before: &Findings, text: &str) -> tilework::Result<ArrayShape> {
    if text.trim_start().starts_with('{') {
        let layout = Layout::parse(text)?;
        let rank = layout.minor_to_major().len();
        return match before.worst_array(rank) {
            Some(worst) => worst.with_layout(layout),
            None => Err(Error::new(format!("no array of {rank} dimensions in what was read"))
                .accepts("a layout of as many dimensions as some array has")),
        };
    }
    match Shape::parse(text)?.as_array() {
        Some(array) if array.layout().is_some() => Ok(array.clone()),
        _ => Err(Error::new("no layout")
            .at(text.len()..text.len())
            .accepts("such as {0,1:T(8,128)}, alone or behind an array")),
    }
}
