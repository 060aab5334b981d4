//! What padding is filled with, as Python says it.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyInt, PyString};
use tilework::Error;

use crate::error::Result;
use crate::layout::PyLayout;

/// The argument `fill` of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Not given: what the destination's text names, or else zero.
    Unsaid,
    /// None: padding is left alone.
    Leave,
    /// The bits of an element.
    Bits(u128),
}

/// The argument as it came.
pub enum Said<'py> {
    Nothing,
    Value(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Said<'py> {
    type Error = PyErr;

    fn extract(said: Borrowed<'_, 'py, PyAny>) -> PyResult<Said<'py>> {
        Ok(Said::Value(said.to_owned()))
    }
}

impl Said<'_> {
    /// What it means for a destination.
    pub fn of(&self, to: &PyLayout) -> Result<Fill> {
        match self {
            Said::Nothing => Ok(Fill::Unsaid),
            Said::Value(value) => read(value, to),
        }
    }
}

/// What a value means for a destination.
pub fn read(value: &Bound<'_, PyAny>, to: &PyLayout) -> Result<Fill> {
    if value.is_none() {
        return Ok(Fill::Leave);
    }
    let bits = |text: &str| to.element.fill_bits(text, to.layout.bits());
    if let Ok(word) = value.cast::<PyString>() {
        return Ok(Fill::Bits(bits(word.to_str()?)?));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Fill::Bits(bits(if value.is_truthy()? { "1" } else { "0" })?));
    }
    if let Ok(whole) = value.cast_exact::<PyInt>()
        && let Ok(whole) = whole.extract::<i64>()
    {
        // Zeros are what memory is cleared with, so that every type has them, also one without the number 0.
        return match whole {
            0 => Ok(Fill::Bits(0)),
            whole => Ok(Fill::Bits(bits(&whole.to_string())?)),
        };
    }
    let whole = value.py().import("operator")?.getattr("index")?.call1((value,));
    if let Ok(whole) = &whole {
        if !whole.is_truthy()? {
            return Ok(Fill::Bits(0));
        }
        return Ok(Fill::Bits(bits(whole.str()?.to_str()?)?));
    }
    if value.is_instance_of::<PyComplex>() || value.hasattr("imag")? && value.getattr("imag")?.ne(0)? {
        return complex(value, to);
    }
    let Ok(number) = value.extract::<f64>() else {
        let message = format!(
            "fill is a number, 'one', 'lowest', 'highest', 'nan', bits such as '0xff', or None, not {}",
            value.get_type().name()?
        );
        return Err(PyTypeError::new_err(message).into());
    };
    Ok(Fill::Bits(bits(&number.to_string().to_lowercase())?))
}

/// The two halves of a complex number, the real one first.
fn complex(value: &Bound<'_, PyAny>, to: &PyLayout) -> Result<Fill> {
    let Some(half) = to.element.complex_component() else {
        let error = Error::new(format!("{value} as a value of {}", to.element))
            .field("fill")
            .rule("a fill is a value of the element type")
            .accepts("a real number");
        return Err(error.into());
    };
    let part = |name: &str| -> Result<u128> {
        let number: f64 = value.getattr(name)?.extract()?;
        Ok(half.value_bits(&number.to_string().to_lowercase())?)
    };
    Ok(Fill::Bits(part("real")? | part("imag")? << half.bits()))
}

impl Fill {
    /// The bits of an element of the destination; none if padding is left alone.
    pub fn bits(self, to: &PyLayout) -> Option<u128> {
        match self {
            Fill::Leave => None,
            Fill::Bits(bits) => Some(bits),
            Fill::Unsaid => to.source.fill().filter(|_| to.views.is_empty()).or(Some(0)),
        }
    }
}
