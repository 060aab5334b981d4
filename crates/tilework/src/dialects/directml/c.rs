//! The structures of DirectML.h, field for field, so that Windows is not needed to build them.
//!
//! Pointers are values here: they are filled in, never followed. Whoever holds a structure from C makes slices of its
//! pointers and hands them to [`Desc::from_c`].

use super::desc::BufferTensorDesc;
use super::raw::{Desc, TypeField};
use crate::error::{Error, Result};

/// `DML_BUFFER_TENSOR_DESC`.
#[allow(non_camel_case_types, non_snake_case)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DML_BUFFER_TENSOR_DESC {
    /// `DML_TENSOR_DATA_TYPE`
    pub DataType: u32,
    /// `DML_TENSOR_FLAGS`
    pub Flags: u32,
    /// The number of sizes, and of strides if there are any.
    pub DimensionCount: u32,
    /// The sizes.
    pub Sizes: *const u32,
    /// The strides, or null.
    pub Strides: *const u32,
    /// The total.
    pub TotalTensorSizeInBytes: u64,
    /// The promised alignment, or 0.
    pub GuaranteedBaseOffsetAlignment: u32,
}

/// `DML_TENSOR_DESC`.
#[allow(non_camel_case_types, non_snake_case)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DML_TENSOR_DESC {
    /// `DML_TENSOR_TYPE`: [`DML_TENSOR_TYPE_BUFFER`].
    pub Type: u32,
    /// A `DML_BUFFER_TENSOR_DESC`.
    pub Desc: *const DML_BUFFER_TENSOR_DESC,
}

/// `DML_TENSOR_TYPE_INVALID`.
pub const DML_TENSOR_TYPE_INVALID: u32 = 0;
/// `DML_TENSOR_TYPE_BUFFER`.
pub const DML_TENSOR_TYPE_BUFFER: u32 = 1;

// Where every field is, as a 64-bit C compiler has it. DirectML has no other 64-bit layout.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{align_of, offset_of, size_of};
    assert!(size_of::<DML_BUFFER_TENSOR_DESC>() == 48 && align_of::<DML_BUFFER_TENSOR_DESC>() == 8);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, DataType) == 0);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, Flags) == 4);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, DimensionCount) == 8);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, Sizes) == 16);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, Strides) == 24);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes) == 32);
    assert!(offset_of!(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment) == 40);
    assert!(size_of::<DML_TENSOR_DESC>() == 16 && align_of::<DML_TENSOR_DESC>() == 8);
    assert!(offset_of!(DML_TENSOR_DESC, Type) == 0 && offset_of!(DML_TENSOR_DESC, Desc) == 8);
};

impl BufferTensorDesc {
    /// The C structure. Its pointers are into this value, and valid as long as this value is neither moved nor dropped.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType, Desc};
    /// let desc = BufferTensorDesc::new(DataType::Float32, &[2, 3])?.with_strides(&[5, 1])?;
    /// let c = desc.to_c();
    /// assert_eq!((c.DataType, c.DimensionCount, c.TotalTensorSizeInBytes), (1, 2, 32));
    /// let back = Desc::from_c(&c, desc.sizes(), desc.strides())?.build()?;
    /// assert!(desc.same_view(&back)?.is_yes());
    /// # Ok::<(), tilework::Error>(())
    /// ```
    pub fn to_c(&self) -> DML_BUFFER_TENSOR_DESC {
        DML_BUFFER_TENSOR_DESC {
            DataType: self.data_type().number(),
            Flags: self.flags().bits(),
            DimensionCount: self.rank() as u32, // at most 8
            Sizes: self.sizes().as_ptr(),
            Strides: self.strides().map_or(std::ptr::null(), <[u32]>::as_ptr),
            TotalTensorSizeInBytes: self.total_bytes(),
            GuaranteedBaseOffsetAlignment: self.alignment(),
        }
    }
}

impl DML_TENSOR_DESC {
    /// The wrapper around a structure. Its pointer is valid as long as the structure is neither moved nor dropped.
    pub fn buffer(desc: &DML_BUFFER_TENSOR_DESC) -> DML_TENSOR_DESC {
        DML_TENSOR_DESC { Type: DML_TENSOR_TYPE_BUFFER, Desc: desc }
    }
}

impl Desc {
    /// What a C structure says. `sizes` and `strides` are what its pointers point to.
    ///
    /// # Errors
    /// Strides where the pointer is null, or none where it is not.
    pub fn from_c(c: &DML_BUFFER_TENSOR_DESC, sizes: &[u32], strides: Option<&[u32]>) -> Result<Desc> {
        if c.Strides.is_null() != strides.is_none() {
            let found =
                if c.Strides.is_null() { "strides for a null pointer" } else { "no strides for a pointer" };
            return Err(Error::new(found).field("Strides").accepts("the numbers that the pointer points to"));
        }
        let wide = |numbers: &[u32]| numbers.iter().map(|&number| i64::from(number)).collect();
        Ok(Desc {
            data_type: TypeField::from_number(c.DataType),
            flags: c.Flags,
            dimension_count: Some(i64::from(c.DimensionCount)),
            sizes: wide(sizes),
            strides: strides.map(wide),
            total: Some(c.TotalTensorSizeInBytes),
            alignment: u64::from(c.GuaranteedBaseOffsetAlignment),
        })
    }
}
