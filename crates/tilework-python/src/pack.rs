//! `tilework.pack`: from an array to a flat buffer.

use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::array::Look;
use crate::convert::Convert;
use crate::element;
use crate::error::{Bad, Result};
use crate::fill::Said;
use crate::flat;
use crate::kept;
use crate::layout::PyLayout;
use crate::movement::{Call, Elements, flat_view, key, lies, place_bits, refuse_copy, refuse_out};
use crate::prepared::{Prepared, Side};

/// The array's elements in a new flat buffer that lies as the layout says.
///
/// `layout` is a Layout or its text; braces alone, such as '{1,0:T(8,128)}', take dimensions and type from the array. The
/// buffer has the layout's dtype and `layout.allocated` elements, or bytes where elements are narrower than a byte.
///
/// `fill` is what padding holds: the value that the layout's text names, or else 0; 'one', 'lowest', 'highest', 'nan', a number,
/// bits as '0x7f', or None to leave it as it is, in a new buffer 0. `convert` makes elements of another type: numbers of any
/// kind, rounded once. Lists and arrays in the other byte order are copied first. `threads` is how
/// many work; None takes all processors where that is worth it. `out` is written and returned. The result is new memory unless
/// `copy` asks for a view: None gives one where the array lies this way already, False refuses to copy.
///
/// >>> import numpy as np, tilework as tw
/// >>> tw.pack(np.arange(15).reshape(3, 5), "{1,0:T(2,2)}", fill=-1)[:8]
/// array([0, 1, 5, 6, 2, 3, 7, 8])
#[pyfunction]
#[pyo3(
    signature = (array, layout, *, fill=Said::Nothing, out=None, threads=None, convert=Convert(false), copy=Some(true)),
    text_signature = "(array, layout, *, fill=0, out=None, threads=None, convert=False, copy=True)"
)]
#[allow(clippy::too_many_arguments)] // the arguments of Python's function
pub fn pack<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    layout: &Bound<'py, PyAny>,
    fill: Said<'py>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
    convert: Convert,
    copy: Option<bool>,
) -> Result<Bound<'py, PyAny>> {
    let convert = convert.0;
    let threads = flat::threads(threads)?;
    let (array, is_swapped) = flat::native(flat::array(array)?)?;
    if is_swapped {
        refuse_copy(copy, "elements in the other byte order")?;
    }
    let given = out.map(|out| Ok::<_, Bad>((out, flat::writable(out)?))).transpose()?;
    let to = match layout.cast::<PyLayout>() {
        Ok(layout) => layout.clone(),
        Err(_) => {
            let dims: Vec<u64> = array.shape().iter().map(|&size| size as u64).collect();
            kept::layout(layout, Some((element::of_array(&array)?, &dims)))?
        }
    };
    let to = to.get();
    let fill = fill.of(to)?;
    if given.is_some() {
        refuse_out(copy)?;
    }
    let mut look = Look::at(array);
    if look.has_odd_strides() {
        refuse_copy(copy, "strides that are no whole elements")?;
        look = Look::at(flat::contiguous(&look.array)?);
    }
    let from = Elements::of(&look, to)?;
    let out = given.map(|(given, out)| Ok::<_, Bad>((given, flat::destination(out, to)?))).transpose()?;
    let key = key(Call::Pack, &[to.id, from.element as u64], fill, convert, (&look.shape, &look.strides));
    let prepared = Prepared::kept(&key, || {
        let bits = place_bits(from.element, from.itemsize, to.element, to.layout.bits());
        let lies = lies(&look.shape, &look.strides, from.itemsize, bits)?;
        let sides = (Side { element: from.element, layout: &lies }, to.side());
        Ok(Prepared::new(sides.0, sides.1, fill.bits(to), convert)?)
    })?;
    let Some((given, out)) = out else {
        if copy != Some(true) && prepared.is_same && prepared.no_padding {
            return flat_view(&look, to);
        }
        refuse_copy(copy, "an array that does not lie as the layout says")?;
        let made = flat::fresh(py, to, !prepared.writes_all)?;
        prepared.run(py, &look, &made.look, threads)?;
        return Ok(made.look.array.into_any());
    };
    prepared.run(py, &look, &out.look, threads)?;
    Ok(given.clone())
}
