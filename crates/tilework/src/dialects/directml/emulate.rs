//! Types in place of others: 64-bit integers as their low 32 bits, narrow parts of wide elements, nibbles in bytes.

use super::data_type::DataType;
use super::desc::{BufferTensorDesc, WideRow};
use super::raw::Desc;
use super::raw::TypeField;
use crate::error::{Error, Result};

impl BufferTensorDesc {
    /// 64-bit integers as their low halves, as ONNX Runtime did before DirectML had them: `UINT32`, every stride doubled,
    /// and 4 bytes more so that the last high half is inside.
    ///
    /// The high halves must be zero. Negative numbers do not survive (onnxruntime#6816).
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType};
    /// let desc = BufferTensorDesc::new(DataType::Int64, &[2, 3])?.emulate_64_bit_like_onnx_runtime()?;
    /// assert_eq!(desc.to_string(), "UINT32 [2,3] strides [6,2] total 48");
    /// assert!(desc.emulate_64_bit_like_onnx_runtime().is_err()); // not twice
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// A type other than `INT64` and `UINT64`, or strides that do not fit 32 bits when doubled.
    pub fn emulate_64_bit_like_onnx_runtime(&self) -> Result<BufferTensorDesc> {
        let low = self.low_halves(DataType::Uint32)?;
        low.with_declared_total(low.minimum_bytes().saturating_add(4))
    }

    /// 64-bit integers as their low halves, as TensorFlow-DirectML's policy did: `INT32` or `UINT32`, every stride
    /// doubled, and nothing behind the last low half.
    ///
    /// # Errors
    /// Those of [`emulate_64_bit_like_onnx_runtime`](Self::emulate_64_bit_like_onnx_runtime).
    pub fn emulate_64_bit_like_tensorflow(&self) -> Result<BufferTensorDesc> {
        self.low_halves(self.data_type().remap_64_bit())
    }

    fn low_halves(&self, data_type: DataType) -> Result<BufferTensorDesc> {
        if !matches!(self.data_type(), DataType::Int64 | DataType::Uint64) {
            return Err(Error::new(format!("{} as 32 bits", self.data_type()))
                .field("DataType")
                .rule("only 64-bit integers are emulated, and only once: doubling strides twice is a known mistake")
                .accepts("INT64 or UINT64"));
        }
        self.low_parts(data_type)
    }

    /// The low part of every element as a narrower type (little endian): a `UINT8` view of an `INT32` buffer has stride 4.
    ///
    /// # Errors
    /// A type that does not divide this one's bits, or strides that do not fit 32 bits.
    pub fn low_parts(&self, data_type: DataType) -> Result<BufferTensorDesc> {
        let (wide, narrow) = (u64::from(self.data_type().bits()), u64::from(data_type.bits()));
        if !wide.is_multiple_of(narrow) {
            return Err(Error::new(format!("{data_type} in {}", self.data_type()))
                .field("DataType")
                .accepts(format!("a type whose bits divide {wide}")));
        }
        let parts = wide / narrow;
        let strides: Option<WideRow> =
            self.effective_strides().iter().map(|stride| stride.checked_mul(parts)).collect();
        let strides = strides.ok_or_else(|| Error::new("a stride overflows 64 bits").field("Strides"))?;
        let alone = self.without_declared_total().to_desc();
        let alone = Desc { data_type: TypeField::Known(data_type), ..alone }.build()?;
        alone.reshaped(self.sizes().into(), &strides)
    }

    /// The same tensor with the unsigned type of the same width.
    ///
    /// # Errors
    /// A floating-point type.
    pub fn force_unsigned(&self) -> Result<BufferTensorDesc> {
        Desc { data_type: TypeField::Known(self.data_type().force_unsigned()?), ..self.to_desc() }.build()
    }
}

/// What a 4-bit type can hold.
fn nibbles(data_type: DataType) -> Result<std::ops::RangeInclusive<i8>> {
    match data_type {
        DataType::Uint4 => Ok(0..=15),
        DataType::Int4 => Ok(-8..=7),
        other => Err(Error::new(format!("{other} in nibbles")).field("DataType").accepts("UINT4 or INT4")),
    }
}

/// 4-bit numbers in bytes, the first in the low half. Of an odd count, the last high half is 0.
///
/// ```
/// use tilework::directml::{DataType, pack_nibbles};
/// assert_eq!(pack_nibbles(DataType::Uint4, &[1, 2, 3, 4, 5])?, [0x21, 0x43, 0x05]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A type of other than 4 bits, or a number that it cannot hold.
pub fn pack_nibbles(data_type: DataType, values: &[i8]) -> Result<Vec<u8>> {
    let range = nibbles(data_type)?;
    if let Some(place) = values.iter().position(|value| !range.contains(value)) {
        return Err(Error::new(format!("value {} at {place} as {data_type}", values[place]))
            .field("values")
            .accepts(format!("{} to {}", range.start(), range.end())));
    }
    let low = |value: i8| value as u8 & 15;
    Ok(values.chunks(2).map(|pair| low(pair[0]) | low(pair.get(1).copied().unwrap_or(0)) << 4).collect())
}

/// The first `count` 4-bit numbers of bytes.
///
/// # Errors
/// A type of other than 4 bits, or fewer bytes than the count needs.
pub fn unpack_nibbles(data_type: DataType, bytes: &[u8], count: usize) -> Result<Vec<i8>> {
    let signed = *nibbles(data_type)?.start() < 0;
    if count.div_ceil(2) > bytes.len() {
        return Err(Error::new(format!("{count} nibbles in {} bytes", bytes.len()))
            .field("bytes")
            .accepts(format!("{} bytes or more", count.div_ceil(2))));
    }
    let value = |place: usize| {
        let nibble = bytes[place / 2] >> (place % 2 * 4) & 15;
        if signed && nibble > 7 { nibble as i8 - 16 } else { nibble as i8 }
    };
    Ok((0..count).map(value).collect())
}
