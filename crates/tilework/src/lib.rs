//! How tensors lie in memory: where is element (i, j, …), what stands at a place, and are two arrangements the same?
//!
//! Notations go in (XLA's in [`xla`], DirectML's in [`directml`], MLIR's in [`mlir`], CuTe's in [`cute`]), all of them become one [`Layout`], and every question is asked of that.
//!
//! # A first layout
//!
//! ```
//! use tilework::xla::Shape;
//!
//! let shape = Shape::parse("f32[3,5]{1,0:T(2,2)}")?; // XLA's notation: 3 × 5, row-major, in tiles of 2 × 2
//! let layout = shape.as_array().unwrap().lower()?;
//!
//! assert_eq!(layout.len(), 15); // elements
//! assert_eq!(layout.size(), 24); // allocated, because 3 rows become 4 and 5 columns become 6
//! assert_eq!(layout.offset(&[2, 3])?, 17); // where is element (2, 3)?
//! assert_eq!(layout.canon().to_string(), "12·⌊i/2⌋ + 2·(i mod 2) + 4·⌊j/2⌋ + (j mod 2)");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # From a place back
//!
//! A place holds an element, or it is padding, and then something made it so:
//!
//! ```
//! use tilework::{Place, xla::Shape};
//!
//! let shape = Shape::parse("f32[3,5]{1,0:T(2,2)}")?;
//! let layout = shape.as_array().unwrap().lower()?;
//! assert_eq!(layout.locate(17)?, Place::Element(vec![2, 3]));
//! let Place::Padding(padding) = layout.locate(9)? else { panic!() };
//! assert_eq!(padding.to_string(), "tile 1, dimension 1");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! What padding costs, and which dimension to blame, is in [`Layout::growths`].
//!
//! # The formulas of XLA's tiled layout, executed
//!
//! Without tiles, the element e of an array with bounds d is at `linear_index(e, d)`. With a tile t it is at
//! `linear_index((⌊e/t⌋, e mod t), (⌈d/t⌉, t))`, arithmetic being elementwise and (a, b) a concatenation:
//!
//! ```
//! use tilework::Layout;
//! # fn main() -> tilework::Result<()> {
//! let linear_index = |e: &[u64], d: &[u64]| Layout::row_major(d, 32)?.offset(e);
//!
//! // Figure 1: (2,3) in f32[3,5]{1,0:T(2,2)}. Tile (1,1) of (2,3), then (0,1) of (2,2).
//! assert_eq!(linear_index(&[1, 1, 0, 1], &[2, 3, 2, 2])?, 17);
//! assert_eq!(linear_index(&[1, 1], &[2, 3])? * 2 * 2 + linear_index(&[0, 1], &[2, 2])?, 17);
//! # Ok(()) }
//! ```
//!
//! A second tile applies to the result of the first: to the dimensions within a tile, or, if it is long enough, to the
//! numbers of tiles as well. Figure 2 is 4 × 8 in tiles of 2 × 4 and then 2 × 1:
//!
//! ```
//! use tilework::xla::Shape;
//! # fn main() -> tilework::Result<()> {
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//!
//! let figure_2 = layout("bf16[4,8]{1,0:T(2,4)(2,1)}")?;
//! let row = |i: u64| (0..8).map(|j| figure_2.offset(&[i, j])).collect::<tilework::Result<Vec<u64>>>();
//! assert_eq!(row(0)?, [0, 2, 4, 6, 8, 10, 12, 14]);
//! assert_eq!(row(1)?, [1, 3, 5, 7, 9, 11, 13, 15]);
//! assert_eq!(row(2)?, [16, 18, 20, 22, 24, 26, 28, 30]);
//!
//! // A second tile that reaches the numbers of tiles.
//! assert_eq!(layout("f32[8,8]{1,0:T(2,4)(2,1,1,1)}")?.offset(&[6, 5])?, 51);
//!
//! // `*` combines a dimension with the next more minor one before tiling: [2,7,8,11,10] is tiled as [112,110].
//! let combined = layout("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")?;
//! assert!(combined.reshape_bitcast(&layout("f32[112,110]{1,0:T(2,3)}")?).is_yes());
//! # Ok(()) }
//! ```
//!
//! # The older padding
//!
//! XLA's layouts once had `padded_dimensions` and a `padding_value`; the document on shapes still has them. `pad(3,5)` is
//! Tilework's word for them:
//!
//! ```
//! use tilework::xla::Shape;
//! let shape = Shape::parse("s32[2,3]{0,1:pad(3,5)=zero}")?;
//! let memory = shape.as_array().unwrap().image(&["a", "b", "c", "d", "e", "f"], "0")?;
//! assert_eq!(memory.join(" "), "a d 0 b e 0 c f 0 0 0 0 0 0 0");
//! # Ok::<(), tilework::Error>(())
//! ```
//!
//! # Are they the same?
//!
//! "The same layout" means four things, and each has its question: [`Layout::same_function`], [`Layout::same_buffer`],
//! [`Layout::reshape_bitcast`] and [`Layout::transpose_bitcast`]. Answers are exact and name what differs:
//!
//! ```
//! use tilework::xla::Shape;
//! # fn main() -> tilework::Result<()> {
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//!
//! // One tile wide, a tiled array is the plain one; two tiles wide, it is not.
//! assert!(layout("f32[16,128]{1,0:T(8,128)}")?.same_function(&layout("f32[16,128]")?).is_yes());
//! let verdict = layout("f32[16,256]{1,0:T(8,128)}")?.same_function(&layout("f32[16,256]")?);
//! assert_eq!(verdict.to_string(), "no: element (1, 0) is at 128 and 256");
//! # Ok(()) }
//! ```
//!
//! # Views
//!
//! [`Layout::permute`], [`Layout::slice`], [`Layout::flip`], [`Layout::broadcast`], [`Layout::split_dim`],
//! [`Layout::merge_dims`] and [`Layout::reshape`] give other indices to the same places. They never copy and always
//! exist; [`Layout::to_strides`] says whether one stride for each dimension can say the result, and what forbids it.
//!
//! # What moves
//!
//! A [`Plan`] says how an array gets from one layout to another: a few nests of loops, each with one stride for the source
//! and one for the destination, and the padding to be filled. It holds no data; `tilework-copy` runs it.
//!
//! ```
//! use tilework::{Kind, Plan, PlanOptions, xla::Shape};
//! # fn main() -> tilework::Result<()> {
//! let layout = |text: &str| Shape::parse(text)?.as_array().unwrap().lower();
//! let tiled = layout("bf16[64,300]{1,0:T(8,128)(2,1)}")?;
//! let plan = Plan::new(&layout("bf16[64,300]")?, &tiled, &PlanOptions { fill: Some(0), converts: false })?;
//! assert_eq!(plan.copies().len(), 2); // the whole tiles, and those at the edge
//! assert_eq!(plan.copies()[0].kind(), Kind::Interleave { k: 2 });
//! assert_eq!(plan.figures().filled, 64 * (384 - 300));
//! # Ok(()) }
//! ```
//!
//! # Errors
//!
//! There is one [`Error`]. It says where (a range of bytes, or a field), what was found, which rule that breaks and what
//! would be accepted; [`Error::report`] draws a caret under the place, and [`Error::kind`] is for programs. All arithmetic is checked: what does not fit 63
//! bits is an error, never a wrapped number.
//!
//! # How it works
//!
//! `parts.rs` says what layouts are made of, `canon.rs` how they are brought into the form that answers most questions
//! without looking at elements, and why that form is unique. The cost of everything but the walks depends on the number of
//! dimensions and tiles, not on the number of elements, for whatever tiles a compiler writes. Where tiles do not divide
//! each other or strides overlap, some questions need a table or a search; each has a limit ([`TABLE_LIMIT`],
//! [`LOCATE_LIMIT`]) beyond which the answer is "not decided". Plans have limits too ([`NEST_LIMIT`], [`START_LIMIT`]).
#![forbid(unsafe_code)]

pub mod dialect;
mod dialects;
pub mod sharding;
pub mod words;

pub use dialects::{cute, directml, ggml, mlir, triton, xla, zarr};
#[doc(inline)]
pub use tilework_core::{
    Axis, Builder, Canon, Class, Difference, Digit, Digits, Element, Entries, Error, ErrorKind, Few, Figures,
    FloatFormat, Growth, Kept, Kind, LOCATE_LIMIT, Layout, Level, Loop, MAX_RANK, MAX_TILES, NEST_LIMIT, Nan,
    Nest, Padding, Part, PartKind, Place, Plan, PlanCache, PlanOptions, Result, Run, START_LIMIT, Strided,
    Swizzle, System, TABLE_LIMIT, Term, Terms, Verdict, arithmetic, nearest, printable,
};

#[doc(hidden)]
pub use tilework_core::InOrder;

// The notations name these by their rooms in the core.
use tilework_core::{ask, element, error, few, layout, spelling};
