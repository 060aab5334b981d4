//! The everyday calls for arrays of NumPy.

use numpy::npyffi::{self, NPY_ORDER, NpyTypes};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use tilework::Element;

use super::{Each, Order, Workers, channels_minor, inverse, order};
use crate::array::{self, Array, Look, Memory};
use crate::element;
use crate::error::{Bad, Result};
use crate::movement::lies;
use crate::prepared::{Prepared, Side};

/// `np.ascontiguousarray`.
pub fn contiguous<'py>(
    a: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    let py = a.py();
    let Some(array) = plain(a) else {
        if let (None, Some(made)) = (out, of_its_kind(a, None, false)?) {
            return Ok(made);
        }
        let made = numpy(py)?.call_method1("ascontiguousarray", (a,))?;
        return into(made, out);
    };
    if out.is_none() && (array::is_contiguous(&array) || array.ndim() == 0) {
        // NumPy makes an array of rank 1 of one without dimensions.
        return match array.ndim() {
            0 => Ok(numpy(py)?.call_method1("ascontiguousarray", (a,))?),
            _ => Ok(a.clone()),
        };
    }
    let axes: Each<usize> = (0..array.ndim()).collect();
    permuted(array, &axes, out, threads)
}

/// An array of a library that keeps names or does without addresses, as one of the same kind; none of all others.
fn of_its_kind<'py>(
    a: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
    is_transposed: bool,
) -> Result<Option<Bound<'py, PyAny>>> {
    if a.cast::<numpy::PyUntypedArray>().is_ok() {
        return Ok(None); // a subclass, which is NumPy's to move
    }
    let foreign = a.py().import("tilework._foreign")?;
    let made = foreign.call_method1("contiguous", (a, axes, is_transposed))?;
    Ok((!made.is_none()).then_some(made))
}

/// `a.transpose(axes).copy()`.
pub fn transpose<'py>(
    a: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    if let Some(array) = plain(a)
        && let Some(order) = order(axes, array.ndim())
        // What reading the axes ran may have changed the array.
        && order.len() == array.ndim()
    {
        return permuted(array, &order, out, threads);
    }
    if let (None, None, Some(made)) = (plain(a), out, of_its_kind(a, axes, true)?) {
        return Ok(made);
    }
    let view = numpy(a.py())?.call_method1("transpose", (a, axes))?;
    match out {
        Some(_) => into(view, out),
        None => Ok(view.call_method0("copy")?),
    }
}

/// `np.copyto`.
pub fn copyto(out: &Bound<'_, PyAny>, a: &Bound<'_, PyAny>, threads: Workers) -> Result<()> {
    if let (Some(to), Some(from)) = (plain(out), plain(a)) {
        let (to, from) = (Look::at(to), Look::at(from));
        if let Some(strides) = broadcast(&from, &to.shape)
            && moved(&from, &to.shape, &strides, &to, threads)?
        {
            return Ok(());
        }
    }
    numpy(out.py())?.call_method1("copyto", (out, a))?;
    Ok(())
}

/// Channels last, as PyTorch understands it.
pub fn channels_last<'py>(a: &Bound<'py, PyAny>, threads: Workers) -> Result<Bound<'py, PyAny>> {
    let array = match plain(a) {
        Some(array) => array,
        None => array_of(numpy(a.py())?.call_method1("asarray", (a,))?)?,
    };
    let rank = images(array.ndim())?;
    let (major_to_minor, dtype) = (channels_minor(rank), array.dtype());
    let look = Look::at(array);
    if lies_so(&look, &major_to_minor) {
        return Ok(look.array.into_any());
    }
    let made = ordered(&look, &dtype, &major_to_minor)?;
    copyto(made.as_any(), look.array.as_any(), threads)?;
    Ok(made.into_any())
}

/// `a.astype(dtype, order)`.
pub fn astype<'py>(
    a: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    order: Order,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    let py = a.py();
    let array = match plain(a) {
        Some(array) => array,
        None => array_of(numpy(py)?.call_method1("asarray", (a,))?)?,
    };
    let dtype = element::descr_of_any(dtype)?;
    let (letter, like) = match order {
        Order::Kept => ("K", NPY_ORDER::NPY_KEEPORDER),
        Order::Rows => ("C", NPY_ORDER::NPY_CORDER),
        Order::Columns => ("F", NPY_ORDER::NPY_FORTRANORDER),
        Order::ChannelsLast => {
            let major_to_minor = channels_minor(images(array.ndim())?);
            let look = Look::at(array);
            let made = ordered(&look, &dtype, &major_to_minor)?;
            if !converted(&look, &made, threads)? {
                let options = PyDict::new(py);
                options.set_item("casting", "unsafe")?;
                numpy(py)?.call_method("copyto", (&made, &look.array), Some(&options))?;
            }
            return Ok(made.into_any());
        }
    };
    let look = Look::at(array);
    if fits(&look.array.dtype(), &dtype).is_some() {
        let made = array::like(&look.array, &dtype, like)?;
        if converted(&look, &made, threads)? {
            return Ok(made.into_any());
        }
    }
    let options = PyDict::new(py);
    options.set_item("order", letter)?;
    Ok(look.array.call_method("astype", (dtype,), Some(&options))?)
}

/// Writes all of one array into another of its shape, with the types that each has; false where only NumPy can.
fn converted(from: &Look<'_>, made: &Array<'_>, threads: Workers) -> Result<bool> {
    let to = Look::at(made.clone());
    moved(from, &from.shape, &from.strides, &to, threads)
}

/// A new array in row-major order with the axes of another in this order, or `out`.
fn permuted<'py>(
    array: Array<'py>,
    axes: &[usize],
    out: Option<&Bound<'py, PyAny>>,
    threads: Workers,
) -> Result<Bound<'py, PyAny>> {
    let py = array.py();
    let from = Look::at(array);
    let shape: Each<usize> = axes.iter().map(|&axis| from.shape[axis]).collect();
    let strides: Each<isize> = axes.iter().map(|&axis| from.strides[axis]).collect();
    let made = match out {
        Some(out) => {
            let Some(to) = plain(out).filter(|to| same_dtype(&to.dtype(), &from.array.dtype())) else {
                return into(view_of(&from, axes)?, Some(out));
            };
            to
        }
        None => {
            let dims: Each<u64> = shape.iter().map(|&size| size as u64).collect();
            array::fresh(py, &from.array.dtype().unbind(), &dims, false)?
        }
    };
    let to = Look::at(made);
    if to.shape != shape || !moved(&from, &shape, &strides, &to, threads)? {
        // NumPy says what is wrong, or does it.
        numpy(py)?.call_method1("copyto", (&to.array, view_of(&from, axes)?))?;
    }
    Ok(to.array.into_any())
}

/// Moves elements from places with these sizes and strides to those of an array. False, and nothing is done, where only
/// NumPy can: for objects, types that it alone converts, memory that overlaps or is only read, elements that share a place.
fn moved(
    from: &Look<'_>,
    shape: &[usize],
    strides: &[isize],
    to: &Look<'_>,
    threads: Workers,
) -> Result<bool> {
    let (own, others) = (from.array.dtype(), to.array.dtype());
    let source = array::extent(from.first, shape, strides, from.itemsize);
    let Some(how) = fits(&own, &others).filter(|_| to.is_writable && !source.overlaps(to.memory)) else {
        return Ok(false);
    };
    if shape.contains(&0) {
        return Ok(true);
    }
    let sizes = (from.itemsize, to.itemsize);
    let Some(prepared) = prepared(how, shape, (strides, &to.strides), sizes)? else { return Ok(false) };
    let pins = if prepared.lets_go() { Some((from.pin()?, to.pin()?)) } else { None };
    from.check()?;
    to.check()?;
    // SAFETY: the arrays are alive, lie as they did when they were looked at, and are pinned while code of Python's may run;
    // the destination may be written, and they do not overlap.
    unsafe { prepared.run_on_memory(from.array.py(), source, to.memory, threads)? };
    drop(pins);
    Ok(true)
}

/// What becomes of the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Their bytes are moved.
    Bytes,
    /// They become others.
    Numbers(Element, Element),
}

/// The move between two arrays of a shape with these strides in bytes and bytes of an element; none where elements of the
/// destination share a place, or strides are no whole elements.
pub fn prepared(
    how: Kind,
    shape: &[usize],
    (from, to): (&[isize], &[isize]),
    (own, others): (usize, usize),
) -> Result<Option<std::sync::Arc<Prepared>>> {
    let mut key = smallvec::SmallVec::<[u64; 24]>::new();
    let kind = match how {
        Kind::Bytes => 0,
        Kind::Numbers(from, to) => 1 + ((from as u64) << 8 | (to as u64) << 16),
    };
    key.extend([EVERYDAY, kind, own as u64]);
    key.extend(shape.iter().map(|&size| size as u64));
    key.extend(from.iter().chain(to).map(|&stride| stride as u64));
    let odd = |strides: &[isize], itemsize: usize| {
        strides.iter().zip(shape).any(|(&stride, &size)| size > 1 && stride % itemsize as isize != 0)
    };
    let whole = !odd(from, own) && !odd(to, others);
    let shared = to.iter().zip(shape).any(|(&stride, &size)| size > 1 && stride == 0);
    if shared || !whole && how != Kind::Bytes {
        return Ok(None);
    }
    let made = Prepared::kept(&key, || match how {
        Kind::Bytes if whole && matches!(own, 1 | 2 | 4 | 8 | 16) => {
            let bits = 8 * own as u32;
            let layouts = (lies(shape, from, own, bits)?, lies(shape, to, own, bits)?);
            let side = |layout| Side { element: Element::U8, layout };
            Ok(Prepared::new(side(&layouts.0), side(&layouts.1), None, false)?)
        }
        Kind::Bytes => {
            // Bytes are one more dimension.
            let shape: Each<usize> = shape.iter().copied().chain([own]).collect();
            let strides = |strides: &[isize]| strides.iter().copied().chain([1]).collect::<Each<isize>>();
            let layouts = (lies(&shape, &strides(from), 1, 8)?, lies(&shape, &strides(to), 1, 8)?);
            let side = |layout| Side { element: Element::U8, layout };
            Ok(Prepared::new(side(&layouts.0), side(&layouts.1), None, false)?)
        }
        Kind::Numbers(source, destination) => {
            let from = lies(shape, from, own, 8 * own as u32)?;
            let to = lies(shape, to, others, 8 * others as u32)?;
            let sides = (Side { element: source, layout: &from }, Side { element: destination, layout: &to });
            Ok(Prepared::new(sides.0, sides.1, None, true)?)
        }
    });
    match made {
        Ok(prepared) => Ok(Some(prepared)),
        // Elements of the destination that share a place in another way.
        Err(Bad::Layout(..)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What begins the keys of these moves, which no call of `pack` begins with.
const EVERYDAY: u64 = 1 << 63;

/// What becomes of elements of one dtype in an array of another, if it is done here: NumPy's casts between floats and from
/// whole numbers to floats are ours; whatever else it converts, it converts.
fn fits(own: &Bound<'_, PyArrayDescr>, others: &Bound<'_, PyArrayDescr>) -> Option<Kind> {
    if own.has_object() || own.itemsize() == 0 {
        return None;
    }
    if same_dtype(own, others) {
        return Some(Kind::Bytes);
    }
    if own.is_native_byteorder() == Some(false) || others.is_native_byteorder() == Some(false) {
        return None;
    }
    let (from, to) = (element::of_descr(own).ok()?, element::of_descr(others).ok()?);
    numbers(from, to)
}

/// The same for two types.
pub fn numbers(from: Element, to: Element) -> Option<Kind> {
    let float = |element| matches!(element, Element::F16 | Element::Bf16 | Element::F32 | Element::F64);
    let whole = from.is_integer() && from.bits() >= 8;
    (float(to) && (float(from) || whole)).then_some(Kind::Numbers(from, to))
}

fn same_dtype(own: &Bound<'_, PyArrayDescr>, others: &Bound<'_, PyArrayDescr>) -> bool {
    own.is(others) || own.is_equiv_to(others)
}

/// The strides of an array broadcast to a shape, if it can be.
fn broadcast(from: &Look<'_>, shape: &[usize]) -> Option<Each<isize>> {
    let more = shape.len().checked_sub(from.shape.len())?;
    let stride = |axis: usize| {
        let Some(axis) = axis.checked_sub(more) else { return Some(0) };
        match (from.shape[axis], shape[axis + more]) {
            (own, wanted) if own == wanted => Some(from.strides[axis]),
            (1, _) => Some(0),
            _ => None,
        }
    };
    (0..shape.len()).map(stride).collect()
}

/// The memory of a new array of this shape whose axes lie in this order, from the most major to the most minor.
fn ordered<'py>(
    look: &Look<'py>,
    dtype: &Bound<'py, PyArrayDescr>,
    major_to_minor: &[usize],
) -> Result<Array<'py>> {
    let dims: Each<u64> = major_to_minor.iter().map(|&axis| look.shape[axis] as u64).collect();
    let made = array::fresh(look.array.py(), &dtype.clone().unbind(), &dims, false)?;
    let back = inverse(major_to_minor);
    array_of(made.call_method1("transpose", (back.to_vec(),))?)
}

/// Whether the elements lie one after the other in this order of the axes.
fn lies_so(look: &Look<'_>, major_to_minor: &[usize]) -> bool {
    let mut stride = look.itemsize as isize;
    look.shape.contains(&0)
        || major_to_minor.iter().rev().all(|&axis| {
            let expected = stride;
            stride = stride.wrapping_mul(look.shape[axis] as isize);
            look.shape[axis] == 1 || look.strides[axis] == expected
        })
}

/// The array with its axes in this order, without moving anything.
fn view_of<'py>(look: &Look<'py>, axes: &[usize]) -> Result<Bound<'py, PyAny>> {
    Ok(look.array.call_method1("transpose", (axes.to_vec(),))?)
}

/// What NumPy made, or `out` with it.
fn into<'py>(made: Bound<'py, PyAny>, out: Option<&Bound<'py, PyAny>>) -> Result<Bound<'py, PyAny>> {
    let Some(out) = out else { return Ok(made) };
    numpy(made.py())?.call_method1("copyto", (out, made))?;
    Ok(out.clone())
}

/// Refuses what is neither images nor volumes.
fn images(rank: usize) -> Result<usize> {
    match rank {
        4 | 5 => Ok(rank),
        _ => Err(tilework::Error::new(format!("an array of rank {rank}"))
            .field("array")
            .rule("channels are axis 1 of images N×C×H×W or volumes N×C×D×H×W")
            .accepts("rank 4 or 5")
            .into()),
    }
}

/// An array of NumPy's own type, none of its subclasses.
fn plain<'py>(said: &Bound<'py, PyAny>) -> Option<Array<'py>> {
    let array = said.cast::<PyUntypedArray>().ok()?;
    // SAFETY: the address of a type, which is compared and no more.
    let exact = unsafe { npyffi::get_type_object(said.py(), NpyTypes::PyArray_Type) };
    (said.get_type().as_type_ptr() == exact).then(|| array.clone())
}

fn array_of(said: Bound<'_, PyAny>) -> Result<Array<'_>> {
    Ok(said.cast_into::<PyUntypedArray>().map_err(PyErr::from)?)
}

fn numpy(py: Python<'_>) -> Result<&Bound<'_, PyAny>> {
    static NUMPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(NUMPY.get_or_try_init(py, || py.import("numpy").map(|module| module.into_any().unbind()))?.bind(py))
}

/// The places of an array or a tensor, as one memory.
pub fn memory(first: *mut u8, shape: &[usize], strides: &[isize], itemsize: usize) -> Memory {
    array::extent(first, shape, strides, itemsize)
}
