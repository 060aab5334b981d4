//! Building strides: packed in any order, interleaved channels, rows at a pitch.
//!
//! All of them return one stride for each size, in the order of the sizes, and check that it fits 32 bits.

use super::data_type::DataType;
use super::order::places;
use crate::error::{Error, ErrorKind, Result, counted};

/// A stride in the 32 bits of its field.
fn narrow(stride: Option<u64>) -> Result<u32> {
    stride.and_then(|stride| u32::try_from(stride).ok()).ok_or_else(|| {
        Error::new("a stride overflows 32 bits")
            .of_kind(ErrorKind::Overflow)
            .field("Strides")
            .rule("a stride is an unsigned number of 32 bits")
            .accepts("smaller sizes")
    })
}

/// Strides by a running product over the dimensions, the most minor first. A dimension that is `broadcast` counts as 1
/// and gets 0.
fn running(
    sizes: &[u32],
    minor_to_major: impl Iterator<Item = usize>,
    broadcast: impl Fn(usize) -> bool,
) -> Result<Vec<u32>> {
    let mut strides = vec![0; sizes.len()];
    let mut stride = Some(1_u64);
    for dim in minor_to_major {
        if !broadcast(dim) {
            strides[dim] = narrow(stride)?;
            stride = stride.and_then(|stride| stride.checked_mul(u64::from(sizes[dim])));
        }
    }
    Ok(strides)
}

/// The strides of the tensor packed in the order of its sizes: each is the product of the sizes after it.
///
/// ```
/// assert_eq!(tilework::directml::packed_strides(&[1, 1, 3, 5])?, [15, 15, 5, 1]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A stride beyond 32 bits.
pub fn packed_strides(sizes: &[u32]) -> Result<Vec<u32>> {
    running(sizes, (0..sizes.len()).rev(), |_| false)
}

/// The strides of sizes named by `letters`, packed in the order of `order`, the most minor last.
///
/// ```
/// use tilework::directml::order_strides;
/// assert_eq!(order_strides(&[1, 1, 3, 5], "NCHW", "NHWC")?, [15, 1, 5, 1]);
/// assert_eq!(order_strides(&[2, 3], "HW", "WH")?, [1, 2]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Letters that are not one for each size, an order that does not have the same letters, or a stride beyond 32 bits.
pub fn order_strides(sizes: &[u32], letters: &str, order: &str) -> Result<Vec<u32>> {
    broadcast_order_strides(sizes, letters, order, &vec![false; sizes.len()])
}

/// Like [`order_strides`], with dimensions that are broadcast: they count as 1 in every product and get stride 0.
///
/// ```
/// use tilework::directml::broadcast_order_strides;
/// let broadcast = [false, true, false, false];
/// assert_eq!(broadcast_order_strides(&[2, 3, 4, 5], "NCHW", "NHWC", &broadcast)?, [20, 0, 5, 1]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// Those of [`order_strides`], and another number of flags than sizes.
pub fn broadcast_order_strides(
    sizes: &[u32],
    letters: &str,
    order: &str,
    broadcast: &[bool],
) -> Result<Vec<u32>> {
    let places = places(letters, order)?;
    if places.len() != sizes.len() || broadcast.len() != sizes.len() {
        return Err(Error::new(format!(
            "{} with {}",
            counted(sizes.len() as u64, "size"),
            counted(places.len() as u64, "letter")
        ))
        .field("order")
        .rule("every dimension has one letter")
        .accepts(counted(sizes.len() as u64, "letter")));
    }
    running(sizes, places.iter().rev().copied(), |dim| broadcast[dim])
}

/// The strides of DirectMLX's interleaved-channel policy: dimension 1 is the most minor, for any rank.
///
/// ```
/// assert_eq!(tilework::directml::interleaved_channel_strides(&[2, 3, 4])?, [12, 1, 3]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A stride beyond 32 bits.
pub fn interleaved_channel_strides(sizes: &[u32]) -> Result<Vec<u32>> {
    let rank = sizes.len();
    let minor_to_major = (1..rank.min(2)).chain((2..rank).rev()).chain(0..rank.min(1));
    running(sizes, minor_to_major, |_| false)
}

/// The packed strides, but with the stride of `dim` rounded up to a multiple of `align_bytes`; strides above follow.
///
/// Direct3D 12 wants the rows of textures at multiples of 256 bytes. The last row needs no padding.
///
/// ```
/// use tilework::directml::{DataType, padded_strides};
/// // 448-byte rows become 512
/// assert_eq!(padded_strides(DataType::Float16, &[1, 3, 224, 224], 2, 256)?, [172032, 57344, 256, 1]);
/// # Ok::<(), tilework::Error>(())
/// ```
///
/// # Errors
/// A dimension outside the rank, an alignment of 0, or a stride beyond 32 bits.
pub fn padded_strides(data_type: DataType, sizes: &[u32], dim: usize, align_bytes: u32) -> Result<Vec<u32>> {
    if dim >= sizes.len() {
        return Err(Error::new(format!("dimension {dim} of {}", sizes.len())).field("dimension"));
    }
    if align_bytes == 0 {
        return Err(Error::new("alignment 0").field("alignment").accepts("1 byte or more"));
    }
    // Strides are whole elements, so they are multiples of the least number of elements that fill whole alignments.
    let (bits, wanted) = (u64::from(data_type.bits()), u64::from(align_bytes) * 8);
    let step = wanted / crate::arithmetic::gcd(bits, wanted);
    let mut strides = vec![1; sizes.len()];
    let mut stride = Some(1_u64);
    for place in (0..sizes.len()).rev() {
        if place == dim {
            stride = stride.and_then(|stride| stride.checked_next_multiple_of(step));
        }
        strides[place] = narrow(stride)?;
        stride = stride.and_then(|stride| stride.checked_mul(u64::from(sizes[place])));
    }
    Ok(strides)
}
