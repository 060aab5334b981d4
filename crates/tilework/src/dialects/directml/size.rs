//! How many bytes a tensor needs: `DMLCalcBufferTensorSize`, exactly.
//!
//! ```text
//! no strides:  elements = product of the sizes
//! strides:     elements = Σ (size − 1)·stride + 1
//! bytes        = ⌈elements · bits / 8⌉, rounded up to a multiple of 4
//! ```
//!
//! One term of the sum is below 2^64 and eight of them can pass 64 bits, so all of it is done in 128 bits and every step
//! is checked. Reference implementations wrap around; their answer is
//! [`buffer_size_bytes_wrapping_like_directmlx`], which nothing here uses.

use super::data_type::DataType;
use crate::error::{Error, ErrorKind, Result, counted};

/// Sizes and totals are multiples of this many bytes.
pub(crate) const DWORD: u64 = 4;

/// Elements from the first to the last place, both included; none if 128 bits cannot count them. No size is 0.
pub(crate) fn span(
    sizes: impl ExactSizeIterator<Item = u64>,
    strides: Option<impl Iterator<Item = u64>>,
) -> Option<u128> {
    match strides {
        None => product(sizes),
        Some(strides) => sizes.zip(strides).try_fold(1_u128, |sum, (size, stride)| {
            sum.checked_add(u128::from(size.saturating_sub(1)).checked_mul(u128::from(stride))?)
        }),
    }
}

/// The product of sizes.
pub(crate) fn product(mut sizes: impl Iterator<Item = u64>) -> Option<u128> {
    sizes.try_fold(1_u128, |product, size| product.checked_mul(u128::from(size)))
}

/// Bytes of `elements` elements, not yet rounded up to 4.
pub(crate) fn bytes(elements: u128, bits: u32) -> Option<u128> {
    Some(elements.checked_mul(u128::from(bits))?.div_ceil(8))
}

/// Up to a multiple of 4.
pub(crate) fn round_up(bytes: u128) -> Option<u128> {
    bytes.checked_next_multiple_of(u128::from(DWORD))
}

/// The least number of bytes that hold the tensor, a multiple of 4: `DMLCalcBufferTensorSize` without its overflows.
///
/// ```
/// use tilework::directml::{DataType, buffer_size_bytes};
/// assert_eq!(buffer_size_bytes(DataType::Float32, &[2, 3], Some(&[5, 1]))?, 32);
/// assert_eq!(buffer_size_bytes(DataType::Uint4, &[5], None)?, 4); // 20 bits are 3 bytes are 4
/// assert_eq!(buffer_size_bytes(DataType::Float32, &[2, 2], Some(&[4294967295, 1]))?, 17179869188);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// No dimensions, a size of 0, another number of strides than sizes, or more bytes than 64 bits can count.
pub fn buffer_size_bytes(data_type: DataType, sizes: &[u32], strides: Option<&[u32]>) -> Result<u64> {
    let elements = elements(sizes, strides)?;
    let bytes = elements.and_then(|elements| bytes(elements, data_type.bits())).and_then(round_up);
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(too_large)
}

/// Bytes from the start of the storage to the end of a tensor whose first element is `offset` elements in. Not rounded.
///
/// DirectML#448 printed the size of the tensor where this was the one that did not fit:
///
/// ```
/// use tilework::directml::{DataType, required_bytes};
/// let (sizes, strides) = ([1, 3, 224, 224], [153228, 51076, 226, 1]);
/// assert_eq!(required_bytes(DataType::Float32, &sizes, Some(&strides), 0)?, 611096);
/// assert_eq!(required_bytes(DataType::Float32, &sizes, Some(&strides), 50177)?, 811804);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Those of [`buffer_size_bytes`].
pub fn required_bytes(
    data_type: DataType,
    sizes: &[u32],
    strides: Option<&[u32]>,
    offset: u64,
) -> Result<u64> {
    let elements = elements(sizes, strides)?;
    let end = elements.and_then(|elements| elements.checked_add(u128::from(offset)));
    let bytes = end.and_then(|end| bytes(end, data_type.bits()));
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(too_large)
}

fn elements(sizes: &[u32], strides: Option<&[u32]>) -> Result<Option<u128>> {
    if sizes.is_empty() {
        return Err(Error::new("no dimensions")
            .field("Sizes")
            .rule("a tensor has at least one dimension; a scalar has sizes [1]")
            .accepts("[1]"));
    }
    if let Some(dim) = sizes.iter().position(|&size| size == 0) {
        return Err(Error::new(format!("size 0 of dimension {dim}"))
            .field("Sizes")
            .rule("DirectML has no tensors without elements")
            .accepts("1 or more"));
    }
    if let Some(strides) = strides.filter(|strides| strides.len() != sizes.len()) {
        return Err(Error::new(format!(
            "{} for {}",
            counted(strides.len() as u64, "stride"),
            counted(sizes.len() as u64, "size")
        ))
        .field("Strides")
        .rule("every dimension has one stride")
        .accepts(counted(sizes.len() as u64, "stride")));
    }
    let wide = |numbers: &'_ [u32]| numbers.iter().map(|&number| u64::from(number)).collect::<Wide>();
    Ok(span(wide(sizes).into_iter(), strides.map(|strides| wide(strides).into_iter())))
}

type Wide = smallvec::SmallVec<[u64; 8]>;

fn too_large() -> Error {
    Error::new("the bytes of the tensor overflow 64 bits")
        .of_kind(ErrorKind::Overflow)
        .field("TotalTensorSizeInBytes")
        .accepts("smaller sizes or strides")
}

/// What DirectMLX's `DMLCalcBufferTensorSize` answers, with its wrapping around: to explain a wrong size, not to use.
///
/// The sum over strides wraps at 32 bits, the product of sizes at 64, a size of 0 counts as −1, and without dimensions
/// there is 1 element.
///
/// ```
/// use tilework::directml::{DataType, buffer_size_bytes_wrapping_like_directmlx as wrapped};
/// assert_eq!(wrapped(DataType::Float32, &[2, 2], Some(&[4294967295, 1])), 4);
/// ```
pub fn buffer_size_bytes_wrapping_like_directmlx(
    data_type: DataType,
    sizes: &[u32],
    strides: Option<&[u32]>,
) -> u64 {
    let elements = match strides {
        None => sizes.iter().fold(1_u64, |product, &size| product.wrapping_mul(u64::from(size))),
        Some(strides) => {
            let last = sizes.iter().zip(strides).fold(0_u32, |sum, (size, stride)| {
                sum.wrapping_add(size.wrapping_sub(1).wrapping_mul(*stride))
            });
            u64::from(last) + 1
        }
    };
    let bits = elements.wrapping_mul(u64::from(data_type.bits()));
    bits.wrapping_add(7).wrapping_shr(3).wrapping_add(3) & !3
}
