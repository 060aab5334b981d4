//! `tilework.unpack`: from a flat buffer to an array.

use std::num::NonZeroUsize;

use pyo3::prelude::*;
use tilework::Element;
use tilework::{Error, Layout};

use crate::array::{self, Array, Look};
use crate::convert::Convert;
use crate::element::Dtypes;
use crate::error::{Bad, Result};
use crate::fill::Fill;
use crate::flat::{self, Flat};
use crate::kept;
use crate::layout::PyLayout;
use crate::movement::{Call, Elements, key, lies, place_bits, refuse_copy, refuse_out, strided_view};
use crate::prepared::{Prepared, Side};

/// The elements of a flat buffer that lies as the layout says, as an array of the layout's dimensions.
///
/// The buffer holds all places of the layout, as elements or as bytes. The result is new memory unless `copy` asks for a view:
/// None gives one where strides can say the layout, False refuses to copy. `out` is an array of the layout's dimensions with any
/// strides, which is written and returned; with `convert`, of another type than the layout's.
///
/// >>> import numpy as np, tilework as tw
/// >>> tw.unpack(np.arange(6, dtype="f4"), "f32[2,3]{0,1}")
/// array([[0., 2., 4.],
///        [1., 3., 5.]], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (buffer, layout, *, out=None, threads=None, convert=Convert(false), copy=Some(true)),
    text_signature = "(buffer, layout, *, out=None, threads=None, convert=False, copy=True)"
)]
#[allow(clippy::too_many_arguments)] // the arguments of Python's function
pub fn unpack<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    layout: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
    convert: Convert,
    copy: Option<bool>,
) -> Result<Bound<'py, PyAny>> {
    let convert = convert.0;
    let threads = flat::threads(threads)?;
    let from = kept::layout(layout, None)?;
    let from = from.get();
    let buffer = flat::array(buffer)?;
    let given = out.map(|out| Ok::<_, Bad>((out, flat::writable(out)?))).transpose()?;
    let dtypes = from.dtypes(py)?;
    let Some((given, array)) = given else {
        let buffer = flat::source(buffer, from)?;
        if copy != Some(true) {
            match from.strided_form() {
                _ if dtypes.is_packed => refuse_copy(copy, "elements that have no bytes of their own")?,
                Ok(_) if !buffer.is_copy => return strided_view(&buffer, from),
                Ok(_) => refuse_copy(copy, "a buffer whose elements do not follow each other")?,
                Err(why) if copy == Some(false) => return Err(why.clone().into()),
                Err(_) => {}
            }
        }
        return unpack_dense(&buffer, from, from.element, threads).map(Array::into_any);
    };
    refuse_out(copy)?;
    let buffer = flat::source(buffer, from)?;
    let look = Look::at(array);
    let to = Elements::of(&look, from)?;
    if to.element != from.element && !convert {
        return Err(flat::wrong_dtype(&look.array, from, "out"));
    }
    let (shape, strides, itemsize) = (&look.shape, &look.strides, to.itemsize);
    if !shape.iter().map(|&size| size as u64).eq(from.layout.dims().iter().copied()) {
        let error = Error::new(format!("an array of dimensions {shape:?}"))
            .field("out")
            .rule("out has the dimensions of the layout")
            .accepts(format!("dimensions {:?}", from.layout.dims()));
        return Err(error.into());
    }
    flat::check_apart(buffer.look.memory, look.memory)?;
    let bits = place_bits(to.element, itemsize, from.element, from.layout.bits());
    if bits as usize != itemsize * 8 || look.has_odd_strides() {
        // Padding between elements is not ours to fill, and odd strides are not the engine's.
        let dense = unpack_dense(&buffer, from, to.element, threads)?;
        py.import("numpy")?.call_method1("copyto", (&look.array, dense))?;
        return Ok(given.clone());
    }
    let key = key(Call::UnpackTo, &[from.id, to.element as u64], Fill::Leave, convert, (shape, strides));
    let prepared = Prepared::kept(&key, || {
        let lies = lies(shape, strides, itemsize, bits)?;
        let side = Side { element: to.element, layout: &lies };
        Ok(Prepared::new(from.side(), side, None, convert)?)
    })?;
    prepared.run(py, &buffer.look, &look, threads)?;
    Ok(given.clone())
}

/// The elements as a new array in row-major order.
fn unpack_dense<'py>(
    buffer: &Flat<'py>,
    from: &PyLayout,
    element: Element,
    threads: Option<NonZeroUsize>,
) -> Result<Array<'py>> {
    let py = buffer.look.array.py();
    let other;
    let (dtype, itemsize) = if element == from.element {
        let dtypes = from.dtypes(py)?;
        (&dtypes.element, dtypes.itemsize)
    } else {
        other = Dtypes::of(py, element)?;
        (&other.element, other.itemsize)
    };
    let convert = element != from.element;
    let key = key(Call::Unpack, &[from.id, element as u64], Fill::Leave, convert, (&[], &[]));
    let prepared = Prepared::kept(&key, || {
        let bits = place_bits(element, itemsize, from.element, from.layout.bits());
        let lies = dense(from.layout.dims(), itemsize, bits)?;
        let side = Side { element, layout: &lies };
        // Where an element has less bits than its bytes, the others are 0.
        let fill = (u64::from(bits) < itemsize as u64 * 8).then_some(0);
        Ok(Prepared::new(from.side(), side, fill, convert)?)
    })?;
    let made = Look::at(array::fresh(py, dtype, from.layout.dims(), !prepared.writes_all)?);
    prepared.run(py, &buffer.look, &made, threads)?;
    Ok(made.array)
}

/// How a new array lies.
fn dense(dims: &[u64], itemsize: usize, bits: u32) -> Result<Layout> {
    if dims.contains(&0) {
        return Ok(Layout::strided(dims, bits, &vec![0; dims.len()], None, None)?);
    }
    let mut strides = vec![0; dims.len()];
    let mut stride = itemsize as isize;
    for (place, &size) in strides.iter_mut().zip(dims).rev() {
        *place = stride;
        stride = isize::try_from(size).ok().and_then(|size| stride.checked_mul(size)).ok_or_else(|| {
            Error::new(format!("an array of dimensions {dims:?}")).rule("an array fits in memory")
        })?;
    }
    let shape: Vec<usize> = dims.iter().map(|&size| size as usize).collect(); // each within the product
    lies(&shape, &strides, itemsize, bits)
}
