//! Memory of another library as an array of NumPy.

use std::slice;

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
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
    if !READABLE.contains(&device) {
        let error = Error::new(format!("a tensor on device {number} of type {device}"))
            .field("array")
            .rule("data is moved in the memory of the host")
            .accepts("a copy there, such as tensor.cpu()");
        return Err(error.into());
    }
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 1))?;
    let capsule = match value.call_method("__dlpack__", (), Some(&options)) {
        // Who does not know of versions hands out the old form.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => value.call_method0("__dlpack__"),
        given => given,
    };
    let capsule = capsule.map_err(|error| not_shared(py, error))?;
    let (is_new, is_old) = (holds::<Versioned>(&capsule), holds::<Managed>(&capsule));
    // SAFETY: the names say what the capsules hold, which stays there until it is taken.
    unsafe {
        if is_new {
            let managed = pointer::<Versioned>(&capsule)?;
            let (major, minor) = ((*managed).major, (*managed).minor);
            if major != 1 {
                let error = Error::new(format!("DLPack {major}.{minor}")).field("array");
                return Err(error.accepts("version 1, or the form before it").into());
            }
            let writable = (*managed).flags & READ_ONLY == 0;
            return shown(&capsule, managed, &(*managed).tensor, writable);
        }
        if is_old {
            // Nothing says whether it may be written.
            let managed = pointer::<Managed>(&capsule)?;
            return shown(&capsule, managed, &(*managed).tensor, false);
        }
    }
    Err(PyTypeError::new_err("__dlpack__ returned no capsule of DLPack").into())
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

fn holds<T: Form>(capsule: &Bound<'_, PyAny>) -> bool {
    // SAFETY: any object may be asked, and the name is static.
    unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), T::NAME.as_ptr()) == 1 }
}

/// What a capsule of this form holds.
fn pointer<T: Form>(capsule: &Bound<'_, PyAny>) -> PyResult<*mut T> {
    // SAFETY: any object may be asked, and the name is static.
    let held = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::NAME.as_ptr()) };
    if held.is_null() { Err(PyErr::fetch(capsule.py())) } else { Ok(held.cast()) }
}

/// Takes a tensor out of its capsule and shows its memory.
///
/// # Safety
/// The capsule holds `managed`, whose tensor this is.
unsafe fn shown<'py, T: Form>(
    capsule: &Bound<'py, PyAny>,
    managed: *mut T,
    tensor: &Tensor,
    writable: bool,
) -> Result<Array<'py>> {
    let py = capsule.py();
    let Some(element) = element(tensor.dtype) else {
        let (code, bits, lanes) = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
        let error = Error::new(format!("elements of code {code}, {bits} bits and {lanes} lanes"))
            .field("dtype")
            .rule("NumPy and ml_dtypes have a type of whole bytes for each element")
            .accepts("the tensor's bytes as uint8");
        return Err(error.into());
    };
    let dtypes = Dtypes::of(py, element)?;
    let rank = usize::try_from(tensor.rank).unwrap_or(0);
    // SAFETY: the protocol promises so many sizes, and so many strides if there are any.
    let (sizes, strides) = unsafe {
        let list = |start: *mut i64| match start.is_null() || rank == 0 {
            true => &[],
            false => slice::from_raw_parts(start.cast_const(), rank),
        };
        (list(tensor.shape), list(tensor.strides))
    };
    let too_large = || Error::new(format!("a tensor of sizes {sizes:?} and strides {strides:?}"));
    let dims: Vec<u64> =
        sizes.iter().map(|&size| u64::try_from(size).map_err(|_| too_large())).collect::<Result<_, _>>()?;
    let in_bytes = |stride: i64| (stride as isize).checked_mul(dtypes.itemsize as isize);
    let mut in_order = dtypes.itemsize as isize;
    let mut each = vec![0; dims.len()];
    for dim in (0..dims.len()).rev() {
        each[dim] = match strides.get(dim) {
            Some(&stride) => in_bytes(stride).ok_or_else(too_large)?,
            None => in_order,
        };
        in_order = in_order.saturating_mul(dims[dim].max(1) as isize);
    }
    let first = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
    let owner = taken(capsule, managed)?;
    // SAFETY: the producer of the tensor promises its memory until the deleter is called, which the owner does in the end.
    unsafe { array::view(&owner, &dtypes.element, first, &dims, &each, writable) }
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
