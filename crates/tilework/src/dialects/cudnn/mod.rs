//! cuDNN's formats of tensors: `CUDNN_TENSOR_NCHW`, `CUDNN_TENSOR_NHWC`, and channels in vectors as `NC/32HW32`.
//!
//! Facts from the core concepts of cuDNN's manual.

mod dialect;

pub use dialect::DIALECT;
