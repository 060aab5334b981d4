//! Memory of another library as an array of NumPy.

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tilework::Element;
use tilework::Error;

use super::{Form, HOST, Managed, READ_ONLY, Tensor, Versioned, element};
use crate::array::{self, Array};
use crate::element::Dtypes;
use crate::error::{Bad, Result};

/// Types of memory that the processor reads as it does the host's: its own, and what CUDA, ROCm and both at once pin there.
const READABLE: [i32; 4] = [HOST, 3, 11, 13];

/// An array of NumPy that shows the memory of an object with `__dlpack__`.
#[pyfunction]
pub fn from_dlpack<'py>(value: &Bound<'py, PyAny>) -> Result<Array<'py>> {
    let py = value.py();
    let (device, number): (i32, i32) =
        value.call_method0("__dlpack_device__").map_err(|error| not_shared(py, error))?.extract()?;
    check_device(device, number)?;
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 1))?;
    let capsule = match value.call_method("__dlpack__", (), Some(&options)) {
        // Who does not know of versions hands out the old form.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => value.call_method0("__dlpack__"),
        given => given,
    };
    let capsule = capsule.map_err(|error| not_shared(py, error))?;
    // SAFETY: the names say what the capsules hold, which stays there until it is taken.
    unsafe {
        if let Some(managed) = held::<Versioned>(&capsule)? {
            let (major, minor) = ((*managed).major, (*managed).minor);
            if major != 1 {
                let error = Error::new(format!("DLPack {major}.{minor}")).field("array");
                return Err(error.accepts("version 1, or the form before it").into());
            }
            let writable = (*managed).flags & READ_ONLY == 0;
            return shown(&capsule, managed, &(*managed).tensor, writable);
        }
        if let Some(managed) = held::<Managed>(&capsule)? {
            // Nothing says whether it may be written.
            return shown(&capsule, managed, &(*managed).tensor, false);
        }
    }
    Err(PyTypeError::new_err("__dlpack__ returned no capsule of DLPack that nobody took before").into())
}

/// Refuses memory that the processor does not read.
fn check_device(device: i32, number: i32) -> Result<(), Error> {
    match READABLE.contains(&device) {
        true => Ok(()),
        false => Err(Error::new(format!("a tensor on device {number} of type {device}"))
            .field("array")
            .rule("data is moved in the memory of the host")
            .accepts("a copy there, such as tensor.cpu()")),
    }
}

/// What a library answers that does not hand out a tensor, such as one with a gradient.
fn not_shared(py: Python<'_>, error: PyErr) -> Bad {
    let refused = error.is_instance_of::<PyBufferError>(py)
        || error.is_instance_of::<PyRuntimeError>(py)
        || error.is_instance_of::<PyValueError>(py);
    match refused {
        true => Error::new(format!("a tensor that is not shared: {}", error.value(py))).field("array").into(),
        false => Bad::Python(error),
    }
}

/// What a capsule holds, if it is one of this form that nobody took.
fn held<T: Form>(capsule: &Bound<'_, PyAny>) -> Result<Option<*mut T>> {
    // SAFETY: any object may be asked, and the name is static.
    let held = unsafe {
        match ffi::PyCapsule_IsValid(capsule.as_ptr(), T::NAME.as_ptr()) {
            1 => ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::NAME.as_ptr()).cast::<T>(),
            _ => return Ok(None),
        }
    };
    match !held.is_null() && held.is_aligned() {
        true => Ok(Some(held)),
        false => Err(Error::new("a capsule without a tensor").field("array").into()),
    }
}

/// A tensor that was checked: how an array of NumPy shows it.
struct Checked {
    element: Element,
    first: *mut u8,
    dims: Vec<u64>,
    /// In bytes.
    strides: Vec<isize>,
}

/// Checks a tensor, in this order:
///
/// 1. the memory is the host's;
/// 2. the elements have a type of NumPy's or of `ml_dtypes`;
/// 3. the rank is one that NumPy has, and there are sizes for it, none of which is negative;
/// 4. there is memory if there are elements;
/// 5. all of them, from the lowest to the highest byte, are within the addresses of one object.
///
/// # Safety
/// If the rank is within bounds, `shape` points to as many numbers as the rank or is null, and so does `strides`.
unsafe fn check(tensor: &Tensor) -> Result<Checked, Error> {
    let bad = |found: String| Error::new(found).field("array");
    check_device(tensor.device_type, tensor.device_id)?; // 1
    let Some(element) = element(tensor.dtype) else {
        let (code, bits, lanes) = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
        return Err(Error::new(format!("elements of code {code}, {bits} bits and {lanes} lanes"))
            .field("dtype")
            .rule("NumPy and ml_dtypes have a type of whole bytes for each element")
            .accepts("the tensor's bytes as uint8")); // 2
    };
    let itemsize = i128::from(tensor.dtype.bits / 8);
    let rank = usize::try_from(tensor.rank).ok().filter(|&rank| rank <= MOST_DIMENSIONS);
    let Some(rank) = rank else {
        return Err(bad(format!("a tensor of {} dimensions", tensor.rank))
            .accepts(format!("0 to {MOST_DIMENSIONS} dimensions"))); // 3
    };
    if rank > 0 && tensor.shape.is_null() {
        return Err(bad(format!("a tensor of {rank} dimensions without sizes"))); // 3
    }
    // SAFETY: the caller's promise; numbers of any alignment.
    let list =
        |start: *mut i64| (0..rank).map(|dim| unsafe { start.wrapping_add(dim).read_unaligned() }).collect();
    let sizes: Vec<i64> = list(tensor.shape);
    let strides: Option<Vec<i64>> = (!tensor.strides.is_null()).then(|| list(tensor.strides));
    let unfit = || bad(format!("a tensor of sizes {sizes:?} and strides {strides:?}"));
    let dims: Vec<u64> =
        sizes.iter().map(|&size| u64::try_from(size).map_err(|_| unfit())).collect::<Result<_, _>>()?; // 3
    let is_empty = dims.contains(&0);
    if tensor.data.is_null() && !is_empty {
        return Err(bad("a tensor with elements but without memory".to_owned())); // 4
    }
    let too_large = || unfit().rule("elements are within the memory that can be addressed");
    let (mut each, mut in_order) = (vec![0_isize; rank], itemsize);
    let (mut below, mut above) = (0_i128, itemsize);
    for dim in (0..rank).rev() {
        let size = i128::from(dims[dim]);
        // No step is ever taken along a dimension of one element.
        let stride = match &strides {
            _ if is_empty || size == 1 => 0,
            Some(strides) => i128::from(strides[dim]) * itemsize,
            None => in_order,
        };
        each[dim] = isize::try_from(stride).map_err(|_| too_large())?; // 5
        in_order *= size.max(1); // at most 2^63 times 2^64
        // NumPy counts all elements, also those that share their memory.
        if in_order > isize::MAX as i128 {
            return Err(too_large());
        }
        let reach = stride * (size - 1).max(0); // less than 2^63 times 2^63
        let side = if reach < 0 { &mut below } else { &mut above };
        *side = side.saturating_add(reach);
    }
    let first = tensor.data.addr() as i128 + i128::from(tensor.byte_offset);
    let is_within = tensor.byte_offset <= isize::MAX as u64
        && first.saturating_add(below) >= 0
        && first.saturating_add(above) <= usize::MAX as i128
        && above.saturating_sub(below) <= isize::MAX as i128;
    if !is_empty && !is_within {
        return Err(too_large()); // 5
    }
    Ok(Checked {
        element,
        first: tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize),
        dims,
        strides: each,
    })
}

/// The most dimensions that an array of NumPy has.
const MOST_DIMENSIONS: usize = 64;

/// Takes a tensor out of its capsule and shows its memory. A tensor that cannot be shown stays in its capsule.
///
/// # Safety
/// The capsule holds `managed`, whose tensor this is.
unsafe fn shown<'py, T: Form>(
    capsule: &Bound<'py, PyAny>,
    managed: *mut T,
    tensor: &Tensor,
    writable: bool,
) -> Result<Array<'py>> {
    // SAFETY: the protocol promises the sizes and strides.
    let Checked { element, first, dims, strides } = unsafe { check(tensor)? };
    // Before anything else runs that could take the tensor, too.
    let owner = taken(capsule, managed)?;
    let dtypes = Dtypes::of(capsule.py(), element)?;
    // SAFETY: the producer of the tensor promises its memory until the deleter is called, which the owner does in the end.
    unsafe { array::view(&owner, &dtypes.element, first, &dims, &strides, writable) }
}

/// An object that owns what the capsule held.
fn taken<'py, T: Form>(capsule: &Bound<'py, PyAny>, managed: *mut T) -> PyResult<Bound<'py, PyAny>> {
    const OWNER: &std::ffi::CStr = c"tilework.memory";
    unsafe extern "C" fn gone<T: Form>(owner: *mut ffi::PyObject) {
        // SAFETY: Python hands in the owner that goes, which holds the tensor alone.
        unsafe { T::delete(ffi::PyCapsule_GetPointer(owner, OWNER.as_ptr()).cast()) }
    }
    let py = capsule.py();
    // SAFETY: the capsule holds the tensor until its name says otherwise; from then on it is ours.
    unsafe {
        if ffi::PyCapsule_SetName(capsule.as_ptr(), T::USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        let owner = ffi::PyCapsule_New(managed.cast(), OWNER.as_ptr(), Some(gone::<T>));
        if owner.is_null() {
            let error = PyErr::fetch(py);
            T::delete(managed);
            return Err(error);
        }
        Ok(Bound::from_owned_ptr(py, owner))
    }
}
