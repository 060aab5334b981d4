//! What people write every day with arrays, as single calls: `np.ascontiguousarray(a.T)`, `np.copyto`,
//! `t.permute(…).contiguous()`.
//!
//! The answers are those of NumPy and PyTorch. Whatever these calls do not do themselves (objects, subclasses, arrays that
//! overlap, tensors that are elsewhere or want gradients) is handed to NumPy or PyTorch, and so are mistakes: the errors are
//! the ones that users know.

mod arrays;
mod tensors;

use std::num::NonZeroUsize;

use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::error::Result;
use crate::flat;

/// Sizes or strides.
type Each<T> = SmallVec<[T; 6]>;

/// The array in row-major order: `np.ascontiguousarray(a)`, and of a tensor `t.contiguous()`.
///
/// The array itself where it is so already. `out`, an array of this shape and dtype, is written and returned.
///
/// >>> a = np.arange(6, dtype=np.float32).reshape(2, 3).T
/// >>> b = tw.contiguous(a)
/// >>> b.strides, bool((a == b).all()), tw.contiguous(b) is b
/// ((8, 4), True, True)
#[pyfunction]
#[pyo3(signature = (a, *, out=None, threads=None))]
pub fn contiguous<'py>(
    a: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let threads = flat::threads(threads)?;
    match tensors::of(a) {
        true => tensors::contiguous(a, out, threads),
        false => arrays::contiguous(a, out, threads),
    }
}

/// The array with its axes in another order, in memory of its own: `a.transpose(axes).copy()`, and of a tensor
/// `t.permute(axes).contiguous()`.
///
/// `axes` has the old number of each new axis; without it, the axes are reversed. `out` is written and returned.
///
/// >>> tw.transpose(np.zeros((2, 3, 4)), (0, 2, 1)).shape
/// (2, 4, 3)
#[pyfunction]
#[pyo3(signature = (a, axes=None, *, out=None, threads=None))]
pub fn transpose<'py>(
    a: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let threads = flat::threads(threads)?;
    match tensors::of(a) {
        true => tensors::transpose(a, axes, out, threads),
        false => arrays::transpose(a, axes, out, threads),
    }
}

/// Writes an array into another, broadcast to its shape: `np.copyto(out, a)`, and of tensors `out.copy_(t)`.
///
/// >>> out = np.zeros((2, 3), np.float32)
/// >>> tw.copyto(out, np.arange(3, dtype=np.float64))
/// >>> out
/// array([[0., 1., 2.],
///        [0., 1., 2.]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (out, a, *, threads=None))]
pub fn copyto(
    out: &Bound<'_, PyAny>,
    a: &Bound<'_, PyAny>,
    threads: Option<&Bound<'_, PyAny>>,
) -> Result<()> {
    let threads = flat::threads(threads)?;
    match tensors::of(out) {
        true => tensors::copyto(out, a, threads),
        false => arrays::copyto(out, a, threads),
    }
}

/// Images or volumes, N×C×H×W or N×C×D×H×W by their shape, with the channels of each point next to each other in memory:
/// `t.contiguous(memory_format=torch.channels_last)`. The shape stays.
///
/// The array itself where it lies so already.
///
/// >>> tw.channels_last(np.zeros((1, 3, 4, 5), np.float32)).strides
/// (240, 4, 60, 12)
#[pyfunction]
#[pyo3(signature = (a, *, threads=None))]
pub fn channels_last<'py>(
    a: &Bound<'py, PyAny>,
    threads: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let threads = flat::threads(threads)?;
    match tensors::of(a) {
        true => tensors::channels_last(a, threads),
        false => arrays::channels_last(a, threads),
    }
}

/// The same images or volumes with one channel after the other in memory: `t.contiguous()`. The shape stays.
///
/// >>> images = tw.channels_last(np.zeros((1, 3, 4, 5), np.float32))
/// >>> tw.channels_first(images).strides
/// (240, 80, 20, 4)
#[pyfunction]
#[pyo3(signature = (a, *, threads=None))]
pub fn channels_first<'py>(
    a: &Bound<'py, PyAny>,
    threads: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    contiguous(a, None, threads)
}

/// The array with elements of another type, in memory of its own: `a.astype(dtype)`, and of a tensor
/// `t.to(dtype, copy=True)`.
///
/// `layout` is where the elements lie: 'K' as in the array, 'C' in row-major order, 'F' in column-major order, or
/// 'channels_last'.
///
/// >>> a = np.arange(6, dtype=np.float32).reshape(2, 3).T
/// >>> tw.astype(a, np.float16).strides, tw.astype(a, np.float16, "C").strides
/// ((2, 6), (4, 2))
#[pyfunction]
#[pyo3(signature = (a, dtype, layout="K", *, threads=None))]
pub fn astype<'py>(
    a: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    layout: &str,
    threads: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyAny>> {
    let threads = flat::threads(threads)?;
    let order = Order::named(layout)?;
    match tensors::of(a) {
        true => tensors::astype(a, dtype, order, threads),
        false => arrays::astype(a, dtype, order, threads),
    }
}

/// Where the elements of a result lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Kept,
    Rows,
    Columns,
    ChannelsLast,
}

impl Order {
    const NAMES: [(&str, Order); 4] = [
        ("K", Order::Kept),
        ("C", Order::Rows),
        ("F", Order::Columns),
        ("channels_last", Order::ChannelsLast),
    ];

    fn named(name: &str) -> Result<Order> {
        let found = Order::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, order)| *order).ok_or_else(|| {
            tilework::Error::new(format!("layout {name:?}"))
                .field("layout")
                .rule("the result is an array of the same shape")
                .accepts("'K', 'C', 'F' or 'channels_last'; tw.pack(a, layout, convert=True) makes a buffer of any layout")
                .into()
        })
    }
}

/// How many threads work.
type Workers = Option<NonZeroUsize>;

/// The axes from the most major to the most minor of images with channels last: N, then what is behind the channels, then
/// these.
fn channels_minor(rank: usize) -> Each<usize> {
    let mut axes: Each<usize> = (0..rank).filter(|&axis| axis != 1).collect();
    axes.push(1);
    axes
}

/// The order that undoes an order.
fn inverse(axes: &[usize]) -> Each<usize> {
    let mut back = SmallVec::from_elem(0, axes.len());
    for (new, &old) in axes.iter().enumerate() {
        back[old] = new;
    }
    back
}

/// Axes as numbers from 0, if they are an order of all axes.
fn order(axes: Option<&Bound<'_, PyAny>>, rank: usize) -> Option<Each<usize>> {
    let Some(axes) = axes.filter(|axes| !axes.is_none()) else { return Some((0..rank).rev().collect()) };
    let mut order = Each::new();
    for axis in axes.try_iter().ok()? {
        let axis: isize = axis.ok()?.extract().ok()?;
        let axis = usize::try_from(if axis < 0 { axis.checked_add(rank as isize)? } else { axis }).ok()?;
        if axis >= rank || order.contains(&axis) {
            return None;
        }
        order.push(axis);
    }
    (order.len() == rank).then_some(order)
}
