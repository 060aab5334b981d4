//! Layouts that are supposed: texts, or objects that say the same.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use tilework::Error;
use tilework::xla::{ArrayShape, Shape};
use tilework_audit::{Audit, Findings, Instead};

use crate::error::{Bad, Result};
use crate::layout::PyLayout;
use crate::read;
use crate::xla::{PyShape, PyXlaLayout};

/// A layout that is supposed.
pub struct Supposed {
    pub instead: Instead,
    /// What errors show of it.
    text: String,
}

/// One layout or several.
pub fn given(given: &Bound<'_, PyAny>) -> Result<Vec<Supposed>> {
    let items: Vec<Bound<'_, PyAny>> = match (given.cast::<PyList>(), given.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => vec![given.clone()],
    };
    items.iter().map(one).collect()
}

fn one(given: &Bound<'_, PyAny>) -> Result<Supposed> {
    let bad = |error: Error, text: &str| Bad::within(error.or_at(0..text.len()), text);
    let of = |instead: tilework::Result<Instead>, text: &str| match instead {
        Ok(instead) => Ok(Supposed { instead, text: text.to_owned() }),
        Err(error) => Err(bad(error, text)),
    };
    if let Ok(text) = given.cast::<PyString>() {
        let text = text.to_str()?;
        return of(Instead::parse(text), text);
    }
    if let Ok(layout) = given.cast::<PyXlaLayout>() {
        let layout = &layout.get().layout;
        return of(Ok(Instead::Layout(layout.clone())), &layout.to_string());
    }
    if let Ok(shape) = given.cast::<PyShape>() {
        let shape = &shape.get().shape;
        return of(Instead::of_shape(shape), &shape.to_string());
    }
    if let Ok(layout) = given.cast::<PyLayout>() {
        let array = read::array_saying(layout.get());
        let instead = array.and_then(|array| Instead::of_shape(&Shape::from(array)));
        return of(instead, given.str()?.to_str()?);
    }
    let message = format!("a layout or its text is expected, not {}", given.get_type().name()?);
    Err(PyTypeError::new_err(message).into())
}

/// Supposes these layouts, and says for which arrays: a layout alone is for the worst array of its rank.
pub fn suppose(audit: &mut Audit, before: &Findings, supposed: &[Supposed]) -> Result<Vec<ArrayShape>> {
    let mut instead = Vec::new();
    for Supposed { instead: layout, text } in supposed {
        let array = layout.array(before);
        let supposed = array.and_then(|array| audit.suppose_layout(&array).map(|_| array));
        instead.push(supposed.map_err(|error| Bad::within(error.or_at(0..text.len()), text))?);
    }
    Ok(instead)
}
