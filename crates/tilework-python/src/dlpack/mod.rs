//! DLPack: arrays of other libraries, in and out, without a copy.
//!
//! Memory is handed over in a capsule. Whoever takes it renames the capsule, so that nobody takes it again, and calls the
//! deleter when done with it; a capsule that nobody took calls it itself when it goes. NumPy speaks DLPack too, but not about
//! the types of `ml_dtypes`.

mod export;
mod import;

use std::ffi::{CStr, c_void};

pub use export::{PyDlpack, to_dlpack};
pub use import::from_dlpack;
use tilework::Element;

/// The structures of `dlpack.h`, version 1.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    rank: i32,
    dtype: DataType,
    shape: *mut i64,
    /// In elements; null for row-major order.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// Before version 1.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Since version 1.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

/// The device type of the memory of the host.
const HOST: i32 = 1;

/// One of the two forms, with the name of its capsule before and after it was taken.
trait Form {
    const NAME: &'static CStr;
    const USED: &'static CStr;
    /// Calls the deleter.
    ///
    /// # Safety
    /// `this` came in a capsule of this form and nobody has called its deleter.
    unsafe fn delete(this: *mut Self);
}

impl Form for Managed {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    unsafe fn delete(this: *mut Managed) {
        // SAFETY: the caller's promise; a deleter takes what it belongs to.
        unsafe {
            if let Some(deleter) = (*this).deleter {
                deleter(this);
            }
        }
    }
}

impl Form for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    unsafe fn delete(this: *mut Versioned) {
        // SAFETY: as above.
        unsafe {
            if let Some(deleter) = (*this).deleter {
                deleter(this);
            }
        }
    }
}

/// The type of elements that have bytes of their own. DLPack lets narrower ones share bytes, which no array of NumPy does.
fn data_type(element: Element) -> Option<DataType> {
    let (code, bits) = element.dlpack();
    (bits >= 8).then_some(DataType { code, bits, lanes: 1 })
}

fn element(dtype: DataType) -> Option<Element> {
    Element::from_dlpack(dtype.code, dtype.bits).filter(|element| data_type(*element) == Some(dtype))
}
