//! Memory of an array of NumPy for another library.

use std::ffi::c_void;
use std::ptr;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tilework::Error;

use super::{DataType, Form, HOST, IS_COPIED, Managed, READ_ONLY, Tensor, Versioned, data_type};
use crate::array::Look;
use crate::element;
use crate::error::Result;
use crate::flat;
use crate::layout::PyLayout;

/// An array that other libraries take without a copy, such as `torch.from_dlpack(tilework.to_dlpack(array))`.
#[pyclass(frozen, name = "DLPack", module = "tilework")]
pub struct PyDlpack {
    array: Py<PyUntypedArray>,
}

/// An array or a buffer as an object that `from_dlpack` of other libraries takes, bfloat16 and the float8 kinds, too.
///
/// The memory is shared, and lives as long as somebody shows it. What cannot be written cannot be written there either.
///
/// >>> import numpy as np, tilework as tw
/// >>> shared = tw.to_dlpack(np.arange(6.0))
/// >>> np.from_dlpack(shared)
/// array([0., 1., 2., 3., 4., 5.])
///
/// Strides are said as they are, negative ones and 0 too, and not every library takes them: PyTorch and JAX want a copy without
/// negative ones, `np.ascontiguousarray(array)`.
#[pyfunction]
pub fn to_dlpack(array: &Bound<'_, PyAny>) -> Result<PyDlpack> {
    if let Ok(layout) = array.cast::<PyLayout>() {
        return Err(without_memory(layout.get()).into());
    }
    let array = flat::array(array)?;
    exportable(&Look::at(array.clone()))?;
    Ok(PyDlpack { array: array.unbind() })
}

/// What is wrong with a layout in the place of an array: it has no memory, and DLPack might not be able to say it.
fn without_memory(layout: &PyLayout) -> Error {
    let (rule, accepts) = match layout.strided_form() {
        _ if layout.layout.bits() < 8 => (
            "DLPack packs elements of fewer than 8 bits side by side, and NumPy, whose memory is shared, gives each a byte",
            "the bytes of a packed buffer: tilework.to_dlpack(buffer)",
        ),
        Err(_) => (
            "DLPack has one stride for each dimension, in whole elements; tiles, swizzles and split dimensions have more",
            "the flat buffer, tilework.to_dlpack(buffer), with this layout beside it; or tilework.unpack(buffer, layout)",
        ),
        Ok(strided) if strided.strides.iter().any(|&stride| stride < 0) => (
            "DLPack shares memory, and a layout has none; it can say negative strides, which PyTorch and JAX do not take",
            "the array that lies so, or for PyTorch and JAX a copy of it: numpy.ascontiguousarray(array)",
        ),
        Ok(_) => (
            "DLPack shares memory, and a layout has none",
            "the array that lies so: tilework.to_dlpack(array)",
        ),
    };
    Error::new(format!("a layout, {}", layout.source)).field("array").rule(rule).accepts(accepts)
}

/// The type of an array in the words of DLPack, if that can say how the array lies.
fn exportable(look: &Look<'_>) -> Result<DataType> {
    let Some(dtype) = data_type(element::of_array(&look.array)?) else {
        let error = Error::new(format!("elements of dtype {}", look.array.dtype()))
            .field("dtype")
            .rule("DLPack packs elements of fewer than 8 bits side by side, and NumPy gives each of them a byte")
            .accepts("its bytes, one for each element: array.view('uint8')");
        return Err(error.into());
    };
    if look.has_odd_strides() {
        let error = Error::new(format!("strides of {:?} bytes", look.strides))
            .field("strides")
            .rule(format!("a stride of DLPack counts whole elements, of {} bytes here", look.itemsize))
            .accepts("a copy: numpy.ascontiguousarray(array)");
        return Err(error.into());
    }
    Ok(dtype)
}

#[pymethods]
impl PyDlpack {
    /// A capsule with the memory, as the protocol has it.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>> {
        if stream.is_some() {
            return Err(PyBufferError::new_err("memory of the host has no streams: stream=None").into());
        }
        if dl_device.is_some_and(|device| device != (HOST, 0)) {
            return Err(PyBufferError::new_err("the memory is that of the host: dl_device=(1, 0)").into());
        }
        let (mut array, mut flags) = (self.array.bind(py).clone(), 0);
        if copy == Some(true) {
            let options = PyDict::new(py);
            options.set_item("copy", true)?;
            let made = py.import("numpy")?.call_method("array", (array,), Some(&options))?;
            array = made.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
            flags = IS_COPIED;
        }
        // The array may have another type or form than when it was wrapped.
        let look = Look::at(array);
        let dtype = exportable(&look)?;
        look.check()?;
        if !look.is_writable {
            flags |= READ_ONLY;
        }
        match max_version {
            Some((1.., minor)) => {
                let minor = minor.min(1);
                Ok(capsule(
                    py,
                    held(&look, dtype, |tensor, context| Versioned {
                        major: 1,
                        minor,
                        context,
                        deleter: Some(delete::<Versioned>),
                        flags,
                        tensor,
                    }),
                )?)
            }
            _ if flags & READ_ONLY != 0 => {
                let message =
                    "the array is read-only, which DLPack says from version 1 on: max_version=(1, 0)";
                Err(PyBufferError::new_err(message).into())
            }
            _ => Ok(capsule(
                py,
                held(&look, dtype, |tensor, context| Managed {
                    tensor,
                    context,
                    deleter: Some(delete::<Managed>),
                }),
            )?),
        }
    }

    /// The memory of the host.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (HOST, 0)
    }
}

/// What a tensor that was handed out points to.
struct Context<T> {
    managed: Option<Box<T>>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// Keeps the memory alive.
    _array: Py<PyUntypedArray>,
}

/// A tensor that owns its context, which owns the array.
fn held<T>(look: &Look<'_>, dtype: DataType, form: impl FnOnce(Tensor, *mut c_void) -> T) -> *mut T {
    let itemsize = look.itemsize as i64;
    let context = Box::into_raw(Box::new(Context::<T> {
        managed: None,
        shape: look.shape.iter().map(|&size| size as i64).collect(),
        strides: look.strides.iter().map(|&stride| stride as i64 / itemsize).collect(),
        _array: look.array.clone().unbind(),
    }));
    // SAFETY: it was just made, and nobody else has it yet.
    let inner = unsafe { &mut *context };
    let tensor = Tensor {
        data: look.first.cast(),
        device_type: HOST,
        device_id: 0,
        rank: inner.shape.len() as i32, // at most 64
        dtype,
        shape: inner.shape.as_mut_ptr(),
        strides: inner.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed = inner.managed.insert(Box::new(form(tensor, context.cast())));
    ptr::from_mut(managed.as_mut())
}

/// The context of a form.
trait Owned: Form + Sized {
    fn context(&self) -> *mut c_void;
}

impl Owned for Managed {
    fn context(&self) -> *mut c_void {
        self.context
    }
}

impl Owned for Versioned {
    fn context(&self) -> *mut c_void {
        self.context
    }
}

/// Lets go of the array.
///
/// # Safety
/// `this` came from [`held`], and this is called once.
unsafe extern "C" fn delete<T: Owned>(this: *mut T) {
    // SAFETY: the context was boxed by `held` for this form, and belongs to `this` alone.
    let context = unsafe { Box::from_raw((*this).context().cast::<Context<T>>()) };
    let mut context = Some(context);
    // Any thread may call this. Once Python has ended, the memory stays where it is.
    Python::try_attach(|_| drop(context.take()));
    std::mem::forget(context);
}

/// A capsule that deletes what nobody took.
fn capsule<T: Form>(py: Python<'_>, managed: *mut T) -> PyResult<Bound<'_, PyAny>> {
    unsafe extern "C" fn gone<T: Form>(capsule: *mut ffi::PyObject) {
        // SAFETY: Python hands in the capsule that goes; by its name nobody has taken what it holds.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule, T::NAME.as_ptr()) == 1 {
                T::delete(ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr()).cast());
            }
        }
    }
    // SAFETY: the name is static, and the destructor knows this form. Without a capsule nobody has taken the tensor.
    unsafe {
        let made = ffi::PyCapsule_New(managed.cast(), T::NAME.as_ptr(), Some(gone::<T>));
        if made.is_null() {
            T::delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, made)
    }
}
