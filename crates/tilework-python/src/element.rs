//! Types of elements: names of any system, and NumPy's dtypes.

use std::sync::{Mutex, PoisonError};

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PySyntaxError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use tilework::{Element, Error, Kept, System};

use crate::error::{Bad, Result};
use crate::kept::ROOM;

/// The type of whatever says one: a name, a dtype, a scalar type such as `numpy.float32`.
pub fn of_any(said: &Bound<'_, PyAny>) -> Result<Element> {
    let py = said.py();
    if let Ok(name) = said.cast::<PyString>() {
        let name = name.to_string_lossy();
        if let "u1" | "u2" | "u4" = &*name {
            let bits: u32 = name[1..].parse().unwrap_or(0); // a digit
            return Err(Error::new(format!("dtype {name:?}"))
                .field("dtype")
                .rule("XLA counts bits where NumPy counts bytes")
                .accepts(format!("'uint{bits}' for {bits} bits, or 'uint{}' for {bits} bytes", 8 * bits))
                .into());
        }
        if let Some(element) = Element::from_any_name(&name) {
            return Ok(element);
        }
    }
    let read = py.import("numpy")?.call_method1("dtype", (said,));
    of_dtype(&read.map_err(|error| not_read(said, error))?)
}

/// Whether a value can only be the type of elements: a text, a class, a dtype.
pub fn is_type(said: &Bound<'_, PyAny>) -> bool {
    said.is_instance_of::<PyString>()
        || said.is_instance_of::<PyType>()
        || said.cast::<PyArrayDescr>().is_ok()
}

/// The dtype that an argument says: a name of any system, or whatever NumPy reads one from. Reading takes as long as moving a
/// few KiB, so what a text or a scalar type of NumPy said before, and always says, is kept.
pub fn descr_of_any<'py>(said: &Bound<'py, PyAny>) -> Result<Bound<'py, PyArrayDescr>> {
    static TEXTS: Kept<String, Py<PyArrayDescr>> = Kept::new(ROOM);
    /// By the address of the type, which the dtype keeps alive.
    static TYPES: Kept<usize, Py<PyArrayDescr>> = Kept::new(ROOM);
    let py = said.py();
    if let Ok(dtype) = said.cast::<PyArrayDescr>() {
        return Ok(dtype.clone());
    }
    let read = || match of_any(said).and_then(|element| descr(py, element)) {
        Ok(dtype) => Ok(dtype),
        // Also of what is no number; or NumPy says what is wrong.
        Err(_) => {
            let dtype = py.import("numpy")?.call_method1("dtype", (said,))?;
            Ok::<_, Bad>(dtype.cast_into::<PyArrayDescr>().map_err(PyErr::from)?)
        }
    };
    if let Some(text) = said.cast_exact::<PyString>().ok().and_then(|text| text.to_str().ok()) {
        if let Some(dtype) = TEXTS.find(text, |dtype| dtype.clone_ref(py)) {
            return Ok(dtype.into_bound(py));
        }
        let dtype = read()?;
        TEXTS.keep(text.to_owned(), dtype.clone().unbind());
        return Ok(dtype);
    }
    let address = said.as_ptr().addr();
    if let Some(dtype) = TYPES.find(&address, |dtype| dtype.clone_ref(py)) {
        return Ok(dtype.into_bound(py));
    }
    let dtype = read()?;
    if said.is_instance_of::<PyType>() && dtype.typeobj().is(said) {
        TYPES.keep(address, dtype.clone().unbind());
    }
    Ok(dtype)
}

/// What NumPy says of a dtype that it cannot read. It hands texts to parsers of Python's, whose errors are none of a dtype.
fn not_read(said: &Bound<'_, PyAny>, error: PyErr) -> Bad {
    let py = said.py();
    let of_a_parser = error.is_instance_of::<PySyntaxError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyOverflowError>(py);
    if !of_a_parser {
        return Bad::Python(error);
    }
    let found = match said.cast::<PyString>().ok().and_then(|text| text.repr().ok()) {
        Some(text) => format!("dtype {text}"),
        None => format!("what NumPy reads no dtype from: {}", error.value(py)),
    };
    Error::new(found)
        .field("dtype")
        .rule("the dtype of elements is one that NumPy knows")
        .accepts("a name such as 'float32' or 'bf16', or a dtype")
        .into()
}

/// The type of the elements of an array. Few dtypes are ever seen, and the name of one takes NumPy long to say.
pub fn of_array(array: &Bound<'_, PyUntypedArray>) -> Result<Element> {
    of_descr(&array.dtype())
}

/// The same of their dtype.
pub fn of_descr(dtype: &Bound<'_, PyArrayDescr>) -> Result<Element> {
    static SEEN: Mutex<Vec<(Py<PyArrayDescr>, Element)>> = Mutex::new(Vec::new());
    let find = || {
        let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().find(|(known, _)| known.is(dtype)).map(|(_, element)| *element)
    };
    if let Some(element) = find() {
        return Ok(element);
    }
    let element = of_dtype(dtype.as_any())?;
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.len() < 64 {
        seen.push((dtype.clone().unbind(), element));
    }
    Ok(element)
}

/// The type of a dtype.
pub fn of_dtype(dtype: &Bound<'_, PyAny>) -> Result<Element> {
    let name: String = dtype.getattr("name")?.extract()?;
    let swapped = !dtype.getattr("isnative")?.extract::<bool>()?;
    // A dtype made by hand may have the name of another.
    let itemsize: u32 = dtype.getattr("itemsize")?.extract()?;
    match Element::from_name_in(System::Numpy, &name) {
        Some(element) if !swapped && element.bytes() == itemsize => Ok(element),
        _ => Err(unknown(dtype, swapped)),
    }
}

fn unknown(dtype: &Bound<'_, PyAny>, swapped: bool) -> Bad {
    let error = Error::new(format!("elements of dtype {dtype}")).field("dtype");
    let error = match swapped {
        true => error
            .rule("elements are in this machine's byte order")
            .accepts("array.astype(array.dtype.newbyteorder('='))"),
        false => error
            .rule("elements are numbers of a type that XLA has")
            .accepts("bool, integers, floats and complex numbers, those of ml_dtypes too; other bytes as a view: array.view('uint8')"),
    };
    error.into()
}

/// The dtype of a type: an element takes a whole byte at least.
pub fn dtype<'py>(py: Python<'py>, element: Element) -> Result<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let Some(name) = element.name_in(System::Numpy) else {
        let error = Error::new(format!("elements of type {}", element.name()))
            .field("dtype")
            .rule("an array of NumPy holds numbers");
        return Err(error.into());
    };
    if let Ok(scalar) = numpy.getattr(name) {
        return Ok(numpy.call_method1("dtype", (scalar,))?);
    }
    let scalar = py.import("ml_dtypes")?.getattr(name).map_err(|_| {
        Error::new(format!("elements of type {}", element.name()))
            .field("dtype")
            .rule(format!("the installed ml_dtypes has no {name}"))
            .accepts("a newer one: pip install --upgrade ml_dtypes")
    })?;
    Ok(numpy.call_method1("dtype", (scalar,))?)
}

/// The same, looked up once for each type.
pub fn descr(py: Python<'_>, element: Element) -> Result<Bound<'_, PyArrayDescr>> {
    static KNOWN: Mutex<Vec<(Element, Py<PyArrayDescr>)>> = Mutex::new(Vec::new());
    let find = || {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(other, _)| *other == element).map(|(_, dtype)| dtype.clone_ref(py))
    };
    if let Some(dtype) = find() {
        return Ok(dtype.into_bound(py));
    }
    let found = dtype(py, element)?.cast_into::<PyArrayDescr>().map_err(PyErr::from)?;
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).push((element, found.clone().unbind()));
    Ok(found)
}

/// NumPy's types for the data of a layout.
pub struct Dtypes {
    /// Of the elements, each in whole bytes.
    pub element: Py<PyArrayDescr>,
    /// Of a buffer that holds the places one after the other: the elements', or bytes where places are not whole elements.
    pub buffer: Py<PyArrayDescr>,
    /// The bytes of an element of an array.
    pub itemsize: usize,
    /// Whether a buffer holds bytes that are not one element each.
    pub is_packed: bool,
}

impl Dtypes {
    /// Those of elements in whole bytes.
    pub fn of(py: Python<'_>, element: Element) -> Result<Dtypes> {
        Dtypes::new(py, element, 8 * element.bytes())
    }

    pub fn new(py: Python<'_>, element: Element, bits: u32) -> Result<Dtypes> {
        let own = descr(py, element)?;
        let itemsize = own.itemsize();
        let is_packed = itemsize as u64 * 8 != u64::from(bits);
        let buffer = if is_packed { descr(py, Element::U8)? } else { own.clone() };
        Ok(Dtypes { element: own.unbind(), buffer: buffer.unbind(), itemsize, is_packed })
    }
}
