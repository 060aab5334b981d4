//! Arrays and flat buffers as the arguments of a move.
//!
//! Arguments become arrays first ([`array`], [`writable`]), which may run code of Python's; only when all of them are there,
//! arrays are looked at ([`source`], [`destination`]).

use std::num::NonZeroUsize;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tilework::Element;
use tilework::Error;

use crate::array::{self, Array, Look, Memory};
use crate::element;
use crate::error::{Bad, Result};
use crate::layout::PyLayout;

/// An array of NumPy that shows the memory of an argument: of arrays, of what has the buffer protocol,
/// `__array_interface__` or DLPack.
pub fn array<'py>(said: &Bound<'py, PyAny>) -> Result<Array<'py>> {
    static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    shown(said, &ARRAY, "array")
}

/// The same of an argument that is written to.
pub fn writable<'py>(said: &Bound<'py, PyAny>) -> Result<Array<'py>> {
    static WRITABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let array = shown(said, &WRITABLE, "writable")?;
    check_writable(array::is_writable(&array))?;
    Ok(array)
}

/// Refuses memory that is only read.
pub fn check_writable(is_writable: bool) -> Result<()> {
    match is_writable {
        true => Ok(()),
        false => Err(Error::new("memory that is read-only")
            .field("out")
            .rule("results are written to out")
            .accepts("an array that can be written")
            .into()),
    }
}

fn shown<'py>(
    said: &Bound<'py, PyAny>,
    function: &'static PyOnceLock<Py<PyAny>>,
    name: &str,
) -> Result<Array<'py>> {
    if let Ok(array) = said.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let found = function.import(said.py(), "tilework._buffers", name)?.call1((said,))?;
    Ok(found.cast_into::<PyUntypedArray>().map_err(PyErr::from)?)
}

/// The same array in this machine's byte order: a copy where it is in the other.
pub fn native<'py>(array: Array<'py>) -> Result<(Array<'py>, bool)> {
    if array.dtype().is_native_byteorder() != Some(false) {
        return Ok((array, false));
    }
    let order = array.dtype().call_method1("newbyteorder", ("=",))?;
    let made = array.call_method1("astype", (order,))?;
    Ok((made.cast_into::<PyUntypedArray>().map_err(PyErr::from)?, true))
}

/// A copy of an array in row-major order.
pub fn contiguous<'py>(array: &Array<'py>) -> Result<Array<'py>> {
    let made = array.py().import("numpy")?.call_method1("ascontiguousarray", (array,))?;
    Ok(made.cast_into::<PyUntypedArray>().map_err(PyErr::from)?)
}

/// An array that holds the places of a layout one after the other.
pub struct Flat<'py> {
    pub look: Look<'py>,
    /// Whether it is a copy that was made because the elements of the argument do not follow each other.
    pub is_copy: bool,
}

/// The buffer that is read.
pub fn source<'py>(found: Array<'py>, layout: &PyLayout) -> Result<Flat<'py>> {
    check(&found, layout, "buffer")?;
    let is_copy = !array::is_contiguous(&found);
    let array = if is_copy { contiguous(&found)? } else { found };
    look(array, layout, "buffer", is_copy)
}

/// The buffer that is written, of an array that is [`writable`].
pub fn destination<'py>(array: Array<'py>, layout: &PyLayout) -> Result<Flat<'py>> {
    check(&array, layout, "out")?;
    if !array::is_contiguous(&array) {
        let error =
            Error::new(format!("elements that are not one after the other: strides {:?}", array.strides()))
                .field("out")
                .rule("the places of a layout lie one after the other in memory")
                .accepts("a contiguous array");
        return Err(error.into());
    }
    look(array, layout, "out", false)
}

/// A new buffer for a layout, of zeros or of whatever memory holds.
pub fn fresh<'py>(py: Python<'py>, layout: &PyLayout, zeros: bool) -> Result<Flat<'py>> {
    let dtypes = layout.dtypes(py)?;
    let count = if dtypes.is_packed { layout.layout.bytes() } else { layout.layout.size() };
    let array = array::fresh(py, &dtypes.buffer, &[count], zeros)?;
    look(array, layout, "buffer", false)
}

/// Looks at an array that was checked. What was asked of it may have run code of Python's, so its size is compared once more.
fn look<'py>(array: Array<'py>, layout: &PyLayout, field: &str, is_copy: bool) -> Result<Flat<'py>> {
    let look = Look::at(array);
    let bytes = layout.layout.bytes();
    if look.memory.bytes as u64 != bytes || !array::is_contiguous(&look.array) {
        let error = Error::new(format!("{} bytes", look.memory.bytes)).field(field);
        return Err(error.accepts(format!("{bytes} bytes, one after the other")).into());
    }
    Ok(Flat { look, is_copy })
}

/// Whether an array holds the places of a layout, as elements or as bytes.
fn check(array: &Array<'_>, layout: &PyLayout, field: &str) -> Result<()> {
    let dtypes = layout.dtypes(array.py())?;
    let (size, bytes) = (layout.layout.size(), layout.layout.bytes());
    let found = array.len() as u64;
    let (name, need) = if array::has_dtype(array, &dtypes.buffer) {
        if dtypes.is_packed { ("bytes", bytes) } else { ("elements", size) }
    } else if is_bytes(array)? {
        ("bytes", bytes)
    } else {
        return Err(wrong_dtype(array, layout, field));
    };
    if found == need {
        return Ok(());
    }
    Err(Error::new(format!("{found} {name}"))
        .field(field)
        .rule(format!("the layout has {size} places, {bytes} bytes"))
        .accepts(format!("{need} {name}"))
        .into())
}

fn is_bytes(array: &Array<'_>) -> Result<bool> {
    Ok(matches!(element::of_array(array)?, Element::U8 | Element::S8))
}

/// A dtype that is not the layout's.
pub fn wrong_dtype(array: &Array<'_>, layout: &PyLayout, field: &str) -> Bad {
    let accepts = match layout.dtypes(array.py()) {
        Ok(dtypes) if !dtypes.is_packed => format!("dtype {}, or bytes as uint8", dtypes.buffer),
        _ => "bytes as uint8".to_owned(),
    };
    Error::new(format!("elements of dtype {}", array.dtype()))
        .field(field)
        .rule(format!(
            "the layout has elements of {} in {} bits",
            layout.element.name(),
            layout.layout.bits()
        ))
        .accepts(accepts)
        .into()
}

/// Refuses memory that would be written before it is read.
pub fn check_apart(from: Memory, to: Memory) -> Result<()> {
    match from.overlaps(to) {
        false => Ok(()),
        true => Err(Error::new("memory that overlaps the input")
            .field("out")
            .rule("input and result are different memory: elements would be overwritten before they are read")
            .accepts("an array of its own, or a copy of the input")
            .into()),
    }
}

/// The argument `threads`.
pub fn threads(said: Option<&Bound<'_, PyAny>>) -> Result<Option<NonZeroUsize>> {
    let Some(said) = said else { return Ok(None) };
    let number = crate::plain::whole(said, "threads")?;
    let threads = usize::try_from(number).ok().and_then(NonZeroUsize::new);
    threads.map(Some).ok_or_else(|| {
        Error::new(format!("{number} threads"))
            .field("threads")
            .accepts("1 or more, or None for as many as are worth it")
            .into()
    })
}
