//! The blocked formats of ONNX Runtime on CPUs: `NCHWc`, and filters as `OIHWBiBo`.
//!
//! ```text
//! f32[1,17,2,2] NCHWc B=16
//! f32[20,17,3,3] OIHWBiBo B=8
//! ```
//!
//! `B` is `MlasNchwcGetBlockSize()`: 16 with AVX-512, 8 on other processors of AMD64. Facts from
//! `onnxruntime/core/mlas/lib/{reorder.cpp,snchwc.cpp}`.

mod dialect;

pub use dialect::DIALECT;
