//! The memory of NumPy's arrays.

use std::ffi::c_int;
use std::ptr;

use numpy::npyffi::{
    self, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NPY_ORDER, NpyTypes, PY_ARRAY_API,
    PyArrayObject_fields,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;
use smallvec::SmallVec;
use tilework::Element;
use tilework::{Error, Layout};

use crate::element;
use crate::error::Result;

/// Bytes that a move reads or writes. Whoever makes one keeps what owns it alive.
#[derive(Clone, Copy)]
pub struct Memory {
    pub start: *mut u8,
    pub bytes: usize,
}

// SAFETY: an address; using it is what needs care.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Whether the two share a byte.
    pub fn overlaps(self, other: Memory) -> bool {
        let end = |memory: Memory| memory.start.addr().saturating_add(memory.bytes);
        let empty = self.bytes == 0 || other.bytes == 0;
        !empty && self.start.addr() < end(other) && other.start.addr() < end(self)
    }
}

/// An array of NumPy.
pub type Array<'py> = Bound<'py, PyUntypedArray>;

fn fields<'a>(array: &'a Array<'_>) -> &'a PyArrayObject_fields {
    // SAFETY: the object is an array, which is alive as long as it is borrowed.
    unsafe { &*npyffi::objects::_PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const()) }
}

/// Where element (0, …) is.
fn data(array: &Array<'_>) -> *mut u8 {
    fields(array).data.cast()
}

/// Whether the dtype of an array is this one, which its address mostly tells.
pub fn has_dtype(array: &Array<'_>, dtype: &Py<PyArrayDescr>) -> bool {
    let own = fields(array).descr;
    ptr::eq(own.cast(), dtype.as_ptr()) || array.dtype().is_equiv_to(dtype.bind(array.py()))
}

pub fn is_writable(array: &Array<'_>) -> bool {
    fields(array).flags & NPY_ARRAY_WRITEABLE != 0
}

/// Whether the elements lie one after the other, the last index running fastest.
pub fn is_contiguous(array: &Array<'_>) -> bool {
    fields(array).flags & NPY_ARRAY_C_CONTIGUOUS != 0
}

/// An array at the moment when its memory is used: where it is and how it lies, copied out of the array.
///
/// Whatever runs code of Python's may move the memory of an array or give it another shape: `__index__` of an argument, a
/// `__del__`, another thread. So a function of this crate
///
/// 1. asks Python for all of its arguments,
/// 2. then looks at its arrays, and works with the looks alone;
/// 3. bytes are read and written only if the look still holds ([`Look::check`]), and while other threads of Python run, the
///    owners of the memory cannot be resized ([`Look::pin`]).
pub struct Look<'py> {
    pub array: Array<'py>,
    /// Where element (0, …) is.
    pub first: *mut u8,
    pub shape: SmallVec<[usize; 6]>,
    /// In bytes.
    pub strides: SmallVec<[isize; 6]>,
    pub itemsize: usize,
    pub is_writable: bool,
    /// All of its memory: no element reaches beyond it on either side.
    pub memory: Memory,
    /// Keeps the dtype alive, so that its address says which one it is.
    dtype: Bound<'py, PyArrayDescr>,
}

impl<'py> Look<'py> {
    pub fn at(array: Array<'py>) -> Look<'py> {
        let dtype = array.dtype();
        let itemsize = dtype.itemsize();
        let (first, is_writable) = (data(&array), is_writable(&array));
        let (shape, strides) = (SmallVec::from_slice(array.shape()), SmallVec::from_slice(array.strides()));
        let memory = extent(first, &shape, &strides, itemsize);
        Look { array, first, shape, strides, itemsize, is_writable, memory, dtype }
    }

    /// Whether a stride is no whole number of elements.
    pub fn has_odd_strides(&self) -> bool {
        let itemsize = self.itemsize.max(1) as isize;
        self.strides.iter().any(|stride| stride % itemsize != 0)
    }

    /// Refuses an array that was moved, reshaped or given another type since it was looked at.
    pub fn check(&self) -> Result<()> {
        let fields = fields(&self.array);
        let is_same = fields.data.cast() == self.first
            && fields.descr.cast() == self.dtype.as_ptr()
            && self.array.shape() == &self.shape[..]
            && self.array.strides() == &self.strides[..]
            && is_writable(&self.array) == self.is_writable;
        if is_same {
            return Ok(());
        }
        let error = Error::new("an array that was moved or changed during the call")
            .field("array")
            .rule("an array stays where and what it is while its data is moved");
        Err(error.into())
    }

    /// Keeps the memory where it is until the result is dropped, also if other threads of Python run meanwhile: NumPy
    /// resizes no array to which there are weak references, whatever its `refcheck`.
    pub fn pin(&self) -> Result<Vec<Bound<'py, PyWeakrefReference>>> {
        let mut array = self.array.clone();
        let mut pins = Vec::new();
        loop {
            pins.push(PyWeakrefReference::new(array.as_any())?);
            let base = fields(&array).base;
            // SAFETY: null, or the object that the array keeps alive.
            let base = unsafe { Bound::from_borrowed_ptr_or_opt(array.py(), base) };
            match base.and_then(|base| base.cast_into::<PyUntypedArray>().ok()) {
                Some(owner) => array = owner,
                None => return Ok(pins),
            }
        }
    }
}

/// All memory of an array of this description: no element reaches beyond it on either side.
pub fn extent(first: *mut u8, shape: &[usize], strides: &[isize], itemsize: usize) -> Memory {
    if shape.contains(&0) {
        return Memory { start: first, bytes: 0 };
    }
    let (mut below, mut above) = (0_usize, itemsize);
    for (&size, &stride) in shape.iter().zip(strides) {
        let reach = stride.unsigned_abs().saturating_mul(size - 1);
        let side = if stride < 0 { &mut below } else { &mut above };
        *side = side.saturating_add(reach);
    }
    Memory { start: first.wrapping_sub(below), bytes: below.saturating_add(above) }
}

/// How an array lies in its [`extent`], in places of `bits` bits, of which an element begins at one and has one.
///
/// None where a stride is no whole number of elements.
pub fn layout(shape: &[usize], strides: &[isize], itemsize: usize, bits: u32) -> Result<Option<Layout>> {
    let dims: Vec<u64> = shape.iter().map(|&size| size as u64).collect();
    if dims.contains(&0) {
        return Ok(Some(Layout::strided(&dims, bits, &vec![0; dims.len()], None, None)?));
    }
    let places = itemsize as i64 * 8 / i64::from(bits); // of each element
    let (mut in_places, mut below, mut above) = (Vec::with_capacity(dims.len()), 0_i128, 0_i128);
    for (&size, &stride) in shape.iter().zip(strides) {
        let stride = if size == 1 { 0 } else { stride as i64 };
        if stride % itemsize as i64 != 0 {
            return Ok(None);
        }
        let Some(stride) = (stride / itemsize as i64).checked_mul(places) else { return Ok(None) };
        let reach = i128::from(stride) * (size as i128 - 1);
        if reach < 0 {
            below -= reach
        } else {
            above += reach
        }
        in_places.push(stride);
    }
    let number = |count: i128| {
        u64::try_from(count).map_err(|_| Error::new(format!("an array that spans {count} elements")))
    };
    let (base, size) = (number(below)?, number(below + above + i128::from(places))?);
    Ok(Some(Layout::strided(&dims, bits, &in_places, Some(base), Some(size))?))
}

/// A new array in row-major order, of zeros or of whatever memory holds. A large one begins at a line of the cache, which
/// NumPy's own do not, so that whole lines can be stored past the cache.
pub fn fresh<'py>(
    py: Python<'py>,
    dtype: &Py<PyArrayDescr>,
    dims: &[u64],
    zeros: bool,
) -> Result<Array<'py>> {
    let itemsize = dtype.bind(py).itemsize();
    if dtype.bind(py).has_object() {
        // Only NumPy's own memory holds references from its first moment on.
        return allocated(py, dtype, dims, zeros);
    }
    let bytes = dims.iter().try_fold(itemsize as u64, |bytes, &size| bytes.checked_mul(size));
    let Some(bytes @ LARGE..=MOST) = bytes else { return allocated(py, dtype, dims, zeros) };
    let room = allocated(py, &element::descr(py, Element::U8)?.unbind(), &[bytes + LINE], zeros)?;
    let first = data(&room);
    let first = first.wrapping_add(first.addr().wrapping_neg() % LINE as usize);
    let mut strides = vec![0; dims.len()];
    let mut stride = itemsize as isize;
    for (place, &size) in strides.iter_mut().zip(dims).rev() {
        *place = stride;
        stride = stride.wrapping_mul(size as isize); // within the bytes
    }
    // SAFETY: the bytes of the array from the first line on are within the room.
    unsafe { view(room.as_any(), dtype, first, dims, &strides, true) }
}

/// A new array of another's shape, whose elements lie in an order that NumPy names: `np.empty_like`.
pub fn like<'py>(
    array: &Array<'py>,
    dtype: &Bound<'py, PyArrayDescr>,
    order: NPY_ORDER,
) -> Result<Array<'py>> {
    let py = array.py();
    let dtype = dtype.clone().into_dtype_ptr(); // taken by the call
    // SAFETY: an array and a dtype; NumPy answers with a new array, of no subclass, or an error.
    unsafe {
        let made = PY_ARRAY_API.PyArray_NewLikeArray(py, array.as_array_ptr(), order, dtype, 0);
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

/// A line of the cache, in bytes.
const LINE: u64 = 64;

/// From this number of bytes on it matters where an array begins.
const LARGE: u64 = 1 << 20;

/// No memory has more bytes; NumPy knows what to say then.
const MOST: u64 = 1 << 56;

/// An array where NumPy's allocator puts it.
fn allocated<'py>(
    py: Python<'py>,
    dtype: &Py<PyArrayDescr>,
    dims: &[u64],
    zeros: bool,
) -> Result<Array<'py>> {
    let mut shape = sizes(dims)?;
    let (rank, shape) = (shape.len() as c_int, shape.as_mut_ptr());
    let dtype = dtype.clone_ref(py).into_bound(py).into_dtype_ptr(); // taken by the call
    // SAFETY: `rank` sizes that are not negative, and a dtype; NumPy answers with a new array or an error.
    unsafe {
        let made = match zeros {
            true => PY_ARRAY_API.PyArray_Zeros(py, rank, shape, dtype, 0),
            false => PY_ARRAY_API.PyArray_Empty(py, rank, shape, dtype, 0),
        };
        Ok(Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked())
    }
}

fn sizes(dims: &[u64]) -> Result<Vec<isize>> {
    let each = dims.iter().map(|&size| {
        isize::try_from(size).map_err(|_| Error::new(format!("a dimension of {size}")).field("dims").into())
    });
    each.collect()
}

/// An array that shows memory of another object, which it keeps alive.
///
/// # Safety
/// The [`extent`] of the new array is within memory that `owner` keeps.
pub unsafe fn view<'py>(
    owner: &Bound<'py, PyAny>,
    dtype: &Py<PyArrayDescr>,
    first: *mut u8,
    dims: &[u64],
    strides: &[isize],
    writable: bool,
) -> Result<Array<'py>> {
    let py = owner.py();
    let (mut shape, mut strides) = (sizes(dims)?, strides.to_vec());
    let flags = if writable { NPY_ARRAY_WRITEABLE } else { 0 };
    let dtype = dtype.clone_ref(py).into_bound(py).into_dtype_ptr(); // taken by the call
    // SAFETY: as many strides as sizes; the memory is there by the caller's promise; the base is given away to the array.
    unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, NpyTypes::PyArray_Type),
            dtype,
            shape.len() as c_int,
            shape.as_mut_ptr(),
            strides.as_mut_ptr(),
            first.cast(),
            flags,
            ptr::null_mut(),
        );
        let made: Array<'py> = Bound::from_owned_ptr_or_err(py, made)?.cast_into_unchecked();
        if PY_ARRAY_API.PyArray_SetBaseObject(py, made.as_array_ptr(), owner.clone().into_ptr()) < 0 {
            return Err(PyErr::fetch(py).into());
        }
        Ok(made)
    }
}
