//! Tensor policies: which strides, total and alignment an operator's output gets.
//!
//! DirectMLX applies a policy to the outputs of operators as a graph is built; inputs keep what the caller gave. An
//! elementwise operator after an NHWC convolution is packed NCHW again unless the policy says otherwise (DirectML#240).
//! A policy is a plain function; what it answers is checked, which DirectMLX does not.

use super::data_type::DataType;
use super::desc::{BufferTensorDesc, TensorFlags};
use super::raw::Desc;
use super::strides::interleaved_channel_strides;
use crate::error::Result;

/// What a policy answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorProperties {
    /// The strides; none means packed in the order of the sizes.
    pub strides: Option<Vec<u32>>,
    /// The total; none means computed.
    pub total: Option<u64>,
    /// The promised alignment.
    pub alignment: u32,
}

/// No strides, the computed total, no promise.
///
/// # Errors
/// None; policies may have them.
pub fn default_policy(_: DataType, _: TensorFlags, _: &[u32]) -> Result<TensorProperties> {
    Ok(TensorProperties::default())
}

/// Channels (dimension 1) are the most minor: NHWC, NDHWC, NWC.
///
/// # Errors
/// A stride beyond 32 bits.
pub fn interleaved_channel_policy(_: DataType, _: TensorFlags, sizes: &[u32]) -> Result<TensorProperties> {
    Ok(TensorProperties { strides: Some(interleaved_channel_strides(sizes)?), ..TensorProperties::default() })
}

impl BufferTensorDesc {
    /// The tensor that a policy makes of a type, flags and sizes.
    ///
    /// ```
    /// use tilework::directml::{BufferTensorDesc, DataType, TensorFlags, interleaved_channel_policy};
    /// let (data_type, flags) = (DataType::Float16, TensorFlags::NONE);
    /// let desc = BufferTensorDesc::by_policy(interleaved_channel_policy, data_type, flags, &[1, 64, 56, 56])?;
    /// assert_eq!(desc.strides(), Some(&[200704, 1, 3584, 64][..]));
    /// # Ok::<(), tilework::Error>(())
    /// ```
    ///
    /// # Errors
    /// The policy's own, and the first rule that its answer breaks.
    pub fn by_policy(
        policy: impl Fn(DataType, TensorFlags, &[u32]) -> Result<TensorProperties>,
        data_type: DataType,
        flags: TensorFlags,
        sizes: &[u32],
    ) -> Result<BufferTensorDesc> {
        let TensorProperties { strides, total, alignment } = policy(data_type, flags, sizes)?;
        let wide = |strides: Vec<u32>| strides.iter().map(|&stride| i64::from(stride)).collect();
        Desc {
            strides: strides.map(wide),
            total,
            flags: flags.bits(),
            alignment: u64::from(alignment),
            ..Desc::new(data_type, sizes)
        }
        .build()
    }
}
