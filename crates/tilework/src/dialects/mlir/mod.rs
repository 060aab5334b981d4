//! The MLIR dialect: types of tensors and memories as MLIR writes them.
//!
//! ```
//! use tilework::mlir::Type;
//! let tiles = "affine_map<(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)>";
//! let memory = Type::parse(&format!("memref<3x5xf32, {tiles}>"))?;
//! let layout = memory.lower()?;
//! assert_eq!((layout.offset(&[2, 3])?, layout.size()), (17, 24)); // 2 × 3 × 2 × 2
//! assert_eq!(Type::of_layout(&layout, memory.element().stored())?, memory);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # What is read
//!
//! ```text
//! tensor<2x?xf32, #stablehlo.bounds<?, 4>>          row-major, as tensors of StableHLO and MHLO are
//! memref<3x5xf32>                                    row-major
//! memref<3x5xf32, strided<[8, 1], offset: 2>, 3>     offset + Σ stride · index, in memory space 3
//! memref<10x200xf32, affine_map<(d0, d1) -> (…)>>    the results index a row-major array
//! memref<8x2048xbf16, #tpu.tiled<(8,128)(2,1),[16,1]>, #tpu.memory_space<vmem>>
//! ```
//!
//! Elements have whole bytes of their own, as where MLIR allocates them: an `i4` has 8 bits. `index` has 64. A quantised
//! element is what it stores. Vectors as elements are further dimensions, whose elements are neighbours.
//!
//! # Affine maps
//!
//! The array that is stored has the sizes that the results can reach, as MLIR's `normalize-memrefs` computes them: a
//! result from 0 to its upper bound. `d0 mod m` counts as m values whatever d0 is, and `(d0 * 2) mod m` as the even ones.
//!
//! ```
//! use tilework::mlir::Type;
//! // From MLIR's own tests: 127 × 509, and 72
//! let size = |text: &str| Type::parse(text)?.lower().map(|layout| layout.size());
//! assert_eq!(size("memref<64x128xf32, affine_map<(d0, d1) -> (2*d0, 4*d1)>>")?, 127 * 509);
//! assert_eq!(size("memref<2x5xf32, affine_map<(d0, d1) -> (3*d0 + 17*d1)>>")?, 72);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # Packing
//!
//! `linalg.pack` and `linalg.unpack` say how an array is stored in another; so do their attributes alone, behind sizes, and
//! IREE's encodings where they are resolved to tiles:
//!
//! ```text
//! linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %dest : tensor<64x256xf32> -> tensor<8x2x8x128xf32>
//! f32[64,256] inner_dims_pos = [0, 1] inner_tiles = [8, 128]
//! ```
//!
//! # What has no places
//!
//! Sizes, strides and symbols that are known only when the program runs, aliases, and the encodings of other systems are
//! read and printed. [`Type::lower`] then says what is missing:
//!
//! ```
//! use tilework::mlir::Type;
//! let memory = Type::parse("memref<4xf32, strided<[?], offset: ?>>")?;
//! assert_eq!(memory.to_string(), "memref<4xf32, strided<[?], offset: ?>>");
//! assert!(memory.lower().unwrap_err().to_string().contains("known only when the program runs"));
//! # Ok::<(), tilework::Error>(())
//! ```

mod affine;
mod dialect;
mod element;
mod lower;
mod pack;
mod read;
mod say;
mod tiled;
mod value;
mod vpad;

use crate::dialect::mlir as lex;

pub use affine::AffineMap;
pub use dialect::DIALECT;
pub use element::ElementType;
pub use value::{Arrangement, Bounds, Kind, Type};

/// The most dimensions, of types, vectors and maps.
const MAX_DIMS: usize = 64;
