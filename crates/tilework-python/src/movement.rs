//! What `pack`, `unpack` and `relayout` have in common.
//!
//! A call that was made before with arrays of this description finds its move by a key of plain numbers: no layout is
//! compared, and nothing of Python is looked up.

use pyo3::prelude::*;
use tilework::Element;
use tilework::{Error, Layout};

use crate::array::{self, Look};
use crate::element;
use crate::error::Result;
use crate::fill::Fill;
use crate::flat::Flat;
use crate::layout::PyLayout;

/// What is moved to what, which begins a key.
#[derive(Clone, Copy)]
pub enum Call {
    /// An array to a buffer.
    Pack,
    /// A buffer to a new array in row-major order.
    Unpack,
    /// A buffer to an array of the caller's.
    UnpackTo,
    /// A buffer to a buffer.
    Relayout,
}

/// The numbers that tell a move from all others: layouts by their numbers, arrays by sizes and strides.
pub fn key(
    call: Call,
    sides: &[u64],
    fill: Fill,
    convert: bool,
    (shape, strides): (&[usize], &[isize]),
) -> Vec<u64> {
    let mut key = Vec::with_capacity(8 + 2 * shape.len());
    let (said, bits) = match fill {
        Fill::Unsaid => (0, 0),
        Fill::Leave => (1, 0),
        Fill::Bits(bits) => (2, bits),
    };
    key.extend([call as u64 | said << 8 | u64::from(convert) << 16, bits as u64, (bits >> 64) as u64]);
    key.extend(sides);
    key.extend(shape.iter().map(|&size| size as u64));
    key.extend(strides.iter().map(|&stride| stride as u64));
    key
}

/// The elements of an array.
pub struct Elements {
    pub element: Element,
    pub itemsize: usize,
}

impl Elements {
    /// Those of an array which mostly has the type of a layout.
    pub fn of(look: &Look<'_>, layout: &PyLayout) -> Result<Elements> {
        let dtypes = layout.dtypes(look.array.py())?;
        if array::has_dtype(&look.array, &dtypes.element) {
            return Ok(Elements { element: layout.element, itemsize: dtypes.itemsize });
        }
        Ok(Elements { element: element::of_array(&look.array)?, itemsize: look.itemsize })
    }
}

/// The bits that count as the place of an element of an array, beside a layout with elements of `other_bits` bits.
///
/// NumPy's elements have whole bytes. Where a layout has narrower ones, the low bits of each byte are an element, and the
/// others are places that hold none, except where the engine has kernels for whole bytes.
pub fn place_bits(element: Element, itemsize: usize, other: Element, other_bits: u32) -> u32 {
    let narrow = element.bits() == 4;
    match (itemsize, element == other, other_bits) {
        (1, true, 1 | 2) => other_bits,
        (1, false, _) if narrow => 4,
        _ => itemsize as u32 * 8, // at most 16 bytes
    }
}

/// How an array with strides of whole elements lies in its extent.
pub fn lies(shape: &[usize], strides: &[isize], itemsize: usize, bits: u32) -> Result<Layout> {
    array::layout(shape, strides, itemsize, bits)?
        .ok_or_else(|| Error::new(format!("strides {strides:?}")).rule("strides are whole elements").into())
}

/// The whole memory of an array as a flat buffer, where that is the layout.
pub fn flat_view<'py>(look: &Look<'py>, to: &PyLayout) -> Result<Bound<'py, PyAny>> {
    let dtypes = to.dtypes(look.array.py())?;
    if look.memory.bytes as u64 != to.layout.bytes() || dtypes.is_packed {
        return Err(Error::new("no view of elements that have no bytes of their own").into());
    }
    look.check()?;
    let (dims, strides) = ([to.layout.size()], [dtypes.itemsize as isize]);
    let (first, writable) = (look.memory.start, look.is_writable);
    // SAFETY: the extent of the array, which has these bytes and was not moved since.
    let view = unsafe { array::view(look.array.as_any(), &dtypes.buffer, first, &dims, &strides, writable)? };
    Ok(view.into_any())
}

/// The elements of a buffer as an array with strides.
pub fn strided_view<'py>(buffer: &Flat<'py>, from: &PyLayout) -> Result<Bound<'py, PyAny>> {
    let form = from.strided_form().as_ref().map_err(Clone::clone)?;
    let look = &buffer.look;
    let dtypes = from.dtypes(look.array.py())?;
    let itemsize = dtypes.itemsize as isize;
    // Only where no step is ever taken may a stride be too large.
    let strides: Vec<isize> =
        form.strides.iter().map(|&stride| (stride as isize).wrapping_mul(itemsize)).collect();
    look.check()?;
    let first = look.memory.start.wrapping_add(form.first as usize * dtypes.itemsize);
    // Who writes to an element that several indices show changes them all: NumPy refuses that for its broadcasts, too.
    let writable = form.is_injective && look.is_writable;
    // SAFETY: all offsets of the layout are below its size, which the buffer has in elements that are whole bytes; it
    // was not moved since.
    let view = unsafe {
        array::view(look.array.as_any(), &dtypes.element, first, from.layout.dims(), &strides, writable)?
    };
    Ok(view.into_any())
}

/// Why there is no view, for those who want nothing else.
pub fn refuse_copy(copy: Option<bool>, found: &str) -> Result<()> {
    match copy {
        Some(false) => Err(Error::new(found)
            .field("copy")
            .rule("copy=False wants a view, and only a copy can show this")
            .accepts("copy=True, or copy=None, which copies where it must")
            .into()),
        _ => Ok(()),
    }
}

/// What is written to `out` is a copy.
pub fn refuse_out(copy: Option<bool>) -> Result<()> {
    refuse_copy(copy, "an array to write to, out")
}
