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
use tilework::xla::PrimitiveType as Type;

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

/// The type codes of `dlpack.h`, with the bits of an element.
const CODES: [(Type, u8, u8); 23] = [
    (Type::S8, 0, 8),
    (Type::S16, 0, 16),
    (Type::S32, 0, 32),
    (Type::S64, 0, 64),
    (Type::U8, 1, 8),
    (Type::U16, 1, 16),
    (Type::U32, 1, 32),
    (Type::U64, 1, 64),
    (Type::F16, 2, 16),
    (Type::F32, 2, 32),
    (Type::F64, 2, 64),
    (Type::Bf16, 4, 16),
    (Type::C64, 5, 64),
    (Type::C128, 5, 128),
    (Type::Pred, 6, 8),
    (Type::F8e3m4, 7, 8),
    (Type::F8e4m3, 8, 8),
    (Type::F8e4m3b11fnuz, 9, 8),
    (Type::F8e4m3fn, 10, 8),
    (Type::F8e4m3fnuz, 11, 8),
    (Type::F8e5m2, 12, 8),
    (Type::F8e5m2fnuz, 13, 8),
    (Type::F8e8m0fnu, 14, 8),
];

fn data_type(element: Type) -> Option<DataType> {
    let found = CODES.iter().find(|(known, ..)| *known == element)?;
    Some(DataType { code: found.1, bits: found.2, lanes: 1 })
}

fn element(dtype: DataType) -> Option<Type> {
    let same = |&&(_, code, bits): &&(Type, u8, u8)| DataType { code, bits, lanes: 1 } == dtype;
    CODES.iter().find(same).map(|&(element, ..)| element)
}
