//! Ascend's formats: NC1HWC0 and the fractal ones.
//!
//! ```text
//! f16[32,48] FRACTAL_NZ              blocks of 16 × 16, columns of them first
//! s8[1,40,7,7] NC1HWC0               channels in blocks of C0
//! f32[1,40,7,7] NC1HWC0 C0=8         C0 of four bytes depends on the chip and its settings
//! ```
//!
//! `C0` is 32 bytes of elements: 16 of two bytes, 32 of one. Facts from the converters of CANN 8.1.RC1, the shapes of its
//! `transfer_shape_according_to_format`, and the data formats of the operator development guide.

mod dialect;

pub use dialect::DIALECT;
