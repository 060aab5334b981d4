//! Rows of textures in buffers, as WebGPU and Direct3D 12 copy them: each row begins at a multiple of 256 bytes, and the last
//! one ends with its last texel.
//!
//! ```text
//! u8[4,4,4] bytesPerRow=256                      rows, columns, channels
//! u32[4,4] bytesPerRow=256                       the same texels as numbers
//! f32[6,10,10] bytesPerRow=256 rowsPerImage=16   images, rows, columns
//! ```

mod dialect;

pub use dialect::DIALECT;
