//! cuBLASLt's orders of matrices, and layouts of block scales.
//!
//! ```text
//! s8[32,64] COL32_2R_4R4                 an order, densely
//! s8[32,64] CUBLASLT_ORDER_COL32 ld=2048     with a leading dimension, in elements
//! f16[8,32,64] COL ld=40 stride=4096     many matrices, 4096 elements apart
//! f8e4m3fn[300,24] scales 128x4          scales of blocks, for NVFP4 and MXFP8
//! f8e4m3fn[300,24] scales 8x4            the tiles of FlashInfer and TensorRT-LLM for few rows
//! ```
//!
//! Rows are dimension 0 and columns dimension 1; a dimension before them counts matrices. Facts from the comments of
//! `cublasLt.h`, the closed formulas of FasterTransformer's `quantize_weight`, the section on 1D block scaling factors of
//! the cuBLAS manual, and `get_sf_out_offset_8x4` of TensorRT-LLM and FlashInfer.

mod dialect;
mod order;

pub use dialect::DIALECT;
