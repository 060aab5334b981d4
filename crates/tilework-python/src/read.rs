//! From what Python gives to what Tilework takes.

use std::sync::Arc;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PySequence, PyString, PyTuple};
use tilework::dialect::{Axes, Dialect, Known, Reading, Said, beside};
use tilework::{
    Element,
    xla::{self, ArrayShape, Shape, Strides},
};
use tilework::{Error, Layout};

use crate::element;
use crate::error::{Bad, Result};
use crate::kept;
use crate::layout::PyLayout;
use crate::plain;

/// What a layout is made from: what a text, a descriptor or an array says, in its own notation.
pub fn one(text: &str, known: Known, notation: Option<&'static Dialect>) -> tilework::Result<Said> {
    let said = Reading { dialect: notation, known }.read_one(text)?;
    match said.element() {
        Some(_) if said.leaves().is_none() && said.kind() != "buffer" => Ok(said),
        None if said.layout().is_ok() && said.leaves().is_none() => Err(Error::new("no element type")
            .at(0..text.len())
            .rule("an array of Python has a type")
            .accepts(format!("one before the layout, as in f32 {said}, or dtype='float32'"))),
        _ => Err(Error::new("this is not an array")
            .rule("only the elements of an array have offsets")
            .accepts("an array, such as one of a tuple's elements; tilework.xla.Shape reads all kinds")),
    }
}

/// The array that XLA's text says, if that is what it was made from.
pub fn array_of(said: &Said) -> Option<&ArrayShape> {
    said.get().and_then(Shape::as_array)
}

/// The array whose text says this layout, which may be a view.
pub fn array_saying(layout: &PyLayout) -> tilework::Result<ArrayShape> {
    let own = array_of(&layout.source).filter(|_| layout.views.is_empty()).cloned();
    own.map_or_else(|| ArrayShape::saying(&layout.layout, layout.element), Ok)
}

/// The shape whose text says this layout, if tiles or strides can.
pub fn saying(layout: &Layout, element: Element) -> Option<Said> {
    ArrayShape::saying(layout, element).ok().map(|array| Arc::new(Shape::from(array)) as Said)
}

/// Names of dimensions: a text, or one for each.
pub fn names(given: &Bound<'_, PyAny>) -> Result<Axes> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Axes::parse(text.to_str()?)?);
    }
    let names: Vec<String> = given.extract().map_err(|_| {
        PyTypeError::new_err("names are a text such as 'N,C,H,W', or a text for each dimension")
    })?;
    Ok(Axes::new(names)?)
}

/// The most characters of a text whose layout is kept, to be found without reading it again.
const KEPT_TEXT: usize = 200;

/// A layout from whatever says one. Braces alone want dimensions and a type.
pub fn read(
    spec: &Bound<'_, PyAny>,
    dims: Option<&[u64]>,
    dtype: Option<&Bound<'_, PyAny>>,
    notation: Option<&'static Dialect>,
) -> Result<PyLayout> {
    if let Ok(text) = spec.cast::<PyString>() {
        if let (None, None, None, true) = (dims, dtype, notation, text.len()? <= KEPT_TEXT) {
            return Ok(kept::layout(spec, None)?.get().again());
        }
        let element = dtype.map(element::of_any).transpose()?;
        return read_text(text.to_str()?, Known { dims, element, strict: false }, notation);
    }
    if dims.is_some() || dtype.is_some() {
        return foreign(spec, dims, dtype);
    }
    if let Ok(layout) = spec.cast::<PyLayout>() {
        let layout = layout.get();
        return Ok(layout.again().named(layout.names.clone())?);
    }
    if spec.is_instance_of::<PyDict>() {
        let foreign = spec.py().import("tilework._foreign")?;
        let json: String = foreign.call_method1("descriptor", (spec,))?.extract()?;
        return read_text(&json, Known::default(), notation);
    }
    of_array(spec)
}

/// The layout of what `_foreign.py` knows: arrays of other libraries, and layouts of JAX, which want `dims` and `dtype`.
fn foreign(
    spec: &Bound<'_, PyAny>,
    dims: Option<&[u64]>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> Result<PyLayout> {
    let found = spec.py().import("tilework._foreign")?.call_method1("layout", (spec, dims, dtype))?;
    match found.cast::<PyLayout>() {
        Ok(_) => read(&found, None, None, None),
        Err(_) => Err(PyTypeError::new_err("tilework._foreign.layout returned no Layout").into()),
    }
}

/// The layout of an array: of NumPy here, of others by `_foreign.py`.
fn of_array(array: &Bound<'_, PyAny>) -> Result<PyLayout> {
    let Ok(array) = array.cast::<PyUntypedArray>() else {
        return foreign(array, None, None);
    };
    let dtype = array.dtype();
    let element = element::of_descr(&dtype)?;
    let dims: Vec<u64> = array.shape().iter().map(|&size| size as u64).collect();
    let strides = element_strides(array.strides(), &dims, dtype.itemsize())?;
    Ok(strided(element, &dims, &strides, None, None)?)
}

/// Strides in bytes as strides in elements.
pub fn element_strides(strides: &[isize], dims: &[u64], itemsize: usize) -> Result<Vec<i64>> {
    let whole = itemsize.max(1) as i64;
    let each = strides.iter().zip(dims).enumerate().map(|(dim, (&stride, &size))| match stride as i64 {
        _ if size <= 1 => Ok(0),
        stride if stride % whole == 0 => Ok(stride / whole),
        stride => Err(Error::new(format!("a stride of {stride} bytes in dimension {dim}"))
            .field("strides")
            .rule(format!("strides are whole elements, of {whole} bytes here"))
            .accepts("a copy: numpy.ascontiguousarray(array)")
            .into()),
    });
    each.collect()
}

/// The layout with these strides.
pub fn strided(
    element: Element,
    dims: &[u64],
    strides: &[i64],
    base: Option<u64>,
    size: Option<u64>,
) -> tilework::Result<PyLayout> {
    let written = xla::Layout::strided(Strides { strides: strides.to_vec(), base, size })?;
    let array = ArrayShape::new(element, dims.iter().copied())?.with_layout(written)?;
    let layout = array.lower()?;
    let source = saying(&layout, element).unwrap_or_else(|| Arc::new(Shape::from(array)));
    Ok(PyLayout::new(source, Vec::new(), element, layout))
}

/// A layout from a text, with what is known besides.
pub fn read_text(text: &str, known: Known, notation: Option<&'static Dialect>) -> Result<PyLayout> {
    let bad = |error: Error| Bad::within(error.or_at(0..text.len()), text);
    PyLayout::of(one(text, known, notation).map_err(bad)?).map_err(bad)
}

/// A layout given as an argument, which may be a text; what it does not say of type and dimensions, it has from `like`.
pub fn layout<'py>(said: &Bound<'py, PyAny>, like: Option<&PyLayout>) -> Result<Bound<'py, PyLayout>> {
    if let Ok(layout) = said.cast::<PyLayout>() {
        return Ok(layout.clone());
    }
    let made = match said.cast::<PyString>() {
        Ok(text) => {
            let known = like.map(|like| Known::array(like.layout.dims(), like.element));
            let text = text.to_str()?;
            let bad = |error: Error| Bad::within(error.or_at(0..text.len()), text);
            let said = beside(known.unwrap_or_default(), |known| one(text, known, None)).map_err(bad)?;
            PyLayout::of(said).map_err(bad)?
        }
        Err(_) => read(said, None, None, None)?,
    };
    Ok(Bound::new(said.py(), made)?)
}

/// The arguments of a call that takes several numbers or one sequence of them.
fn spread<'py>(arguments: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if arguments.len() == 1 {
        let only = arguments.get_item(0)?;
        if !only.is_instance_of::<PyInt>()
            && let Ok(list) = only.cast::<PySequence>()
        {
            return list.try_iter()?.collect();
        }
        if only.hasattr("tolist")? && only.hasattr("ndim")? && only.getattr("ndim")?.extract::<usize>()? == 1
        {
            return only.try_iter()?.collect();
        }
    }
    Ok(arguments.iter().collect())
}

/// Several whole numbers that are not negative, one by one or as one sequence.
pub fn numbers(arguments: &Bound<'_, PyTuple>, field: &str) -> Result<Vec<u64>> {
    spread(arguments)?.iter().map(|said| plain::count(said, field)).collect()
}

/// The sizes of a reshape, of which one may be −1: what is left.
pub fn sizes(arguments: &Bound<'_, PyTuple>, elements: u64) -> Result<Vec<u64>> {
    let said: Vec<i64> =
        spread(arguments)?.iter().map(|said| plain::whole(said, "dims")).collect::<Result<_>>()?;
    let known = said.iter().filter(|&&size| size != -1).try_fold(1_u64, |product, &size| {
        u64::try_from(size).ok().and_then(|size| product.checked_mul(size))
    });
    let open = said.iter().filter(|&&size| size == -1).count();
    let rest = match (open, known) {
        (0, _) => 0,
        (1, Some(known)) if known > 0 && elements.is_multiple_of(known) => elements / known,
        _ => {
            return Err(Error::new(format!("dimensions {said:?} of {elements} elements"))
                .field("dims")
                .rule("one dimension may be -1, and the others divide the number of elements")
                .into());
        }
    };
    said.iter()
        .map(|&size| match size {
            -1 => Ok(rest),
            size => u64::try_from(size).map_err(|_| {
                Error::new(format!("dimension {size}")).field("dims").accepts("0 or more, or one -1").into()
            }),
        })
        .collect()
}

/// A dimension number; −1 is the last.
pub fn dimension(number: i64, rank: usize) -> Result<usize> {
    let counted = if number < 0 { number + rank as i64 } else { number };
    match usize::try_from(counted) {
        Ok(dim) if dim < rank => Ok(dim),
        _ => Err(Error::new(format!("dimension {number} of {rank}"))
            .field("dim")
            .accepts(match rank {
                0 => "nothing: a scalar has no dimensions".to_owned(),
                rank => format!("{} to {}", -(rank as i64), rank - 1),
            })
            .into()),
    }
}

/// Several dimension numbers.
pub fn dimensions(arguments: &Bound<'_, PyTuple>, rank: usize) -> Result<Vec<usize>> {
    spread(arguments)?.iter().map(|said| dimension(plain::whole(said, "dim")?, rank)).collect()
}

/// An index within a dimension; −1 is the last element.
pub fn within(said: &Bound<'_, PyAny>, size: u64, dim: usize) -> Result<u64> {
    let number = plain::whole(said, "index")?;
    let counted = if number < 0 { i128::from(number) + i128::from(size) } else { i128::from(number) };
    match u64::try_from(counted) {
        Ok(at) if at < size => Ok(at),
        _ => Err(Error::new(format!("index {number} in dimension {dim}"))
            .field("index")
            .rule(format!("dimension {dim} has {size} elements"))
            .accepts(match size {
                0 => "nothing: there is no element".to_owned(),
                size => format!("0 to {}, or -{size} to -1 from the end", size - 1),
            })
            .into()),
    }
}

/// `1 number`, `2 numbers`
fn numbers_of(count: usize) -> String {
    format!("{count} number{}", if count == 1 { "" } else { "s" })
}

/// An index of an element.
pub fn index(arguments: &Bound<'_, PyTuple>, dims: &[u64]) -> Result<Vec<u64>> {
    let said = spread(arguments)?;
    if said.len() != dims.len() {
        return Err(Error::new(format!("an index of {}", numbers_of(said.len())))
            .field("index")
            .rule("an index has one number for each dimension")
            .accepts(numbers_of(dims.len()))
            .into());
    }
    said.iter().zip(dims).enumerate().map(|(dim, (said, &size))| within(said, size, dim)).collect()
}
