//! `DML_BUFFER_TENSOR_DESC` as a value that is known to be right.

use smallvec::SmallVec;

use super::data_type::DataType;
use super::raw::{Desc, TypeField};
use super::size;
use crate::error::{Error, ErrorKind, Result};
use crate::few::Few;

/// The sizes or strides of a tensor.
pub(crate) type Row = SmallVec<[u32; 8]>;
/// Strides in more bits than the field has: those of a packed tensor can pass 32 bits.
pub(crate) type WideRow = SmallVec<[u64; 8]>;

/// `DML_TENSOR_FLAGS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorFlags(u32);

impl TensorFlags {
    /// Nothing special.
    pub const NONE: TensorFlags = TensorFlags(0);
    /// DirectML owns the tensor: bound when the operator is initialized, and not at execution. Input tensors only.
    pub const OWNED_BY_DML: TensorFlags = TensorFlags(1);

    /// The flags with the names of DirectML; other bits are dropped.
    pub fn from_bits(bits: u32) -> TensorFlags {
        TensorFlags(bits & 1)
    }

    /// The number in `DML_TENSOR_FLAGS`.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// The name without the prefix `DML_TENSOR_FLAG_`.
    pub fn name(self) -> &'static str {
        if self.0 == 0 { "NONE" } else { "OWNED_BY_DML" }
    }
}

/// A description of a tensor in a buffer that breaks no rule: how many elements of which type, and where each lies.
///
/// Sizes are never reordered for a layout; strides are. Strides and offsets count elements, totals count bytes.
///
/// ```
/// use tilework::directml::{BufferTensorDesc, DataType};
/// // 3 × 224 × 224 of a 226 × 226 image
/// let desc = BufferTensorDesc::new(DataType::Float32, &[1, 3, 224, 224])?
///     .with_strides(&[153228, 51076, 226, 1])?;
/// assert_eq!(desc.total_bytes(), 611096);
/// assert_eq!(desc.offset(&[0, 0, 1, 1])?, 227);
/// assert_eq!(desc.to_string(), "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]");
/// # Ok::<(), tilework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferTensorDesc {
    data_type: DataType,
    flags: TensorFlags,
    sizes: Row,
    strides: Option<Row>,
    /// A total that was declared, above the least one or equal to it. Changing sizes or strides checks it again.
    declared: Option<u64>,
    alignment: u32,
}

impl BufferTensorDesc {
    /// A packed tensor: no strides, the computed total, no promised alignment.
    ///
    /// # Errors
    /// No dimensions or more than 8, a size of 0, or more bytes than 63 bits can count.
    pub fn new(data_type: DataType, sizes: &[u32]) -> Result<BufferTensorDesc> {
        Desc::new(data_type, sizes).build()
    }

    /// What has passed the checker. The elements must still be countable.
    pub(crate) fn checked(
        data_type: DataType,
        flags: TensorFlags,
        sizes: Row,
        strides: Option<Row>,
        declared: Option<u64>,
        alignment: u32,
    ) -> Result<BufferTensorDesc> {
        let elements = size::product(sizes.iter().map(|&size| u64::from(size)));
        if elements.is_none_or(|elements| elements > u128::from(u64::MAX)) {
            return Err(Error::new("the number of elements overflows 64 bits")
                .of_kind(ErrorKind::Overflow)
                .field("Sizes")
                .accepts("smaller sizes"));
        }
        Ok(BufferTensorDesc { data_type, flags, sizes, strides, declared, alignment })
    }

    /// The same tensor with these strides: 0 broadcasts, larger than packed pads.
    ///
    /// # Errors
    /// Another number of strides than sizes, more bytes than 63 bits can count, or a declared total that is now too
    /// small.
    pub fn with_strides(&self, strides: &[u32]) -> Result<BufferTensorDesc> {
        let strides = strides.iter().map(|&stride| i64::from(stride)).collect();
        Desc { strides: Some(strides), ..self.to_desc() }.build()
    }

    /// The same tensor packed in the order of its sizes, without strides.
    ///
    /// # Errors
    /// A declared total that is too small for it.
    pub fn without_strides(&self) -> Result<BufferTensorDesc> {
        Desc { strides: None, ..self.to_desc() }.build()
    }

    /// The same tensor with a declared total.
    ///
    /// # Errors
    /// A total below [`minimum_bytes`](Self::minimum_bytes), or not a multiple of 4.
    pub fn with_declared_total(&self, bytes: u64) -> Result<BufferTensorDesc> {
        Desc { total: Some(bytes), ..self.to_desc() }.build()
    }

    /// The same tensor with a promise about the offset it will be bound at.
    ///
    /// # Errors
    /// Neither 0 nor a power of two that is at least one element.
    pub fn with_alignment(&self, alignment: u32) -> Result<BufferTensorDesc> {
        Desc { alignment: u64::from(alignment), ..self.to_desc() }.build()
    }

    /// The same tensor with these flags.
    #[must_use]
    pub fn with_flags(&self, flags: TensorFlags) -> BufferTensorDesc {
        BufferTensorDesc { flags, ..self.clone() }
    }

    /// The same tensor without a declared total: it is computed.
    #[must_use]
    pub fn without_declared_total(&self) -> BufferTensorDesc {
        BufferTensorDesc { declared: None, ..self.clone() }
    }

    /// The type of the elements.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The flags.
    pub fn flags(&self) -> TensorFlags {
        self.flags
    }

    /// The number of dimensions, 1 to 8.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The sizes of the dimensions.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The strides, in elements, where there are any; none means packed in the order of the sizes.
    pub fn strides(&self) -> Option<&[u32]> {
        self.strides.as_deref()
    }

    /// The strides, those of the packed tensor where none are given.
    pub fn effective_strides(&self) -> Few<u64, 8> {
        Few::of(match &self.strides {
            Some(strides) => strides.iter().map(|&stride| u64::from(stride)).collect(),
            None => packed(&self.sizes),
        })
    }

    /// The alignment promised for the bound offset; 0 promises nothing.
    pub fn alignment(&self) -> u32 {
        self.alignment
    }

    /// The total that was declared, if one was.
    pub fn declared_total(&self) -> Option<u64> {
        self.declared
    }

    /// `TotalTensorSizeInBytes`: what was declared, or else the least that holds the tensor. Never stale.
    pub fn total_bytes(&self) -> u64 {
        self.declared.unwrap_or_else(|| self.minimum_bytes())
    }

    /// The least total: from the first to the last element, rounded up to 4 bytes.
    pub fn minimum_bytes(&self) -> u64 {
        let bytes = size::bytes(u128::from(self.minimum_elements()), self.data_type.bits());
        bytes.and_then(size::round_up).map_or(u64::MAX, |bytes| bytes as u64) // within 63 bits by the checker
    }

    /// Elements from the first place to the last: the physical size, at least.
    pub fn minimum_elements(&self) -> u64 {
        let sizes = || self.sizes.iter().map(|&size| u64::from(size));
        let strides = self.strides.as_ref().map(|strides| strides.iter().map(|&stride| u64::from(stride)));
        size::span(sizes(), strides).map_or(u64::MAX, |span| span as u64) // within 63 bits by the checker
    }

    /// Elements of the tensor: the logical size, the product of the sizes.
    pub fn elements(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).product() // within 64 bits by `checked`
    }

    /// The offset of an element: the dot product of its index and the strides.
    ///
    /// # Errors
    /// An index of another rank, or outside the sizes.
    pub fn offset(&self, index: &[u64]) -> Result<u64> {
        if index.len() != self.rank() || index.iter().zip(&self.sizes).any(|(&i, &size)| i >= u64::from(size))
        {
            return Err(Error::new(format!("index {index:?} in sizes {:?}", &self.sizes[..]))
                .field("index")
                .rule("an index has one number for each dimension, below its size"));
        }
        Ok(index.iter().zip(self.effective_strides()).map(|(i, stride)| i * stride).sum())
    }

    /// The fields as they would be written.
    pub fn to_desc(&self) -> Desc {
        let wide = |row: &Row| row.iter().map(|&number| i64::from(number)).collect();
        Desc {
            data_type: TypeField::Known(self.data_type),
            flags: self.flags.bits(),
            dimension_count: None,
            sizes: wide(&self.sizes),
            strides: self.strides.as_ref().map(wide),
            total: self.declared,
            alignment: u64::from(self.alignment),
        }
    }

    /// The same type and flags over other sizes and strides: what every view of the elements is.
    ///
    /// Strides that are those of the packed tensor are left out if this tensor has none; strides of dimensions of size 1
    /// that do not fit 32 bits are 0, because they move nothing.
    pub(crate) fn reshaped(&self, sizes: Row, strides: &[u64]) -> Result<BufferTensorDesc> {
        let desc = |strides| Desc {
            sizes: sizes.iter().map(|&size| i64::from(size)).collect(),
            strides,
            ..self.to_desc()
        };
        if self.strides.is_none() && packed(&sizes)[..] == *strides {
            return desc(None).build();
        }
        let fit = |(&stride, &size): (&u64, &u32)| match size == 1 && stride > u64::from(u32::MAX) {
            true => 0,
            false => i64::try_from(stride).unwrap_or(i64::MAX),
        };
        desc(Some(strides.iter().zip(&sizes).map(fit).collect())).build()
    }
}

/// The strides of the packed tensor: each is the product of the sizes of the lower dimensions.
///
/// The sizes' product fits 64 bits.
pub(crate) fn packed(sizes: &[u32]) -> WideRow {
    let mut strides = WideRow::from_elem(1, sizes.len());
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(u64::from(sizes[dim]));
    }
    strides
}

impl TryFrom<&Desc> for BufferTensorDesc {
    type Error = Error;

    fn try_from(desc: &Desc) -> Result<BufferTensorDesc> {
        desc.build()
    }
}
