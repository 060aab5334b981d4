//! TensorRT's formats: names, the engine inspector's phrases, and the strides of build logs.
//!
//! ```text
//! f16[16,3,224,224] kHWC8                               a TensorFormat, also with its class before it
//! f16[16,3,224,224] fp16:hwc8                           as trtexec has it
//! s8[1,3,16,20] kDLA_HWC4 on Xavier                     the DLA, whose rows depend on the chip
//! s8[16,512,28,28] Thirty-two wide channel vectorized row major Int8 format
//! s8[1,144,128,128] Int8(589824,16384:4,128,1)          strides in vectors of 4 along the dimension with :4
//! [1,144,128,128] Float(…) -> Int8(…)                   what is reformatted into what
//! ```
//!
//! Facts from NVIDIA/TensorRT `include/NvInferRuntimeBase.h` (10.x) and the phrases that its engine explorer knows,
//! `tools/experimental/trt-engine-explorer/trex/activations.py`.

mod dialect;
mod format;
mod phrase;
mod read;

pub use dialect::DIALECT;
