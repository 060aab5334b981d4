//! The CuTe dialect: layouts `shape:stride`, swizzles and composed layouts, and their algebra.
//!
//! # A layout
//!
//! A shape and its strides are nested tuples that nest alike. A coordinate is at the sum of digit times stride; within a
//! nested mode the first digit is the fastest. As a layout of memory, each top-level mode is one dimension:
//!
//! ```
//! use tilework::cute::{Layout, Tensor};
//! let tiles = Layout::parse("((2,2),(2,3)):((2,12),(1,4))")?; // rows and columns come in pairs
//! assert_eq!((tiles.size()?, tiles.cosize()?), (24, 24));
//! assert_eq!(tiles.eval(&tilework::cute::IntTuple::parse("(2,3)")?)?.as_int(), Some(17));
//!
//! let tensor = Tensor::parse("f16 ((2,2),(2,3)):((2,12),(1,4))")?;
//! assert_eq!(tensor.lower()?.dims(), [4, 6]);
//! assert_eq!(tensor.lower()?.offset(&[2, 3])?, 17);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! CuTe has no word for padding: a shape is as large as what it tiles is padded to. The sizes of the array stand before it,
//! and then the same text says that row 3 and column 5 are padding:
//!
//! ```
//! use tilework::{Place, cute::Tensor};
//! let layout = Tensor::parse("f16[3,5] ((2,2),(2,3)):((2,12),(1,4))")?.lower()?;
//! assert_eq!((layout.dims(), layout.size()), (&[3, 5][..], 24));
//! assert_eq!(layout.locate(17)?, Place::Element(vec![2, 3]));
//! assert!(matches!(layout.locate(23)?, Place::Padding(_)));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # What is read
//!
//! ```text
//! f32 (4,8):(8,1)                                            CuTe IR; without strides, compact: the first mode fastest
//! f32 (_4,_8):(_8,_1)                                        as C++ prints static numbers
//! f16[128,64] S<3,4,3> o 0 o (128,64):(64,1)                 a swizzle of offsets, in elements; Sw<3,4,3> in C++
//! Sw<3,4,3>_smem_ptr[16b](0x7f88…) o (_8,_64):(_64,_1)       a swizzle of addresses, in bytes
//! !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(8,64):(64,1)">
//! ptr<f32, generic> o (?,?,?):(?,?,1)                        as the Python DSL prints tensors: no layout until it runs
//! f32 (4,8):(1,4) o 0 o (4,8):(1@0,1@1)                      a layout of coordinates, and one that takes them
//! ```
//!
//! [`Tensor`] prints CuTe IR's spelling; [`Tensor::spelled`] has C++'s too.
//!
//! # Swizzles
//!
//! ```
//! use tilework::cute::{Swizzle, Tensor};
//! // A column of eight rows of 128 B would be in one bank; swizzled, its pieces of 16 B are in eight.
//! let layout = Tensor::parse("f16 S<3,3,3> o 0 o (8,64):(64,1)")?.lower()?;
//! let column = (0..8).map(|row| layout.offset(&[row, 0])).collect::<tilework::Result<Vec<u64>>>()?;
//! assert_eq!(column, [0, 72, 144, 216, 288, 360, 432, 504]);
//! // The same in bytes, as hardware counts:
//! assert_eq!(Swizzle::new(3, 4, 3)?.recast(16, 8)?, Swizzle::new(3, 3, 3)?);
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # The algebra
//!
//! The operations of CuTe are methods of [`Layout`], and of [`Composed`] by [`Composed::with`]: [`coalesce`](Layout::coalesce),
//! [`compose`](Layout::compose), [`complement`](Layout::complement), [`right_inverse`](Layout::right_inverse) and
//! [`left_inverse`](Layout::left_inverse), the four divisions from [`logical_divide`](Layout::logical_divide) on, the
//! products from [`logical_product`](Layout::logical_product) on, [`recast`](Layout::recast), and others. Where NVIDIA's
//! implementations differ, the answer is that of CuTe IR.
//!
//! ```
//! use tilework::cute::{Layout, Tiler};
//! let rows = Layout::parse("(6,8):(8,1)")?;
//! let tiled = rows.zipped_divide(&Tiler::parse("(3,4)")?)?;
//! assert_eq!(tiled.to_string(), "((3,4),(2,2)):((8,1),(24,4))"); // within a tile, and which tile
//!
//! let block = Layout::parse("(3,4):(4,1)")?;
//! let grid = Layout::parse("(2,5):(1,2)")?;
//! assert_eq!(block.blocked_product(&grid)?.to_string(), "((3,2),(4,5)):((4,12),(1,24))");
//!
//! let back = tiled.right_inverse()?; // from an offset to the index in `tiled`
//! assert_eq!(tiled.eval(&back.eval(&20.into())?)?.as_int(), Some(20));
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! A composition that does not divide is exact, or refused; CuTe refuses some of the first kind, and gives wrong offsets for
//! some of the second.
//!
//! ```
//! use tilework::cute::Layout;
//! let rows = Layout::parse("(5,4):(1,100)")?;
//! assert_eq!(rows.compose(&Layout::parse("2:7")?)?.to_string(), "2:102"); // 7 is (2, 1)
//! assert!(rows.compose(&Layout::parse("6:2")?).is_err()); // 0, 2, 4, 101, 103, 200
//! # Ok::<(), tilework::Error>(())
//! ```
mod coalesce;
mod code;
mod complement;
mod composed;
mod composition;
mod count;
mod dialect;
mod divide;
mod engine;
mod inverse;
mod layout;
mod lex;
mod lower;
mod modes;
mod operations;
mod print;
mod product;
mod read;
mod recast;
mod say;
mod swizzle;
mod tensor;
mod tiler;
mod tuple;
mod words;

pub use composed::{Composed, Function};
pub use dialect::DIALECT;
pub use engine::{Engine, Pointer};
pub use layout::Layout;
#[doc(hidden)]
pub use operations::operation;
pub use print::Spelling;
pub use swizzle::Swizzle;
pub use tensor::Tensor;
pub use tiler::Tiler;
pub use tuple::{Basis, Dynamic, IntTuple, Leaf};
