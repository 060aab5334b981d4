//! The notations. Each reads, checks and prints its own faithful type, which lowers into a `Layout`; none knows another.

mod ascend;
mod cublaslt;
mod cudnn;
pub mod cute;
pub mod directml;
pub mod ggml;
pub mod jax;
pub mod mlir;
pub mod numpy;
pub mod onednn;
mod onnxruntime;
pub mod tensorrt;
mod tenstorrent;
mod texture;
pub mod triton;
mod tvm;
pub mod xla;
pub mod zarr;

use crate::dialect::Dialect;

/// Every notation, in the order in which they are tried.
pub(crate) static DIALECTS: &[&Dialect] = &[
    &xla::DIALECT,
    &directml::DIALECT,
    &mlir::DIALECT,
    &numpy::DIALECT,
    &jax::DIALECT,
    &cute::DIALECT,
    &onednn::DIALECT,
    &tensorrt::DIALECT,
    &tvm::DIALECT,
    &zarr::DIALECT,
    &cublaslt::DIALECT,
    &ascend::DIALECT,
    &tenstorrent::DIALECT,
    &cudnn::DIALECT,
    &onnxruntime::DIALECT,
    &texture::DIALECT,
    &triton::DIALECT,
    &ggml::DIALECT,
];
